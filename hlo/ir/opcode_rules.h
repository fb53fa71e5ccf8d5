// Which attributes each opcode takes, which it must have, and whether its
// shape may be left out of HLO text: one table, read by the text parser (what
// is allowed, "did you mean"), the printer and the verifier.
//
// Source: the attributes XLA's HLO parser registers for each opcode.
#ifndef RIDGE_HLO_IR_OPCODE_RULES_H_
#define RIDGE_HLO_IR_OPCODE_RULES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/attribute.h"
#include "hlo/ir/opcode.h"

namespace ridge {

struct AttrRule {
  AttrId id;
  bool required;
};

// Every attribute `opcode` takes: its own first, in the order they are
// printed, then those that all opcodes take (CommonAttrRules).
// `control-predecessors` is not an attribute but a field of Instruction; every
// opcode takes it.
//
// Three rules do not fit one row, and are the parser's and the verifier's:
//   * conditional takes true_computation and false_computation when its first
//     operand is pred[], else branch_computations (see AttrAlternatives);
//   * broadcast needs dimensions unless its operand is a scalar;
//   * the sugar X-start of async-start takes X's attributes in addition to its
//     own and does without `calls`.
absl::Span<const AttrRule> AttrRules(Opcode opcode);

// sharding, frontend_attributes, statistics, parameter_replication, origin,
// metadata, backend_config.
absl::Span<const AttrRule> CommonAttrRules();

// The rule of the attribute spelled `text_name` for `opcode`; null when the
// opcode takes no such attribute. Spellings that two attributes share
// (`algorithm`, `slice_sizes`) resolve by opcode.
const AttrRule* FindAttrRule(Opcode opcode, absl::string_view text_name);
const AttrRule* FindAttrRule(Opcode opcode, AttrId id);

// Sets of attributes of which exactly one must be present and complete. Empty
// for all opcodes but conditional.
absl::Span<const absl::Span<const AttrId>> AttrAlternatives(Opcode opcode);

// Attributes of which at most one may be present (custom-call's to_apply and
// called_computations). Empty for most opcodes.
absl::Span<const AttrId> ExclusiveAttrs(Opcode opcode);

// True where HLO text may say `x = add(a, b)`, leaving the shape to
// InferShape (hlo/verify/shape_inference.h). Where false XLA's parser demands
// a shape, for some because it cannot be inferred, for others by convention.
bool ShapeMayBeOmitted(Opcode opcode);

// True where XLA's parser infers the shape and pays no heed to the one written,
// but for the data of recv and infeed.
bool WrittenShapeIsIgnored(Opcode opcode);

// True where <op>-start of HLO text stands for an async-start of <op>. Not for
// opcodes whose -done is an opcode itself, as that of send.
bool HasAsyncSugar(Opcode opcode);

// True where operands and attributes determine the shape (layout aside), so
// that InferShape computes it; false where the shape is itself a parameter of
// the instruction (constant, convert, reshape, custom-call, ...).
bool InfersShape(Opcode opcode);

}  // namespace ridge

#endif  // RIDGE_HLO_IR_OPCODE_RULES_H_
