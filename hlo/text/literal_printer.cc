#include "hlo/text/literal_printer.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "hlo/ir/small_float.h"

namespace ridge {
namespace {

constexpr int kNumberBytes = 40;

template <typename T>
void AppendShortest(T value, std::string* out) {
  char buffer[kNumberBytes];
  auto [end, error] = std::to_chars(buffer, buffer + kNumberBytes, value);
  out->append(buffer, end);
}

void AppendNan(ElementType type, uint64_t bits, std::string* out) {
  const FloatFormat& f = Format(type);
  bool ieee = f.nan == FloatFormat::Nan::kIeee;
  bool negative = f.has_sign && f.nan != FloatFormat::Nan::kNegativeZero &&
                  (bits >> (f.exponent_bits + f.mantissa_bits)) != 0;
  if (negative) out->push_back('-');
  out->append("nan");
  if (!ieee) return;
  uint64_t payload = bits & ((uint64_t{1} << f.mantissa_bits) - 1);
  if (payload != uint64_t{1} << (f.mantissa_bits - 1)) {
    absl::StrAppend(out, "(0x", absl::Hex(payload), ")");
  }
}

// The fewest digits that round to the same bits of a small type.
void AppendSmallFloat(ElementType type, uint64_t bits, double value,
                      std::string* out) {
  char buffer[kNumberBytes];
  for (int digits = 1; digits <= 17; ++digits) {
    auto [end, error] = std::to_chars(buffer, buffer + kNumberBytes, value,
                                      std::chars_format::general, digits);
    double back = 0;
    std::from_chars(buffer, end, back);
    // As the parser rounds: the 16-bit types by way of f32.
    if (StorageBytes(type) == 2) back = static_cast<float>(back);
    if (EncodeFloat(type, back) == bits) {
      out->append(buffer, end);
      return;
    }
  }
  AppendShortest(value, out);
}

// The least powers of two of an exponent-only type: what is subnormal in f32
// and not exact, XLA rounds to another.
bool IsTiny(ElementType type, double value) {
  return StorageBytes(type) == 1 &&
         std::abs(value) < std::numeric_limits<float>::min();
}

void AppendFloat(ElementType type, const uint8_t* p, std::string* out) {
  uint64_t bits = 0;
  std::memcpy(&bits, p, StorageBytes(type));
  double value = DecodeFloat(type, bits);
  if (std::isnan(value)) {
    AppendNan(type, bits, out);
  } else if (std::isinf(value)) {
    out->append(value < 0 ? "-inf" : "inf");
  } else if (value == 0 && std::signbit(value)) {
    out->append("-0.0");  // `-0` is the integer, which has no sign
  } else if (type == ElementType::kF64 || IsTiny(type, value)) {
    AppendShortest(value, out);
  } else if (type == ElementType::kF32) {
    AppendShortest(static_cast<float>(value), out);
  } else {
    AppendSmallFloat(type, bits, value, out);
  }
}

void AppendElement(const Literal& literal, int64_t i, std::string* out) {
  ElementType type = literal.shape().type();
  const uint8_t* p = literal.bytes() + i * StorageBytes(type);
  if (IsFloat(type)) {
    AppendFloat(type, p, out);
  } else if (IsComplex(type)) {
    ElementType part = ComplexComponent(type);
    out->push_back('(');
    AppendFloat(part, p, out);
    out->append(", ");
    AppendFloat(part, p + StorageBytes(part), out);
    out->push_back(')');
  } else if (IsPred(type)) {
    // Arrays of pred are written 1 and 0, scalars true and false.
    bool scalar = literal.shape().rank() == 0;
    out->append(*p != 0 ? (scalar ? "true" : "1") : (scalar ? "false" : "0"));
  } else if (type == ElementType::kU64) {
    uint64_t value;
    std::memcpy(&value, p, sizeof(value));
    AppendShortest(value, out);
  } else {
    AppendShortest(GetInt(literal, i), out);
  }
}

// Appends dimensions `d` and beyond, from element *i on.
void AppendArray(const Literal& literal, int64_t d, int64_t* i,
                 std::string* out) {
  const Shape& shape = literal.shape();
  if (d == shape.rank()) {
    AppendElement(literal, (*i)++, out);
    return;
  }
  out->push_back('{');
  bool inner = d + 1 < shape.rank();
  for (int64_t k = 0; k < shape.dim(d); ++k) {
    if (k > 0) out->append(", ");
    if (inner) out->push_back(' ');
    AppendArray(literal, d + 1, i, out);
  }
  if (inner && shape.dim(d) > 0) out->push_back(' ');
  out->push_back('}');
}

}  // namespace

void AppendDouble(double value, std::string* out) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  AppendFloat(ElementType::kF64, reinterpret_cast<const uint8_t*>(&bits), out);
}

void AppendLiteral(const Literal& literal, std::string* out) {
  if (literal.shape().IsTuple()) {
    out->push_back('(');
    for (size_t k = 0; k < literal.elements().size(); ++k) {
      if (k > 0) out->append(", ");
      AppendLiteral(literal.elements()[k], out);
    }
    out->push_back(')');
    return;
  }
  if (literal.elided()) {
    out->append("{...}");
    return;
  }
  if (literal.abbreviated()) {
    AppendElement(literal, 0, out);
    return;
  }
  int64_t i = 0;
  AppendArray(literal, 0, &i, out);
}

void AppendShapedLiteral(const Literal& literal, std::string* out) {
  if (!literal.shape().IsTuple()) {
    // Without a layout the braces of the values would be taken for one.
    Shape shape = literal.shape();
    if (!shape.has_layout()) shape.SetDefaultLayout();
    absl::StrAppend(out, shape.ToString(/*with_layout=*/true), " ");
    AppendLiteral(literal, out);
    return;
  }
  out->push_back('(');
  for (size_t k = 0; k < literal.elements().size(); ++k) {
    if (k > 0) out->append(", ");
    AppendShapedLiteral(literal.elements()[k], out);
  }
  out->push_back(')');
}

}  // namespace ridge
