#include "fusion/group_analysis.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "fusion/axes.h"
#include "fusion/gemm_epilogue.h"
#include "fusion/instruction_traits.h"

namespace ridge {
namespace {

// A full reduction, or one to a handful of rows, is spread over the device
// like a column reduction: one block a row would leave it idle.
constexpr int64_t kFewRows = 64;
constexpr int64_t kLongRow = 32768;
// Transposed access matters from this many neighbours on: fewer share a
// 32-byte sector anyway.
constexpr int64_t kTransposeExtent = 8;

bool IsFold(const Instruction& i) {
  if (i.opcode() != Opcode::kReduce || i.operand_count() == 0) return false;
  const Shape& shape = i.operand(0)->shape();
  int64_t folded = 1;
  for (int64_t d : i.dimensions()) {
    if (d < shape.rank()) folded = SaturatingMul(folded, shape.dim(d));
  }
  return folded > 1 && shape.ElementCount() > 0;
}

// The minor axis of a value that lies over `axes`; -1 for a scalar.
AxisId MinorAxis(const GroupAxes& axes, const Instruction* i) {
  auto it = axes.values.find(i);
  if (it == axes.values.end()) return -1;
  const DimVector dims = PhysicalDims(ArrayShapeOf(*i));
  if (dims.empty() || dims.back() >= static_cast<int64_t>(it->second.size())) {
    return -1;
  }
  const DimAxes leaves = axes.table.Leaves(it->second[dims.back()]);
  return leaves.empty() ? -1 : leaves.back();
}

class Analyzer {
 public:
  Analyzer(absl::Span<const Instruction* const> members,
           absl::Span<const Instruction* const> roots,
           const FusionLimits& limits)
      : members_(members),
        roots_(roots),
        limits_(limits),
        inside_(members.begin(), members.end()) {}

  GroupAnalysis Run() {
    for (const Instruction* m : members_) {
      // What a group stores is computed there, cheap or not.
      const bool root =
          std::find(roots_.begin(), roots_.end(), m) != roots_.end();
      if (root || (!RidesAlong(*m) && !IsFree(*m))) ++anchors_;
    }
    a_.hero = roots_.empty() ? nullptr : roots_.back();
    if (!Special()) General();
    Traffic();
    Limits();
    // One computing instruction is always a kernel, of whatever kind.
    if (anchors_ <= 1) a_.decision = Decision();
    return std::move(a_);
  }

 private:
  void Refuse(Decision decision, const Instruction* at) {
    if (!a_.decision.allowed()) return;
    a_.decision = std::move(decision);
    a_.at = at;
  }

  // Groups around a wall, a dot or an update; false where there is none.
  bool Special() {
    const Instruction* wall = nullptr;
    for (const Instruction* m : members_) {
      if (!IsWall(*m)) continue;
      if (wall != nullptr) {
        Refuse(Decision::No(Rule::kWall, std::string(m->name())), m);
      }
      // A dot or an update is the more telling hero.
      if (wall == nullptr || m->opcode() == Opcode::kDot || IsUpdate(*m)) {
        wall = m;
      }
    }
    if (wall == nullptr) return false;
    a_.hero = wall;
    if (wall->opcode() == Opcode::kDot) {
      a_.pattern = GroupPattern::kGemm;
      a_.points = wall->shape().ElementCount();
      if (anchors_ > 1 && a_.decision.allowed()) {
        GemmEpilogueMatch match =
            MatchGemmGroup(*wall, members_, roots_, limits_.numerics);
        if (!match.decision.allowed()) Refuse(match.decision, match.at);
      }
      return true;
    }
    if (IsUpdate(*wall) && wall->shape().IsArray()) {
      a_.pattern = GroupPattern::kScatter;
      Update(*wall);
      return true;
    }
    a_.pattern = GroupPattern::kOpaque;
    if (anchors_ > 1) {
      Refuse(Decision::No(Rule::kWall, std::string(Name(wall->opcode()))),
             wall);
    }
    return true;
  }

