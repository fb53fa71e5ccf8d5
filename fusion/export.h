// The fused module as HLO: fusion instructions with kind= and calls=.
#ifndef RIDGE_FUSION_EXPORT_H_
#define RIDGE_FUSION_EXPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "fusion/plan.h"
#include "hlo/ir/module.h"

namespace ridge {

// A new module in which every group of more than one instruction is a fusion
// instruction named after the group; a group of one (a dot that a library
// runs, a sort) stays as it is. A group that stores several values gives a
// tuple. Names of members are kept. The result means the same as `module`.
absl::StatusOr<std::unique_ptr<Module>> ExportFused(const Module& module,
                                                    const Plan& plan);

}  // namespace ridge

#endif  // RIDGE_FUSION_EXPORT_H_
