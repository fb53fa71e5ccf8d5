#include "backends/kernel/schedules/multi_reduce.h"

#include <algorithm>
#include <set>
#include <utility>

#include "backends/kernel/scalar_text.h"
#include "backends/kernel/schedules/geometry.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

constexpr absl::string_view kName = "multi_reduce";

// Elements of a vector have accumulators of their own.
constexpr int64_t kMostVector = 4;
constexpr int64_t kMostThreads = 256;
// Threads of a multiprocessor: with 64 registers each, so many have room.
constexpr int64_t kResidentThreads = 1024;
// Shared memory of a block: a quarter of a multiprocessor's, and what needs no
// opting in.
constexpr int64_t kMostSharedBytes = 48 << 10;
// Middle points of a block where its folds take shared memory for each of
// them; and where they take none.
constexpr int64_t kMostTile = 8;
constexpr int64_t kMostFreeTile = 64;
constexpr int64_t kHostTile = 16;
// Rows of a tile that share the barriers of a row fold.
constexpr int64_t kLeastRowTile = 4;

int Number(BoxFold f) { return static_cast<int>(f); }

uint64_t LiveMask(const Kernel& kernel) {
  uint64_t mask = 0;
  for (int64_t v = 0; v < kernel.space_vars; ++v) {
    if (kernel.vars[v].extent != 1) mask |= uint64_t{1} << v;
  }
  return mask;
}

// Outer and middle axes: a fold over leading axes only makes those the outer
// ones, and one over trailing axes the others.
absl::Status FindAxes(const Kernel& kernel, Boxes* boxes) {
  const uint64_t live = LiveMask(kernel);
  boxes->row = MinorBit(kernel);
  const uint64_t rows = live & ~boxes->row;
  boxes->middle = rows;
  for (const Node& n : kernel.nodes) {
    const uint64_t over = n.reduced & live;
    if (over == 0 || over == boxes->row || over == rows) continue;
    if ((over & boxes->row) != 0) {
      return CannotSchedule(kName, "a reduction over rows and columns");
    }
    // The lowest bits are the leading axes.
    const uint64_t rest = rows & ~over;
    const uint64_t outer = over < rest ? over : rest;
    if (boxes->outer != 0 && boxes->outer != outer) {
      return CannotSchedule(kName,
                            "reductions over more than two sets of axes");
    }
    boxes->outer = outer;
    boxes->middle = rows & ~outer;
  }
  if (boxes->outer > (boxes->middle & (~boxes->middle + 1)) &&
      boxes->middle != 0) {
    return CannotSchedule(kName, "a reduction over axes that lie apart");
  }
  boxes->outer_points = PointCount(kernel, boxes->outer);
  boxes->middle_points = PointCount(kernel, boxes->middle);
  boxes->columns = PointCount(kernel, boxes->row);
  return absl::OkStatus();
}

}  // namespace

uint64_t Boxes::Reduced(BoxFold f) const {
  switch (f) {
    case BoxFold::kRow:
      return row;
    case BoxFold::kMiddle:
      return middle;
    case BoxFold::kOuter:
      return outer;
    case BoxFold::kBoth:
      return outer | middle;
  }
  return 0;
}

std::optional<BoxFold> Boxes::FoldOver(uint64_t reduced) const {
  const uint64_t over = reduced & (outer | middle | row);
  // Without outer axes, all are middle ones; of single elements there is none.
  for (BoxFold f : kBoxFolds) {
    if (over != 0 && over == Reduced(f)) return f;
  }
  return std::nullopt;
}

