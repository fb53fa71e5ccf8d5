// Opcodes that move elements and compute none.
#include <algorithm>
#include <cstring>
#include <utility>

#include "hlo/base/status_macros.h"
#include "hlo/evaluator/elementwise.h"
#include "hlo/evaluator/handlers.h"
#include "hlo/evaluator/strided.h"

namespace ridge {
namespace eval {
namespace {

absl::Status CheckSameType(const Op& op, int64_t i) {
  if (op.in(i).shape().type() == op.shape.type()) return absl::OkStatus();
  return Invalid("a result of type ", Name(op.shape.type()), " from ",
                 Name(op.in(i).shape().type()));
}

// Unary, array to array of the same type.
absl::Status CheckMove(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, 1));
  RIDGE_RETURN_IF_ERROR(CheckSameType(op, 0));
  return op.interpreter.CheckFits(op.shape);
}

bool IsPermutation(Ints dims, int64_t rank) {
  if (static_cast<int64_t>(dims.size()) != rank) return false;
  std::vector<bool> seen(rank, false);
  for (int64_t d : dims) {
    if (d < 0 || d >= rank || seen[d]) return false;
    seen[d] = true;
  }
  return true;
}

}  // namespace

absl::StatusOr<Literal> EvalIdentity(const Op& op) {
  if (op.count() != 1) return Invalid("takes 1 operand, has ", op.count());
  if (!op.in(0).shape().Compatible(op.shape)) {
    return Invalid("a result of shape ", op.shape.ToString(), " from ",
                   op.in(0).shape().ToString());
  }
  return op.Take(0);
}

absl::StatusOr<Literal> EvalReshape(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckMove(op));
  if (op.in(0).shape().ElementCount() != op.shape.ElementCount()) {
    return Invalid("reshapes ", op.in(0).shape().ToString(), " to ",
                   op.shape.ToString());
  }
  Literal out = op.Take(0);
  *out.mutable_shape() = op.shape;
  return out;
}

// Operands beyond the first give the dynamic sizes; with static dimensions
// they say what the shape says.
absl::StatusOr<Literal> EvalDynamicReshape(const Op& op) {
  if (op.count() < 1 || op.count() != op.shape.rank() + 1) {
    return Invalid("takes a value and one size a dimension");
  }
  for (int64_t d = 0; d < op.shape.rank(); ++d) {
    const Literal& size = op.in(d + 1);
    if (!size.shape().IsScalar() || !IsInteger(size.shape().type())) {
      return Invalid("size ", d, " is not an integer scalar");
    }
    if (op.shape.IsDynamicDim(d) || IndexAt(size, 0) != op.shape.dim(d)) {
      return Unsupported("dynamic-reshape to a size other than the static one");
    }
  }
  Op reshape{op.interpreter, op.instruction, op.shape,
             op.operands.subspan(0, 1), op.owned};
  return EvalReshape(reshape);
}

absl::StatusOr<Literal> EvalTranspose(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckMove(op));
  const Shape& from = op.in(0).shape();
  Ints dims = op.instruction.dimensions();
  if (!IsPermutation(dims, from.rank())) {
    return Invalid("dimensions are not a permutation");
  }
  DimVector strides = RowMajorStrides(from.dims());
  DimVector sizes;
  DimVector src;
  for (int64_t d : dims) {
    sizes.push_back(from.dim(d));
    src.push_back(strides[d]);
  }
  RIDGE_RETURN_IF_ERROR(CheckDims("the result", op.shape, sizes));
  Literal out = Literal::Zeros(op.shape);
  StridedCopy(op.interpreter, sizes, StorageBytes(op.shape.type()),
              op.in(0).bytes(), src, out.mutable_bytes(),
              RowMajorStrides(sizes));
  return out;
}

