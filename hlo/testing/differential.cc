#include "hlo/testing/differential.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/compare.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/evaluator/inputs.h"
#include "hlo/verify/verify.h"

namespace ridge {
namespace {

EvalOptions Evaluation(int64_t max_steps) {
  EvalOptions options;
  options.max_steps = max_steps;
  options.max_threads = 1;
  options.max_bytes = int64_t{1} << 30;
  return options;
}

// Passes rename, and metadata names what was there before.
VerifyOptions AfterPasses() {
  VerifyOptions verify;
  verify.allow_mixed_precision = true;
  verify.verify_names_unchanged = false;
  return verify;
}

}  // namespace

absl::StatusOr<DifferentialCase> DifferentialCase::Make(const Module& module,
                                                        uint64_t input_seed,
                                                        int64_t max_steps) {
  DifferentialCase result;
  result.module_ = &module;
  result.max_steps_ = max_steps;
  result.valid_ = VerifyStatus(module, AfterPasses()).ok();
  InputOptions inputs;
  inputs.seed = input_seed;
  inputs.max_bytes = int64_t{1} << 28;
  RIDGE_ASSIGN_OR_RETURN(result.arguments_, MakeInputs(module, inputs));
  RIDGE_ASSIGN_OR_RETURN(result.expected_, Evaluate(module, result.arguments_,
                                                    Evaluation(max_steps)));
  return result;
}

absl::Status DifferentialCase::Check(const Pass& pass, bool* changed,
                                     bool* exact) const {
  if (changed != nullptr) *changed = false;
  if (exact != nullptr) *exact = true;
  std::unique_ptr<Module> copy = module_->Clone();
  RewriteStats stats;
  PassOptions options;
  options.stats = &stats;
  RIDGE_ASSIGN_OR_RETURN(bool did, pass.Run(copy.get(), options));
  if (!stats.converged) {
    return absl::InternalError(
        absl::StrCat("pass ", pass.name(), " does not reach a fixpoint"));
  }
  if (!did) return absl::OkStatus();
  if (changed != nullptr) *changed = true;
  if (valid_) {
    RIDGE_RETURN_IF_ERROR(Annotate(VerifyStatus(*copy, AfterPasses()),
                                   absl::StrCat("after pass ", pass.name())));
  }
  RIDGE_ASSIGN_OR_RETURN(Literal got,
                         Evaluate(*copy, arguments_, Evaluation(max_steps_)));
  if (got == expected_) return absl::OkStatus();
  if (exact != nullptr) *exact = false;
  BoundOptions bounds;
  bounds.evaluation = Evaluation(max_steps_);
  bounds.evaluation.max_bytes *= 4;
  absl::StatusOr<Comparison> comparison =
      CompareWithEvaluator(*module_, arguments_, got, bounds);
  if (absl::IsResourceExhausted(comparison.status())) {
    comparison = CompareOutputs(*module_, got, expected_);
  }
  if (!comparison.ok()) return comparison.status();
  if (comparison->ok) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      "pass ", pass.name(), " changes the result:\n", comparison->ToString()));
}

absl::Status CheckPass(const Module& module, const Pass& pass,
                       uint64_t input_seed) {
  RIDGE_ASSIGN_OR_RETURN(DifferentialCase c,
                         DifferentialCase::Make(module, input_seed));
  return c.Check(pass);
}

}  // namespace ridge
