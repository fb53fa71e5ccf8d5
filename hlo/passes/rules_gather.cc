// Rules of gather and scatter whose indices say more than they must. All
// exact: gather and dynamic-slice clamp alike.
#include <algorithm>
#include <limits>

#include "hlo/passes/dimension_groups.h"
#include "hlo/passes/rules.h"
#include "hlo/passes/value_facts.h"

namespace ridge {
namespace {

absl::Span<const int64_t> Dims(const Instruction* i) {
  return i->shape().dims();
}

bool Contains(absl::Span<const int64_t> values, int64_t v) {
  return std::find(values.begin(), values.end(), v) != values.end();
}

// Index vectors in the indices operand.
int64_t IndexCount(const Instruction* indices, int64_t index_vector_dim) {
  int64_t n = 1;
  for (int64_t d = 0; d < indices->shape().rank(); ++d) {
    if (d != index_vector_dim) n = SaturatingMul(n, Dims(indices)[d]);
  }
  return n;
}

// Slices of no elements: where the result has elements, they are zeros.
bool TakesNothing(const Instruction* gather) {
  return Contains(gather->ints(AttrId::kSliceSizes), 0);
}

Instruction* GatherOfNothing(Instruction* i, Rewriter& r) {
  if (!TakesNothing(i)) return nullptr;
  return r.Splat(i->shape().type(), Dims(i), 0);
}

Instruction* GatherOfOne(Instruction* i, Rewriter& r) {
  if (TakesNothing(i)) return nullptr;
  Instruction* x = i->operand(0);
  Instruction* indices = i->operand(1);
  Ints starts = i->ints(AttrId::kStartIndexMap);
  if (!i->ints(AttrId::kOperandBatchingDims).empty() || starts.empty() ||
      IndexCount(indices, i->int_attr(AttrId::kIndexVectorDim)) != 1) {
    return nullptr;
  }
  int64_t n = starts.size();
  Instruction* flat = r.Reshape(indices, {n});
  std::vector<Instruction*> operands(x->shape().rank() + 1, nullptr);
  operands[0] = x;
  for (int64_t k = 0; k < n; ++k) {
    operands[1 + starts[k]] = r.Reshape(r.Slice(flat, {{k, k + 1, 1}}), {});
  }
  for (Instruction*& o : operands) {
    if (o == nullptr) o = r.Scalar(indices->shape().type(), 0);
  }
  Ints sizes = i->ints(AttrId::kSliceSizes);
  Instruction* slice = r.Add(Opcode::kDynamicSlice,
                             r.ArrayShape(i->shape().type(), sizes), operands);
  slice->set_ints(AttrId::kDynamicSliceSizes, sizes);
  return r.Reshape(slice, Dims(i));
}

// 0, 1, ..., n-1, perhaps as a column.
bool CountsUp(const Instruction* indices) {
  if (indices->opcode() == Opcode::kReshape &&
      SameButForUnits(Dims(indices), Dims(indices->operand(0)))) {
    indices = indices->operand(0);
  }
  return indices->opcode() == Opcode::kIota && indices->shape().rank() == 1;
}

// Every row in order is the operand itself.
Instruction* GatherOfIota(Instruction* i, Rewriter& r) {
  if (TakesNothing(i)) return nullptr;
  Instruction* x = i->operand(0);
  const Instruction* indices = i->operand(1);
  Ints starts = i->ints(AttrId::kStartIndexMap);
  Ints collapsed = i->ints(AttrId::kCollapsedSliceDims);
  if (!CountsUp(indices) || starts.size() != 1 || collapsed != starts ||
      !i->ints(AttrId::kOperandBatchingDims).empty()) {
    return nullptr;
  }
  int64_t row = starts[0];
  int64_t vector_dim = i->int_attr(AttrId::kIndexVectorDim);
  int64_t n = IndexCount(indices, vector_dim);
  if (n != indices->shape().ElementCount() || n != Dims(x)[row]) return nullptr;
  // Small types cannot count that far.
  if (n - 1 >
      (int64_t{1} << std::min(62, Info(indices->shape().type()).bits - 1)) -
          1) {
    return nullptr;
  }
  Ints sizes = i->ints(AttrId::kSliceSizes);
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    if (d != row && sizes[d] != Dims(x)[d]) return nullptr;
  }
  // x's other dimensions follow in order; the rows go where the (only large)
  // batch dimension is.
  DimVector permutation;
  DimVector rest;
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    if (d != row) rest.push_back(d);
  }
  size_t next = 0;
  bool placed = false;
  int64_t batch_seen = 0;
  // Which of the batch dimensions of the result holds the count.
  int64_t batch_index = 0;
  for (int64_t d = 0; d < indices->shape().rank(); ++d) {
    if (d == vector_dim) continue;
    if (Dims(indices)[d] != 1 || n == 1) break;
    ++batch_index;
  }
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    if (Contains(i->ints(AttrId::kOffsetDims), d)) {
      permutation.push_back(rest[next++]);
    } else if (batch_seen++ == batch_index) {
      permutation.push_back(row);
      placed = true;
    }
  }
  if (!placed || permutation.size() != static_cast<size_t>(x->shape().rank())) {
    return nullptr;
  }
  return r.Reshape(r.Transpose(x, permutation), Dims(i));
}

