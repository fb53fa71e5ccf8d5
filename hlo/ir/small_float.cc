#include "hlo/ir/small_float.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace ridge {

const FloatFormat& Format(ElementType type) {
  using Nan = FloatFormat::Nan;
  static constexpr FloatFormat kF4E2M1FN = {2, 1, 1, true, false, Nan::kNone};
  static constexpr FloatFormat kF8E3M4 = {3, 4, 3, true, true, Nan::kIeee};
  static constexpr FloatFormat kF8E4M3 = {4, 3, 7, true, true, Nan::kIeee};
  static constexpr FloatFormat kF8E4M3FN = {4,    3,     7,
                                            true, false, Nan::kAllOnes};
  static constexpr FloatFormat kF8E4M3B11 = {4,    3,     11,
                                             true, false, Nan::kNegativeZero};
  static constexpr FloatFormat kF8E4M3FNUZ = {4,    3,     8,
                                              true, false, Nan::kNegativeZero};
  static constexpr FloatFormat kF8E5M2 = {5, 2, 15, true, true, Nan::kIeee};
  static constexpr FloatFormat kF8E5M2FNUZ = {5,    2,     16,
                                              true, false, Nan::kNegativeZero};
  static constexpr FloatFormat kF8E8M0 = {8,     0,     127,
                                          false, false, Nan::kAllOnes};
  static constexpr FloatFormat kF16 = {5, 10, 15, true, true, Nan::kIeee};
  static constexpr FloatFormat kBF16 = {8, 7, 127, true, true, Nan::kIeee};
  static constexpr FloatFormat kF32 = {8, 23, 127, true, true, Nan::kIeee};
  static constexpr FloatFormat kF64 = {11, 52, 1023, true, true, Nan::kIeee};
  switch (type) {
    case ElementType::kF4E2M1FN:
      return kF4E2M1FN;
    case ElementType::kF8E3M4:
      return kF8E3M4;
    case ElementType::kF8E4M3:
      return kF8E4M3;
    case ElementType::kF8E4M3FN:
      return kF8E4M3FN;
    case ElementType::kF8E4M3B11FNUZ:
      return kF8E4M3B11;
    case ElementType::kF8E4M3FNUZ:
      return kF8E4M3FNUZ;
    case ElementType::kF8E5M2:
      return kF8E5M2;
    case ElementType::kF8E5M2FNUZ:
      return kF8E5M2FNUZ;
    case ElementType::kF8E8M0FNU:
      return kF8E8M0;
    case ElementType::kF16:
      return kF16;
    case ElementType::kBF16:
      return kBF16;
    case ElementType::kF64:
      return kF64;
    default:
      return kF32;
  }
}

double DecodeFloat(ElementType type, uint64_t bits) {
  if (type == ElementType::kF64) {
    double d;
    std::memcpy(&d, &bits, 8);
    return d;
  }
  if (type == ElementType::kF32) {
    uint32_t b = static_cast<uint32_t>(bits);
    float f;
    std::memcpy(&f, &b, 4);
    return f;
  }
  const FloatFormat& f = Format(type);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  uint64_t mantissa = bits & ((uint64_t{1} << f.mantissa_bits) - 1);
  uint64_t exponent =
      (bits >> f.mantissa_bits) & ((uint64_t{1} << f.exponent_bits) - 1);
  bool negative =
      f.has_sign && ((bits >> (f.mantissa_bits + f.exponent_bits)) & 1);
  const uint64_t top = (uint64_t{1} << f.exponent_bits) - 1;
  const uint64_t all = (uint64_t{1} << f.mantissa_bits) - 1;
  if (type == ElementType::kF8E8M0FNU) {
    if (exponent == top) return nan;
    return std::ldexp(1.0, static_cast<int>(exponent) - f.bias);
  }
  switch (f.nan) {
    case FloatFormat::Nan::kIeee:
      if (exponent == top) {
        if (mantissa != 0) return negative ? -nan : nan;
        double inf = std::numeric_limits<double>::infinity();
        return negative ? -inf : inf;
      }
      break;
    case FloatFormat::Nan::kAllOnes:
      if (exponent == top && mantissa == all) return negative ? -nan : nan;
      break;
    case FloatFormat::Nan::kNegativeZero:
      if (negative && exponent == 0 && mantissa == 0) return nan;
      break;
    case FloatFormat::Nan::kNone:
      break;
  }
  double value =
      exponent == 0
          ? std::ldexp(static_cast<double>(mantissa),
                       1 - f.bias - f.mantissa_bits)
          : std::ldexp(static_cast<double>(mantissa + all + 1),
                       static_cast<int>(exponent) - f.bias - f.mantissa_bits);
  return negative ? -value : value;
}

