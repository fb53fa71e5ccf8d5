#include "fusion/explain.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "fusion/assemble.h"
#include "fusion/estimate.h"
#include "fusion/instruction_traits.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// What would let a rule pass, where that does not depend on numbers.
struct FlipRow {
  Rule rule;
  absl::string_view flip;
};
constexpr FlipRow kFlips[] = {
    {Rule::kWall, "a schedule that runs this operation with company"},
    {Rule::kSpace, "equal iteration spaces, or no reader outside the group"},
    {Rule::kReductions,
     "row_column and mixed_columns, and folds of one pass over rows, outer and "
     "middle axes"},
    {Rule::kNestedFold, "no other reduction in the group"},
    {Rule::kColumnOutput, "no reader of the full value outside the group"},
    {Rule::kAfterColumns,
     "an online form of the statistics (mean and variance in one pass)"},
    {Rule::kOtherRows, "a second use that reads its own rows only"},
    {Rule::kTransposed, "the layout of the reduction's operand"},
    {Rule::kUpdate, "an update that does not read what it writes into"},
    {Rule::kEpilogue, "a generated matrix kernel with a free epilogue"},
    {Rule::kRounding, "numerics=fused_epilogue, which rounds once"},
    {Rule::kSearch, "a smaller module: the search is cut short on purpose"},
    {Rule::kAxes, "fewer reshapes that cut dimensions differently"},
    {Rule::kNoKernel, "a schedule that serves the fused kernel"},
};

std::string FlipOf(const Explanation& e, const FusionLimits& limits) {
  switch (e.decision.rule) {
    case Rule::kAllowed:
      return "";
    case Rule::kOperands:
      return absl::StrCat("max_operands=", e.decision.value, " (now ",
                          limits.max_operands, ")");
    case Rule::kSize:
      return absl::StrCat("max_instructions=", e.decision.value, " (now ",
                          limits.max_instructions, ")");
    case Rule::kRecompute:
      return absl::StrCat("max_recomputed_ops=", e.decision.value, " (now ",
                          limits.max_recomputed_ops, ")");
    case Rule::kCycle: {
      if (e.between.empty()) return "the group between them in one of the two";
      std::string names;
      for (const Group* g : e.between) {
        absl::StrAppend(&names, names.empty() ? "" : ", ", g->name);
      }
      return absl::StrCat("all of ", names, " in the same group");
    }
    case Rule::kPrice: {
      if (!e.price_fused.has_value()) return "";
      // The term that grows most over both apart.
      std::string worst;
      double growth = 0;
      for (const auto& [name, us] : e.price_fused->terms_us) {
        double before = 0;
        for (const auto* p : {&e.price_a, &e.price_b}) {
          if (!p->has_value()) continue;
          for (const auto& [other, other_us] : (*p)->terms_us) {
            if (other == name) before += other_us;
          }
        }
        if (us - before > growth) {
          growth = us - before;
          worst = name;
        }
      }
      const double gap = e.price_fused->us -
                         (e.price_a.has_value() ? e.price_a->us : 0) -
                         (e.price_b.has_value() ? e.price_b->us : 0);
      return absl::StrFormat("%s, which grows by %.2f us, smaller by %.2f us",
                             worst.empty() ? "the sum" : worst, growth, gap);
    }
    default:
      break;
  }
  for (const FlipRow& row : kFlips) {
    if (row.rule == e.decision.rule) return std::string(row.flip);
  }
  return "";
}

absl::StatusOr<const Instruction*> FindInstruction(const Module& module,
                                                   const Plan& plan,
                                                   absl::string_view name) {
  if (!name.empty() && name[0] == '%') name.remove_prefix(1);
  for (const ComputationPlan& c : plan.computations) {
    for (const Instruction* i : c.computation->instructions()) {
      if (i->name() == name) return i;
    }
  }
  return absl::NotFoundError(
      absl::StrCat("module ", std::string(module.name()), ": no instruction %",
                   std::string(name),
                   " in canonical form (canonicalising may have renamed or "
                   "removed it)"));
}