// A bitcast keeps the bytes in memory and reads them in another shape or
// layout: logically, order the operand by its layout, then undo the result's.
absl::StatusOr<Literal> EvalBitcast(const Op& op) {
  if (op.count() != 1) return Invalid("takes 1 operand, has ", op.count());
  if (!op.shape.IsArray() || !op.in(0).shape().IsArray()) {
    return EvalIdentity(op);
  }
  const Shape& from = op.instruction.operand(0)->shape();
  const Shape& to = op.instruction.shape();
  if (from.type() != to.type()) return EvalBitcastConvert(op);
  if (from.ElementCount() != to.ElementCount()) {
    return Invalid("a bitcast of ", from.ToString(), " to ", to.ToString());
  }
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  if (!from.has_layout() && !to.has_layout()) return EvalReshape(op);
  auto physical = [](const Shape& s, DimVector* dims, DimVector* strides) {
    // Major to minor sizes, with the row-major stride of each.
    DimVector row_major = RowMajorStrides(s.dims());
    DimVector order =
        s.has_layout() ? s.layout().minor_to_major : DescendingLayout(s.rank());
    if (static_cast<int64_t>(order.size()) != s.rank()) return false;
    for (int64_t k = s.rank() - 1; k >= 0; --k) {
      if (order[k] < 0 || order[k] >= s.rank()) return false;
      dims->push_back(s.dim(order[k]));
      strides->push_back(row_major[order[k]]);
    }
    return true;
  };
  DimVector from_dims;
  DimVector from_strides;
  DimVector to_dims;
  DimVector to_strides;
  if (!physical(from, &from_dims, &from_strides) ||
      !physical(to, &to_dims, &to_strides)) {
    return Invalid("layout does not match the rank");
  }
  const int width = StorageBytes(op.shape.type());
  std::vector<uint8_t> memory(op.in(0).byte_size());
  StridedCopy(op.interpreter, from_dims, width, op.in(0).bytes(), from_strides,
              memory.data(), RowMajorStrides(from_dims));
  Literal out = Literal::Zeros(op.shape);
  StridedCopy(op.interpreter, to_dims, width, memory.data(),
              RowMajorStrides(to_dims), out.mutable_bytes(), to_strides);
  return out;
}

namespace {

// Bits of an element as HLO lays them out, little-endian; sub-byte types one
// after the other from the low end.
struct BitView {
  int bits;
  int storage;
};

uint64_t ReadBits(const uint8_t* bytes, int64_t i, const BitView& view,
                  int part) {
  // `part` selects one of the 64-bit halves of a 128-bit element.
  uint64_t v = 0;
  int n = std::min(view.storage, 8);
  std::memcpy(&v, bytes + i * view.storage + 8 * part, n);
  if (view.bits < 64) v &= (uint64_t{1} << view.bits) - 1;
  return v;
}

}  // namespace

absl::StatusOr<Literal> EvalBitcastConvert(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, 1));
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  // The written types, whatever the precision of the evaluation.
  Shape from = op.in(0).shape();
  from.set_type(op.instruction.operand(0)->shape().type());
  Shape to = op.shape;
  to.set_type(op.instruction.shape().type());
  const BitView src{Info(from.type()).bits, StorageBytes(from.type())};
  const BitView dst{Info(to.type()).bits, StorageBytes(to.type())};
  // Widening folds the last dimension, narrowing adds one.
  const int ratio = std::max(src.bits, dst.bits) / std::min(src.bits, dst.bits);
  const int64_t n_from = from.ElementCount();
  const int64_t n_to = to.ElementCount();
  if (src.bits >= dst.bits ? n_from * ratio != n_to : n_to * ratio != n_from) {
    return Invalid("a bitcast-convert of ", from.ToString(), " to ",
                   to.ToString());
  }
  if (src.bits == 128 && dst.bits != 128 && dst.bits != 64) {
    return Unsupported("bitcast-convert of c128 to ", Name(to.type()));
  }
  if (dst.bits == 128 && src.bits != 128 && src.bits != 64) {
    return Unsupported("bitcast-convert of ", Name(from.type()), " to c128");
  }
  Literal in = ConvertTo(op.in(0), from);
  Literal out = Literal::Zeros(to);
  const uint8_t* s = in.bytes();
  uint8_t* d = out.mutable_bytes();
  if (in.byte_size() == 0) return ConvertTo(out, op.shape);
  if ((src.bits >= 8 && dst.bits >= 8)) {
    std::memcpy(d, s, in.byte_size());
  } else if (src.bits >= dst.bits) {
    for (int64_t i = 0; i < n_to; ++i) {
      uint64_t v = ReadBits(s, i / ratio, src, 0) >> (dst.bits * (i % ratio));
      if (dst.bits < 64) v &= (uint64_t{1} << dst.bits) - 1;
      d[i] = static_cast<uint8_t>(v);
    }
  } else {
    for (int64_t i = 0; i < n_to; ++i) {
      uint64_t v = 0;
      for (int r = 0; r < ratio; ++r) {
        v |= ReadBits(s, i * ratio + r, src, 0) << (src.bits * r);
      }
      std::memcpy(d + i * dst.storage, &v, dst.storage);
    }
  }
  if (IsSigned(to.type()) && dst.bits < 8) {
    for (int64_t i = 0; i < n_to; ++i) {
      d[i] = static_cast<uint8_t>(static_cast<int8_t>(d[i] << (8 - dst.bits)) >>
                                  (8 - dst.bits));
    }
  }
  return ConvertTo(out, op.shape);
}

