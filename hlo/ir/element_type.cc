#include "hlo/ir/element_type.h"

#include <array>

namespace ridge {
namespace {

constexpr std::array kTable = {
#define V(e, text, bits, type_class, proto, mantissa) \
  ElementTypeInfo{ElementType::e,        text,  bits, \
                  TypeClass::type_class, proto, mantissa},
    RIDGE_ELEMENT_TYPES(V)
#undef V
};

}  // namespace

const ElementTypeInfo& Info(ElementType type) {
  return kTable[static_cast<size_t>(type)];
}

std::optional<ElementType> ElementTypeFromName(absl::string_view name) {
  for (const ElementTypeInfo& info : kTable) {
    if (info.name == name && info.type != ElementType::kTuple &&
        info.type != ElementType::kBuffer) {
      return info.type;
    }
  }
  return std::nullopt;
}

std::optional<ElementType> ElementTypeFromProto(int proto_number) {
  for (const ElementTypeInfo& info : kTable) {
    if (info.proto_number == proto_number) return info.type;
  }
  return std::nullopt;
}

ElementType ComplexComponent(ElementType t) {
  if (t == ElementType::kC64) return ElementType::kF32;
  if (t == ElementType::kC128) return ElementType::kF64;
  return t;
}

}  // namespace ridge
