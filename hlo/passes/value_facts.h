// What can be said about values without computing them.
#ifndef RIDGE_HLO_PASSES_VALUE_FACTS_H_
#define RIDGE_HLO_PASSES_VALUE_FACTS_H_

#include <cstdint>
#include <optional>

#include "hlo/ir/module.h"

namespace ridge {

// bf16, f16, f32 or f64: the types whose arithmetic rules are IEEE's.
bool IsIeeeFloat(ElementType type);

// A literal whose every element is the value of every element of `i`; null
// where `i` is not such a constant, perhaps broadcast or reshaped. Elided
// constants have no known value.
const Literal* SplatOf(const Instruction* i);

// The value of all elements of `i`, for real types. Integers that a double
// does not hold exactly have none.
std::optional<double> SplatValue(const Instruction* i);

// Splat of `value`; 0 means +0 or an integer 0.
bool IsAll(const Instruction* i, double value);
// Splat of +0 or -0.
bool IsAllZero(const Instruction* i);
bool IsAllNegativeZero(const Instruction* i);
// Splat with all bits of its type set (true, for pred).
bool IsAllOnes(const Instruction* i);

// No element is -0, whatever the inputs are. Looks a few operands deep.
bool NeverNegativeZero(const Instruction* i);
// Every element is +0, positive or NaN.
bool NeverNegative(const Instruction* i);

// The value v of a splat when 1/v is exact: a power of two whose reciprocal
// is a normal number of the same type.
std::optional<double> ExactReciprocal(const Instruction* i);

// Every value of `from` is a value of `to` (signs of zero and NaN included),
// so that converting there and back, or on to a third type, loses nothing.
bool ConvertsExactly(ElementType from, ElementType to);

// The operation of a computation of two scalar parameters whose root is
// op(p0, p1), in either order for commutative ones; nothing for others.
std::optional<Opcode> BinaryReducer(const Computation* computation);

// The value that `op` leaves alone, as a splat test: for add +0 or -0, for
// multiply 1, for maximum the lowest value, ...
bool IsNeutral(Opcode op, const Instruction* init);

bool IsCommutative(Opcode op);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_VALUE_FACTS_H_
