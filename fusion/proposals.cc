#include "fusion/proposals.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "fusion/legality.h"
#include "fusion/space.h"
#include "fusion/strategies.h"
#include "fusion/validate.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

bool IsFused(const Group& g) {
  return g.pattern != GroupPattern::kOpaque &&
         g.pattern != GroupPattern::kGemm &&
         g.pattern != GroupPattern::kScatter;
}

// Instructions of a group that compute something.
std::vector<const Instruction*> Anchors(const Group& g) {
  std::vector<const Instruction*> anchors;
  for (const Instruction* i : g.members) {
    if (!RidesAlong(*i) && !IsFree(*i)) anchors.push_back(i);
  }
  return anchors;
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
      return "compute cheap values twice";
    case ChangeKind::kUnduplicate:
      return "compute every value once";
    case ChangeKind::kUnfuse:
      return absl::StrCat("unfuse ", a);
  }
  return "";
}

}  // namespace

std::vector<Change> EnumerateChanges(const Plan& plan, size_t limit) {
  struct Weighed {
    int64_t bytes;
    Change change;
  };
  std::vector<Weighed> found;
  for (const ComputationPlan& c : plan.computations) {
    absl::flat_hash_map<const Instruction*, size_t> stored;
    for (size_t g = 0; g < c.groups.size(); ++g) {
      for (const Instruction* r : c.groups[g].roots) stored[r] = g;
    }
    for (size_t g = 0; g < c.groups.size(); ++g) {
      const Group& group = c.groups[g];
      if (!IsFused(group)) continue;
      absl::flat_hash_set<size_t> partners;
      for (const Instruction* input : GroupInputs(group)) {
        while (AliasesOperand(*input)) input = input->operand(0);
        auto it = stored.find(input);
        if (it == stored.end() || it->second == g) continue;
        if (!IsFused(c.groups[it->second])) continue;
        int64_t bytes = input->shape().ByteSize();
        if (partners.insert(it->second).second) {
          found.push_back(
              {bytes * 2,
               {ChangeKind::kMerge, c.computation, it->second, g, nullptr}});
        }
        if (!RidesAlong(*input) && Anchors(c.groups[it->second]).size() > 1) {
          found.push_back(
              {bytes,
               {ChangeKind::kMove, c.computation, it->second, g, input}});
        }
      }
      std::vector<const Instruction*> anchors = Anchors(group);
      if (anchors.size() < 2) continue;
      int64_t size = 0;
      for (const Instruction* r : group.roots) size += r->shape().ByteSize();
      found.push_back(
          {size / 2, {ChangeKind::kUnfuse, c.computation, g, 0, nullptr}});
      // Cuts where little crosses: at reductions, and in the middle.
      for (size_t k = 0; k + 1 < anchors.size(); ++k) {
        bool reduction = anchors[k]->opcode() == Opcode::kReduce;
        if (!reduction && k + 1 != anchors.size() / 2) continue;
        found.push_back(
            {size, {ChangeKind::kSplit, c.computation, g, 0, anchors[k]}});
      }
    }
    if (c.groups.size() > 1) {
      found.push_back(
          {1, {ChangeKind::kUnduplicate, c.computation, 0, 0, nullptr}});
      found.push_back(
          {1, {ChangeKind::kDuplicate, c.computation, 0, 0, nullptr}});
    }
  }
  std::stable_sort(
      found.begin(), found.end(),
      [](const Weighed& x, const Weighed& y) { return x.bytes > y.bytes; });
  std::vector<Change> changes;
  for (const Weighed& w : found) {
    if (changes.size() == limit) break;
    changes.push_back(w.change);
  }
  return changes;
}

absl::StatusOr<Plan> ApplyChange(const Module& module, const Plan& plan,
                                 const Change& change) {
  Plan changed;
  changed.strategy = plan.strategy;
  changed.module_fingerprint = plan.module_fingerprint;
  int64_t number = 0;
  for (const ComputationPlan& c : plan.computations) {
    std::vector<std::vector<const Instruction*>> pieces = PiecesOf(c);
    bool recompute = true;
    if (c.computation == change.computation) {
      RIDGE_RET_CHECK(change.a < c.groups.size() && change.b < c.groups.size());
      changed.note = Describe(change, c);
      auto& a = pieces[change.a];
      auto& b = pieces[change.b];
      switch (change.kind) {
        case ChangeKind::kMerge:
          b.insert(b.end(), a.begin(), a.end());
          a.clear();
          break;
        case ChangeKind::kMove:
          a.erase(std::remove(a.begin(), a.end(), change.at), a.end());
          b.push_back(change.at);
          break;
        case ChangeKind::kSplit: {
          // What `at` needs, within the group.
          absl::flat_hash_set<const Instruction*> inside(a.begin(), a.end());
          absl::flat_hash_set<const Instruction*> first = {change.at};
          std::vector<const Instruction*> stack = {change.at};
          absl::flat_hash_set<const Instruction*> members(
              c.groups[change.a].members.begin(),
              c.groups[change.a].members.end());
          absl::flat_hash_set<const Instruction*> seen;
          while (!stack.empty()) {
            const Instruction* i = stack.back();
            stack.pop_back();
            for (const Instruction* o : i->operands()) {
              if (!members.contains(o) || !seen.insert(o).second) continue;
              if (inside.contains(o)) first.insert(o);
              stack.push_back(o);
            }
          }
          std::vector<const Instruction*> head;
          std::vector<const Instruction*> tail;
          for (const Instruction* i : a) {
            (first.contains(i) ? head : tail).push_back(i);
          }
          if (head.empty() || tail.empty()) {
            return absl::InvalidArgumentError(
                absl::StrCat(changed.note, ": nothing would be left"));
          }
          a = std::move(head);
          pieces.push_back(std::move(tail));
          break;
        }
        case ChangeKind::kUnfuse:
          for (const Instruction* i : a) pieces.push_back({i});
          a.clear();
          break;
        case ChangeKind::kUnduplicate:
          recompute = false;
          break;
        case ChangeKind::kDuplicate:
          break;
      }
    }
    RIDGE_ASSIGN_OR_RETURN(
        ComputationPlan one,
        PlanFromPieces(*c.computation, pieces, recompute, &number));
    changed.computations.push_back(std::move(one));
  }
  RIDGE_RETURN_IF_ERROR(ValidatePlan(module, changed));
  return changed;
}

}  // namespace ridge
