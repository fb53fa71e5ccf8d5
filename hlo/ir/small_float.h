// Conversions of the small float types to and from double, in software: the
// reference that every other implementation is compared with.
#ifndef RIDGE_HLO_IR_SMALL_FLOAT_H_
#define RIDGE_HLO_IR_SMALL_FLOAT_H_

#include <cstdint>

#include "hlo/ir/element_type.h"

namespace ridge {

// How one small float format lays out its bits.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_sign;
  bool has_inf;  // else the top exponent holds finite values
  // Where NaN sits: all exponents ones with non-zero mantissa (IEEE), only
  // the all-ones pattern (fn), the negative-zero pattern (fnuz), or nowhere
  // (f4e2m1fn).
  enum class Nan : uint8_t { kIeee, kAllOnes, kNegativeZero, kNone } nan;
};

// Formats of f4, f8*, f16 and bf16 (also f32 and f64, for completeness).
const FloatFormat& Format(ElementType type);

// The value of the low bits of `bits` in `type`'s format.
double DecodeFloat(ElementType type, uint64_t bits);
// Nearest even; overflow goes to infinity where the type has one, else NaN
// where it has one, else to the largest value. This is XLA's conversion.
uint64_t EncodeFloat(ElementType type, double value);

}  // namespace ridge

#endif  // RIDGE_HLO_IR_SMALL_FLOAT_H_
