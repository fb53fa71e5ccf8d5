// cholesky and triangular-solve, in double.
#include <cmath>
#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include "hlo/base/status_macros.h"
#include "hlo/evaluator/handlers.h"
#include "hlo/evaluator/strided.h"

namespace ridge {
namespace eval {
namespace {

using Z = std::complex<double>;

double Conj(double x) { return x; }
Z Conj(Z x) { return std::conj(x); }

// a (n x n, row-major): its lower triangle becomes L with L L^H = a, what lies
// above becomes zero. NaN throughout where a is not positive definite.
template <typename T>
void CholeskyLower(T* a, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    double d = std::real(a[j * n + j]);
    for (int64_t k = 0; k < j; ++k) d -= std::norm(a[j * n + k]);
    if (!(d > 0)) {
      std::fill_n(a, n * n, T(std::numeric_limits<double>::quiet_NaN()));
      return;
    }
    const double root = std::sqrt(d);
    a[j * n + j] = root;
    for (int64_t i = j + 1; i < n; ++i) {
      T s = a[i * n + j];
      for (int64_t k = 0; k < j; ++k) s -= a[i * n + k] * Conj(a[j * n + k]);
      a[i * n + j] = s / root;
    }
    for (int64_t i = 0; i < j; ++i) a[i * n + j] = T(0);
  }
}

template <typename T>
void Cholesky(T* data, int64_t batch, int64_t n, bool lower) {
  for (int64_t b = 0; b < batch; ++b) {
    T* a = data + b * n * n;
    if (!lower) {
      // U^H U = a from the upper triangle: the lower one of a^H.
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < i; ++j) a[i * n + j] = Conj(a[j * n + i]);
      }
    }
    CholeskyLower(a, n);
    if (!lower) {
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < i; ++j) {
          a[j * n + i] = Conj(a[i * n + j]);
          a[i * n + j] =
              std::isnan(std::real(a[i * n + i])) ? a[i * n + i] : T(0);
        }
      }
    }
  }
}

struct Solve {
  bool left, lower, unit, transpose, conjugate;
  int64_t n;  // order of a
  int64_t m;  // the other dimension of b
};

// op(a) x = b, or x op(a) = b, in place in b.
template <typename T>
void SolveOne(const Solve& s, const T* a, T* b) {
  auto element = [&](int64_t i, int64_t j) -> T {
    T v = s.transpose ? a[j * s.n + i] : a[i * s.n + j];
    return s.conjugate ? Conj(v) : v;
  };
  // x op(a) = b is op(a)^T x^T = b^T.
  auto coefficient = [&](int64_t i, int64_t j) {
    return s.left ? element(i, j) : element(j, i);
  };
  auto rhs = [&](int64_t i, int64_t k) -> T& {
    return s.left ? b[i * s.m + k] : b[k * s.n + i];
  };
  // Transposing swaps the triangle, once for each.
  const bool forward = s.lower != (s.transpose != !s.left);
  for (int64_t step = 0; step < s.n; ++step) {
    const int64_t i = forward ? step : s.n - 1 - step;
    for (int64_t k = 0; k < s.m; ++k) {
      T v = rhs(i, k);
      const int64_t j0 = forward ? 0 : i + 1;
      const int64_t j1 = forward ? i : s.n;
      for (int64_t j = j0; j < j1; ++j) v -= coefficient(i, j) * rhs(j, k);
      rhs(i, k) = s.unit ? v : v / coefficient(i, i);
    }
  }
}

// f64 or c128 copy of the operand; Unsupported for non-float types.
absl::StatusOr<Literal> Widened(const Literal& in) {
  ElementType type = in.shape().type();
  if (!IsFloat(type) && !IsComplex(type)) {
    return Unsupported("of type ", Name(type));
  }
  return ConvertTo(in, ToF64(in.shape()));
}

}  // namespace

absl::StatusOr<Literal> EvalCholesky(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, 1));
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  const Shape& s = op.in(0).shape();
  const int64_t rank = s.rank();
  if (rank < 2 || s.dim(rank - 1) != s.dim(rank - 2) || !s.SameDims(op.shape)) {
    return Invalid("of ", s.ToString(), ", which is not square");
  }
  RIDGE_ASSIGN_OR_RETURN(Literal work, Widened(op.in(0)));
  const int64_t n = s.dim(rank - 1);
  const int64_t batch = n == 0 ? 0 : s.ElementCount() / (n * n);
  const bool lower = op.instruction.bool_attr(AttrId::kLower, false);
  if (IsComplex(s.type())) {
    Cholesky(work.mutable_data<Z>().data(), batch, n, lower);
  } else {
    Cholesky(work.mutable_data<double>().data(), batch, n, lower);
  }
  return ConvertTo(work, op.shape);
}

absl::StatusOr<Literal> EvalTriangularSolve(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, 2));
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  const Shape& a = op.in(0).shape();
  const Shape& b = op.in(1).shape();
  const Instruction& i = op.instruction;
  const int64_t rank = a.rank();
  Solve s;
  s.left = i.bool_attr(AttrId::kLeftSide, false);
  s.lower = i.bool_attr(AttrId::kLower, false);
  s.unit = i.bool_attr(AttrId::kUnitDiagonal, false);
  const TriangularTranspose transpose =
      i.enum_attr(AttrId::kTransposeA, TriangularTranspose::kNoTranspose);
  s.transpose = transpose == TriangularTranspose::kTranspose ||
                transpose == TriangularTranspose::kAdjoint;
  s.conjugate = transpose == TriangularTranspose::kAdjoint;
  if (rank < 2 || b.rank() != rank || a.dim(rank - 1) != a.dim(rank - 2) ||
      a.type() != b.type() || !b.SameDims(op.shape)) {
    return Invalid("of ", a.ToString(), " and ", b.ToString());
  }
  for (int64_t d = 0; d + 2 < rank; ++d) {
    if (a.dim(d) != b.dim(d)) {
      return Invalid("batches differ: ", a.ToString(), ", ", b.ToString());
    }
  }
  s.n = a.dim(rank - 1);
  s.m = b.dim(s.left ? rank - 1 : rank - 2);
  if (b.dim(s.left ? rank - 2 : rank - 1) != s.n) {
    return Invalid("of ", a.ToString(), " and ", b.ToString());
  }
  RIDGE_ASSIGN_OR_RETURN(Literal matrix, Widened(op.in(0)));
  RIDGE_ASSIGN_OR_RETURN(Literal work, Widened(op.in(1)));
  if (b.ElementCount() == 0) return ConvertTo(work, op.shape);
  const int64_t batch = b.ElementCount() / (s.n * s.m);
  for (int64_t k = 0; k < batch; ++k) {
    if (IsComplex(a.type())) {
      SolveOne(s, matrix.data<Z>().data() + k * s.n * s.n,
               work.mutable_data<Z>().data() + k * s.n * s.m);
    } else {
      SolveOne(s, matrix.data<double>().data() + k * s.n * s.n,
               work.mutable_data<double>().data() + k * s.n * s.m);
    }
  }
  return ConvertTo(work, op.shape);
}

}  // namespace eval
}  // namespace ridge
