#include "fusion/assemble.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "fusion/instruction_traits.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// Reads whole buffers: everything it reads must be stored, but for what
// scatters and updates take along.
bool ReadsBuffers(const Instruction& i) {
  return IsWall(i) && i.opcode() != Opcode::kDot &&
         i.opcode() != Opcode::kDynamicUpdateSlice &&
         i.opcode() != Opcode::kScatter;
}

class Assembler {
 public:
  Assembler(const Computation& computation, const FusionLimits& limits)
      : computation_(computation), limits_(limits) {
    for (const Instruction* i : computation.instructions()) {
      position_[i] = static_cast<int>(list_.size());
      list_.push_back(i);
    }
    owner_.assign(list_.size(), -1);
    wanted_.assign(list_.size(), false);
  }

  absl::StatusOr<ComputationPlan> Run(const std::vector<PlanPiece>& pieces,
                                      int64_t* next_number) {
    for (const PlanPiece& p : pieces) RIDGE_RETURN_IF_ERROR(AddPiece(p));
    for (const Instruction* i : list_) {
      // What is no kernel but moves or hands on values reads them as buffers;
      // effects happen whether or not anybody reads a result.
      const bool hands_on = IsFree(*i) && !AliasesOperand(*i);
      if (hands_on || i->IsRoot() || (!IsFree(*i) && i->HasSideEffect())) {
        Want(i);
      }
    }
    Drain();
    return Finish(next_number);
  }

 private:
  struct Work {
    std::vector<int> allowed;  // sorted positions
    std::vector<int> members;
    std::vector<int> roots;
    absl::flat_hash_set<int> inside;
    ScheduleChoice schedule;
  };

  absl::Status AddPiece(const PlanPiece& p) {
    Work work;
    work.schedule = p.schedule;
    const int number = static_cast<int>(work_.size());
    for (const auto* list : {&p.own, &p.copies}) {
      for (const Instruction* i : *list) {
        auto it = position_.find(i);
        if (it == position_.end()) {
          return absl::InvalidArgumentError(absl::StrCat(
              "%", std::string(i->name()), " is not of computation ",
              std::string(computation_.name())));
        }
        work.allowed.push_back(it->second);
        if (list != &p.own) continue;
        if (owner_[it->second] >= 0) {
          return absl::InvalidArgumentError(absl::StrCat(
              "%", std::string(i->name()), " is in two pieces of a plan"));
        }
        owner_[it->second] = number;
      }
    }
    std::sort(work.allowed.begin(), work.allowed.end());
    work_.push_back(std::move(work));
    return absl::OkStatus();
  }

  // `i` is read as a buffer. Constants and parameters are there already; what
  // aliases is there once its operand is.
  void Want(const Instruction* i) {
    const int at = position_.at(i);
    if (wanted_[at]) return;
    wanted_[at] = true;
    queue_.push_back(at);
  }

  void Drain() {
    while (!queue_.empty()) {
      const int at = queue_.back();
      queue_.pop_back();
      const Instruction& i = *list_[at];
      if (IsFree(i) && owner_[at] < 0) {
        for (const Instruction* o : i.operands()) Want(o);
        continue;
      }
      if (owner_[at] < 0) {
        owner_[at] = static_cast<int>(work_.size());
        Work work;
        work.allowed = {at};
        work_.push_back(std::move(work));
      }
      work_[owner_[at]].roots.push_back(at);
      Join(owner_[at], at);
    }
  }

  // Makes `at` a member of a group, with everything it needs there.
  void Join(int group, int at) {
    std::vector<int> stack = {at};
    while (!stack.empty()) {
      const int m = stack.back();
      stack.pop_back();
      Work& w = work_[group];
      if (!w.inside.insert(m).second) continue;
      w.members.push_back(m);
      const Instruction& i = *list_[m];
      const bool buffers = ReadsBuffers(i);
      for (int64_t k = 0; k < i.operand_count(); ++k) {
        const Instruction* o = i.operand(k);
        const int p = position_.at(o);
        // A dot's own operands are a library's; its epilogue's are not.
        const bool stored = buffers || i.opcode() == Opcode::kDot;
        const bool own =
            std::binary_search(w.allowed.begin(), w.allowed.end(), p);
        if (!stored && (own || Rides(i, k, w))) {
          stack.push_back(p);
        } else {
          Want(o);
        }
      }
    }
  }

  bool Rides(const Instruction& i, int64_t k, const Work&) {
    const Instruction& o = *i.operand(k);
    // The buffer that an update writes into.
    if (k == 0 &&
        (i.opcode() == Opcode::kDynamicUpdateSlice ||
         i.opcode() == Opcode::kScatter) &&
        o.opcode() != Opcode::kBroadcast) {
      return false;
    }
    return RidesAlong(o);
  }

  absl::StatusOr<ComputationPlan> Finish(int64_t* next_number) {
    RIDGE_ASSIGN_OR_RETURN(std::vector<int> order, Order());
    ComputationPlan plan;
    plan.computation = &computation_;
    for (int w : order) {
      Work& work = work_[w];
      Group group;
      std::sort(work.members.begin(), work.members.end());
      std::sort(work.roots.begin(), work.roots.end());
      for (int m : work.members) group.members.push_back(list_[m]);
      for (int r : work.roots) group.roots.push_back(list_[r]);
      GroupAnalysis a = AnalyzeGroup(group.members, group.roots, limits_);
      if (!a.decision.allowed() && a.decision.rule == Rule::kWall) {
        return absl::InvalidArgumentError(absl::StrCat(
            "a group around %", std::string(group.roots[0]->name()), ": ",
            a.decision.ToString()));
      }
      group.pattern = a.pattern;
      group.hero = a.hero;
      group.schedule = work.schedule;
      group.name = absl::StrCat("fusion_", (*next_number)++, "_",
                                Identifier(group.hero->name()).substr(0, 40));
      plan.groups.push_back(std::move(group));
    }
    return plan;
  }

