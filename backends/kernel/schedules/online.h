// The sum of exponentials relative to a maximum, in one reading.
//
//   m = max over x of a;  b = f(m);  s = sum over x of exp(a - b)
//
// reads the row twice. Online (Milakov and Gimelshein, arXiv:1805.02867), each
// partial result is a pair (m, s) with s relative to its own m; two combine as
//
//   m = max(m1, m2);  s = s1 * exp(m1 - m) + s2 * exp(m2 - m)
//
// and at the end s is brought from the row's m to b by one factor. Maxima of
// -inf, +inf and NaN give what two readings give.
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_ONLINE_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_ONLINE_H_

#include <optional>

#include "backends/kernel/kernel.h"

namespace ridge {

// The kernel with such pairs of f32 folds over its last space variable as one
// fold each (ScalarFunction::online), finished; none where it has none.
std::optional<Kernel> Online(const Kernel& kernel);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_ONLINE_H_