// Groups on the way from `from` to `to`, other than these.
std::vector<const Group*> Between(const ComputationPlan& plan,
                                  const Group* from, const Group* to) {
  absl::flat_hash_map<const Instruction*, const Group*> stored;
  for (const Group& g : plan.groups) {
    for (const Instruction* r : g.roots) stored[r] = &g;
  }
  // Back from `to`, then keep what follows `from`.
  auto inputs = [&](const Group* g) {
    std::vector<const Group*> found;
    std::vector<const Instruction*> stack = GroupInputs(*g);
    absl::flat_hash_set<const Instruction*> seen(stack.begin(), stack.end());
    while (!stack.empty()) {
      const Instruction* i = stack.back();
      stack.pop_back();
      auto it = stored.find(i);
      if (it != stored.end()) {
        found.push_back(it->second);
        continue;
      }
      for (const Instruction* o : i->operands()) {
        if (seen.insert(o).second) stack.push_back(o);
      }
    }
    return found;
  };
  absl::flat_hash_map<const Group*, std::vector<const Group*>> readers;
  absl::flat_hash_set<const Group*> before = {to};
  std::vector<const Group*> stack = {to};
  while (!stack.empty()) {
    const Group* g = stack.back();
    stack.pop_back();
    for (const Group* p : inputs(g)) {
      readers[p].push_back(g);
      if (before.insert(p).second) stack.push_back(p);
    }
  }
  absl::flat_hash_set<const Group*> after;
  stack = {from};
  while (!stack.empty()) {
    const Group* g = stack.back();
    stack.pop_back();
    for (const Group* r : readers[g]) {
      if (r != to && after.insert(r).second) stack.push_back(r);
    }
  }
  std::vector<const Group*> found;
  for (const Group& g : plan.groups) {
    if (after.contains(&g) && &g != from) found.push_back(&g);
  }
  return found;
}

class Explainer {
 public:
  Explainer(const ComputationPlan& plan, GroupPricer* pricer,
            const FusionLimits& limits)
      : plan_(plan), pricer_(pricer), limits_(limits) {}

  void Run(Explanation* e) {
    const Group* a = Home(e->groups_of_a, e->a);
    const Group* b = Home(e->groups_of_b, e->b);
    e->price_a = PriceOf(*a);
    e->price_b = PriceOf(*b);
    if (&*a > &*b) std::swap(a, b);  // plan order
    e->between = Between(plan_, a, b);
    if (!e->between.empty()) {
      e->decision = Decision::No(Rule::kCycle, e->between[0]->name);
      return;
    }
    Group fused = Fused(*a, *b);
    GroupAnalysis analysis = AnalyzeGroup(fused.members, fused.roots, limits_);
    e->decision = analysis.decision;
    e->at = analysis.at;
    if (!e->decision.allowed()) return;
    fused.pattern = analysis.pattern;
    fused.hero = analysis.hero;
    absl::StatusOr<GroupPrice> price = pricer_->Price(fused);
    if (!price.ok()) {
      e->decision =
          Decision::No(Rule::kNoKernel, std::string(price.status().message()));
      return;
    }
    e->price_fused = *price;
    const double apart = (e->price_a.has_value() ? e->price_a->us : 0) +
                         (e->price_b.has_value() ? e->price_b->us : 0);
    if (price->us > apart) {
      e->decision =
          Decision::No(Rule::kPrice, absl::StrFormat("%.2f us", price->us),
                       absl::StrFormat("%.2f us", apart));
    }
  }

 private:
  // The group that stores the instruction, or else the first that has it.
  static const Group* Home(const std::vector<const Group*>& groups,
                           const Instruction* i) {
    for (const Group* g : groups) {
      if (std::find(g->roots.begin(), g->roots.end(), i) != g->roots.end()) {
        return g;
      }
    }
    return groups[0];
  }

  std::optional<GroupPrice> PriceOf(const Group& g) {
    absl::StatusOr<GroupPrice> price = pricer_->Price(g);
    if (!price.ok()) return std::nullopt;
    return *price;
  }

  // Both groups as one: what neither but others read is still stored.
  Group Fused(const Group& a, const Group& b) const {
    absl::flat_hash_map<const Instruction*, int> order;
    int next = 0;
    for (const Instruction* i : plan_.computation->instructions()) {
      order[i] = next++;
    }
    absl::flat_hash_set<const Instruction*> all(a.members.begin(),
                                                a.members.end());
    all.insert(b.members.begin(), b.members.end());
    absl::flat_hash_set<const Instruction*> read;
    for (const Group& g : plan_.groups) {
      if (&g == &a || &g == &b) continue;
      for (const Instruction* i : GroupInputs(g)) read.insert(i);
    }
    Group fused;
    fused.name = absl::StrCat(a.name, "_and_", b.name);
    fused.members.assign(all.begin(), all.end());
    auto before = [&](const Instruction* x, const Instruction* y) {
      return order[x] < order[y];
    };
    std::sort(fused.members.begin(), fused.members.end(), before);
    for (const Group* g : {&a, &b}) {
      const Group& other = g == &a ? b : a;
      std::vector<const Instruction*> inputs = GroupInputs(other);
      for (const Instruction* r : g->roots) {
        const bool crosses =
            std::find(inputs.begin(), inputs.end(), r) != inputs.end();
        bool outside = read.contains(r) || r->IsRoot() || !crosses;
        for (const Use& use : r->uses()) {
          if (IsFree(*use.user) || IsWall(*use.user)) outside = true;
        }
        if (outside) fused.roots.push_back(r);
      }
    }
    std::sort(fused.roots.begin(), fused.roots.end(), before);
    return fused;
  }

