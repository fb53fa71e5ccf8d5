// Plans to and from protobuf text (fusion/plan.proto).
#ifndef RIDGE_FUSION_PLAN_IO_H_
#define RIDGE_FUSION_PLAN_IO_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "fusion/plan.h"
#include "fusion/plan.pb.h"
#include "hlo/ir/module.h"

namespace ridge {

PlanProto PlanToProto(const Module& module, const Plan& plan);
// InvalidArgument: a plan of another module (both named), an instruction or
// computation that the module does not have, a broken invariant, a compiled
// kernel that the plan does not have or no device can run.
absl::StatusOr<Plan> PlanFromProto(const PlanProto& proto,
                                   const Module& module);

std::string PlanToText(const Module& module, const Plan& plan);
std::string PlanListToText(const PlanListProto& list);

// One plan, or the plan number `index` (from 0, best first) of a list. `file`
// is for messages.
absl::StatusOr<Plan> PlanFromText(absl::string_view text, const Module& module,
                                  absl::string_view file, int index = 0);

// The same for what is in `path` (as the user typed it).
absl::StatusOr<Plan> ReadPlan(absl::string_view path, const Module& module,
                              int index = 0);

// Of the plan alone: equal groups and schedules, equal fingerprints, compiled
// or not.
std::string FingerprintPlan(const Module& module, const Plan& plan);

}  // namespace ridge

#endif  // RIDGE_FUSION_PLAN_IO_H_
