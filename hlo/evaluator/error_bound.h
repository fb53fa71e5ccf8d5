// Running error analysis: how far apart two correct evaluations may lie.
//
// Every correct implementation rounds each instruction to its element type,
// but not every one sums in the same order, contracts a multiply and an add, or
// has the same polynomial for tanh. EvaluateWithBounds evaluates a module and
// carries, element by element, a bound e on the distance between the
// evaluator's value and that of any other implementation, derived as follows.
// u is the spacing of the arithmetic (2^-23 for f32 and every narrower type,
// which all are computed in f32; 2^-52 for f64), v the value, R rounding to
// the instruction's type.
//
//   moved        (slice, gather, transpose ...): e moves along.
//   elementwise  f is evaluated in double at the corners x_i +- e_i; the
//                lowest and highest result, widened by s u |v| for an
//                implementation's own error (s: the table in
//                error_bound_elementwise.cc; 0 for correctly rounded ones), are
//                rounded with R; e is the larger distance from v. So e is 0
//                unless a rounding can really fall the other way; division by
//                small numbers, exp of large ones and cancellation amplify as
//                they do.
//   sums         (reduce, reduce-window, scatter, dot, convolution ...) of n
//                terms: e = R(sum(e_i) + g(n) u sum|x_i|), g(n) = 1 +
//                sqrt(n)/2: each of n partial sums is at most sum|x_i| and is
//                rounded by +-u/2 at random; three deviations of that are below
//                sqrt(n)/2. Scaling with the terms and not the total is what
//                makes cancellation come out right.
//   products     |v| (exp(sum(e_i/|x_i| + u)) - 1)
//   selections   (maximum, sort, argmax, compare, select, round): where
//                operands lie closer than their errors, either outcome is
//                allowed for: a comparison gets e = 1, a sort or argmax the
//                spread of values over the tied positions. Integers, pred and
//                indices are therefore exact unless such a tie is behind them.
//   linear algebra  by probing: the inputs are perturbed by their errors at
//                random, and the largest change is taken four times.
//   rng          no bound (infinite): the values are the implementation's own.
//   zeros        of sums and what is made from them may have either sign;
//                where that shows (bits, division, total order), anything goes.
//
// Loops and branches follow the evaluator's path; a condition that lies within
// its error makes everything that depends on it unbounded.
#ifndef RIDGE_HLO_EVALUATOR_ERROR_BOUND_H_
#define RIDGE_HLO_EVALUATOR_ERROR_BOUND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace ridge {

struct BoundOptions {
  EvalOptions evaluation;  // precision must be kAsTyped
  // Spacing of the numbers that the other side multiplies f32 dots and
  // convolutions in: 2^-10 for TF32.
  double f32_product_spacing = 0x1p-23;
  // Spacing of running sums of types narrower than f32: 2^-23 when they are
  // kept in f32, else that of the type (2^-10 for f16, 2^-7 for bf16), where
  // every partial sum is rounded. HLO allows that: the reducer's result type
  // says so. Products of dots and convolutions in eight bits then are summed in
  // f16.
  bool narrow_sums_in_f32 = true;
};

struct BoundedValue {
  Literal value;  // as Evaluate gives it
  // The same tree; arrays are f64 of the same dimensions. The bound on
  // |other - value| (the modulus for complex); +inf: any value.
  Literal bound;
  // What made elements unbounded or ambiguous: instruction, line and reason.
  std::vector<std::string> notes;
};

// Errors as for Evaluate. Takes some five times its time and memory.
absl::StatusOr<BoundedValue> EvaluateWithBounds(
    const Module& module, absl::Span<const Literal> arguments,
    const BoundOptions& options = {});

}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_ERROR_BOUND_H_
