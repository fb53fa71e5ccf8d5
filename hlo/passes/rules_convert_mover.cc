// Rules that move converts past data movement, to the side where there are
// fewer bytes: what narrows goes up, what widens goes down. Movement and
// conversion commute, so all are exact. Reshapes move nothing, so that there
// is nothing to gain around them.
#include "hlo/passes/rules.h"

namespace ridge {
namespace {

int Bits(const Instruction* i) { return Info(i->shape().type()).bits; }

bool Narrows(const Instruction* convert) {
  return Bits(convert) < Bits(convert->operand(0));
}
bool Widens(const Instruction* convert) {
  return convert->opcode() == Opcode::kConvert &&
         Bits(convert) > Bits(convert->operand(0));
}

Shape WithType(const Instruction* i, ElementType type) {
  Shape shape = i->shape();
  shape.set_type(type);
  return shape;
}

Instruction* RaiseNarrowing(Instruction* i, Rewriter& r) {
  Instruction* move = i->operand(0);
  if (!Narrows(i) || move->use_count() != 1 ||
      !move->operand(0)->shape().HasDefaultLayout() ||
      !move->shape().HasDefaultLayout()) {
    return nullptr;
  }
  Instruction* narrow = r.Convert(move->operand(0), i->shape().type());
  return r.AddLike(*move, {narrow}, i->shape());
}

Instruction* LowerWidening(Instruction* i, Rewriter& r) {
  Instruction* convert = i->operand(0);
  if (!Widens(convert) || convert->use_count() != 1) return nullptr;
  std::vector<Instruction*> operands(i->operands().begin(),
                                     i->operands().end());
  operands[0] = convert->operand(0);
  Instruction* moved =
      r.AddLike(*i, operands, WithType(i, operands[0]->shape().type()));
  return r.Convert(moved, i->shape().type());
}

Instruction* LowerWideningOfAll(Instruction* i, Rewriter& r) {
  std::vector<Instruction*> operands;
  for (Instruction* o : i->operands()) {
    if (!Widens(o) || o->use_count() != 1 ||
        o->operand(0)->shape().type() !=
            i->operand(0)->operand(0)->shape().type()) {
      return nullptr;
    }
    operands.push_back(o->operand(0));
  }
  Instruction* moved =
      r.AddLike(*i, operands, WithType(i, operands[0]->shape().type()));
  return r.Convert(moved, i->shape().type());
}

constexpr RewriteRule kRules[] = {
    {"narrow-before-transpose", Opcode::kConvert, Opcode::kTranspose,
     "narrow(transpose(x)) = transpose(narrow(x))", RaiseNarrowing},
    {"narrow-before-reverse", Opcode::kConvert, Opcode::kReverse,
     "narrow(reverse(x)) = reverse(narrow(x))", RaiseNarrowing},
    {"widen-after-transpose", Opcode::kTranspose, Opcode::kConvert,
     "transpose(widen(x)) = widen(transpose(x))", LowerWidening},
    {"widen-after-reverse", Opcode::kReverse, Opcode::kConvert,
     "reverse(widen(x)) = widen(reverse(x))", LowerWidening},
    {"widen-after-slice", Opcode::kSlice, Opcode::kConvert,
     "widen(x)[s] = widen(x[s])", LowerWidening},
    {"widen-after-dynamic-slice", Opcode::kDynamicSlice, Opcode::kConvert,
     "dynamic-slice(widen(x)) = widen(dynamic-slice(x))", LowerWidening},
    {"widen-after-gather", Opcode::kGather, Opcode::kConvert,
     "gather(widen(x), i) = widen(gather(x, i))", LowerWidening},
    {"widen-after-concatenate", Opcode::kConcatenate, Opcode::kConvert,
     "concatenate(widen(x), widen(y)) = widen(concatenate(x, y))",
     LowerWideningOfAll},
};

}  // namespace

absl::Span<const RewriteRule> ConvertMoverRules() { return kRules; }

}  // namespace ridge
