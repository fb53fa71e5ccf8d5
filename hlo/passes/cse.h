// Common subexpression elimination: of instructions in one computation with
// the same opcode, operands, shape, attributes and (structurally) the same
// called computations, the first stays. Constants are merged by value. Exact.
//
// Random, host, collective and asynchronous instructions, custom calls and
// whatever has side effects or control edges are never merged. Metadata is
// not compared: the first instruction keeps its own.
//
// Applied computations (to_apply of reduce, map, sort, scatter ...) that are
// equal are shared as well, so that eleven copies of "add two scalars" become
// one; bodies and branches are not, because later passes rewrite those per
// loop.
#ifndef RIDGE_HLO_PASSES_CSE_H_
#define RIDGE_HLO_PASSES_CSE_H_

#include "absl/status/statusor.h"
#include "hlo/passes/pass.h"

namespace ridge {

absl::StatusOr<bool> EliminateCommonSubexpressions(Module* module,
                                                   const PassOptions& options);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_CSE_H_
