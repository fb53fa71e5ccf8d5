// Kernel: one group, ready to be priced or emitted. Device-neutral plain data;
// no text of any language. The cost model and every emitter read this object
// and nothing else.
//
// A kernel is a scalar program over an iteration space. Variables v0 x v1 x
// ... span the space; nodes form a DAG of scalar operations (static single
// assignment), each evaluated at a point of the space. A node depends on a
// subset of the variables (`vars`): a schedule may compute it once for all
// values of the others. A kReduce node folds over the variables in `reduced`
// and so no longer depends on them; `phase` counts the reductions before a
// node, so that a row schedule knows what must wait for what.
//
// The first `space_vars` variables are the parallel space: the elements of the
// roots (kLoop, kTranspose), of the hero's operand (reduce patterns), of the
// update (kScatter), in physical order of that value's layout, so that the
// last one is contiguous. Variables after them only serve reductions of values
// that do not lie over that space: every node that depends on one is folded
// over it by a kReduce, and a thread loops over it. Two reductions may share
// one. In reduce patterns the space's variables are maximal runs of dimensions
// that the same reductions fold over: a row reduction has one or two, kept
// then reduced; [N,C,H,W] over N,H,W has three. Where the rows of a row
// reduction lie in pieces (kRowReduce whose reduced dimensions are not all the
// minor ones, such as [N,H,W,G,C] over H,W,C), the kept dimensions come first
// and the reduced ones are one variable after them; see `row_piece`.
//
// Example, softmax over f32[R,C]: v0 = R, v1 = C.
//   n0 = load in0[v0*C + v1]            vars {0,1} phase 0
//   n1 = reduce max n0 over {1}         vars {0}   phase 1
//   n2 = subtract n0 n1                 vars {0,1} phase 1
//   n3 = exponential n2                 vars {0,1} phase 1
//   n4 = reduce add n3 over {1}         vars {0}   phase 2
//   n5 = divide n3 n4                   vars {0,1} phase 2
//   store out0[v0*C + v1] = n5
#ifndef RIDGE_BACKENDS_KERNEL_KERNEL_H_
#define RIDGE_BACKENDS_KERNEL_KERNEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "backends/kernel/index_expr.h"
#include "fusion/plan.h"
#include "hlo/ir/module.h"

namespace ridge {

using NodeId = int32_t;

enum class NodeKind : uint8_t {
  kConst,   // `bits`, in `type`
  kLoad,    // operand `buffer` at element offset `offset`
  kIndex,   // the value of index expression `offset` (iota), as `type`
  kOp,      // elementwise `opcode` of operands, with HLO's exact semantics in
            // `type` (bf16 rounds); convert, compare, select, clamp, ... too.
            // Map's and other scalar computations come inlined.
  kReduce,  // fold of operands (N values, then N inits) over `reduced` with
            // combiner `function`; this node is result number `result`. Nodes
            // that differ in `result` alone are one fold
  kParameter,  // the first nodes of a ScalarFunction, by position; `type`
};

struct Node {
  NodeKind kind = NodeKind::kOp;
  Opcode opcode = Opcode::kAdd;
  ElementType type = ElementType::kF32;
  absl::InlinedVector<NodeId, 3> operands;
  // kLoad: which buffer. kLoad and kIndex: the expression.
  int32_t buffer = -1;
  IndexId offset = -1;
  // kLoad: node of type pred that guards the access; -1: always in bounds.
  // Where it is false the load yields zero and touches no memory.
  NodeId guard = -1;
  uint64_t bits = 0;       // kConst: the element's storage bits (low bytes)
  uint64_t bits_high = 0;  // imaginary half of c64/c128 constants
  // kOp details that the opcode needs beyond its operands.
  ComparisonDirection direction = ComparisonDirection::kEq;
  bool total_order = false;
  int32_t exponent_bits = 0;  // reduce-precision
  int32_t mantissa_bits = 0;
  // kReduce.
  int32_t function = -1;
  int32_t result = 0;
  uint64_t reduced = 0;  // bit v: folds over variable v

