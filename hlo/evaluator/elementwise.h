// Running block kernels over whole literals.
#ifndef RIDGE_HLO_EVALUATOR_ELEMENTWISE_H_
#define RIDGE_HLO_EVALUATOR_ELEMENTWISE_H_

#include "absl/types/span.h"
#include "hlo/evaluator/block.h"
#include "hlo/evaluator/context.h"
#include "hlo/ir/literal.h"

namespace ridge {
namespace eval {

// out[i] = fn(in[0][i], in[1][i], ...) for every element; an operand of one
// element stands for as many as `out` has. Results that the kernel left
// unrounded are rounded to out's type. `out` may share storage with an operand
// of the same storage width.
void RunBlocks(const Interpreter& interpreter, BlockFn fn,
               const BlockParams& params, absl::Span<const Literal* const> in,
               Literal* out);

// Elements [begin, begin + n) of a literal as lanes: where they lie if they
// are stored as lanes, else converted into `buffer` (n <= kBlockElements).
const void* LoadBlock(const Literal& literal, int64_t begin, int64_t n,
                      void* buffer);

}  // namespace eval
}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_ELEMENTWISE_H_
