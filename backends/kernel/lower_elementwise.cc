// Rules of instructions that compute: element i from element i.
#include "absl/strings/str_cat.h"
#include "backends/kernel/builder.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// True where the opcode passes its first operand on, once index and type are
// the same.
bool IsIdentity(const Instruction& i) {
  return i.opcode() == Opcode::kCopy ||
         (i.opcode() == Opcode::kConvert &&
          i.shape().type() == i.operand(0)->shape().type()) ||
         (i.opcode() == Opcode::kReal &&
          !IsComplex(i.operand(0)->shape().type()));
}

}  // namespace

absl::StatusOr<Node> OpNode(const Instruction& instruction) {
  Node n;
  n.opcode = instruction.opcode();
  n.type = instruction.shape().type();
  n.origin = &instruction;
  switch (instruction.opcode()) {
    case Opcode::kCompare:
      n.direction =
          instruction.enum_attr(AttrId::kDirection, ComparisonDirection::kEq);
      n.total_order = IsFloat(instruction.operand(0)->shape().type()) &&
                      instruction.enum_attr(AttrId::kComparisonType,
                                            ComparisonOrder::kFloat) ==
                          ComparisonOrder::kTotalOrder;
      break;
    case Opcode::kReducePrecision:
      n.exponent_bits =
          static_cast<int32_t>(instruction.int_attr(AttrId::kExponentBits));
      n.mantissa_bits =
          static_cast<int32_t>(instruction.int_attr(AttrId::kMantissaBits));
      break;
    case Opcode::kStochasticConvert:
      return Refuse(instruction, "no scalar form");
    default:
      break;
  }
  return n;
}

absl::StatusOr<NodeId> LowerElementwise(KernelBuilder& b,
                                        const ValueRequest& r) {
  const Instruction& i = *r.instruction;
  RIDGE_ASSIGN_OR_RETURN(Node n, OpNode(i));
  bool pending = false;
  for (const Instruction* operand : i.operands()) {
    // clamp's bounds and select's predicate may be scalars.
    const bool scalar = operand->shape().IsScalar() && !i.shape().IsScalar();
    if (operand->shape().rank() != (scalar ? 0 : i.shape().rank())) {
      return Refuse(i, "operand of another rank");
    }
    NodeId o = scalar ? b.Need(operand, {}) : b.Need(operand, r.index, r.guard);
    pending |= o == kPending;
    n.operands.push_back(o);
  }
  if (pending) return kPending;
  if (IsIdentity(i)) return n.operands[0];
  if (n.opcode == Opcode::kSelect) {
    if (b.IsTrue(n.operands[0])) return n.operands[1];
    if (b.IsFalse(n.operands[0])) return n.operands[2];
  }
  if (n.opcode == Opcode::kImag && !IsComplex(b.node(n.operands[0]).type)) {
    return b.Zero(n.type);
  }
  return b.Add(std::move(n));
}

absl::StatusOr<Node> ConstantNode(const Instruction& constant) {
  const Literal& literal = constant.literal();
  const Shape& shape = constant.shape();
  if (!shape.IsArray() || (!shape.IsScalar() && !IsSplat(literal))) {
    return Refuse(constant,
                  "constant of several values as a member; it has "
                  "to be an input");
  }
  Node n;
  n.kind = NodeKind::kConst;
  n.type = shape.type();
  n.origin = &constant;
  const int bytes = StorageBytes(n.type);
  const uint8_t* data = literal.bytes();
  for (int k = 0; k < bytes; ++k) {
    uint64_t byte = data[k];
    // Complex numbers are two halves.
    const int half = IsComplex(n.type) ? bytes / 2 : bytes;
    if (k < half) {
      n.bits |= byte << (8 * k);
    } else {
      n.bits_high |= byte << (8 * (k - half));
    }
  }
  return n;
}

absl::StatusOr<NodeId> LowerConstant(KernelBuilder& b, const ValueRequest& r) {
  RIDGE_ASSIGN_OR_RETURN(Node n, ConstantNode(*r.instruction));
  return b.Add(std::move(n));
}

absl::StatusOr<NodeId> LowerMap(KernelBuilder& b, const ValueRequest& r) {
  const Instruction& i = *r.instruction;
  if (i.to_apply() == nullptr) return Refuse(i, "no to_apply");
  RIDGE_ASSIGN_OR_RETURN(int32_t f, b.Function(i.to_apply()));
  std::vector<NodeId> arguments;
  bool pending = false;
  for (const Instruction* operand : i.operands()) {
    arguments.push_back(b.Need(operand, r.index, r.guard));
    pending |= arguments.back() == kPending;
  }
  if (pending) return kPending;
  if (b.function(f).parameter_count != static_cast<int>(arguments.size())) {
    return Refuse(i, "to_apply with another number of parameters");
  }
  return b.Inline(ScalarFunction(b.function(f)), arguments)[0];
}

absl::StatusOr<NodeId> LowerTuple(KernelBuilder& b, const ValueRequest& r) {
  return b.Need(r.instruction->operand(r.part), r.index, r.guard);
}

absl::StatusOr<NodeId> LowerGetTupleElement(KernelBuilder& b,
                                            const ValueRequest& r) {
  return b.Need(r.instruction->operand(0), r.index, r.guard,
                static_cast<int32_t>(r.instruction->tuple_index()));
}

}  // namespace ridge
