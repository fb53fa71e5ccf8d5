// Dot and convolution as folds over inner variables: correct for every form,
// and slow; what no matrix library or generated tensor kernel takes.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/kernel/builder.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// Products of narrow floats are summed in f32; the sum is rounded once.
ElementType AccumulatorOf(ElementType result) {
  return IsFloat(result) && Info(result).bits < 32 ? ElementType::kF32 : result;
}

// sum over `mask` of lhs * rhs, where `inside` (else nothing is added).
NodeId SumOfProducts(KernelBuilder& b, const Instruction& i, NodeId lhs,
                     NodeId rhs, uint64_t mask) {
  const ElementType type = i.shape().type();
  const ElementType sum = AccumulatorOf(type);
  const Opcode times = IsPred(sum) ? Opcode::kAnd : Opcode::kMultiply;
  const Opcode plus = IsPred(sum) ? Opcode::kOr : Opcode::kAdd;
  NodeId product = b.Op(times, sum, {b.Convert(lhs, sum), b.Convert(rhs, sum)});
  if (mask == 0) return b.Convert(product, type);
  Node node;
  node.kind = NodeKind::kReduce;
  node.type = sum;
  node.operands = {product, b.Zero(sum)};
  node.function = b.SimpleFunction(plus, sum);
  node.reduced = mask;
  node.origin = &i;
  return b.Convert(b.Add(std::move(node)), type);
}

}  // namespace

absl::StatusOr<NodeId> LowerDot(KernelBuilder& b, const ValueRequest& r) {
  const Instruction& i = *r.instruction;
  const Shape& lhs = i.operand(0)->shape();
  const Shape& rhs = i.operand(1)->shape();
  struct Side {
    Ints batch, contracting;
    IndexTuple index;
  } sides[2] = {
      {i.ints(AttrId::kLhsBatchDims), i.ints(AttrId::kLhsContractingDims),
       IndexTuple(lhs.rank(), -1)},
      {i.ints(AttrId::kRhsBatchDims), i.ints(AttrId::kRhsContractingDims),
       IndexTuple(rhs.rank(), -1)}};
  if (sides[0].batch.size() != sides[1].batch.size() ||
      sides[0].contracting.size() != sides[1].contracting.size()) {
    return Refuse(i, "dimension numbers do not fit each other");
  }
  size_t out = 0;
  for (size_t k = 0; k < sides[0].batch.size(); ++k, ++out) {
    sides[0].index[sides[0].batch[k]] = r.index[out];
    sides[1].index[sides[1].batch[k]] = r.index[out];
  }
  uint64_t used = b.VarsOf(r.index, r.guard), mask = 0;
  for (size_t k = 0; k < sides[0].contracting.size(); ++k) {
    const int64_t extent = lhs.dim(sides[0].contracting[k]);
    if (extent == 0) return b.Zero(i.shape().type());
    RIDGE_ASSIGN_OR_RETURN(IndexId v, b.InnerVar(extent, &used));
    mask |= b.pool().VarMask(v);
    sides[0].index[sides[0].contracting[k]] = v;
    sides[1].index[sides[1].contracting[k]] = v;
  }
  for (Side& side : sides) {
    for (IndexId& at : side.index) {
      if (at >= 0) continue;
      if (out >= r.index.size()) return Refuse(i, "result of another rank");
      at = r.index[out++];
    }
  }
  NodeId x = b.Need(i.operand(0), sides[0].index, r.guard);
  NodeId y = b.Need(i.operand(1), sides[1].index, r.guard);
  if (x == kPending || y == kPending) return kPending;
  return SumOfProducts(b, i, x, y, mask);
}