absl::StatusOr<Boxes> FindBoxes(const Kernel& kernel) {
  Boxes boxes;
  if (FoldedMask(kernel) == 0) {
    return CannotSchedule(kName, "nothing is reduced across the space");
  }
  if (PointCount(kernel, SpaceMask(kernel)) == 0) {
    return CannotSchedule(kName, "no elements");
  }
  RIDGE_RETURN_IF_ERROR(FindAxes(kernel, &boxes));
  const uint64_t live = LiveMask(kernel);
  std::set<std::pair<std::vector<NodeId>, std::pair<int32_t, uint64_t>>>
      counted;
  // The folds that a node hangs on, a bit each.
  std::vector<unsigned> after(kernel.nodes.size(), 0);
  auto after_index = [&](IndexId offset) {
    unsigned folds = 0;
    if (offset < 0) return folds;
    for (int32_t d : kernel.index->DynamicNodes(offset)) folds |= after[d];
    return folds;
  };
  for (size_t i = 0; i < kernel.nodes.size(); ++i) {
    const Node& n = kernel.nodes[i];
    for (NodeId o : n.operands) after[i] |= after[o];
    if (n.guard >= 0) after[i] |= after[n.guard];
    after[i] |= after_index(n.offset);
    const uint64_t over = n.reduced & SpaceMask(kernel);
    if (over == 0) continue;
    if (after[i] != 0) {
      return CannotSchedule(kName, "a reduction of a reduction's result");
    }
    const std::optional<BoxFold> fold = boxes.FoldOver(over);
    if (!fold.has_value()) {
      return CannotSchedule(kName, "a reduction over part of the axes");
    }
    // Unread results of a fold of several have accumulators, too.
    const std::vector<NodeId> operands(n.operands.begin(), n.operands.end());
    if (counted.insert({operands, {n.function, n.reduced}}).second) {
      for (size_t k = 0; k < operands.size() / 2; ++k) {
        boxes.bytes[Number(*fold)] +=
            CarryBytes(kernel.nodes[operands[k]].type);
      }
    }
    after[i] = 1u << Number(*fold);
  }
  for (size_t s = 0; s < kernel.stores.size(); ++s) {
    const Store& store = kernel.stores[s];
    if (store.combine >= 0) return CannotSchedule(kName, "a scatter");
    unsigned folds = after[store.value] | after_index(store.offset);
    if (store.guard >= 0) folds |= after[store.guard];
    const uint64_t vars = store.vars & live;
    if (folds == 0 && vars == live) {
      boxes.maps.push_back(static_cast<int32_t>(s));
      continue;
    }
    bool placed = false;
    for (BoxFold f : kBoxFolds) {
      const unsigned bit = 1u << Number(f);
      if (placed || !boxes.Has(f) || (folds & ~bit) != 0) continue;
      if (vars != (boxes.Kept(f) & live)) continue;
      boxes.stores[Number(f)].push_back(static_cast<int32_t>(s));
      placed = true;
    }
    if (!placed) {
      return CannotSchedule(kName,
                            "an output of other points than a reduction's");
    }
  }
  return boxes;
}

int64_t MultiReduceGeometry::Results(BoxFold f) const {
  switch (f) {
    case BoxFold::kRow:
      return boxes.outer_points * boxes.middle_points;
    case BoxFold::kMiddle:
      return boxes.outer_points * boxes.columns;
    case BoxFold::kOuter:
      return boxes.middle_points * boxes.columns;
    case BoxFold::kBoth:
      return boxes.columns;
  }
  return 0;
}

int64_t MultiReduceGeometry::Parts(BoxFold f) const {
  switch (f) {
    case BoxFold::kRow:
      return pieces;
    case BoxFold::kMiddle:
      return tiles;
    case BoxFold::kOuter:
      return shares;
    case BoxFold::kBoth:
      return tiles * shares;
  }
  return 0;
}

int64_t MultiReduceGeometry::PartialBytes() const {
  int64_t bytes = 0;
  for (BoxFold f : kBoxFolds) bytes += boxes.Bytes(f) * Results(f) * Parts(f);
  return bytes;
}

int64_t MultiReduceGeometry::SharedBytes() const {
  return tile * threads *
         (boxes.Bytes(BoxFold::kOuter) * vector + boxes.Bytes(BoxFold::kRow));
}

