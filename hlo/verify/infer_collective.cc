// Collectives: how shards change shapes.
#include <utility>

#include "hlo/verify/infer.h"

namespace ridge::infer {
namespace {

// Sizes along the gathered or scattered dimension of operand 0 and result 0,
// as (large, small); the number of shards follows from them.
absl::StatusOr<int64_t> Ratio(int64_t large, int64_t small,
                              absl::string_view what) {
  if (small == Shape::kUnbounded || large == Shape::kUnbounded) return 1;
  if (small <= 0 || large <= 0 || large % small != 0) {
    if (small == 0 && large == 0) return 1;
    return Invalid(what, ": ", large, " is no multiple of ", small);
  }
  return large / small;
}

// Element k of a result that is one shape for one operand, else a tuple.
absl::StatusOr<const Shape*> Result(const Shape& shape, int64_t count,
                                    int64_t k) {
  if (count == 1) return &shape;
  if (!shape.IsTuple() ||
      static_cast<int64_t>(shape.tuple_shapes().size()) != count) {
    return Invalid("the result must be a tuple of ", count,
                   " elements, one an operand; found ", Text(shape));
  }
  return &shape.tuple_shape(k);
}

absl::Status ExpectArrays(const Instruction& i) {
  for (const Instruction* operand : i.operands()) {
    RIDGE_RETURN_IF_ERROR(ExpectArray(operand->shape(), "an operand"));
  }
  return absl::OkStatus();
}

// The gathered results, whose shard count is what `result` says.
absl::StatusOr<Shape> Gathered(const Instruction& i, const Shape& result) {
  RIDGE_RETURN_IF_ERROR(ExpectAtLeast(i, 1));
  RIDGE_RETURN_IF_ERROR(ExpectArrays(i));
  RIDGE_ASSIGN_OR_RETURN(const int64_t dim, OneDimension(i));
  const int64_t n = i.operand_count();
  std::vector<Shape> shapes;
  int64_t shards = 1;
  for (int64_t k = 0; k < n; ++k) {
    Shape shape = i.operand(k)->shape();
    RIDGE_RETURN_IF_ERROR(
        ExpectDimension(dim, shape.rank(), "all-gather dimension"));
    if (k == 0) {
      RIDGE_ASSIGN_OR_RETURN(const Shape* out, Result(result, n, 0));
      RIDGE_RETURN_IF_ERROR(ExpectArray(*out, "a result of all-gather"));
      RIDGE_RETURN_IF_ERROR(
          ExpectDimension(dim, out->rank(), "all-gather dimension"));
      RIDGE_ASSIGN_OR_RETURN(
          shards, Ratio(out->dim(dim), shape.dim(dim), "gathered size"));
    }
    if (shape.dim(dim) != Shape::kUnbounded) {
      shape.set_dim(dim, SaturatingMul(shape.dim(dim), shards));
    }
    shapes.push_back(std::move(shape));
  }
  return TupleOrOne(std::move(shapes));
}

// In-place collective-permute: (input, output, input offsets, output offsets).
bool IsInPlace(const Instruction& i) {
  return i.has(AttrId::kPermuteSliceSizes) && i.operand_count() == 4;
}

}  // namespace

absl::StatusOr<Shape> AllGather(const Instruction& i) {
  return Gathered(i, i.shape());
}

absl::StatusOr<Shape> AllGatherStart(const Instruction& i) {
  if (!i.shape().IsTuple() || i.shape().tuple_shapes().size() < 2) {
    return Invalid("all-gather-start gives (operands, results), found ",
                   Text(i.shape()));
  }
  RIDGE_ASSIGN_OR_RETURN(Shape gathered, Gathered(i, i.shape().tuple_shape(1)));
  return Shape::Tuple(
      {OperandsAsShape(i, 0, i.operand_count()), std::move(gathered)});
}

absl::StatusOr<Shape> AllGatherDone(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& start = i.operand(0)->shape();
  if (!start.IsTuple() || start.tuple_shapes().size() < 2) {
    return Invalid(Name(i.opcode()), " takes what its start gives, found ",
                   Text(start));
  }
  return start.tuple_shape(1);
}

absl::StatusOr<Shape> AllReduce(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectAtLeast(i, 1));
  RIDGE_RETURN_IF_ERROR(ExpectArrays(i));
  RIDGE_RETURN_IF_ERROR(Callee(i, AttrId::kToApply).status());
  return OperandsAsShape(i, 0, i.operand_count());
}

absl::StatusOr<Shape> AllReduceDone(const Instruction& i) {
  return FirstOperand(i);
}