  // Derived by FinishKernel.
  uint64_t vars = 0;  // bit v: the value varies with variable v
  int32_t phase = 0;  // reductions on the longest path before the value
  const Instruction* origin = nullptr;  // for names and comments; may be null
};

// A scalar function: a reducer's or a scatter's computation. A reducer of N
// values has parameters (accumulator 0..N-1, value 0..N-1) and N results.
struct ScalarFunction {
  std::string name;
  int32_t parameter_count = 0;
  std::vector<Node> nodes;  // kParameter first; then kConst and kOp
  std::vector<NodeId> results;
  // Set where the function is one commutative and associative operation
  // (add, multiply, maximum, minimum, and, or, xor), by far the usual case.
  std::optional<Opcode> simple;
  // A maximum and the sum of exponentials relative to it (schedules/online.h).
  bool online = false;
};

// A buffer the kernel reads or writes. Inputs come first, in the order of
// GroupInputs; then outputs, in the order of the group's roots (tuple-shaped
// roots, e.g. variadic reduce, give one output each part).
struct KernelBuffer {
  const Instruction* value = nullptr;
  int32_t part = 0;  // tuple element of a tuple-shaped value
  Shape shape;       // the part's shape, with layout
  bool is_output = false;
  // Outputs of kScatter kernels that update an input in place: that input. The
  // kernel only writes what changes; where the two may not share memory, the
  // runtime copies the input to the output first (same bytes).
  int32_t aliases = -1;
};

// An output may have several stores, each of another part of its elements
// (pieces.h).
struct Store {
  NodeId value = -1;
  int32_t buffer = -1;
  IndexId offset = -1;
  // Variables that offset, value and guard depend on: the store happens once
  // per value of these. Derived by FinishKernel.
  uint64_t vars = 0;
  NodeId guard = -1;  // where false nothing is stored
  // Scatter: out[offset] = function(out[offset], value); -1: out[offset] =
  // value. Unless `unique`, several points may hit one offset: then updates
  // must not be lost, and happen in any order.
  int32_t combine = -1;
  bool unique = true;
};

struct IterationVar {
  int64_t extent = 1;
};

// A counted loop around a kernel: the kernel is one round, and each point of
// its space goes through all rounds by itself. What a round stores to a carried
// element the next one loads, at the same point only, so that between rounds
// it stays in a register and is stored once, at the end. Other stores happen
// every round.
struct CarriedLoop {
  int64_t rounds = 1;
  // Loads of the counter: start + step * (number of the round).
  std::vector<NodeId> counters;
  int64_t start = 0;
  int64_t step = 1;
  struct Carry {
    std::vector<NodeId> loads;  // may be none, or several (guards differ)
    int32_t store = -1;         // in Kernel::stores
  };
  std::vector<Carry> carries;
};

struct Kernel {
  std::string name;  // the group's name: a C identifier
  GroupPattern pattern = GroupPattern::kLoop;
  // At most 64, at least one; see the top of this file.
  std::vector<IterationVar> vars;
  int32_t space_vars = 0;
  // Of rows that lie in pieces: elements of the last variable that are
  // neighbours in the space's value, a divisor of the variable's extent.
  // 0: a row is one run.
  int64_t row_piece = 0;
  std::vector<KernelBuffer> buffers;
  std::vector<Node> nodes;  // operands precede users
  std::vector<ScalarFunction> functions;
  // Empty where the outputs have no elements: nothing to launch. A store to
  // an output without elements is left out.
  std::vector<Store> stores;
  // A kernel over the same buffers to run first: it fills the outputs that
  // this kernel (kScatter) then updates, where they are no input's copy.
  std::shared_ptr<const Kernel> prologue;
  // The kernel is a round of this loop. Only the sequential schedule serves it.
  std::optional<CarriedLoop> loop;
  std::shared_ptr<IndexPool> index;  // shared by copies; append-only
  ScheduleChoice schedule;

  int64_t VarExtent(int64_t v) const { return vars[v].extent; }
};

// Builds the kernel of a group (not kOpaque). A kGemm group becomes a kLoop
// kernel that sums each product by itself: right for every form, and slow.
// Unimplemented, naming the instruction, its line and the rule, where the
// scalar form cannot express a member.
absl::StatusOr<Kernel> BuildKernel(const Group& group);
// The same for a round of a loop: one store an output, at the point of the
// element, so that the next round finds it there.
absl::StatusOr<Kernel> BuildRoundKernel(const Group& group);

// Brings a kernel into its final form: removes nodes that no store needs and
// repetitions, numbers nodes anew in the same order, derives vars and phase.
void FinishKernel(Kernel* kernel);
// Makes one variable of two neighbours wherever every index expression and
// every reduction allows it. Leaves the kernel finished.
void MergeVars(Kernel* kernel);

// Internal, naming the node or store, where an invariant of this file is
// broken.
absl::Status ValidateKernel(const Kernel& kernel);

// Human-readable, in the form of the example above.
std::string ToString(const Kernel& kernel);

// The variables of the parallel space as a mask.
inline uint64_t SpaceMask(const Kernel& kernel) {
  return kernel.space_vars >= 64 ? ~uint64_t{0}
                                 : (uint64_t{1} << kernel.space_vars) - 1;
}
// Points of the variables in `mask`; saturates.
int64_t PointCount(const Kernel& kernel, uint64_t mask);
// True where some index expression leaves the range of int32: offsets then
// need 64 bits.
bool NeedsInt64(const Kernel& kernel);
// Variables that an expression depends on, through dynamic nodes too.
uint64_t AllVars(const Kernel& kernel, IndexId expr);
// Type of the values a node's operation works in: the node's type, but the
// first operand's for compare, is-finite and conversions.
ElementType OperandType(const Kernel& kernel, const Node& node);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_KERNEL_H_
