#include "backends/cpu/stages.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/kernel/schedules/multi_reduce.h"

namespace ridge {
namespace {

// Points that make a unit worth handing to a thread: some 10 µs of work.
constexpr int64_t kUnitPoints = 16384;
// Fewer units than this, and large folds are split to feed the threads. Fixed,
// not taken from the machine, so that results are the same everywhere.
constexpr int64_t kEnoughUnits = 16;
constexpr int64_t kTile = 64;
// kBox: units, where the rows suffice; rows of a unit that have accumulators
// each; columns from which on a row is worth its loop.
constexpr int64_t kBoxUnits = 64;
constexpr int64_t kMostBoxRows = 16;
constexpr int64_t kLeastBoxColumns = 32;

uint64_t Bit(int64_t v) { return uint64_t{1} << v; }

std::vector<int32_t> VarsOf(const Kernel& kernel, uint64_t mask) {
  std::vector<int32_t> vars;
  for (size_t v = 0; v < kernel.vars.size(); ++v) {
    if ((mask >> v) & 1) vars.push_back(static_cast<int32_t>(v));
  }
  return vars;
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Planner {
 public:
  explicit Planner(const Kernel& kernel)
      : kernel_(kernel),
        live_(LiveVars(kernel)),
        space_(SpaceMask(kernel) & live_),
        folds_(SpaceFolds(kernel)) {}

  StagePlan Run() {
    if (kernel_.stores.empty()) return std::move(plan_);
    if (!folds_.empty() && RowForm()) return std::move(plan_);
    if (folds_.empty() || !BoxForm()) StageFolds();
    StageStores();
    if (plan_.schedule.empty()) plan_.schedule = "loop";
    return std::move(plan_);
  }

 private:
  int64_t Points(uint64_t mask) const { return PointCount(kernel_, mask); }

  void Say(absl::string_view word) {
    if (plan_.schedule.find(std::string(word)) != std::string::npos) return;
    absl::StrAppend(&plan_.schedule, plan_.schedule.empty() ? "" : "+", word);
  }

  // Everything in one pass over the rows.
  bool RowForm() {
    const uint64_t reduced = folds_[0].reduced & live_;
    for (const Fold& f : folds_) {
      if ((f.reduced & live_) != reduced) return false;
    }
    uint64_t outer = space_ & ~reduced;
    // Rows must be contiguous enough to stream: the minor variable is folded.
    if ((reduced & Bit(kernel_.space_vars - 1)) == 0 && outer != 0 &&
        ((outer >> (kernel_.space_vars - 1)) & 1) != 0) {
      return false;
    }
    for (const Store& s : kernel_.stores) {
      if ((s.vars & outer) != outer || (s.vars & ~outer & ~reduced) != 0) {
        return false;
      }
      if (!s.unique) return false;
    }
    if (Points(outer) < kEnoughUnits && Points(reduced) > 4 * kUnitPoints &&
        AllSimple(folds_)) {
      return false;  // split the folds instead
    }
    Stage stage;
    stage.outer = VarsOf(kernel_, outer);
    stage.folds = folds_;
    for (size_t s = 0; s < kernel_.stores.size(); ++s) {
      stage.stores.push_back(static_cast<int32_t>(s));
    }
    stage.units = Points(outer);
    stage.points_per_unit = std::max<int64_t>(1, Points(reduced));
    plan_.stages.push_back(std::move(stage));
    plan_.schedule = "row_reduce";
    return true;
  }

  // Folds of several kinds, or beside stores of the whole space.
  bool BoxForm() {
    const absl::StatusOr<Boxes> boxes = FindBoxes(kernel_);
    if (!boxes.ok() || !AllSimple(folds_)) return false;
    const std::vector<int32_t> outer = VarsOf(kernel_, boxes->outer);
    const std::vector<int32_t> middle = VarsOf(kernel_, boxes->middle & live_);
    if (outer.size() > 1 || middle.size() != 1) return false;
    if (boxes->columns < kLeastBoxColumns) return false;
    int kinds = boxes->maps.empty() ? 0 : 1;
    for (BoxFold f : kBoxFolds) kinds += boxes->Has(f) ? 1 : 0;
    if (kinds < 2) return false;
    for (const Fold& f : folds_) {
      // Every result has an element of its own.
      if ((f.vars & live_) != (space_ & ~f.reduced)) return false;
    }
    Stage stage;
    stage.kind = StageKind::kBox;
    stage.folds = folds_;
    stage.stores = boxes->maps;
    stage.partial = true;
    stage.split = middle[0];
    bool rows_kept = boxes->Has(BoxFold::kOuter);
    if (!outer.empty()) {
      stage.walk = outer[0];
      if (boxes->outer_points > boxes->middle_points) {
        std::swap(stage.split, stage.walk);
        rows_kept = boxes->Has(BoxFold::kMiddle);
      }
    }
    if (!boxes->Has(BoxFold::kRow)) stage.columns = kColumnBlock;
    const int64_t blocks =
        stage.columns > 0 ? CeilDiv(boxes->columns, stage.columns) : 1;
    const int64_t width = stage.columns > 0
                              ? std::min(boxes->columns, stage.columns)
                              : boxes->columns;
    const int64_t extent = kernel_.vars[stage.split].extent;
    const int64_t walk = stage.walk >= 0 ? kernel_.vars[stage.walk].extent : 1;
    stage.chunk = std::max(CeilDiv(extent, kBoxUnits),
                           CeilDiv(kUnitPoints, SaturatingMul(walk, width)));
    if (rows_kept) stage.chunk = std::min(stage.chunk, kMostBoxRows);
    stage.chunks = CeilDiv(extent, stage.chunk);
    stage.units = blocks * stage.chunks;
    stage.points_per_unit =
        SaturatingMul(SaturatingMul(stage.chunk, walk), width);
    // Partial results are combined in a stage for each set of variables kept.
    std::map<uint64_t, Stage> combines;
    for (const Fold& f : folds_) {
      if (!IsPartial(stage, f)) continue;
      Stage& combine = combines[f.vars & live_];
      combine.kind = StageKind::kCombine;
      combine.outer = VarsOf(kernel_, f.vars & live_);
      combine.folds.push_back(f);
      combine.chunks = stage.chunks;
      combine.units = Points(f.vars & live_);
      combine.points_per_unit = stage.chunks;
    }
    stored_.insert(stage.stores.begin(), stage.stores.end());
    plan_.stages.push_back(std::move(stage));
    for (auto& [kept, combine] : combines) {
      plan_.stages.push_back(std::move(combine));
    }
    plan_.schedule = "multi_reduce";
    return true;
  }

  static bool AllSimple(const std::vector<Fold>& folds) {
    return std::all_of(folds.begin(), folds.end(),
                       [](const Fold& f) { return f.simple; });
  }

  void StageFolds() {
    // Phase by phase; folds over the same variables share a stage.
    std::map<std::tuple<int32_t, uint64_t, uint64_t>, std::vector<Fold>> groups;
    for (const Fold& f : folds_) {
      groups[{f.phase, f.vars & live_, f.reduced & live_}].push_back(f);
    }
    for (auto& [key, folds] : groups) StageFoldGroup(std::move(folds));
  }

  void StageFoldGroup(std::vector<Fold> folds) {
    const uint64_t kept = folds[0].vars & live_;
    const uint64_t reduced = folds[0].reduced & live_;
    const int64_t minor = kernel_.space_vars - 1;
    const bool simple = AllSimple(folds);
    Stage stage;
    bool column = minor >= 0 && (kept & Bit(minor)) != 0 &&
                  kernel_.vars[minor].extent >= 8;
    stage.folds = std::move(folds);
    if (column) {
      stage.kind = StageKind::kColumn;
      stage.outer = VarsOf(kernel_, kept & ~Bit(minor));
    } else {
      stage.outer = VarsOf(kernel_, kept);
    }
    int64_t columns = column ? kernel_.vars[minor].extent : 1;
    int64_t blocks = column ? CeilDiv(columns, kColumnBlock) : 1;
    stage.units =
        SaturatingMul(Points(column ? kept & ~Bit(minor) : kept), blocks);
    int64_t block_points = std::min(columns, kColumnBlock);
    int64_t fold_points = SaturatingMul(Points(reduced), block_points);
    std::vector<int32_t> inner = VarsOf(kernel_, reduced);
    if (simple && !inner.empty() && stage.units < kEnoughUnits &&
        fold_points > 4 * kUnitPoints) {
      // Split the longest variable.
      int32_t longest = inner[0];
      for (int32_t v : inner) {
        if (kernel_.vars[v].extent > kernel_.vars[longest].extent) longest = v;
      }
      int64_t extent = kernel_.vars[longest].extent;
      int64_t wanted = std::min<int64_t>(
          {64, extent, CeilDiv(fold_points, 2 * kUnitPoints)});
      stage.split = longest;
      stage.chunk = CeilDiv(extent, std::max<int64_t>(1, wanted));
      stage.chunks = CeilDiv(extent, stage.chunk);
      stage.partial = stage.chunks > 1;
      if (!stage.partial) stage.split = -1;
    }
    stage.points_per_unit =
        std::max<int64_t>(1, fold_points / std::max<int64_t>(1, stage.chunks));
    stage.units = SaturatingMul(stage.units, stage.chunks);
    Say(column ? "column_reduce" : "reduce");
    if (stage.partial) Say(absl::StrCat("split=", stage.chunks));
    Stage combine;
    if (stage.partial) {
      combine.kind = StageKind::kCombine;
      combine.outer = VarsOf(kernel_, kept);
      combine.folds = stage.folds;
      combine.chunks = stage.chunks;
      combine.units = Points(kept);
      combine.points_per_unit = stage.chunks;
    }
    bool partial = stage.partial;
    plan_.stages.push_back(std::move(stage));
    if (partial) plan_.stages.push_back(std::move(combine));
  }

  void StageStores() {
    // Stores over the same points share a stage, unless they must keep order.
    std::map<std::pair<uint64_t, bool>, std::vector<int32_t>> groups;
    for (size_t s = 0; s < kernel_.stores.size(); ++s) {
      if (stored_.count(static_cast<int32_t>(s)) != 0) continue;
      const Store& store = kernel_.stores[s];
      groups[{store.vars & live_, !store.unique}].push_back(
          static_cast<int32_t>(s));
    }
    for (auto& [key, stores] : groups) {
      StageStoreGroup(key.first, key.second, std::move(stores));
    }
  }

  void StageStoreGroup(uint64_t mask, bool serial,
                       std::vector<int32_t> stores) {
    Stage stage;
    stage.serial = serial;
    stage.stores = std::move(stores);
    std::vector<int32_t> vars = VarsOf(kernel_, mask);
    if (vars.empty()) {
      stage.units = 1;
      stage.points_per_unit = 1;
      plan_.stages.push_back(std::move(stage));
      return;
    }
    if (serial) {
      // Plain loops in order; the outermost variable makes the units.
      stage.outer = {vars[0]};
      stage.units = kernel_.vars[vars[0]].extent;
      stage.points_per_unit = Points(mask & ~Bit(vars[0]));
      plan_.stages.push_back(std::move(stage));
      Say("scatter");
      return;
    }
    if (Transposed(mask, &stage)) {
      plan_.stages.push_back(std::move(stage));
      Say("transpose");
      return;
    }
    uint64_t tail = Bit(vars.back());
    size_t first = vars.size() - 1;
    while (first > 0 && Points(tail) < 256) tail |= Bit(vars[--first]);
    stage.outer = VarsOf(kernel_, mask & ~tail);
    int64_t inside = Points(tail & ~Bit(vars[first]));
    int64_t extent = kernel_.vars[vars[first]].extent;
    int64_t chunk =
        std::max<int64_t>(1, kUnitPoints / std::max<int64_t>(1, inside));
    // Whole vectors, so that chunks begin aligned.
    if (inside == 1) chunk = CeilDiv(chunk, 64) * 64;
    if (extent > chunk) {
      stage.split = vars[first];
      stage.chunk = chunk;
      stage.chunks = CeilDiv(extent, chunk);
    }
    stage.units = SaturatingMul(Points(mask & ~tail), stage.chunks);
    stage.points_per_unit =
        SaturatingMul(inside, stage.split >= 0 ? stage.chunk : extent);
    plan_.stages.push_back(std::move(stage));
  }

  // True where some load walks along another variable than the stores do.
  bool Transposed(uint64_t mask, Stage* stage) {
    const int32_t minor = kernel_.space_vars - 1;
    if ((mask & Bit(minor)) == 0 || kernel_.vars[minor].extent < 8) {
      return false;
    }
    const IndexPool& pool = *kernel_.index;
    for (const Node& n : kernel_.nodes) {
      if (n.kind != NodeKind::kLoad || (n.vars & ~mask) != 0) continue;
      std::optional<int64_t> along = pool.StrideOf(n.offset, minor);
      if (!along.has_value() || *along == 0 || *along == 1 || *along == -1) {
        continue;
      }
      for (int32_t v : VarsOf(kernel_, mask & ~Bit(minor))) {
        std::optional<int64_t> stride = pool.StrideOf(n.offset, v);
        if (!stride.has_value() || *stride != 1) continue;
        if (kernel_.vars[v].extent < 8) continue;
        stage->outer = VarsOf(kernel_, mask & ~Bit(minor) & ~Bit(v));
        stage->split = v;
        stage->chunk = kTile;
        stage->chunks = CeilDiv(kernel_.vars[v].extent, kTile);
        stage->tile = kTile;
        stage->units =
            SaturatingMul(Points(mask & ~Bit(minor) & ~Bit(v)), stage->chunks);
        stage->points_per_unit = kTile * kernel_.vars[minor].extent;
        return true;
      }
    }
    return false;
  }

  const Kernel& kernel_;
  const uint64_t live_;
  const uint64_t space_;
  const std::vector<Fold> folds_;
  std::set<int32_t> stored_;  // stores that a stage does already
  StagePlan plan_;
};

}  // namespace

uint64_t LiveVars(const Kernel& kernel) {
  uint64_t mask = 0;
  for (size_t v = 0; v < kernel.vars.size(); ++v) {
    if (kernel.vars[v].extent != 1) mask |= Bit(v);
  }
  return mask;
}

std::vector<Fold> SpaceFolds(const Kernel& kernel) {
  std::vector<Fold> folds;
  std::map<std::pair<std::vector<NodeId>, std::pair<int32_t, uint64_t>>, size_t>
      known;
  for (size_t n = 0; n < kernel.nodes.size(); ++n) {
    const Node& node = kernel.nodes[n];
    if (node.kind != NodeKind::kReduce) continue;
    if ((node.reduced & SpaceMask(kernel)) == 0) continue;
    std::vector<NodeId> operands(node.operands.begin(), node.operands.end());
    auto [it, inserted] = known.try_emplace(
        {std::move(operands), {node.function, node.reduced}}, folds.size());
    if (inserted) {
      Fold fold;
      fold.results.assign(node.operands.size() / 2, -1);
      fold.any = static_cast<NodeId>(n);
      fold.vars = node.vars;
      fold.reduced = node.reduced;
      fold.phase = node.phase;
      fold.simple = node.operands.size() == 2 &&
                    kernel.functions[node.function].simple.has_value() &&
                    !IsComplex(node.type);
      folds.push_back(std::move(fold));
    }
    folds[it->second].results[node.result] = static_cast<NodeId>(n);
  }
  return folds;
}

bool IsPartial(const Stage& stage, const Fold& fold) {
  return stage.partial && (stage.kind != StageKind::kBox ||
                           ((fold.reduced >> stage.split) & 1) != 0);
}

StagePlan PlanStages(const Kernel& kernel) { return Planner(kernel).Run(); }

int64_t StageGrain(const Stage& stage) {
  return std::max<int64_t>(
      1, kUnitPoints / std::max<int64_t>(1, stage.points_per_unit));
}

}  // namespace ridge
