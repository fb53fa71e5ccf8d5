// Decisions of planning, as values that carry their reason.
#ifndef RIDGE_FUSION_LEGALITY_H_
#define RIDGE_FUSION_LEGALITY_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ridge {

// RIDGE_FUSION_RULES(V): V(enumerator, id, what it says).
#define RIDGE_FUSION_RULES(V)                                                \
  V(kAllowed, "allowed", "the two share a kernel")                           \
  V(kWall, "wall", "runs alone: a library or a plain kernel does it")        \
  V(kSpace, "space", "the two have different iteration spaces")              \
  V(kReductions, "reductions", "their reductions fold over different axes")  \
  V(kNestedFold, "nested-fold", "folds values that are not of every point")  \
  V(kColumnOutput, "column-output",                                          \
    "a column reduction stores no value of every point")                     \
  V(kAfterColumns, "after-columns",                                          \
    "a value of every point waits for a column reduction")                   \
  V(kOtherRows, "other-rows",                                                \
    "a value after a reduction is needed at other rows than its own")        \
  V(kTransposed, "transposed",                                               \
    "a reduction would read values across their memory order")               \
  V(kRecompute, "recompute", "too much would be computed again per element") \
  V(kUpdate, "update", "an in-place update takes this in no other way")      \
  V(kEpilogue, "epilogue", "no library form of a matrix product has this")   \
  V(kRounding, "rounding",                                                   \
    "a library would round elsewhere than the module says")                  \
  V(kCycle, "cycle", "a third group lies between them")                      \
  V(kSearch, "search-bound", "the search for a third group was cut short")   \
  V(kOperands, "operands", "too many kernel parameters")                     \
  V(kSize, "size", "too many instructions in one kernel")                    \
  V(kAxes, "axes", "too many different axes in one kernel")                  \
  V(kNoKernel, "no-kernel", "no schedule can serve the fused kernel")        \
  V(kPrice, "price", "the fused kernel is predicted to be slower")

enum class Rule : uint8_t {
#define V(e, ...) e,
  RIDGE_FUSION_RULES(V)
#undef V
};
inline constexpr int kRuleCount = 0
#define V(...) +1
    RIDGE_FUSION_RULES(V)
#undef V
    ;

absl::string_view RuleId(Rule rule);
absl::string_view RuleText(Rule rule);

struct Decision {
  Rule rule = Rule::kAllowed;
  std::string value;  // what was found: "97"
  std::string limit;  // what is allowed: "96"
  bool allowed() const { return rule == Rule::kAllowed; }
  // "operands: 97 against 96 (too many kernel parameters)"
  std::string ToString() const;

  static Decision No(Rule rule, std::string value = "",
                     std::string limit = "") {
    return {rule, std::move(value), std::move(limit)};
  }
  static Decision No(Rule rule, int64_t value, int64_t limit);
};

// How closely a fused kernel follows the roundings that the module writes.
//
// kAsWritten, the default: every instruction rounds to its element type, in
// whatever kernel it is; fused and unfused results are bit-identical but for
// the order of sums. A matrix library rounds once, after its epilogue; that is
// the same only where nothing between the product and the epilogue's end is
// narrower than the library's f32 arithmetic. A bf16 product with a bf16 bias
// therefore stays two kernels: people who wrote bf16 adds and compare against
// an op-by-op run get what they wrote.
//
// kFusedEpilogue: the product, bias and activation may be computed in f32 and
// rounded once. Differs from kAsWritten by at most one rounding of the narrow
// type for each instruction that is absorbed, and is on average the more exact
// one; cuBLASLt's ReLU also turns NaN into 0.
enum class Numerics : uint8_t { kAsWritten, kFusedEpilogue };
// "as_written" or "fused_epilogue"; InvalidArgument names them.
absl::StatusOr<Numerics> ParseNumerics(absl::string_view name);

}  // namespace ridge

#endif  // RIDGE_FUSION_LEGALITY_H_
