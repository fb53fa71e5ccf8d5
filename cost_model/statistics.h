// How well predictions fit measurements.
#ifndef RIDGE_COST_MODEL_STATISTICS_H_
#define RIDGE_COST_MODEL_STATISTICS_H_

#include "absl/types/span.h"

namespace ridge {

// Mean of |predicted - measured| / measured, as a fraction. Pairs with a
// measurement of 0 do not count; 0 where none is left.
double MeanAbsolutePercentageError(absl::Span<const double> predicted,
                                   absl::Span<const double> measured);

// Kendall's tau-b: agreement of two orders from -1 to 1, ties corrected. 0
// where one side is all ties or there are fewer than two pairs. O(n^2).
double KendallTau(absl::Span<const double> a, absl::Span<const double> b);

}  // namespace ridge

#endif  // RIDGE_COST_MODEL_STATISTICS_H_
