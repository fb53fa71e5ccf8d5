#include "backends/kernel/schedules/row_reduce.h"

#include <algorithm>

#include "backends/kernel/schedules/geometry.h"
#include "backends/kernel/schedules/online.h"
#include "backends/kernel/schedules/row_again.h"
#include "backends/kernel/schedules/row_ring.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// Bytes of the row's inputs that a thread may comfortably hold; and before the
// row no longer stays.
constexpr int64_t kComfortableBytes = 128;
constexpr int64_t kMostHeldBytes = 160;
// Turns of a resident block below which filling the stages costs too much.
constexpr int64_t kFewestTurns = 8;
// Threads of a multiprocessor, in blocks that share rows, beyond which each has
// too few registers.
constexpr int64_t kMostResidentThreads = 2048;
// Threads of a row in one block: larger blocks leave a thread few registers,
// and a multiprocessor nothing to do while they wait for each other.
constexpr int64_t kMostThreads = 512;
constexpr int64_t kThreadsOfCluster = 256;
// Where a row is read once, a few warps with many loads each are the fastest
// (H200: 265 us against 297 for rows of 8192 held by 512 threads).
constexpr int64_t kThreadsOfOnce = 128;
// Rows for each multiprocessor that fill the device without sharing any.
constexpr int64_t kManyRows = 8;
constexpr int64_t kWarp = 32;
// Points of the kernel up to which waiting counts, not bytes: a lane of a warp
// each rather than wide accesses.
constexpr int64_t kFewPoints = 1 << 16;
// The next turn's rows come while this one's are worked on.
constexpr int64_t kStages = 2;
// Where little has to be computed again, one stage is enough: a row's place is
// filled anew as it is read for the last time, and what shared memory and
// registers that saves goes to more blocks (H200, rows of 131072 bf16, gradient
// of cross entropy: 612 us with six blocks of one stage, 666 with three of
// two).
constexpr int64_t kFewInstructionsAgain = 8;
constexpr int64_t kMostResident = 6;
constexpr int64_t kLeastRegisters = 40;
constexpr int64_t kRegistersOfMultiprocessor = 65536;
// Shared memory of a block beside its row, roughly.
constexpr int64_t kOtherBytesOfBlock = 2048;

// No pass needs the row after the first one.
bool ReadsRowOnce(const Kernel& kernel) {
  return PhaseCount(kernel) <= 1 &&
         std::all_of(kernel.stores.begin(), kernel.stores.end(),
                     [&](const Store& s) {
                       return (s.vars & MinorBit(kernel)) == 0 ||
                              kernel.nodes[s.value].phase == 0;
                     });
}

// Elements that vectors must divide: a row, or a piece of one.
int64_t VectorRun(const Kernel& kernel) {
  return kernel.row_piece > 0 ? kernel.row_piece
                              : kernel.vars[kernel.space_vars - 1].extent;
}

}  // namespace

