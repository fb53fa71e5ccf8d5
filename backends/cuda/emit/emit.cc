#include "backends/cuda/emit/emit.h"

#include "backends/cuda/emit/common.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

using Emitter = absl::StatusOr<EmittedKernel> (*)(const Kernel&,
                                                  const ScheduleChoice&,
                                                  const DeviceLimits&);

// Which emitter writes a schedule, by the schedule's name.
struct Row {
  absl::string_view schedule;
  Emitter emit;
};
constexpr Row kEmitters[] = {
    {"loop", EmitPointwise},
    {"row_reduce", EmitRowReduce},
    {"column_reduce", EmitColumnReduce},
    {"transpose", EmitTranspose},
};

absl::string_view DefaultSchedule(GroupPattern pattern) {
  switch (pattern) {
    case GroupPattern::kRowReduce:
      return "row_reduce";
    case GroupPattern::kColumnReduce:
      return "column_reduce";
    case GroupPattern::kTranspose:
      return "transpose";
    default:
      return "loop";
  }
}

}  // namespace

absl::StatusOr<EmittedKernel> EmitKernel(const Kernel& kernel,
                                         const ScheduleChoice& choice,
                                         const DeviceLimits& device) {
  absl::string_view name = choice.name.empty() ? DefaultSchedule(kernel.pattern)
                                               : absl::string_view(choice.name);
  for (const Row& row : kEmitters) {
    if (row.schedule != name) continue;
    absl::StatusOr<EmittedKernel> emitted = row.emit(kernel, choice, device);
    if (emitted.ok()) return emitted;
    if (!absl::IsUnimplemented(emitted.status())) return emitted.status();
  }
  // A row form serves full and mixed reductions better than the plain one.
  if (kernel.pattern == GroupPattern::kRowReduce ||
      kernel.pattern == GroupPattern::kColumnReduce) {
    for (const Row& row : kEmitters) {
      if (row.schedule == name || row.schedule == "loop") continue;
      absl::StatusOr<EmittedKernel> emitted =
          row.emit(kernel, ScheduleChoice(), device);
      if (emitted.ok()) return emitted;
    }
  }
  RIDGE_ASSIGN_OR_RETURN(EmittedKernel emitted,
                         EmitPointwise(kernel, ScheduleChoice(), device));
  emitted.plain = kernel.pattern != GroupPattern::kLoop;
  return emitted;
}

}  // namespace ridge::cuda
