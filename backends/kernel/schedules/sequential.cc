#include "backends/kernel/schedules/sequential.h"

#include <algorithm>

#include "backends/kernel/schedules/geometry.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// Loads a thread keeps under way at most: one register each.
constexpr int64_t kLoadsUnderWay = 48;
constexpr int64_t kMostUnroll = 16;
// Operations of all rounds that are written out: what compiling them takes
// grows with their number.
constexpr int64_t kMostOperations = 2048;

}  // namespace

std::vector<RoundDependence> RoundDependences(const Kernel& kernel) {
  std::vector<RoundDependence> depends(kernel.nodes.size(),
                                       RoundDependence::kNothing);
  if (!kernel.loop.has_value()) return depends;
  std::vector<bool> given(kernel.nodes.size());
  for (NodeId n : kernel.loop->counters) {
    depends[n] = RoundDependence::kRound;
    given[n] = true;
  }
  for (const CarriedLoop::Carry& c : kernel.loop->carries) {
    for (NodeId n : c.loads) {
      depends[n] = RoundDependence::kState;
      given[n] = true;
    }
  }
  for (size_t n = 0; n < kernel.nodes.size(); ++n) {
    if (given[n]) continue;
    const Node& node = kernel.nodes[n];
    auto use = [&](NodeId o) {
      if (o >= 0) depends[n] = std::max(depends[n], depends[o]);
    };
    for (NodeId o : node.operands) use(o);
    use(node.guard);
    if (node.offset < 0) continue;
    for (int32_t d : kernel.index->DynamicNodes(node.offset)) use(d);
  }
  return depends;
}

std::vector<NodeId> LoadsAhead(const Kernel& kernel) {
  const std::vector<RoundDependence> depends = RoundDependences(kernel);
  const std::vector<NodeId>& counters = kernel.loop->counters;
  std::vector<NodeId> loads;
  for (NodeId n = 0; n < static_cast<NodeId>(kernel.nodes.size()); ++n) {
    if (kernel.nodes[n].kind == NodeKind::kLoad &&
        depends[n] == RoundDependence::kRound &&
        std::find(counters.begin(), counters.end(), n) == counters.end()) {
      loads.push_back(n);
    }
  }
  return loads;
}

SequentialGeometry SequentialGeometryOf(const Kernel& kernel,
                                        const ScheduleChoice& choice,
                                        const DeviceLimits& device) {
  SequentialGeometry g;
  g.points = PointCount(kernel, SpaceMask(kernel));
  // Every multiprocessor gets a block before any gets a second one.
  int64_t threads = std::min(256, device.max_threads_per_block);
  while (threads > 32 && CeilDiv(g.points, threads) < device.multiprocessors) {
    threads /= 2;
  }
  g.threads = ParameterOr(choice, "threads", threads);
  const int64_t loads = static_cast<int64_t>(LoadsAhead(kernel).size());
  const int64_t operations = static_cast<int64_t>(kernel.nodes.size());
  int64_t unroll = kMostUnroll;
  while (unroll > 1 &&
         (unroll * loads > kLoadsUnderWay || unroll > kernel.loop->rounds ||
          unroll * operations > kMostOperations)) {
    unroll /= 2;
  }
  g.unroll = ParameterOr(choice, "unroll", unroll);
  return g;
}

namespace {

class Sequential : public Schedule {
 public:
  absl::string_view name() const override { return "sequential"; }

  absl::Status CanSchedule(const Kernel& kernel,
                           const DeviceLimits&) const override {
    if (!kernel.loop.has_value()) {
      return CannotSchedule(name(), "no loop around the kernel");
    }
    return absl::OkStatus();
  }

  ParameterSpace Parameters(const Kernel& kernel,
                            const DeviceLimits& device) const override {
    if (!device.is_gpu) return {};
    const SequentialGeometry g = SequentialGeometryOf(kernel, {}, device);
    ParameterSpace space;
    space.axes.push_back({"threads", FirstOf(g.threads, {32, 64, 128, 256})});
    space.axes.push_back({"unroll", FirstOf(g.unroll, {1, 4, 8, 16})});
    return space;
  }

  ScheduleChoice Default(const Kernel& kernel,
                         const DeviceLimits& device) const override {
    if (!device.is_gpu) return {std::string(name()), {}};
    const SequentialGeometry g = SequentialGeometryOf(kernel, {}, device);
    return {std::string(name()),
            {{"threads", g.threads}, {"unroll", g.unroll}}};
  }

  absl::StatusOr<Resources> Use(const Kernel& kernel,
                                const ScheduleChoice& choice,
                                const DeviceLimits& device) const override {
    RIDGE_RETURN_IF_ERROR(CanSchedule(kernel, device));
    const SequentialGeometry g = SequentialGeometryOf(kernel, choice, device);
    const std::vector<NodeId> ahead = LoadsAhead(kernel);
    const std::vector<RoundDependence> depends = RoundDependences(kernel);
    Resources r;
    r.blocks = CeilDiv(g.points, g.threads);
    r.threads_per_block = static_cast<int>(g.threads);
    r.registers = EstimateRegisters(
        kernel, 8 * g.unroll * static_cast<int64_t>(ahead.size()), device);
    CountWork(
        kernel,
        [&](const Node& n) {
          const size_t at = &n - kernel.nodes.data();
          return DefaultEvaluations(kernel, n) *
                 (depends[at] == RoundDependence::kNothing
                      ? 1.0
                      : static_cast<double>(kernel.loop->rounds));
        },
        &r);
    TrafficOptions traffic;
    traffic.lane_var = kernel.space_vars - 1;
    CountTraffic(kernel, device, traffic, &r);
    return r;
  }
};

}  // namespace

const Schedule* SequentialSchedule() {
  static const Sequential& schedule = *new Sequential;
  return &schedule;
}

}  // namespace ridge