  void Update(const Instruction& update) {
    if (roots_.size() != 1 || roots_[0] != &update) {
      Refuse(Decision::No(Rule::kUpdate, absl::StrCat(roots_.size(), " roots"),
                          "1"),
             &update);
      return;
    }
    const bool slice = update.opcode() == Opcode::kDynamicUpdateSlice;
    const Instruction* updates =
        update.operand(slice ? 1 : update.operand_count() - 1);
    a_.points = updates->shape().ElementCount();
    if (anchors_ <= 1) return;
    // The operand is taken over as a buffer; whatever else reads it would see
    // it half updated.
    const Instruction* target = Stored(update.operand(0));
    for (const Instruction* m : members_) {
      if (m == &update) continue;
      if (IsFold(*m)) {
        Refuse(Decision::No(Rule::kUpdate, std::string(m->name())), m);
      }
      for (const Instruction* o : m->operands()) {
        if (Stored(o) == target && !inside_.contains(target)) {
          Refuse(Decision::No(Rule::kUpdate, std::string(o->name())), m);
        }
      }
      if (!RidesAlong(*m) && m->shape().IsArray() &&
          m->shape().ElementCount() > a_.points) {
        Refuse(Decision::No(Rule::kSpace, m->shape().ElementCount(), a_.points),
               m);
      }
    }
    if (inside_.contains(target) && !RidesAlong(*target)) {
      Refuse(Decision::No(Rule::kUpdate, std::string(target->name())), target);
    }
  }

  static const Instruction* Stored(const Instruction* i) {
    while (AliasesOperand(*i)) i = i->operand(0);
    return i;
  }

  // ---- Loops and reductions ----

  void General() {
    const Instruction* main = nullptr;
    for (const Instruction* m : members_) {
      if (!IsFold(*m)) continue;
      folds_.push_back(m);
      if (main == nullptr || m->operand(0)->shape().ElementCount() >
                                 main->operand(0)->shape().ElementCount()) {
        main = m;
      }
    }
    const Instruction* seed = nullptr;
    if (main != nullptr) {
      seed = main->operand(0);
    } else {
      for (const Instruction* r : roots_) {
        if (seed == nullptr ||
            ArrayShapeOf(*r).rank() > ArrayShapeOf(*seed).rank()) {
          seed = r;
        }
      }
    }
    axes_ = FindAxes(members_, seed);
    if (axes_.overflow) {
      Refuse(Decision::No(Rule::kAxes, AxisTable::kMaxAxes + 1,
                          AxisTable::kMaxAxes),
             seed);
    }
    space_ = axes_.MaskOf(seed);
    // What the space's value itself says: of an empty value, nothing runs.
    a_.points = ArrayShapeOf(*seed).ElementCount();
    if (main != nullptr) {
      Folds(*main);
    } else {
      Loop();
    }
    CountTransposed(seed);
    Recomputed();
  }

  void Loop() {
    a_.pattern = GroupPattern::kLoop;
    const Instruction* first = roots_[0];
    for (const Instruction* r : roots_) {
      if (ArrayShapeOf(*r).ElementCount() !=
          ArrayShapeOf(*first).ElementCount()) {
        Refuse(Decision::No(Rule::kSpace, ArrayShapeOf(*r).ElementCount(),
                            ArrayShapeOf(*first).ElementCount()),
               r);
      }
    }
  }

