#include "hlo/ir/ragged_dot.h"

#include <algorithm>

namespace ridge {
namespace {

bool Contains(Ints values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

RaggedMode RaggedModeOf(const Instruction& ragged_dot, int64_t ragged) {
  if (Contains(ragged_dot.ints(AttrId::kLhsBatchDims), ragged)) {
    return RaggedMode::kBatch;
  }
  return Contains(ragged_dot.ints(AttrId::kLhsContractingDims), ragged)
             ? RaggedMode::kContracting
             : RaggedMode::kFree;
}

DimVector GroupPrefixDims(const Instruction& ragged_dot, int64_t ragged) {
  const Ints batch = ragged_dot.ints(AttrId::kLhsBatchDims);
  const Ints contracting = ragged_dot.ints(AttrId::kLhsContractingDims);
  const RaggedMode mode = RaggedModeOf(ragged_dot, ragged);
  DimVector prefix;
  for (int64_t d : batch) {
    if (d == ragged) return prefix;
    prefix.push_back(d);
  }
  for (int64_t d = 0; d < ragged; ++d) {
    const bool contracted = Contains(contracting, d);
    if (Contains(batch, d) ||
        contracted != (mode == RaggedMode::kContracting)) {
      continue;
    }
    prefix.push_back(d);
  }
  return prefix;
}

}  // namespace ridge
