// Operations that read or write at computed positions, sort and topk.
#include <algorithm>
#include <utility>

#include "hlo/verify/infer.h"

namespace ridge::infer {
namespace {

bool Contains(Ints values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

absl::Status ExpectSorted(Ints values, absl::string_view what) {
  if (std::is_sorted(values.begin(), values.end())) return absl::OkStatus();
  return Invalid(what, " must be sorted, found ", Braced(values));
}

// Start indices from operand `first` on: one integer scalar a dimension, or
// one vector (the older form).
absl::Status CheckStartIndices(const Instruction& i, int64_t first,
                               int64_t rank) {
  const int64_t count = i.operand_count() - first;
  if (count == 1 && i.operand(first)->shape().IsArray() &&
      i.operand(first)->shape().rank() == 1) {
    const Shape& indices = i.operand(first)->shape();
    if (!IsInteger(indices.type()) || indices.dim(0) != rank) {
      return Invalid("start indices must be an integer vector of size ", rank,
                     ", found ", Text(indices));
    }
    return absl::OkStatus();
  }
  if (count != rank) {
    return Invalid(Name(i.opcode()), " needs one start index for each of the ",
                   rank, " dimensions, found ", count);
  }
  for (int64_t k = first; k < i.operand_count(); ++k) {
    const Shape& index = i.operand(k)->shape();
    if (!index.IsScalar() || !IsInteger(index.type())) {
      return Invalid("start index ", k - first,
                     " must be an integer scalar, found ", Text(index));
    }
    if (index.type() != i.operand(first)->shape().type()) {
      return Invalid("start indices must have one type, found ",
                     Name(i.operand(first)->shape().type()), " and ",
                     Name(index.type()));
    }
  }
  return absl::OkStatus();
}

// The index operand of gather and scatter and what its dimensions are.
absl::Status CheckIndices(const Shape& indices, int64_t vector_dim) {
  if (!indices.IsArray() || !IsInteger(indices.type())) {
    return Invalid("indices must be an integer array, found ", Text(indices));
  }
  if (vector_dim < 0 || vector_dim > indices.rank()) {
    return Invalid("index_vector_dim ", vector_dim, " is outside [0, ",
                   indices.rank(), "]");
  }
  return absl::OkStatus();
}

int64_t IndexVectorSize(const Shape& indices, int64_t vector_dim) {
  return vector_dim == indices.rank() ? 1 : indices.dim(vector_dim);
}

// The three roles that an operand dimension can have in gather and scatter.
struct OperandRoles {
  Ints index_map;  // start_index_map / scatter_dims_to_operand_dims
  Ints collapsed;  // collapsed_slice_dims / inserted_window_dims
  Ints batching;   // operand_batching_dims / input_batching_dims
  Ints index_batching;
  absl::string_view index_map_name, collapsed_name, batching_name,
      index_batching_name;
};

absl::Status CheckRoles(const OperandRoles& r, const Shape& operand,
                        const Shape& indices, int64_t vector_dim) {
  const int64_t vector_size = IndexVectorSize(indices, vector_dim);
  if (vector_size != Shape::kUnbounded &&
      static_cast<int64_t>(r.index_map.size()) != vector_size) {
    return Invalid(r.index_map_name, " must have ", vector_size,
                   " entries, the size of an index vector; found ",
                   Braced(r.index_map));
  }
  RIDGE_RETURN_IF_ERROR(
      ExpectDimensions(r.index_map, operand.rank(), r.index_map_name));
  RIDGE_RETURN_IF_ERROR(ExpectSorted(r.collapsed, r.collapsed_name));
  RIDGE_RETURN_IF_ERROR(
      ExpectDimensions(r.collapsed, operand.rank(), r.collapsed_name));
  RIDGE_RETURN_IF_ERROR(ExpectSorted(r.batching, r.batching_name));
  RIDGE_RETURN_IF_ERROR(
      ExpectDimensions(r.batching, operand.rank(), r.batching_name));
  RIDGE_RETURN_IF_ERROR(ExpectDimensions(r.index_batching, indices.rank(),
                                         r.index_batching_name));
  for (int64_t d : r.batching) {
    if (Contains(r.collapsed, d) || Contains(r.index_map, d)) {
      return Invalid(
          r.batching_name, " ", Braced(r.batching), ": ", d, " is also in ",
          Contains(r.collapsed, d) ? r.collapsed_name : r.index_map_name);
    }
  }
  if (r.batching.size() != r.index_batching.size()) {
    return Invalid(r.batching_name, " and ", r.index_batching_name,
                   " must have one length, found ", Braced(r.batching), " and ",
                   Braced(r.index_batching));
  }
  for (size_t k = 0; k < r.batching.size(); ++k) {
    if (r.index_batching[k] == vector_dim) {
      return Invalid(r.index_batching_name, " ", Braced(r.index_batching),
                     " must not hold index_vector_dim ", vector_dim);
    }
    if (operand.dim(r.batching[k]) != indices.dim(r.index_batching[k])) {
      return Invalid(r.batching_name, " dimension ", r.batching[k],
                     " has size ", operand.dim(r.batching[k]),
                     ", its indices dimension ", r.index_batching[k], " ",
                     indices.dim(r.index_batching[k]));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> DynamicSlice(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectAtLeast(i, 1));
  const Shape& operand = i.operand(0)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "operand 0 of dynamic-slice"));
  RIDGE_RETURN_IF_ERROR(CheckStartIndices(i, 1, operand.rank()));
  const Ints sizes = i.ints(AttrId::kDynamicSliceSizes);
  if (static_cast<int64_t>(sizes.size()) != operand.rank()) {
    return Invalid("dynamic_slice_sizes needs ", operand.rank(),
                   " entries, found ", Braced(sizes));
  }
  Shape shape = Shape::Array(operand.type(), sizes);
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (sizes[d] < 0 ||
        (operand.dim(d) != Shape::kUnbounded && sizes[d] > operand.dim(d))) {
      return Invalid("slice size ", sizes[d], " of dimension ", d,
                     " is outside [0, ", operand.dim(d), "] of ",
                     Text(operand));
    }
    // A full slice of a dynamic dimension stays dynamic.
    if (operand.IsDynamicDim(d) && sizes[d] == operand.dim(d)) {
      shape.set_dynamic_dim(d, true);
    }
  }
  return shape;
}

absl::StatusOr<Shape> DynamicUpdateSlice(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectAtLeast(i, 2));
  const Shape& operand = i.operand(0)->shape();
  const Shape& update = i.operand(1)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "operand 0"));
  RIDGE_RETURN_IF_ERROR(ExpectArray(update, "the update"));
  RIDGE_RETURN_IF_ERROR(CheckStartIndices(i, 2, operand.rank()));
  if (update.rank() != operand.rank() ||
      !SameTypeIgnoringPrecision(update.type(), operand.type())) {
    return Invalid("the update must have rank and type of ", Text(operand),
                   ", found ", Text(update));
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (operand.dim(d) == Shape::kUnbounded ||
        update.dim(d) == Shape::kUnbounded) {
      continue;
    }
    if (update.dim(d) > operand.dim(d)) {
      return Invalid("the update ", Text(update), " exceeds ", Text(operand),
                     " in dimension ", d);
    }
  }
  return operand;
}

