// Decisions of planning, as values that carry their reason.
#ifndef RIDGE_FUSION_LEGALITY_H_
#define RIDGE_FUSION_LEGALITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "fusion/plan.h"
#include "fusion/space.h"

namespace ridge {

// RIDGE_FUSION_RULES(V): V(enumerator, id, what it says).
#define RIDGE_FUSION_RULES(V)                                                \
  V(kAllowed, "allowed", "the two share a kernel")                           \
  V(kWall, "wall", "runs alone: a library or a plain kernel does it")        \
  V(kSpace, "space", "the two have different iteration spaces")              \
  V(kReductions, "reductions", "their reductions fold over different axes")  \
  V(kColumnOutput, "column-output",                                          \
    "a column reduction stores no value of every point")                     \
  V(kAfterColumns, "after-columns",                                          \
    "a value of every point waits for a column reduction")                   \
  V(kRecompute, "recompute", "too much would be computed again per element") \
  V(kCycle, "cycle", "a third group lies between them")                      \
  V(kSearch, "search-bound", "the search for a third group was cut short")   \
  V(kOperands, "operands", "too many kernel parameters")                     \
  V(kSize, "size", "too many instructions in one kernel")

enum class Rule : uint8_t {
#define V(e, ...) e,
  RIDGE_FUSION_RULES(V)
#undef V
};

absl::string_view RuleId(Rule rule);
absl::string_view RuleText(Rule rule);

struct Decision {
  Rule rule = Rule::kAllowed;
  std::string value;  // what was found: "97"
  std::string limit;  // what is allowed: "96"
  bool allowed() const { return rule == Rule::kAllowed; }
  // "operands: 97 > 96 (too many kernel parameters)"
  std::string ToString() const;
};

// Limits of one kernel. Parameters: CUDA passes 4 KB, 8 bytes each, and every
// operand keeps a base address in a register.
inline constexpr int64_t kMaxOperands = 96;
// Generated code of about this many operations still compiles in well under a
// second; threefry alone takes some 150.
inline constexpr int64_t kMaxMembers = 2000;
// A producer computed again for each of this many elements that read it is
// recomputed only if it is this cheap (in add-like operations).
inline constexpr double kMaxRecomputedOps = 16;

// Whether the iteration spaces of a producer and a consumer fit one kernel.
Decision SpacesFit(const Space& producer, const Space& consumer,
                   bool producer_has_other_users);

// One step of a strategy, for `explain`.
struct DecisionRecord {
  int64_t step = 0;
  const Instruction* producer = nullptr;
  const Instruction* consumer = nullptr;
  Decision decision;
};
using DecisionLog = std::vector<DecisionRecord>;

}  // namespace ridge

#endif  // RIDGE_FUSION_LEGALITY_H_
