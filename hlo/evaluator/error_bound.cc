#include "hlo/evaluator/error_bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/error_bound_context.h"

namespace ridge {
namespace eval {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Z = std::complex<double>;

}  // namespace

double SpacingOf(ElementType type) {
  return type == ElementType::kF64 || type == ElementType::kC128 ? 0x1p-52
                                                                 : 0x1p-23;
}

double SumGrowth(int64_t n) {
  return 1 + std::sqrt(static_cast<double>(n)) / 2;
}

Bounded ExactValue(Literal value) {
  Bounded b;
  if (!value.shape().IsTuple()) {
    b.value = std::move(value);
    return b;
  }
  b.tuple = true;
  for (const Literal& e : value.elements()) {
    b.elements.push_back(ExactValue(e));
  }
  return b;
}

Bounded ArrayValue(Literal value, Literal error) {
  Bounded b;
  b.value = std::move(value);
  if (!AllZero(error)) b.error = std::move(error);
  return b;
}

Bounded Unbounded(Literal value) {
  Bounded b;
  if (value.shape().IsTuple()) {
    b.tuple = true;
    for (const Literal& e : value.elements()) {
      b.elements.push_back(Unbounded(e));
    }
    return b;
  }
  if (value.shape().IsArray()) {
    b.error = FullLiteral(Shape::Array(ElementType::kF64, value.shape().dims()),
                          kInfinity);
  }
  b.value = std::move(value);
  return b;
}

Literal ValueTree(const Bounded& b) {
  if (!b.tuple) return b.value;
  std::vector<Literal> elements;
  for (const Bounded& e : b.elements) elements.push_back(ValueTree(e));
  return Literal::Tuple(std::move(elements));
}

Literal ErrorTree(const Bounded& b) {
  if (!b.tuple) {
    return b.value.shape().IsArray() ? ErrorsOf(b) : Literal::Tuple({});
  }
  std::vector<Literal> elements;
  for (const Bounded& e : b.elements) elements.push_back(ErrorTree(e));
  return Literal::Tuple(std::move(elements));
}

Literal ErrorsOf(const Bounded& b) {
  if (b.error.shape().IsArray()) return b.error;
  return Literal::Zeros(
      Shape::Array(ElementType::kF64, b.value.shape().dims()));
}

Literal Wide(const Literal& value) {
  Shape shape = value.shape();
  if (!IsComplex(shape.type())) {
    shape.set_type(ElementType::kF64);
  } else {
    shape.set_type(ElementType::kC128);
  }
  return ConvertTo(value, shape);
}

Literal Magnitudes(const Literal& value) {
  Literal wide = Wide(value);
  if (!IsComplex(value.shape().type())) {
    for (double& x : wide.mutable_data<double>()) x = std::fabs(x);
    return wide;
  }
  Literal out =
      Literal::Zeros(Shape::Array(ElementType::kF64, value.shape().dims()));
  absl::Span<double> d = out.mutable_data<double>();
  absl::Span<const Z> z = wide.data<Z>();
  for (size_t i = 0; i < d.size(); ++i) d[i] = std::abs(z[i]);
  return out;
}

void AddTo(const Literal& more, Literal* errors) { AddScaled(1, more, errors); }

void AddScaled(double factor, const Literal& more, Literal* errors) {
  absl::Span<double> e = errors->mutable_data<double>();
  absl::Span<const double> m = more.data<double>();
  for (size_t i = 0; i < e.size(); ++i) {
    // 0 * inf would be NaN: no part of an unbounded error is bounded.
    if (m[i] != 0) e[i] += factor * m[i];
  }
}

bool AllZero(const Literal& errors) {
  for (double e : errors.data<double>()) {
    if (e != 0) return false;
  }
  return true;
}

std::vector<Literal> Values(const BoundOp& op) {
  std::vector<Literal> values;
  for (const Bounded* b : op.operands) values.push_back(ValueTree(*b));
  return values;
}

namespace {

absl::StatusOr<Literal> RunHandler(Interpreter& interpreter, const BoundOp& op,
                                   const Shape& shape,
                                   std::vector<Literal> operands) {
  std::vector<Literal*> pointers;
  for (Literal& l : operands) pointers.push_back(&l);
  Op plain{interpreter, op.instruction, shape, pointers, /*owned=*/0};
  return op.handler(plain);
}

}  // namespace

absl::StatusOr<Literal> RunTyped(const BoundOp& op,
                                 std::vector<Literal> operands) {
  return RunHandler(op.context.typed(), op, op.shape, std::move(operands));
}

absl::StatusOr<Literal> RunWide(const BoundOp& op,
                                std::vector<Literal> operands) {
  for (Literal& l : operands) l = ConvertTo(l, ToF64(l.shape()));
  return RunHandler(op.context.wide(), op, ToF64(op.shape),
                    std::move(operands));
}

Literal RoundedError(const Literal& value, const Literal& center,
                     const Literal& slack) {
  Literal error =
      Literal::Zeros(Shape::Array(ElementType::kF64, value.shape().dims()));
  absl::Span<double> e = error.mutable_data<double>();
  absl::Span<const double> s = slack.data<double>();
  Literal v = Wide(value);
  if (IsComplex(value.shape().type())) {
    absl::Span<const Z> c = center.data<Z>();
    absl::Span<const Z> w = v.data<Z>();
    const double u = SpacingOf(value.shape().type());
    for (size_t i = 0; i < e.size(); ++i) {
      e[i] = s[i] == 0 ? 0 : s[i] + u * std::abs(w[i]) + std::abs(c[i] - w[i]);
      if (std::isnan(e[i])) e[i] = kInfinity;
    }
    return error;
  }
  Literal ends[2] = {center, center};
  for (int side = 0; side < 2; ++side) {
    absl::Span<double> d = ends[side].mutable_data<double>();
    for (size_t i = 0; i < d.size(); ++i) d[i] += side == 0 ? -s[i] : s[i];
    ends[side] = Wide(ConvertTo(ends[side], value.shape()));
  }
  absl::Span<const double> lo = ends[0].data<double>();
  absl::Span<const double> hi = ends[1].data<double>();
  absl::Span<const double> w = v.data<double>();
  absl::Span<const double> c = center.data<double>();
  for (size_t i = 0; i < e.size(); ++i) {
    if (s[i] == 0) {
      // No slack: the value itself is what every implementation gets.
      e[i] = 0;
    } else if (std::isnan(c[i]) && std::isfinite(s[i])) {
      e[i] = 0;
    } else if (lo[i] == w[i] && hi[i] == w[i]) {
      e[i] = 0;
    } else {
      e[i] = std::max(std::fabs(hi[i] - w[i]), std::fabs(w[i] - lo[i]));
      if (std::isnan(e[i])) e[i] = kInfinity;
    }
  }
  return error;
}

void BoundInterpreter::Note(const Instruction& instruction,
                            absl::string_view reason) {
  if (!noted_.insert(&instruction).second) return;
  notes_.push_back(absl::StrCat(Where(instruction), ": ", reason));
}

}  // namespace eval

absl::StatusOr<BoundedValue> EvaluateWithBounds(
    const Module& module, absl::Span<const Literal> arguments,
    const BoundOptions& options) {
  if (options.evaluation.precision != EvalPrecision::kAsTyped) {
    return absl::InvalidArgumentError(
        "error bounds are those of an evaluation in the written types");
  }
  if (module.entry() == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("module ", module.name(), " has no entry computation"));
  }
  RIDGE_RETURN_IF_ERROR(CheckArguments(*module.entry(), arguments));
  eval::BoundInterpreter interpreter(options);
  std::vector<eval::Bounded> values;
  for (const Literal& a : arguments) values.push_back(eval::ExactValue(a));
  RIDGE_ASSIGN_OR_RETURN(eval::Bounded result,
                         interpreter.Run(*module.entry(), std::move(values)));
  return BoundedValue{eval::ValueTree(result), eval::ErrorTree(result),
                      interpreter.TakeNotes()};
}

}  // namespace ridge
