#include "backends/kernel/schedules/column_reduce.h"

#include <algorithm>

#include "backends/kernel/schedules/geometry.h"
#include "hlo/base/status_macros.h"

namespace ridge {

int64_t FinishThreads(int64_t columns, int64_t shares) {
  int64_t threads = 1;
  while (threads < kFinishBlock && threads * 8 < shares &&
         columns * threads * 2 <= 65536) {
    threads *= 2;
  }
  return threads;
}

namespace {

// Where the reducer is no single operation (H200, Chan's moments of 200 MB):
// batches; one word of a column a thread (70 us against 87 with 16 bytes: the
// accumulators take registers); fewer blocks, since combining their threads'
// results takes long; where the contiguous variable is folded, columns beside
// each other until they make rows of 256 bytes (50 us against 67).
constexpr int64_t kBatch = 4;
constexpr int64_t kWordBytes = 4;
constexpr int64_t kRowVectors = 16;

// Every fold across the space is one operation.
bool SimpleFolds(const Kernel& kernel) {
  return std::none_of(kernel.nodes.begin(), kernel.nodes.end(),
                      [&](const Node& n) {
                        return n.kind == NodeKind::kReduce &&
                               (n.reduced & SpaceMask(kernel)) != 0 &&
                               !kernel.functions[n.function].simple.has_value();
                      });
}

// Neighbouring columns whose folded runs of the contiguous variable lie one
// after the other, as many as make a row.
int64_t ColumnsOfRow(const Kernel& kernel, const ColumnGeometry& g) {
  const int64_t minor = kernel.space_vars - 1;
  if (minor == 0 || ((g.kept >> (minor - 1)) & 1) == 0) return 1;
  const int64_t run = CeilDiv(kernel.vars[minor].extent, g.vector);
  return PowerDividing(kernel.vars[minor - 1].extent,
                       std::max<int64_t>(1, kRowVectors / run));
}

}  // namespace

ColumnGeometry ColumnGeometryOf(const Kernel& kernel,
                                const ScheduleChoice& choice,
                                const DeviceLimits& device) {
  ColumnGeometry g;
  g.reduced = FoldedMask(kernel);
  g.kept = SpaceMask(kernel) & ~g.reduced;
  g.columns = PointCount(kernel, g.kept);
  g.length = PointCount(kernel, g.reduced);
  const int64_t minor = kernel.space_vars - 1;
  g.along_columns = ((g.kept >> minor) & 1) != 0;
  const bool simple = SimpleFolds(kernel);
  const int64_t natural = NaturalVector(kernel);
  g.vector = ParameterOr(choice, "vector",
                         simple || !g.along_columns
                             ? natural
                             : std::max<int64_t>(1, natural * kWordBytes / 16));
  if (g.along_columns) {
    // Each element of a vector has an accumulator of its own.
    g.vector = PowerDividing(kernel.vars[minor].extent,
                             std::min<int64_t>(g.vector, 4));
  }
  const int64_t column_vectors =
      g.along_columns ? CeilDiv(g.columns, g.vector) : g.columns;
  const int64_t steps =
      g.along_columns ? g.length : CeilDiv(g.length, g.vector);
  // A warp's width of columns makes whole sectors of every row.
  g.tile = ParameterOr(
      choice, "tile",
      g.along_columns ? std::min<int64_t>(32, NextPowerOfTwo(column_vectors))
      : simple        ? 1
                      : ColumnsOfRow(kernel, g));
  const int64_t threads = ParameterOr(
      choice, "threads", std::min(256, device.max_threads_per_block));
  g.lanes = std::max<int64_t>(1, threads / g.tile);
  while (g.lanes > 1 && g.lanes > NextPowerOfTwo(steps)) g.lanes /= 2;
  g.tiles = CeilDiv(column_vectors, g.tile);
  // Enough blocks for a few waves, but at least eight steps a thread.
  const int64_t waves = simple ? 16 : g.along_columns ? 8 : 2;
  const int64_t wanted = int64_t{device.multiprocessors} * waves;
  const int64_t most = std::max<int64_t>(1, steps / (g.lanes * 8));
  // Where there are few blocks, the last of them are to start with the first.
  const int64_t tiles = std::max<int64_t>(1, g.tiles);
  g.shares = ParameterOr(
      choice, "shares",
      std::clamp<int64_t>(simple ? CeilDiv(wanted, tiles) : wanted / tiles, 1,
                          most));
  g.share_steps = CeilDiv(steps, g.shares);
  const bool ragged = (g.along_columns ? g.columns : g.length) % g.vector != 0;
  if (!ragged && !simple) {
    g.batch = ParameterOr(choice, "batch", kBatch);
    while (g.batch > 1 && g.lanes * g.batch > g.share_steps) g.batch /= 2;
    // Whole batches; the last share may be shorter.
    g.share_steps =
        CeilDiv(g.share_steps, g.lanes * g.batch) * g.lanes * g.batch;
    g.shares = CeilDiv(steps, g.share_steps);
  }
  return g;
}

ScheduleChoice ChoiceOf(const ColumnGeometry& g) {
  return {"column_reduce",
          {{"vector", g.vector},
           {"tile", g.tile},
           {"threads", g.tile * g.lanes},
           {"shares", g.shares},
           {"batch", g.batch}}};
}

namespace {

class ColumnReduce : public Schedule {
 public:
  absl::string_view name() const override { return "column_reduce"; }