absl::StatusOr<Shape> ReduceScatter(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectAtLeast(i, 1));
  RIDGE_RETURN_IF_ERROR(ExpectArrays(i));
  RIDGE_RETURN_IF_ERROR(Callee(i, AttrId::kToApply).status());
  RIDGE_ASSIGN_OR_RETURN(const int64_t dim, OneDimension(i));
  const int64_t n = i.operand_count();
  std::vector<Shape> shapes;
  int64_t shards = 1;
  for (int64_t k = 0; k < n; ++k) {
    Shape shape = i.operand(k)->shape();
    RIDGE_RETURN_IF_ERROR(
        ExpectDimension(dim, shape.rank(), "reduce-scatter dimension"));
    if (k == 0) {
      RIDGE_ASSIGN_OR_RETURN(const Shape* out, Result(i.shape(), n, 0));
      RIDGE_RETURN_IF_ERROR(ExpectArray(*out, "a result of reduce-scatter"));
      RIDGE_RETURN_IF_ERROR(
          ExpectDimension(dim, out->rank(), "reduce-scatter dimension"));
      RIDGE_ASSIGN_OR_RETURN(
          shards, Ratio(shape.dim(dim), out->dim(dim), "scattered size"));
    }
    if (shape.dim(dim) != Shape::kUnbounded) {
      if (shape.dim(dim) % shards != 0) {
        return Invalid("size ", shape.dim(dim), " of operand ", k,
                       " is no multiple of the ", shards, " shards");
      }
      shape.set_dim(dim, shape.dim(dim) / shards);
    }
    shapes.push_back(std::move(shape));
  }
  return TupleOrOne(std::move(shapes));
}

absl::StatusOr<Shape> AllToAll(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectAtLeast(i, 1));
  RIDGE_RETURN_IF_ERROR(ExpectArrays(i));
  if (i.has(AttrId::kDimensions)) {
    RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
    RIDGE_ASSIGN_OR_RETURN(const int64_t dim, OneDimension(i));
    const Shape& shape = i.operand(0)->shape();
    RIDGE_RETURN_IF_ERROR(
        ExpectDimension(dim, shape.rank(), "all-to-all dimension"));
    return shape;
  }
  // Each operand is sent to one participant, so all have one shape, layout
  // included where both have one.
  const Shape& first = i.operand(0)->shape();
  for (const Instruction* operand : i.operands()) {
    const Shape& shape = operand->shape();
    const bool layouts_differ =
        first.has_layout() && shape.has_layout() &&
        first.layout().minor_to_major != shape.layout().minor_to_major;
    if (!Compatible(first, shape) || layouts_differ) {
      return Invalid("all-to-all has operands with different shapes: ",
                     first.ToString(true), " and ", shape.ToString(true));
    }
  }
  // A tuple even of one element: this is the form with one operand for each
  // participant.
  if (i.operand_count() == 1 && !i.shape().IsTuple()) return first;
  std::vector<Shape> shapes(static_cast<size_t>(i.operand_count()), first);
  return Shape::Tuple(std::move(shapes));
}

absl::StatusOr<Shape> RaggedAllToAll(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 6));
  RIDGE_RETURN_IF_ERROR(ExpectArrays(i));
  const Shape& input = i.operand(0)->shape();
  const Shape& output = i.operand(1)->shape();
  if (input.type() != output.type() || input.rank() != output.rank()) {
    return Invalid("input and output must have one type and rank, found ",
                   Text(input), " and ", Text(output));
  }
  const Shape& offsets = i.operand(2)->shape();
  for (int64_t k = 2; k < 6; ++k) {
    const Shape& shape = i.operand(k)->shape();
    if (!IsInteger(shape.type()) || shape.rank() < 1 || shape.rank() > 2) {
      return Invalid(
          "offsets and sizes must be integer arrays of rank 1 or "
          "2, found ",
          Text(shape));
    }
    if (!SameBounds(shape, offsets)) {
      return Invalid("offsets and sizes must have the same dimensions, found ",
                     Text(offsets), " and ", Text(shape));
    }
  }
  return output;
}

absl::StatusOr<Shape> CollectiveBroadcast(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectAtLeast(i, 1));
  RIDGE_RETURN_IF_ERROR(ExpectArrays(i));
  return OperandsAsShape(i, 0, i.operand_count());
}

absl::StatusOr<Shape> CollectivePermute(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectAtLeast(i, 1));
  if (IsInPlace(i)) return i.operand(1)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArrays(i));
  return OperandsAsShape(i, 0, i.operand_count());
}

absl::StatusOr<Shape> CollectivePermuteStart(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectAtLeast(i, 1));
  if (!i.shape().IsTuple() || i.shape().tuple_shapes().size() < 2) {
    return Invalid(
        "collective-permute-start gives (operands, results, "
        "context...), found ",
        Text(i.shape()));
  }
  std::vector<Shape> shapes;
  if (IsInPlace(i)) {
    shapes.push_back(i.operand(0)->shape());
    shapes.push_back(i.operand(1)->shape());
  } else {
    shapes.push_back(OperandsAsShape(i, 0, i.operand_count()));
    shapes.push_back(shapes.back());
  }
  for (size_t k = 2; k < i.shape().tuple_shapes().size(); ++k) {
    shapes.push_back(i.shape().tuple_shape(k));
  }
  return Shape::Tuple(std::move(shapes));
}

absl::StatusOr<Shape> CollectivePermuteDone(const Instruction& i) {
  return AllGatherDone(i);
}

absl::StatusOr<Shape> DeviceId(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 0));
  return Shape::Scalar(ElementType::kU32);
}

}  // namespace ridge::infer