  void Folds(const Instruction& main) {
    a_.folds = static_cast<int>(folds_.size());
    const ValueAxes& whole = axes_.values.at(main.operand(0));
    // Axes of the space, major to minor in memory.
    DimAxes order;
    for (int64_t d : PhysicalDims(main.operand(0)->shape())) {
      const DimAxes leaves = axes_.table.Leaves(whole[d]);
      order.insert(order.end(), leaves.begin(), leaves.end());
    }
    const AxisMask in_pieces = RowsInPieces(main, order);
    AxisMask row_axes = 0;
    AxisMask column_axes = 0;
    std::vector<AxisMask> columns;  // different ones
    const Instruction* row = nullptr;
    const Instruction* column = nullptr;
    for (const Instruction* f : folds_) {
      const AxisMask all = axes_.MaskOf(f->operand(0));
      if (all != space_ || !axes_.homed.contains(f->operand(0))) {
        Refuse(Decision::No(Rule::kNestedFold,
                            f->operand(0)->shape().ElementCount(), a_.points),
               f);
        continue;
      }
      AxisMask folded = 0;
      const ValueAxes& value = axes_.values.at(f->operand(0));
      for (int64_t d : f->dimensions()) folded |= axes_.table.Mask(value[d]);
      folded_[f] = folded;
      if (IsMinorRun(order, folded) || folded == in_pieces) {
        if (row != nullptr && row_axes != folded) {
          Refuse(Decision::No(Rule::kReductions, axes_.table.Points(folded),
                              axes_.table.Points(row_axes)),
                 f);
        }
        row = f;
        row_axes = folded;
      } else {
        if (std::find(columns.begin(), columns.end(), folded) ==
            columns.end()) {
          columns.push_back(folded);
        }
        mixed_ = columns.size() > 1;
        if (mixed_ && !(limits_.mixed_columns && limits_.row_column)) {
          Refuse(Decision::No(Rule::kReductions, axes_.table.Points(folded),
                              axes_.table.Points(columns[0])),
                 f);
        }
        column = f;
        column_axes |= folded;
      }
    }
    if (row != nullptr) {
      a_.columns = axes_.table.Points(row_axes);
      a_.rows = axes_.table.Points(space_ & ~row_axes);
      rows_mask_ = space_ & ~row_axes;
    }
    if (row != nullptr && column != nullptr) {
      if (!limits_.row_column || (column_axes & row_axes) != 0) {
        Refuse(Decision::No(Rule::kReductions, a_.columns,
                            axes_.table.Points(column_axes)),
               column);
      }
    }
    if (mixed_ && !AreBoxes(order, columns, row_axes)) {
      Refuse(Decision::No(Rule::kReductions, columns.size(), 1), column);
    }
    FollowFolds();
    if (mixed_) RefuseSecondPass();
    FoldRoots(row, column);
    a_.hero = row != nullptr ? row : column != nullptr ? column : a_.hero;
    if ((row != nullptr && column != nullptr) || mixed_ || beside_columns_) {
      a_.pattern = GroupPattern::kRowColumn;
    } else if (column != nullptr || Spread()) {
      a_.pattern = GroupPattern::kColumnReduce;
    } else {
      a_.pattern = GroupPattern::kRowReduce;
    }
  }

  bool Spread() const {
    return a_.rows <= kFewRows && a_.columns >= kLongRow && a_.phases <= 1 &&
           !full_root_;
  }

  // The axes of rows that lie in pieces (see the header), where the folds are
  // over such; else 0.
  AxisMask RowsInPieces(const Instruction& main, const DimAxes& order) const {
    AxisMask row = 0;
    for (const Instruction* f : folds_) {
      auto value = axes_.values.find(f->operand(0));
      if (value == axes_.values.end()) return 0;
      AxisMask folded = 0;
      for (int64_t d : f->dimensions()) {
        folded |= axes_.table.Mask(value->second[d]);
      }
      if (row != 0 && folded != row) return 0;
      row = folded;
    }
    if (order.empty() || IsMinorRun(order, row)) return 0;
    const int64_t bytes = StorageBytes(main.operand(0)->shape().type());
    int64_t piece = bytes;
    for (size_t k = order.size(); k > 0 && ((row >> order[k - 1]) & 1); --k) {
      piece = SaturatingMul(piece, axes_.table.extent(order[k - 1]));
    }
    if (piece % limits_.piece_bytes != 0 ||
        SaturatingMul(bytes, axes_.table.Points(row)) >
            limits_.max_row_bytes_in_pieces) {
      return 0;
    }
    // Whether anything of the whole space waits for a fold.
    absl::flat_hash_set<const Instruction*> after;
    for (const Instruction* m : members_) {
      const bool waits =
          std::any_of(m->operands().begin(), m->operands().end(),
                      [&](const Instruction* o) { return after.contains(o); });
      if (waits && axes_.MaskOf(m) == space_) return row;
      if (waits || IsFold(*m)) after.insert(m);
    }
    return 0;
  }

