// Differential testing of passes: what a module computes, before and after.
#ifndef RIDGE_HLO_TESTING_DIFFERENTIAL_H_
#define RIDGE_HLO_TESTING_DIFFERENTIAL_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"

namespace ridge {

// One module with arguments and what it computes on them.
class DifferentialCase {
 public:
  // Errors: those of making inputs and of evaluating.
  static absl::StatusOr<DifferentialCase> Make(const Module& module,
                                               uint64_t input_seed,
                                               int64_t max_steps = 100000);

  // Runs `pass` on a copy and compares. OK, or
  //   kDataLoss        the results differ beyond the error bounds
  //   kInternal        the pass failed, or did not reach its fixpoint
  //   kInvalidArgument what it left is not a valid module
  //   the evaluator's  the copy cannot be evaluated, though the module can
  // `changed`, if not null, says whether the pass changed anything, and
  // `exact` whether the results are equal bit for bit.
  absl::Status Check(const Pass& pass, bool* changed = nullptr,
                     bool* exact = nullptr) const;

 private:
  DifferentialCase() = default;
  const Module* module_ = nullptr;
  int64_t max_steps_ = 0;
  bool valid_ = false;  // an invalid module is not blamed on a pass
  std::vector<Literal> arguments_;
  Literal expected_;
};

// Make and Check in one; for reducers.
absl::Status CheckPass(const Module& module, const Pass& pass,
                       uint64_t input_seed);

}  // namespace ridge

#endif  // RIDGE_HLO_TESTING_DIFFERENTIAL_H_
