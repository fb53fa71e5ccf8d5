#include "backends/kernel/schedules/row_column.h"

#include <algorithm>

#include "backends/kernel/schedules/geometry.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// Registers for column sums and a row's inputs, in bytes; beyond, they spill.
constexpr int64_t kMostHeldBytes = 640;
// Each lane has accumulators of its own, to be combined at the end of the row:
// four were 12% faster than eight (layer norm backward of bf16 on H200).
constexpr int64_t kMostVector = 4;

}  // namespace

RowColumnGeometry RowColumnGeometryOf(const Kernel& kernel,
                                      const ScheduleChoice& choice,
                                      const DeviceLimits& device) {
  RowColumnGeometry g;
  const uint64_t column = MinorBit(kernel);
  g.columns = kernel.vars[kernel.space_vars - 1].extent;
  g.rows = PointCount(kernel, SpaceMask(kernel) & ~column);
  g.vector = PowerDividing(
      g.columns, ParameterOr(choice, "vector",
                             std::min(kMostVector, NaturalVector(kernel))));
  const int64_t vectors = std::max<int64_t>(1, g.columns / g.vector);
  g.threads = ParameterOr(
      choice, "threads",
      std::clamp<int64_t>(NextPowerOfTwo(vectors),
                          std::min(32, device.max_threads_per_block),
                          std::min(256, device.max_threads_per_block)));
  g.chunks = CeilDiv(vectors, g.threads);
  // Two blocks a multiprocessor hide one another's synchronisation, and keep
  // the partial sums few.
  g.blocks = ParameterOr(
      choice, "blocks",
      std::min<int64_t>(g.rows, int64_t{device.multiprocessors} * 2));
  for (const Node& n : kernel.nodes) {
    const uint64_t over = n.reduced & SpaceMask(kernel);
    if (over != 0 && (over & column) == 0) g.column_bytes += NodeBytes(n);
  }
  return g;
}

ScheduleChoice ChoiceOf(const RowColumnGeometry& g) {
  return {"row_column",
          {{"vector", g.vector}, {"threads", g.threads}, {"blocks", g.blocks}}};
}

namespace {

class RowColumn : public Schedule {
 public:
  absl::string_view name() const override { return "row_column"; }

  absl::Status CanSchedule(const Kernel& kernel,
                           const DeviceLimits& device) const override {
    const uint64_t column = MinorBit(kernel);
    const uint64_t rows = SpaceMask(kernel) & ~column;
    bool column_folds = false;
    std::vector<bool> after(kernel.nodes.size());
    for (size_t i = 0; i < kernel.nodes.size(); ++i) {
      const Node& n = kernel.nodes[i];
      for (NodeId o : n.operands) after[i] = after[i] || after[o];
      const uint64_t over = n.reduced & SpaceMask(kernel);
      if (over == 0 || over == column) {
        if (over != 0 && after[i]) {
          return CannotSchedule(name(), "a row fold of a column sum");
        }
        continue;
      }
      if (over != rows) {
        return CannotSchedule(name(), "a reduction over part of the rows");
      }
      if (after[i]) {
        return CannotSchedule(name(), "a column sum of a column sum");
      }
      column_folds = true;
      after[i] = true;
    }
    if (!column_folds) return CannotSchedule(name(), "no column sums");
    for (const Store& s : kernel.stores) {
      if (s.combine >= 0) return CannotSchedule(name(), "a scatter");
      if (after[s.value] && (s.vars & rows) != 0) {
        return CannotSchedule(
            name(), "an output of every point that reads a column sum");
      }
    }
    if (PointCount(kernel, SpaceMask(kernel)) == 0) {
      return CannotSchedule(name(), "no elements");
    }
    const RowColumnGeometry g = RowColumnGeometryOf(kernel, {}, device);
    const int64_t held = g.chunks * g.vector * g.column_bytes;
    if (held > kMostHeldBytes) {
      return CannotSchedule(name(), "column sums of a thread: ", held,
                            " bytes > ", kMostHeldBytes);
    }
    return absl::OkStatus();
  }

  ParameterSpace Parameters(const Kernel& kernel,
                            const DeviceLimits& device) const override {
    if (!device.is_gpu) return {};
    const RowColumnGeometry g = RowColumnGeometryOf(kernel, {}, device);
    ParameterSpace space;
    space.axes.push_back(
        {"vector", FirstOf(g.vector, VectorsDividing(kernel, g.columns))});
    std::vector<int64_t> threads;
    for (int64_t t : {g.threads, g.threads * 2, g.threads / 2}) {
      if (t >= 32 && t <= device.max_threads_per_block) threads.push_back(t);
    }
    space.axes.push_back({"threads", FirstOf(g.threads, threads)});
    std::vector<int64_t> blocks;
    for (int64_t b : {g.blocks * 2, g.blocks / 2}) {
      if (b >= 1 && b <= g.rows) blocks.push_back(b);
    }
    space.axes.push_back({"blocks", FirstOf(g.blocks, blocks)});
    return space;
  }

  ScheduleChoice Default(const Kernel& kernel,
                         const DeviceLimits& device) const override {
    if (!device.is_gpu) return {"row_column", {}};
    return ChoiceOf(RowColumnGeometryOf(kernel, {}, device));
  }

  absl::StatusOr<Resources> Use(const Kernel& kernel,
                                const ScheduleChoice& choice,
                                const DeviceLimits& device) const override {
    RIDGE_RETURN_IF_ERROR(CanSchedule(kernel, device));
    const RowColumnGeometry g = RowColumnGeometryOf(kernel, choice, device);
    Resources r;
    r.blocks = g.blocks;
    r.threads_per_block = static_cast<int>(g.threads);
    r.launches = 2;
    const int folds = FoldCount(kernel);
    r.shared_bytes = folds * CeilDiv(g.threads, 32) * 8;
    r.extra_bytes_written = g.column_bytes * g.columns * g.blocks;
    r.extra_bytes_read = r.extra_bytes_written;
    int64_t held = g.chunks * g.vector * g.column_bytes;
    for (const Node& n : kernel.nodes) {
      if (n.kind == NodeKind::kLoad && (n.vars & MinorBit(kernel)) != 0) {
        held += g.chunks * g.vector * NodeBytes(n);
      }
    }
    r.registers = EstimateRegisters(kernel, held, device);
    CountWork(kernel, {}, &r);
    r.shuffle_ops = static_cast<double>(folds) * static_cast<double>(g.rows) *
                    static_cast<double>(g.threads) * 10;
    TrafficOptions traffic;
    traffic.lane_var = kernel.space_vars - 1;
    CountTraffic(kernel, device, traffic, &r);
    return r;
  }
};

}  // namespace

const Schedule* RowColumnSchedule() {
  static const RowColumn& schedule = *new RowColumn;
  return &schedule;
}

}  // namespace ridge
