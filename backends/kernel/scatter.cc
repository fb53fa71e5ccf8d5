// Kernels that update part of an array: dynamic-update-slice and scatter.
//
// The space is the update; the kernel stores (or combines) each of its
// elements at an offset that depends on values. Elements it does not hit keep
// what the operand holds: the output aliases the operand's buffer where that
// is an input of the same layout; otherwise a prologue kernel computes the
// operand into the output.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/kernel/builder.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

bool Contains(Ints list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Evaluates an index of `value` at `index` to completion.
absl::StatusOr<NodeId> ValueAt(KernelBuilder* b, const Instruction* value,
                               IndexTuple index) {
  return b->Value({value, 0, std::move(index), kAlways});
}

// One output: the operand it starts from and the update's element at `index`.
struct Update {
  const Instruction* operand = nullptr;
  int32_t buffer = -1;
};

// Makes the output alias its operand, or adds the operand to the prologue.
void StartFrom(KernelBuilder* b, const Update& u,
               std::vector<Update>* prologue) {
  KernelBuffer& out = b->kernel()->buffers[u.buffer];
  const int32_t input = b->InputBuffer(u.operand, 0);
  const bool same_layout =
      input >= 0 && PhysicalOrder(b->kernel()->buffers[input].shape) ==
                        PhysicalOrder(out.shape);
  if (same_layout) {
    out.aliases = input;
  } else {
    prologue->push_back(u);
  }
}

absl::Status BuildPrologue(const Group& group,
                           const std::vector<Update>& updates, Kernel* kernel) {
  if (updates.empty()) return absl::OkStatus();
  auto first = std::make_shared<Kernel>();
  first->name = absl::StrCat(kernel->name, "_start");
  first->pattern = GroupPattern::kLoop;
  first->buffers = kernel->buffers;
  first->index = std::make_shared<IndexPool>();
  KernelBuilder b(group, first.get());
  const Shape& space = kernel->buffers[updates[0].buffer].shape;
  IndexTuple home(space.rank(), b.pool().Const(0));
  for (int64_t d : PhysicalOrder(space)) {
    if (space.dim(d) != 1) home[d] = b.AddSpaceVar(space.dim(d));
  }
  if (first->vars.empty()) b.AddSpaceVar(1);
  IndexId linear = b.Linear(home, space.dims(), PhysicalOrder(space));
  for (const Update& u : updates) {
    const Shape& shape = kernel->buffers[u.buffer].shape;
    if (shape.ElementCount() != space.ElementCount()) {
      return Refuse(*u.operand, "operands of different sizes in one scatter");
    }
    RIDGE_RETURN_IF_ERROR(
        StoreRoot(&b, u.operand, 0, u.buffer,
                  b.Delinear(linear, shape.dims(), PhysicalOrder(shape))));
  }
  MergeVars(first.get());
  kernel->prologue = std::move(first);
  return absl::OkStatus();
}

// The window dimensions' indices and the position in the scatter indices.
struct ScatterPoint {
  IndexTuple batch, window;
};

// Where element `update_index` of an update goes: the operand's index, and the
// guard that it lies inside.
absl::Status ScatterTarget(KernelBuilder* b, const Instruction& scatter,
                           const IndexTuple& update_index, IndexTuple* target,
                           NodeId* inside) {
  const int64_t n = (scatter.operand_count() - 1) / 2;
  const Instruction* operand = scatter.operand(0);
  const Instruction* indices = scatter.operand(n);
  const Shape& updates = scatter.operand(n + 1)->shape();
  Ints window_dims = scatter.ints(AttrId::kUpdateWindowDims);
  Ints inserted = scatter.ints(AttrId::kInsertedWindowDims);
  Ints to_operand = scatter.ints(AttrId::kScatterDimsToOperandDims);
  Ints operand_batch = scatter.ints(AttrId::kInputBatchingDims);
  Ints indices_batch = scatter.ints(AttrId::kScatterIndicesBatchingDims);
  const int64_t vector_dim = scatter.int_attr(AttrId::kIndexVectorDim);
  const int64_t indices_rank = indices->shape().rank();
  IndexTuple batch, window;
  DimVector window_sizes;
  for (int64_t d = 0; d < updates.rank(); ++d) {
    const bool in_window = Contains(window_dims, d);
    (in_window ? window : batch).push_back(update_index[d]);
    if (in_window) window_sizes.push_back(updates.dim(d));
  }
  if (static_cast<int64_t>(batch.size()) !=
          indices_rank - (vector_dim < indices_rank ? 1 : 0) ||
      operand_batch.size() != indices_batch.size()) {
    return Refuse(scatter, "dimension numbers do not fit the indices");
  }
  const int64_t rank = operand->shape().rank();
  target->assign(rank, b->pool().Const(0));
  DimVector sizes(rank, 1);
  *inside = kAlways;
  size_t next = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (Contains(inserted, d) || Contains(operand_batch, d)) continue;
    if (next >= window.size()) {
      return Refuse(scatter, "update_window_dims: too few");
    }
    sizes[d] = window_sizes[next];
    (*target)[d] = window[next++];
  }
  for (size_t k = 0; k < operand_batch.size(); ++k) {
    const int64_t d = indices_batch[k];
    (*target)[operand_batch[k]] = batch[d > vector_dim ? d - 1 : d];
  }
  for (size_t k = 0; k < to_operand.size(); ++k) {
    IndexTuple at = batch;
    if (vector_dim < indices_rank) {
      at.insert(at.begin() + vector_dim, b->pool().Const(k));
    }
    RIDGE_ASSIGN_OR_RETURN(NodeId start, ValueAt(b, indices, std::move(at)));
    const int64_t d = to_operand[k];
    // Clamped one window beyond either end: what was outside stays outside,
    // and the arithmetic stays small.
    IndexId index = b->DynamicIndex(start, -sizes[d], operand->shape().dim(d));
    (*target)[d] = b->pool().Add((*target)[d], index);
    // A window that does not lie inside as a whole is left out as a whole.
    *inside = b->And(
        *inside, b->InRange(index, 0, operand->shape().dim(d) - sizes[d] + 1));
  }
  return absl::OkStatus();
}