absl::StatusOr<Literal> EvalBroadcast(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckMove(op));
  const Shape& from = op.in(0).shape();
  Ints dims = op.instruction.dimensions();
  if (static_cast<int64_t>(dims.size()) != from.rank()) {
    return Invalid("dimensions has ", dims.size(), " entries for a rank of ",
                   from.rank());
  }
  DimVector strides(op.shape.rank(), 0);
  DimVector from_strides = RowMajorStrides(from.dims());
  for (size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] < 0 || dims[k] >= op.shape.rank() ||
        (from.dim(k) != op.shape.dim(dims[k]) && from.dim(k) != 1)) {
      return Invalid("dimension ", k, " of ", from.ToString(),
                     " does not fit dimension ", dims[k], " of ",
                     op.shape.ToString());
    }
    if (from.dim(k) != 1) strides[dims[k]] = from_strides[k];
  }
  if (from.ElementCount() == op.shape.ElementCount() && from.rank() == 1) {
    return EvalReshape(op);
  }
  Literal out = Literal::Zeros(op.shape);
  StridedCopy(op.interpreter, op.shape.dims(), StorageBytes(op.shape.type()),
              op.in(0).bytes(), strides, out.mutable_bytes(),
              RowMajorStrides(op.shape.dims()));
  return out;
}

absl::StatusOr<Literal> EvalConcatenate(const Op& op) {
  if (op.count() < 1) return Invalid("takes operands, has none");
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, op.count()));
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  Ints dims = op.instruction.dimensions();
  if (dims.size() != 1 || dims[0] < 0 || dims[0] >= op.shape.rank()) {
    return Invalid("dimensions must name one dimension of the result");
  }
  const int64_t dim = dims[0];
  const int width = StorageBytes(op.shape.type());
  Literal out = Literal::Zeros(op.shape);
  DimVector strides = RowMajorStrides(op.shape.dims());
  int64_t at = 0;
  for (int64_t i = 0; i < op.count(); ++i) {
    const Shape& s = op.in(i).shape();
    RIDGE_RETURN_IF_ERROR(CheckSameType(op, i));
    DimVector expected(op.shape.dims().begin(), op.shape.dims().end());
    if (s.rank() == op.shape.rank()) expected[dim] = s.dim(dim);
    RIDGE_RETURN_IF_ERROR(CheckDims(absl::StrCat("operand ", i), s, expected));
    if (at + s.dim(dim) > op.shape.dim(dim)) {
      return Invalid("operands are longer than the result");
    }
    StridedCopy(op.interpreter, s.dims(), width, op.in(i).bytes(),
                RowMajorStrides(s.dims()),
                out.mutable_bytes() + at * strides[dim] * width, strides);
    at += s.dim(dim);
  }
  if (at != op.shape.dim(dim)) {
    return Invalid("operands are shorter than the result");
  }
  return out;
}

absl::StatusOr<Literal> EvalIota(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, 0));
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  const int64_t dim = op.instruction.int_attr(AttrId::kIotaDimension, 0);
  if (dim < 0 || dim >= op.shape.rank()) {
    return Invalid("iota_dimension ", dim, " of ", op.shape.ToString());
  }
  if (op.shape.ElementCount() == 0) return Literal::Zeros(op.shape);
  const ElementType type = op.shape.type();
  const int64_t size = op.shape.dim(dim);
  Literal line = Literal::Zeros(Shape::Array(ElementType::kS64, {size}));
  for (int64_t i = 0; i < size; ++i) line.mutable_data<int64_t>()[i] = i;
  Literal typed = Literal::Zeros(Shape::Array(type, {size}));
  BlockParams p;
  p.from = ElementType::kS64;
  p.to = type;
  const Literal* in[1] = {&line};
  RunBlocks(op.interpreter, FindConvertFn(p.from, p.to), p, in, &typed);
  DimVector strides(op.shape.rank(), 0);
  strides[dim] = 1;
  Literal out = Literal::Zeros(op.shape);
  StridedCopy(op.interpreter, op.shape.dims(), StorageBytes(type),
              typed.bytes(), strides, out.mutable_bytes(),
              RowMajorStrides(op.shape.dims()));
  return out;
}

