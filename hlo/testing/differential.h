// Differential testing of passes: what a module computes, before and after.
#ifndef RIDGE_HLO_TESTING_DIFFERENTIAL_H_
#define RIDGE_HLO_TESTING_DIFFERENTIAL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"

namespace ridge {

struct DifferentialOptions {
  uint64_t input_seed = 1;
  int64_t max_steps = 100000;            // of while loops, as EvalOptions'
  int64_t max_bytes = int64_t{1} << 30;  // of values alive at once
  int max_threads = 1;
};

// One module with arguments and what it computes on them.
class DifferentialCase {
 public:
  // Errors: those of making inputs and of evaluating.
  static absl::StatusOr<DifferentialCase> Make(
      const Module& module, const DifferentialOptions& options = {});

  // Runs `pass` on a copy and compares. OK, or
  //   kDataLoss        the results differ beyond the error bounds
  //   kInternal        the pass failed, or did not reach its fixpoint
  //   kInvalidArgument what it left is not a valid module
  //   the evaluator's  the copy cannot be evaluated, though the module can
  // `changed`, if not null, says whether the pass changed anything, and
  // `exact` whether the results are equal bit for bit. A pass that leaves the
  // same module as one checked before has the same outcome, without another
  // evaluation.
  absl::Status Check(const Pass& pass, bool* changed = nullptr,
                     bool* exact = nullptr);

 private:
  struct Outcome {
    std::unique_ptr<Module> after;
    bool exact;
    absl::Status status;
  };

  DifferentialCase() = default;
  EvalOptions Evaluation() const;
  // What `after` computes, against what the module does.
  absl::Status Compare(const Module& after, bool* exact) const;

  const Module* module_ = nullptr;
  DifferentialOptions options_;
  bool valid_ = false;  // an invalid module is not blamed on a pass
  std::vector<Literal> arguments_;
  Literal expected_;
  std::vector<Outcome> outcomes_;
};

// Make and Check in one; for reducers.
absl::Status CheckPass(const Module& module, const Pass& pass,
                       const DifferentialOptions& options = {});

}  // namespace ridge

#endif  // RIDGE_HLO_TESTING_DIFFERENTIAL_H_