RowGeometry RowGeometryOf(const Kernel& written, const ScheduleChoice& choice,
                          const DeviceLimits& device) {
  RowGeometry g;
  auto many_rows = [&](const Kernel& k) {
    return PointCount(k, SpaceMask(k) & ~MinorBit(k)) >=
           kManyRows * device.multiprocessors;
  };
  std::optional<Kernel> online;
  if (device.is_gpu) online = Online(written);
  g.has_online = online.has_value();
  // Where it leaves one reading, rows come at the speed of memory.
  g.online = g.has_online &&
             ParameterOr(choice, "online",
                         ReadsRowOnce(*online) && many_rows(written)) != 0;
  const Kernel& kernel = g.online ? *online : written;
  g.columns = kernel.vars[kernel.space_vars - 1].extent;
  g.rows = PointCount(kernel, SpaceMask(kernel) & ~MinorBit(kernel));
  int64_t vector = NaturalVector(kernel);
  if (device.is_gpu && g.rows <= kFewPoints / std::max<int64_t>(1, g.columns)) {
    vector = std::min(vector, std::max<int64_t>(1, g.columns / kWarp));
  }
  g.vector =
      PowerDividing(VectorRun(kernel), ParameterOr(choice, "vector", vector));
  const int64_t vectors = std::max<int64_t>(1, g.columns / g.vector);
  // About four vectors a thread keep the memory busy; a warp at least, where
  // the row has as many.
  int64_t width =
      std::clamp<int64_t>(NextPowerOfTwo(CeilDiv(vectors, 4)), 1, 32768);
  width = std::max(width, std::min(kWarp, NextPowerOfTwo(vectors)));
  const int64_t held = HeldBytes(kernel, g.vector);
  int64_t threads = std::min<int64_t>(
      width, std::min<int64_t>(kMostThreads, device.max_threads_per_block));
  const int64_t most_blocks = std::min(device.max_cluster_blocks, 8);
  int64_t cluster = 1;
  const bool once = device.is_gpu && ReadsRowOnce(kernel) && many_rows(kernel);
  if (once) threads = std::min(threads, kThreadsOfOnce);
  auto per_thread = [&] { return CeilDiv(vectors, threads * cluster) * held; };
  if (!once && per_thread() > kComfortableBytes && most_blocks > 1) {
    // Few threads first: each adds to what combining their results takes.
    for (int64_t t : {std::min(threads, kThreadsOfCluster), threads}) {
      threads = t;
      cluster = 1;
      while (per_thread() > kComfortableBytes && cluster < most_blocks) {
        cluster *= 2;
      }
      if (per_thread() <= kMostHeldBytes) break;
    }
  }
  g.row_threads = ParameterOr(choice, "threads", threads);
  g.cluster = ParameterOr(choice, "cluster", cluster);
  // Blocks exchange the results of whole warps.
  if (g.cluster > 1) g.row_threads = std::max(g.row_threads, kWarp);
  g.block_rows =
      ParameterOr(choice, "rows", std::max<int64_t>(1, 256 / g.row_threads));
  if (g.cluster > 1) g.block_rows = 1;
  while (g.block_rows > 1 && g.rows < g.block_rows) g.block_rows /= 2;
  if (device.is_gpu && g.BlockThreads() < kWarp) {
    g.block_rows = kWarp / g.row_threads;
  }
  g.chunks = CeilDiv(vectors, g.Width());
  g.cached = ParameterOr(choice, "cached",
                         !once && g.chunks * held <= kMostHeldBytes) != 0;
  if (!device.is_gpu) return g;
  // Where rows are shared by blocks, each turn has moments when nothing is
  // being loaded unless the next one's rows are on their way already.
  auto many = [&](int64_t resident) {
    return g.cluster > 1 && g.Turns() * g.cluster >= kFewestTurns * resident *
                                                         device.multiprocessors;
  };
  int64_t resident = 1;
  int64_t stages = many(1) ? kStages : 0;
  if (many(1) && g.cached &&
      InstructionsAgain(kernel) <= kFewInstructionsAgain) {
    const int64_t registers = std::max<int64_t>(
        kLeastRegisters,
        EstimateRegisters(kernel, HeldBytes(kernel, g.vector), device));
    resident =
        std::min({kMostResident,
                  device.shared_bytes_per_multiprocessor /
                      (TurnBytes(kernel, g) + kOtherBytesOfBlock),
                  kRegistersOfMultiprocessor / (g.BlockThreads() * registers)});
    while (resident > 1 && !many(resident)) --resident;
    stages = resident > 1 ? 1 : kStages;
    resident = std::max<int64_t>(resident, 1);
  }
  g.resident = ParameterOr(choice, "resident", resident);
  g.stream = ParameterOr(choice, "stream", 0) > 0;
  const int64_t most = g.cached ? MostStages(kernel, g, device) : 0;
  g.stages = std::min(ParameterOr(choice, "stages", stages), most);
  return g;
}

ScheduleChoice ChoiceOf(const RowGeometry& g) {
  ScheduleChoice choice = {"row_reduce",
                           {{"vector", g.vector},
                            {"threads", g.row_threads},
                            {"rows", g.block_rows},
                            {"cluster", g.cluster},
                            {"cached", g.cached ? 1 : 0},
                            {"stages", g.stages},
                            {"resident", g.resident},
                            {"stream", g.stream ? 1 : 0}}};
  if (g.has_online) choice.parameters["online"] = g.online ? 1 : 0;
  return choice;
}