MultiReduceGeometry MultiReduceGeometryOf(const Kernel& kernel,
                                          const Boxes& boxes,
                                          const ScheduleChoice& choice,
                                          const DeviceLimits& device) {
  MultiReduceGeometry g;
  g.boxes = boxes;
  g.vector = PowerDividing(
      boxes.columns, ParameterOr(choice, "vector",
                                 std::min(kMostVector, NaturalVector(kernel))));
  const int64_t vectors = boxes.columns / g.vector;
  const int64_t most =
      std::min<int64_t>(kMostThreads, device.max_threads_per_block);
  g.threads =
      ParameterOr(choice, "threads",
                  std::clamp<int64_t>(NextPowerOfTwo(vectors),
                                      std::min<int64_t>(32, most), most));
  // A processor's thread has whole rows (backends/cpu/stages.h).
  if (!device.is_gpu) g.threads = std::max<int64_t>(1, vectors);
  g.pieces = CeilDiv(vectors, g.threads);
  int64_t stored = 0;
  for (int32_t m : boxes.maps) {
    stored += kernel.buffers[kernel.stores[m].buffer].shape.ByteSize();
  }
  g.stream = ParameterOr(choice, "stream", stored > device.l2_bytes ? 1 : 0);
  g.resident = std::max<int64_t>(
      1, std::min<int64_t>(kResidentThreads / std::max<int64_t>(1, g.threads),
                           device.max_blocks_per_multiprocessor));
  auto divide = [&](int64_t tile) {
    g.tile = tile;
    g.tiles = CeilDiv(boxes.middle_points, tile);
    // One wave of blocks.
    const int64_t wanted =
        int64_t{device.multiprocessors} * g.resident / (g.tiles * g.pieces);
    g.shares = ParameterOr(choice, "shares",
                           std::clamp<int64_t>(wanted, 1, boxes.outer_points));
    g.share = CeilDiv(boxes.outer_points, g.shares);
    g.shares = CeilDiv(boxes.outer_points, g.share);
  };
  const int64_t all = NextPowerOfTwo(boxes.middle_points);
  if (!device.is_gpu) {
    g.tile = std::min(all, kHostTile);
    g.tiles = CeilDiv(boxes.middle_points, g.tile);
    g.share = boxes.outer_points;
    return g;
  }
  const int64_t own = ParameterOr(choice, "tile", 0);
  if (own > 0) {
    divide(std::min(own, all));
    return g;
  }
  const bool row = boxes.Has(BoxFold::kRow);
  const bool free = !row && !boxes.Has(BoxFold::kOuter);
  const int64_t least = std::min(all, row ? kLeastRowTile : 1);
  int64_t best = 1;
  int64_t best_bytes = -1;
  for (int64_t tile = std::min(all, free ? kMostFreeTile : kMostTile);
       tile >= 1; tile /= 2) {
    divide(tile);
    const bool room = g.SharedBytes() <= kMostSharedBytes;
    if (!room || (best_bytes >= 0 && tile < least)) continue;
    // Blocks for every multiprocessor come before fewer partial results.
    const int64_t idle = std::max<int64_t>(
        1, int64_t{device.multiprocessors} / std::max<int64_t>(1, g.Blocks()));
    const int64_t bytes = SaturatingMul(g.PartialBytes(), idle);
    if (best_bytes >= 0 && bytes >= best_bytes) continue;
    best = tile;
    best_bytes = bytes;
  }
  divide(best);
  return g;
}

absl::Status CheckRoom(const MultiReduceGeometry& g) {
  if (g.SharedBytes() <= kMostSharedBytes) return absl::OkStatus();
  return CannotSchedule(kName, "accumulators of a tile: ", g.SharedBytes(),
                        " bytes > ", kMostSharedBytes);
}

ScheduleChoice ChoiceOf(const MultiReduceGeometry& g) {
  return {std::string(kName),
          {{"vector", g.vector},
           {"threads", g.threads},
           {"tile", g.tile},
           {"shares", g.shares},
           {"stream", g.stream}}};
}

namespace {

class MultiReduce : public Schedule {
 public:
  absl::string_view name() const override { return kName; }

  absl::Status CanSchedule(const Kernel& kernel,
                           const DeviceLimits& device) const override {
    RIDGE_ASSIGN_OR_RETURN(const Boxes boxes, FindBoxes(kernel));
    for (const Node& n : kernel.nodes) {
      if ((n.reduced & SpaceMask(kernel)) == 0) continue;
      const bool simple = kernel.functions[n.function].simple.has_value();
      if (!device.is_gpu && (!simple || IsComplex(n.type))) {
        return CannotSchedule(name(), "a reducer that is no single operation");
      }
      for (size_t k = n.operands.size() / 2; k < n.operands.size(); ++k) {
        if (!simple && kernel.nodes[n.operands[k]].kind != NodeKind::kConst) {
          return CannotSchedule(name(), "an initial value that is no constant");
        }
      }
    }
    if (!device.is_gpu) return absl::OkStatus();
    return CheckRoom(MultiReduceGeometryOf(kernel, boxes, {}, device));
  }

