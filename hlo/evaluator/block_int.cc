// Elementwise kernels of the integer and pred lanes.
//
// Corner cases are XLA's: division by zero gives all ones, remainder by zero
// the dividend; the smallest value over -1 is itself, remainder 0; a shift by
// the width or more (the amount read as unsigned) gives 0, or the sign.
// Arithmetic wraps; narrow types wrap when the lanes are rounded.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "hlo/evaluator/block.h"
#include "hlo/evaluator/block_loops.h"

namespace ridge {
namespace block {
namespace {

template <typename T>
using U = std::make_unsigned_t<T>;

template <typename T>
U<T> WidthMask(const BlockParams& p) {
  return static_cast<U<T>>(~U<T>{0}) >> (8 * sizeof(T) - p.bits);
}

template <typename T>
T DivideInt(T x, T y) {
  if (y == 0) return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return static_cast<T>(U<T>{0} - static_cast<U<T>>(x));
  }
  return x / y;
}
template <typename T>
T RemainderInt(T x, T y) {
  if (y == 0) return x;
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return 0;
  }
  return x % y;
}
template <typename T>
T PowerInt(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == -1) return (exponent & 1) != 0 ? -1 : 1;
      return 0;
    }
  }
  U<T> b = static_cast<U<T>>(base);
  U<T> result = 1;
  for (U<T> e = static_cast<U<T>>(exponent); e != 0; e >>= 1) {
    if ((e & 1) != 0) result *= b;
    b *= b;
  }
  return static_cast<T>(result);
}
template <typename T>
bool ShiftsOut(T amount, const BlockParams& p) {
  return (static_cast<U<T>>(amount) & WidthMask<T>(p)) >=
         static_cast<U<T>>(p.bits);
}

#define RIDGE_INT_BINARY(name, ...)                  \
  struct name {                                      \
    template <typename T>                            \
    static T Apply(T x, T y, const BlockParams& p) { \
      (void)p;                                       \
      return static_cast<T>(__VA_ARGS__);            \
    }                                                \
  };
RIDGE_INT_BINARY(Add, static_cast<U<T>>(x) + static_cast<U<T>>(y))
RIDGE_INT_BINARY(And, x& y)
RIDGE_INT_BINARY(Divide, DivideInt(x, y))
RIDGE_INT_BINARY(Maximum, std::max(x, y))
RIDGE_INT_BINARY(Minimum, std::min(x, y))
RIDGE_INT_BINARY(Multiply, static_cast<U<T>>(x) * static_cast<U<T>>(y))
RIDGE_INT_BINARY(Or, x | y)
RIDGE_INT_BINARY(Power, PowerInt(x, y))
RIDGE_INT_BINARY(Remainder, RemainderInt(x, y))
RIDGE_INT_BINARY(ShiftLeft,
                 ShiftsOut(y, p) ? U<T>{0} : static_cast<U<T>>(x) << y)
RIDGE_INT_BINARY(ShiftRightArithmetic,
                 static_cast<std::make_signed_t<T>>(
                     static_cast<U<T>>(x) << (8 * sizeof(T) - p.bits)) >>
                     (8 * sizeof(T) - p.bits) >>
                     (ShiftsOut(y, p) ? p.bits - 1 : static_cast<int>(y)))
RIDGE_INT_BINARY(ShiftRightLogical,
                 ShiftsOut(y, p)
                     ? U<T>{0}
                     : (static_cast<U<T>>(x) & WidthMask<T>(p)) >> y)
RIDGE_INT_BINARY(Subtract, static_cast<U<T>>(x) - static_cast<U<T>>(y))
RIDGE_INT_BINARY(Xor, x ^ y)
#undef RIDGE_INT_BINARY

#define RIDGE_INT_UNARY(name, ...)              \
  struct name {                                 \
    template <typename T>                       \
    static T Apply(T x, const BlockParams& p) { \
      (void)p;                                  \
      return static_cast<T>(__VA_ARGS__);       \
    }                                           \
  };
RIDGE_INT_UNARY(Abs,
                x < 0 ? U<T>{0} - static_cast<U<T>>(x) : static_cast<U<T>>(x))
RIDGE_INT_UNARY(CountLeadingZeros,
                (static_cast<U<T>>(x) & WidthMask<T>(p)) == 0
                    ? p.bits
                    : __builtin_clzll(static_cast<U<T>>(x) & WidthMask<T>(p)) -
                          (64 - p.bits))
RIDGE_INT_UNARY(Identity, x)
RIDGE_INT_UNARY(Negate, U<T>{0} - static_cast<U<T>>(x))
RIDGE_INT_UNARY(Not, ~x)
RIDGE_INT_UNARY(PopulationCount,
                __builtin_popcountll(static_cast<U<T>>(x) & WidthMask<T>(p)))