absl::StatusOr<Literal> EvalPad(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, 2));
  RIDGE_RETURN_IF_ERROR(CheckSameType(op, 0));
  RIDGE_RETURN_IF_ERROR(CheckSameType(op, 1));
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  const Shape& from = op.in(0).shape();
  const PaddingConfig* padding =
      op.instruction.boxed<PaddingConfig>(AttrId::kPadding);
  const int64_t rank = op.shape.rank();
  if (padding == nullptr || static_cast<int64_t>(padding->size()) != rank ||
      from.rank() != rank || !op.in(1).shape().IsScalar()) {
    return Invalid("padding does not match the operand");
  }
  const int width = StorageBytes(op.shape.type());
  Literal out = Literal::Zeros(op.shape);
  const int64_t n = op.shape.ElementCount();
  if (n == 0) return out;
  StridedCopy(op.interpreter, {n}, width, op.in(1).bytes(), {0},
              out.mutable_bytes(), {1});
  DimVector src = RowMajorStrides(from.dims());
  DimVector dst = RowMajorStrides(op.shape.dims());
  DimVector sizes(rank);
  int64_t src_offset = 0;
  int64_t dst_offset = 0;
  for (int64_t d = 0; d < rank; ++d) {
    const PaddingDimension& p = (*padding)[d];
    if (p.interior < 0) return Invalid("negative interior padding");
    const int64_t step = p.interior + 1;
    const int64_t padded =
        p.low + p.high + (from.dim(d) == 0 ? 0 : (from.dim(d) - 1) * step + 1);
    if (op.shape.dim(d) != std::max<int64_t>(padded, 0)) {
      return Invalid("dimension ", d, " of ", from.ToString(), " is padded to ",
                     padded, ", the result has ", op.shape.dim(d));
    }
    // The elements i with 0 <= low + i*step < size of the result.
    int64_t first = p.low >= 0 ? 0 : (-p.low + step - 1) / step;
    int64_t last = op.shape.dim(d) - 1 - p.low;  // largest position
    int64_t end = last < 0 ? 0 : std::min(from.dim(d), last / step + 1);
    sizes[d] = std::max<int64_t>(0, end - first);
    src_offset += first * src[d];
    dst_offset += (p.low + first * step) * dst[d];
    dst[d] *= step;
  }
  if (Product(sizes) == 0) return out;
  StridedCopy(op.interpreter, sizes, width,
              op.in(0).bytes() + src_offset * width, src,
              out.mutable_bytes() + dst_offset * width, dst);
  return out;
}

absl::StatusOr<Literal> EvalReverse(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckMove(op));
  RIDGE_RETURN_IF_ERROR(
      CheckDims("the operand", op.in(0).shape(), op.shape.dims()));
  DimVector src = RowMajorStrides(op.shape.dims());
  const DimVector dst = src;
  int64_t offset = 0;
  for (int64_t d : op.instruction.dimensions()) {
    if (d < 0 || d >= op.shape.rank() || src[d] < 0) {
      return Invalid("dimensions name ", d, " of ", op.shape.ToString());
    }
    offset += std::max<int64_t>(0, op.shape.dim(d) - 1) * src[d];
    src[d] = -src[d];
  }
  Literal out = Literal::Zeros(op.shape);
  if (op.shape.ElementCount() == 0) return out;
  const int width = StorageBytes(op.shape.type());
  StridedCopy(op.interpreter, op.shape.dims(), width,
              op.in(0).bytes() + offset * width, src, out.mutable_bytes(), dst);
  return out;
}

absl::StatusOr<Literal> EvalSlice(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckMove(op));
  const Shape& from = op.in(0).shape();
  const SliceRanges* slice = op.instruction.boxed<SliceRanges>(AttrId::kSlice);
  const int64_t rank = from.rank();
  if (slice == nullptr || static_cast<int64_t>(slice->size()) != rank) {
    return Invalid("slice does not match the operand");
  }
  DimVector src = RowMajorStrides(from.dims());
  DimVector sizes(rank);
  int64_t offset = 0;
  for (int64_t d = 0; d < rank; ++d) {
    const SliceRange& r = (*slice)[d];
    if (r.start < 0 || r.start > r.limit || r.limit > from.dim(d) ||
        r.stride < 1) {
      return Invalid("slice [", r.start, ":", r.limit, ":", r.stride,
                     "] of dimension ", d, " of ", from.ToString());
    }
    sizes[d] = (r.limit - r.start + r.stride - 1) / r.stride;
    offset += r.start * src[d];
    src[d] *= r.stride;
  }
  RIDGE_RETURN_IF_ERROR(CheckDims("the result", op.shape, sizes));
  Literal out = Literal::Zeros(op.shape);
  if (op.shape.ElementCount() == 0) return out;
  const int width = StorageBytes(op.shape.type());
  StridedCopy(op.interpreter, sizes, width, op.in(0).bytes() + offset * width,
              src, out.mutable_bytes(), RowMajorStrides(sizes));
  return out;
}

}  // namespace eval
}  // namespace ridge
