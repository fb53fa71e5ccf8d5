// The schedules, in the order of preference: the first that can serve a kernel
// is its default.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/kernel/schedule.h"
#include "backends/kernel/schedules/column_reduce.h"
#include "backends/kernel/schedules/geometry.h"
#include "backends/kernel/schedules/loop.h"
#include "backends/kernel/schedules/multi_reduce.h"
#include "backends/kernel/schedules/row_column.h"
#include "backends/kernel/schedules/row_reduce.h"
#include "backends/kernel/schedules/scatter.h"
#include "backends/kernel/schedules/sequential.h"
#include "backends/kernel/schedules/transpose.h"
#include "hlo/base/status_macros.h"

namespace ridge {

absl::Span<const Schedule* const> AllSchedules() {
  // Loop serves everything, and so comes last.
  static const auto& all = *new std::array<const Schedule*, 8>{
      SequentialSchedule(),   ScatterSchedule(),   RowReduceSchedule(),
      ColumnReduceSchedule(), RowColumnSchedule(), MultiReduceSchedule(),
      TransposeSchedule(),    LoopSchedule()};
  return all;
}

absl::StatusOr<const Schedule*> FindSchedule(absl::string_view name) {
  for (const Schedule* s : AllSchedules()) {
    if (s->name() == name) return s;
  }
  return absl::NotFoundError(
      absl::StrCat("no schedule named ", name, "; there are ",
                   absl::StrJoin(AllSchedules(), ", ",
                                 [](std::string* out, const Schedule* s) {
                                   absl::StrAppend(out, s->name());
                                 })));
}

absl::Status CheckChoice(const Kernel& kernel, const ScheduleChoice& choice,
                         const DeviceLimits& device) {
  if (choice.name.empty()) {
    if (choice.parameters.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(kernel.name, ": parameters of no schedule (",
                     choice.parameters.begin()->first, ")"));
  }
  RIDGE_ASSIGN_OR_RETURN(const Schedule* schedule, FindSchedule(choice.name));
  if (!device.is_gpu || !schedule->CanSchedule(kernel, device).ok()) {
    return absl::OkStatus();
  }
  // Loop serves everything, but is not made for reductions across the space.
  if (schedule == LoopSchedule() && FoldedMask(kernel) != 0) {
    for (const Schedule* other : AllSchedules()) {
      if (other == schedule || !other->CanSchedule(kernel, device).ok()) {
        continue;
      }
      return absl::InvalidArgumentError(absl::StrCat(
          kernel.name,
          ": schedule loop is for kernels that reduce nothing, and ",
          other->name(), " serves this one"));
    }
  }
  if (choice.parameters.empty()) return absl::OkStatus();
  const ParameterSpace space = schedule->Parameters(kernel, device);
  const ScheduleChoice usual = schedule->Default(kernel, device);
  for (const auto& [name, value] : choice.parameters) {
    const auto own = usual.parameters.find(name);
    if (own != usual.parameters.end() && own->second == value) continue;
    std::vector<std::string> names;
    const ParameterSpace::Axis* found = nullptr;
    for (const ParameterSpace::Axis& axis : space.axes) {
      names.push_back(axis.name);
      if (axis.name == name) found = &axis;
    }
    if (found == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          kernel.name, ": schedule ", choice.name, " has no parameter ", name,
          "; it has ", absl::StrJoin(names, ", ")));
    }
    if (std::find(found->values.begin(), found->values.end(), value) ==
        found->values.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          kernel.name, ": schedule ", choice.name, ": ", name, " is ", value,
          ", and may be ", absl::StrJoin(found->values, ", "), " here"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ScheduleChoice> ChooseSchedule(const Kernel& kernel,
                                              const DeviceLimits& device) {
  if (!kernel.schedule.name.empty()) {
    absl::StatusOr<const Schedule*> own = FindSchedule(kernel.schedule.name);
    if (!own.ok()) return own.status();
    return kernel.schedule;
  }
  for (const Schedule* s : AllSchedules()) {
    if (s->CanSchedule(kernel, device).ok()) {
      return s->Default(kernel, device);
    }
  }
  return absl::UnimplementedError(
      absl::StrCat(kernel.name, ": no schedule serves it"));
}

}  // namespace ridge
