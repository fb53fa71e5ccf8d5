// Pass: one step from a Module to an equivalent Module.
//
// A pass keeps what the module computes: exactly, or (where its description
// says so) up to the rounding that hlo/evaluator's comparison allows. It keeps
// the list order topological, the signature of the entry and the source
// location and metadata of whatever it replaces.
//
// A pass is a row of the table in registry.cc: a name, a sentence and a
// function. Every pass can be run alone:
//
//   RIDGE_ASSIGN_OR_RETURN(const Pass* pass, FindPass("cse"));
//   RIDGE_ASSIGN_OR_RETURN(bool changed, pass->Run(&module));
#ifndef RIDGE_HLO_PASSES_PASS_H_
#define RIDGE_HLO_PASSES_PASS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"

namespace ridge {

// What rewrites did; filled where PassOptions::stats is set.
struct RewriteStats {
  // Times each rule applied, by rule name.
  std::map<std::string, int64_t> rule_counts;
  // False when a worklist hit its bound: the module is correct, but not at a
  // fixpoint (a fault of the rules, worth a report).
  bool converged = true;
};

struct PassOptions {
  // Rules that are wrong for NaN or infinity (x * 0 = 0, x / x = 1).
  bool allow_nan_unsafe = false;
  // Rules that may turn -0 into +0 or back (x + 0 = x) where the sign of x's
  // zero is not known.
  bool allow_signed_zero = false;
  // Whether bodies of `fusion` instructions are rewritten too. Off: a fused
  // module, imported to look at its plan, keeps its kernels as they are.
  bool inside_fusions = false;
  // Constant folding: the largest result in elements, and the largest work in
  // scalar operations, of one folded instruction.
  int64_t max_folded_elements = 4096;
  int64_t max_folding_work = int64_t{1} << 20;
  // A worklist stops after this many rewrites per instruction.
  int64_t max_rewrites_per_instruction = 40;
  RewriteStats* stats = nullptr;
};

class Pass {
 public:
  // True when the module changed.
  using Function = absl::StatusOr<bool> (*)(Module*, const PassOptions&);

  constexpr Pass(absl::string_view name, absl::string_view description,
                 Function function)
      : name_(name), description_(description), function_(function) {}

  absl::string_view name() const { return name_; }
  absl::string_view description() const { return description_; }
  absl::StatusOr<bool> Run(Module* module,
                           const PassOptions& options = {}) const {
    return function_(module, options);
  }

 private:
  absl::string_view name_;
  absl::string_view description_;
  Function function_;
};

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_PASS_H_
