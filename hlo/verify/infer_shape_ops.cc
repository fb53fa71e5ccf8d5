// Operations that move elements without computing any.
#include <algorithm>

#include "hlo/verify/infer.h"

namespace ridge::infer {
namespace {

absl::InlinedVector<bool, 6> DynamicDims(const Shape& shape) {
  absl::InlinedVector<bool, 6> dynamic;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    dynamic.push_back(shape.IsDynamicDim(d));
  }
  return dynamic;
}

bool HasUnbounded(const Shape& shape) {
  for (int64_t d : shape.dims()) {
    if (d == Shape::kUnbounded) return true;
  }
  return false;
}

// The parts of reshape and dynamic-reshape that agree.
absl::Status CheckReshape(const Instruction& i) {
  const Shape& from = i.operand(0)->shape();
  const Shape& to = i.shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(from, "the operand"));
  RIDGE_RETURN_IF_ERROR(ExpectArray(to, "the result"));
  if (from.type() != to.type()) {
    return Invalid(Name(i.opcode()), " keeps the element type, found ",
                   Text(from), " to ", Text(to));
  }
  if (!HasUnbounded(from) && !HasUnbounded(to) &&
      from.ElementCount() != to.ElementCount()) {
    return Invalid(Name(i.opcode()), " keeps the number of elements, found ",
                   from.ElementCount(), " in ", Text(from), " and ",
                   to.ElementCount(), " in ", Text(to));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> Bitcast(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  return i.shape();
}

absl::StatusOr<Shape> Broadcast(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& operand = i.operand(0)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "the operand of broadcast"));
  std::vector<int64_t> dims;
  absl::InlinedVector<bool, 6> dynamic;
  for (int64_t size : i.dimensions()) {
    if (size < 0) {
      return Invalid("a broadcast without a shape takes sizes, found ",
                     Braced(i.dimensions()));
    }
    dims.push_back(size);
    dynamic.push_back(false);
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    dims.push_back(operand.dim(d));
    dynamic.push_back(operand.IsDynamicDim(d));
  }
  return MakeArray(operand.type(), dims, dynamic);
}

absl::Status CheckBroadcast(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& from = i.operand(0)->shape();
  const Shape& to = i.shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(from, "the operand of broadcast"));
  RIDGE_RETURN_IF_ERROR(ExpectArray(to, "the result of broadcast"));
  if (from.type() != to.type()) {
    return Invalid("broadcast keeps the element type, found ", Text(from),
                   " to ", Text(to));
  }
  const Ints dims = i.dimensions();
  if (static_cast<int64_t>(dims.size()) != from.rank()) {
    return Invalid("broadcast needs one entry of dimensions for each of the ",
                   from.rank(), " operand dimensions, found ", Braced(dims));
  }
  for (int64_t d = 0; d < from.rank(); ++d) {
    RIDGE_RETURN_IF_ERROR(
        ExpectDimension(dims[d], to.rank(), "broadcast dimension"));
    if (from.dim(d) != to.dim(dims[d])) {
      return Invalid("dimension ", d, " of ", Text(from),
                     " does not match dimension ", dims[d], " of ", Text(to));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> Concatenate(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectAtLeast(i, 1));
  RIDGE_ASSIGN_OR_RETURN(const int64_t dim, OneDimension(i));
  const Shape& first = i.operand(0)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(first, "operand 0 of concatenate"));
  RIDGE_RETURN_IF_ERROR(
      ExpectDimension(dim, first.rank(), "concatenate dimension"));
  Shape shape = first;
  int64_t total = first.dim(dim);
  bool dynamic = first.IsDynamicDim(dim);
  for (int64_t k = 1; k < i.operand_count(); ++k) {
    const Shape& other = i.operand(k)->shape();
    RIDGE_RETURN_IF_ERROR(ExpectArray(other, "an operand of concatenate"));
    if (other.rank() != first.rank() ||
        !SameTypeIgnoringPrecision(other.type(), first.type())) {
      return Invalid(
          "operands of concatenate must have one rank and type, "
          "found ",
          Text(first), " and ", Text(other));
    }
    for (int64_t d = 0; d < first.rank(); ++d) {
      if (d == dim) continue;
      if (other.dim(d) != first.dim(d) && other.dim(d) != Shape::kUnbounded &&
          first.dim(d) != Shape::kUnbounded) {
        return Invalid("operands of concatenate may differ only in dimension ",
                       dim, ", found ", Text(first), " and ", Text(other));
      }
      if (other.IsDynamicDim(d)) shape.set_dynamic_dim(d, true);
    }
    if (total == Shape::kUnbounded || other.dim(dim) == Shape::kUnbounded) {
      total = Shape::kUnbounded;
    } else if (__builtin_add_overflow(total, other.dim(dim), &total)) {
      return Invalid("the concatenated dimension overflows");
    }
    dynamic = dynamic || other.IsDynamicDim(dim);
    shape.set_type(HigherPrecision(shape.type(), other.type()));
  }
  shape.set_dim(dim, total);
  shape.set_dynamic_dim(dim, dynamic);
  return shape;
}

absl::StatusOr<Shape> Reverse(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& shape = i.operand(0)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(shape, "the operand of reverse"));
  RIDGE_RETURN_IF_ERROR(
      ExpectDimensions(i.dimensions(), shape.rank(), "reverse dimensions"));
  return shape;
}

