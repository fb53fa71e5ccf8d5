// Shape inference: the shape an instruction must have, from its operands and
// attributes.
#ifndef RIDGE_HLO_VERIFY_SHAPE_INFERENCE_H_
#define RIDGE_HLO_VERIFY_SHAPE_INFERENCE_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "hlo/ir/shape.h"

namespace ridge {

// The shape of `instruction`, from its operands and attributes; also checks
// that these fit together. Errors are InvalidArgument, name what was found and
// what is allowed, and say nothing of where (callers know the instruction).
//
// Where the shape is itself part of what the instruction says (InfersShape in
// hlo/ir/opcode_rules.h is false: convert, reshape, iota, constant, ...) the
// instruction's own shape is checked against operands and attributes and
// returned. For all others the shape the instruction holds is not read, so a
// parser may call this on an instruction that has none yet.
//
// Layout: the result carries a layout only where an operand determines it
// (a copy of the operand's shape); callers that need one call
// Shape::SetDefaultLayout.
absl::StatusOr<Shape> InferShape(const Instruction& instruction);

}  // namespace ridge

#endif  // RIDGE_HLO_VERIFY_SHAPE_INFERENCE_H_