  absl::Status CanSchedule(const Kernel& kernel,
                           const DeviceLimits&) const override {
    const uint64_t folded = FoldedMask(kernel);
    if (folded == 0) {
      return CannotSchedule(name(), "nothing is reduced across the space");
    }
    for (const Node& n : kernel.nodes) {
      const uint64_t over = n.reduced & SpaceMask(kernel);
      if (over != 0 && over != folded) {
        return CannotSchedule(name(), "reductions over different variables");
      }
      if (over != 0 && n.phase > 1) {
        return CannotSchedule(name(), "a reduction of a reduction's result");
      }
    }
    for (const Store& s : kernel.stores) {
      if (s.combine >= 0) return CannotSchedule(name(), "a scatter");
      if ((s.vars & folded) != 0) {
        return CannotSchedule(name(),
                              "an output of every point beside the reduction");
      }
    }
    if (PointCount(kernel, SpaceMask(kernel)) == 0) {
      return CannotSchedule(name(), "no elements");
    }
    return absl::OkStatus();
  }

  ParameterSpace Parameters(const Kernel& kernel,
                            const DeviceLimits& device) const override {
    if (!device.is_gpu) return {};
    const ColumnGeometry g = ColumnGeometryOf(kernel, {}, device);
    ParameterSpace space;
    std::vector<int64_t> vectors;
    for (int64_t v : VectorValues(kernel)) {
      const int64_t minor = kernel.vars[kernel.space_vars - 1].extent;
      if (!g.along_columns || (v <= 4 && minor % v == 0)) vectors.push_back(v);
    }
    space.axes.push_back({"vector", FirstOf(g.vector, vectors)});
    space.axes.push_back({"tile", g.along_columns
                                      ? FirstOf(g.tile, {16, 32, 64})
                                      : std::vector<int64_t>{g.tile}});
    space.axes.push_back({"threads", {g.tile * g.lanes, 128, 512}});
    std::vector<int64_t> shares;
    for (int64_t s : {g.shares / 2, g.shares * 2}) {
      if (s >= 1 && s <= g.length) shares.push_back(s);
    }
    space.axes.push_back({"shares", FirstOf(g.shares, shares)});
    space.axes.push_back({"batch", g.batch > 1
                                       ? FirstOf(g.batch, {1, 4, 8})
                                       : std::vector<int64_t>{g.batch}});
    return space;
  }

  ScheduleChoice Default(const Kernel& kernel,
                         const DeviceLimits& device) const override {
    if (!device.is_gpu) return {"column_reduce", {}};
    return ChoiceOf(ColumnGeometryOf(kernel, {}, device));
  }

  absl::StatusOr<Resources> Use(const Kernel& kernel,
                                const ScheduleChoice& choice,
                                const DeviceLimits& device) const override {
    RIDGE_RETURN_IF_ERROR(CanSchedule(kernel, device));
    const ColumnGeometry g = ColumnGeometryOf(kernel, choice, device);
    Resources r;
    r.blocks = g.tiles * g.shares;
    r.threads_per_block = static_cast<int>(g.tile * g.lanes);
    r.launches = 2;
    int64_t accumulators = 0;  // bytes a column
    for (const Node& n : kernel.nodes) {
      if ((n.reduced & SpaceMask(kernel)) != 0) accumulators += NodeBytes(n);
    }
    const int64_t width = g.along_columns ? g.vector : 1;
    if (g.lanes > 1) {
      r.shared_bytes = accumulators * width * g.tile * g.lanes;
    }
    r.extra_bytes_written = accumulators * g.columns * g.shares;
    r.extra_bytes_read = r.extra_bytes_written;
    // Four steps of a thread are loaded ahead.
    int64_t held = accumulators * width;
    for (const Node& n : kernel.nodes) {
      if (n.kind == NodeKind::kLoad && (n.vars & g.reduced) != 0) {
        held += 4 * NodeBytes(n) * g.vector;
      }
    }
    r.registers = EstimateRegisters(kernel, held, device);
    CountWork(kernel, {}, &r);
    r.shared_ops_bytes =
        static_cast<double>(r.shared_bytes) * static_cast<double>(r.blocks) * 2;
    TrafficOptions traffic;
    traffic.lane_var = kernel.space_vars - 1;
    CountTraffic(kernel, device, traffic, &r);
    return r;
  }
};

}  // namespace

const Schedule* ColumnReduceSchedule() {
  static const ColumnReduce& schedule = *new ColumnReduce;
  return &schedule;
}

}  // namespace ridge