  const ComputationPlan& plan_;
  GroupPricer* pricer_;
  const FusionLimits& limits_;
};

std::string Names(const std::vector<const Group*>& groups) {
  std::string text;
  for (const Group* g : groups) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", g->name);
  }
  return text;
}

void AppendPrice(const char* what, const std::optional<GroupPrice>& price,
                 std::string* text) {
  if (!price.has_value()) return;
  absl::StrAppendFormat(text, "  %-6s %8.2f us =", what, price->us);
  const char* plus = "";
  for (const auto& [name, us] : price->terms_us) {
    absl::StrAppendFormat(text, "%s %s %.2f", plus, name, us);
    plus = " +";
  }
  absl::StrAppend(text, "\n");
}

}  // namespace

std::string Explanation::ToString() const {
  const std::string x = absl::StrCat("%", std::string(a->name()));
  const std::string y = absl::StrCat("%", std::string(b->name()));
  std::string text;
  if (shared != nullptr) {
    absl::StrAppend(&text, x, " and ", y, " share kernel ", shared->name, " (",
                    PatternName(shared->pattern), ")\n");
  } else {
    absl::StrAppend(&text, x, " (", Names(groups_of_a), ") and ", y, " (",
                    Names(groups_of_b), ") share no kernel\n");
    absl::StrAppend(&text, decision.allowed()
                               ? "they could: no rule forbids it and it is "
                                 "predicted to be no slower"
                               : decision.ToString());
    if (at != nullptr) {
      absl::StrAppend(&text, " at %", std::string(at->name()), ", line ",
                      at->location().line);
    }
    absl::StrAppend(&text, "\n");
    AppendPrice("first", price_a, &text);
    AppendPrice("second", price_b, &text);
    AppendPrice("fused", price_fused, &text);
    if (!flip.empty()) absl::StrAppend(&text, "would flip: ", flip, "\n");
  }
  for (const DecisionRecord& r : history) {
    absl::StrAppend(&text, "  ", ridge::ToString(r), "\n");
  }
  return text;
}

absl::StatusOr<Explanation> Explain(const Module& module, const Plan& plan,
                                    absl::string_view a, absl::string_view b,
                                    GroupPricer* pricer,
                                    const FusionLimits& limits,
                                    const DecisionLog* log) {
  Explanation e;
  RIDGE_ASSIGN_OR_RETURN(e.a, FindInstruction(module, plan, a));
  RIDGE_ASSIGN_OR_RETURN(e.b, FindInstruction(module, plan, b));
  if (e.a->parent() != e.b->parent()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "%", std::string(e.a->name()), " and %", std::string(e.b->name()),
        " are in different computations, ", std::string(e.a->parent()->name()),
        " and ", std::string(e.b->parent()->name())));
  }
  const ComputationPlan* of = nullptr;
  for (const ComputationPlan& c : plan.computations) {
    if (c.computation == e.a->parent()) of = &c;
  }
  for (const Group& g : of->groups) {
    const bool has_a =
        std::find(g.members.begin(), g.members.end(), e.a) != g.members.end();
    const bool has_b =
        std::find(g.members.begin(), g.members.end(), e.b) != g.members.end();
    if (has_a) e.groups_of_a.push_back(&g);
    if (has_b) e.groups_of_b.push_back(&g);
    if (has_a && has_b) e.shared = &g;
  }
  for (const auto& [i, groups] : {std::make_pair(e.a, &e.groups_of_a),
                                  std::make_pair(e.b, &e.groups_of_b)}) {
    if (groups->empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("%", std::string(i->name()), " is in no kernel: a ",
                       std::string(Name(i->opcode())), " moves no data here"));
    }
  }
  if (log != nullptr) {
    for (const DecisionRecord& r : *log) {
      if ((r.producer == e.a && r.consumer == e.b) ||
          (r.producer == e.b && r.consumer == e.a)) {
        e.history.push_back(r);
      }
    }
  }
  if (e.shared != nullptr) return e;
  EstimatePricer estimate({}, limits);
  Explainer(*of, pricer == nullptr ? &estimate : pricer, limits).Run(&e);
  e.flip = FlipOf(e, limits);
  return e;
}

}  // namespace ridge
