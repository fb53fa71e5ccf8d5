// How BuildKernel works, for the files that share the work; others include
// kernel.h.
//
// By demand from the roots: the value of an instruction at an index (one
// IndexId per dimension) is a node, made from the values of its operands at
// the indices that the instruction's rule asks for. Requests are memoised, so
// that a value that is asked for twice at one index is computed once, and
// loads of one element are one load.
//
// Rules never recurse. A rule asks for values with Need; where one is not
// there yet, Need notes the request and returns -1, and the rule returns
// kPending. It runs again, from its start, once the values are there. Nodes
// are hash-consed, so what it made the first time it finds again.
//
// Guards. A value may be asked for under a guard, a pred node: where the guard
// is false nobody looks at the value, so its loads need not happen and its
// indices may be out of bounds. Node kAlways (-1) is "true".
#ifndef RIDGE_BACKENDS_KERNEL_BUILDER_H_
#define RIDGE_BACKENDS_KERNEL_BUILDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/kernel/kernel.h"

namespace ridge {

using IndexTuple = absl::InlinedVector<IndexId, 6>;
using NodeKey = absl::InlinedVector<int64_t, 20>;
// Equal keys: equal nodes.
NodeKey KeyOf(const Node& node);
// Every index expression with variable v replaced by replacement[v] (-1, or
// beyond the end: kept). The kernel is then to be finished.
void SubstituteVars(absl::Span<const IndexId> replacement, Kernel* kernel);

inline constexpr NodeId kPending = -1;
inline constexpr NodeId kAlways = -1;

struct ValueRequest {
  const Instruction* instruction = nullptr;
  int32_t part = 0;  // tuple element of a tuple-shaped value
  IndexTuple index;
  NodeId guard = kAlways;
};

class KernelBuilder {
 public:
  // Limits on what one kernel may become; beyond them the group is refused, so
  // that no input makes the builder slow.
  static constexpr int64_t kMaxNodes = 1 << 17;
  static constexpr int32_t kMaxIndexTree = 2048;
  static constexpr int64_t kMaxConcatOperands = 256;

  KernelBuilder(const Group& group, Kernel* kernel);

  // ---- Requests ----
  // kPending where the value is not there yet. `index` has an entry for each
  // dimension of the value.
  NodeId Need(const Instruction* value, IndexTuple index,
              NodeId guard = kAlways, int32_t part = 0);
  // The node of a value, with all it needs. Not for rules.
  absl::StatusOr<NodeId> Value(ValueRequest request);

  // ---- Nodes ----
  NodeId Add(Node node);
  NodeId Op(Opcode opcode, ElementType type, absl::Span<const NodeId> operands);
  NodeId Compare(ComparisonDirection direction, NodeId a, NodeId b);
  // Identity where the type is the same.
  NodeId Convert(NodeId value, ElementType type);
  NodeId Int(ElementType type, int64_t value);
  NodeId Float(ElementType type, double value);
  NodeId Zero(ElementType type);
  NodeId Select(NodeId pred, NodeId on_true, NodeId on_false);
  // The value of an index expression, as s32 where that fits, else s64.
  NodeId IndexValue(IndexId expr);
  bool IsTrue(NodeId pred) const;
  bool IsFalse(NodeId pred) const;
  // Guards: conjunction and negation; either may be kAlways.
  NodeId And(NodeId a, NodeId b);
  NodeId Not(NodeId a);
  NodeId AsNode(NodeId guard);  // kAlways becomes a constant
  // lo <= expr < hi, as far as the ranges do not tell.
  NodeId InRange(IndexId expr, int64_t lo, int64_t hi);
  // The nodes of `function` on the given arguments; one for each result.
  std::vector<NodeId> Inline(const ScalarFunction& function,
                             absl::Span<const NodeId> arguments);
  // Index of the scalar function of `computation`.
  absl::StatusOr<int32_t> Function(const Computation* computation);
  // One of op(a, b) in `type`.
  int32_t SimpleFunction(Opcode opcode, ElementType type);
  const ScalarFunction& function(int32_t i) const {
    return kernel_->functions[i];
  }
  const Node& node(NodeId n) const { return kernel_->nodes[n]; }

  // ---- Indices ----
  IndexPool& pool() { return *kernel_->index; }
  // An integer node, clamped to [lo, hi], as an index.
  IndexId DynamicIndex(NodeId node, int64_t lo, int64_t hi);
  // Position in `order` (dimensions, major to minor) of an index.
  IndexId Linear(const IndexTuple& index, absl::Span<const int64_t> dims,
                 absl::Span<const int64_t> order);
  IndexTuple Delinear(IndexId linear, absl::Span<const int64_t> dims,
                      absl::Span<const int64_t> order);
  // Element offset of `index` in a buffer of this shape and layout.
  IndexId Offset(const Shape& shape, absl::Span<const IndexId> index);
  // Variables of indices and guard, dynamic nodes looked into.
  uint64_t VarsOf(absl::Span<const IndexId> index, NodeId guard);

