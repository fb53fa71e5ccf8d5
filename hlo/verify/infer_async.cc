// Asynchronous pairs, copies between memories, and traffic with the host.
#include <utility>

#include "hlo/verify/infer.h"

namespace ridge::infer {
namespace {

// ((operands), result, state...)
absl::Status ExpectAsyncShape(const Shape& shape) {
  if (shape.IsTuple() && shape.tuple_shapes().size() >= 2 &&
      shape.tuple_shape(0).IsTuple()) {
    return absl::OkStatus();
  }
  return Invalid(
      "an asynchronous shape is ((operands), result, state...), "
      "found ",
      Text(shape));
}

}  // namespace

absl::StatusOr<Shape> AsyncStart(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectAsyncShape(i.shape()));
  RIDGE_ASSIGN_OR_RETURN(const Computation* callee, Callee(i, AttrId::kCalls));
  const Shape& operands = i.shape().tuple_shape(0);
  const int64_t n = static_cast<int64_t>(operands.tuple_shapes().size());
  if (n != static_cast<int64_t>(callee->parameters().size())) {
    return Invalid(
        "async-start expects the async shape at index {0} to match "
        "the ",
        callee->parameters().size(), " parameters of ", callee->name(),
        ", found ", Text(operands));
  }
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, n));
  for (int64_t k = 0; k < n; ++k) {
    const Shape& parameter = callee->parameter(k)->shape();
    if (!Compatible(operands.tuple_shape(k), parameter)) {
      return Invalid(
          "async-start expects the async shape at index {0} to "
          "match async computation parameter shape, ",
          Text(parameter), " for parameter ", k, "; found ",
          Text(operands.tuple_shape(k)));
    }
    if (!Compatible(operands.tuple_shape(k), i.operand(k)->shape())) {
      return Invalid("async-start expects the shape of operand ", k,
                     " to match the async shape at index {0}, ",
                     Text(operands.tuple_shape(k)), "; found ",
                     Text(i.operand(k)->shape()));
    }
  }
  const Shape& root = callee->root()->shape();
  if (!Compatible(i.shape().tuple_shape(1), root)) {
    return Invalid(
        "async-start expects the async shape at index {1} to match "
        "the async computation root shape, ",
        Text(root), "; found ", Text(i.shape().tuple_shape(1)));
  }
  return i.shape();
}

absl::StatusOr<Shape> AsyncUpdate(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  RIDGE_RETURN_IF_ERROR(ExpectAsyncShape(i.operand(0)->shape()));
  return i.operand(0)->shape();
}

absl::StatusOr<Shape> AsyncDone(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  RIDGE_RETURN_IF_ERROR(ExpectAsyncShape(i.operand(0)->shape()));
  return i.operand(0)->shape().tuple_shape(1);
}

absl::StatusOr<Shape> CopyStart(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& source = i.operand(0)->shape();
  return Shape::Tuple({source, source, Shape::Scalar(ElementType::kU32)});
}

absl::StatusOr<Shape> CopyDone(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& start = i.operand(0)->shape();
  if (!start.IsTuple() || start.tuple_shapes().size() < 2) {
    return Invalid("copy-done takes (destination, source, context), found ",
                   Text(start));
  }
  if (!Compatible(start.tuple_shape(0), start.tuple_shape(1))) {
    return Invalid(
        "destination and source of a copy must have one shape, "
        "found ",
        Text(start.tuple_shape(0)), " and ", Text(start.tuple_shape(1)));
  }
  return start.tuple_shape(0);
}

// XLA's parser takes the shapes of send and send-done from the operands
// whatever the text says, so that texts differ in them.
absl::StatusOr<Shape> Send(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 2));
  return Shape::Tuple({i.operand(0)->shape(), Shape::Scalar(ElementType::kU32),
                       Shape::Token()});
}

absl::StatusOr<Shape> SendDone(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  return Shape::Token();
}

absl::StatusOr<Shape> Recv(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  RIDGE_RETURN_IF_ERROR(
      ExpectToken(i.operand(0)->shape(), "operand 0 of recv"));
  if (!i.shape().IsTuple() || i.shape().tuple_shapes().empty()) {
    return Invalid("recv gives (data, u32[], token[]), found ",
                   Text(i.shape()));
  }
  return Shape::Tuple({i.shape().tuple_shape(0),
                       Shape::Scalar(ElementType::kU32), Shape::Token()});
}

absl::StatusOr<Shape> RecvDone(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& recv = i.operand(0)->shape();
  if (!recv.IsTuple() || recv.tuple_shapes().empty()) {
    return Invalid("recv-done takes (data, u32[], token[]), found ",
                   Text(recv));
  }
  return Shape::Tuple({recv.tuple_shape(0), Shape::Token()});
}

absl::StatusOr<Shape> Infeed(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  RIDGE_RETURN_IF_ERROR(
      ExpectToken(i.operand(0)->shape(), "operand 0 of infeed"));
  if (!i.shape().IsTuple() || i.shape().tuple_shapes().empty()) {
    return Invalid("infeed gives (data, token[]), found ", Text(i.shape()));
  }
  return Shape::Tuple({i.shape().tuple_shape(0), Shape::Token()});
}

absl::StatusOr<Shape> Outfeed(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 2));
  RIDGE_RETURN_IF_ERROR(
      ExpectToken(i.operand(1)->shape(), "operand 1 of outfeed"));
  const Shape* sent = i.boxed<Shape>(AttrId::kOutfeedShape);
  if (sent != nullptr && !Compatible(*sent, i.operand(0)->shape())) {
    return Invalid("outfeed_shape must be that of operand 0, ",
                   Text(i.operand(0)->shape()), ", found ", Text(*sent));
  }
  return Shape::Token();
}

}  // namespace ridge::infer
