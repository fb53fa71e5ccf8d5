// The element types of HLO and the facts about each: one table, which the
// parser, printer, verifier, evaluator, emitters and protobuf code read.
#ifndef RIDGE_HLO_IR_ELEMENT_TYPE_H_
#define RIDGE_HLO_IR_ELEMENT_TYPE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace ridge {

enum class TypeClass : uint8_t {
  kPred,
  kSigned,
  kUnsigned,
  kFloat,
  kComplex,
  kOther,  // tuple, token, opaque, buffer: no elements of their own
};

// RIDGE_ELEMENT_TYPES(V): V(enumerator, text, bits, class, proto number,
// mantissa bits). `bits` is the logical width; a Literal stores sub-byte
// elements one a byte. Proto numbers are those of xla_data.proto's
// PrimitiveType. Mantissa bits exclude the implicit one; 0 for non-floats
// (and for f8e8m0fnu, which has none).
#define RIDGE_ELEMENT_TYPES(V)                         \
  V(kPred, "pred", 8, kPred, 1, 0)                     \
  V(kS1, "s1", 1, kSigned, 30, 0)                      \
  V(kS2, "s2", 2, kSigned, 26, 0)                      \
  V(kS4, "s4", 4, kSigned, 21, 0)                      \
  V(kS8, "s8", 8, kSigned, 2, 0)                       \
  V(kS16, "s16", 16, kSigned, 3, 0)                    \
  V(kS32, "s32", 32, kSigned, 4, 0)                    \
  V(kS64, "s64", 64, kSigned, 5, 0)                    \
  V(kU1, "u1", 1, kUnsigned, 31, 0)                    \
  V(kU2, "u2", 2, kUnsigned, 27, 0)                    \
  V(kU4, "u4", 4, kUnsigned, 22, 0)                    \
  V(kU8, "u8", 8, kUnsigned, 6, 0)                     \
  V(kU16, "u16", 16, kUnsigned, 7, 0)                  \
  V(kU32, "u32", 32, kUnsigned, 8, 0)                  \
  V(kU64, "u64", 64, kUnsigned, 9, 0)                  \
  V(kF4E2M1FN, "f4e2m1fn", 4, kFloat, 32, 1)           \
  V(kF8E3M4, "f8e3m4", 8, kFloat, 29, 4)               \
  V(kF8E4M3, "f8e4m3", 8, kFloat, 28, 3)               \
  V(kF8E4M3FN, "f8e4m3fn", 8, kFloat, 20, 3)           \
  V(kF8E4M3B11FNUZ, "f8e4m3b11fnuz", 8, kFloat, 23, 3) \
  V(kF8E4M3FNUZ, "f8e4m3fnuz", 8, kFloat, 25, 3)       \
  V(kF8E5M2, "f8e5m2", 8, kFloat, 19, 2)               \
  V(kF8E5M2FNUZ, "f8e5m2fnuz", 8, kFloat, 24, 2)       \
  V(kF8E8M0FNU, "f8e8m0fnu", 8, kFloat, 33, 0)         \
  V(kF16, "f16", 16, kFloat, 10, 10)                   \
  V(kBF16, "bf16", 16, kFloat, 16, 7)                  \
  V(kF32, "f32", 32, kFloat, 11, 23)                   \
  V(kF64, "f64", 64, kFloat, 12, 52)                   \
  V(kC64, "c64", 64, kComplex, 15, 23)                 \
  V(kC128, "c128", 128, kComplex, 18, 52)              \
  V(kTuple, "tuple", 0, kOther, 13, 0)                 \
  V(kOpaque, "opaque", 0, kOther, 14, 0)               \
  V(kToken, "token", 0, kOther, 17, 0)                 \
  V(kBuffer, "b", 0, kOther, 34, 0)

enum class ElementType : uint8_t {
#define V(e, ...) e,
  RIDGE_ELEMENT_TYPES(V)
#undef V
};

struct ElementTypeInfo {
  ElementType type;
  absl::string_view name;
  int bits;
  TypeClass type_class;
  int proto_number;
  int mantissa_bits;
};

const ElementTypeInfo& Info(ElementType type);

// The type spelled `name` in HLO text, if any ("tuple" and "b" are not
// spelled as types and are not found).
std::optional<ElementType> ElementTypeFromName(absl::string_view name);
std::optional<ElementType> ElementTypeFromProto(int proto_number);

inline absl::string_view Name(ElementType t) { return Info(t).name; }
inline bool IsFloat(ElementType t) {
  return Info(t).type_class == TypeClass::kFloat;
}
inline bool IsComplex(ElementType t) {
  return Info(t).type_class == TypeClass::kComplex;
}
inline bool IsSigned(ElementType t) {
  return Info(t).type_class == TypeClass::kSigned;
}
inline bool IsUnsigned(ElementType t) {
  return Info(t).type_class == TypeClass::kUnsigned;
}
inline bool IsInteger(ElementType t) { return IsSigned(t) || IsUnsigned(t); }
inline bool IsPred(ElementType t) { return t == ElementType::kPred; }
// True for types that have elements: not tuple, token, opaque or buffer.
inline bool IsArrayType(ElementType t) {
  return Info(t).type_class != TypeClass::kOther;
}
// Bytes one element takes in a Literal and in Ridge's buffers; sub-byte
// types take a whole byte each.
inline int StorageBytes(ElementType t) { return (Info(t).bits + 7) / 8; }
// c64 -> f32, c128 -> f64, others unchanged.
ElementType ComplexComponent(ElementType t);

}  // namespace ridge

#endif  // RIDGE_HLO_IR_ELEMENT_TYPE_H_
