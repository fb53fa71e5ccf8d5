// What a strategy decided, in order, for `explain`.
#ifndef RIDGE_FUSION_DECISION_LOG_H_
#define RIDGE_FUSION_DECISION_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "fusion/legality.h"
#include "hlo/ir/module.h"

namespace ridge {

enum class PlanningStep : uint8_t {
  kEpilogue,    // a dot takes what follows it
  kMerge,       // a producer's group and a reader's group become one
  kSibling,     // two groups that read one value become one
  kRecompute,   // readers compute a value themselves, so that nobody stores it
  kHorizontal,  // two independent groups of one size share a launch
};
const char* PlanningStepName(PlanningStep step);  // "merge", ...

// One decision. Instructions stand for the groups they were in by then.
struct DecisionRecord {
  int64_t number = 0;
  PlanningStep step = PlanningStep::kMerge;
  const Instruction* producer = nullptr;
  const Instruction* consumer = nullptr;
  Decision decision;
  const Instruction* at = nullptr;  // the member that broke the rule
  // Predicted, apart and fused; 0 where the price was not asked for (the rule
  // decided, or nothing but a round trip through memory was at stake).
  double us_apart = 0;
  double us_fused = 0;
};

using DecisionLog = std::vector<DecisionRecord>;

std::string ToString(const DecisionRecord& record);

}  // namespace ridge

#endif  // RIDGE_FUSION_DECISION_LOG_H_