RIDGE_INT_UNARY(PredNot, !x)
RIDGE_INT_UNARY(Sign, x > 0 ? 1 : x < 0 ? -1 : 0)
#undef RIDGE_INT_UNARY

struct Clamp {
  template <typename T>
  static T Apply(T lo, T x, T hi, const BlockParams&) {
    return std::min(hi, std::max(lo, x));
  }
};
struct IsFinite {
  template <typename T>
  static uint8_t Apply(T, const BlockParams&) {
    return 1;
  }
};

template <typename IntOp, typename PredOp>
LaneTable Binary() {
  LaneTable t;
  if constexpr (!std::is_void_v<PredOp>) {
    t.fn[static_cast<int>(Lane::kPred)] = BinaryLoop<PredOp, uint8_t, uint8_t>;
  }
  t.fn[static_cast<int>(Lane::kS32)] = BinaryLoop<IntOp, int32_t, int32_t>;
  t.fn[static_cast<int>(Lane::kU32)] = BinaryLoop<IntOp, uint32_t, uint32_t>;
  t.fn[static_cast<int>(Lane::kS64)] = BinaryLoop<IntOp, int64_t, int64_t>;
  t.fn[static_cast<int>(Lane::kU64)] = BinaryLoop<IntOp, uint64_t, uint64_t>;
  return t;
}
template <typename IntOp, typename PredOp>
LaneTable Unary() {
  LaneTable t;
  if constexpr (!std::is_void_v<PredOp>) {
    t.fn[static_cast<int>(Lane::kPred)] = UnaryLoop<PredOp, uint8_t, uint8_t>;
  }
  t.fn[static_cast<int>(Lane::kS32)] = UnaryLoop<IntOp, int32_t, int32_t>;
  t.fn[static_cast<int>(Lane::kU32)] = UnaryLoop<IntOp, uint32_t, uint32_t>;
  t.fn[static_cast<int>(Lane::kS64)] = UnaryLoop<IntOp, int64_t, int64_t>;
  t.fn[static_cast<int>(Lane::kU64)] = UnaryLoop<IntOp, uint64_t, uint64_t>;
  return t;
}
LaneTable ClampRow() {
  LaneTable t;
  t.fn[static_cast<int>(Lane::kPred)] = TernaryLoop<Clamp, uint8_t>;
  t.fn[static_cast<int>(Lane::kS32)] = TernaryLoop<Clamp, int32_t>;
  t.fn[static_cast<int>(Lane::kU32)] = TernaryLoop<Clamp, uint32_t>;
  t.fn[static_cast<int>(Lane::kS64)] = TernaryLoop<Clamp, int64_t>;
  t.fn[static_cast<int>(Lane::kU64)] = TernaryLoop<Clamp, uint64_t>;
  return t;
}
LaneTable IsFiniteRow() {
  LaneTable t;
  t.fn[static_cast<int>(Lane::kS32)] = UnaryLoop<IsFinite, int32_t, uint8_t>;
  t.fn[static_cast<int>(Lane::kU32)] = UnaryLoop<IsFinite, uint32_t, uint8_t>;
  t.fn[static_cast<int>(Lane::kS64)] = UnaryLoop<IsFinite, int64_t, uint8_t>;
  t.fn[static_cast<int>(Lane::kU64)] = UnaryLoop<IsFinite, uint64_t, uint8_t>;
  return t;
}

}  // namespace

LaneTable IntRow(Opcode opcode) {
  switch (opcode) {
#define V(op, functor, pred) \
  case Opcode::op:           \
    return Binary<functor, pred>();
    V(kAdd, Add, Or)
    V(kAnd, And, And)
    V(kDivide, Divide, void)
    V(kMaximum, Maximum, Or)
    V(kMinimum, Minimum, And)
    V(kMultiply, Multiply, And)
    V(kOr, Or, Or)
    V(kPower, Power, void)
    V(kRemainder, Remainder, void)
    V(kShiftLeft, ShiftLeft, void)
    V(kShiftRightArithmetic, ShiftRightArithmetic, void)
    V(kShiftRightLogical, ShiftRightLogical, void)
    V(kSubtract, Subtract, Xor)
    V(kXor, Xor, Xor)
#undef V
#define V(op, functor, pred) \
  case Opcode::op:           \
    return Unary<functor, pred>();
    V(kAbs, Abs, void)
    V(kCountLeadingZeros, CountLeadingZeros, void)
    V(kNegate, Negate, void)
    V(kNot, Not, PredNot)
    V(kPopulationCount, PopulationCount, Identity)
    V(kReal, Identity, Identity)
    V(kSign, Sign, Identity)
#undef V
    case Opcode::kClamp:
      return ClampRow();
    case Opcode::kIsFinite:
      return IsFiniteRow();
    default:
      return {};
  }
}

}  // namespace block
}  // namespace ridge