namespace {

class RowReduce : public Schedule {
 public:
  absl::string_view name() const override { return "row_reduce"; }

  absl::Status CanSchedule(const Kernel& kernel,
                           const DeviceLimits& device) const override {
    const uint64_t column = MinorBit(kernel), space = SpaceMask(kernel);
    if (FoldedMask(kernel) == 0) {
      return CannotSchedule(name(), "nothing is reduced across the space");
    }
    for (const Node& n : kernel.nodes) {
      if ((n.reduced & space) != 0 && n.reduced != column) {
        return CannotSchedule(name(),
                              "a reduction over other than the last variable");
      }
    }
    for (const Store& s : kernel.stores) {
      if (PointCount(kernel, s.vars | column) != PointCount(kernel, space)) {
        return CannotSchedule(name(), "an output that does not span the rows");
      }
      if (s.combine >= 0) return CannotSchedule(name(), "a scatter");
    }
    if (PointCount(kernel, space) == 0) {
      return CannotSchedule(name(), "no elements");
    }
    if (kernel.pattern == GroupPattern::kColumnReduce && device.is_gpu &&
        !RowGeometryOf(kernel, {}, device).cached) {
      return CannotSchedule(name(),
                            "a few long rows, which columns' shares "
                            "spread over the device");
    }
    if (kernel.row_piece > 0 && device.is_gpu &&
        !RowGeometryOf(kernel, {}, device).cached) {
      return CannotSchedule(name(), "rows in pieces that no cluster holds");
    }
    return absl::OkStatus();
  }

  ParameterSpace Parameters(const Kernel& kernel,
                            const DeviceLimits& device) const override {
    if (!device.is_gpu) return {};
    const RowGeometry g = RowGeometryOf(kernel, {}, device);
    ParameterSpace space;
    space.axes.push_back(
        {"vector",
         FirstOf(g.vector, VectorsDividing(kernel, VectorRun(kernel)))});
    std::vector<int64_t> threads;
    for (int64_t t : {g.row_threads, g.row_threads / 2, g.row_threads * 2}) {
      if (t >= 1 && t <= device.max_threads_per_block) threads.push_back(t);
    }
    space.axes.push_back({"threads", threads});
    std::vector<int64_t> rows;
    if (g.cluster == 1) {
      for (int64_t r : {g.block_rows / 2, g.block_rows * 2}) {
        if (r >= 1 && r * g.row_threads <= device.max_threads_per_block &&
            r <= g.rows) {
          rows.push_back(r);
        }
      }
    }
    space.axes.push_back({"rows", FirstOf(g.block_rows, rows)});
    std::vector<int64_t> clusters;
    for (int64_t c = 1; c <= device.max_cluster_blocks && c <= 8; c *= 2) {
      // More threads than vectors would idle.
      if (c == 1 || g.row_threads * c * g.vector <= g.columns) {
        clusters.push_back(c);
      }
    }
    space.axes.push_back({"cluster", FirstOf(g.cluster, clusters)});
    space.axes.push_back({"cached", FirstOf(g.cached, {0, 1})});
    std::vector<int64_t> stages = {0};
    if (g.cached) {
      const int64_t most = MostStages(kernel, g, device);
      for (int64_t s = 1; s <= most; ++s) stages.push_back(s);
    }
    space.axes.push_back({"stages", FirstOf(g.stages, stages)});
    std::vector<int64_t> residents;
    for (int64_t r : {1, 2, 3, 4, 6}) {
      if (g.cluster > 1 && r * g.row_threads <= kMostResidentThreads) {
        residents.push_back(r);
      }
    }
    space.axes.push_back({"resident", FirstOf(g.resident, residents)});
    space.axes.push_back({"stream", FirstOf(g.stream, {0, 1})});
    if (g.has_online) {
      space.axes.push_back({"online", FirstOf(g.online, {0, 1})});
    }
    return space;
  }

