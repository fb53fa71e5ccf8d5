// The reference evaluator: what an HLO module computes, on the host.
//
// Every instruction is evaluated on its own, in order, and its result is
// rounded to its element type (nearest even): no excess precision, no
// contraction. Inside one instruction the arithmetic is at least float32;
// sums (reduce, dot, convolution ...) are taken in double and rounded once, so
// the evaluator is the more exact side of a comparison.
//
//   RIDGE_ASSIGN_OR_RETURN(Literal result, Evaluate(*module, arguments));
//
// Every single-device opcode is covered (hlo/evaluator/handlers.cc is the
// table). Collectives are evaluated as on one replica with one partition where
// that has a meaning, else refused. Nothing an input says can crash the
// process: out-of-range indices follow HLO's clamping rules, and a shape that
// does not fit, a loop without end or an ill-formed instruction is an error
// that names the instruction and its line.
#ifndef RIDGE_HLO_EVALUATOR_EVALUATOR_H_
#define RIDGE_HLO_EVALUATOR_EVALUATOR_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace ridge {

enum class EvalPrecision : uint8_t {
  kAsTyped,  // every instruction rounds to its element type
  // Every floating-point instruction is evaluated and kept in double (c128 for
  // complex): float leaves of the result have type f64. Conversions between
  // float types do not round; reduce-precision, which asks for rounding, does.
  // Bits are looked at (bitcast-convert) in the written type.
  kF64,
};

struct EvalOptions {
  EvalPrecision precision = EvalPrecision::kAsTyped;
  // While iterations over the whole evaluation, nested ones included; more is
  // kResourceExhausted.
  int64_t max_steps = 10'000'000;
  // Bytes of values alive at once, about; more is kResourceExhausted.
  int64_t max_bytes = int64_t{16} << 30;
  // Threads to use; 0: all that hlo/base/thread_pool.h offers.
  int max_threads = 0;
  // Seed of `rng`, whose values HLO leaves to the implementation.
  uint64_t rng_seed = 42;
};

// Evaluates the entry computation. `arguments` are the entry's parameters in
// order (a tuple parameter is a tuple literal). Errors: kInvalidArgument
// (arguments do not match the parameters, or the module is ill-formed),
// kUnimplemented (needs more than one device, or an unknown custom call),
// kResourceExhausted (max_steps, max_bytes, nesting depth).
absl::StatusOr<Literal> Evaluate(const Module& module,
                                 absl::Span<const Literal> arguments,
                                 const EvalOptions& options = {});

// The same for any computation of a module.
absl::StatusOr<Literal> EvaluateComputation(const Computation& computation,
                                            absl::Span<const Literal> arguments,
                                            const EvalOptions& options = {});

// Evaluates one instruction on given operand values. What constant folding
// needs. Control flow and called computations are followed.
absl::StatusOr<Literal> EvaluateInstruction(const Instruction& instruction,
                                            absl::Span<const Literal> operands,
                                            const EvalOptions& options = {});

// kInvalidArgument, naming what is wrong, unless there is one argument a
// parameter, of its shape (layouts do not matter).
absl::Status CheckArguments(const Computation& computation,
                            absl::Span<const Literal> arguments);

// Unimplemented, naming instruction, line and rule, if the computation cannot
// be evaluated on one device whatever the arguments; OK otherwise. Looks into
// called computations.
absl::Status CheckEvaluable(const Module& module);

}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_EVALUATOR_H_
