// The schedules, in the order of preference: the first that can serve a kernel
// is its default.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/kernel/schedule.h"
#include "backends/kernel/schedules/column_reduce.h"
#include "backends/kernel/schedules/loop.h"
#include "backends/kernel/schedules/multi_reduce.h"
#include "backends/kernel/schedules/row_column.h"
#include "backends/kernel/schedules/row_reduce.h"
#include "backends/kernel/schedules/scatter.h"
#include "backends/kernel/schedules/sequential.h"
#include "backends/kernel/schedules/transpose.h"

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
