#include "fusion/legality.h"

#include "absl/strings/str_cat.h"

namespace ridge {
namespace {

struct RuleRow {
  absl::string_view id;
  absl::string_view text;
};
constexpr RuleRow kRules[] = {
#define V(e, id, text) {id, text},
    RIDGE_FUSION_RULES(V)
#undef V
};

}  // namespace

absl::string_view RuleId(Rule rule) {
  return kRules[static_cast<int>(rule)].id;
}
absl::string_view RuleText(Rule rule) {
  return kRules[static_cast<int>(rule)].text;
}

std::string Decision::ToString() const {
  std::string text(RuleId(rule));
  if (!value.empty()) absl::StrAppend(&text, ": ", value);
  if (!limit.empty()) absl::StrAppend(&text, " against ", limit);
  absl::StrAppend(&text, " (", RuleText(rule), ")");
  return text;
}

Decision Decision::No(Rule rule, int64_t value, int64_t limit) {
  return {rule, absl::StrCat(value), absl::StrCat(limit)};
}

absl::StatusOr<Numerics> ParseNumerics(absl::string_view name) {
  if (name == "as_written") return Numerics::kAsWritten;
  if (name == "fused_epilogue") return Numerics::kFusedEpilogue;
  return absl::InvalidArgumentError(absl::StrCat(
      "numerics '", name, "': known are as_written, fused_epilogue"));
}

}  // namespace ridge
