#include "fusion/proposals.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "fusion/assemble.h"
#include "fusion/instruction_traits.h"
#include "fusion/validate.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

bool IsFused(const Group& g) {
  return g.pattern != GroupPattern::kOpaque &&
         g.pattern != GroupPattern::kGemm &&
         g.pattern != GroupPattern::kScatter;
}

std::string Describe(const Change& c, const ComputationPlan& plan) {
  const std::string& a = plan.groups[c.a].name;
  switch (c.kind) {
    case ChangeKind::kMerge:
      return absl::StrCat("merge ", a, " + ", plan.groups[c.b].name);
    case ChangeKind::kSplit:
      return absl::StrCat("split ", a, " after ", std::string(c.at->name()));
    case ChangeKind::kMove:
      return absl::StrCat("move ", std::string(c.at->name()), " from ", a,
                          " to ", plan.groups[c.b].name);
    case ChangeKind::kDuplicate:
      return absl::StrCat("compute ", std::string(c.at->name()), " also in ",
                          plan.groups[c.b].name);
    case ChangeKind::kUnduplicate:
      return absl::StrCat("compute nothing for a second time in ", a);
    case ChangeKind::kUnfuse:
      return absl::StrCat("unfuse ", a);
  }
  return "";
}

// Legality of the groups that `before` did not have.
absl::Status CheckChanged(const ComputationPlan& before,
                          const ComputationPlan& after,
                          const FusionLimits& limits) {
  using Work = std::pair<std::vector<const Instruction*>,
                         std::vector<const Instruction*>>;
  absl::flat_hash_set<Work> known;
  for (const Group& g : before.groups) known.insert({g.members, g.roots});
  for (const Group& g : after.groups) {
    if (known.contains({g.members, g.roots})) continue;
    GroupAnalysis a = AnalyzeGroup(g.members, g.roots, limits);
    if (a.decision.allowed()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        g.name,
        a.at == nullptr ? "" : absl::StrCat(": %", std::string(a.at->name())),
        ": ", a.decision.ToString()));
  }
  return absl::OkStatus();
}

// What computes `at` within a group from what is stored: a chain of maps that
// ends at the group's inputs, other roots and folds. Empty where there is a
// fold at `at` itself, or nothing to compute.
std::vector<const Instruction*> ChainOf(const Group& group,
                                        const Instruction* at) {
  absl::flat_hash_set<const Instruction*> inside(group.members.begin(),
                                                 group.members.end());
  absl::flat_hash_set<const Instruction*> roots(group.roots.begin(),
                                                group.roots.end());
  if (at->opcode() == Opcode::kReduce || !inside.contains(at)) return {};
  std::vector<const Instruction*> chain;
  std::vector<const Instruction*> stack = {at};
  absl::flat_hash_set<const Instruction*> seen = {at};
  while (!stack.empty()) {
    const Instruction* i = stack.back();
    stack.pop_back();
    if (!RidesAlong(*i) && !IsFree(*i)) chain.push_back(i);
    for (const Instruction* o : i->operands()) {
      const bool stop = !inside.contains(o) || roots.contains(o) ||
                        o->opcode() == Opcode::kReduce;
      if (!stop && seen.insert(o).second) stack.push_back(o);
    }
  }
  return chain;
}

uint64_t Mix(uint64_t seed, uint64_t k) {
  uint64_t x = (seed + k + 1) * 0x9E3779B97F4A7C15ull;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9ull;
  return x ^ (x >> 32);
}

void Insert(std::vector<const Instruction*>* list,
            const std::vector<const Instruction*>& more) {
  for (const Instruction* i : more) {
    if (std::find(list->begin(), list->end(), i) == list->end()) {
      list->push_back(i);
    }
  }
}

void Remove(std::vector<const Instruction*>* list, const Instruction* i) {
  list->erase(std::remove(list->begin(), list->end(), i), list->end());
}