// out[i] = update: no need to read what was there.
bool IsAssignment(const ScalarFunction& f) {
  return f.parameter_count == 2 && f.results.size() == 1 && f.results[0] == 1;
}

absl::Status BuildScatter(KernelBuilder* b, const Instruction& scatter,
                          const IndexTuple& index, int32_t buffer,
                          std::vector<Update>* prologue) {
  const int64_t n = (scatter.operand_count() - 1) / 2;
  if (scatter.to_apply() == nullptr) return Refuse(scatter, "no to_apply");
  RIDGE_ASSIGN_OR_RETURN(int32_t function, b->Function(scatter.to_apply()));
  if (n != 1) {
    return Refuse(scatter, absl::StrCat("operands: ", n, " > 1"));
  }
  if (b->function(function).parameter_count != 2 ||
      b->function(function).results.size() != 1) {
    return Refuse(scatter, "combiner is not of two scalars");
  }
  IndexTuple target;
  NodeId inside;
  RIDGE_RETURN_IF_ERROR(ScatterTarget(b, scatter, index, &target, &inside));
  StartFrom(b, {scatter.operand(0), buffer}, prologue);
  Store store;
  RIDGE_ASSIGN_OR_RETURN(store.value,
                         b->Value({scatter.operand(2), 0, index, kAlways}));
  store.buffer = buffer;
  store.offset = b->Offset(b->kernel()->buffers[buffer].shape, target);
  store.guard = b->IsTrue(inside) ? kAlways : inside;
  store.unique = scatter.bool_attr(AttrId::kUniqueIndices);
  if (!IsAssignment(b->function(function))) store.combine = function;
  b->kernel()->stores.push_back(store);
  return absl::OkStatus();
}

