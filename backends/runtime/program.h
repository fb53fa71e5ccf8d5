// Program: a planned module as a list of steps over buffers. Device-neutral;
// the cpu and cuda back ends both realise it.
#ifndef RIDGE_BACKENDS_RUNTIME_PROGRAM_H_
#define RIDGE_BACKENDS_RUNTIME_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/kernel/gemm.h"
#include "backends/kernel/kernel.h"
#include "fusion/plan.h"
#include "hlo/ir/module.h"

namespace ridge {

using BufferId = int32_t;

enum class BufferKind : uint8_t {
  kParameter,  // an entry parameter's leaf: the caller's memory, not written
  kConstant,   // a literal, uploaded once
  kTemporary,  // lies in the arena at `offset`
};

// One array in memory: a tuple's leaves are buffers of their own. A value that
// aliases another (bitcast, get-tuple-element, in-place update) has its buffer.
struct Buffer {
  BufferKind kind = BufferKind::kTemporary;
  Shape shape;                  // with layout: elements lie in physical order
  int64_t bytes = 0;            // storage bytes, sub-byte types unpacked
  int64_t offset = 0;           // kTemporary: in the arena, 256-byte aligned
  int64_t parameter_leaf = -1;  // kParameter: index among flattened parameters
  const Literal* constant = nullptr;
  std::string name;  // of the value, for dumps
};

struct ProgramBody;

enum class StepKind : uint8_t {
  kKernel,   // a generated kernel
  kGemm,     // a dot group: library, or generated
  kLibrary,  // one instruction run by a library or by the evaluator
  kCopy,     // input 0 to output 0, same bytes
  kWhile,
  kConditional,
  kChain,  // the steps of bodies[0] in one launch; only back ends form these
};

struct Step {
  StepKind kind = StepKind::kKernel;
  std::string name;              // the group's name
  const Group* group = nullptr;  // null for control steps and copies
  const Instruction* instruction = nullptr;  // hero or control instruction
  std::vector<BufferId> inputs;  // kKernel: in the kernel's buffer order
  std::vector<BufferId> outputs;
  // kGemm: the leaves of GroupInputs(group), for back ends that run the group
  // another way; `inputs` are the product's operands in its own order.
  std::vector<BufferId> group_inputs;
  Kernel kernel;  // kKernel
  GemmStep gemm;  // kGemm
  // kWhile: {condition, body}; kConditional: the branches. Inputs of the body
  // are `inputs`, leaf by leaf; a while's outputs are its inputs' buffers, and
  // the body copies what it does not produce in place.
  std::vector<std::shared_ptr<const ProgramBody>> bodies;
  int64_t trip_count = -1;  // kWhile, where known
};

struct ProgramBody {
  std::vector<Step> steps;
  std::vector<BufferId> parameters;  // leaves, flattened
  std::vector<BufferId> results;     // leaves of the root, flattened
};

struct ProgramOptions {
  // Loops whose points do not look at each other become one kernel
  // (backends/kernel/sequential.h): for devices where a step costs as much as
  // many rounds.
  bool loops_in_kernels = false;
};

struct Program {
  const Module* module = nullptr;
  std::vector<Buffer> buffers;
  ProgramBody entry;
  int64_t arena_bytes = 0;
  // Constants that are no instruction's: a loop's counter at its end.
  std::vector<std::unique_ptr<const Literal>> literals;
};

// `module` and `plan` must outlive the program. Fails before any work where an
// instruction cannot run on one device (collectives, unknown custom calls),
// naming it and its line.
absl::StatusOr<Program> BuildProgram(const Module& module, const Plan& plan,
                                     const ProgramOptions& options = {});

}  // namespace ridge

#endif  // RIDGE_BACKENDS_RUNTIME_PROGRAM_H_
