// How an operand lies in its user: which dimensions of the two run together.
// One rule per opcode that is not elementwise.
#ifndef RIDGE_FUSION_AXIS_LINKS_H_
#define RIDGE_FUSION_AXIS_LINKS_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "hlo/ir/module.h"

namespace ridge {

// Dimensions of an operand and of its user that run together: both lists hold
// the same elements in the same (row-major) order. Unit dimensions are in none.
struct DimLink {
  absl::InlinedVector<int64_t, 2> operand;
  absl::InlinedVector<int64_t, 2> user;
};

struct EdgeLinks {
  absl::InlinedVector<DimLink, 5> links;
  // Whether the operand's unlinked dimensions are read at other positions
  // (slice, gather), rather than folded (reduce) or not at all.
  bool disturbs = false;
  // Whether an iteration space spreads over this edge: not through slices,
  // gathers and the like.
  bool carries = true;
};

// How operand number `k` of `user` lies in it.
EdgeLinks LinksOf(const Instruction& user, int64_t k);

// The array shape of a value; of a variadic reduce, that of its parts.
const Shape& ArrayShapeOf(const Instruction& i);

// Logical dimensions of size > 1, major to minor in memory.
DimVector PhysicalDims(const Shape& shape);

}  // namespace ridge

#endif  // RIDGE_FUSION_AXIS_LINKS_H_
