// Reducers with a closed form (add, multiply, maximum ...), over lanes.
#ifndef RIDGE_HLO_EVALUATOR_REDUCE_H_
#define RIDGE_HLO_EVALUATOR_REDUCE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlo/evaluator/block.h"
#include "hlo/evaluator/context.h"
#include "hlo/ir/element_type.h"
#include "hlo/ir/opcode.h"

namespace ridge {
namespace eval {

// How elements of one lane are reduced by one opcode. Sums and products of
// floats accumulate in double.
struct Reducer {
  ElementType accumulator;  // f64 for sums of f32; its lane holds the result
  // Fills n accumulators with the neutral value.
  void (*clear)(void* acc, int64_t n);
  // acc[i] = acc[i] op x[i], x lanes of the input.
  void (*accumulate)(void* acc, const void* x, int64_t n);
  // acc[i] = acc[i] op other[i], other accumulators.
  void (*combine)(void* acc, const void* other, int64_t n);
  // acc[0] = acc[0] op x[0] op ... x[n-1]; sums pairwise.
  void (*fold)(void* acc, const void* x, int64_t n);
  // The same over accumulators.
  void (*fold_accumulators)(void* acc, const void* x, int64_t n);
};

// Null where the opcode is none of add, multiply, maximum, minimum, and, or,
// xor, or is not defined for the lane.
const Reducer* FindReducer(Opcode opcode, Lane lane);

// The array with the dimensions marked in `is_reduced` reduced by `reducer`
// (which is for its lane), from `init`; `shape` is the result's.
Literal ReduceArray(const Interpreter& interpreter, const Reducer& reducer,
                    const Literal& in, const Literal& init,
                    const std::vector<bool>& is_reduced, const Shape& shape);

// The same for the windows of reduce-window, which has as many dimensions as
// the array; checked by the caller.
Literal ReduceWindows(const Interpreter& interpreter, const Reducer& reducer,
                      const Window& window, const Literal& in,
                      const Literal& init, const Shape& shape);

}  // namespace eval
}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_REDUCE_H_
