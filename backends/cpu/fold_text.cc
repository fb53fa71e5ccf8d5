#include "backends/cpu/fold_text.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/kernel/scalar_text.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

bool Widened(Opcode op, ElementType type) {
  return IsFloat(type) && (op == Opcode::kAdd || op == Opcode::kMultiply);
}

// All bits set, or the lowest or highest value of an integer type.
std::string IntegerLimit(ElementType type, bool high) {
  int bits = Info(type).bits;
  uint64_t all = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  if (IsUnsigned(type)) return ConstText(type, high ? all : 0);
  uint64_t top = all >> 1;
  // Sub-byte types are kept sign-extended.
  return ConstText(type, high ? top : ~top);
}

}  // namespace

std::string FoldType(Opcode op, ElementType type) {
  return Widened(op, type) ? "double" : std::string(CarryType(type));
}

std::string FoldIdentity(Opcode op, ElementType type) {
  switch (op) {
    case Opcode::kAdd:
      // Keeps the sign of zero.
      return IsFloat(type) ? "-0.0" : ZeroText(type);
    case Opcode::kMultiply:
      if (IsFloat(type)) return "1.0";
      return IsPred(type) ? "true" : ConstText(type, 1);
    case Opcode::kMaximum:
      if (IsPred(type)) return "false";
      if (IsFloat(type)) {
        return absl::StrCat("(", CarryType(type), ")-INFINITY");
      }
      return IntegerLimit(type, false);
    case Opcode::kMinimum:
      if (IsPred(type)) return "true";
      if (IsFloat(type)) return absl::StrCat("(", CarryType(type), ")INFINITY");
      return IntegerLimit(type, true);
    case Opcode::kAnd:
      return IsPred(type) ? "true" : ConstText(type, ~uint64_t{0});
    default:
      return ZeroText(type);
  }
}

absl::StatusOr<std::string> FoldCombineText(Opcode op, ElementType type,
                                            absl::string_view acc,
                                            absl::string_view x) {
  if (Widened(op, type)) {
    return absl::StrCat("(", acc, op == Opcode::kAdd ? " + " : " * ",
                        "(double)", x, ")");
  }
  return CombineText(op, type, acc, x);
}

absl::StatusOr<std::string> FoldPartialText(Opcode op, ElementType type,
                                            absl::string_view acc,
                                            absl::string_view other) {
  return FoldCombineText(op, type, acc, other);
}

absl::StatusOr<std::string> FoldBlockText(Opcode op, ElementType type,
                                          absl::string_view acc,
                                          absl::string_view x,
                                          absl::string_view n) {
  const char* helper = nullptr;
  if (IsFloat(type)) {
    switch (op) {
      case Opcode::kAdd:
        helper = "rdg_fold_add";
        break;
      case Opcode::kMultiply:
        helper = "rdg_fold_mul";
        break;
      case Opcode::kMaximum:
        helper = "rdg_fold_max";
        break;
      case Opcode::kMinimum:
        helper = "rdg_fold_min";
        break;
      default:
        break;
    }
  }
  if (helper != nullptr) {
    return absl::StrCat(acc, " = ", helper, "(", acc, ", ", x, ", ", n, ");");
  }
  RIDGE_ASSIGN_OR_RETURN(
      std::string combine,
      FoldCombineText(op, type, acc, absl::StrCat(x, "[rdg_k]")));
  return absl::StrCat("for (int64_t rdg_k = 0; rdg_k < ", n, "; ++rdg_k) ", acc,
                      " = ", combine, ";");
}

absl::StatusOr<std::string> FoldResultText(Opcode op, ElementType type,
                                           absl::string_view acc,
                                           absl::string_view init) {
  if (!Widened(op, type)) return CombineText(op, type, init, acc);
  std::string wide =
      absl::StrCat("(double)", init, op == Opcode::kAdd ? " + " : " * ", acc);
  wide = absl::StrCat("(", wide, ")");
  Node convert;
  convert.opcode = Opcode::kConvert;
  convert.type = type;
  return OpText(convert, {ElementType::kF64}, {wide});
}

}  // namespace ridge