absl::StatusOr<Shape> Gather(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 2));
  const Shape& operand = i.operand(0)->shape();
  const Shape& indices = i.operand(1)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "operand 0 of gather"));
  const int64_t vector_dim = i.int_attr(AttrId::kIndexVectorDim, -1);
  RIDGE_RETURN_IF_ERROR(CheckIndices(indices, vector_dim));
  const Ints offset = i.ints(AttrId::kOffsetDims);
  const OperandRoles roles = {i.ints(AttrId::kStartIndexMap),
                              i.ints(AttrId::kCollapsedSliceDims),
                              i.ints(AttrId::kOperandBatchingDims),
                              i.ints(AttrId::kStartIndicesBatchingDims),
                              "start_index_map",
                              "collapsed_slice_dims",
                              "operand_batching_dims",
                              "start_indices_batching_dims"};
  RIDGE_RETURN_IF_ERROR(CheckRoles(roles, operand, indices, vector_dim));
  const Ints sizes = i.ints(AttrId::kSliceSizes);
  if (static_cast<int64_t>(sizes.size()) != operand.rank()) {
    return Invalid("slice_sizes needs ", operand.rank(), " entries, found ",
                   Braced(sizes));
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (sizes[d] < 0 ||
        (operand.dim(d) != Shape::kUnbounded && sizes[d] > operand.dim(d))) {
      return Invalid("slice size ", sizes[d], " of dimension ", d,
                     " is outside [0, ", operand.dim(d), "]");
    }
    const bool one =
        Contains(roles.collapsed, d) || Contains(roles.batching, d);
    if (one && sizes[d] > 1) {
      return Invalid("slice size of collapsed or batching dimension ", d,
                     " must be at most 1, found ", sizes[d]);
    }
  }
  const size_t window =
      sizes.size() - roles.collapsed.size() - roles.batching.size();
  if (offset.size() != window) {
    return Invalid("offset_dims must name ", window,
                   " dimensions (those of the slice that are not collapsed), "
                   "found ",
                   Braced(offset));
  }
  RIDGE_RETURN_IF_ERROR(ExpectSorted(offset, "offset_dims"));
  const int64_t batch_rank =
      indices.rank() - (vector_dim < indices.rank() ? 1 : 0);
  const int64_t rank = batch_rank + static_cast<int64_t>(offset.size());
  RIDGE_RETURN_IF_ERROR(ExpectDimensions(offset, rank, "offset_dims"));
  DimVector dims;
  absl::InlinedVector<bool, 6> dynamic;
  int64_t next_index = 0;
  int64_t next_slice = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (Contains(offset, d)) {
      while (Contains(roles.collapsed, next_slice) ||
             Contains(roles.batching, next_slice)) {
        ++next_slice;
      }
      dims.push_back(sizes[next_slice]);
      dynamic.push_back(operand.IsDynamicDim(next_slice) &&
                        sizes[next_slice] == operand.dim(next_slice));
      ++next_slice;
    } else {
      if (next_index == vector_dim) ++next_index;
      dims.push_back(indices.dim(next_index));
      dynamic.push_back(indices.IsDynamicDim(next_index));
      ++next_index;
    }
  }
  return MakeArray(operand.type(), dims, dynamic);
}

