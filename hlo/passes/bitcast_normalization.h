// Bitcasts and the instructions they stand for.
//
// A bitcast keeps the buffer and reads it in another shape or layout; what
// that means depends on both layouts. The pipeline wants meaning, so
// bitcast_to_reshape writes bitcasts as reshapes and transposes:
//
//   f32[3,2]{0,1} bitcast(f32[2,3]{1,0} x)  ->  transpose(x), dimensions={1,0}
//
// A back end that asks what costs nothing wants the opposite:
// reshape_to_bitcast turns reshapes, transposes and copies into bitcasts, but
// only where input and output really are the same bytes in the same order.
// Both are exact.
#ifndef RIDGE_HLO_PASSES_BITCAST_NORMALIZATION_H_
#define RIDGE_HLO_PASSES_BITCAST_NORMALIZATION_H_

#include "absl/status/statusor.h"
#include "hlo/passes/pass.h"

namespace ridge {

// True where a reshape (transpose, copy) has the buffer of its operand. A
// shape without a layout has the default one.
bool ReshapeKeepsBuffer(const Shape& from, const Shape& to);
bool TransposeKeepsBuffer(const Shape& from, const Shape& to,
                          absl::Span<const int64_t> permutation);

absl::StatusOr<bool> BitcastToReshape(Module* module,
                                      const PassOptions& options);
absl::StatusOr<bool> ReshapeToBitcast(Module* module,
                                      const PassOptions& options);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_BITCAST_NORMALIZATION_H_