Instruction* GatherOfSplat(Instruction* i, Rewriter& r) {
  Instruction* b = i->operand(0);
  if (!b->operand(0)->shape().IsScalar() || TakesNothing(i)) return nullptr;
  return r.Broadcast(b->operand(0), {}, Dims(i));
}

Instruction* ScatterOfNothing(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 3 || !i->shape().IsArray()) return nullptr;
  return i->operand(2)->shape().ElementCount() == 0 ? i->operand(0) : nullptr;
}

// One update, of one element, for each row of equal values: an index compared
// with every position. (An index out of range is equal to none.)
Instruction* ScatterOfOnePerRow(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 3 || !i->shape().IsArray()) return nullptr;
  Instruction* value = i->operand(0)->operand(0);
  Instruction* indices = i->operand(1);
  Ints along = i->ints(AttrId::kScatterDimsToOperandDims);
  Ints batch = i->ints(AttrId::kInputBatchingDims);
  Ints batch_of_indices = i->ints(AttrId::kScatterIndicesBatchingDims);
  const int64_t rank = i->shape().rank();
  // What is compared must hold every position.
  constexpr int kLeastBits = 32;
  if (!value->shape().IsScalar() || along.size() != 1 ||
      static_cast<int64_t>(batch.size()) != rank - 1 ||
      !i->ints(AttrId::kUpdateWindowDims).empty() ||
      Info(indices->shape().type()).bits < kLeastBits ||
      i->shape().dim(along[0]) > std::numeric_limits<int32_t>::max()) {
    return nullptr;
  }
  std::optional<Opcode> combine = BinaryReducer(i->to_apply());
  if (!combine.has_value()) return nullptr;
  DimVector rows;
  for (int64_t k = 0; k < rank - 1; ++k) {
    // In the same order in the indices, all else of which has size 1.
    if (k > 0 && (batch[k] < batch[k - 1] ||
                  batch_of_indices[k] < batch_of_indices[k - 1])) {
      return nullptr;
    }
    rows.push_back(i->shape().dim(batch[k]));
  }
  if (indices->shape().ElementCount() == 0 ||
      !SameButForUnits(Dims(indices), rows)) {
    return nullptr;
  }
  Instruction* position =
      r.Add(Opcode::kIota, r.ArrayShape(indices->shape().type(), Dims(i)), {});
  position->SetAttr(AttrId::kIotaDimension, along[0]);
  auto spread = [&](Instruction* by_row) {
    return r.Broadcast(r.Reshape(by_row, rows), batch, Dims(i));
  };
  Instruction* here =
      r.Compare(ComparisonDirection::kEq, position, spread(indices));
  Instruction* update = r.Reshape(i->operand(2), rows);
  Instruction* updated =
      r.Binary(*combine, r.Broadcast(value, {}, rows), update);
  return r.Add(Opcode::kSelect, i->shape(),
               {here, spread(updated), i->operand(0)});
}

constexpr RewriteRule kRules[] = {
    {"gather-of-nothing", Opcode::kGather, kAnyOpcode,
     "gather(x, i), slice_sizes={.., 0, ..} = 0", GatherOfNothing},
    {"gather-of-splat", Opcode::kGather, Opcode::kBroadcast,
     "gather(broadcast(c), i) = broadcast(c)", GatherOfSplat},
    {"gather-of-iota", Opcode::kGather, kAnyOpcode, "gather(x, iota) = x",
     GatherOfIota},
    {"gather-of-one", Opcode::kGather, kAnyOpcode,
     "gather(x, {i}) = reshape(dynamic-slice(x, i))", GatherOfOne},
    {"scatter-of-one-per-row", Opcode::kScatter, Opcode::kBroadcast,
     "scatter(broadcast(c), i, u) = select(iota == i, f(c, u), c)",
     ScatterOfOnePerRow},
    {"scatter-of-nothing", Opcode::kScatter, kAnyOpcode,
     "scatter(x, i, u: [0]) = x", ScatterOfNothing},
};

}  // namespace

absl::Span<const RewriteRule> GatherScatterRules() { return kRules; }

}  // namespace ridge