namespace {

uint64_t NanBits(const FloatFormat& f, bool negative) {
  uint64_t sign = (negative && f.has_sign ? uint64_t{1} : 0)
                  << (f.mantissa_bits + f.exponent_bits);
  uint64_t all = (uint64_t{1} << (f.mantissa_bits + f.exponent_bits)) - 1;
  switch (f.nan) {
    case FloatFormat::Nan::kIeee: {
      uint64_t top = ((uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits;
      return sign | top | (uint64_t{1} << (f.mantissa_bits - 1));
    }
    case FloatFormat::Nan::kAllOnes:
      return sign | all;
    case FloatFormat::Nan::kNegativeZero:
      return uint64_t{1} << (f.mantissa_bits + f.exponent_bits);
    case FloatFormat::Nan::kNone:
      // f4e2m1fn: ml_dtypes converts NaN to negative zero.
      return uint64_t{1} << (f.mantissa_bits + f.exponent_bits);
  }
  return 0;
}

// The largest finite bit pattern, without sign.
uint64_t MaxFinite(const FloatFormat& f) {
  uint64_t all = (uint64_t{1} << (f.mantissa_bits + f.exponent_bits)) - 1;
  switch (f.nan) {
    case FloatFormat::Nan::kIeee:
      return (((uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits) - 1;
    case FloatFormat::Nan::kAllOnes:
      return all - 1;
    default:
      return all;
  }
}

}  // namespace

uint64_t EncodeFloat(ElementType type, double value) {
  if (type == ElementType::kF64) {
    uint64_t b;
    std::memcpy(&b, &value, 8);
    return b;
  }
  if (type == ElementType::kF32) {
    float f = static_cast<float>(value);
    uint32_t b;
    std::memcpy(&b, &f, 4);
    return b;
  }
  const FloatFormat& f = Format(type);
  bool negative = std::signbit(value);
  if (std::isnan(value)) return NanBits(f, negative);
  if (type == ElementType::kF8E8M0FNU) {
    // Unsigned power of two: no zero, no negatives.
    if (negative || value == 0 || std::isinf(value)) return 0xff;
    int e;
    double m = std::frexp(value, &e);  // value = m * 2^e, m in [0.5, 1)
    int64_t exponent = e - 1 + f.bias;
    // Halfway rounds to the even exponent.
    if (m > 0.75 || (m == 0.75 && (exponent & 1) != 0)) ++exponent;
    if (exponent >= 255) return 0xff;
    return exponent < 0 ? 0 : static_cast<uint64_t>(exponent);
  }
  uint64_t sign = (negative ? uint64_t{1} : 0)
                  << (f.mantissa_bits + f.exponent_bits);
  double magnitude = std::fabs(value);
  uint64_t overflow = f.has_inf ? ((uint64_t{1} << f.exponent_bits) - 1)
                                      << f.mantissa_bits
                      : f.nan == FloatFormat::Nan::kNone ? MaxFinite(f)
                                                         : NanBits(f, negative);
  if (std::isinf(magnitude)) return sign | overflow;
  int e = 0;
  if (magnitude != 0) std::frexp(magnitude, &e);
  int exponent = e - 1;  // magnitude in [2^exponent, 2^(exponent+1))
  const int min_exponent = 1 - f.bias;
  if (magnitude == 0 || exponent < min_exponent) exponent = min_exponent;
  // In units of the last place at this exponent: exact, then nearest even.
  double scaled = std::ldexp(magnitude, f.mantissa_bits - exponent);
  uint64_t units = static_cast<uint64_t>(std::nearbyint(scaled));
  // units < 2^mantissa_bits means subnormal; carry into the exponent is free.
  uint64_t bits = units + (static_cast<uint64_t>(exponent - min_exponent)
                           << f.mantissa_bits);
  if (bits > MaxFinite(f)) return sign | overflow;
  if (bits == 0 && f.nan == FloatFormat::Nan::kNegativeZero) return 0;
  return sign | bits;
}

}  // namespace ridge
