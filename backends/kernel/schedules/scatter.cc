#include "backends/kernel/schedules/scatter.h"

#include <algorithm>

#include "backends/kernel/schedules/geometry.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

bool Combines(const Kernel& kernel) {
  return std::any_of(kernel.stores.begin(), kernel.stores.end(),
                     [](const Store& s) { return s.combine >= 0; });
}

}  // namespace

LoopGeometry ScatterGeometryOf(const Kernel& kernel,
                               const ScheduleChoice& choice,
                               const DeviceLimits& device) {
  ScheduleChoice scalar = choice;
  // Atomic operations take one element.
  if (Combines(kernel)) scalar.parameters["vector"] = 1;
  return LoopGeometryOf(kernel, SpaceMask(kernel), scalar, device);
}

namespace {

class Scatter : public Schedule {
 public:
  absl::string_view name() const override { return "scatter"; }

  absl::Status CanSchedule(const Kernel& kernel,
                           const DeviceLimits&) const override {
    if (kernel.pattern != GroupPattern::kScatter) {
      return CannotSchedule(name(), "no update of an operand");
    }
    return absl::OkStatus();
  }

  ParameterSpace Parameters(const Kernel& kernel,
                            const DeviceLimits& device) const override {
    if (!device.is_gpu) return {};
    ParameterSpace space;
    space.axes.push_back({"vector", Combines(kernel) ? std::vector<int64_t>{1}
                                                     : VectorValues(kernel)});
    space.axes.push_back({"threads", {256, 128, 512}});
    space.axes.push_back({"unroll", {1, 2, 4}});
    return space;
  }

  ScheduleChoice Default(const Kernel& kernel,
                         const DeviceLimits& device) const override {
    if (!device.is_gpu) return {"scatter", {}};
    return ChoiceOf("scatter", ScatterGeometryOf(kernel, {}, device));
  }

  absl::StatusOr<Resources> Use(const Kernel& kernel,
                                const ScheduleChoice& choice,
                                const DeviceLimits& device) const override {
    RIDGE_RETURN_IF_ERROR(CanSchedule(kernel, device));
    const LoopGeometry g = ScatterGeometryOf(kernel, choice, device);
    Resources r;
    r.blocks = g.full_blocks + g.tail_blocks;
    r.threads_per_block = static_cast<int>(g.threads);
    r.registers = EstimateRegisters(kernel, 16 * g.unroll, device);
    CountWork(kernel, {}, &r);
    TrafficOptions traffic;
    traffic.lane_var = kernel.space_vars - 1;
    CountTraffic(kernel, device, traffic, &r);
    if (kernel.prologue != nullptr) {
      RIDGE_ASSIGN_OR_RETURN(Resources start,
                             LoopSchedule()->Use(*kernel.prologue, {}, device));
      r.launches += 1;
      for (size_t b = 0; b < kernel.buffers.size(); ++b) {
        (kernel.buffers[b].is_output ? r.extra_bytes_written
                                     : r.extra_bytes_read) +=
            start.bytes_per_buffer[b];
      }
    }
    return r;
  }
};

}  // namespace

const Schedule* ScatterSchedule() {
  static const Scatter& schedule = *new Scatter;
  return &schedule;
}

}  // namespace ridge
