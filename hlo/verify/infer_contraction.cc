// dot, ragged-dot, scaled-dot and convolution.
#include <algorithm>
#include <utility>

#include "hlo/ir/ragged_dot.h"
#include "hlo/verify/infer.h"

namespace ridge::infer {
namespace {

bool Contains(Ints values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Dimension numbers of a dot between operands `a` and `b` of the instruction.
struct DotDims {
  Ints lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
};

DotDims DotDimsOf(const Instruction& i) {
  return {i.ints(AttrId::kLhsContractingDims),
          i.ints(AttrId::kRhsContractingDims), i.ints(AttrId::kLhsBatchDims),
          i.ints(AttrId::kRhsBatchDims)};
}

bool SizesAgree(int64_t a, int64_t b) {
  return a == b || a == Shape::kUnbounded || b == Shape::kUnbounded;
}

absl::Status CheckSide(const Shape& shape, Ints contracting, Ints batch,
                       absl::string_view side) {
  std::vector<int64_t> all(batch.begin(), batch.end());
  all.insert(all.end(), contracting.begin(), contracting.end());
  return ExpectDimensions(all, shape.rank(),
                          absl::StrCat(side, " batch and contracting dims"));
}

absl::Status CheckPairs(const Shape& lhs, const Shape& rhs, Ints a, Ints b,
                        absl::string_view what) {
  if (a.size() != b.size()) {
    return Invalid("lhs and rhs must have as many ", what, " dims, found ",
                   Braced(a), " and ", Braced(b));
  }
  for (size_t k = 0; k < a.size(); ++k) {
    if (!SizesAgree(lhs.dim(a[k]), rhs.dim(b[k]))) {
      return Invalid(what, " dims must have equal sizes, found ", lhs.dim(a[k]),
                     " (lhs dimension ", a[k], ") and ", rhs.dim(b[k]),
                     " (rhs dimension ", b[k], ")");
    }
  }
  return absl::OkStatus();
}

struct Dims {
  DimVector sizes;
  absl::InlinedVector<bool, 6> dynamic;
  void Add(const Shape& shape, int64_t d) {
    sizes.push_back(shape.dim(d));
    dynamic.push_back(shape.IsDynamicDim(d));
  }
};

void AddFree(const Shape& shape, Ints contracting, Ints batch, Ints skip,
             Dims* out) {
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (Contains(contracting, d) || Contains(batch, d) || Contains(skip, d)) {
      continue;
    }
    out->Add(shape, d);
  }
}

// The element type of a contraction: what its shape says, when the
// instruction has one already, else what the operands give.
absl::StatusOr<ElementType> ResultType(const Instruction& i, const Shape& lhs,
                                       const Shape& rhs) {
  const bool complex = IsComplex(lhs.type()) || IsComplex(rhs.type());
  if (complex && lhs.type() != rhs.type()) {
    return Invalid("complex operands of ", Name(i.opcode()),
                   " must have one type, found ", Text(lhs), " and ",
                   Text(rhs));
  }
  return HigherPrecision(lhs.type(), rhs.type());
}

absl::StatusOr<Shape> DotOf(const Instruction& i, const Shape& lhs,
                            const Shape& rhs) {
  RIDGE_RETURN_IF_ERROR(ExpectArray(lhs, "the lhs"));
  RIDGE_RETURN_IF_ERROR(ExpectArray(rhs, "the rhs"));
  const DotDims n = DotDimsOf(i);
  RIDGE_RETURN_IF_ERROR(CheckSide(lhs, n.lhs_contracting, n.lhs_batch, "lhs"));
  RIDGE_RETURN_IF_ERROR(CheckSide(rhs, n.rhs_contracting, n.rhs_batch, "rhs"));
  RIDGE_RETURN_IF_ERROR(
      CheckPairs(lhs, rhs, n.lhs_batch, n.rhs_batch, "batch"));
  RIDGE_RETURN_IF_ERROR(CheckPairs(lhs, rhs, n.lhs_contracting,
                                   n.rhs_contracting, "contracting"));
  RIDGE_ASSIGN_OR_RETURN(const ElementType type, ResultType(i, lhs, rhs));
  Dims out;
  for (int64_t d : n.lhs_batch) out.Add(lhs, d);
  AddFree(lhs, n.lhs_contracting, n.lhs_batch, {}, &out);
  AddFree(rhs, n.rhs_contracting, n.rhs_batch, {}, &out);
  return MakeArray(type, out.sizes, out.dynamic);
}

absl::Status CheckGroupSizes(const Instruction& i, const Shape& lhs,
                             int64_t ragged, int64_t groups,
                             absl::Span<const int64_t> prefix) {
  const Shape& sizes = i.operand(2)->shape();
  if (!sizes.IsArray() || !IsInteger(sizes.type()) || sizes.rank() < 1) {
    return Invalid("group_sizes of ragged-dot must be an integer array, found ",
                   Text(sizes));
  }
  const int64_t found = sizes.dim(sizes.rank() - 1);
  if (groups >= 0 && !SizesAgree(found, groups)) {
    return Invalid("group_sizes must end in the ", groups,
                   " groups of the rhs, found ", Text(sizes));
  }
  if (sizes.rank() == 1) return absl::OkStatus();
  if (sizes.rank() != static_cast<int64_t>(prefix.size()) + 1) {
    return Invalid("group_sizes of ragged-dot (ragged dimension ", ragged,
                   " of ", Text(lhs), ") must have rank 1 or ",
                   prefix.size() + 1, ", found ", Text(sizes));
  }
  for (size_t k = 0; k < prefix.size(); ++k) {
    if (!SizesAgree(sizes.dim(static_cast<int64_t>(k)), lhs.dim(prefix[k]))) {
      return Invalid("dimension ", k, " of group_sizes must have size ",
                     lhs.dim(prefix[k]), ", found ", Text(sizes));
    }
  }
  return absl::OkStatus();
}

// Input, kernel or output of a convolution, with its labels.
absl::Status CheckLabels(const Shape& shape, int64_t a, int64_t b,
                         const DimVector& spatial, absl::string_view what) {
  std::vector<int64_t> all(spatial.begin(), spatial.end());
  all.push_back(a);
  all.push_back(b);
  RIDGE_RETURN_IF_ERROR(ExpectDimensions(
      all, shape.rank(), absl::StrCat("dim_labels of the ", what)));
  if (static_cast<int64_t>(all.size()) != shape.rank()) {
    return Invalid("dim_labels name ", all.size(), " dimensions of the ", what,
                   ", which is ", Text(shape));
  }
  return absl::OkStatus();
}

absl::Status CheckGroups(int64_t count, absl::string_view name) {
  if (count > 0) return absl::OkStatus();
  return Invalid(name, " must be above 0, found ", count);
}

}  // namespace

absl::StatusOr<Shape> Dot(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 2));
  return DotOf(i, i.operand(0)->shape(), i.operand(1)->shape());
}

