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

Decision No(Rule rule, int64_t value, int64_t limit) {
  return {rule, absl::StrCat(value), absl::StrCat(limit)};
}

}  // namespace

absl::string_view RuleId(Rule rule) {
  return kRules[static_cast<int>(rule)].id;
}
absl::string_view RuleText(Rule rule) {
  return kRules[static_cast<int>(rule)].text;
}

std::string Decision::ToString() const {
  std::string text(RuleId(rule));
  if (!value.empty()) absl::StrAppend(&text, ": ", value, " against ", limit);
  absl::StrAppend(&text, " (", RuleText(rule), ")");
  return text;
}

Decision SpacesFit(const Space& p, const Space& c, bool other_users) {
  if (p.kind == SpaceKind::kWall || c.kind == SpaceKind::kWall) {
    return {Rule::kWall, "", ""};
  }
  const bool p_folds = p.kind != SpaceKind::kMap;
  const bool c_folds = c.kind != SpaceKind::kMap;
  if (p_folds && c_folds) {
    if (p.kind != c.kind || p.signature != c.signature) {
      return No(Rule::kReductions, p.columns, c.columns);
    }
    // Column reductions of one space share a pass only side by side.
    if (p.kind == SpaceKind::kColumn) {
      return No(Rule::kAfterColumns, p.points, c.points);
    }
    return {};
  }
  if (p_folds) {
    // What follows a reduction: values of each row, or of every point.
    if (c.points == p.rows) return {};
    if (p.kind == SpaceKind::kRow && c.points == p.points) return {};
    if (p.kind == SpaceKind::kColumn) {
      return No(Rule::kAfterColumns, c.points, p.rows);
    }
    return No(Rule::kSpace, c.points, p.points);
  }
  if (p.points == c.points) {
    if (c.kind == SpaceKind::kColumn && other_users) {
      return No(Rule::kColumnOutput, p.points, c.rows);
    }
    return {};
  }
  if (c.kind == SpaceKind::kRow && p.points == c.rows) return {};
  if (p.points < c.points) {
    // Broadcast on the way: computed again for each element that reads it.
    if (p.ops <= kMaxRecomputedOps && !other_users) return {};
    return No(Rule::kRecompute, static_cast<int64_t>(p.ops),
              static_cast<int64_t>(kMaxRecomputedOps));
  }
  // The consumer reads a part (slice, gather): compute just that, unless
  // somebody needs the whole.
  if (!other_users && !c_folds) return {};
  return No(Rule::kSpace, p.points, c.points);
}

}  // namespace ridge
