// Local changes of a plan: what the autotuner tries.
#ifndef RIDGE_FUSION_PROPOSALS_H_
#define RIDGE_FUSION_PROPOSALS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "fusion/group_analysis.h"
#include "fusion/plan.h"
#include "hlo/ir/module.h"

namespace ridge {

enum class ChangeKind : uint8_t {
  kMerge,        // groups a and b become one
  kSplit,        // what `at` needs stays in group a, the rest leaves it
  kMove,         // member `at` moves from group a to b
  kDuplicate,    // group b computes a's result `at` itself
  kUnduplicate,  // group a reads what it computed for a second time
  kUnfuse,       // group a's members run alone (a dot without its epilogue)
};

// One change; groups by number in the computation's plan.
struct Change {
  ChangeKind kind = ChangeKind::kMerge;
  const Computation* computation = nullptr;
  size_t a = 0;
  size_t b = 0;
  const Instruction* at = nullptr;
};

// Changes worth trying, most promising first (by the bytes that cross the
// boundary concerned), at most `limit`. The same plan and seed give the same
// list; the seed decides among changes of equal weight, where 0 keeps the
// order of the plan.
std::vector<Change> EnumerateChanges(const Plan& plan, size_t limit,
                                     uint64_t seed = 0);

// The plan with one change; valid, every group that it touches legal, with the
// change as its note. InvalidArgument: why it is not possible (the rule, with
// value and limit).
absl::StatusOr<Plan> ApplyChange(const Module& module, const Plan& plan,
                                 const Change& change,
                                 const FusionLimits& limits = {});

}  // namespace ridge

#endif  // RIDGE_FUSION_PROPOSALS_H_