absl::Status BuildUpdate(KernelBuilder* b, const Instruction& dus,
                         const IndexTuple& index, int32_t buffer,
                         std::vector<Update>* prologue) {
  const Shape& shape = b->kernel()->buffers[buffer].shape;
  const Instruction* update = dus.operand(1);
  IndexTuple target = index;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t limit = shape.dim(d) - update->shape().dim(d);
    // Scalars, or one vector of them.
    const bool vector = dus.operand(2)->shape().rank() == 1;
    if (!vector && 2 + d >= dus.operand_count()) {
      return Refuse(dus, "start indices: too few");
    }
    IndexTuple at;
    if (vector) at.push_back(b->pool().Const(d));
    RIDGE_ASSIGN_OR_RETURN(
        NodeId start,
        ValueAt(b, dus.operand(vector ? 2 : 2 + d), std::move(at)));
    IndexId first = b->DynamicIndex(start, 0, std::max<int64_t>(limit, 0));
    target[d] = b->pool().Add(index[d], first);
  }
  StartFrom(b, {dus.operand(0), buffer}, prologue);
  Store store;
  RIDGE_ASSIGN_OR_RETURN(store.value, b->Value({update, 0, index, kAlways}));
  store.buffer = buffer;
  store.offset = b->Offset(shape, target);
  b->kernel()->stores.push_back(store);
  return absl::OkStatus();
}

// The value whose elements the kernel runs over.
const Shape& SpaceOf(const Instruction& root) {
  if (root.opcode() == Opcode::kDynamicUpdateSlice) {
    return root.operand(1)->shape();
  }
  if (root.opcode() == Opcode::kScatter) {
    return root.operand(root.operand_count() - 1)->shape();
  }
  return root.shape();
}

}  // namespace

absl::Status BuildScatterStores(KernelBuilder* b) {
  const Group& group = b->group();
  for (const Instruction* root : group.roots) {
    if (root->shape().IsTuple()) {
      return Refuse(*root, "scatter of several operands");
    }
  }
  const Shape* space = &SpaceOf(*group.roots[0]);
  if (space->rank() > 60) {
    return Refuse(*group.roots[0], absl::StrCat("rank: ", space->rank()));
  }
  IndexTuple home(space->rank(), b->pool().Const(0));
  for (int64_t d : PhysicalOrder(*space)) {
    if (space->dim(d) != 1) home[d] = b->AddSpaceVar(space->dim(d));
  }
  if (b->kernel()->vars.empty()) b->AddSpaceVar(1);
  const IndexId linear = b->Linear(home, space->dims(), PhysicalOrder(*space));
  int32_t buffer = 0;
  while (!b->kernel()->buffers[buffer].is_output) ++buffer;
  std::vector<Update> prologue;
  for (const Instruction* root : group.roots) {
    const Shape& shape = SpaceOf(*root);
    if (shape.ElementCount() != space->ElementCount()) {
      return Refuse(*root, absl::StrCat("updates of different sizes: ",
                                        shape.ElementCount(), " and ",
                                        space->ElementCount(), " elements"));
    }
    IndexTuple index = b->Delinear(linear, shape.dims(), PhysicalOrder(shape));
    if (shape.ElementCount() == 0 &&
        (root->opcode() == Opcode::kScatter ||
         root->opcode() == Opcode::kDynamicUpdateSlice)) {
      // Nothing to write: the operand, unchanged.
      StartFrom(b, {root->operand(0), buffer}, &prologue);
    } else if (root->opcode() == Opcode::kScatter) {
      RIDGE_RETURN_IF_ERROR(BuildScatter(b, *root, index, buffer, &prologue));
    } else if (root->opcode() == Opcode::kDynamicUpdateSlice) {
      RIDGE_RETURN_IF_ERROR(BuildUpdate(b, *root, index, buffer, &prologue));
    } else {
      RIDGE_RETURN_IF_ERROR(StoreRoot(b, root, 0, buffer, index));
    }
    ++buffer;
  }
  return BuildPrologue(group, prologue, b->kernel());
}

}  // namespace ridge