absl::StatusOr<NodeId> LowerConvolution(KernelBuilder& b,
                                        const ValueRequest& r) {
  const Instruction& i = *r.instruction;
  const Instruction* input = i.operand(0);
  const Instruction* kernel = i.operand(1);
  const auto* labels = i.boxed<ConvDimLabels>(AttrId::kDimLabels);
  if (labels == nullptr) return Refuse(i, "no dim_labels");
  const Window no_window;
  const Window& window = i.window() != nullptr ? *i.window() : no_window;
  const size_t spatial = labels->input_spatial.size();
  if (window.size() != spatial || labels->kernel_spatial.size() != spatial ||
      labels->output_spatial.size() != spatial) {
    return Refuse(i, "window does not fit dim_labels");
  }
  const int64_t groups = i.int_attr(AttrId::kFeatureGroupCount, 1);
  const int64_t batch_groups = i.int_attr(AttrId::kBatchGroupCount, 1);
  if (groups < 1 || batch_groups < 1) return Refuse(i, "group count below 1");
  IndexPool& pool = b.pool();
  const IndexId feature = r.index[labels->output_feature];
  const int64_t out_features = i.shape().dim(labels->output_feature);
  const int64_t in_features = kernel->shape().dim(labels->kernel_input_feature);
  uint64_t used = b.VarsOf(r.index, r.guard), mask = 0;
  if (in_features == 0) return b.Zero(i.shape().type());
  RIDGE_ASSIGN_OR_RETURN(IndexId f, b.InnerVar(in_features, &used));
  mask |= pool.VarMask(f);
  IndexTuple in(input->shape().rank(), pool.Const(0));
  IndexTuple k(kernel->shape().rank(), pool.Const(0));
  // Output feature o belongs to feature group o div (O/G), which reads input
  // features from there; with batch groups likewise batches.
  in[labels->input_feature] = pool.Add(
      pool.Mul(
          pool.FloorDiv(feature, std::max<int64_t>(out_features / groups, 1)),
          in_features),
      f);
  IndexId batch = r.index[labels->output_batch];
  if (batch_groups > 1) {
    const int64_t batches =
        input->shape().dim(labels->input_batch) / batch_groups;
    IndexId group = pool.FloorDiv(
        feature, std::max<int64_t>(out_features / batch_groups, 1));
    batch = pool.Add(batch, pool.Mul(group, batches));
  }
  in[labels->input_batch] = batch;
  k[labels->kernel_input_feature] = f;
  k[labels->kernel_output_feature] = feature;
  NodeId inside = kAlways;
  for (size_t s = 0; s < spatial; ++s) {
    const WindowDimension& w = window[s];
    if (w.size == 0) return b.Zero(i.shape().type());
    RIDGE_ASSIGN_OR_RETURN(IndexId at, b.InnerVar(w.size, &used));
    mask |= pool.VarMask(at);
    IndexId base =
        pool.Add(pool.Mul(r.index[labels->output_spatial[s]], w.stride),
                 pool.Mul(at, w.window_dilation));
    base = pool.AddConst(base, -w.padding_low);
    IndexId element = pool.FloorDiv(base, w.base_dilation);
    const int64_t d = labels->input_spatial[s];
    inside = b.And(inside, b.InRange(element, 0, input->shape().dim(d)));
    if (w.base_dilation > 1) {
      inside = b.And(inside, b.InRange(pool.Mod(base, w.base_dilation), 0, 1));
    }
    in[d] = element;
    k[labels->kernel_spatial[s]] =
        w.window_reversal ? pool.Sub(pool.Const(w.size - 1), at) : at;
  }
  // Where the guard is false the input is zero, and the kernel's value must
  // not matter (it may be NaN or infinite): it is guarded alike.
  NodeId guard = b.And(r.guard, inside);
  NodeId x = b.Need(input, in, guard);
  NodeId y = b.Need(kernel, k, guard);
  if (x == kPending || y == kPending) return kPending;
  x = b.Select(b.AsNode(inside), x, b.Zero(b.node(x).type));
  y = b.Select(b.AsNode(inside), y, b.Zero(b.node(y).type));
  return SumOfProducts(b, i, x, y, mask);
}

}  // namespace ridge
