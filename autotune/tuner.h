// The search over plans: propose, price, measure the best few, rank.
#ifndef RIDGE_AUTOTUNE_TUNER_H_
#define RIDGE_AUTOTUNE_TUNER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "autotune/database.h"
#include "backends/runtime/backend.h"
#include "cost_model/device.h"
#include "fusion/legality.h"
#include "fusion/plan.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace ridge {

struct TuneOptions {
  double budget_s = 30;
  // Candidates that are priced, and of these, how many are measured a round.
  int max_priced = 64;
  int max_measured = 12;
  uint64_t seed = 0;
  Numerics numerics = Numerics::kAsWritten;
  const std::atomic<bool>* interrupted = nullptr;
  // One line a step, for people; may be null.
  std::function<void(const std::string&)> progress;
};

struct Candidate {
  Plan plan;
  double predicted_us = 0;
  double measured_us = 0;  // 0: not measured
  double spread = 0;
  std::string failure;  // why it may not be used
  int rank = 0;         // from 1; candidates within the noise share one
  bool from_database = false;
};

struct TuneResult {
  std::vector<Candidate> candidates;  // best first; failures last
  // The measured time of the default (greedy) plan.
  double default_us = 0;
  bool finished = true;  // false: out of budget, or interrupted
};

// Starts from "none" and "greedy", then changes the best plan so far locally
// (fusion/proposals.h) until the budget is spent or no change helps. A
// candidate counts only if its outputs agree with the evaluator's. Each is
// measured next to the best one so far, and that one again with it; a
// difference within the larger spread is a tie, and ties go to the default
// plan. Results come from and go to the database, by module, plan and
// environment.
absl::StatusOr<TuneResult> Tune(const Module& written, const Module& canonical,
                                Backend* backend,
                                const DeviceDescription& device,
                                TuningDatabase* database,
                                const TuneOptions& options);

}  // namespace ridge

#endif  // RIDGE_AUTOTUNE_TUNER_H_
