// Rules of convert, bitcast-convert and copy. A narrowing that the user wrote
// stays: pairs of converts merge only where the first loses nothing.
#include "hlo/passes/rules.h"
#include "hlo/passes/value_facts.h"

namespace ridge {
namespace {

ElementType Type(const Instruction* i) { return i->shape().type(); }

Instruction* ConvertIdentity(Instruction* i, Rewriter& r) {
  return Type(i) == Type(i->operand(0)) ? i->operand(0) : nullptr;
}

// Whether convert(convert(x: a -> b) -> c) is convert(x: a -> c).
bool Composes(ElementType a, ElementType b, ElementType c) {
  if (IsComplex(a) || IsComplex(b) || IsComplex(c)) return false;
  bool integers = (IsInteger(a) || IsPred(a)) && IsInteger(b) && IsInteger(c);
  // Converting integers keeps the low bits, so the narrower width decides.
  if (integers && Info(c).bits <= Info(b).bits) return true;
  if (!ConvertsExactly(a, b)) return false;
  // Floats saturate on their way to an integer where integers wrap.
  if (IsInteger(c) && IsFloat(b) && !IsFloat(a)) return ConvertsExactly(a, c);
  return true;
}

Instruction* ConvertOfConvert(Instruction* i, Rewriter& r) {
  Instruction* inner = i->operand(0);
  Instruction* x = inner->operand(0);
  if (!Composes(Type(x), Type(inner), Type(i))) return nullptr;
  if (Type(x) == Type(i)) return x;
  return r.Add(Opcode::kConvert, i->shape(), {x});
}

Instruction* BitcastConvertIdentity(Instruction* i, Rewriter& r) {
  return i->shape().Compatible(i->operand(0)->shape()) ? i->operand(0)
                                                       : nullptr;
}

Instruction* BitcastConvertTwice(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0)->operand(0);
  // Pred and sub-byte types do not keep all the bits of what they came from.
  auto whole_bytes = [](ElementType t) {
    return !IsPred(t) && Info(t).bits % 8 == 0;
  };
  if (!whole_bytes(Type(x)) || !whole_bytes(Type(i)) ||
      !whole_bytes(Type(i->operand(0)))) {
    return nullptr;
  }
  if (i->shape().Compatible(x->shape())) return x;
  // Through a wider or narrower type the shape rule is that of two steps.
  if (Info(Type(x)).bits != Info(Type(i)).bits ||
      !x->shape().SameDims(i->shape())) {
    return nullptr;
  }
  return r.Add(Opcode::kBitcastConvert, i->shape(), {x});
}

Instruction* CopyOfAnything(Instruction* i, Rewriter& r) {
  return i->operand(0);  // refused by the worklist where the layout changes
}

Instruction* ReducePrecisionOfSame(Instruction* i, Rewriter& r) {
  const Instruction* inner = i->operand(0);
  bool same = i->int_attr(AttrId::kExponentBits) ==
                  inner->int_attr(AttrId::kExponentBits) &&
              i->int_attr(AttrId::kMantissaBits) ==
                  inner->int_attr(AttrId::kMantissaBits);
  return same ? i->operand(0) : nullptr;
}

constexpr RewriteRule kRules[] = {
    {"convert-identity", Opcode::kConvert, kAnyOpcode, "convert<T>(x: T) = x",
     ConvertIdentity},
    {"convert-of-convert", Opcode::kConvert, Opcode::kConvert,
     "convert<C>(convert<B>(x: A)) = convert<C>(x) where B holds all of A",
     ConvertOfConvert},
    {"bitcast-convert-identity", Opcode::kBitcastConvert, kAnyOpcode,
     "bitcast-convert<T>(x: T) = x", BitcastConvertIdentity},
    {"bitcast-convert-twice", Opcode::kBitcastConvert, Opcode::kBitcastConvert,
     "bitcast-convert<C>(bitcast-convert<B>(x)) = bitcast-convert<C>(x)",
     BitcastConvertTwice},
    {"copy", Opcode::kCopy, kAnyOpcode, "copy(x) = x", CopyOfAnything},
    {"reduce-precision-twice", Opcode::kReducePrecision,
     Opcode::kReducePrecision, "rp(rp(x)) = rp(x)", ReducePrecisionOfSame},
};

}  // namespace

absl::Span<const RewriteRule> ConvertRules() { return kRules; }

}  // namespace ridge
