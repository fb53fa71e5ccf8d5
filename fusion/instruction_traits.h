// What planning asks of one instruction, whatever group it is in.
#ifndef RIDGE_FUSION_INSTRUCTION_TRAITS_H_
#define RIDGE_FUSION_INSTRUCTION_TRAITS_H_

#include "hlo/ir/module.h"

namespace ridge {

// Cost of one element of an elementwise instruction, in add-like operations.
double OpsPerElement(const Instruction& instruction);

// True for instructions that ride along with whoever reads them, being cheaper
// to compute again than to store: scalar constants, iota, broadcast, widening
// conversions, and what aliases its operand.
bool RidesAlong(const Instruction& instruction);

// True where no generated elementwise or reduction kernel covers it.
bool IsWall(const Instruction& instruction);

// True for what writes a part of its first operand in place.
bool IsUpdate(const Instruction& instruction);

}  // namespace ridge

#endif  // RIDGE_FUSION_INSTRUCTION_TRAITS_H_
