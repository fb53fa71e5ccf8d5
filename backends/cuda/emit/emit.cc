#include "backends/cuda/emit/emit.h"

#include "absl/strings/str_cat.h"
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
    {"row_column", EmitRowColumn},
    {"transpose", EmitTranspose},
};

const Row* FindEmitter(absl::string_view schedule) {
  for (const Row& row : kEmitters) {
    if (row.schedule == schedule) return &row;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<EmittedKernel> EmitKernel(const Kernel& kernel,
                                         const ScheduleChoice& choice,
                                         const DeviceLimits& device) {
  auto attempt =
      [&](absl::string_view schedule,
          const ScheduleChoice& with) -> absl::StatusOr<EmittedKernel> {
    const Row* row = FindEmitter(schedule);
    if (row == nullptr) {
      return absl::UnimplementedError(
          absl::StrCat("no emitter for schedule ", schedule));
    }
    return row->emit(kernel, with, device);
  };
  if (!choice.name.empty()) {
    absl::StatusOr<EmittedKernel> emitted = attempt(choice.name, choice);
    if (emitted.ok() || !absl::IsUnimplemented(emitted.status())) {
      return emitted;
    }
  }
  for (const Schedule* s : AllSchedules()) {
    if (s->name() == "loop" || !s->CanSchedule(kernel, device).ok()) continue;
    absl::StatusOr<EmittedKernel> emitted =
        attempt(s->name(), ScheduleChoice());
    if (emitted.ok() || !absl::IsUnimplemented(emitted.status())) {
      return emitted;
    }
  }
  RIDGE_ASSIGN_OR_RETURN(EmittedKernel emitted,
                         EmitPointwise(kernel, ScheduleChoice(), device));
  // Fast where no reduction goes across the space.
  emitted.plain = FoldedMask(kernel) != 0;
  return emitted;
}

}  // namespace ridge::cuda