  // Whether the column folds see the axes beside the row as two runs at most,
  // outer and middle ones, and go over one of these or over both.
  static bool AreBoxes(const DimAxes& order,
                       const std::vector<AxisMask>& columns,
                       AxisMask row_axes) {
    AxisMask all = 0;
    for (AxisMask c : columns) all |= c;
    // The row: what none of them folds, at the end.
    size_t rows = order.size();
    while (rows > 0 && ((all >> order[rows - 1]) & 1) == 0) --rows;
    if (rows == order.size()) return false;
    AxisMask row = 0;
    for (size_t k = rows; k < order.size(); ++k) row |= AxisMask{1} << order[k];
    if (row_axes != 0 && row_axes != row) return false;
    // Where one of them begins or ends among the others: one place only.
    size_t cut = 0;
    for (AxisMask c : columns) {
      for (size_t k = 1; k < rows; ++k) {
        if (((c >> order[k - 1]) & 1) == ((c >> order[k]) & 1)) continue;
        if (cut != 0 && cut != k) return false;
        cut = k;
      }
    }
    return true;
  }

  // Rows pass once where column folds differ: no value of the whole space may
  // wait for a row's own fold.
  void RefuseSecondPass() {
    for (const Instruction* m : members_) {
      if (!waits_.contains(m) || axes_.MaskOf(m) != space_) continue;
      Refuse(Decision::No(Rule::kReductions, a_.phases + 1, 1), m);
    }
  }

  // Whether `folded` are the last axes of `order`.
  static bool IsMinorRun(const DimAxes& order, AxisMask folded) {
    size_t k = order.size();
    while (k > 0 && ((folded >> order[k - 1]) & 1)) --k;
    for (size_t j = 0; j < k; ++j) {
      if ((folded >> order[j]) & 1) return false;
    }
    return k < order.size();
  }

  // Which values wait for which folds; phases; where they are read.
  void FollowFolds() {
    absl::flat_hash_map<const Instruction*, AxisMask> after_column;
    absl::flat_hash_map<const Instruction*, int> phase;
    for (const Instruction* m : members_) {
      AxisMask kept = ~AxisMask{0};
      bool column = false;
      int p = 0;
      for (const Instruction* o : m->operands()) {
        auto c = after_column.find(o);
        if (c != after_column.end()) {
          column = true;
          kept &= c->second;
        }
        auto it = phase.find(o);
        if (it != phase.end()) p = std::max(p, it->second);
      }
      auto folded = folded_.find(m);
      if (folded != folded_.end()) {
        if (column) {
          Refuse(Decision::No(Rule::kAfterColumns, std::string(m->name())), m);
        }
        const bool row =
            (space_ & ~folded->second) == rows_mask_ && a_.columns > 0;
        if (row) {
          ++p;
        } else {
          after_column[m] = space_ & ~folded->second;
        }
      } else if (column) {
        if ((axes_.MaskOf(m) & ~kept) != 0) {
          Refuse(
              Decision::No(Rule::kAfterColumns, ArrayShapeOf(*m).ElementCount(),
                           axes_.table.Points(kept & space_)),
              m);
        }
        after_column[m] = kept;
      }
      if (p > 0) {
        phase[m] = p;
        waits_.insert(m);
      }
      if (column || folded != folded_.end()) waits_.insert(m);
      a_.phases = std::max(a_.phases, p);
    }
    // A value that waits for a fold, read at other indices than its own.
    for (const GroupAxes::Disturbance& d : axes_.disturbances) {
      if (!waits_.contains(d.operand)) continue;
      const bool only_columns = rows_mask_ != 0 && (d.axes & rows_mask_) == 0 &&
                                !after_column.contains(d.operand);
      if (!only_columns) {
        Refuse(Decision::No(Rule::kOtherRows, std::string(d.operand->name())),
               d.user);
      }
    }
  }

