#include "hlo/passes/value_facts.h"

#include <cmath>
#include <limits>

#include "hlo/ir/small_float.h"

namespace ridge {
namespace {

// Facts look through this many operands, so that asking stays cheap.
constexpr int kDepth = 4;
constexpr int kElementTypeCount = static_cast<int>(ElementType::kBuffer) + 1;

}  // namespace

bool IsIeeeFloat(ElementType type) {
  return type == ElementType::kBF16 || type == ElementType::kF16 ||
         type == ElementType::kF32 || type == ElementType::kF64;
}

const Literal* SplatOf(const Instruction* i) {
  for (int depth = 0; depth < kDepth; ++depth) {
    switch (i->opcode()) {
      case Opcode::kConstant: {
        const Literal& l = i->literal();
        return !l.elided() && IsSplat(l) ? &l : nullptr;
      }
      case Opcode::kBroadcast:
      case Opcode::kReshape:
      case Opcode::kTranspose:
      case Opcode::kCopy:
        i = i->operand(0);
        break;
      default:
        return nullptr;
    }
  }
  return nullptr;
}

std::optional<double> SplatValue(const Instruction* i) {
  ElementType type = i->shape().type();
  if (!IsArrayType(type) || IsComplex(type)) return std::nullopt;
  const Literal* l = SplatOf(i);
  if (l == nullptr) return std::nullopt;
  if (IsInteger(type)) {
    constexpr int64_t kExact = int64_t{1} << 53;
    int64_t v = GetInt(*l, 0);
    if (v > kExact || v < -kExact) return std::nullopt;
  }
  return GetDouble(*l, 0);
}

bool IsAll(const Instruction* i, double value) {
  std::optional<double> v = SplatValue(i);
  return v.has_value() && *v == value &&
         std::signbit(*v) == std::signbit(value);
}

bool IsAllZero(const Instruction* i) {
  std::optional<double> v = SplatValue(i);
  return v.has_value() && *v == 0;
}

bool IsAllNegativeZero(const Instruction* i) {
  std::optional<double> v = SplatValue(i);
  return v.has_value() && *v == 0 && std::signbit(*v);
}

bool IsAllOnes(const Instruction* i) {
  ElementType type = i->shape().type();
  if (IsPred(type)) return IsAll(i, 1);
  if (!IsInteger(type)) return false;
  const Literal* l = SplatOf(i);
  if (l == nullptr) return false;
  int bits = Info(type).bits;
  uint64_t mask = ~uint64_t{0} >> (64 - bits);
  return (static_cast<uint64_t>(GetInt(*l, 0)) & mask) == mask;
}

namespace {

bool IsPositiveSplat(const Instruction* i) {
  std::optional<double> v = SplatValue(i);
  return v.has_value() && *v > 0;
}

bool NeverNegative(const Instruction* i, int depth) {
  ElementType type = i->shape().type();
  if (IsUnsigned(type) || IsPred(type)) return true;
  if (depth == 0 || !IsArrayType(type) || IsComplex(type)) return false;
  switch (i->opcode()) {
    case Opcode::kAbs:
      // The absolute value of the lowest integer is itself.
      return IsFloat(type);
    case Opcode::kExp:
    case Opcode::kLogistic:
      return true;
    case Opcode::kMultiply:
      return IsFloat(type) && (i->operand(0) == i->operand(1) ||
                               (NeverNegative(i->operand(0), depth - 1) &&
                                NeverNegative(i->operand(1), depth - 1)));
    case Opcode::kAdd:
    case Opcode::kDivide:
      return IsFloat(type) && NeverNegative(i->operand(0), depth - 1) &&
             NeverNegative(i->operand(1), depth - 1);
    case Opcode::kMaximum:
      // max(-0, +0) may be either zero, so ask for a positive bound.
      return IsPositiveSplat(i->operand(0)) || IsPositiveSplat(i->operand(1)) ||
             (NeverNegative(i->operand(0), depth - 1) &&
              NeverNegative(i->operand(1), depth - 1));
    case Opcode::kConvert:
      return IsFloat(type) && (IsUnsigned(i->operand(0)->shape().type()) ||
                               NeverNegative(i->operand(0), depth - 1));
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kSlice:
      return NeverNegative(i->operand(0), depth - 1);
    case Opcode::kConstant: {
      std::optional<double> v = SplatValue(i);
      return v.has_value() && !std::signbit(*v);
    }
    default:
      return false;
  }
}

bool NeverNegativeZero(const Instruction* i, int depth) {
  ElementType type = i->shape().type();
  if (!IsArrayType(type) || IsComplex(type)) return false;
  if (!IsFloat(type)) return true;
  if (depth == 0) return false;
  if (NeverNegative(i, depth)) return true;
  switch (i->opcode()) {
    case Opcode::kAdd:
      // Rounding to nearest gives -0 only for -0 + -0.
      return NeverNegativeZero(i->operand(0), depth - 1) ||
             NeverNegativeZero(i->operand(1), depth - 1);
    case Opcode::kSubtract:
      // ... and for -0 - +0.
      return NeverNegativeZero(i->operand(0), depth - 1);
    case Opcode::kConvert:
      return !IsFloat(i->operand(0)->shape().type());
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kSlice:
      return NeverNegativeZero(i->operand(0), depth - 1);
    case Opcode::kSelect:
      return NeverNegativeZero(i->operand(1), depth - 1) &&
             NeverNegativeZero(i->operand(2), depth - 1);
    case Opcode::kConstant: {
      std::optional<double> v = SplatValue(i);
      return v.has_value() && !(*v == 0 && std::signbit(*v));
    }
    default:
      return false;
  }
}

}  // namespace

bool NeverNegativeZero(const Instruction* i) {
  return NeverNegativeZero(i, kDepth);
}

bool NeverNegative(const Instruction* i) { return NeverNegative(i, kDepth); }

std::optional<double> ExactReciprocal(const Instruction* i) {
  ElementType type = i->shape().type();
  if (!IsIeeeFloat(type)) return std::nullopt;
  std::optional<double> v = SplatValue(i);
  if (!v.has_value() || *v == 0 || !std::isfinite(*v)) return std::nullopt;
  int exponent;
  if (std::fabs(std::frexp(*v, &exponent)) != 0.5) return std::nullopt;
  double reciprocal = 1 / *v;
  // A subnormal multiplier is exact too, but slow or flushed on some devices.
  double smallest = type == ElementType::kF64   ? 0x1p-1022
                    : type == ElementType::kF16 ? 0x1p-14
                                                : 0x1p-126;
  if (std::fabs(reciprocal) < smallest) return std::nullopt;
  double back = DecodeFloat(type, EncodeFloat(type, reciprocal));
  if (back != reciprocal) return std::nullopt;
  return reciprocal;
}

namespace {

bool FloatConvertsExactly(ElementType from, ElementType to) {
  if (to == ElementType::kF64) return true;
  if (from == ElementType::kF64) return false;
  if (to == ElementType::kF32) return true;
  if (from == ElementType::kF32) return false;
  if (Info(from).bits > 8) return false;  // f16 and bf16 hold not each other
  // At most 256 values: try them. Kept per pair, since rules ask often.
  struct Table {
    bool exact[kElementTypeCount][kElementTypeCount] = {};
    Table() {
      for (int f = 0; f < kElementTypeCount; ++f) {
        ElementType a = static_cast<ElementType>(f);
        if (!IsFloat(a) || Info(a).bits > 8) continue;
        for (int t = 0; t < kElementTypeCount; ++t) {
          ElementType b = static_cast<ElementType>(t);
          if (IsFloat(b)) exact[f][t] = TryAll(a, b);
        }
      }
    }
    static bool TryAll(ElementType a, ElementType b) {
      for (uint64_t code = 0; code < (uint64_t{1} << Info(a).bits); ++code) {
        double v = DecodeFloat(a, code);
        double w = DecodeFloat(b, EncodeFloat(b, v));
        if (std::isnan(v) ? !std::isnan(w)
                          : v != w || std::signbit(v) != std::signbit(w)) {
          return false;
        }
      }
      return true;
    }
  };
  static const Table* const table = new Table();
  return table->exact[static_cast<int>(from)][static_cast<int>(to)];
}

}  // namespace

bool ConvertsExactly(ElementType from, ElementType to) {
  if (from == to) return true;
  const ElementTypeInfo& a = Info(from);
  const ElementTypeInfo& b = Info(to);
  if (!IsArrayType(from) || !IsArrayType(to)) return false;
  if (IsComplex(from) || IsComplex(to) || IsPred(to)) return false;
  if (IsPred(from)) {
    // f8e8m0fnu has no zero; a one-bit signed integer no 1.
    return to != ElementType::kF8E8M0FNU && to != ElementType::kS1;
  }
  if (IsFloat(from)) return IsFloat(to) && FloatConvertsExactly(from, to);
  int magnitude_bits = a.bits - (IsSigned(from) ? 1 : 0);
  if (IsFloat(to)) {
    if (!IsIeeeFloat(to)) return false;
    // Every integer of up to mantissa + 1 bits, if the exponents reach it.
    return magnitude_bits <= b.mantissa_bits + 1 &&
           !(to == ElementType::kF16 && magnitude_bits > 15);
  }
  if (IsSigned(from)) return IsSigned(to) && a.bits <= b.bits;
  return IsSigned(to) ? a.bits < b.bits : a.bits <= b.bits;
}

bool IsCommutative(Opcode op) {
  switch (op) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return true;
    default:
      return false;
  }
}

