// Comparing results: how far apart, where, and whether that is too far.
//
//   // Against the evaluator, with per-element bounds (error_bound.h):
//   RIDGE_ASSIGN_OR_RETURN(Comparison c,
//                          CompareWithEvaluator(*module, arguments, got));
//   if (!c.ok) return absl::DataLossError(c.ToString());
//
//   // Two results, where no arguments are at hand:
//   RIDGE_ASSIGN_OR_RETURN(Comparison c,
//                          CompareOutputs(*module, got, expected));
//
// Where the tolerance comes from. With arguments it is the running error
// analysis of hlo/evaluator/error_bound.h: one bound an element. Without, the
// graph alone is walked (StaticTolerances): every instruction gets a relative
// error r, in units of the largest magnitude of its array,
//   parameter, constant, integer work              0
//   moved, compared, selected                      largest r of the operands
//   elementwise                                    amplification * (sum of r)
//                                                  + rounding of the opcode
//   sum or product of n terms                      r + (1 + sqrt(n)/2) u
//   dot, convolution of n terms                    r + r' + (1 + sqrt(n)/2) u
//   result in a type with m mantissa bits          + 2^-m, if anything differs
// where u is the spacing of the arithmetic, 2^-23 or 2^-52, and amplification
// is 1 for everything Lipschitz, 8 for exp and power (arguments up to 8 in
// size). Loops count their body once an iteration (the trip count if the
// condition is `counter < constant`, else 32). An output then has rtol = r and
// atol = r * its largest magnitude: that is coarser than the per-element bound
// and no substitute where outputs nearly cancel.
//
// Integers, pred and indices have to be equal. With arguments, those that
// hang on floats closer than their error (a tie) are excused, element by
// element, and the comparison's notes say why.
#ifndef RIDGE_HLO_EVALUATOR_COMPARE_H_
#define RIDGE_HLO_EVALUATOR_COMPARE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/evaluator/error_bound.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace ridge {

// What one output (a leaf of the result) may differ by.
struct Tolerance {
  // f64 of the output's dimensions, or no array: then
  // absolute + relative * |expected|.
  Literal bound;
  double absolute = 0;
  double relative = 0;
  // `absolute` is to be scaled by the output's largest finite magnitude.
  bool scaled = false;
};
struct Tolerances {
  std::vector<Tolerance> outputs;  // leaves in order
  std::vector<std::string> notes;  // reasons, each with instruction and line
};

// From the graph alone, as above.
Tolerances StaticTolerances(const Module& module);
// From a bounded evaluation.
Tolerances TolerancesOf(const BoundedValue& value);

struct OutputComparison {
  int64_t number = 0;  // of the leaf
  Shape shape;
  double max_abs = 0;  // finite differences only
  double max_rel = 0;  // |got - expected| / |expected|, expected not 0
  // Representable values between them, in the output's type (integers: the
  // difference); saturates.
  int64_t max_ulp = 0;
  int64_t differ = 0;               // elements that are not equal
  int64_t outside = 0;              // elements beyond the tolerance
  int64_t unbounded = 0;            // elements whose tolerance is infinite
  int64_t nan_or_inf_disagree = 0;  // outside, because one is not finite
  // The element furthest beyond (or nearest to) its tolerance.
  std::vector<int64_t> index;
  double got = 0;
  double expected = 0;
  double tolerance = 0;
  bool ok = true;

  // One line.
  std::string ToString() const;
};

struct Comparison {
  bool ok = true;
  std::vector<OutputComparison> outputs;
  std::vector<std::string> notes;
  // A line for each output, then the notes.
  std::string ToString() const;
};

// kInvalidArgument if the trees differ in shape. The element types of
// `expected` may be f64 (c128) where `got` has a narrower float: the result of
// an evaluation in double.
absl::StatusOr<Comparison> CompareWith(const Tolerances& tolerances,
                                       const Literal& got,
                                       const Literal& expected);

// With StaticTolerances.
absl::StatusOr<Comparison> CompareOutputs(const Module& module,
                                          const Literal& got,
                                          const Literal& expected);

// `got` against EvaluateWithBounds on these arguments. Errors of the
// evaluation are returned.
absl::StatusOr<Comparison> CompareWithEvaluator(
    const Module& module, absl::Span<const Literal> arguments,
    const Literal& got, const BoundOptions& options = {});

}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_COMPARE_H_