absl::StatusOr<Shape> ScaledDot(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 4));
  const Shape& lhs = i.operand(0)->shape();
  const Shape& rhs = i.operand(1)->shape();
  RIDGE_ASSIGN_OR_RETURN(Shape shape, DotOf(i, lhs, rhs));
  for (int64_t k = 0; k < 2; ++k) {
    const Shape& operand = i.operand(k)->shape();
    const Shape& scale = i.operand(k + 2)->shape();
    RIDGE_RETURN_IF_ERROR(ExpectArray(scale, "a scale of scaled-dot"));
    if (scale.IsScalar()) continue;
    if (scale.rank() != operand.rank()) {
      return Invalid("the scale of operand ", k,
                     " must be a scalar or have "
                     "rank ",
                     operand.rank(), ", found ", Text(scale));
    }
    for (int64_t d = 0; d < scale.rank(); ++d) {
      const int64_t size = scale.dim(d);
      if (size == Shape::kUnbounded || operand.dim(d) == Shape::kUnbounded) {
        continue;
      }
      if (size <= 0 ? size != operand.dim(d) : operand.dim(d) % size != 0) {
        return Invalid("dimension ", d, " of scale ", Text(scale),
                       " must divide that of ", Text(operand));
      }
    }
  }
  return shape;
}