  ParameterSpace Parameters(const Kernel& kernel,
                            const DeviceLimits& device) const override {
    absl::StatusOr<Boxes> boxes = FindBoxes(kernel);
    if (!device.is_gpu || !boxes.ok()) return {};
    const MultiReduceGeometry g =
        MultiReduceGeometryOf(kernel, *boxes, {}, device);
    ParameterSpace space;
    // A tile or a block as large as the default's has room with less of the
    // other, too.
    space.axes.push_back(
        {"vector",
         FirstOf(g.vector, VectorsDividing(kernel, g.boxes.columns))});
    auto halves = [](int64_t first) {
      std::vector<int64_t> values = {first};
      if (first > 1) values.push_back(first / 2);
      if (first > 3) values.push_back(first / 4);
      return values;
    };
    space.axes.back().values.erase(
        std::remove_if(space.axes.back().values.begin(),
                       space.axes.back().values.end(),
                       [&](int64_t v) { return v > g.vector; }),
        space.axes.back().values.end());
    space.axes.push_back({"threads", {g.threads}});
    if (g.threads > 64) space.axes.back().values.push_back(g.threads / 2);
    space.axes.push_back({"tile", halves(g.tile)});
    std::vector<int64_t> shares;
    for (int64_t s : {g.shares * 2, g.shares / 2}) {
      if (s >= 1 && s <= g.boxes.outer_points) shares.push_back(s);
    }
    space.axes.push_back({"shares", FirstOf(g.shares, shares)});
    space.axes.push_back({"stream", g.stream != 0 ? std::vector<int64_t>{1, 0}
                                                  : std::vector<int64_t>{0}});
    return space;
  }

  ScheduleChoice Default(const Kernel& kernel,
                         const DeviceLimits& device) const override {
    absl::StatusOr<Boxes> boxes = FindBoxes(kernel);
    if (!device.is_gpu || !boxes.ok()) return {std::string(kName), {}};
    return ChoiceOf(MultiReduceGeometryOf(kernel, *boxes, {}, device));
  }

  absl::StatusOr<Resources> Use(const Kernel& kernel,
                                const ScheduleChoice& choice,
                                const DeviceLimits& device) const override {
    RIDGE_RETURN_IF_ERROR(CanSchedule(kernel, device));
    RIDGE_ASSIGN_OR_RETURN(const Boxes boxes, FindBoxes(kernel));
    const MultiReduceGeometry g =
        MultiReduceGeometryOf(kernel, boxes, choice, device);
    if (device.is_gpu) RIDGE_RETURN_IF_ERROR(CheckRoom(g));
    Resources r;
    r.blocks = g.Blocks();
    r.threads_per_block = device.is_gpu ? static_cast<int>(g.threads) : 1;
    r.launches = 2;
    if (device.is_gpu) r.shared_bytes = g.SharedBytes();
    r.extra_bytes_written = g.PartialBytes();
    r.extra_bytes_read = r.extra_bytes_written;
    int64_t held = g.vector * (boxes.Bytes(BoxFold::kMiddle) +
                               boxes.Bytes(BoxFold::kBoth)) +
                   boxes.Bytes(BoxFold::kRow);
    for (const Node& n : kernel.nodes) {
      // The row at hand and the next one.
      if (n.kind == NodeKind::kLoad && (n.vars & boxes.row) != 0) {
        held += 2 * g.vector * NodeBytes(n);
      }
    }
    // The emitted bound on registers.
    r.registers = std::min<int>(
        EstimateRegisters(kernel, held, device),
        static_cast<int>(device.registers_per_multiprocessor /
                         std::max<int64_t>(1, g.resident * g.threads)));
    CountWork(kernel, {}, &r);
    const double points =
        static_cast<double>(PointCount(kernel, SpaceMask(kernel)));
    const double vectors = points / static_cast<double>(g.vector);
    // Read and written: outer folds by vectors, row folds once for each.
    if (device.is_gpu) {
      r.shared_ops_bytes =
          2 * (points * static_cast<double>(boxes.Bytes(BoxFold::kOuter)) +
               vectors * static_cast<double>(boxes.Bytes(BoxFold::kRow)));
    }
    TrafficOptions traffic;
    traffic.lane_var = kernel.space_vars - 1;
    CountTraffic(kernel, device, traffic, &r);
    return r;
  }
};

}  // namespace

const Schedule* MultiReduceSchedule() {
  static const MultiReduce& schedule = *new MultiReduce;
  return &schedule;
}

}  // namespace ridge