  void FoldRoots(const Instruction* row, const Instruction* column) {
    for (const Instruction* r : roots_) {
      if (ArrayShapeOf(*r).ElementCount() == 1 && !waits_.contains(r) &&
          row == nullptr) {
        // A lone scalar beside a column fold would be a kernel's whole work.
        Refuse(Decision::No(Rule::kSpace, 1, a_.points), r);
        continue;
      }
      const AxisMask mask = axes_.MaskOf(r);
      bool known = mask == space_ && mask != 0;
      if (known) {
        full_root_ = true;
        if (waits_.contains(r)) a_.row_kept = true;
        beside_columns_ = row == nullptr && column != nullptr;
        if (beside_columns_ && !limits_.row_column) {
          Refuse(
              Decision::No(Rule::kColumnOutput, ArrayShapeOf(*r).ElementCount(),
                           ArrayShapeOf(*column).ElementCount()),
              r);
        }
      }
      for (const auto& [fold, folded] : folded_) {
        known = known || mask == (space_ & ~folded);
      }
      if (!known) {
        Refuse(Decision::No(Rule::kSpace, ArrayShapeOf(*r).ElementCount(),
                            a_.points),
               r);
      }
    }
  }

  // ---- Memory order ----

  void CountTransposed(const Instruction* seed) {
    const AxisId minor = MinorAxis(axes_, seed);
    if (minor < 0) return;
    const Instruction* first = nullptr;
    auto look = [&](const Instruction* i) {
      if (axes_.MaskOf(i) != space_) return;
      const AxisId own = MinorAxis(axes_, i);
      if (own < 0 || own == minor) return;
      if (axes_.table.extent(own) < kTransposeExtent ||
          axes_.table.extent(minor) < kTransposeExtent) {
        return;
      }
      ++a_.transposed;
      if (first == nullptr) first = i;
    };
    absl::flat_hash_set<const Instruction*> seen;
    for (const Instruction* m : members_) {
      for (const Instruction* o : m->operands()) {
        if (!inside_.contains(o) && seen.insert(o).second) look(o);
      }
    }
    for (const Instruction* r : roots_) {
      if (r != seed) look(r);
    }
    if (a_.transposed > 0 && a_.pattern == GroupPattern::kLoop) {
      a_.pattern = GroupPattern::kTranspose;
      for (const Instruction* m : members_) {
        if (m->opcode() == Opcode::kTranspose && !AliasesOperand(*m)) {
          a_.hero = m;
        }
      }
    }
  }

  // ---- What is computed more than once ----

  void Recomputed() {
    // Evaluations where the axes say (home) and at other indices (away); the
    // number of different places in the code.
    struct Count {
      double home = 0;
      double away = 0;
      double places = 0;
    };
    absl::flat_hash_map<const Instruction*, Count> counts;
    absl::flat_hash_map<std::pair<const Instruction*, const Instruction*>, bool>
        disturbed;
    for (const GroupAxes::Disturbance& d : axes_.disturbances) {
      disturbed[{d.user, d.operand}] = true;
    }
    const double points = static_cast<double>(a_.points);
    for (const Instruction* r : roots_) {
      counts[r].home = Home(r);
      counts[r].places = 1;
    }
    for (auto it = members_.rbegin(); it != members_.rend(); ++it) {
      const Instruction* m = *it;
      const Count c = counts[m];
      const double natural =
          static_cast<double>(ArrayShapeOf(*m).ElementCount());
      double per_element = OpsPerElement(*m);
      double total = c.home + c.away;
      if (IsFold(*m)) {
        // One operation for each element folded.
        per_element = 1;
        total = points;
      } else if (total > natural) {
        a_.extra_ops += (total - natural) * per_element;
      }
      a_.ops += total * per_element;
      if (per_element > 0) {
        a_.instructions +=
            static_cast<int64_t>(std::min(1e9, std::max(1.0, c.places)));
      }
      for (int64_t k = 0; k < m->operand_count(); ++k) {
        const Instruction* o = m->operand(k);
        Count& to = counts[o];
        double share = 1;
        if (m->opcode() == Opcode::kConcatenate && natural > 0) {
          share = static_cast<double>(o->shape().ElementCount()) / natural;
        } else if (m->opcode() == Opcode::kReduceWindow) {
          share = per_element;
        }
        if (disturbed.contains({m, o}) || !inside_.contains(o)) {
          to.away += (c.home + c.away) * share;
          to.places += std::max(1.0, c.places);
        } else {
          to.home = std::max(to.home, IsFold(*m) ? points : Home(o));
          to.away = std::max(to.away, c.away);
          to.places = std::max(to.places, c.places);
        }
      }
    }
    const double extra = points > 0 ? a_.extra_ops / points : 0;
    if (extra > limits_.max_recomputed_ops) {
      Refuse(Decision::No(Rule::kRecompute, absl::StrCat(extra),
                          absl::StrCat(limits_.max_recomputed_ops)),
             a_.hero);
    }
  }

