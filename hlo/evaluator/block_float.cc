// Elementwise kernels of the float lanes.
#include <cmath>
#include <limits>
#include <type_traits>

#include "hlo/evaluator/block.h"
#include "hlo/evaluator/block_loops.h"

namespace ridge {
namespace block {
namespace {

// For functions of which the C library's float version is not within about
// half a unit of the last place: computed in double.
template <typename T>
double Wide(T x) {
  return static_cast<double>(x);
}

// tanh of a float, by way of a double: good to far below half an ulp of a
// float, and faster than tanhf. The odd series covers where the quotient
// would cancel.
inline float FastTanh(float x) {
  double a = std::fabs(Wide(x));
  if (a == 0) return x;  // with its sign
  if (a < 1e-3) return static_cast<float>(x - Wide(x) * x * x / 3);
  if (a > 20) return std::copysign(1.0f, x);
  if (std::isnan(x)) return x;
  double e = std::exp(-2 * a);
  return static_cast<float>(std::copysign((1 - e) / (1 + e), Wide(x)));
}

template <typename T>
T Reduce(T x, const BlockParams& p);

// reduce-precision: rounds the mantissa to nearest even in place, then makes
// overflow infinite and values below the smallest normal a zero of their sign.
template <>
float Reduce(float x, const BlockParams& p) {
  if (std::isnan(x)) return x;
  uint32_t b;
  std::memcpy(&b, &x, 4);
  if (p.mantissa_bits < 23) {
    int drop = 23 - p.mantissa_bits;
    uint32_t last = (b >> drop) & 1;
    b += ((uint32_t{1} << (drop - 1)) - 1) + last;
    b &= ~((uint32_t{1} << drop) - 1);
  }
  if (p.exponent_bits < 8) {
    uint32_t sign = b & 0x80000000u;
    uint32_t exponent = b & 0x7f800000u;
    uint32_t reduced_bias = (1u << (p.exponent_bits - 1)) - 1;
    uint32_t max_exponent = (127 + reduced_bias) << 23;
    uint32_t min_exponent = (127 - reduced_bias) << 23;
    if (exponent > max_exponent) {
      b = sign | 0x7f800000u;
    } else if (exponent <= min_exponent) {
      b = sign;
    }
  }
  std::memcpy(&x, &b, 4);
  return x;
}
template <>
double Reduce(double x, const BlockParams& p) {
  if (std::isnan(x)) return x;
  uint64_t b;
  std::memcpy(&b, &x, 8);
  if (p.mantissa_bits < 52) {
    int drop = 52 - p.mantissa_bits;
    uint64_t last = (b >> drop) & 1;
    b += ((uint64_t{1} << (drop - 1)) - 1) + last;
    b &= ~((uint64_t{1} << drop) - 1);
  }
  if (p.exponent_bits < 11) {
    uint64_t sign = b & (uint64_t{1} << 63);
    uint64_t exponent = b & (uint64_t{0x7ff} << 52);
    uint64_t reduced_bias = (uint64_t{1} << (p.exponent_bits - 1)) - 1;
    uint64_t max_exponent = (1023 + reduced_bias) << 52;
    uint64_t min_exponent = (1023 - reduced_bias) << 52;
    if (exponent > max_exponent) {
      b = sign | (uint64_t{0x7ff} << 52);
    } else if (exponent <= min_exponent) {
      b = sign;
    }
  }
  std::memcpy(&x, &b, 8);
  return x;
}

#define RIDGE_UNARY(name, ...)                  \
  struct name {                                 \
    template <typename T>                       \
    static T Apply(T x, const BlockParams& p) { \
      (void)p;                                  \
      return static_cast<T>(__VA_ARGS__);       \
    }                                           \
  };
RIDGE_UNARY(Abs, std::fabs(x))
RIDGE_UNARY(Acos, std::acos(Wide(x)))
RIDGE_UNARY(Acosh, std::acosh(Wide(x)))
RIDGE_UNARY(Asin, std::asin(Wide(x)))
RIDGE_UNARY(Asinh, std::asinh(Wide(x)))
RIDGE_UNARY(Atanh, std::atanh(Wide(x)))
RIDGE_UNARY(Cbrt, std::cbrt(Wide(x)))
RIDGE_UNARY(Ceil, std::ceil(x))
RIDGE_UNARY(Cos, std::cos(x))
RIDGE_UNARY(Cosh, std::cosh(Wide(x)))
RIDGE_UNARY(Erf, std::erf(Wide(x)))
RIDGE_UNARY(Exp, std::exp(x))
RIDGE_UNARY(Expm1, std::expm1(Wide(x)))
RIDGE_UNARY(Floor, std::floor(x))
RIDGE_UNARY(Identity, x)
RIDGE_UNARY(Imag, T{0})
RIDGE_UNARY(Log, std::log(x))
RIDGE_UNARY(Log1p, std::log1p(Wide(x)))
RIDGE_UNARY(Logistic, 1 / (1 + std::exp(-Wide(x))))
RIDGE_UNARY(Negate, -x)
RIDGE_UNARY(ReducePrecision, Reduce<T>(x, p))
RIDGE_UNARY(RoundAfz, std::round(x))
RIDGE_UNARY(RoundEven, std::nearbyint(x))
RIDGE_UNARY(Rsqrt, 1 / std::sqrt(Wide(x)))
// Zeros keep their sign, NaN stays.
RIDGE_UNARY(Sign, x > 0 ? T{1} : x < 0 ? T{-1} : x)
RIDGE_UNARY(Sin, std::sin(x))
RIDGE_UNARY(Sinh, std::sinh(Wide(x)))
RIDGE_UNARY(Sqrt, std::sqrt(x))
RIDGE_UNARY(Tan, std::tan(Wide(x)))
#undef RIDGE_UNARY

struct Tanh {
  static float Apply(float x, const BlockParams&) { return FastTanh(x); }
  static double Apply(double x, const BlockParams&) { return std::tanh(x); }
};
struct IsFinite {
  template <typename T>
  static uint8_t Apply(T x, const BlockParams&) {
    return std::isfinite(x);
  }
};

#define RIDGE_BINARY(name, ...)                      \
  struct name {                                      \
    template <typename T>                            \
    static T Apply(T x, T y, const BlockParams& p) { \
      (void)p;                                       \
      return static_cast<T>(__VA_ARGS__);            \
    }                                                \
  };
RIDGE_BINARY(Add, x + y)
RIDGE_BINARY(Atan2, std::atan2(Wide(x), Wide(y)))
RIDGE_BINARY(Divide, x / y)
// NaN in either operand gives NaN. Of two zeros, either.
RIDGE_BINARY(Maximum, x > y || x != x ? x : y)
RIDGE_BINARY(Minimum, x < y || x != x ? x : y)
RIDGE_BINARY(Multiply, x* y)
RIDGE_BINARY(Power, std::pow(x, y))
// The sign is the dividend's, as with fmod.
RIDGE_BINARY(Remainder, std::fmod(x, y))
RIDGE_BINARY(Subtract, x - y)
#undef RIDGE_BINARY

struct Clamp {
  template <typename T>
  static T Apply(T lo, T x, T hi, const BlockParams& p) {
    return Minimum::Apply<T>(hi, Maximum::Apply<T>(lo, x, p), p);
  }
};

template <typename Op>
LaneTable Unary() {
  LaneTable t;
  t.fn[static_cast<int>(Lane::kF32)] = UnaryLoop<Op, float, float>;
  t.fn[static_cast<int>(Lane::kF64)] = UnaryLoop<Op, double, double>;
  return t;
}
template <typename Op>
LaneTable Binary() {
  LaneTable t;
  t.fn[static_cast<int>(Lane::kF32)] = BinaryLoop<Op, float, float>;
  t.fn[static_cast<int>(Lane::kF64)] = BinaryLoop<Op, double, double>;
  return t;
}
LaneTable IsFiniteRow() {
  LaneTable t;
  t.fn[static_cast<int>(Lane::kF32)] = UnaryLoop<IsFinite, float, uint8_t>;
  t.fn[static_cast<int>(Lane::kF64)] = UnaryLoop<IsFinite, double, uint8_t>;
  return t;
}
LaneTable ClampRow() {
  LaneTable t;
  t.fn[static_cast<int>(Lane::kF32)] = TernaryLoop<Clamp, float>;
  t.fn[static_cast<int>(Lane::kF64)] = TernaryLoop<Clamp, double>;
  return t;
}
// Operands: real parts, imaginary parts.
template <typename T>
void MakeComplex(const BlockParams&, const void* const* in, void* out,
                 int64_t n) {
  const T* re = static_cast<const T*>(in[0]);
  const T* im = static_cast<const T*>(in[1]);
  std::complex<T>* o = static_cast<std::complex<T>*>(out);
  for (int64_t i = 0; i < n; ++i) o[i] = std::complex<T>(re[i], im[i]);
}
LaneTable ComplexFromPartsRow() {
  LaneTable t;
  t.fn[static_cast<int>(Lane::kF32)] = MakeComplex<float>;
  t.fn[static_cast<int>(Lane::kF64)] = MakeComplex<double>;
  return t;
}

}  // namespace

LaneTable FloatRow(Opcode opcode) {
  switch (opcode) {
#define V(op, functor) \
  case Opcode::op:     \
    return Unary<functor>();
    V(kAbs, Abs)
    V(kAcos, Acos)
    V(kAcosh, Acosh)
    V(kAsin, Asin)
    V(kAsinh, Asinh)
    V(kAtanh, Atanh)
    V(kCbrt, Cbrt)
    V(kCeil, Ceil)
    V(kCosine, Cos)
    V(kCosh, Cosh)
    V(kErf, Erf)
    V(kExp, Exp)
    V(kExpm1, Expm1)
    V(kFloor, Floor)
    V(kImag, Imag)
    V(kLog, Log)
    V(kLog1p, Log1p)
    V(kLogistic, Logistic)
    V(kNegate, Negate)
    V(kReal, Identity)
    V(kReducePrecision, ReducePrecision)
    V(kRoundNearestAfz, RoundAfz)
    V(kRoundNearestEven, RoundEven)
    V(kRsqrt, Rsqrt)
    V(kSign, Sign)
    V(kSine, Sin)
    V(kSinh, Sinh)
    V(kSqrt, Sqrt)
    V(kTan, Tan)
    V(kTanh, Tanh)
#undef V
#define V(op, functor) \
  case Opcode::op:     \
    return Binary<functor>();
    V(kAdd, Add)
    V(kAtan2, Atan2)
    V(kDivide, Divide)
    V(kMaximum, Maximum)
    V(kMinimum, Minimum)
    V(kMultiply, Multiply)
    V(kPower, Power)
    V(kRemainder, Remainder)
    V(kSubtract, Subtract)
#undef V
    case Opcode::kIsFinite:
      return IsFiniteRow();
    case Opcode::kClamp:
      return ClampRow();
    case Opcode::kComplex:
      return ComplexFromPartsRow();
    default:
      return {};
  }
}

}  // namespace block
}  // namespace ridge
