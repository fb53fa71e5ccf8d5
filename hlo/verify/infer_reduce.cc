// reduce, reduce-window, select-and-scatter and the windows they slide.
#include <algorithm>
#include <utility>

#include "hlo/verify/infer.h"

namespace ridge::infer {
namespace {

// The root shapes of a reducer: the elements of its tuple, or the one scalar.
std::vector<Shape> Results(const Computation& reducer) {
  const Shape& root = reducer.root()->shape();
  if (!root.IsTuple()) return {root};
  return {root.tuple_shapes().begin(), root.tuple_shapes().end()};
}

// The types of operands [first, first + count).
std::vector<ElementType> Types(const Instruction& i, int64_t first,
                               int64_t count) {
  std::vector<ElementType> types;
  for (int64_t k = 0; k < count; ++k) {
    types.push_back(i.operand(first + k)->shape().type());
  }
  return types;
}

// N inputs of one set of dimensions, then N scalar start values.
absl::Status CheckInputsAndInits(const Instruction& i) {
  if (i.operand_count() < 2 || i.operand_count() % 2 != 0) {
    return Invalid(Name(i.opcode()),
                   " takes N inputs and N start values, found ",
                   i.operand_count(), " operands");
  }
  const int64_t n = i.operand_count() / 2;
  const Shape& first = i.operand(0)->shape();
  for (int64_t k = 0; k < n; ++k) {
    const Shape& input = i.operand(k)->shape();
    RIDGE_RETURN_IF_ERROR(ExpectArray(input, absl::StrCat("input ", k)));
    if (!SameBounds(input, first)) {
      return Invalid("inputs of ", Name(i.opcode()),
                     " must have the same dimensions, found ", Text(first),
                     " and ", Text(input));
    }
    RIDGE_RETURN_IF_ERROR(ExpectScalar(i.operand(n + k)->shape(),
                                       absl::StrCat("start value ", k)));
  }
  return absl::OkStatus();
}

// Element count of a window dimension once dilated.
absl::StatusOr<int64_t> Dilated(int64_t size, int64_t dilation) {
  if (size == 0) return 0;
  const __int128 dilated = static_cast<__int128>(size - 1) * dilation + 1;
  if (dilated > INT64_MAX) {
    return Invalid("size ", size, " dilated by ", dilation, " overflows");
  }
  return static_cast<int64_t>(dilated);
}

}  // namespace

absl::Status CheckReducer(const Computation& reducer,
                          absl::Span<const ElementType> init,
                          absl::Span<const ElementType> input) {
  const int64_t n = static_cast<int64_t>(init.size());
  RIDGE_RETURN_IF_ERROR(ExpectParameters(reducer, 2 * n, "the reducer"));
  const std::vector<Shape> results = Results(reducer);
  if (static_cast<int64_t>(results.size()) != n) {
    return Invalid("the reducer ", reducer.name(), " must give ", n,
                   " results, found ", results.size());
  }
  for (int64_t k = 0; k < n; ++k) {
    RIDGE_RETURN_IF_ERROR(ExpectScalar(
        results[k], absl::StrCat("result ", k, " of the reducer")));
    const Shape& accumulator = reducer.parameter(k)->shape();
    const Shape& value = reducer.parameter(n + k)->shape();
    if (!CompatibleIgnoringPrecision(accumulator, results[k])) {
      return Invalid("parameter ", k, " of the reducer must be its result ",
                     Text(results[k]), ", found ", Text(accumulator));
    }
    if (!SameTypeIgnoringPrecision(init[k], results[k].type())) {
      return Invalid("start value ", k, " must have the reducer's type ",
                     Name(results[k].type()), ", found ", Name(init[k]));
    }
    RIDGE_RETURN_IF_ERROR(ExpectScalar(
        value, absl::StrCat("parameter ", n + k, " of the reducer")));
    if (!SameTypeIgnoringPrecision(value.type(), input[k])) {
      return Invalid("parameter ", n + k, " of the reducer must have type ",
                     Name(input[k]), " of input ", k, ", found ", Text(value));
    }
    if (!SameTypeIgnoringPrecision(value.type(), results[k].type())) {
      return Invalid("parameter ", n + k, " of the reducer must have type ",
                     Name(results[k].type()), " of result ", k, ", found ",
                     Text(value));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> Reduce(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(CheckInputsAndInits(i));
  RIDGE_ASSIGN_OR_RETURN(const Computation* reducer,
                         Callee(i, AttrId::kToApply));
  const int64_t n = i.operand_count() / 2;
  const Shape& input = i.operand(0)->shape();
  RIDGE_RETURN_IF_ERROR(
      ExpectDimensions(i.dimensions(), input.rank(), "reduced dimensions"));
  RIDGE_RETURN_IF_ERROR(CheckReducer(*reducer, Types(i, n, n), Types(i, 0, n)));
  DimVector dims;
  absl::InlinedVector<bool, 6> dynamic;
  for (int64_t d = 0; d < input.rank(); ++d) {
    const Ints reduced = i.dimensions();
    if (std::find(reduced.begin(), reduced.end(), d) != reduced.end()) continue;
    dims.push_back(input.dim(d));
    dynamic.push_back(input.IsDynamicDim(d));
  }
  std::vector<Shape> shapes;
  for (const Shape& result : Results(*reducer)) {
    shapes.push_back(MakeArray(result.type(), dims, dynamic));
  }
  // A reducer may give a tuple of one.
  if (reducer->root()->shape().IsTuple()) {
    return Shape::Tuple(std::move(shapes));
  }
  return shapes[0];
}

absl::StatusOr<Shape> WindowedShape(const Shape& base, const Window& window) {
  if (static_cast<int64_t>(window.size()) != base.rank()) {
    return Invalid("window must have one entry for each of the ", base.rank(),
                   " dimensions of ", Text(base), ", found ", window.size());
  }
  Shape shape = Shape::Array(base.type(), base.dims());
  for (int64_t d = 0; d < base.rank(); ++d) {
    const WindowDimension& w = window[d];
    if (w.size <= 0 || w.stride <= 0 || w.window_dilation < 1 ||
        w.base_dilation < 1) {
      return Invalid("window dimension ", d,
                     " needs size, stride and dilations above 0, found size ",
                     w.size, ", stride ", w.stride, ", dilations ",
                     w.base_dilation, " and ", w.window_dilation);
    }
    shape.set_dynamic_dim(d, base.IsDynamicDim(d));
    if (base.dim(d) == Shape::kUnbounded) continue;
    RIDGE_ASSIGN_OR_RETURN(const int64_t dilated_base,
                           Dilated(base.dim(d), w.base_dilation));
    RIDGE_ASSIGN_OR_RETURN(const int64_t dilated_window,
                           Dilated(w.size, w.window_dilation));
    const __int128 padded =
        static_cast<__int128>(dilated_base) + w.padding_low + w.padding_high;
    if (padded > INT64_MAX) {
      return Invalid("window padding ", w.padding_low, "_", w.padding_high,
                     " of dimension ", d, " overflows");
    }
    const int64_t size = static_cast<int64_t>(std::max<__int128>(padded, 0));
    shape.set_dim(d, size == 0 || dilated_window > size
                         ? 0
                         : (size - dilated_window) / w.stride + 1);
  }
  return shape;
}

absl::StatusOr<Shape> ReduceWindow(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(CheckInputsAndInits(i));
  RIDGE_ASSIGN_OR_RETURN(const Computation* reducer,
                         Callee(i, AttrId::kToApply));
  const int64_t n = i.operand_count() / 2;
  RIDGE_RETURN_IF_ERROR(CheckReducer(*reducer, Types(i, n, n), Types(i, 0, n)));
  const Window empty;
  const Window* window = i.window() == nullptr ? &empty : i.window();
  std::vector<Shape> shapes;
  for (int64_t k = 0; k < n; ++k) {
    RIDGE_ASSIGN_OR_RETURN(Shape shape,
                           WindowedShape(i.operand(k)->shape(), *window));
    shape.set_type(i.operand(n + k)->shape().type());
    shapes.push_back(std::move(shape));
  }
  if (reducer->root()->shape().IsTuple()) {
    return Shape::Tuple(std::move(shapes));
  }
  return shapes[0];
}

absl::StatusOr<Shape> SelectAndScatter(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 3));
  RIDGE_ASSIGN_OR_RETURN(const Computation* select, Callee(i, AttrId::kSelect));
  RIDGE_ASSIGN_OR_RETURN(const Computation* scatter,
                         Callee(i, AttrId::kScatter));
  const Shape& operand = i.operand(0)->shape();
  const Shape& source = i.operand(1)->shape();
  const Shape& init = i.operand(2)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "operand 0"));
  RIDGE_RETURN_IF_ERROR(ExpectArray(source, "the source"));
  RIDGE_RETURN_IF_ERROR(ExpectScalar(init, "the start value"));
  RIDGE_RETURN_IF_ERROR(ExpectParameters(*select, 2, "select"));
  const Shape& decision = select->root()->shape();
  if (!decision.IsScalar() || decision.type() != ElementType::kPred) {
    return Invalid("select must give pred[], found ", Text(decision));
  }
  for (const Instruction* parameter : select->parameters()) {
    const Shape& shape = parameter->shape();
    if (!shape.IsScalar() ||
        !SameTypeIgnoringPrecision(shape.type(), operand.type())) {
      return Invalid("parameters of select must be ", Name(operand.type()),
                     "[], found ", Text(shape));
    }
  }
  RIDGE_RETURN_IF_ERROR(CheckReducer(*scatter, {init.type()}, {source.type()}));
  const Window empty;
  RIDGE_ASSIGN_OR_RETURN(
      Shape windowed,
      WindowedShape(operand, i.window() == nullptr ? empty : *i.window()));
  if (!SameBounds(windowed, source) ||
      !SameTypeIgnoringPrecision(windowed.type(), source.type())) {
    return Invalid("the source must have the shape the window gives, ",
                   Text(windowed), ", found ", Text(source));
  }
  return operand;
}

}  // namespace ridge::infer