  // How often a value with a place of its own is computed: once for a scalar,
  // once a row where it has no other axes, else once a point.
  double Home(const Instruction* i) const {
    const AxisMask mask = axes_.MaskOf(i);
    if (mask == 0) return 1;
    if (rows_mask_ != 0 && (mask & ~rows_mask_) == 0) {
      return static_cast<double>(axes_.table.Points(rows_mask_));
    }
    if (mask == space_) return static_cast<double>(a_.points);
    // Results of column folds and what follows them.
    if (waits_.contains(i)) {
      return static_cast<double>(axes_.table.Points(mask));
    }
    return std::max(static_cast<double>(a_.points),
                    static_cast<double>(axes_.table.Points(mask & ~space_)));
  }

  // ---- Bytes ----

  void Traffic() {
    absl::flat_hash_map<const Instruction*, int64_t> reads;
    std::vector<const Instruction*> order;
    for (const Instruction* m : members_) {
      for (int64_t k = 0; k < m->operand_count(); ++k) {
        const Instruction* o = m->operand(k);
        if (inside_.contains(o)) continue;
        auto [it, made] = reads.try_emplace(o, 0);
        if (made) order.push_back(o);
        const int64_t whole = o->shape().ByteSize();
        // A slice or gather reads what it takes; of everything else, all.
        const bool part = k == 0 && o->shape().IsArray() &&
                          (m->opcode() == Opcode::kSlice ||
                           m->opcode() == Opcode::kDynamicSlice ||
                           m->opcode() == Opcode::kGather);
        int64_t bytes = whole;
        if (part) {
          bytes =
              std::min(whole, SaturatingMul(m->shape().ElementCount(),
                                            StorageBytes(o->shape().type())));
        } else if (m == a_.hero && a_.pattern == GroupPattern::kScatter &&
                   k == 0) {
          bytes = 0;  // updated in place
        }
        it->second = std::min(whole, it->second + bytes);
      }
    }
    for (const Instruction* o : order) {
      a_.reads.push_back({o, reads[o]});
      a_.bytes_read += reads[o];
    }
    for (const Instruction* r : roots_) {
      if (a_.pattern == GroupPattern::kScatter && r == a_.hero) {
        a_.bytes_written +=
            SaturatingMul(a_.points, StorageBytes(r->shape().type()));
      } else {
        a_.bytes_written += r->shape().ByteSize();
      }
    }
  }

  void Limits() {
    const int64_t operands =
        static_cast<int64_t>(a_.reads.size() + roots_.size());
    if (operands > limits_.max_operands) {
      Refuse(Decision::No(Rule::kOperands, operands, limits_.max_operands),
             a_.hero);
    }
    if (a_.instructions > limits_.max_instructions) {
      Refuse(
          Decision::No(Rule::kSize, a_.instructions, limits_.max_instructions),
          a_.hero);
    }
  }

  absl::Span<const Instruction* const> members_;
  absl::Span<const Instruction* const> roots_;
  const FusionLimits& limits_;
  absl::flat_hash_set<const Instruction*> inside_;
  int anchors_ = 0;
  GroupAnalysis a_;
  GroupAxes axes_;
  AxisMask space_ = 0;
  AxisMask rows_mask_ = 0;
  bool mixed_ = false;
  bool full_root_ = false;
  bool beside_columns_ = false;  // a root of the whole space, no row fold
  std::vector<const Instruction*> folds_;
  absl::flat_hash_map<const Instruction*, AxisMask> folded_;
  absl::flat_hash_set<const Instruction*> waits_;
};

}  // namespace

GroupAnalysis AnalyzeGroup(absl::Span<const Instruction* const> members,
                           absl::Span<const Instruction* const> roots,
                           const FusionLimits& limits) {
  return Analyzer(members, roots, limits).Run();
}

}  // namespace ridge
