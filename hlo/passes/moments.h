// Variances in one pass. A sum of squared distances from the mean,
//
//   sum((x - mean)^2), mean = sum(x) / n
//
// reads x a second time, after the sum. Counts, means and sums of squared
// distances of parts of the elements combine to those of the whole
// (T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise
// algorithm for computing sample variances", 1979), so that one reduction of x
// gives both sums. The rounding error is no larger than that
// of the two passes; an infinite or NaN element gives NaN as before.
//
// Only where the second pass costs one: x is large, and its elements do not
// stay on the chip between the two. Those of a row of moderate length do, where
// the reduced dimensions are the contiguous ones, or where the row lies in
// pieces of whole sectors (a group norm of [N,H,W,G,C] over H,W,C); there a
// plain second pass takes a few instructions, the combination some twenty.
#ifndef RIDGE_HLO_PASSES_MOMENTS_H_
#define RIDGE_HLO_PASSES_MOMENTS_H_

#include "absl/status/statusor.h"
#include "hlo/passes/pass.h"

namespace ridge {

absl::StatusOr<bool> MergeMoments(Module* module, const PassOptions& options);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_MOMENTS_H_
