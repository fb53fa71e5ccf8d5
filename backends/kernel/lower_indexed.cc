// Rules of instructions whose indices are values: clamped, so that no input
// leads out of bounds.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/kernel/builder.h"
#include "hlo/base/status_macros.h"

namespace ridge {

absl::StatusOr<bool> DynamicStart(KernelBuilder& b, const Instruction& slice,
                                  int64_t first, int64_t d, int64_t limit,
                                  NodeId guard, IndexId* start) {
  NodeId node;
  const Instruction* operand =
      slice.operand_count() > first ? slice.operand(first) : nullptr;
  if (operand == nullptr) {
    if (slice.shape().rank() == 0) return true;
    return Refuse(slice, "no start indices");
  }
  if (operand->shape().rank() == 1) {
    if (d >= operand->shape().dim(0))
      return Refuse(slice, "start indices: too few");
    node = b.Need(operand, {b.pool().Const(d)});
  } else {
    if (first + d >= slice.operand_count()) {
      return Refuse(slice, "start indices: too few");
    }
    node = b.Need(slice.operand(first + d), {});
  }
  if (node == kPending) return false;
  *start = b.DynamicIndex(node, 0, std::max<int64_t>(limit, 0));
  return true;
}

absl::StatusOr<NodeId> LowerDynamicSlice(KernelBuilder& b,
                                         const ValueRequest& r) {
  const Instruction& i = *r.instruction;
  const Shape& from = i.operand(0)->shape();
  IndexTuple index = r.index;
  bool pending = false;
  for (int64_t d = 0; d < from.rank(); ++d) {
    IndexId start = b.pool().Const(0);
    RIDGE_ASSIGN_OR_RETURN(
        bool known, DynamicStart(b, i, 1, d, from.dim(d) - i.shape().dim(d),
                                 r.guard, &start));
    pending |= !known;
    if (known) index[d] = b.pool().Add(index[d], start);
  }
  if (pending) return kPending;
  return b.Need(i.operand(0), std::move(index), r.guard);
}

absl::StatusOr<NodeId> LowerDynamicUpdateSlice(KernelBuilder& b,
                                               const ValueRequest& r) {
  const Instruction& i = *r.instruction;
  const Instruction* update = i.operand(1);
  IndexTuple index = r.index;
  NodeId inside = kAlways;
  bool pending = false;
  for (int64_t d = 0; d < i.shape().rank(); ++d) {
    const int64_t size = update->shape().dim(d);
    IndexId start = b.pool().Const(0);
    RIDGE_ASSIGN_OR_RETURN(
        bool known,
        DynamicStart(b, i, 2, d, i.shape().dim(d) - size, r.guard, &start));
    pending |= !known;
    if (!known) continue;
    index[d] = b.pool().Sub(index[d], start);
    inside = b.And(inside, b.InRange(index[d], 0, size));
  }
  if (pending) return kPending;
  NodeId inner = b.Need(update, std::move(index), b.And(r.guard, inside));
  NodeId outer = b.Need(i.operand(0), r.index, b.And(r.guard, b.Not(inside)));
  if (inner == kPending || outer == kPending) return kPending;
  return b.Select(b.AsNode(inside), inner, outer);
}

namespace {

bool Contains(Ints list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

absl::StatusOr<NodeId> LowerGather(KernelBuilder& b, const ValueRequest& r) {
  const Instruction& i = *r.instruction;
  const Instruction* operand = i.operand(0);
  const Instruction* indices = i.operand(1);
  Ints offset_dims = i.ints(AttrId::kOffsetDims);
  Ints collapsed = i.ints(AttrId::kCollapsedSliceDims);
  Ints start_map = i.ints(AttrId::kStartIndexMap);
  Ints sizes = i.ints(AttrId::kSliceSizes);
  Ints operand_batch = i.ints(AttrId::kOperandBatchingDims);
  Ints indices_batch = i.ints(AttrId::kStartIndicesBatchingDims);
  const int64_t vector_dim = i.int_attr(AttrId::kIndexVectorDim);
  const int64_t rank = operand->shape().rank();
  if (static_cast<int64_t>(sizes.size()) != rank ||
      operand_batch.size() != indices_batch.size()) {
    return Refuse(i, "dimension numbers do not fit the operand");
  }
  // Slices of no elements leave zeros, though the result may have elements.
  if (Contains(sizes, 0)) return b.Zero(i.shape().type());
  // The result's dimensions, apart: where in the indices, where in the slice.
  IndexTuple batch, offset;
  for (int64_t d = 0; d < i.shape().rank(); ++d) {
    (Contains(offset_dims, d) ? offset : batch).push_back(r.index[d]);
  }
  const int64_t indices_rank = indices->shape().rank();
  if (static_cast<int64_t>(batch.size()) !=
      indices_rank - (vector_dim < indices_rank ? 1 : 0)) {
    return Refuse(i, "dimension numbers do not fit the indices");
  }
  IndexTuple index(rank, b.pool().Const(0));
  bool pending = false;
  for (size_t k = 0; k < start_map.size(); ++k) {
    IndexTuple at = batch;
    if (vector_dim < indices_rank) {
      at.insert(at.begin() + vector_dim, b.pool().Const(k));
    }
    NodeId start = b.Need(indices, std::move(at), r.guard);
    pending |= start == kPending;
    if (start == kPending) continue;
    const int64_t d = start_map[k];
    index[d] = b.DynamicIndex(start, 0, operand->shape().dim(d) - sizes[d]);
  }
  if (pending) return kPending;
  for (size_t k = 0; k < operand_batch.size(); ++k) {
    const int64_t d = indices_batch[k];
    index[operand_batch[k]] = batch[d > vector_dim ? d - 1 : d];
  }
  size_t next = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (Contains(collapsed, d) || Contains(operand_batch, d)) continue;
    if (next >= offset.size()) return Refuse(i, "offset_dims: too few");
    index[d] = b.pool().Add(index[d], offset[next++]);
  }
  return b.Need(operand, std::move(index), r.guard);
}

}  // namespace ridge
