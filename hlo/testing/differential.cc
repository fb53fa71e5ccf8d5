#include "hlo/testing/differential.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/compare.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/evaluator/inputs.h"
#include "hlo/ir/equal.h"
#include "hlo/passes/pipeline.h"
#include "hlo/verify/verify.h"

namespace ridge {
EvalOptions DifferentialCase::Evaluation() const {
  EvalOptions evaluation;
  evaluation.max_steps = options_.max_steps;
  evaluation.max_threads = options_.max_threads;
  evaluation.max_bytes = options_.max_bytes;
  return evaluation;
}

absl::StatusOr<DifferentialCase> DifferentialCase::Make(
    const Module& module, const DifferentialOptions& options) {
  DifferentialCase result;
  result.module_ = &module;
  result.options_ = options;
  result.valid_ = VerifyStatus(module, AfterPasses()).ok();
  InputOptions inputs;
  inputs.seed = options.input_seed;
  inputs.max_bytes = options.max_bytes / 4;
  RIDGE_ASSIGN_OR_RETURN(result.arguments_, MakeInputs(module, inputs));
  RIDGE_ASSIGN_OR_RETURN(result.expected_, Evaluate(module, result.arguments_,
                                                    result.Evaluation()));
  return result;
}

absl::Status DifferentialCase::Compare(const Module& after, bool* exact) const {
  RIDGE_ASSIGN_OR_RETURN(Literal got,
                         Evaluate(after, arguments_, Evaluation()));
  *exact = got == expected_;
  if (*exact) return absl::OkStatus();
  BoundOptions bounds;
  bounds.evaluation = Evaluation();
  bounds.evaluation.max_bytes *= 4;
  absl::StatusOr<Comparison> comparison =
      CompareWithEvaluator(*module_, arguments_, got, bounds);
  if (absl::IsResourceExhausted(comparison.status())) {
    comparison = CompareOutputs(*module_, got, expected_);
  }
  if (!comparison.ok()) return comparison.status();
  if (comparison->ok) return absl::OkStatus();
  return absl::DataLossError(comparison->ToString());
}

absl::Status DifferentialCase::Check(const Pass& pass, bool* changed,
                                     bool* exact) {
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
  auto outcome = std::find_if(
      outcomes_.begin(), outcomes_.end(),
      [&](const Outcome& o) { return StructurallyEqual(*o.after, *copy); });
  if (outcome == outcomes_.end()) {
    bool equal = false;
    absl::Status status = Compare(*copy, &equal);
    outcomes_.push_back({std::move(copy), equal, std::move(status)});
    outcome = outcomes_.end() - 1;
  }
  if (exact != nullptr) *exact = outcome->exact;
  return Annotate(outcome->status, absl::StrCat("after pass ", pass.name()));
}

absl::Status CheckPass(const Module& module, const Pass& pass,
                       const DifferentialOptions& options) {
  RIDGE_ASSIGN_OR_RETURN(DifferentialCase c,
                         DifferentialCase::Make(module, options));
  return c.Check(pass);
}

}  // namespace ridge
