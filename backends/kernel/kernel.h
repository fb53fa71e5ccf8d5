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
            // `type` (bf16 rounds); convert, compare, select, clamp, ... too
  kReduce,  // fold of operands (N values, then N inits) over `reduced` with
            // combiner `function`; this node is result number `result`
  kCall,    // result `result` of scalar function `function` (map, reducers
            // used pointwise)
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
  // kReduce, kCall.
  int32_t function = -1;
  int32_t result = 0;
  uint64_t reduced = 0;  // bit v: folds over variable v

  // Derived by FinishKernel.
  uint64_t vars = 0;  // bit v: the value varies with variable v
  int32_t phase = 0;  // reductions on the longest path before the value
  const Instruction* origin = nullptr;  // for names and comments; may be null
};

// A scalar function: a reducer or a map's computation. Parameters are nodes
// 0..parameter_count-1 (kind kConst is not used for them: they are
// `kParameter` by position).
struct ScalarFunction {
  std::string name;
  int32_t parameter_count = 0;
  std::vector<Node> nodes;  // the first parameter_count stand for parameters
  std::vector<NodeId> results;
  // Set where the function is one commutative and associative operation
  // (add, multiply, maximum, minimum, and, or, xor), by far the usual case.
  std::optional<Opcode> simple;
};

// A buffer the kernel reads or writes. Inputs come first, in the order of
// GroupInputs; then outputs, in the order of the group's roots (tuple-shaped
// roots, e.g. variadic reduce, give one output each part).
struct KernelBuffer {
  const Instruction* value = nullptr;
  int32_t part = 0;  // tuple element of a tuple-shaped value
  Shape shape;       // the part's shape, with layout
  bool is_output = false;
  // Outputs of kScatter groups that update an input in place: that input.
  int32_t aliases = -1;
};

struct Store {
  NodeId value = -1;
  int32_t buffer = -1;
  IndexId offset = -1;
  uint64_t vars = 0;  // variables that `offset` depends on; the store happens
                      // once per value of these
  NodeId guard = -1;
};

struct IterationVar {
  int64_t extent = 1;
};

struct Kernel {
  std::string name;  // the group's name: a C identifier
  GroupPattern pattern = GroupPattern::kLoop;
  std::vector<IterationVar> vars;  // at most 64; the last one is minor
  std::vector<KernelBuffer> buffers;
  std::vector<Node> nodes;  // operands precede users
  std::vector<ScalarFunction> functions;
  std::vector<Store> stores;
  std::shared_ptr<IndexPool> index;  // shared by copies; append-only
  ScheduleChoice schedule;

  int64_t VarExtent(int64_t v) const { return vars[v].extent; }
};

// Builds the kernel of a group (not kGemm, not kOpaque). Unimplemented, naming
// the instruction, its line and the rule, where the scalar form cannot express
// a member.
absl::StatusOr<Kernel> BuildKernel(const Group& group);

// Human-readable, in the form of the example above.
std::string ToString(const Kernel& kernel);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_KERNEL_H_
