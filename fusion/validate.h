// Checks a plan against the invariants of fusion/plan.h.
#ifndef RIDGE_FUSION_VALIDATE_H_
#define RIDGE_FUSION_VALIDATE_H_

#include <string>

#include "absl/status/status.h"
#include "fusion/plan.h"
#include "hlo/ir/module.h"

namespace ridge {

// InvalidArgument naming group, instruction and the rule that is broken.
absl::Status ValidatePlan(const Module& module, const Plan& plan);

// InvalidArgument, naming line, instruction and value, where a value is larger
// than any memory.
absl::Status CheckSizes(const Module& module);

// Of the module's text: the same module read again has the same fingerprint,
// in any process.
std::string FingerprintModule(const Module& module);

// The computations that a plan covers: those that run by themselves, callees
// first, entry last.
std::vector<const Computation*> PlannedComputations(const Module& module);

}  // namespace ridge

#endif  // RIDGE_FUSION_VALIDATE_H_
