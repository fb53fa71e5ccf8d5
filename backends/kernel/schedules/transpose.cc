#include "backends/kernel/schedules/transpose.h"

#include <algorithm>

#include "backends/kernel/schedules/geometry.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// A tile's rows are this many elements apart more than they are long, so that
// a column's elements lie in different banks.
constexpr int64_t kRowPadding = 4;
// Thinner sides leave most of a tile empty.
constexpr int64_t kThinnest = 16;
// Blocks that leave room for several on a multiprocessor.
constexpr int64_t kMostSharedBytes = 48 * 1024;

}  // namespace

absl::StatusOr<TransposeGeometry> TransposeGeometryOf(
    const Kernel& kernel, const ScheduleChoice& choice,
    const DeviceLimits& device) {
  constexpr absl::string_view kName = "transpose";
  TransposeGeometry g;
  g.b_var = kernel.space_vars - 1;
  const IndexPool& pool = *kernel.index;
  int64_t widest = 1;
  for (size_t n = 0; n < kernel.nodes.size(); ++n) {
    const Node& node = kernel.nodes[n];
    if ((node.reduced & SpaceMask(kernel)) != 0) {
      return CannotSchedule(kName, "a reduction across the space");
    }
    if (node.kind != NodeKind::kLoad || node.guard >= 0 ||
        pool.HasDynamic(node.offset)) {
      continue;
    }
    const std::optional<int64_t> along_b = pool.StrideOf(node.offset, g.b_var);
    if (!along_b.has_value() || *along_b == 0 || *along_b == 1) continue;
    for (int64_t v = 0; v < g.b_var; ++v) {
      if (pool.StrideOf(node.offset, v) != 1) continue;
      if (g.a_var >= 0 && g.a_var != v) {
        return CannotSchedule(kName,
                              "inputs contiguous along different variables");
      }
      g.a_var = v;
      g.moved.push_back(static_cast<NodeId>(n));
      widest = std::max(widest, NodeBytes(node));
      g.bytes_per_point += NodeBytes(node);
    }
  }
  if (g.moved.empty()) return CannotSchedule(kName, "no input to turn");
  for (int64_t v : {g.a_var, g.b_var}) {
    // Sectors of thin sides are used whole while they are cached.
    if (kernel.vars[v].extent < kThinnest) {
      return CannotSchedule(kName, "a side of ", kernel.vars[v].extent, " < ",
                            kThinnest, " points");
    }
  }
  const int64_t points = PointCount(kernel, SpaceMask(kernel));
  if (points == 0) return CannotSchedule(kName, "no elements");
  for (const Store& s : kernel.stores) {
    if (PointCount(kernel, s.vars) != points || s.guard >= 0 ||
        s.combine >= 0) {
      return CannotSchedule(kName, "an output that does not span the space");
    }
  }
  g.tile = ParameterOr(choice, "tile", g.bytes_per_point <= 8 ? 64 : 32);
  g.shared_bytes = g.bytes_per_point * g.tile * (g.tile + kRowPadding);
  if (g.shared_bytes > kMostSharedBytes) {
    return CannotSchedule(kName, "shared memory of a tile: ", g.shared_bytes,
                          " bytes > ", kMostSharedBytes);
  }
  const int64_t vector = ParameterOr(
      choice, "vector",
      std::min(std::clamp<int64_t>(16 / widest, 1, 8), NaturalVector(kernel)));
  g.a_vector = PowerDividing(kernel.vars[g.a_var].extent, vector);
  g.b_vector = PowerDividing(kernel.vars[g.b_var].extent, vector);
  g.threads = ParameterOr(choice, "threads",
                          std::min(256, device.max_threads_per_block));
  return g;
}

ScheduleChoice ChoiceOf(const TransposeGeometry& g) {
  return {"transpose",
          {{"tile", g.tile},
           {"vector", std::max(g.a_vector, g.b_vector)},
           {"threads", g.threads}}};
}

namespace {

class Transpose : public Schedule {
 public:
  absl::string_view name() const override { return "transpose"; }

  absl::Status CanSchedule(const Kernel& kernel,
                           const DeviceLimits& device) const override {
    return TransposeGeometryOf(kernel, {}, device).status();
  }

  ParameterSpace Parameters(const Kernel& kernel,
                            const DeviceLimits& device) const override {
    absl::StatusOr<TransposeGeometry> g =
        TransposeGeometryOf(kernel, {}, device);
    if (!device.is_gpu || !g.ok()) return {};
    ParameterSpace space;
    std::vector<int64_t> tiles;
    for (int64_t t : {32, 64, 128}) {
      if (g->bytes_per_point * t * (t + kRowPadding) <= kMostSharedBytes) {
        tiles.push_back(t);
      }
    }
    space.axes.push_back({"tile", FirstOf(g->tile, tiles)});
    std::vector<int64_t> vectors;
    const int64_t natural = std::max(g->a_vector, g->b_vector);
    for (int64_t v = natural; v >= 1; v /= 2) vectors.push_back(v);
    space.axes.push_back({"vector", vectors});
    space.axes.push_back({"threads", {g->threads, 128, 512}});
    return space;
  }

  ScheduleChoice Default(const Kernel& kernel,
                         const DeviceLimits& device) const override {
    absl::StatusOr<TransposeGeometry> g =
        TransposeGeometryOf(kernel, {}, device);
    if (!device.is_gpu || !g.ok()) return {"transpose", {}};
    return ChoiceOf(*g);
  }

  absl::StatusOr<Resources> Use(const Kernel& kernel,
                                const ScheduleChoice& choice,
                                const DeviceLimits& device) const override {
    RIDGE_ASSIGN_OR_RETURN(TransposeGeometry g,
                           TransposeGeometryOf(kernel, choice, device));
    Resources r;
    const int64_t points = PointCount(kernel, SpaceMask(kernel));
    const int64_t a = kernel.vars[g.a_var].extent;
    const int64_t b = kernel.vars[g.b_var].extent;
    r.blocks = points / (a * b) * CeilDiv(a, g.tile) * CeilDiv(b, g.tile);
    r.threads_per_block = static_cast<int>(g.threads);
    r.shared_bytes = g.shared_bytes;
    r.shared_ops_bytes = 2.0 * static_cast<double>(points) *
                         static_cast<double>(g.bytes_per_point);
    // A thread holds its part of the tile while it is read.
    const int64_t held =
        g.bytes_per_point * CeilDiv(g.tile * g.tile, g.threads);
    r.registers = EstimateRegisters(kernel, held, device);
    CountWork(kernel, {}, &r);
    TrafficOptions traffic;
    traffic.lane_var = g.b_var;
    traffic.tile_var = g.a_var;
    CountTraffic(kernel, device, traffic, &r);
    return r;
  }
};

}  // namespace

const Schedule* TransposeSchedule() {
  static const Transpose& schedule = *new Transpose;
  return &schedule;
}

}  // namespace ridge
