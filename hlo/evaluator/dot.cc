#include "hlo/evaluator/dot.h"

#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

#include "hlo/base/matrix_block.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/handlers.h"
#include "hlo/evaluator/strided.h"

namespace ridge {
namespace eval {

ElementType ProductType(ElementType lhs, ElementType rhs) {
  if (IsComplex(lhs) || IsComplex(rhs)) return ElementType::kC128;
  auto exact = [](ElementType t) { return IsFloat(t) || Info(t).bits <= 16; };
  return exact(lhs) && exact(rhs) ? ElementType::kF64 : ElementType::kS64;
}

Literal FromProduct(const Literal& product, const Shape& shape) {
  if (product.shape().type() != ElementType::kF64 || IsFloat(shape.type()) ||
      IsComplex(shape.type()) || IsPred(shape.type())) {
    return ConvertTo(product, shape);
  }
  Shape wide = product.shape();
  wide.set_type(ElementType::kS64);
  return ConvertTo(ConvertTo(product, wide), shape);
}

namespace {

// Rows [m0, m1) and columns [n0, n1) of one product.
template <typename T>
void Multiply(const MatrixShape& s, const T* a, const T* b, T* c, int64_t m0,
              int64_t m1, int64_t n0, int64_t n1) {
  MatrixBlock<T> block;
  block.m = m1 - m0;
  block.n = n1 - n0;
  block.k = s.k;
  block.transpose_a = s.lhs_transposed;
  block.lda = s.lhs_transposed ? s.m : s.k;
  block.a = a + (s.lhs_transposed ? m0 : m0 * s.k);
  block.transpose_b = s.rhs_transposed;
  block.ldb = s.rhs_transposed ? s.k : s.n;
  block.b = b + (s.rhs_transposed ? n0 * s.k : n0);
  block.d = c + m0 * s.n + n0;
  block.ldd = s.n;
  MultiplyBlock(block);
}

// Operations from which a product is worth more than one task, and the rows or
// columns of one: few enough to share out, enough to pack the other side for.
constexpr double kLargeProduct = 4e6;
constexpr int64_t kPart = 128;

template <typename T>
void BatchedMultiply(const Interpreter& interpreter, const MatrixShape& s,
                     const T* a, const T* b, T* c) {
  // Each task a product, or part of the rows or columns of a large one. The
  // parts hang on the sizes alone, so that threads do not change any bit.
  const bool split_rows = s.m >= s.n;
  const int64_t extent = split_rows ? s.m : s.n;
  const double flops = 2.0 * s.m * s.n * s.k;
  const int64_t part = flops > kLargeProduct ? std::min(kPart, extent) : extent;
  const int64_t parts = (extent + part - 1) / part;
  const int64_t grain = std::max<int64_t>(
      1, static_cast<int64_t>(1e5 / std::max(1.0, flops / parts)));
  interpreter.Parallel(0, s.batch * parts, grain, [&](int64_t t0, int64_t t1) {
    for (int64_t t = t0; t < t1; ++t) {
      const int64_t i = t / parts;
      const int64_t begin = t % parts * part;
      const int64_t end = std::min(extent, begin + part);
      Multiply<T>(s, a + i * s.m * s.k, b + i * s.k * s.n, c + i * s.m * s.n,
                  split_rows ? begin : 0, split_rows ? end : s.m,
                  split_rows ? 0 : begin, split_rows ? s.n : end);
    }
  });
}

absl::Status CheckDimNumbers(absl::string_view what, const Shape& shape,
                             absl::Span<const int64_t> batch,
                             absl::Span<const int64_t> contracting) {
  std::vector<bool> seen(shape.rank(), false);
  for (absl::Span<const int64_t> dims : {batch, contracting}) {
    for (int64_t d : dims) {
      if (d < 0 || d >= shape.rank() || seen[d]) {
        return Invalid("dimension ", d, " of ", what, " ", shape.ToString(),
                       " is out of range or named twice");
      }
      seen[d] = true;
    }
  }
  return absl::OkStatus();
}

DimVector FreeDims(int64_t rank, absl::Span<const int64_t> batch,
                   absl::Span<const int64_t> contracting) {
  DimVector free;
  for (int64_t d = 0; d < rank; ++d) {
    if (std::find(batch.begin(), batch.end(), d) == batch.end() &&
        std::find(contracting.begin(), contracting.end(), d) ==
            contracting.end()) {
      free.push_back(d);
    }
  }
  return free;
}

// The literal with its dimensions in `order` (not copied when they are).
Literal Permuted(const Interpreter& interpreter, const Literal& in,
                 absl::Span<const int64_t> order) {
  bool identity = true;
  DimVector sizes;
  DimVector src;
  DimVector strides = RowMajorStrides(in.shape().dims());
  int64_t last = -1;
  for (int64_t d : order) {
    sizes.push_back(in.shape().dim(d));
    src.push_back(strides[d]);
    if (in.shape().dim(d) == 1) continue;
    identity = identity && d > last;
    last = d;
  }
  if (identity) return in;
  Literal out = Literal::Zeros(Shape::Array(in.shape().type(), sizes));
  StridedCopy(interpreter, sizes, StorageBytes(in.shape().type()), in.bytes(),
              src, out.mutable_bytes(), RowMajorStrides(sizes));
  return out;
}

template <typename... Spans>
DimVector Concat(const Spans&... spans) {
  DimVector all;
  for (absl::Span<const int64_t> s :
       std::initializer_list<absl::Span<const int64_t>>{spans...}) {
    all.insert(all.end(), s.begin(), s.end());
  }
  return all;
}

// True when, size-1 dimensions aside, `order` counts upwards.
bool InOrder(const Shape& shape, absl::Span<const int64_t> order) {
  int64_t last = -1;
  for (int64_t d : order) {
    if (shape.dim(d) == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

}  // namespace

void BatchedMatmul(const Interpreter& interpreter, ElementType type,
                   const MatrixShape& shape, const void* a, const void* b,
                   void* c) {
  if (shape.batch * shape.m * shape.n == 0 || shape.k == 0) return;
  switch (type) {
    case ElementType::kF64:
      BatchedMultiply(interpreter, shape, static_cast<const double*>(a),
                      static_cast<const double*>(b), static_cast<double*>(c));
      return;
    case ElementType::kC128:
      BatchedMultiply(interpreter, shape,
                      static_cast<const std::complex<double>*>(a),
                      static_cast<const std::complex<double>*>(b),
                      static_cast<std::complex<double>*>(c));
      return;
    default:
      // Unsigned, so that wrapping is defined; the bits are the same.
      BatchedMultiply(interpreter, shape, static_cast<const uint64_t*>(a),
                      static_cast<const uint64_t*>(b),
                      static_cast<uint64_t*>(c));
      return;
  }
}

absl::Status CheckDotNumbers(const Shape& l, const Shape& r,
                             absl::Span<const int64_t> lhs_contracting,
                             absl::Span<const int64_t> rhs_contracting,
                             absl::Span<const int64_t> lhs_batch,
                             absl::Span<const int64_t> rhs_batch) {
  RIDGE_RETURN_IF_ERROR(CheckDimNumbers("lhs", l, lhs_batch, lhs_contracting));
  RIDGE_RETURN_IF_ERROR(CheckDimNumbers("rhs", r, rhs_batch, rhs_contracting));
  if (lhs_contracting.size() != rhs_contracting.size() ||
      lhs_batch.size() != rhs_batch.size()) {
    return Invalid("lhs and rhs name different numbers of dimensions");
  }
  for (size_t i = 0; i < lhs_batch.size(); ++i) {
    if (l.dim(lhs_batch[i]) != r.dim(rhs_batch[i])) {
      return Invalid("batch sizes differ: ", l.ToString(), ", ", r.ToString());
    }
  }
  for (size_t i = 0; i < lhs_contracting.size(); ++i) {
    if (l.dim(lhs_contracting[i]) != r.dim(rhs_contracting[i])) {
      return Invalid("contracted sizes differ: ", l.ToString(), ", ",
                     r.ToString());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> DotProduct(const Interpreter& interpreter,
                                   const Literal& lhs, const Literal& rhs,
                                   absl::Span<const int64_t> lhs_contracting,
                                   absl::Span<const int64_t> rhs_contracting,
                                   absl::Span<const int64_t> lhs_batch,
                                   absl::Span<const int64_t> rhs_batch) {
  const Shape& l = lhs.shape();
  const Shape& r = rhs.shape();
  RIDGE_RETURN_IF_ERROR(CheckDotNumbers(l, r, lhs_contracting, rhs_contracting,
                                        lhs_batch, rhs_batch));
  MatrixShape s;
  DimVector dims;
  for (int64_t d : lhs_batch) {
    s.batch *= l.dim(d);
    dims.push_back(l.dim(d));
  }
  for (int64_t d : lhs_contracting) s.k *= l.dim(d);
  DimVector lhs_free = FreeDims(l.rank(), lhs_batch, lhs_contracting);
  DimVector rhs_free = FreeDims(r.rank(), rhs_batch, rhs_contracting);
  for (int64_t d : lhs_free) {
    s.m *= l.dim(d);
    dims.push_back(l.dim(d));
  }
  for (int64_t d : rhs_free) {
    s.n *= r.dim(d);
    dims.push_back(r.dim(d));
  }
  // Either order of free and contracted dimensions will do as it lies.
  DimVector lhs_order = Concat(lhs_batch, lhs_free, lhs_contracting);
  DimVector lhs_other = Concat(lhs_batch, lhs_contracting, lhs_free);
  s.lhs_transposed = !InOrder(l, lhs_order) && InOrder(l, lhs_other);
  DimVector rhs_order = Concat(rhs_batch, rhs_contracting, rhs_free);
  DimVector rhs_other = Concat(rhs_batch, rhs_free, rhs_contracting);
  s.rhs_transposed = !InOrder(r, rhs_order) && InOrder(r, rhs_other);
  Literal a =
      Permuted(interpreter, lhs, s.lhs_transposed ? lhs_other : lhs_order);
  Literal b =
      Permuted(interpreter, rhs, s.rhs_transposed ? rhs_other : rhs_order);
  Shape shape = Shape::Array(l.type(), dims);
  RIDGE_RETURN_IF_ERROR(interpreter.CheckFits(shape));
  Literal out = Literal::Zeros(shape);
  BatchedMatmul(interpreter, l.type(), s, a.bytes(), b.bytes(),
                out.mutable_bytes());
  return out;
}

Literal AsProduct(const Literal& in, ElementType type) {
  Shape shape = in.shape();
  shape.set_type(type);
  return ConvertTo(in, shape);
}

absl::StatusOr<Literal> FinishDot(const Op& op, const Literal& product) {
  RIDGE_RETURN_IF_ERROR(
      CheckDims("the product", product.shape(), op.shape.dims()));
  return FromProduct(product, op.shape);
}

absl::StatusOr<Literal> EvalDot(const Op& op) {
  if (op.count() > 2) {
    return Unsupported("sparse dot (", op.count(), " operands)");
  }
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, 2));
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  const ElementType type =
      ProductType(op.in(0).shape().type(), op.in(1).shape().type());
  const Instruction& i = op.instruction;
  RIDGE_ASSIGN_OR_RETURN(
      Literal product,
      DotProduct(op.interpreter, AsProduct(op.in(0), type),
                 AsProduct(op.in(1), type), i.ints(AttrId::kLhsContractingDims),
                 i.ints(AttrId::kRhsContractingDims),
                 i.ints(AttrId::kLhsBatchDims), i.ints(AttrId::kRhsBatchDims)));
  return FinishDot(op, product);
}

namespace {

// values * scales, each scale standing for an equal block along every
// dimension.
absl::StatusOr<Literal> ApplyScales(const Literal& values,
                                    const Literal& scales) {
  const Shape& v = values.shape();
  const Shape& s = scales.shape();
  if (s.IsScalar() && v.rank() > 0) {
    // A scalar scale is one for all.
    Literal out = values;
    double factor = GetDouble(scales, 0);
    for (double& x : out.mutable_data<double>()) x *= factor;
    return out;
  }
  if (s.rank() != v.rank()) {
    return Invalid("scales ", s.ToString(), " for ", v.ToString());
  }
  DimVector block;
  for (int64_t d = 0; d < v.rank(); ++d) {
    if (s.dim(d) == 0 || v.dim(d) % s.dim(d) != 0) {
      if (v.dim(d) == 0) return values;
      return Invalid("scales ", s.ToString(), " do not divide ", v.ToString());
    }
    block.push_back(v.dim(d) / s.dim(d));
  }
  Literal out = values;
  absl::Span<double> data = out.mutable_data<double>();
  DimVector strides = RowMajorStrides(s.dims());
  if (data.empty()) return out;
  Odometer at(v.dims());
  for (double& x : data) {
    int64_t k = 0;
    for (int64_t d = 0; d < v.rank(); ++d) {
      k += at.index()[d] / block[d] * strides[d];
    }
    x *= GetDouble(scales, k);
    at.Next();
  }
  return out;
}

}  // namespace

// dot(lhs * lhs_scale, rhs * rhs_scale), the scales one a block.
absl::StatusOr<Literal> EvalScaledDot(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, 4));
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  for (int64_t i = 0; i < 4; ++i) {
    if (!IsFloat(op.in(i).shape().type())) {
      return Invalid("operand ", i, " is not of a float type");
    }
  }
  RIDGE_ASSIGN_OR_RETURN(
      Literal lhs,
      ApplyScales(AsProduct(op.in(0), ElementType::kF64), op.in(2)));
  RIDGE_ASSIGN_OR_RETURN(
      Literal rhs,
      ApplyScales(AsProduct(op.in(1), ElementType::kF64), op.in(3)));
  const Instruction& i = op.instruction;
  RIDGE_ASSIGN_OR_RETURN(
      Literal product,
      DotProduct(op.interpreter, lhs, rhs, i.ints(AttrId::kLhsContractingDims),
                 i.ints(AttrId::kRhsContractingDims),
                 i.ints(AttrId::kLhsBatchDims), i.ints(AttrId::kRhsBatchDims)));
  return FinishDot(op, product);
}

}  // namespace eval
}  // namespace ridge
