// Elementwise kernels of the complex lanes. The arithmetic is in double, so
// that c64 results are rounded once.
#include <cmath>
#include <complex>

#include "hlo/evaluator/block.h"
#include "hlo/evaluator/block_loops.h"

namespace ridge {
namespace block {
namespace {

using Z = std::complex<double>;

Z Expm1(Z z) {
  // e^x cos y - 1 = expm1(x) cos y - 2 sin^2(y/2), which does not cancel.
  double s = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * s * s,
          std::exp(z.real()) * std::sin(z.imag())};
}
Z Log1p(Z z) {
  // |1+z|^2 - 1 = x(2+x) + y^2.
  double x = z.real();
  double y = z.imag();
  return {std::log1p(x * (2 + x) + y * y) / 2, std::atan2(y, 1 + x)};
}
Z Sign(Z z) {
  double a = std::abs(z);
  return a == 0 ? z : z / a;
}
// As C99's Annex G has it: infinite over finite is infinite, finite over
// infinite is zero, and no overflow where the quotient does not.
Z Divide(Z a, Z b) { return a / b; }
Z Multiply(Z a, Z b) {
  return {a.real() * b.real() - a.imag() * b.imag(),
          a.real() * b.imag() + a.imag() * b.real()};
}
Z Cbrt(Z z) { return z == Z(0) ? z : std::pow(z, 1.0 / 3); }
Z Power(Z a, Z b) {
  if (a == Z(0)) return b == Z(0) ? Z(1) : Z(0);
  return std::pow(a, b);
}

#define RIDGE_Z_UNARY(name, ...)                  \
  struct name##Op {                               \
    template <typename C>                         \
    static C Apply(C value, const BlockParams&) { \
      Z z(value);                                 \
      return C(__VA_ARGS__);                      \
    }                                             \
  };
RIDGE_Z_UNARY(Acos, std::acos(z))
RIDGE_Z_UNARY(Acosh, std::acosh(z))
RIDGE_Z_UNARY(Asin, std::asin(z))
RIDGE_Z_UNARY(Asinh, std::asinh(z))
RIDGE_Z_UNARY(Atanh, std::atanh(z))
RIDGE_Z_UNARY(Cbrt, Cbrt(z))
RIDGE_Z_UNARY(Cos, std::cos(z))
RIDGE_Z_UNARY(Cosh, std::cosh(z))
RIDGE_Z_UNARY(Exp, std::exp(z))
RIDGE_Z_UNARY(Expm1, Expm1(z))
RIDGE_Z_UNARY(Log, std::log(z))
RIDGE_Z_UNARY(Log1p, Log1p(z))
RIDGE_Z_UNARY(Logistic, Divide(Z(1), Z(1) + std::exp(-z)))
RIDGE_Z_UNARY(Negate, -z)
RIDGE_Z_UNARY(Rsqrt, Divide(Z(1), std::sqrt(z)))
RIDGE_Z_UNARY(Sign, Sign(z))
RIDGE_Z_UNARY(Sin, std::sin(z))
RIDGE_Z_UNARY(Sinh, std::sinh(z))
RIDGE_Z_UNARY(Sqrt, std::sqrt(z))
RIDGE_Z_UNARY(Tan, std::tan(z))
RIDGE_Z_UNARY(Tanh, std::tanh(z))
#undef RIDGE_Z_UNARY

#define RIDGE_Z_BINARY(name, ...)                  \
  struct name##Op {                                \
    template <typename C>                          \
    static C Apply(C x, C y, const BlockParams&) { \
      Z a(x);                                      \
      Z b(y);                                      \
      return C(__VA_ARGS__);                       \
    }                                              \
  };
RIDGE_Z_BINARY(Add, a + b)
RIDGE_Z_BINARY(Divide, Divide(a, b))
RIDGE_Z_BINARY(Multiply, Multiply(a, b))
RIDGE_Z_BINARY(Power, Power(a, b))
RIDGE_Z_BINARY(Subtract, a - b)
#undef RIDGE_Z_BINARY

#define RIDGE_Z_PART(name, ...)                                    \
  struct name##Op {                                                \
    template <typename C>                                          \
    static typename C::value_type Apply(C z, const BlockParams&) { \
      return static_cast<typename C::value_type>(__VA_ARGS__);     \
    }                                                              \
  };
RIDGE_Z_PART(Abs, std::abs(Z(z)))
RIDGE_Z_PART(Real, z.real())
RIDGE_Z_PART(Imag, z.imag())
#undef RIDGE_Z_PART

struct IsFiniteOp {
  template <typename C>
  static uint8_t Apply(C z, const BlockParams&) {
    return std::isfinite(z.real()) && std::isfinite(z.imag());
  }
};

using C64 = std::complex<float>;

template <BlockFn kC64Fn, BlockFn kC128Fn>
LaneTable Row() {
  LaneTable t;
  t.fn[static_cast<int>(Lane::kC64)] = kC64Fn;
  t.fn[static_cast<int>(Lane::kC128)] = kC128Fn;
  return t;
}

}  // namespace

LaneTable ComplexRow(Opcode opcode) {
  switch (opcode) {
#define V(op, name) \
  case Opcode::op:  \
    return Row<UnaryLoop<name##Op, C64, C64>, UnaryLoop<name##Op, Z, Z>>();
    V(kAcos, Acos)
    V(kAcosh, Acosh)
    V(kAsin, Asin)
    V(kAsinh, Asinh)
    V(kAtanh, Atanh)
    V(kCbrt, Cbrt)
    V(kCosine, Cos)
    V(kCosh, Cosh)
    V(kExp, Exp)
    V(kExpm1, Expm1)
    V(kLog, Log)
    V(kLog1p, Log1p)
    V(kLogistic, Logistic)
    V(kNegate, Negate)
    V(kRsqrt, Rsqrt)
    V(kSign, Sign)
    V(kSine, Sin)
    V(kSinh, Sinh)
    V(kSqrt, Sqrt)
    V(kTan, Tan)
    V(kTanh, Tanh)
#undef V
#define V(op, name) \
  case Opcode::op:  \
    return Row<BinaryLoop<name##Op, C64, C64>, BinaryLoop<name##Op, Z, Z>>();
    V(kAdd, Add)
    V(kDivide, Divide)
    V(kMultiply, Multiply)
    V(kPower, Power)
    V(kSubtract, Subtract)
#undef V
#define V(op, name)                             \
  case Opcode::op:                              \
    return Row<UnaryLoop<name##Op, C64, float>, \
               UnaryLoop<name##Op, Z, double>>();
    V(kAbs, Abs)
    V(kReal, Real)
    V(kImag, Imag)
#undef V
    case Opcode::kIsFinite:
      return Row<UnaryLoop<IsFiniteOp, C64, uint8_t>,
                 UnaryLoop<IsFiniteOp, Z, uint8_t>>();
    default:
      return {};
  }
}

}  // namespace block
}  // namespace ridge