absl::StatusOr<Shape> Transpose(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& operand = i.operand(0)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "the operand of transpose"));
  const Ints perm = i.dimensions();
  if (static_cast<int64_t>(perm.size()) != operand.rank()) {
    return Invalid("transpose needs a permutation of ", operand.rank(),
                   " dimensions, found ", Braced(perm));
  }
  RIDGE_RETURN_IF_ERROR(
      ExpectDimensions(perm, operand.rank(), "transpose dimensions"));
  DimVector dims;
  absl::InlinedVector<bool, 6> dynamic;
  for (int64_t d : perm) {
    dims.push_back(operand.dim(d));
    dynamic.push_back(operand.IsDynamicDim(d));
  }
  return MakeArray(operand.type(), dims, dynamic);
}

absl::StatusOr<Shape> Reshape(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  RIDGE_RETURN_IF_ERROR(CheckReshape(i));
  return i.shape();
}

absl::StatusOr<Shape> DynamicReshape(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectAtLeast(i, 1));
  RIDGE_RETURN_IF_ERROR(CheckReshape(i));
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, i.shape().rank() + 1));
  for (int64_t k = 1; k < i.operand_count(); ++k) {
    const Shape& size = i.operand(k)->shape();
    if (!size.IsScalar() || size.type() != ElementType::kS32) {
      return Invalid("sizes of dynamic-reshape must be s32[], found ",
                     Text(size));
    }
  }
  return i.shape();
}

absl::StatusOr<Shape> Slice(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& operand = i.operand(0)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "the operand of slice"));
  const SliceRanges* ranges = i.boxed<SliceRanges>(AttrId::kSlice);
  if (ranges == nullptr ||
      static_cast<int64_t>(ranges->size()) != operand.rank()) {
    return Invalid("slice needs one range for each of the ", operand.rank(),
                   " dimensions, found ",
                   ranges == nullptr ? 0 : ranges->size());
  }
  DimVector dims;
  absl::InlinedVector<bool, 6> dynamic = DynamicDims(operand);
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const SliceRange& r = (*ranges)[d];
    if (r.start < 0 || r.limit < r.start || r.stride <= 0) {
      return Invalid("slice range [", r.start, ":", r.limit, ":", r.stride,
                     "] of dimension ", d,
                     " needs 0 <= start <= limit and a stride above 0");
    }
    if (operand.dim(d) == Shape::kUnbounded) {
      dims.push_back(Shape::kUnbounded);
      continue;
    }
    if (r.limit > operand.dim(d)) {
      return Invalid("slice limit ", r.limit, " of dimension ", d,
                     " exceeds its size ", operand.dim(d), " in ",
                     Text(operand));
    }
    const int64_t extent = r.limit - r.start;
    dims.push_back(extent / r.stride + (extent % r.stride != 0 ? 1 : 0));
  }
  return MakeArray(operand.type(), dims, dynamic);
}

absl::StatusOr<Shape> Pad(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 2));
  const Shape& operand = i.operand(0)->shape();
  const Shape& value = i.operand(1)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "operand 0 of pad"));
  RIDGE_RETURN_IF_ERROR(ExpectScalar(value, "the padding value"));
  if (!SameTypeIgnoringPrecision(operand.type(), value.type())) {
    return Invalid("the padding value must have element type ",
                   Name(operand.type()), ", found ", Text(value));
  }
  const PaddingConfig* config = i.boxed<PaddingConfig>(AttrId::kPadding);
  if (config == nullptr ||
      static_cast<int64_t>(config->size()) != operand.rank()) {
    return Invalid("padding needs one entry for each of the ", operand.rank(),
                   " dimensions, found ",
                   config == nullptr ? 0 : config->size());
  }
  Shape shape = Shape::Array(HigherPrecision(operand.type(), value.type()),
                             operand.dims());
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const PaddingDimension& p = (*config)[d];
    if (p.interior < 0) {
      return Invalid("interior padding must not be negative, found ",
                     p.interior, " in dimension ", d);
    }
    shape.set_dynamic_dim(d, operand.IsDynamicDim(d));
    const int64_t size = operand.dim(d);
    if (size == Shape::kUnbounded) continue;
    const __int128 padded =
        static_cast<__int128>(size) + p.low + p.high +
        static_cast<__int128>(p.interior) * std::max<int64_t>(size - 1, 0);
    if (padded < 0 || padded > INT64_MAX) {
      return Invalid("padding ", p.low, "_", p.high, "_", p.interior,
                     " of dimension ", d, " of size ", size,
                     " gives no size in [0, 2^63)");
    }
    shape.set_dim(d, static_cast<int64_t>(padded));
  }
  return shape;
}

absl::StatusOr<Shape> Iota(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 0));
  const Shape& shape = i.shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(shape, "the result of iota"));
  if (shape.type() == ElementType::kPred) {
    return Invalid("iota makes integers, floats and complex numbers, found ",
                   Text(shape));
  }
  RIDGE_RETURN_IF_ERROR(ExpectDimension(i.int_attr(AttrId::kIotaDimension, -1),
                                        shape.rank(), "iota_dimension"));
  return shape;
}

}  // namespace ridge::infer
