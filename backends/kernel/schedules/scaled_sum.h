// Sums of products with a factor that does not vary along the row:
//
//   sum over x of c * t(x)  =  c * (sum over x of t(x))
//
// Where c itself hangs on folds of the row, the sum of t is there a pass
// earlier. Products are not rounded one by one then, which is within what a sum
// may drift; but sums of t may overflow where those of c * t do not, and an
// infinite c meets one sum instead of many terms. Whoever uses this computes
// the sum as written wherever c * (sum of t) is not finite.
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_SCALED_SUM_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_SCALED_SUM_H_

#include <optional>
#include <vector>

#include "backends/kernel/kernel.h"

namespace ridge {

struct ScaledSum {
  NodeId term = -1;  // t
  std::vector<NodeId>
      factors;            // c is their product, from the last to the first
  bool negative = false;  // and the sign is turned
};

// `reduce` as a scaled sum; none where it is no sum of f32 or f64 over the last
// space variable, or its terms are no such products.
std::optional<ScaledSum> ScaledSumOf(const Kernel& kernel, NodeId reduce);

// The factors of a sum of products of f32 or f64, which a fused multiply-add
// may take in: the product is not rounded then, which is within what a sum may
// drift. None where `reduce` is no such sum.
struct ProductTerm {
  NodeId left = -1;
  NodeId right = -1;
};
std::optional<ProductTerm> ProductTermOf(const Kernel& kernel, NodeId reduce);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_SCALED_SUM_H_