  ScheduleChoice Default(const Kernel& kernel,
                         const DeviceLimits& device) const override {
    if (!device.is_gpu) return {"row_reduce", {}};
    return ChoiceOf(RowGeometryOf(kernel, {}, device));
  }

  absl::StatusOr<Resources> Use(const Kernel& written,
                                const ScheduleChoice& choice,
                                const DeviceLimits& device) const override {
    RIDGE_RETURN_IF_ERROR(CanSchedule(written, device));
    const RowGeometry g = RowGeometryOf(written, choice, device);
    std::optional<Kernel> online;
    if (g.online) online = Online(written);
    const Kernel& kernel = g.online ? *online : written;
    Resources r;
    r.blocks = g.Turns() * g.cluster;
    if (g.stages > 0) {
      r.blocks = std::min(r.blocks, g.resident * device.multiprocessors);
      r.shared_bytes = g.stages * TurnBytes(kernel, g);
    }
    r.threads_per_block = static_cast<int>(g.BlockThreads());
    r.cluster_blocks = static_cast<int>(g.cluster);
    const int folds = FoldCount(kernel);
    // A value a warp for each fold, where a row takes several warps.
    if (g.row_threads > 32 || g.cluster > 1) {
      r.shared_bytes += folds * CeilDiv(g.BlockThreads(), 32) * 8;
    }
    const int64_t held =
        g.cached && g.stages == 0 ? g.chunks * HeldBytes(kernel, g.vector) : 0;
    r.registers = EstimateRegisters(kernel, held, device);
    // Later phases compute again what the row's elements need, unless kept.
    const int passes = g.cached ? 1 : PhaseCount(kernel) + 1;
    CountWork(
        kernel,
        [&](const Node& n) {
          double times = DefaultEvaluations(kernel, n);
          const bool of_row = (n.vars & MinorBit(kernel)) != 0;
          if (of_row && !g.cached) times *= passes - n.phase;
          // What is one a row is computed by every thread of it.
          if (!of_row && n.kind == NodeKind::kOp && n.vars != 0) {
            times *= static_cast<double>(g.Width());
          }
          return times;
        },
        &r);
    // Butterflies over a warp, once a fold and row; and the warps' results.
    const double steps = g.row_threads > 32 ? 10 : 5;
    r.shuffle_ops = static_cast<double>(folds) * static_cast<double>(g.rows) *
                    static_cast<double>(g.Width()) * steps;
    TrafficOptions traffic;
    traffic.lane_var = kernel.space_vars - 1;
    traffic.fetches = [&](const Node& n) {
      if (g.cached || (n.vars & MinorBit(kernel)) == 0) return 1.0;
      // Rows under way at once, all of whose bytes wait for the next phase.
      const double under_way =
          static_cast<double>(
              std::min<int64_t>(r.blocks, device.multiprocessors * 2)) *
          static_cast<double>(g.block_rows * g.columns * NodeBytes(n));
      return under_way <= 0.5 * static_cast<double>(device.l2_bytes)
                 ? 1.0
                 : static_cast<double>(PhasesReading(kernel, n));
    };
    CountTraffic(kernel, device, traffic, &r);
    return r;
  }

 private:
  // Phases in which something that uses the load is computed.
  static int PhasesReading(const Kernel& kernel, const Node& load) {
    const NodeId id = static_cast<NodeId>(&load - kernel.nodes.data());
    std::vector<bool> uses(kernel.nodes.size());
    uses[id] = true;
    uint64_t phases = 0;
    for (size_t n = id + 1; n < kernel.nodes.size(); ++n) {
      const Node& node = kernel.nodes[n];
      // Past a fold across the row only its result is read.
      for (NodeId o : node.operands) uses[n] = uses[n] || uses[o];
      if (!uses[n]) continue;
      const bool folds = (node.reduced & SpaceMask(kernel)) != 0;
      phases |= uint64_t{1} << std::min(63, node.phase - (folds ? 1 : 0));
      if (folds) uses[n] = false;
    }
    return std::max(1, __builtin_popcountll(phases));
  }
};

}  // namespace

const Schedule* RowReduceSchedule() {
  static const RowReduce& schedule = *new RowReduce;
  return &schedule;
}

}  // namespace ridge
