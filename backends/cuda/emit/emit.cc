#include "backends/cuda/emit/emit.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "backends/cuda/emit/common.h"
#include "backends/cuda/emit/used_prelude.h"
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
    {"multi_reduce", EmitMultiReduce},
    {"transpose", EmitTranspose},
    {"sequential", EmitSequential},
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
    RIDGE_ASSIGN_OR_RETURN(EmittedKernel emitted,
                           row->emit(kernel, with, device));
    for (Launch& launch : emitted.launches) {
      for (size_t b = 0; b < kernel.buffers.size(); ++b) {
        launch.arguments.push_back(static_cast<int32_t>(b));
      }
      for (size_t s = 0; s < emitted.scratch_bytes.size(); ++s) {
        launch.arguments.push_back(-1 - static_cast<int32_t>(s));
      }
    }
    absl::string_view functions = emitted.source;
    RIDGE_RET_CHECK(absl::ConsumePrefix(&functions, FilePrelude()));
    emitted.functions = std::string(functions);
    emitted.source = WithUsedPrelude(emitted.source);
    return emitted;
  };
  RIDGE_RETURN_IF_ERROR(CheckChoice(kernel, choice, device));
  // A loop's rounds are no kernel by themselves.
  if (kernel.loop.has_value()) return attempt("sequential", choice);
  absl::StatusOr<EmittedKernel> emitted = absl::UnimplementedError("no choice");
  if (!choice.name.empty()) emitted = attempt(choice.name, choice);
  // The loop form is the last, and serves everything.
  for (const Schedule* s : AllSchedules()) {
    if (!absl::IsUnimplemented(emitted.status())) break;
    emitted = attempt(s->name(), ScheduleChoice());
    // Fast where no reduction goes across the space.
    if (emitted.ok() && s->name() == "loop") {
      emitted->plain = FoldedMask(kernel) != 0;
    }
  }
  return emitted;
}

}  // namespace ridge::cuda
