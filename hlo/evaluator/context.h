// What the evaluator's opcode handlers share. Not for use outside
// hlo/evaluator.
#ifndef RIDGE_HLO_EVALUATOR_CONTEXT_H_
#define RIDGE_HLO_EVALUATOR_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/evaluator/scalar_program.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace ridge {
namespace eval {

class Interpreter;

// One instruction about to be evaluated.
struct Op {
  Interpreter& interpreter;
  const Instruction& instruction;
  // The result's shape in the types evaluated in: with EvalPrecision::kF64,
  // f64 where the instruction says f32. Operand literals are in those types
  // too, so handlers look at these and not at instruction.shape().
  const Shape& shape;
  absl::Span<Literal* const> operands;
  // Bit i: operand i dies here and its buffer may be taken.
  uint64_t owned;

  int64_t count() const { return static_cast<int64_t>(operands.size()); }
  const Literal& in(int64_t i) const { return *operands[i]; }
  bool owns(int64_t i) const { return i < 64 && ((owned >> i) & 1) != 0; }
  // Operand i as a value: moved when it dies here, else shared.
  Literal Take(int64_t i) const {
    return owns(i) ? std::move(*operands[i]) : *operands[i];
  }
};

using Handler = absl::StatusOr<Literal> (*)(const Op& op);

// Results share or merely regroup their operands' storage.
bool AliasesOperands(Opcode opcode);

// The evaluator of one opcode; never null (handlers.cc).
Handler HandlerOf(Opcode opcode);

// One computation made ready: dead instructions dropped, last uses known.
struct PlanStep {
  const Instruction* instruction;
  const Shape* shape;  // in the types evaluated in
  Handler handler;
  absl::InlinedVector<int32_t, 3> operands;  // slots
  uint64_t owned = 0;
  absl::InlinedVector<int32_t, 2> frees;  // slots dead after this step
  // get-tuple-element that is the last to want its element, of a tuple that
  // only get-tuple-elements read: it may move the element out.
  bool moves_element = false;
  std::shared_ptr<const Literal> constant;  // kConstant, types evaluated in
};
struct Plan {
  std::vector<PlanStep> steps;           // step i writes slot i
  std::vector<int32_t> parameter_slots;  // by parameter number; -1: unused
  int32_t root = 0;
};

class Interpreter {
 public:
  explicit Interpreter(const EvalOptions& options) : options_(options) {}
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  const EvalOptions& options() const { return options_; }
  bool f64() const { return options_.precision == EvalPrecision::kF64; }

  // Arguments in the types evaluated in.
  absl::StatusOr<Literal> Run(const Computation& computation,
                              std::vector<Literal> arguments);
  absl::StatusOr<Literal> RunInstruction(const Instruction& instruction,
                                         std::vector<Literal> operands);

  absl::StatusOr<const Plan*> PlanOf(const Computation& computation);

  // Counts one while iteration.
  absl::Status CountStep();

  // A program for a computation of scalars, compiled once; null when the
  // computation is not one (see ScalarProgram).
  const ScalarProgram* Program(const Computation& computation);

  // hlo/base/thread_pool.h's ParallelFor, on the caller's thread alone when
  // the options ask for one thread.
  void Parallel(int64_t begin, int64_t end, int64_t grain,
                absl::FunctionRef<void(int64_t, int64_t)> body) const;
  int threads() const;

  // OK if a value of this shape can be held; call before allocating.
  absl::Status CheckFits(const Shape& shape) const;

  // A seed for the next `rng`, different each time, the same for each run.
  uint64_t NextRngSeed();
  // State of rng-get-and-update-state, which is one per program.
  uint64_t rng_state = 0;

 private:
  const Shape* EvalShape(const Shape& shape);

  EvalOptions options_;
  int64_t steps_ = 0;
  int64_t live_bytes_ = 0;
  int depth_ = 0;
  uint64_t rng_calls_ = 0;
  absl::flat_hash_map<const Computation*, std::unique_ptr<Plan>> plans_;
  absl::flat_hash_map<const Computation*, std::unique_ptr<ScalarProgram>>
      programs_;
  std::vector<std::unique_ptr<Shape>> shapes_;
};

// `shape` with every float type f64 and every complex type c128.
Shape ToF64(const Shape& shape);
// An array literal (or each leaf of a tuple) converted to `shape`'s types.
Literal ConvertTo(const Literal& literal, const Shape& shape);

// Reads element `i` of an integer array as an index; u64 values beyond int64
// saturate.
int64_t IndexAt(const Literal& literal, int64_t i);

// InvalidArgument from the parts; the interpreter adds instruction and line.
template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status Unsupported(const Parts&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}
// Adds instruction and line to an error, once: at the innermost instruction.
absl::Status Locate(absl::Status status, const Instruction& instruction);
// "name (opcode, line 12)" for messages.
std::string Where(const Instruction& instruction);
// OK if the operand's dimensions are the given ones.
absl::Status CheckDims(absl::string_view what, const Shape& shape,
                       absl::Span<const int64_t> dims);
// OK if there are `n` operands and those from `first` on are arrays.
absl::Status CheckArrays(const Op& op, int64_t n);

}  // namespace eval
}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_CONTEXT_H_
