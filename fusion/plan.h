// Plan: which instructions of a module share a kernel. Plain data.
#ifndef RIDGE_FUSION_PLAN_H_
#define RIDGE_FUSION_PLAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"

namespace ridge {

// The shape of a group's computation, which decides the schedules that can
// serve it. FusionKind (kLoop, kInput, kOutput, kCustom), which XLA prints,
// follows from it: see KindOf.
enum class GroupPattern : uint8_t {
  kLoop,          // every root element is computed on its own
  kRowReduce,     // reductions along contiguous (minor) axes, or rows in
                  // pieces, and maps
  kColumnReduce,  // reductions along strided axes
  kRowColumn,     // folds of one iteration space over rows and over columns
  kTranspose,     // a permutation that moves the minor axis, and maps
  kScatter,       // scatter or dynamic-update-slice into its own operand
  kGemm,          // a dot with prologue and epilogue
  kOpaque,        // one instruction that a library or plain kernel runs
};

// Which schedule runs a group, and its parameters by name ("vector": 8).
// Empty name: the back end chooses its default.
struct ScheduleChoice {
  std::string name;
  std::map<std::string, int64_t> parameters;
  bool operator==(const ScheduleChoice& o) const {
    return name == o.name && parameters == o.parameters;
  }
};

// One kernel. Invariants, checked by ValidatePlan:
//  - members are of one computation, in list order, without repetition;
//  - every operand of a member is a member, or a value that is stored: a
//    parameter, a constant, or a root of an earlier group;
//  - roots are members; each value that anything outside the group reads is a
//    root of exactly one group of the plan.
// An instruction may be a member of several groups (a duplicated producer);
// it is a root of at most one. Scalar constants are members where they are
// used, and so are iotas and broadcasts of them; larger constants are inputs.
struct Group {
  std::string name;  // unique in the plan, an identifier: fusion_12_softmax
  GroupPattern pattern = GroupPattern::kLoop;
  const Instruction* hero = nullptr;
  std::vector<const Instruction*> members;
  std::vector<const Instruction*> roots;  // stored values, in list order
  ScheduleChoice schedule;
};

// What the compiler said of one function of a generated kernel.
struct BuiltFunction {
  std::string name;
  int threads = 0;                   // per block, as launched
  int registers = 0;                 // per thread
  int64_t spill_store_bytes = 0;     // per thread, of instructions
  int64_t spill_load_bytes = 0;      // likewise
  int64_t static_shared_bytes = 0;   // per block
  int64_t dynamic_shared_bytes = 0;  // per block, as launched
};

// A generated kernel as it was compiled: what a group runs, or a loop that is
// one kernel ("loop_" and the identifier of the loop's name). Several functions
// where it takes several launches.
struct BuiltKernel {
  std::string kernel;
  std::string target;      // "sm_90a"
  std::string compiler;    // "NVRTC 13.0"
  int64_t code_bytes = 0;  // of the machine code's file
  std::vector<BuiltFunction> functions;
  // Not stored, for they differ from run to run.
  double compile_ms = 0;    // when it was compiled; 0: it is another's code
  bool from_cache = false;  // nothing was compiled for it this time
};

// A partition of every computation that runs by itself: the entry, bodies and
// conditions of while loops, branches, callees. Reducers, comparators and the
// like belong to their caller's group. Not in any group, because they move no
// data: parameter, constant, tuple, get-tuple-element, and instructions whose
// result aliases their operand (bitcast, and reshape where layouts agree) when
// they stand alone; while, conditional and call are control, run by the
// runtime.
struct ComputationPlan {
  const Computation* computation = nullptr;
  std::vector<Group> groups;  // in an order in which they can run
};

// Belongs to one Module object, which must outlive it. Stored as protobuf text
// with names in place of pointers (fusion/plan.proto), tied to the module by
// fingerprint.
struct Plan {
  std::string strategy;            // "none", "greedy", ...
  std::string module_fingerprint;  // FingerprintModule, of the planned module
  std::vector<ComputationPlan> computations;  // callees first, entry last
  std::string note;  // what a proposal changed: "merge a+b"; for people
  // Kernels that were compiled, if any: facts about the plan, no part of it.
  std::vector<BuiltKernel> built;
};

FusionKind KindOf(GroupPattern pattern);
const char* PatternName(GroupPattern pattern);  // "loop", "row_reduce", ...

// `name` as part of a C identifier: what is no letter or digit becomes _.
std::string Identifier(absl::string_view name);

// Values a group reads from memory, in order of first use by its members:
// operands of members that are not members.
std::vector<const Instruction*> GroupInputs(const Group& group);

// True for instructions that run no kernel of their own (see ComputationPlan).
bool IsFree(const Instruction& instruction);
// True where the result is the operand's buffer, seen otherwise.
bool AliasesOperand(const Instruction& instruction);

}  // namespace ridge

#endif  // RIDGE_FUSION_PLAN_H_