  // Kahn's algorithm over groups and what lies between them (free
  // instructions); among what can run, the earliest first root goes first.
  absl::StatusOr<std::vector<int>> Order() {
    const int n = static_cast<int>(list_.size());
    const int groups = static_cast<int>(work_.size());
    // Nodes: groups, then free instructions by position.
    std::vector<int> stored(n, -1);
    for (int g = 0; g < groups; ++g) {
      for (int r : work_[g].roots) stored[r] = g;
    }
    std::vector<std::vector<int>> next(groups + n);
    std::vector<int> missing(groups + n, 0);
    auto edge = [&](int to, const Instruction* o) {
      const int at = position_.at(o);
      const int from = stored[at] >= 0 ? stored[at] : groups + at;
      if (from == to) return;
      next[from].push_back(to);
      ++missing[to];
    };
    std::vector<bool> active(groups + n, false);
    for (int g = 0; g < groups; ++g) {
      if (work_[g].roots.empty()) continue;
      active[g] = true;
      for (int m : work_[g].members) {
        for (const Instruction* o : list_[m]->operands()) {
          if (!work_[g].inside.contains(position_.at(o))) edge(g, o);
        }
        for (const Instruction* p : list_[m]->control_predecessors()) {
          if (!work_[g].inside.contains(position_.at(p)) &&
              Runs(position_.at(p), stored)) {
            edge(g, p);
          }
        }
      }
    }
    for (int i = 0; i < n; ++i) {
      if (!IsFree(*list_[i]) || stored[i] >= 0) continue;
      active[groups + i] = true;
      for (const Instruction* o : list_[i]->operands()) {
        // An alias inside a group may read what is stored nowhere.
        if (Runs(position_.at(o), stored)) edge(groups + i, o);
      }
    }
    auto key = [&](int node) {
      return node < groups ? *std::min_element(work_[node].roots.begin(),
                                               work_[node].roots.end())
                           : node - groups;
    };
    std::map<std::pair<int, int>, int> ready;
    for (int node = 0; node < groups + n; ++node) {
      if (active[node] && missing[node] == 0) {
        ready[{key(node), node}] = node;
      }
    }
    std::vector<int> order;
    int left = static_cast<int>(
        std::count(active.begin(), active.begin() + groups, true));
    while (!ready.empty()) {
      const int node = ready.begin()->second;
      ready.erase(ready.begin());
      if (node < groups) {
        order.push_back(node);
        active[node] = false;
        --left;
      }
      for (int to : next[node]) {
        if (--missing[to] == 0 && active[to]) ready[{key(to), to}] = to;
      }
    }
    if (left > 0) {
      std::string names;
      for (int g = 0; g < groups; ++g) {
        if (!active[g] || names.size() > 200) continue;
        absl::StrAppend(&names, names.empty() ? "%" : ", %",
                        std::string(list_[work_[g].roots[0]]->name()));
      }
      return absl::InvalidArgumentError(absl::StrCat(
          "computation ", std::string(computation_.name()),
          ": groups wait for each other in a ring: those of ", names));
    }
    return order;
  }

  // Whether anything in the plan provides the value.
  bool Runs(int at, const std::vector<int>& stored) const {
    return stored[at] >= 0 || IsFree(*list_[at]);
  }

  const Computation& computation_;
  const FusionLimits& limits_;
  std::vector<const Instruction*> list_;
  absl::flat_hash_map<const Instruction*, int> position_;
  std::vector<int> owner_;
  std::vector<bool> wanted_;
  std::vector<int> queue_;
  std::vector<Work> work_;
};

}  // namespace

absl::StatusOr<ComputationPlan> Assemble(const Computation& computation,
                                         const std::vector<PlanPiece>& pieces,
                                         const FusionLimits& limits,
                                         int64_t* next_number) {
  return Assembler(computation, limits).Run(pieces, next_number);
}

std::vector<PlanPiece> PiecesOf(const ComputationPlan& plan) {
  // A value is its root's group's; of values that no group stores, the first
  // group's that computes them.
  absl::flat_hash_map<const Instruction*, size_t> owner;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    for (const Instruction* i : plan.groups[g].members) owner.emplace(i, g);
  }
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    for (const Instruction* i : plan.groups[g].roots) owner[i] = g;
  }
  std::vector<PlanPiece> pieces(plan.groups.size());
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const Group& group = plan.groups[g];
    pieces[g].schedule = group.schedule;
    for (const Instruction* i : group.members) {
      const bool root = std::find(group.roots.begin(), group.roots.end(), i) !=
                        group.roots.end();
      if (!root && (RidesAlong(*i) || IsFree(*i))) continue;
      (owner[i] == g ? pieces[g].own : pieces[g].copies).push_back(i);
    }
  }
  return pieces;
}

}  // namespace ridge
