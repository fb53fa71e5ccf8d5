// A slow interpreter of kernels: what a Kernel means, in the plainest terms.
// Tests prove with it that BuildKernel preserves what the evaluator computes,
// and it is the reference for emitters.
//
// Every node becomes an array over the points of its variables, in order of
// the nodes; operations go through the evaluator one instruction at a time.
#ifndef RIDGE_BACKENDS_KERNEL_INTERPRETER_H_
#define RIDGE_BACKENDS_KERNEL_INTERPRETER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/kernel/kernel.h"
#include "hlo/ir/literal.h"

namespace ridge {

// One literal for each input buffer in order, row-major whatever the layout,
// and of its shape; likewise the outputs. Internal where the kernel is wrong
// in itself: an access out of bounds, an element not stored or stored twice
// (kScatter: outside what the operand or prologue gave).
absl::StatusOr<std::vector<Literal>> InterpretKernel(
    const Kernel& kernel, absl::Span<const Literal> inputs);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_INTERPRETER_H_
