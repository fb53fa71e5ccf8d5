// Matrix products over literals of accumulator types.
#ifndef RIDGE_HLO_EVALUATOR_DOT_H_
#define RIDGE_HLO_EVALUATOR_DOT_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/evaluator/context.h"

namespace ridge {
namespace eval {

// The type to accumulate products of these in: f64 for floats and for integers
// whose sums double holds exactly (16 bits and fewer), s64 for wider integers
// (which wraps), c128 for complex.
ElementType ProductType(ElementType lhs, ElementType rhs);
// `in` in its product type.
Literal AsProduct(const Literal& in, ElementType type);
// As ConvertTo, for sums of products: integers wrap instead of saturating.
Literal FromProduct(const Literal& product, const Shape& shape);

// OK if the dimension numbers are in range, named once and of equal sizes.
absl::Status CheckDotNumbers(const Shape& l, const Shape& r,
                             absl::Span<const int64_t> lhs_contracting,
                             absl::Span<const int64_t> rhs_contracting,
                             absl::Span<const int64_t> lhs_batch,
                             absl::Span<const int64_t> rhs_batch);

// Dot of two literals that have one ProductType: result dimensions are batch,
// lhs free, rhs free. The dimension numbers are checked.
absl::StatusOr<Literal> DotProduct(const Interpreter& interpreter,
                                   const Literal& lhs, const Literal& rhs,
                                   absl::Span<const int64_t> lhs_contracting,
                                   absl::Span<const int64_t> rhs_contracting,
                                   absl::Span<const int64_t> lhs_batch,
                                   absl::Span<const int64_t> rhs_batch);

// A dot's sums in the type of its result, if they have its dimensions.
absl::StatusOr<Literal> FinishDot(const Op& op, const Literal& product);

// c[b] (m x n) = a[b] (m x k) * b[b] (k x n), all of one product type. `a` and
// `b` are row-major unless said to be transposed (stored k x m, n x k).
struct MatrixShape {
  int64_t batch = 1;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  bool lhs_transposed = false;
  bool rhs_transposed = false;
};
void BatchedMatmul(const Interpreter& interpreter, ElementType type,
                   const MatrixShape& shape, const void* a, const void* b,
                   void* c);

}  // namespace eval
}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_DOT_H_