// `what` of group a as two lists: what `at` needs, and the rest.
std::pair<std::vector<const Instruction*>, std::vector<const Instruction*>> Cut(
    const Group& group, const std::vector<const Instruction*>& own,
    const Instruction* at) {
  absl::flat_hash_set<const Instruction*> members(group.members.begin(),
                                                  group.members.end());
  absl::flat_hash_set<const Instruction*> needed = {at};
  std::vector<const Instruction*> stack = {at};
  while (!stack.empty()) {
    const Instruction* i = stack.back();
    stack.pop_back();
    for (const Instruction* o : i->operands()) {
      if (members.contains(o) && needed.insert(o).second) stack.push_back(o);
    }
  }
  std::pair<std::vector<const Instruction*>, std::vector<const Instruction*>>
      parts;
  for (const Instruction* i : own) {
    (needed.contains(i) ? parts.first : parts.second).push_back(i);
  }
  return parts;
}

// Changes the pieces of one computation.
absl::Status ChangePieces(const Change& change, const ComputationPlan& plan,
                          std::vector<PlanPiece>* pieces) {
  PlanPiece& a = (*pieces)[change.a];
  PlanPiece& b = (*pieces)[change.b];
  const Group& group = plan.groups[change.a];
  switch (change.kind) {
    case ChangeKind::kMerge:
      if (change.a == change.b) {
        return absl::InvalidArgumentError("a group merges with another one");
      }
      Insert(&b.own, a.own);
      Insert(&b.copies, a.copies);
      for (const Instruction* i : b.own) Remove(&b.copies, i);
      a = PlanPiece();
      b.schedule = ScheduleChoice();
      return absl::OkStatus();
    case ChangeKind::kMove:
      Remove(&a.own, change.at);
      Insert(&b.own, {change.at});
      Remove(&b.copies, change.at);
      a.schedule = b.schedule = ScheduleChoice();
      return absl::OkStatus();
    case ChangeKind::kSplit: {
      auto [head, tail] = Cut(group, a.own, change.at);
      if (head.empty() || tail.empty()) {
        return absl::InvalidArgumentError("nothing would be left");
      }
      PlanPiece rest;
      rest.own = std::move(tail);
      rest.copies = a.copies;
      a.own = std::move(head);
      a.schedule = ScheduleChoice();
      pieces->push_back(std::move(rest));
      return absl::OkStatus();
    }
    case ChangeKind::kUnfuse:
      for (const Instruction* i : std::vector<const Instruction*>(a.own)) {
        PlanPiece one;
        one.own = {i};
        pieces->push_back(std::move(one));
      }
      (*pieces)[change.a] = PlanPiece();
      return absl::OkStatus();
    case ChangeKind::kDuplicate: {
      std::vector<const Instruction*> chain = ChainOf(group, change.at);
      if (chain.empty()) {
        return absl::InvalidArgumentError("a reduction is not computed again");
      }
      Insert(&b.copies, chain);
      for (const Instruction* i : b.own) Remove(&b.copies, i);
      b.schedule = ScheduleChoice();
      return absl::OkStatus();
    }
    case ChangeKind::kUnduplicate:
      a.copies.clear();
      a.schedule = ScheduleChoice();
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Change> EnumerateChanges(const Plan& plan, size_t limit,
                                     uint64_t seed) {
  struct Weighed {
    int64_t bytes;
    uint64_t tie;
    Change change;
  };
  std::vector<Weighed> found;
  auto add = [&](int64_t bytes, Change change) {
    found.push_back({bytes, seed == 0 ? 0 : Mix(seed, found.size()), change});
  };
  for (const ComputationPlan& c : plan.computations) {
    absl::flat_hash_map<const Instruction*, size_t> stored;
    for (size_t g = 0; g < c.groups.size(); ++g) {
      for (const Instruction* r : c.groups[g].roots) stored[r] = g;
    }
    const std::vector<PlanPiece> pieces = PiecesOf(c);
    // Groups that read each large value, for siblings.
    absl::flat_hash_map<const Instruction*, size_t> reader;
    for (size_t g = 0; g < c.groups.size(); ++g) {
      const Group& group = c.groups[g];
      if (group.pattern == GroupPattern::kGemm && pieces[g].own.size() > 1) {
        add(group.roots[0]->shape().ByteSize(),
            {ChangeKind::kUnfuse, c.computation, g, 0, nullptr});
      }
      if (!IsFused(group)) continue;
      absl::flat_hash_set<size_t> partners;
      for (const Instruction* input : GroupInputs(group)) {
        while (AliasesOperand(*input)) input = input->operand(0);
        const int64_t bytes = input->shape().ByteSize();
        auto [before, first] = reader.try_emplace(input, g);
        if (!first && before->second != g && bytes > 0) {
          add(bytes,
              {ChangeKind::kMerge, c.computation, before->second, g, nullptr});
          before->second = g;
        }
        auto it = stored.find(input);
        if (it == stored.end() || it->second == g) continue;
        if (!IsFused(c.groups[it->second])) continue;
        if (partners.insert(it->second).second) {
          add(bytes * 2,
              {ChangeKind::kMerge, c.computation, it->second, g, nullptr});
        }
        if (RidesAlong(*input)) continue;
        add(bytes,
            {ChangeKind::kDuplicate, c.computation, it->second, g, input});
        if (pieces[it->second].own.size() > 1) {
          add(bytes, {ChangeKind::kMove, c.computation, it->second, g, input});
        }
      }
      int64_t size = 0;
      for (const Instruction* r : group.roots) size += r->shape().ByteSize();
      if (!pieces[g].copies.empty()) {
        add(size, {ChangeKind::kUnduplicate, c.computation, g, 0, nullptr});
      }
      const std::vector<const Instruction*>& own = pieces[g].own;
      if (own.size() < 2) continue;
      add(size / 2, {ChangeKind::kUnfuse, c.computation, g, 0, nullptr});
      // Cuts where little crosses: at reductions, and in the middle.
      for (size_t k = 0; k + 1 < own.size(); ++k) {
        const bool reduction = own[k]->opcode() == Opcode::kReduce;
        if (!reduction && k + 1 != own.size() / 2) continue;
        add(size, {ChangeKind::kSplit, c.computation, g, 0, own[k]});
      }
    }
  }
  std::stable_sort(
      found.begin(), found.end(), [](const Weighed& x, const Weighed& y) {
        return x.bytes != y.bytes ? x.bytes > y.bytes : x.tie < y.tie;
      });
  std::vector<Change> changes;
  for (const Weighed& w : found) {
    if (changes.size() == limit) break;
    changes.push_back(w.change);
  }
  return changes;
}

absl::StatusOr<Plan> ApplyChange(const Module& module, const Plan& plan,
                                 const Change& change,
                                 const FusionLimits& limits) {
  Plan changed;
  changed.strategy = plan.strategy;
  changed.module_fingerprint = plan.module_fingerprint;
  int64_t number = 0;
  bool found = false;
  for (const ComputationPlan& c : plan.computations) {
    std::vector<PlanPiece> pieces = PiecesOf(c);
    if (c.computation == change.computation) {
      const bool needs_at = change.kind == ChangeKind::kSplit ||
                            change.kind == ChangeKind::kMove ||
                            change.kind == ChangeKind::kDuplicate;
      if (change.a >= c.groups.size() || change.b >= c.groups.size() ||
          (needs_at && change.at == nullptr)) {
        return absl::InvalidArgumentError(
            "a change of groups that the plan does not have");
      }
      found = true;
      changed.note = Describe(change, c);
      RIDGE_RETURN_IF_ERROR(
          Annotate(ChangePieces(change, c, &pieces), changed.note));
    }
    absl::StatusOr<ComputationPlan> one =
        Assemble(*c.computation, pieces, limits, &number);
    if (!one.ok()) return Annotate(one.status(), changed.note);
    if (c.computation == change.computation) {
      RIDGE_RETURN_IF_ERROR(
          Annotate(CheckChanged(c, *one, limits), changed.note));
    }
    changed.computations.push_back(*std::move(one));
  }
  if (!found) {
    return absl::InvalidArgumentError(
        "a change of a computation that the plan does not cover");
  }
  RIDGE_RETURN_IF_ERROR(ValidatePlan(module, changed));
  return changed;
}

}  // namespace ridge
