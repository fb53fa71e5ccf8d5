#include "backends/kernel/scalar_text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "hlo/base/status_macros.h"
#include "hlo/ir/small_float.h"

namespace ridge {
namespace {

// One row per elementwise opcode: its text for each class of type; null where
// HLO has no such operation. $0 $1 $2: operands. $T: carry type. $U: an
// unsigned type at least as wide as T and int, in which overflow wraps. $B:
// the type's width in bits. Float texts are overloaded for float and double.
struct OpRow {
  Opcode opcode;
  const char* floating;
  const char* sign;  // signed integers
  const char* uns;   // unsigned integers
  const char* pred;
  const char* complex;
};

constexpr OpRow kOps[] = {
    {Opcode::kAbs, "rdg_abs($0)", "($0 < 0 ? ($T)(0 - ($U)$0) : $0)", "$0",
     "$0", "rdg_cabs($0)"},
    {Opcode::kAcos, "rdg_acos($0)", nullptr, nullptr, nullptr, "rdg_cacos($0)"},
    {Opcode::kAcosh, "rdg_acosh($0)", nullptr, nullptr, nullptr,
     "rdg_cacosh($0)"},
    {Opcode::kAdd, "($0 + $1)", "($T)(($U)$0 + ($U)$1)", "($T)($0 + $1)",
     "($0 || $1)", "rdg_cadd($0, $1)"},
    {Opcode::kAnd, nullptr, "($T)($0 & $1)", "($T)($0 & $1)", "($0 && $1)",
     nullptr},
    {Opcode::kAsin, "rdg_asin($0)", nullptr, nullptr, nullptr, "rdg_casin($0)"},
    {Opcode::kAsinh, "rdg_asinh($0)", nullptr, nullptr, nullptr,
     "rdg_casinh($0)"},
    {Opcode::kAtan2, "rdg_atan2($0, $1)", nullptr, nullptr, nullptr, nullptr},
    {Opcode::kAtanh, "rdg_atanh($0)", nullptr, nullptr, nullptr,
     "rdg_catanh($0)"},
    {Opcode::kCbrt, "rdg_cbrt($0)", nullptr, nullptr, nullptr, "rdg_ccbrt($0)"},
    {Opcode::kCeil, "rdg_ceil($0)", nullptr, nullptr, nullptr, nullptr},
    {Opcode::kClamp, "rdg_min(rdg_max($1, $0), $2)",
     "rdg_imin(rdg_imax($1, $0), $2)", "rdg_imin(rdg_imax($1, $0), $2)",
     "(($1 || $0) && $2)", nullptr},
    {Opcode::kComplex, nullptr, nullptr, nullptr, nullptr, "$T{$0, $1}"},
    {Opcode::kCopy, "$0", "$0", "$0", "$0", "$0"},
    {Opcode::kCosine, "rdg_cos($0)", nullptr, nullptr, nullptr, "rdg_ccos($0)"},
    {Opcode::kCosh, "rdg_cosh($0)", nullptr, nullptr, nullptr, "rdg_ccosh($0)"},
    {Opcode::kCountLeadingZeros, nullptr, "($T)rdg_clz(($U)$0, $B)",
     "($T)rdg_clz(($U)$0, $B)", nullptr, nullptr},
    {Opcode::kDivide, "($0 / $1)", "rdg_sdiv($0, $1)", "rdg_udiv($0, $1)",
     nullptr, "rdg_cdiv($0, $1)"},
    {Opcode::kErf, "rdg_erf($0)", nullptr, nullptr, nullptr, nullptr},
    {Opcode::kExp, "rdg_exp($0)", nullptr, nullptr, nullptr, "rdg_cexp($0)"},
    {Opcode::kExpm1, "rdg_expm1($0)", nullptr, nullptr, nullptr,
     "rdg_cexpm1($0)"},
    {Opcode::kFloor, "rdg_floor($0)", nullptr, nullptr, nullptr, nullptr},
    {Opcode::kLog, "rdg_log($0)", nullptr, nullptr, nullptr, "rdg_clog($0)"},
    {Opcode::kLog1p, "rdg_log1p($0)", nullptr, nullptr, nullptr,
     "rdg_clog1p($0)"},
    {Opcode::kLogistic, "rdg_logistic($0)", nullptr, nullptr, nullptr,
     "rdg_clogistic($0)"},
    {Opcode::kMaximum, "rdg_max($0, $1)", "rdg_imax($0, $1)",
     "rdg_imax($0, $1)", "($0 || $1)", nullptr},
    {Opcode::kMinimum, "rdg_min($0, $1)", "rdg_imin($0, $1)",
     "rdg_imin($0, $1)", "($0 && $1)", nullptr},
    {Opcode::kMultiply, "($0 * $1)", "($T)(($U)$0 * ($U)$1)",
     "($T)(($U)$0 * ($U)$1)", "($0 && $1)", "rdg_cmul($0, $1)"},
    {Opcode::kNegate, "(-$0)", "($T)(0 - ($U)$0)", "($T)(0 - ($U)$0)", nullptr,
     "rdg_cneg($0)"},
    {Opcode::kNot, nullptr, "($T)(~$0)", "($T)(~$0)", "(!$0)", nullptr},
    {Opcode::kOr, nullptr, "($T)($0 | $1)", "($T)($0 | $1)", "($0 || $1)",
     nullptr},
    {Opcode::kPopulationCount, nullptr, "($T)rdg_popcnt(($U)$0, $B)",
     "($T)rdg_popcnt(($U)$0, $B)", "$0", nullptr},
    {Opcode::kPower, "rdg_pow($0, $1)", "rdg_ipow($0, $1)", "rdg_ipow($0, $1)",
     nullptr, "rdg_cpow($0, $1)"},
    {Opcode::kRemainder, "rdg_fmod($0, $1)", "rdg_srem($0, $1)",
     "rdg_urem($0, $1)", nullptr, nullptr},
    {Opcode::kRoundNearestAfz, "rdg_round($0)", nullptr, nullptr, nullptr,
     nullptr},
    {Opcode::kRoundNearestEven, "rdg_rint($0)", nullptr, nullptr, nullptr,
     nullptr},
    {Opcode::kRsqrt, "rdg_rsqrt($0)", nullptr, nullptr, nullptr,
     "rdg_crsqrt($0)"},
    {Opcode::kSelect, "($0 ? $1 : $2)", "($0 ? $1 : $2)", "($0 ? $1 : $2)",
     "($0 ? $1 : $2)", "($0 ? $1 : $2)"},
    {Opcode::kShiftLeft, nullptr, "($T)rdg_shl(($U)$0, ($U)$1, $B)",
     "($T)rdg_shl(($U)$0, ($U)$1, $B)", nullptr, nullptr},
    {Opcode::kShiftRightArithmetic, nullptr, "rdg_sra($0, $1, $B)",
     "rdg_usra($0, $1, $B)", nullptr, nullptr},
    {Opcode::kShiftRightLogical, nullptr,
     "($T)rdg_shr(rdg_low(($U)$0, $B), ($U)$1, $B)",
     "($T)rdg_shr(($U)$0, ($U)$1, $B)", nullptr, nullptr},
    {Opcode::kSign, "rdg_sign($0)", "($T)(($0 > 0) - ($0 < 0))",
     "($T)($0 != 0)", "$0", "rdg_csign($0)"},
    {Opcode::kSine, "rdg_sin($0)", nullptr, nullptr, nullptr, "rdg_csin($0)"},
    {Opcode::kSinh, "rdg_sinh($0)", nullptr, nullptr, nullptr, "rdg_csinh($0)"},
    {Opcode::kSqrt, "rdg_sqrt($0)", nullptr, nullptr, nullptr, "rdg_csqrt($0)"},
    {Opcode::kSubtract, "($0 - $1)", "($T)(($U)$0 - ($U)$1)",
     "($T)(($U)$0 - ($U)$1)", "($0 != $1)", "rdg_csub($0, $1)"},
    {Opcode::kTan, "rdg_tan($0)", nullptr, nullptr, nullptr, "rdg_ctan($0)"},
    {Opcode::kTanh, "rdg_tanh($0)", nullptr, nullptr, nullptr, "rdg_ctanh($0)"},
    {Opcode::kXor, nullptr, "($T)($0 ^ $1)", "($T)($0 ^ $1)", "($0 != $1)",
     nullptr},
};

const OpRow* FindRow(Opcode opcode) {
  static const auto& index = *[] {
    auto* table = new std::array<const OpRow*, kOpcodeCount>();
    table->fill(nullptr);
    for (const OpRow& row : kOps) {
      (*table)[static_cast<size_t>(row.opcode)] = &row;
    }
    return table;
  }();
  return index[static_cast<size_t>(opcode)];
}

bool IsSmallFloat(ElementType t) { return IsFloat(t) && Info(t).bits < 32; }

// `value`, rounded or wrapped to `type` after an operation.
std::string Normalise(ElementType type, std::string value) {
  if (IsSmallFloat(type)) {
    return absl::StrCat("rdg_round_", std::string(Name(type)), "(", value, ")");
  }
  int bits = Info(type).bits;
  if (IsInteger(type) && bits < 8) {
    return absl::StrCat(IsSigned(type) ? "rdg_sext(" : "rdg_zext(", value, ", ",
                        bits, ")");
  }
  return value;
}

absl::string_view WideUnsigned(ElementType type) {
  return Info(type).bits == 64 ? "uint64_t" : "uint32_t";
}

absl::Status NoText(const Node& node, ElementType type) {
  std::string where;
  if (node.origin != nullptr) {
    where = absl::StrCat("line ", node.origin->location().line, ": %",
                         std::string(node.origin->name()), ": ");
  }
  return absl::UnimplementedError(
      absl::StrCat(where, "no scalar code for ", std::string(Name(node.opcode)),
                   " of ", std::string(Name(type))));
}

std::string Fill(const char* pattern, ElementType type,
                 absl::Span<const std::string> operands) {
  std::string text;
  for (const char* p = pattern; *p != 0; ++p) {
    if (*p != '$') {
      text.push_back(*p);
      continue;
    }
    ++p;
    switch (*p) {
      case 'T':
        absl::StrAppend(&text, CarryType(type));
        break;
      case 'U':
        absl::StrAppend(&text, WideUnsigned(type));
        break;
      case 'B':
        absl::StrAppend(&text, Info(type).bits);
        break;
      default:
        text += operands[*p - '0'];
    }
  }
  return text;
}

// Integer limits of a type as literals of its carry type.
std::string LimitText(ElementType type, bool high) {
  int bits = Info(type).bits;
  if (IsUnsigned(type)) {
    if (!high) return "0";
    return bits == 64 ? "0xffffffffffffffffULL"
                      : absl::StrCat((uint64_t{1} << bits) - 1, "u");
  }
  int64_t top = static_cast<int64_t>((~uint64_t{0} >> 1) >> (64 - bits));
  if (high) return absl::StrCat(top, bits == 64 ? "LL" : "");
  return absl::StrCat("(-", top, bits == 64 ? "LL" : "", " - 1)");
}

std::string Complex(ElementType type, absl::string_view re,
                    absl::string_view im) {
  return absl::StrCat(CarryType(type), "{", re, ", ", im, "}");
}

absl::StatusOr<std::string> ConvertText(ElementType from, ElementType to,
                                        const std::string& x) {
  if (from == to) return x;
  if (IsComplex(to)) {
    ElementType part = ComplexComponent(to);
    if (IsComplex(from)) {
      return Complex(to, absl::StrCat("(", CarryType(part), ")", x, ".re"),
                     absl::StrCat("(", CarryType(part), ")", x, ".im"));
    }
    RIDGE_ASSIGN_OR_RETURN(std::string re, ConvertText(from, part, x));
    return Complex(to, re, "0");
  }
  if (IsComplex(from) && IsPred(to)) {
    return absl::StrCat("(", x, ".re != 0 || ", x, ".im != 0)");
  }
  if (IsComplex(from)) {
    return ConvertText(ComplexComponent(from), to, absl::StrCat(x, ".re"));
  }
  if (IsPred(to)) return absl::StrCat("(", x, " != 0)");
  if (IsFloat(to)) {
    // 64-bit sources round once: through double they would round twice, and
    // what is narrower than a float through a float.
    std::string carried = absl::StrCat("(", CarryType(to), ")", x);
    if (Info(to).bits < 32 && Info(from).bits >= 32 &&
        from != ElementType::kF32) {
      carried = absl::StrCat("rdg_odd(", x, ")");
    }
    bool exact = IsFloat(from) && Info(to).bits >= 32;
    return exact ? carried : Normalise(to, carried);
  }
  if (IsFloat(from)) {
    return Normalise(
        to, absl::StrCat("rdg_f2i<", CarryType(to), ">(", x, ", ",
                         LimitText(to, false), ", ", LimitText(to, true), ")"));
  }
  return Normalise(to, absl::StrCat("(", CarryType(to), ")", x));
}

const char* CompareSign(ComparisonDirection d) {
  switch (d) {
    case ComparisonDirection::kEq:
      return "==";
    case ComparisonDirection::kNe:
      return "!=";
    case ComparisonDirection::kGe:
      return ">=";
    case ComparisonDirection::kGt:
      return ">";
    case ComparisonDirection::kLe:
      return "<=";
    case ComparisonDirection::kLt:
      return "<";
  }
  return "==";
}

std::string CompareText(const Node& node, ElementType type,
                        absl::Span<const std::string> x) {
  const char* sign = CompareSign(node.direction);
  if (IsComplex(type)) {
    bool equal = node.direction == ComparisonDirection::kEq;
    return absl::StrCat(equal ? "(" : "!(", x[0], ".re == ", x[1], ".re && ",
                        x[0], ".im == ", x[1], ".im)");
  }
  if (node.total_order && IsFloat(type)) {
    return absl::StrCat("(rdg_total(", x[0], ") ", sign, " rdg_total(", x[1],
                        "))");
  }
  return absl::StrCat("(", x[0], " ", sign, " ", x[1], ")");
}

}  // namespace

absl::string_view StorageType(ElementType type) {
  switch (type) {
    case ElementType::kS1:
    case ElementType::kS2:
    case ElementType::kS4:
    case ElementType::kS8:
      return "int8_t";
    case ElementType::kS16:
      return "int16_t";
    case ElementType::kS32:
      return "int32_t";
    case ElementType::kS64:
      return "int64_t";
    case ElementType::kU16:
    case ElementType::kF16:
    case ElementType::kBF16:
      return "uint16_t";
    case ElementType::kU32:
      return "uint32_t";
    case ElementType::kU64:
      return "uint64_t";
    case ElementType::kF32:
      return "float";
    case ElementType::kF64:
      return "double";
    case ElementType::kC64:
      return "rdg_c64";
    case ElementType::kC128:
      return "rdg_c128";
    default:
      return "uint8_t";
  }
}

absl::string_view CarryType(ElementType type) {
  if (IsPred(type)) return "bool";
  if (IsSmallFloat(type)) return "float";
  return StorageType(type);
}

int64_t CarryBytes(ElementType type) {
  return IsSmallFloat(type) ? 4 : StorageBytes(type);
}

std::string LoadText(ElementType type, absl::string_view storage) {
  if (IsPred(type)) return absl::StrCat("(", storage, " != 0)");
  if (IsSmallFloat(type)) {
    return absl::StrCat("rdg_load_", std::string(Name(type)), "(", storage,
                        ")");
  }
  return std::string(storage);
}

std::string StoreText(ElementType type, absl::string_view carried) {
  if (IsPred(type)) return absl::StrCat("(uint8_t)(", carried, ")");
  if (IsSmallFloat(type)) {
    return absl::StrCat("rdg_store_", std::string(Name(type)), "(", carried,
                        ")");
  }
  return std::string(carried);
}

std::string ZeroText(ElementType type) {
  if (IsPred(type)) return "false";
  if (IsComplex(type)) return Complex(type, "0", "0");
  if (type == ElementType::kF64) return "0.0";
  if (IsFloat(type)) return "0.0f";
  return absl::StrCat("(", CarryType(type), ")0");
}

namespace {

std::string FloatText(double value, bool is_double) {
  char buffer[64];
  if (std::isnan(value) || std::isinf(value)) {
    if (is_double) {
      uint64_t bits;
      std::memcpy(&bits, &value, 8);
      std::snprintf(buffer, sizeof(buffer), "rdg_f64(0x%llxULL)",
                    static_cast<unsigned long long>(bits));
    } else {
      float f = static_cast<float>(value);
      uint32_t bits;
      std::memcpy(&bits, &f, 4);
      std::snprintf(buffer, sizeof(buffer), "rdg_f32(0x%xu)", bits);
    }
    return buffer;
  }
  std::snprintf(buffer, sizeof(buffer), is_double ? "%.17g" : "%.9g", value);
  std::string text = buffer;
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (!is_double) text += "f";
  return value < 0 || std::signbit(value) ? absl::StrCat("(", text, ")") : text;
}

}  // namespace

std::string ConstText(ElementType type, uint64_t bits, uint64_t bits_high) {
  if (IsPred(type)) return (bits & 0xff) != 0 ? "true" : "false";
  if (type == ElementType::kC64) {
    return Complex(
        type,
        FloatText(DecodeFloat(ElementType::kF32, bits & 0xffffffffu), false),
        FloatText(
            DecodeFloat(ElementType::kF32,
                        bits_high != 0 ? bits_high & 0xffffffffu : bits >> 32),
            false));
  }
  if (type == ElementType::kC128) {
    return Complex(type, FloatText(DecodeFloat(ElementType::kF64, bits), true),
                   FloatText(DecodeFloat(ElementType::kF64, bits_high), true));
  }
  if (IsFloat(type)) {
    return FloatText(DecodeFloat(type, bits), type == ElementType::kF64);
  }
  int width = StorageBytes(type) * 8;
  if (IsUnsigned(type)) {
    if (width < 64) bits &= (uint64_t{1} << width) - 1;
    return absl::StrCat("(", CarryType(type), ")", bits,
                        width == 64 ? "ULL" : "u");
  }
  int64_t value = static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
  if (value == std::numeric_limits<int64_t>::min()) {
    return "(-9223372036854775807LL - 1)";
  }
  return absl::StrCat("(", CarryType(type), ")", value < 0 ? "(" : "", value,
                      width == 64 ? "LL" : "", value < 0 ? ")" : "");
}

absl::StatusOr<std::string> OpText(const Node& node,
                                   absl::Span<const ElementType> types,
                                   absl::Span<const std::string> x) {
  const ElementType type = node.type;
  switch (node.opcode) {
    case Opcode::kConvert:
      return ConvertText(types[0], type, x[0]);
    case Opcode::kCompare:
      return CompareText(node, types[0], x);
    case Opcode::kIsFinite:
      if (IsComplex(types[0])) {
        return absl::StrCat("(rdg_isfinite(", x[0], ".re) && rdg_isfinite(",
                            x[0], ".im))");
      }
      if (!IsFloat(types[0])) return "true";
      return absl::StrCat("rdg_isfinite(", x[0], ")");
    case Opcode::kReal:
      return IsComplex(types[0]) ? absl::StrCat(x[0], ".re") : x[0];
    case Opcode::kImag:
      return IsComplex(types[0]) ? absl::StrCat(x[0], ".im") : ZeroText(type);
    case Opcode::kReducePrecision: {
      if (!IsFloat(type)) return NoText(node, type);
      return Normalise(type, absl::StrCat("rdg_reduce_precision(", x[0], ", ",
                                          node.exponent_bits, ", ",
                                          node.mantissa_bits, ")"));
    }
    case Opcode::kBitcastConvert: {
      if (StorageBytes(types[0]) != StorageBytes(type)) {
        return NoText(node, type);
      }
      return LoadText(type, absl::StrCat("rdg_bitcast<", StorageType(type),
                                         ">(", StoreText(types[0], x[0]), ")"));
    }
    case Opcode::kAbs:
      if (IsComplex(types[0])) return absl::StrCat("rdg_cabs(", x[0], ")");
      break;
    case Opcode::kDivide:
      // Quotients of 8-bit significands are never closer to a rounding
      // boundary than the error of the fast division.
      if (type == ElementType::kBF16) {
        return Normalise(type,
                         absl::StrCat("rdg_fast_div(", x[0], ", ", x[1], ")"));
      }
      break;
    default:
      break;
  }
  const OpRow* row = FindRow(node.opcode);
  if (row == nullptr) return NoText(node, type);
  const char* pattern = nullptr;
  switch (Info(type).type_class) {
    case TypeClass::kPred:
      pattern = row->pred;
      break;
    case TypeClass::kSigned:
      pattern = row->sign;
      break;
    case TypeClass::kUnsigned:
      pattern = row->uns;
      break;
    case TypeClass::kFloat:
      pattern = row->floating;
      break;
    case TypeClass::kComplex:
      pattern = row->complex;
      break;
    case TypeClass::kOther:
      break;
  }
  if (pattern == nullptr) return NoText(node, type);
  std::string text = Fill(pattern, type, x);
  // These give values of the type as they are.
  switch (node.opcode) {
    case Opcode::kSelect:
    case Opcode::kCopy:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kClamp:
    case Opcode::kSign:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return text;
    case Opcode::kAbs:
    case Opcode::kNegate:
    case Opcode::kCeil:
    case Opcode::kFloor:
      if (IsFloat(type) && type != ElementType::kF8E4M3FNUZ &&
          type != ElementType::kF8E5M2FNUZ &&
          type != ElementType::kF8E4M3B11FNUZ &&
          type != ElementType::kF8E8M0FNU) {
        if (node.opcode == Opcode::kAbs || node.opcode == Opcode::kNegate) {
          return text;
        }
      }
      return Normalise(type, std::move(text));
    default:
      return Normalise(type, std::move(text));
  }
}

absl::StatusOr<std::string> CombineText(Opcode opcode, ElementType type,
                                        absl::string_view a,
                                        absl::string_view b) {
  Node node;
  node.opcode = opcode;
  node.type = type;
  std::string operands[] = {std::string(a), std::string(b)};
  ElementType types[] = {type, type};
  return OpText(node, types, operands);
}

absl::StatusOr<std::string> FunctionText(const ScalarFunction& function,
                                         absl::string_view name) {
  std::string text = absl::StrCat("RDG_FN void ", name, "(");
  for (int32_t p = 0; p < function.parameter_count; ++p) {
    absl::StrAppend(&text, p > 0 ? ", " : "", CarryType(function.nodes[p].type),
                    " n", p);
  }
  for (size_t r = 0; r < function.results.size(); ++r) {
    absl::StrAppend(&text, ", ",
                    CarryType(function.nodes[function.results[r]].type), "& r",
                    r);
  }
  absl::StrAppend(&text, ") {\n");
  for (size_t n = function.parameter_count; n < function.nodes.size(); ++n) {
    const Node& node = function.nodes[n];
    std::string value;
    if (node.kind == NodeKind::kConst) {
      value = ConstText(node.type, node.bits, node.bits_high);
    } else if (node.kind == NodeKind::kOp) {
      std::vector<std::string> operands;
      std::vector<ElementType> types;
      for (NodeId o : node.operands) {
        operands.push_back(absl::StrCat("n", o));
        types.push_back(function.nodes[o].type);
      }
      RIDGE_ASSIGN_OR_RETURN(value, OpText(node, types, operands));
    } else {
      return absl::UnimplementedError(absl::StrCat(
          "scalar function ", function.name,
          " holds something other than constants and elementwise operations"));
    }
    absl::StrAppend(&text, "  const ", CarryType(node.type), " n", n, " = ",
                    value, ";\n");
  }
  for (size_t r = 0; r < function.results.size(); ++r) {
    absl::StrAppend(&text, "  r", r, " = n", function.results[r], ";\n");
  }
  absl::StrAppend(&text, "}\n");
  return text;
}

}  // namespace ridge
