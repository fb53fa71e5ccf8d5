#include "fusion/decision_log.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ridge {

const char* PlanningStepName(PlanningStep step) {
  switch (step) {
    case PlanningStep::kEpilogue:
      return "epilogue";
    case PlanningStep::kMerge:
      return "merge";
    case PlanningStep::kSibling:
      return "sibling";
    case PlanningStep::kRecompute:
      return "recompute";
    case PlanningStep::kHorizontal:
      return "horizontal";
  }
  return "?";
}

std::string ToString(const DecisionRecord& r) {
  auto name = [](const Instruction* i) {
    return i == nullptr ? std::string("?")
                        : absl::StrCat("%", std::string(i->name()));
  };
  std::string text = absl::StrCat(
      "#", r.number, " ", PlanningStepName(r.step), " ", name(r.producer),
      " -> ", name(r.consumer), ": ", r.decision.ToString());
  if (r.at != nullptr) absl::StrAppend(&text, " at ", name(r.at));
  if (r.us_apart > 0) {
    absl::StrAppendFormat(&text, "; apart %.2f us, fused %.2f us", r.us_apart,
                          r.us_fused);
  }
  return text;
}

}  // namespace ridge
