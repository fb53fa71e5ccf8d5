// A kernel in two cases: where a condition on the point decides between values
// (pieces of a concatenation, padding), each case needs fewer loads than both
// together, which a thread would otherwise have registers for at once.
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_CASES_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_CASES_H_

#include <functional>
#include <optional>

#include "backends/kernel/kernel.h"

namespace ridge {

struct Cases {
  NodeId condition = -1;  // of the kernel itself
  Kernel holds;           // the kernel where it is true, finished
  Kernel fails;           // and where it is not
};

// Splits at the condition that leaves the fewest loads to the worse case, if
// that is fewer than the kernel has. `usable` says which conditions may be
// asked once for all that a thread does at a time.
std::optional<Cases> SplitCases(const Kernel& kernel,
                                const std::function<bool(NodeId)>& usable);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_CASES_H_