absl::StatusOr<Shape> Scatter(const Instruction& i) {
  if (i.operand_count() < 3 || i.operand_count() % 2 == 0) {
    return Invalid("scatter takes N operands, indices and N updates, found ",
                   i.operand_count(), " operands");
  }
  RIDGE_ASSIGN_OR_RETURN(const Computation* combiner,
                         Callee(i, AttrId::kToApply));
  const int64_t n = i.operand_count() / 2;
  const Shape& operand = i.operand(0)->shape();
  const Shape& indices = i.operand(n)->shape();
  std::vector<ElementType> operand_types;
  std::vector<ElementType> update_types;
  for (int64_t k = 0; k < n; ++k) {
    const Shape& input = i.operand(k)->shape();
    const Shape& update = i.operand(n + 1 + k)->shape();
    RIDGE_RETURN_IF_ERROR(ExpectArray(input, "an operand of scatter"));
    RIDGE_RETURN_IF_ERROR(ExpectArray(update, "an update of scatter"));
    if (!SameBounds(input, operand) ||
        !SameBounds(update, i.operand(n + 1)->shape())) {
      return Invalid(
          "operands of scatter must have the same dimensions, and "
          "so must its updates, found ",
          Text(input), " and ", Text(update));
    }
    operand_types.push_back(input.type());
    update_types.push_back(update.type());
  }
  const int64_t vector_dim = i.int_attr(AttrId::kIndexVectorDim, -1);
  RIDGE_RETURN_IF_ERROR(CheckIndices(indices, vector_dim));
  RIDGE_RETURN_IF_ERROR(CheckReducer(*combiner, operand_types, update_types));
  const Ints window = i.ints(AttrId::kUpdateWindowDims);
  const OperandRoles roles = {i.ints(AttrId::kScatterDimsToOperandDims),
                              i.ints(AttrId::kInsertedWindowDims),
                              i.ints(AttrId::kInputBatchingDims),
                              i.ints(AttrId::kScatterIndicesBatchingDims),
                              "scatter_dims_to_operand_dims",
                              "inserted_window_dims",
                              "input_batching_dims",
                              "scatter_indices_batching_dims"};
  RIDGE_RETURN_IF_ERROR(CheckRoles(roles, operand, indices, vector_dim));
  const Shape& update = i.operand(n + 1)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectSorted(window, "update_window_dims"));
  RIDGE_RETURN_IF_ERROR(
      ExpectDimensions(window, update.rank(), "update_window_dims"));
  const int64_t batch_rank =
      indices.rank() - (vector_dim < indices.rank() ? 1 : 0);
  const int64_t window_rank = static_cast<int64_t>(window.size());
  if (update.rank() != batch_rank + window_rank) {
    return Invalid("updates must have rank ", batch_rank + window_rank,
                   " (index dimensions and update_window_dims), found ",
                   Text(update));
  }
  const int64_t covered = window_rank +
                          static_cast<int64_t>(roles.collapsed.size()) +
                          static_cast<int64_t>(roles.batching.size());
  if (covered != operand.rank()) {
    return Invalid(
        "update_window_dims, inserted_window_dims and "
        "input_batching_dims must cover the ",
        operand.rank(), " operand dimensions, found ", covered);
  }
  int64_t next_index = 0;
  int64_t next_operand = 0;
  for (int64_t d = 0; d < update.rank(); ++d) {
    const int64_t size = update.dim(d);
    if (Contains(window, d)) {
      while (Contains(roles.collapsed, next_operand) ||
             Contains(roles.batching, next_operand)) {
        ++next_operand;
      }
      const int64_t bound = operand.dim(next_operand++);
      if (size != Shape::kUnbounded && bound != Shape::kUnbounded &&
          size > bound) {
        return Invalid("update window dimension ", d, " has size ", size,
                       ", the operand only ", bound);
      }
    } else {
      if (next_index == vector_dim) ++next_index;
      const int64_t wanted = indices.dim(next_index++);
      if (size != wanted && size != Shape::kUnbounded &&
          wanted != Shape::kUnbounded) {
        return Invalid("update dimension ", d, " has size ", size,
                       ", the indices ", wanted);
      }
    }
  }
  return OperandsAsShape(i, 0, n);
}

