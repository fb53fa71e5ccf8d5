// What the dimension numbers of a ragged-dot mean.
//
// The lhs's ragged dimension falls into groups, group_sizes[..., g] indices
// each in order. XLA has three modes, told apart by where that dimension is:
//
//   free          [b,m,k] x [g,b,k,n] -> [b,m,n]    a matrix for each group
//   contracting   [b,m,k] x [b,k,n]   -> [g,b,m,n]  a product for each group
//   batch         [b,m,k] x [b,k,n]   -> [b,m,n]    an ordinary dot
#ifndef RIDGE_HLO_IR_RAGGED_DOT_H_
#define RIDGE_HLO_IR_RAGGED_DOT_H_

#include <cstdint>

#include "hlo/ir/module.h"

namespace ridge {

enum class RaggedMode : uint8_t { kFree, kContracting, kBatch };

// The mode of a ragged-dot whose ragged dimension is `ragged`.
RaggedMode RaggedModeOf(const Instruction& ragged_dot, int64_t ragged);

// The dimensions of the lhs that group_sizes may have in front of its own
// last one, when the groups are not the same everywhere: batch dimensions, then
// those of the ragged dimension's own kind (free or contracting) before it; in
// the batch mode, the batch dimensions named before it.
DimVector GroupPrefixDims(const Instruction& ragged_dot, int64_t ragged);

}  // namespace ridge

#endif  // RIDGE_HLO_IR_RAGGED_DOT_H_
