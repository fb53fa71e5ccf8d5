// Control flow, calls, tuples and what passes values through.
#include <utility>

#include "hlo/verify/infer.h"

namespace ridge::infer {
namespace {

// Operand `k` against parameter `p` of `callee`.
absl::Status CheckArgument(const Instruction& i, int64_t k,
                           const Computation& callee, int64_t p) {
  const Shape& operand = i.operand(k)->shape();
  const Shape& parameter = callee.parameter(p)->shape();
  if (Compatible(operand, parameter)) return absl::OkStatus();
  return Invalid("operand ", k, " is ", Text(operand), ", but parameter ", p,
                 " of ", callee.name(), " is ", Text(parameter));
}

absl::Status CheckScalarPred(const Shape& shape, absl::string_view what) {
  if (shape.IsScalar() && shape.type() == ElementType::kPred) {
    return absl::OkStatus();
  }
  return Invalid(what, " must give pred[], found ", Text(shape));
}

}  // namespace

absl::StatusOr<Shape> While(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  RIDGE_ASSIGN_OR_RETURN(const Computation* condition,
                         Callee(i, AttrId::kCondition));
  RIDGE_ASSIGN_OR_RETURN(const Computation* body, Callee(i, AttrId::kBody));
  RIDGE_RETURN_IF_ERROR(ExpectParameters(*condition, 1, "the condition"));
  RIDGE_RETURN_IF_ERROR(ExpectParameters(*body, 1, "the body"));
  RIDGE_RETURN_IF_ERROR(CheckArgument(i, 0, *body, 0));
  RIDGE_RETURN_IF_ERROR(CheckArgument(i, 0, *condition, 0));
  RIDGE_RETURN_IF_ERROR(
      CheckScalarPred(condition->root()->shape(), "the condition"));
  // The layout is that of what goes in.
  const Shape& result = body->root()->shape();
  const Shape& start = i.operand(0)->shape();
  return Compatible(result, start) ? start : result;
}

absl::StatusOr<Shape> Conditional(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectAtLeast(i, 1));
  const Shape& index = i.operand(0)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectScalar(index, "operand 0 of conditional"));
  const std::vector<Computation*> branches = i.branches();
  if (index.type() == ElementType::kPred) {
    if (branches.size() != 2) {
      return Invalid("a conditional on pred has 2 branches, found ",
                     branches.size());
    }
  } else if (index.type() != ElementType::kS32) {
    return Invalid("operand 0 of conditional must be pred[] or s32[], found ",
                   Text(index));
  } else if (branches.empty()) {
    return Invalid("a conditional needs at least one branch");
  }
  const int64_t count = static_cast<int64_t>(branches.size());
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, count + 1));
  for (int64_t b = 0; b < count; ++b) {
    const Computation* branch = branches[b];
    if (branch == nullptr || branch->root() == nullptr) {
      return Invalid("branch ", b, " is missing or has no root");
    }
    RIDGE_RETURN_IF_ERROR(ExpectParameters(*branch, 1, "branch"));
    if (branch->parameter(0) == nullptr) {
      return Invalid("branch ", branch->name(), " lacks its parameter");
    }
    RIDGE_RETURN_IF_ERROR(CheckArgument(i, b + 1, *branch, 0));
    const Shape& first = branches[0]->root()->shape();
    if (!Compatible(branch->root()->shape(), first)) {
      return Invalid("branches must give one shape, found ", Text(first),
                     " and ", Text(branch->root()->shape()), " of ",
                     branch->name());
    }
  }
  return branches[0]->root()->shape();
}

absl::StatusOr<Shape> Call(const Instruction& i) {
  RIDGE_ASSIGN_OR_RETURN(const Computation* callee,
                         Callee(i, AttrId::kToApply));
  RIDGE_RETURN_IF_ERROR(
      ExpectParameters(*callee, i.operand_count(), "the called computation"));
  for (int64_t k = 0; k < i.operand_count(); ++k) {
    RIDGE_RETURN_IF_ERROR(CheckArgument(i, k, *callee, k));
  }
  return callee->root()->shape();
}

absl::StatusOr<Shape> Fusion(const Instruction& i) {
  RIDGE_ASSIGN_OR_RETURN(const Computation* callee, Callee(i, AttrId::kCalls));
  const int64_t parameters = static_cast<int64_t>(callee->parameters().size());
  // A fusion may have operands that it does not use.
  if (parameters > i.operand_count()) {
    return Invalid("the fused computation has ", parameters,
                   " parameters, greater than the number of operands, ",
                   i.operand_count());
  }
  for (int64_t p = 0; p < parameters; ++p) {
    RIDGE_RETURN_IF_ERROR(CheckArgument(i, p, *callee, p));
  }
  return callee->root()->shape();
}