absl::StatusOr<Shape> Sort(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectAtLeast(i, 1));
  RIDGE_ASSIGN_OR_RETURN(const Computation* compare,
                         Callee(i, AttrId::kToApply));
  RIDGE_ASSIGN_OR_RETURN(const int64_t dim, OneDimension(i));
  const Shape& first = i.operand(0)->shape();
  for (const Instruction* operand : i.operands()) {
    RIDGE_RETURN_IF_ERROR(ExpectArray(operand->shape(), "operands of sort"));
    if (!SameBounds(operand->shape(), first)) {
      return Invalid("operands of sort must have the same dimensions, found ",
                     Text(first), " and ", Text(operand->shape()));
    }
  }
  RIDGE_RETURN_IF_ERROR(ExpectDimension(dim, first.rank(), "sort dimension"));
  const Shape& decision = compare->root()->shape();
  if (!decision.IsScalar() || decision.type() != ElementType::kPred) {
    return Invalid("the comparison of sort must give pred[], found ",
                   Text(decision));
  }
  RIDGE_RETURN_IF_ERROR(ExpectParameters(*compare, 2 * i.operand_count(),
                                         "the comparison of sort"));
  for (int64_t k = 0; k < 2 * i.operand_count(); ++k) {
    const Shape& parameter = compare->parameter(k)->shape();
    const ElementType type = i.operand(k / 2)->shape().type();
    if (!parameter.IsScalar() ||
        !SameTypeIgnoringPrecision(parameter.type(), type)) {
      return Invalid("parameter ", k, " of the comparison must be ", Name(type),
                     "[], found ", Text(parameter));
    }
  }
  return OperandsAsShape(i, 0, i.operand_count());
}

absl::StatusOr<Shape> TopK(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& operand = i.operand(0)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "the operand of topk"));
  if (operand.rank() < 1) return Invalid("topk needs a rank of at least 1");
  const int64_t last = operand.rank() - 1;
  const int64_t k = i.int_attr(AttrId::kK, -1);
  if (k < 0 || k > operand.dim(last)) {
    return Invalid("k ", k, " is outside [0, ", operand.dim(last),
                   "], the size of the last dimension");
  }
  Shape values = Shape::Array(operand.type(), operand.dims());
  values.set_dim(last, k);
  for (int64_t d = 0; d < last; ++d) {
    values.set_dynamic_dim(d, operand.IsDynamicDim(d));
  }
  Shape positions = values;
  positions.set_type(ElementType::kS32);
  return Shape::Tuple({std::move(values), std::move(positions)});
}

}  // namespace ridge::infer
