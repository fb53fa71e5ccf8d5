// What the rules of the error analysis share. Not for use outside
// hlo/evaluator.
#ifndef RIDGE_HLO_EVALUATOR_ERROR_BOUND_CONTEXT_H_
#define RIDGE_HLO_EVALUATOR_ERROR_BOUND_CONTEXT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/evaluator/context.h"
#include "hlo/evaluator/error_bound.h"

namespace ridge {
namespace eval {

// A value with its error: an array (or token), or a tuple of such.
struct Bounded {
  Literal value;
  // f64 with the value's dimensions; no array at all where the value is exact.
  Literal error;
  // Zeros may have either sign: where a sum of nothing but zeros starts, and
  // whether it starts at all, is left open. Bits and quotients tell.
  bool open_zeros = false;
  bool tuple = false;
  std::vector<Bounded> elements;

  bool exact() const {
    if (!tuple) return !error.shape().IsArray();
    for (const Bounded& e : elements) {
      if (!e.exact()) return false;
    }
    return true;
  }
};

class BoundInterpreter;

// One instruction about to be evaluated.
struct BoundOp {
  BoundInterpreter& context;
  const Instruction& instruction;
  const Shape& shape;
  Handler handler;
  absl::Span<Bounded* const> operands;

  int64_t count() const { return static_cast<int64_t>(operands.size()); }
  const Bounded& in(int64_t i) const { return *operands[i]; }
  bool exact() const {
    for (const Bounded* b : operands) {
      if (!b->exact()) return false;
    }
    return true;
  }
  bool open_zeros() const {
    for (const Bounded* b : operands) {
      if (b->open_zeros) return true;
    }
    return false;
  }
};

using BoundRule = absl::StatusOr<Bounded> (*)(const BoundOp& op);
BoundRule BoundRuleOf(Opcode opcode);

class BoundInterpreter {
 public:
  explicit BoundInterpreter(const BoundOptions& options)
      : options_(options),
        typed_(options.evaluation),
        wide_(Wide(options.evaluation)) {}

  absl::StatusOr<Bounded> Run(const Computation& computation,
                              std::vector<Bounded> arguments);

  const BoundOptions& options() const { return options_; }
  Interpreter& typed() { return typed_; }
  // Evaluates the same instructions in double.
  Interpreter& wide() { return wide_; }
  // Says why something is ambiguous or unbounded, once an instruction.
  void Note(const Instruction& instruction, absl::string_view reason);
  // Exact operands give exact results: integers and predicates alone, of
  // opcodes that leave nothing open.
  bool IsDiscrete(const Computation& computation);
  std::vector<std::string> TakeNotes() { return std::move(notes_); }

 private:
  static EvalOptions Wide(EvalOptions o) {
    o.precision = EvalPrecision::kF64;
    return o;
  }
  // kResourceExhausted if the rule's copies in double would not fit.
  absl::Status CheckFits(const BoundOp& op) const;

  BoundOptions options_;
  Interpreter typed_;
  Interpreter wide_;
  int depth_ = 0;
  int64_t live_bytes_ = 0;
  absl::flat_hash_map<const Computation*, bool> discrete_;
  std::vector<std::string> notes_;
  absl::flat_hash_set<const Instruction*> noted_;
};

// ---- Helpers ----

// Spacing u of the arithmetic of a type: that of f32, or of f64.
double SpacingOf(ElementType type);
// g(n) = 1 + sqrt(n)/2.
double SumGrowth(int64_t n);

Bounded ExactValue(Literal value);  // any tree
Bounded ArrayValue(Literal value, Literal error);
// Everything in it unbounded.
Bounded Unbounded(Literal value);
Literal ValueTree(const Bounded& b);
Literal ErrorTree(const Bounded& b);

// The array's errors (zeros where exact); its values as f64 (c128 for
// complex), their magnitudes as f64.
Literal ErrorsOf(const Bounded& b);
Literal Wide(const Literal& value);
Literal Magnitudes(const Literal& value);
// f64 arrays of equal dimensions, in place.
void AddTo(const Literal& more, Literal* errors);
void AddScaled(double factor, const Literal& more, Literal* errors);
bool AllZero(const Literal& errors);

// The instruction's handler on these arrays: in the written types, or (Wide)
// in double, with `shape` the result's.
absl::StatusOr<Literal> RunTyped(const BoundOp& op,
                                 std::vector<Literal> operands);
absl::StatusOr<Literal> RunWide(const BoundOp& op,
                                std::vector<Literal> operands);
std::vector<Literal> Values(const BoundOp& op);

// The error of `value` when the exact result is `center` (f64, c128) give or
// take `slack` (f64): both ends rounded to the value's type.
Literal RoundedError(const Literal& value, const Literal& center,
                     const Literal& slack);

// ---- Rules (see BoundRuleOf) ----
absl::StatusOr<Bounded> BoundElementwise(const BoundOp& op);
absl::StatusOr<Bounded> BoundSelect(const BoundOp& op);
absl::StatusOr<Bounded> BoundMove(const BoundOp& op);
absl::StatusOr<Bounded> BoundExactOrUnbounded(const BoundOp& op);
absl::StatusOr<Bounded> BoundReduce(const BoundOp& op);
absl::StatusOr<Bounded> BoundReduceWindow(const BoundOp& op);
absl::StatusOr<Bounded> BoundScatter(const BoundOp& op);
absl::StatusOr<Bounded> BoundSelectAndScatter(const BoundOp& op);
absl::StatusOr<Bounded> BoundContraction(const BoundOp& op);
absl::StatusOr<Bounded> BoundFft(const BoundOp& op);
absl::StatusOr<Bounded> BoundByProbing(const BoundOp& op);
absl::StatusOr<Bounded> BoundSort(const BoundOp& op);
absl::StatusOr<Bounded> BoundTopK(const BoundOp& op);
absl::StatusOr<Bounded> BoundRandom(const BoundOp& op);

}  // namespace eval
}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_ERROR_BOUND_CONTEXT_H_