absl::StatusOr<Shape> RaggedDot(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 3));
  const Shape& lhs = i.operand(0)->shape();
  const Shape& rhs = i.operand(1)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(lhs, "the lhs"));
  RIDGE_RETURN_IF_ERROR(ExpectArray(rhs, "the rhs"));
  const DotDims n = DotDimsOf(i);
  RIDGE_RETURN_IF_ERROR(CheckSide(lhs, n.lhs_contracting, n.lhs_batch, "lhs"));
  RIDGE_RETURN_IF_ERROR(CheckSide(rhs, n.rhs_contracting, n.rhs_batch, "rhs"));
  RIDGE_RETURN_IF_ERROR(
      CheckPairs(lhs, rhs, n.lhs_batch, n.rhs_batch, "batch"));
  RIDGE_RETURN_IF_ERROR(CheckPairs(lhs, rhs, n.lhs_contracting,
                                   n.rhs_contracting, "contracting"));
  const Ints ragged = i.ints(AttrId::kLhsRaggedDims);
  const Ints group = i.ints(AttrId::kRhsGroupDims);
  if (ragged.size() != 1) {
    return Invalid("ragged-dot takes one lhs_ragged_dims, found ",
                   Braced(ragged));
  }
  RIDGE_RETURN_IF_ERROR(
      ExpectDimension(ragged[0], lhs.rank(), "lhs_ragged_dims"));
  RIDGE_RETURN_IF_ERROR(ExpectDimensions(group, rhs.rank(), "rhs_group_dims"));
  const RaggedMode mode = RaggedModeOf(i, ragged[0]);
  const size_t groups_wanted = mode == RaggedMode::kFree ? 1 : 0;
  if (group.size() != groups_wanted) {
    return Invalid("ragged-dot over dimension ", ragged[0], " takes ",
                   groups_wanted, " rhs_group_dims, found ", Braced(group));
  }
  for (int64_t g : group) {
    if (Contains(n.rhs_batch, g) || Contains(n.rhs_contracting, g)) {
      return Invalid("rhs_group_dims ", Braced(group),
                     " must be neither batch nor contracting");
    }
  }
  RIDGE_RETURN_IF_ERROR(CheckGroupSizes(i, lhs, ragged[0],
                                        group.empty() ? -1 : rhs.dim(group[0]),
                                        GroupPrefixDims(i, ragged[0])));
  RIDGE_ASSIGN_OR_RETURN(const ElementType type, ResultType(i, lhs, rhs));
  Dims out;
  if (mode == RaggedMode::kContracting) {
    const Shape& sizes = i.operand(2)->shape();
    out.Add(sizes, sizes.rank() - 1);
  }
  for (int64_t d : n.lhs_batch) out.Add(lhs, d);
  AddFree(lhs, n.lhs_contracting, n.lhs_batch, {}, &out);
  AddFree(rhs, n.rhs_contracting, n.rhs_batch, group, &out);
  return MakeArray(type, out.sizes, out.dynamic);
}

