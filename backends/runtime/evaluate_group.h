// A group run by the evaluator, member by member: what serves a step for which
// a back end has neither kernel nor library.
#ifndef RIDGE_BACKENDS_RUNTIME_EVALUATE_GROUP_H_
#define RIDGE_BACKENDS_RUNTIME_EVALUATE_GROUP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "fusion/plan.h"
#include "hlo/ir/literal.h"

namespace ridge {

// `inputs` are the leaves of GroupInputs(group), in order; the result has the
// leaves of its roots. Row-major literals, whatever the layouts.
absl::StatusOr<std::vector<Literal>> EvaluateGroup(
    const Group& group, absl::Span<const Literal> inputs);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_RUNTIME_EVALUATE_GROUP_H_
