// How closely each value of a kernel has to be computed.
#ifndef RIDGE_BACKENDS_KERNEL_PRECISION_H_
#define RIDGE_BACKENDS_KERNEL_PRECISION_H_

#include <cstdint>
#include <vector>

#include "backends/kernel/kernel.h"

namespace ridge {

// Sums of this many terms: what is rounded in each is lost in the whole.
inline constexpr int64_t kLongSum = 1024;

// By node.
struct ValuePrecision {
  // The last bits decide more than themselves: floor, compare, a conversion to
  // integers or the like reads the value, directly or not.
  std::vector<bool> exact;
  // A relative error of some 1e-5 does not show: of the value only a rounding
  // to 16 bits or less, or a long sum, is ever seen, or its product with what
  // has the drift of a long sum itself, through operations that keep the
  // relative error as it is.
  std::vector<bool> loose;
};
ValuePrecision PrecisionOf(const Kernel& kernel);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_PRECISION_H_
