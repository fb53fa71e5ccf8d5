// Random numbers, fft, cholesky, triangular-solve and batch norms.
#include <utility>

#include "hlo/verify/infer.h"

namespace ridge::infer {
namespace {

bool IsInexact(const Shape& shape) {
  return IsFloat(shape.type()) || IsComplex(shape.type());
}

// a[..., n, n]: rank at least 2, float or complex.
absl::Status ExpectSquare(const Shape& a, absl::string_view what) {
  RIDGE_RETURN_IF_ERROR(ExpectArray(a, what));
  if (!IsInexact(a)) {
    return Invalid(what, " must be float or complex, found ", Text(a));
  }
  if (a.rank() < 2 || a.dim(a.rank() - 1) != a.dim(a.rank() - 2)) {
    return Invalid(what, " must be a stack of square matrices, found ",
                   Text(a));
  }
  return absl::OkStatus();
}

// The operand of a batch norm, and that operands [1, 1 + vectors) are vectors
// along its feature dimension, which is returned as a shape.
absl::StatusOr<Shape> FeatureVector(const Instruction& i, int64_t vectors) {
  const Shape& operand = i.operand(0)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "operand 0"));
  if (!IsFloat(operand.type())) {
    return Invalid(Name(i.opcode()), " takes floats, found ", Text(operand));
  }
  const int64_t feature = i.int_attr(AttrId::kFeatureIndex, -1);
  RIDGE_RETURN_IF_ERROR(
      ExpectDimension(feature, operand.rank(), "feature_index"));
  Shape vector = Shape::Array(operand.type(), {operand.dim(feature)});
  vector.set_dynamic_dim(0, operand.IsDynamicDim(feature));
  for (int64_t k = 1; k <= vectors; ++k) {
    const Shape& found = i.operand(k)->shape();
    RIDGE_RETURN_IF_ERROR(ExpectArray(found, absl::StrCat("operand ", k)));
    if (!SameBounds(found, vector) ||
        !SameTypeIgnoringPrecision(found.type(), vector.type())) {
      return Invalid("operand ", k, " of ", Name(i.opcode()), " must be ",
                     Text(vector), ", found ", Text(found));
    }
  }
  return vector;
}

absl::StatusOr<Shape> OperandAndTwoVectors(const Instruction& i,
                                           int64_t vectors) {
  RIDGE_ASSIGN_OR_RETURN(Shape vector, FeatureVector(i, vectors));
  return Shape::Tuple({i.operand(0)->shape(), vector, vector});
}

}  // namespace

absl::StatusOr<Shape> Rng(const Instruction& i) {
  // Older programs give the shape as a third operand, which says nothing new.
  if (i.operand_count() != 3) RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 2));
  const Shape& a = i.operand(0)->shape();
  const Shape& b = i.operand(1)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectScalar(a, "operand 0 of rng"));
  RIDGE_RETURN_IF_ERROR(ExpectScalar(b, "operand 1 of rng"));
  RIDGE_RETURN_IF_ERROR(ExpectArray(i.shape(), "the result of rng"));
  if (a.type() != b.type() || a.type() != i.shape().type()) {
    return Invalid(
        "operands and result of rng must have one element type, "
        "found ",
        Text(a), ", ", Text(b), " and ", Text(i.shape()));
  }
  const auto distribution =
      i.enum_attr(AttrId::kDistribution, RandomDistribution::kUniform);
  const bool fits =
      IsFloat(a.type()) || (distribution == RandomDistribution::kUniform &&
                            (IsInteger(a.type()) || IsPred(a.type())));
  if (!fits) {
    return Invalid(
        "element type not supported: rng_uniform takes floats, "
        "integers and pred, rng_normal floats; found ",
        Name(a.type()));
  }
  return i.shape();
}

absl::StatusOr<Shape> RngBitGenerator(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  if (!i.shape().IsTuple()) return i.shape();
  if (i.shape().tuple_shapes().size() != 2) {
    return Invalid("rng-bit-generator gives (state, bits), found ",
                   Text(i.shape()));
  }
  if (!Compatible(i.shape().tuple_shape(0), i.operand(0)->shape())) {
    return Invalid("the state of rng-bit-generator must keep its shape ",
                   Text(i.operand(0)->shape()), ", found ",
                   Text(i.shape().tuple_shape(0)));
  }
  return i.shape();
}

absl::StatusOr<Shape> RngGetAndUpdateState(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 0));
  return Shape::Array(ElementType::kU64, {2});
}

