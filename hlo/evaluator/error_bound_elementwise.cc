// Error rules of elementwise opcodes and of those that move elements.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "hlo/base/status_macros.h"
#include "hlo/evaluator/elementwise.h"
#include "hlo/evaluator/error_bound_context.h"
#include "hlo/evaluator/strided.h"

namespace ridge {
namespace eval {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Z = std::complex<double>;

// How far two implementations of an opcode on equal operands may lie apart, in
// units of the spacing u at the result. 0: IEEE 754 prescribes the result.
// Multiplication has 1 because a product that is only added is often not
// rounded (fused multiply-add); f16 and bf16 products are exact in f32, and the
// rounding to their type stays. Division and roots are approximate on GPUs
// (CUDA C++ Programming Guide, table of maximum ULP errors). Transcendental
// functions: the error of the C library's float version is below 1; XLA's
// polynomials and CUDA's libdevice stay within these, as its table says and
// stored outputs confirm.
double OwnError(Opcode opcode) {
  switch (opcode) {
    case Opcode::kMultiply:
      return 1;
    case Opcode::kDivide:
    case Opcode::kSqrt:
      return 2;
    case Opcode::kAbs:  // of complex
    case Opcode::kCbrt:
    case Opcode::kCosine:
    case Opcode::kExp:
    case Opcode::kLog:
    case Opcode::kRsqrt:
    case Opcode::kSign:  // of complex
    case Opcode::kSine:
      return 4;
    case Opcode::kAtan2:
    case Opcode::kCosh:
    case Opcode::kExpm1:
    case Opcode::kLog1p:
    case Opcode::kLogistic:
    case Opcode::kSinh:
    case Opcode::kTan:
    case Opcode::kTanh:
      return 8;
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAsin:
    case Opcode::kAsinh:
    case Opcode::kAtanh:
    case Opcode::kErf:
    case Opcode::kPower:
      return 16;
    default:
      return 0;
  }
}

// Subnormal results may be flushed to zero: by XLA on CPU, by GPUs.
double FlushBelow(ElementType type) {
  switch (type) {
    case ElementType::kF64:
    case ElementType::kC128:
      return 0x1p-1022;
    default:
      return 0x1p-126;
  }
}

BlockParams ParamsOf(const BoundOp& op) {
  BlockParams p;
  p.exponent_bits =
      static_cast<int>(op.instruction.int_attr(AttrId::kExponentBits, 8));
  p.mantissa_bits =
      static_cast<int>(op.instruction.int_attr(AttrId::kMantissaBits, 23));
  p.bits = 64;
  p.from = ElementType::kF64;
  p.to = ElementType::kF64;
  return p;
}

// The kernel on double lanes, whatever the operands' types; null if none.
BlockFn RealKernel(const BoundOp& op, BlockParams* params) {
  *params = ParamsOf(op);
  switch (op.instruction.opcode()) {
    case Opcode::kCompare: {
      bool total = op.instruction.enum_attr(AttrId::kComparisonType,
                                            ComparisonOrder::kFloat) ==
                   ComparisonOrder::kTotalOrder;
      return FindCompareFn(op.instruction.enum_attr(AttrId::kDirection,
                                                    ComparisonDirection::kEq),
                           total, Lane::kF64);
    }
    case Opcode::kConvert:
    case Opcode::kCopy:
      return FindBlockFn(Opcode::kReal, Lane::kF64);  // the identity
    default:
      return FindBlockFn(op.instruction.opcode(), Lane::kF64);
  }
}

// One operand in double, with its errors if it has any.
struct Term {
  Literal wide;
  Literal error;
  bool splat;
  bool exact;
  double x(int64_t i) const { return wide.data<double>()[splat ? 0 : i]; }
  double e(int64_t i) const {
    return exact ? 0 : error.data<double>()[splat ? 0 : i];
  }
};

std::vector<Term> Terms(const BoundOp& op, int64_t n) {
  std::vector<Term> terms;
  for (const Bounded* b : op.operands) {
    Term t;
    t.wide = Wide(b->value);
    t.exact = b->exact();
    if (!t.exact) t.error = b->error;
    t.splat = n > 1 && b->value.shape().ElementCount() == 1;
    terms.push_back(std::move(t));
  }
  return terms;
}

// How far results between the corners may lie outside those at the corners.
double BetweenCorners(Opcode opcode, const std::vector<Term>& terms,
                      int64_t i) {
  switch (opcode) {
    case Opcode::kSine:
    case Opcode::kCosine: {
      const double e = terms[0].e(i);
      return std::min(2.0, e * e / 2);  // an extremum
    }
    case Opcode::kRemainder: {
      // It jumps by the divisor where the quotient passes an integer.
      const double x = terms[0].x(i);
      const double ex = terms[0].e(i);
      const double y = std::fabs(terms[1].x(i));
      const double ey = terms[1].e(i);
      if (ex == 0 && ey == 0) return 0;
      if (ey >= y) return kInfinity;
      const bool jumps =
          ey > 0 || std::trunc((x - ex) / y) != std::trunc((x + ex) / y);
      return jumps ? 2 * (y + ey) : 0;
    }
    default:
      return 0;
  }
}

// 1 / 0 and 1 / -0 are far apart.
bool TellsZerosApart(const BoundOp& op) {
  switch (op.instruction.opcode()) {
    case Opcode::kAtan2:
    case Opcode::kPower:
    case Opcode::kRsqrt:
      return true;
    case Opcode::kDivide:
      return op.in(1).open_zeros;
    case Opcode::kCompare:
      return op.instruction.enum_attr(AttrId::kComparisonType,
                                      ComparisonOrder::kFloat) ==
             ComparisonOrder::kTotalOrder;
    default:
      return false;
  }
}

absl::StatusOr<Bounded> BoundReal(const BoundOp& op, Literal value) {
  const Opcode opcode = op.instruction.opcode();
  BlockParams params;
  BlockFn fn = RealKernel(op, &params);
  const ElementType type = value.shape().type();
  const bool narrow = IsFloat(type) && Info(type).bits < 32;
  double own = OwnError(opcode);
  if (!IsFloat(type) || (narrow && opcode == Opcode::kMultiply) ||
      opcode == Opcode::kAbs || opcode == Opcode::kSign) {
    own = 0;
  }
  const bool exact = op.exact();
  const bool open_zeros = op.open_zeros() && TellsZerosApart(op);
  if (exact && own == 0 && !open_zeros) return ExactValue(std::move(value));
  const int64_t n = value.shape().ElementCount();
  Literal error =
      Literal::Zeros(Shape::Array(ElementType::kF64, value.shape().dims()));
  std::vector<Term> terms = Terms(op, n);
  double* out = error.mutable_data<double>().data();
  if (fn == nullptr) {
    // Bit operations: any doubt in an operand is every doubt in the result.
    for (int64_t i = 0; i < n; ++i) {
      for (const Term& t : terms) {
        if (t.e(i) != 0) out[i] = IsPred(type) ? 1 : kInfinity;
      }
    }
    return ArrayValue(std::move(value), std::move(error));
  }
  const bool to_pred =
      opcode == Opcode::kCompare || opcode == Opcode::kIsFinite;
  const int64_t arity = static_cast<int64_t>(terms.size());
  const double u = own * SpacingOf(type);
  const double flush = IsFloat(type) ? FlushBelow(type) : 0;
  BlockFn to_type = FindConvertFn(ElementType::kF64, type);
  BlockFn from_type = FindConvertFn(type, ElementType::kF64);
  BlockParams to_params;
  to_params.from = ElementType::kF64;
  to_params.to = type;
  BlockParams from_params;
  from_params.from = type;
  from_params.to = ElementType::kF64;
  Literal wide_value = Wide(value);
  const double* v = wide_value.data<double>().data();
  op.context.typed().Parallel(
      0, n, 8 * kBlockElements, [&](int64_t begin, int64_t end) {
        alignas(64) double at[3][kBlockElements];
        alignas(64) double result[kBlockElements];
        alignas(64) double lo[kBlockElements];
        alignas(64) double hi[kBlockElements];
        alignas(64) uint8_t lanes[kBlockBytes];
        uint8_t doubtful[kBlockElements];
        const void* in[3] = {at[0], at[1], at[2]};
        auto evaluate = [&](int64_t m, double* to) {
          if (!to_pred) {
            fn(params, in, to, m);
            return;
          }
          uint8_t pred[kBlockElements];
          fn(params, in, pred, m);
          for (int64_t i = 0; i < m; ++i) to[i] = pred[i];
        };
        for (int64_t b = begin; b < end; b += kBlockElements) {
          const int64_t m = std::min(kBlockElements, end - b);
          std::fill_n(doubtful, m, 0);
          bool first = true;
          // Corner 0 is the value itself, then every combination of signs over
          // the operands that have errors.
          std::vector<int64_t> loose;
          for (int64_t k = 0; k < arity; ++k) {
            if (!terms[k].exact) loose.push_back(k);
          }
          const int64_t corners = int64_t{1} << loose.size();
          for (int64_t c = exact ? corners : 0; c <= corners; ++c) {
            for (int64_t k = 0; k < arity; ++k) {
              for (int64_t i = 0; i < m; ++i) at[k][i] = terms[k].x(b + i);
            }
            if (c < corners) {
              for (size_t l = 0; l < loose.size(); ++l) {
                const Term& t = terms[loose[l]];
                const double sign = ((c >> l) & 1) != 0 ? 1 : -1;
                for (int64_t i = 0; i < m; ++i) {
                  at[loose[l]][i] += sign * t.e(b + i);
                }
              }
            }
            evaluate(m, result);
            for (int64_t i = 0; i < m; ++i) {
              const double r = result[i];
              if (first) {
                lo[i] = hi[i] = r;
              } else if (std::isnan(r) != std::isnan(lo[i])) {
                doubtful[i] = 1;
              } else {
                lo[i] = std::min(lo[i], r);
                hi[i] = std::max(hi[i], r);
              }
            }
            first = false;
          }
          for (int64_t i = 0; i < m; ++i) {
            // `result` now holds the value at the centre.
            double slack = u * std::fabs(result[i]);
            if (std::fabs(result[i]) < flush && result[i] != 0) slack += flush;
            if (!exact) slack += BetweenCorners(opcode, terms, b + i);
            if (slack > 0) {
              lo[i] -= slack;
              hi[i] += slack;
            }
          }
          for (double* side : {lo, hi}) {
            const void* source[1] = {side};
            to_type(to_params, source, lanes, m);
            const void* back[1] = {lanes};
            from_type(from_params, back, side, m);
          }
          for (int64_t i = 0; i < m; ++i) {
            double& e = out[b + i];
            const double w = v[b + i];
            if (doubtful[i] != 0) {
              e = to_pred ? 1 : kInfinity;
            } else if ((std::isnan(lo[i]) && std::isnan(w)) ||
                       (lo[i] == w && hi[i] == w)) {
              e = 0;
            } else {
              e = std::max(std::fabs(hi[i] - w), std::fabs(w - lo[i]));
              if (std::isnan(e)) e = kInfinity;
            }
          }
        }
      });
  for (int64_t i = 0; open_zeros && i < n; ++i) {
    for (int64_t k = 0; k < arity; ++k) {
      if (op.in(k).open_zeros && terms[k].x(i) == 0) {
        out[i] = to_pred ? 1 : kInfinity;
      }
    }
  }
  if (to_pred && !AllZero(error)) {
    op.context.Note(op.instruction,
                    "compares values that lie closer than their error");
  }
  return ArrayValue(std::move(value), std::move(error));
}

// Complex operands or result: each operand is moved by its error along the
// four axes, and the largest changes are added.
absl::StatusOr<Bounded> BoundComplex(const BoundOp& op, Literal value) {
  const Opcode opcode = op.instruction.opcode();
  const ElementType type = value.shape().type();
  if (IsPred(type) || opcode == Opcode::kComplex ||
      opcode == Opcode::kConvert) {
    // |f(x) - f(y)| <= |x - y|, or a comparison.
    if (op.exact()) return ExactValue(std::move(value));
    Literal error =
        Literal::Zeros(Shape::Array(ElementType::kF64, value.shape().dims()));
    for (const Bounded* b : op.operands) AddTo(ErrorsOf(*b), &error);
    if (IsPred(type)) {
      for (double& e : error.mutable_data<double>()) e = e > 0 ? 1 : 0;
    } else if (opcode == Opcode::kConvert) {
      const double u = SpacingOf(type);
      Literal size = Magnitudes(value);
      for (size_t i = 0; i < size.data<double>().size(); ++i) {
        double& e = error.mutable_data<double>()[i];
        if (e > 0) e += u * size.data<double>()[i];
      }
    }
    return ArrayValue(std::move(value), std::move(error));
  }
  BlockFn fn = FindBlockFn(opcode, Lane::kC128);
  if (fn == nullptr) {
    if (op.exact()) return ExactValue(std::move(value));
    return Unbounded(std::move(value));
  }
  const bool exact_parts = opcode == Opcode::kReal || opcode == Opcode::kImag ||
                           opcode == Opcode::kNegate ||
                           opcode == Opcode::kAdd ||
                           opcode == Opcode::kSubtract;
  // Complex functions are composed of several real ones.
  const double own =
      exact_parts ? 0 : 4 * std::max(1.0, OwnError(opcode)) * SpacingOf(type);
  if (op.exact() && own == 0) return ExactValue(std::move(value));
  const int64_t n = value.shape().ElementCount();
  const bool real = !IsComplex(type);
  Literal error =
      Literal::Zeros(Shape::Array(ElementType::kF64, value.shape().dims()));
  double* out = error.mutable_data<double>().data();
  std::vector<Literal> wide;
  for (const Bounded* b : op.operands) wide.push_back(Wide(b->value));
  const BlockParams params;
  auto call = [&](const Z* operands) {
    const void* in[2] = {&operands[0], &operands[1]};
    Z z;
    double x;
    if (real) {
      fn(params, in, &x, 1);
      return Z(x);
    }
    fn(params, in, &z, 1);
    return z;
  };
  for (int64_t i = 0; i < n; ++i) {
    Z x[2];
    for (size_t k = 0; k < wide.size() && k < 2; ++k)
      x[k] = wide[k].data<Z>()[i];
    const Z c = call(x);
    if (op.exact() && !std::isfinite(std::abs(c))) continue;
    double e = own * std::abs(c);
    for (size_t k = 0; k < wide.size() && k < 2; ++k) {
      if (op.in(k).exact()) continue;
      const double d = op.in(k).error.data<double>()[i];
      double most = 0;
      for (Z step : {Z(d), Z(-d), Z(0, d), Z(0, -d)}) {
        Z y[2] = {x[0], x[1]};
        y[k] += step;
        double change = d == 0 ? 0 : std::abs(call(y) - c);
        most = std::max(most, std::isnan(change) ? kInfinity : change);
      }
      // Between the axes a smooth function changes by at most sqrt(2) more.
      e += most * M_SQRT2;
    }
    if (e > 0) e += SpacingOf(type) * std::abs(c);
    out[i] = std::isnan(e) ? (std::isnan(std::abs(c)) ? 0 : kInfinity) : e;
  }
  return ArrayValue(std::move(value), std::move(error));
}

}  // namespace

absl::StatusOr<Bounded> BoundElementwise(const BoundOp& op) {
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  bool complex = IsComplex(value.shape().type());
  for (const Bounded* b : op.operands) {
    complex = complex || IsComplex(b->value.shape().type());
  }
  return complex ? BoundComplex(op, std::move(value))
                 : BoundReal(op, std::move(value));
}

// The chosen operand's error; where the predicate is in doubt, also how far
// the other one is.
absl::StatusOr<Bounded> BoundSelect(const BoundOp& op) {
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  if (op.exact()) return ExactValue(std::move(value));
  if (!value.shape().IsArray()) return Unbounded(std::move(value));
  const int64_t n = value.shape().ElementCount();
  const bool splat = n != 1 && op.in(0).value.shape().ElementCount() == 1;
  Literal error =
      Literal::Zeros(Shape::Array(ElementType::kF64, value.shape().dims()));
  double* e = error.mutable_data<double>().data();
  Literal side[2] = {ErrorsOf(op.in(2)), ErrorsOf(op.in(1))};
  const Literal& pred = op.in(0).value;
  const bool doubt = !op.in(0).exact();
  Literal x[2];
  if (doubt) {
    x[0] = Wide(op.in(2).value);
    x[1] = Wide(op.in(1).value);
  }
  const bool complex = IsComplex(value.shape().type());
  for (int64_t i = 0; i < n; ++i) {
    const int64_t p = splat ? 0 : i;
    const int chosen = pred.data<uint8_t>()[p] != 0 ? 1 : 0;
    e[i] = side[chosen].data<double>()[i];
    if (!doubt || op.in(0).error.data<double>()[p] == 0) continue;
    double gap;
    if (complex) {
      gap = std::abs(x[0].data<Z>()[i] - x[1].data<Z>()[i]);
    } else {
      const double a = x[0].data<double>()[i];
      const double b = x[1].data<double>()[i];
      gap = a == b || (std::isnan(a) && std::isnan(b)) ? 0 : std::fabs(a - b);
    }
    if (std::isnan(gap)) gap = kInfinity;
    e[i] = std::max(e[i], gap + side[1 - chosen].data<double>()[i]);
  }
  return ArrayValue(std::move(value), std::move(error));
}

// Errors move as the values do. Operands that are indices must be exact.
absl::StatusOr<Bounded> BoundMove(const BoundOp& op) {
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  if (op.exact()) return ExactValue(std::move(value));
  const Opcode opcode = op.instruction.opcode();
  // How many operands are data; the others are indices or sizes.
  int64_t data = op.count();
  switch (opcode) {
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicReshape:
    case Opcode::kGather:
    case Opcode::kSetDimensionSize:
      data = 1;
      break;
    case Opcode::kDynamicUpdateSlice:
      data = 2;
      break;
    default:
      break;
  }
  std::vector<Literal> errors;
  for (int64_t k = 0; k < op.count(); ++k) {
    if (k < data) {
      if (op.in(k).tuple) return Unbounded(std::move(value));
      errors.push_back(ErrorsOf(op.in(k)));
    } else {
      if (!op.in(k).exact()) {
        op.context.Note(op.instruction, "an index lies within its error");
        return Unbounded(std::move(value));
      }
      errors.push_back(op.in(k).value);
    }
  }
  if (opcode == Opcode::kBitcast && op.instruction.operand(0)->shape().type() !=
                                        op.instruction.shape().type()) {
    return Unbounded(std::move(value));
  }
  Shape shape = value.shape();
  shape.set_type(ElementType::kF64);
  std::vector<Literal*> pointers;
  for (Literal& l : errors) pointers.push_back(&l);
  Op plain{op.context.typed(), op.instruction, shape, pointers, 0};
  RIDGE_ASSIGN_OR_RETURN(Literal moved, op.handler(plain));
  return ArrayValue(std::move(value), std::move(moved));
}

namespace {

// Bits of operands whose zeros may have either sign.
Bounded BitsOfOpenZeros(const BoundOp& op, Literal value) {
  const Literal& x = op.in(0).value;
  const int64_t n = x.shape().ElementCount();
  const bool one_to_one = value.shape().ElementCount() == n;
  Literal error =
      Literal::Zeros(Shape::Array(ElementType::kF64, value.shape().dims()));
  for (int64_t i = 0; i < n; ++i) {
    if (GetDouble(x, i) != 0) continue;
    if (!one_to_one) return Unbounded(std::move(value));
    error.mutable_data<double>()[i] = kInfinity;
  }
  return ArrayValue(std::move(value), std::move(error));
}

}  // namespace

absl::StatusOr<Bounded> BoundExactOrUnbounded(const BoundOp& op) {
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  if (op.exact() && op.open_zeros() && op.count() == 1 &&
      value.shape().IsArray()) {
    return BitsOfOpenZeros(op, std::move(value));
  }
  if (op.exact()) return ExactValue(std::move(value));
  op.context.Note(op.instruction, "has no error rule for inexact operands");
  return Unbounded(std::move(value));
}

absl::StatusOr<Bounded> BoundRandom(const BoundOp& op) {
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  op.context.Note(op.instruction, "random values are the implementation's own");
  return Unbounded(std::move(value));
}

}  // namespace eval
}  // namespace ridge