  // ---- Variables ----
  // A variable of the space; all of them before any other.
  IndexId AddSpaceVar(int64_t extent);
  // An inner variable of this extent that is not in `used` (which it enters).
  absl::StatusOr<IndexId> InnerVar(int64_t extent, uint64_t* used);
  // Where a value lies over the space, if it does; see space.h.
  const IndexTuple* Home(const Instruction* value) const;
  void SetHomes(absl::flat_hash_map<const Instruction*, IndexTuple> homes) {
    homes_ = std::move(homes);
  }

  bool IsMember(const Instruction* instruction) const {
    return members_.contains(instruction);
  }
  const Group& group() const { return group_; }
  Kernel* kernel() { return kernel_; }
  // Buffer of an input's part; -1 where it is none.
  int32_t InputBuffer(const Instruction* value, int32_t part) const;

 private:
  absl::StatusOr<NodeId> Lower(const ValueRequest& request);
  NodeId Load(int32_t buffer, const ValueRequest& request);
  int32_t RequestId(ValueRequest request);

  const Group& group_;
  Kernel* kernel_;
  absl::flat_hash_set<const Instruction*> members_;
  absl::flat_hash_map<std::pair<const Instruction*, int32_t>, int32_t> inputs_;
  absl::flat_hash_map<const Computation*, int32_t> functions_;
  absl::flat_hash_map<std::pair<Opcode, ElementType>, int32_t> simple_;
  absl::flat_hash_map<NodeKey, NodeId> nodes_;
  absl::flat_hash_map<const Instruction*, IndexTuple> homes_;

  using RequestKey = std::pair<std::pair<const Instruction*, int32_t>,
                               absl::InlinedVector<int32_t, 7>>;
  absl::flat_hash_map<RequestKey, int32_t> request_ids_;
  std::vector<ValueRequest> requests_;
  std::vector<NodeId> results_;
  std::vector<int32_t> wanted_;  // by the rule that runs
};

// Unimplemented: "<name> (line N): <opcode>: <what>".
absl::Status Refuse(const Instruction& instruction, absl::string_view what);

// The shape of part `part` of a value; of an array the only one.
const Shape& PartShape(const Instruction& value, int64_t part);

// Dimensions from major to minor.
DimVector PhysicalOrder(const Shape& shape);
DimVector RowMajorOrder(int64_t rank);

// The rule of an opcode: the node of request.instruction at request.index, or
// kPending.
using LowerFn = absl::StatusOr<NodeId> (*)(KernelBuilder& b,
                                           const ValueRequest& request);
// Null where an opcode has no scalar form.
LowerFn FindLowerFn(Opcode opcode);

// A scalar function from a computation of elementwise instructions on scalars.
absl::StatusOr<ScalarFunction> BuildScalarFunction(const Computation& c);
// Node of a scalar constant, or of a constant that repeats one element.
absl::StatusOr<Node> ConstantNode(const Instruction& constant);
// The fields of a kOp node that come from attributes; operands are left out.
absl::StatusOr<Node> OpNode(const Instruction& instruction);

// lower_elementwise.cc
absl::StatusOr<NodeId> LowerElementwise(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerConstant(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerMap(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerTuple(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerGetTupleElement(KernelBuilder&,
                                            const ValueRequest&);
// lower_shape.cc
absl::StatusOr<NodeId> LowerBroadcast(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerReshape(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerBitcast(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerBitcastConvert(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerTranspose(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerReverse(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerSlice(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerPad(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerConcatenate(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerIota(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerGetDimensionSize(KernelBuilder&,
                                             const ValueRequest&);
// lower_reduce.cc
absl::StatusOr<NodeId> LowerReduce(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerReduceWindow(KernelBuilder&, const ValueRequest&);
// lower_contraction.cc
absl::StatusOr<NodeId> LowerDot(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerConvolution(KernelBuilder&, const ValueRequest&);
// lower_indexed.cc
absl::StatusOr<NodeId> LowerDynamicSlice(KernelBuilder&, const ValueRequest&);
absl::StatusOr<NodeId> LowerDynamicUpdateSlice(KernelBuilder&,
                                               const ValueRequest&);
absl::StatusOr<NodeId> LowerGather(KernelBuilder&, const ValueRequest&);

// Clamped start of a dynamic-(update-)slice in dimension d: scalar operands
// from `first` on, or one vector. kPending or an index through `start`.
absl::StatusOr<bool> DynamicStart(KernelBuilder& b, const Instruction& slice,
                                  int64_t first, int64_t d, int64_t limit,
                                  NodeId guard, IndexId* start);

// space.cc: variables, homes and stores for a group's pattern.
absl::Status BuildLoopStores(KernelBuilder* b);
absl::Status BuildReduceStores(KernelBuilder* b);
// scatter.cc
absl::Status BuildScatterStores(KernelBuilder* b);
// Stores part `part` of `root` to `buffer` at `index`.
absl::Status StoreRoot(KernelBuilder* b, const Instruction* root, int32_t part,
                       int32_t buffer, const IndexTuple& index);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_BUILDER_H_