absl::StatusOr<Shape> Map(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectAtLeast(i, 1));
  RIDGE_ASSIGN_OR_RETURN(const Computation* mapped,
                         Callee(i, AttrId::kToApply));
  RIDGE_RETURN_IF_ERROR(
      ExpectParameters(*mapped, i.operand_count(), "the mapped computation"));
  const Shape& first = i.operand(0)->shape();
  for (int64_t k = 0; k < i.operand_count(); ++k) {
    const Shape& operand = i.operand(k)->shape();
    const Shape& parameter = mapped->parameter(k)->shape();
    RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "operands of map"));
    if (!SameBounds(operand, first)) {
      return Invalid("operands of map must have the same dimensions, found ",
                     Text(first), " and ", Text(operand));
    }
    if (!parameter.IsScalar() ||
        !SameTypeIgnoringPrecision(parameter.type(), operand.type())) {
      return Invalid("parameter ", k, " of the mapped computation must be ",
                     Name(operand.type()), "[], found ", Text(parameter));
    }
  }
  // XLA maps over all dimensions whatever `dimensions` says.
  const Shape& result = mapped->root()->shape();
  RIDGE_RETURN_IF_ERROR(ExpectScalar(result, "the mapped result"));
  Shape shape = first;
  shape.set_type(result.type());
  return shape;
}

absl::StatusOr<Shape> CustomCall(const Instruction& i) {
  if (const auto* constraints =
          i.boxed<std::vector<Shape>>(AttrId::kOperandLayoutConstraints)) {
    if (static_cast<int64_t>(constraints->size()) != i.operand_count()) {
      return Invalid("operand_layout_constraints needs ", i.operand_count(),
                     " entries, one an operand; found ", constraints->size());
    }
    for (int64_t k = 0; k < i.operand_count(); ++k) {
      if (!Compatible((*constraints)[k], i.operand(k)->shape())) {
        return Invalid("layout constraint ", k, " must have the shape ",
                       Text(i.operand(k)->shape()), " of operand ", k,
                       ", found ", Text((*constraints)[k]));
      }
    }
  }
  return i.shape();
}

absl::StatusOr<Shape> Tuple(const Instruction& i) {
  std::vector<Shape> shapes;
  shapes.reserve(i.operands().size());
  for (const Instruction* operand : i.operands()) {
    shapes.push_back(operand->shape());
  }
  return Shape::Tuple(std::move(shapes));
}

absl::StatusOr<Shape> GetTupleElement(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& tuple = i.operand(0)->shape();
  if (!tuple.IsTuple()) {
    return Invalid("get-tuple-element takes a tuple, found ", Text(tuple));
  }
  const int64_t size = static_cast<int64_t>(tuple.tuple_shapes().size());
  const int64_t index = i.int_attr(AttrId::kIndex, -1);
  if (index < 0 || index >= size) {
    return Invalid("index ", index, " is outside [0, ", size, ") of ",
                   Text(tuple));
  }
  return tuple.tuple_shape(index);
}

absl::StatusOr<Shape> Parameter(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 0));
  return i.shape();
}

absl::StatusOr<Shape> Constant(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 0));
  if (i.shared_literal() == nullptr) {
    return Invalid("a constant needs a literal, found none");
  }
  return i.literal().shape();
}

absl::StatusOr<Shape> FirstOperand(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  return i.operand(0)->shape();
}

absl::StatusOr<Shape> AfterAll(const Instruction& /*i*/) {
  // Operands may be of any shape: only their order matters.
  return Shape::Token();
}

absl::StatusOr<Shape> AddDependency(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 2));
  RIDGE_RETURN_IF_ERROR(
      ExpectToken(i.operand(1)->shape(), "operand 1 of add-dependency"));
  return i.operand(0)->shape();
}

absl::StatusOr<Shape> GetDimensionSize(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& operand = i.operand(0)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "the operand"));
  RIDGE_ASSIGN_OR_RETURN(const int64_t dim, OneDimension(i));
  RIDGE_RETURN_IF_ERROR(ExpectDimension(dim, operand.rank(), "dimension"));
  return Shape::Scalar(ElementType::kS32);
}

absl::StatusOr<Shape> SetDimensionSize(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 2));
  Shape shape = i.operand(0)->shape();
  const Shape& size = i.operand(1)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(shape, "operand 0"));
  if (!size.IsScalar() || size.type() != ElementType::kS32) {
    return Invalid("the size must be s32[], found ", Text(size));
  }
  RIDGE_ASSIGN_OR_RETURN(const int64_t dim, OneDimension(i));
  RIDGE_RETURN_IF_ERROR(ExpectDimension(dim, shape.rank(), "dimension"));
  shape.set_dynamic_dim(dim, true);
  return shape;
}

}  // namespace ridge::infer