std::optional<Opcode> BinaryReducer(const Computation* computation) {
  if (computation == nullptr || computation->root() == nullptr ||
      computation->parameters().size() != 2) {
    return std::nullopt;
  }
  const Instruction* root = computation->root();
  if (!IsCommutative(root->opcode()) || root->operand_count() != 2) {
    return std::nullopt;
  }
  const Instruction* a = root->operand(0);
  const Instruction* b = root->operand(1);
  if (a->opcode() != Opcode::kParameter || b->opcode() != Opcode::kParameter ||
      a == b || !a->shape().Compatible(root->shape()) ||
      !b->shape().Compatible(root->shape())) {
    return std::nullopt;
  }
  return root->opcode();
}

bool IsNeutral(Opcode op, const Instruction* init) {
  ElementType type = init->shape().type();
  const Literal* l = SplatOf(init);
  if (l == nullptr || IsComplex(type)) return false;
  bool is_float = IsFloat(type);
  int bits = Info(type).bits;
  double inf = std::numeric_limits<double>::infinity();
  switch (op) {
    case Opcode::kAdd:
      return IsPred(type) ? IsAll(init, 0) : IsAllZero(init);
    case Opcode::kMultiply:
      return IsAll(init, 1);
    case Opcode::kMaximum:
      if (is_float) return GetDouble(*l, 0) == -inf;
      if (IsSigned(type)) {
        return GetInt(*l, 0) ==
               -static_cast<int64_t>((~uint64_t{0} >> 1) >> (64 - bits)) - 1;
      }
      return IsAll(init, 0);
    case Opcode::kMinimum:
      if (is_float) return GetDouble(*l, 0) == inf;
      if (IsSigned(type)) {
        return GetInt(*l, 0) ==
               static_cast<int64_t>((~uint64_t{0} >> 1) >> (64 - bits));
      }
      return IsAllOnes(init);
    case Opcode::kAnd:
      return IsAllOnes(init);
    case Opcode::kOr:
    case Opcode::kXor:
      return IsAll(init, 0);
    default:
      return false;
  }
}

}  // namespace ridge
