// While loops as one kernel.
//
// A counted loop whose state is, element by element, one of these:
//   the counter;
//   an array that no round changes, read anywhere;
//   an array each of whose elements a round computes from the same element of
//   the carried arrays, from the counter and from what no round changes;
//   an array of which a round overwrites a part (dynamic-update-slice) and
//   reads nothing: stacked results;
// needs no step a round: each point of the arrays goes through all rounds by
// itself. JAX's scan over an elementwise body is such a loop.
#ifndef RIDGE_BACKENDS_KERNEL_SEQUENTIAL_H_
#define RIDGE_BACKENDS_KERNEL_SEQUENTIAL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/kernel/kernel.h"

namespace ridge {

struct SequentialKernel {
  // Its inputs' values are the state's elements in the body. Empty where the
  // loop does nothing but count.
  Kernel kernel;
  // Element of the state that an input or output is, by its position among
  // the inputs or outputs; -1 for a constant of the body.
  std::vector<int64_t> input_element;
  std::vector<int64_t> output_element;
  // Of each output: no element of the initial value is left at the end.
  std::vector<bool> overwritten;
  // The state's counter, and its value after the loop.
  int64_t counter_element = 0;
  int64_t counter_end = 0;
};

// Unimplemented, naming instruction, line and rule, for any other loop.
absl::StatusOr<SequentialKernel> BuildSequentialKernel(const Instruction& loop);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SEQUENTIAL_H_
