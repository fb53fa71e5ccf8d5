// Conditions on the point: bounds of a concatenation's pieces, of padding.
// Where one is known, a kernel needs less.
#ifndef RIDGE_BACKENDS_KERNEL_CONDITIONS_H_
#define RIDGE_BACKENDS_KERNEL_CONDITIONS_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "backends/kernel/kernel.h"

namespace ridge {

// An index compared with a constant: true where the index is below `first`, or
// where it is not.
struct IndexBound {
  IndexId index = -1;
  int64_t first = 0;
  bool below = true;
};
// Of a node that is such a comparison (less, less or equal, greater, greater or
// equal); nullopt for all others.
std::optional<IndexBound> BoundOf(const Kernel& kernel, NodeId node);

// Rewrites the kernel for points at which some conditions are known, and
// finishes it: selections by them become one of their values, loads lose their
// guards or are zero. `known` is asked for each node in order, as rewritten so
// far; only pred nodes may be known.
void DecideConditions(
    const std::function<std::optional<bool>(const Kernel&, NodeId)>& known,
    Kernel* kernel);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_CONDITIONS_H_