absl::StatusOr<Shape> Fft(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& operand = i.operand(0)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "the operand of fft"));
  const Ints length = i.ints(AttrId::kFftLength);
  const int64_t n = static_cast<int64_t>(length.size());
  if (n < 1 || n > 3 || n > operand.rank()) {
    return Invalid("fft_length needs 1 to 3 entries, at most the rank ",
                   operand.rank(), "; found ", Braced(length));
  }
  for (int64_t d : length) {
    if (d < 0) return Invalid("fft_length must not be negative, found ", d);
  }
  Shape shape = operand;
  const auto type = i.enum_attr(AttrId::kFftType, FftType::kFft);
  if (type == FftType::kFft || type == FftType::kIfft) {
    if (!IsComplex(operand.type())) {
      return Invalid("FFT and IFFT take complex numbers, found ",
                     Text(operand));
    }
    return shape;
  }
  const int64_t first = operand.rank() - n;
  const int64_t last = operand.rank() - 1;
  const auto expect = [&](int64_t d, int64_t size) -> absl::Status {
    if (operand.dim(d) == size || operand.dim(d) == Shape::kUnbounded) {
      return absl::OkStatus();
    }
    return Invalid("dimension ", d, " of ", Text(operand), " must have size ",
                   size, " for fft_length=", Braced(length));
  };
  for (int64_t k = 0; k + 1 < n; ++k) {
    RIDGE_RETURN_IF_ERROR(expect(first + k, length[k]));
  }
  const int64_t half = length[n - 1] == 0 ? 0 : length[n - 1] / 2 + 1;
  if (type == FftType::kRfft) {
    if (operand.type() == ElementType::kF32) {
      shape.set_type(ElementType::kC64);
    } else if (operand.type() == ElementType::kF64) {
      shape.set_type(ElementType::kC128);
    } else {
      return Invalid("RFFT takes f32 or f64, found ", Text(operand));
    }
    RIDGE_RETURN_IF_ERROR(expect(last, length[n - 1]));
    shape.set_dim(last, half);
    return shape;
  }
  if (!IsComplex(operand.type())) {
    return Invalid("IRFFT takes complex numbers, found ", Text(operand));
  }
  RIDGE_RETURN_IF_ERROR(expect(last, half));
  shape.set_type(ComplexComponent(operand.type()));
  shape.set_dim(last, length[n - 1]);
  return shape;
}

absl::StatusOr<Shape> Cholesky(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  RIDGE_RETURN_IF_ERROR(
      ExpectSquare(i.operand(0)->shape(), "the operand of cholesky"));
  return i.operand(0)->shape();
}

absl::StatusOr<Shape> TriangularSolve(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 2));
  const Shape& a = i.operand(0)->shape();
  const Shape& b = i.operand(1)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectSquare(a, "operand 0 of triangular-solve"));
  if (!b.IsArray() || b.type() != a.type() || b.rank() != a.rank()) {
    return Invalid("operand 1 of triangular-solve must have rank and type of ",
                   Text(a), ", found ", Text(b));
  }
  for (int64_t d = 0; d + 2 < a.rank(); ++d) {
    if (a.dim(d) != b.dim(d)) {
      return Invalid("batch dimensions of triangular-solve must agree, found ",
                     Text(a), " and ", Text(b));
    }
  }
  const bool left = i.bool_attr(AttrId::kLeftSide);
  const int64_t side = b.dim(b.rank() - (left ? 2 : 1));
  if (side != a.dim(a.rank() - 1)) {
    return Invalid("with left_side=", left ? "true" : "false",
                   " operand 1 needs size ", a.dim(a.rank() - 1),
                   " there, "
                   "found ",
                   Text(b));
  }
  if (i.enum_attr(AttrId::kTransposeA, TriangularTranspose::kNoTranspose) ==
      TriangularTranspose::kInvalid) {
    return Invalid(
        "transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT, "
        "found TRANSPOSE_INVALID");
  }
  return b;
}

absl::StatusOr<Shape> BatchNormTraining(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 3));
  return OperandAndTwoVectors(i, 2);
}

absl::StatusOr<Shape> BatchNormInference(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 5));
  RIDGE_RETURN_IF_ERROR(FeatureVector(i, 4).status());
  return i.operand(0)->shape();
}

absl::StatusOr<Shape> BatchNormGrad(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 5));
  const Shape& operand = i.operand(0)->shape();
  const Shape& gradient = i.operand(4)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "operand 0"));
  if (!gradient.IsArray() || !SameBounds(gradient, operand) ||
      !SameTypeIgnoringPrecision(gradient.type(), operand.type())) {
    return Invalid("the gradient must have the shape ", Text(operand),
                   " of operand 0, found ", Text(gradient));
  }
  return OperandAndTwoVectors(i, 3);
}

}  // namespace ridge::infer
