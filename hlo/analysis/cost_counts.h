// Operation and byte counts of instructions, from shapes alone: what an
// algorithm needs, not what a device does. One row for each opcode.
#ifndef RIDGE_HLO_ANALYSIS_COST_COUNTS_H_
#define RIDGE_HLO_ANALYSIS_COST_COUNTS_H_

#include <cstdint>

#include "hlo/ir/module.h"

namespace ridge {

struct CostCounts {
  // Arithmetic operations on floats or integers. An elementwise operation
  // counts one an element (also a transcendental one), a multiply-add two.
  // Conversions, copies and moves count none.
  int64_t flops = 0;
  // Those of them that hardware has no single instruction for, or only a slow
  // one: exponential, sine, square root, power, ...
  int64_t transcendentals = 0;
  // Bytes that must be read and written at least once if the instruction runs
  // alone: operands and result, only the touched part for slices, gathers and
  // updates in place. Zero for what moves nothing (tuple, bitcast,
  // parameter).
  int64_t bytes = 0;
  // A while loop is inside, whose body is counted once.
  bool loop_counted_once = false;
};

// Called computations are counted with their instruction: a fusion has the
// operations of its computation and the bytes of its own operands and results;
// call, while and conditional (all branches) have the sum of their
// computations. Sums saturate. Unbounded dimensions count as nothing.
CostCounts CountCosts(const Instruction& instruction);

int64_t Flops(const Instruction& instruction);
int64_t Transcendentals(const Instruction& instruction);

}  // namespace ridge

#endif  // RIDGE_HLO_ANALYSIS_COST_COUNTS_H_