absl::StatusOr<Shape> Convolution(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 2));
  const Shape& input = i.operand(0)->shape();
  const Shape& kernel = i.operand(1)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(input, "the input of convolution"));
  RIDGE_RETURN_IF_ERROR(ExpectArray(kernel, "the kernel of convolution"));
  const ConvDimLabels* labels = i.boxed<ConvDimLabels>(AttrId::kDimLabels);
  if (labels == nullptr) return Invalid("convolution needs dim_labels");
  const Window empty;
  const Window& window = i.window() == nullptr ? empty : *i.window();
  const int64_t spatial = static_cast<int64_t>(window.size());
  for (const DimVector* s : {&labels->input_spatial, &labels->kernel_spatial,
                             &labels->output_spatial}) {
    if (static_cast<int64_t>(s->size()) != spatial) {
      return Invalid("window has ", spatial,
                     " dimensions, but dim_labels have ", s->size(),
                     " spatial ones");
    }
  }
  RIDGE_RETURN_IF_ERROR(CheckLabels(input, labels->input_batch,
                                    labels->input_feature,
                                    labels->input_spatial, "input"));
  RIDGE_RETURN_IF_ERROR(CheckLabels(kernel, labels->kernel_input_feature,
                                    labels->kernel_output_feature,
                                    labels->kernel_spatial, "kernel"));
  const int64_t features = i.int_attr(AttrId::kFeatureGroupCount, 1);
  const int64_t batches = i.int_attr(AttrId::kBatchGroupCount, 1);
  RIDGE_RETURN_IF_ERROR(CheckGroups(features, "feature_group_count"));
  RIDGE_RETURN_IF_ERROR(CheckGroups(batches, "batch_group_count"));
  if (features > 1 && batches > 1) {
    return Invalid(
        "feature_group_count and batch_group_count cannot both be "
        "above 1, found ",
        features, " and ", batches);
  }
  const int64_t in_features = input.dim(labels->input_feature);
  const int64_t in_batch = input.dim(labels->input_batch);
  const int64_t kernel_in = kernel.dim(labels->kernel_input_feature);
  const int64_t kernel_out = kernel.dim(labels->kernel_output_feature);
  const auto divides = [](int64_t groups, int64_t size) {
    return size == Shape::kUnbounded || size % groups == 0;
  };
  if (!divides(features, in_features) ||
      !SizesAgree(in_features == Shape::kUnbounded ? in_features
                                                   : in_features / features,
                  kernel_in)) {
    return Invalid("input features ", in_features, " must be ", features,
                   " (feature_group_count) times the kernel's ", kernel_in);
  }
  if (!divides(features, kernel_out) || !divides(batches, kernel_out)) {
    return Invalid("kernel output features ", kernel_out,
                   " must be divisible by the group count ",
                   std::max(features, batches));
  }
  if (!divides(batches, in_batch)) {
    return Invalid("input batch ", in_batch,
                   " must be divisible by batch_group_count ", batches);
  }
  DimVector base_dims;
  for (int64_t d : labels->input_spatial) base_dims.push_back(input.dim(d));
  Shape base = Shape::Array(input.type(), base_dims);
  for (int64_t k = 0; k < spatial; ++k) {
    base.set_dynamic_dim(k, input.IsDynamicDim(labels->input_spatial[k]));
    const int64_t size = kernel.dim(labels->kernel_spatial[k]);
    if (!SizesAgree(size, window[k].size)) {
      return Invalid("window size ", window[k].size, " of spatial dimension ",
                     k, " must be the kernel's ", size);
    }
  }
  RIDGE_ASSIGN_OR_RETURN(Shape out_spatial, WindowedShape(base, window));
  RIDGE_ASSIGN_OR_RETURN(const ElementType type, ResultType(i, input, kernel));
  const int64_t rank = spatial + 2;
  std::vector<int64_t> sizes(rank, -1);
  absl::InlinedVector<bool, 6> dynamic(rank, false);
  std::vector<int64_t> places(labels->output_spatial.begin(),
                              labels->output_spatial.end());
  places.push_back(labels->output_batch);
  places.push_back(labels->output_feature);
  RIDGE_RETURN_IF_ERROR(
      ExpectDimensions(places, rank, "dim_labels of the output"));
  for (int64_t k = 0; k < spatial; ++k) {
    sizes[labels->output_spatial[k]] = out_spatial.dim(k);
    dynamic[labels->output_spatial[k]] = out_spatial.IsDynamicDim(k);
  }
  sizes[labels->output_batch] =
      in_batch == Shape::kUnbounded ? in_batch : in_batch / batches;
  dynamic[labels->output_batch] = input.IsDynamicDim(labels->input_batch);
  sizes[labels->output_feature] = kernel_out;
  dynamic[labels->output_feature] =
      kernel.IsDynamicDim(labels->kernel_output_feature);
  return MakeArray(type, sizes, dynamic);
}

}  // namespace ridge::infer
