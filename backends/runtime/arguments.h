// Checks of what a caller hands to an executable.
#ifndef RIDGE_BACKENDS_RUNTIME_ARGUMENTS_H_
#define RIDGE_BACKENDS_RUNTIME_ARGUMENTS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "fusion/plan.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace ridge {

// Shapes of the entry's parameters, tuples flattened; and of its result.
std::vector<Shape> ParameterLeaves(const Module& module);
std::vector<Shape> ResultLeaves(const Module& module);
// Shapes of the leaves of GroupInputs(group). A buffer may be another value's
// that this one aliases (a reshape): its own shape is then that value's.
std::vector<Shape> InputLeaves(const Group& group);

// InvalidArgument, naming the leaf, where `arguments` are not one literal for
// each leaf of the entry's parameters.
absl::Status CheckArguments(const Module& module,
                            absl::Span<const Literal> arguments);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_RUNTIME_ARGUMENTS_H_
