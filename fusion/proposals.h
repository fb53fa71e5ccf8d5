// Local changes of a plan: what the autotuner tries.
#ifndef RIDGE_FUSION_PROPOSALS_H_
#define RIDGE_FUSION_PROPOSALS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "fusion/plan.h"
#include "hlo/ir/module.h"

namespace ridge {

enum class ChangeKind : uint8_t {
  kMerge,        // groups a and b become one
  kSplit,        // what `at` needs stays in one group, the rest leaves it
  kMove,         // member `at` moves from group a to b
  kDuplicate,    // cheap values are computed in both groups, not stored
  kUnduplicate,  // every value is computed once
  kUnfuse,       // group a's members run alone
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
// boundary concerned), at most `limit`. Deterministic.
std::vector<Change> EnumerateChanges(const Plan& plan, size_t limit);

// The plan with one change; valid, with the change as its note. The status
// says why it is not possible.
absl::StatusOr<Plan> ApplyChange(const Module& module, const Plan& plan,
                                 const Change& change);

}  // namespace ridge

#endif  // RIDGE_FUSION_PROPOSALS_H_
