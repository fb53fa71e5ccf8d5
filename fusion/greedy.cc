// The strategies. Three steps for "greedy", each of them near-linear:
//  1. Grow. Instructions in list order; each tries to join the groups of what
//     it reads, nearest first. What rides along (broadcasts and the like)
//     belongs to no group; its readers look through it.
//  2. Siblings. Groups of one iteration space that read a large value in
//     common become one.
//  3. Recompute. Where a group stores a value of every point only for another
//     group that could compute it from what it reads anyway, the other does.

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fusion/space.h"
#include "fusion/strategies.h"
#include "fusion/validate.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

constexpr absl::string_view kNames[] = {"none", "greedy"};

// Groups that a search for a path may look at before it gives up.
constexpr int kMaxSearch = 4096;
// Inputs smaller than this are not worth fusing siblings for (bytes).
constexpr int64_t kLargeInput = 1 << 20;
// Recomputed chains are at most this long.
constexpr int kMaxRecomputed = 24;

struct Cluster {
  std::vector<int> anchors;    // instruction positions, ascending
  std::vector<int> producers;  // anchors read, with repetitions
  std::vector<int> consumers;  // anchors that read
  Space space;
  int64_t inputs = 0;  // upper bound of kernel parameters
};

class Planner {
 public:
  Planner(const Computation& computation, bool fuse, DecisionLog* log)
      : computation_(computation), fuse_(fuse), log_(log) {}

  // Groups as given instead of grown.
  ComputationPlan RunPieces(
      const std::vector<std::vector<const Instruction*>>& pieces,
      bool recompute, int64_t* next_number) {
    Index();
    for (const auto& piece : pieces) {
      int first = -1;
      for (const Instruction* i : piece) {
        auto at = position_.find(i);
        if (at == position_.end() || !anchor_[at->second]) continue;
        if (first < 0) {
          first = at->second;
        } else if (Find(first) != Find(at->second)) {
          Merge(Find(first), Find(at->second));
        }
      }
    }
    Split();
    if (recompute) Recompute();
    return Finish(next_number);
  }

  ComputationPlan Run(int64_t* next_number) {
    Index();
    if (fuse_) {
      Grow();
      Siblings();
    }
    Split();
    if (fuse_) Recompute();
    return Finish(next_number);
  }

 private:
  void Index() {
    for (const Instruction* i : computation_.instructions()) {
      position_[i] = static_cast<int>(list_.size());
      list_.push_back(i);
    }
    int n = static_cast<int>(list_.size());
    parent_.resize(n);
    clusters_.resize(n);
    anchor_.assign(n, false);
    order_.resize(n);
    for (int i = 0; i < n; ++i) {
      parent_[i] = i;
      const Instruction& x = *list_[i];
      anchor_[i] = !IsFree(x) && !RidesAlong(x);
    }
    for (int i = 0; i < n; ++i) {
      if (!anchor_[i]) continue;
      Cluster& c = clusters_[i];
      c.anchors = {i};
      c.space = SpaceOf(*list_[i]);
      c.inputs = list_[i]->operand_count() + 1;
      for (int p : ProducersOf(i)) {
        c.producers.push_back(p);
        clusters_[p].consumers.push_back(i);
      }
    }
  }

  // Anchors that instruction i reads, also through what rides along.
  std::vector<int> ProducersOf(int i) {
    std::vector<int> found;
    absl::flat_hash_set<int> seen;
    std::vector<int> stack;
    auto look = [&](int at) {
      for (const Instruction* o : list_[at]->operands()) {
        int p = position_[o];
        if (!seen.insert(p).second) continue;
        if (anchor_[p]) {
          found.push_back(p);
        } else {
          stack.push_back(p);
        }
      }
    };
    look(i);
    while (!stack.empty()) {
      int at = stack.back();
      stack.pop_back();
      look(at);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  int Find(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  // Whether anything but `cluster` (and `besides`) reads values of `cluster`.
  bool HasOtherUsers(int cluster, int besides) {
    for (int c : clusters_[cluster].consumers) {
      int f = Find(c);
      if (f != cluster && f != besides) return true;
    }
    for (int a : clusters_[cluster].anchors) {
      if (NeededOutside(*list_[a])) return true;
    }
    return false;
  }

  // Read by something that is in no generated kernel: the caller, a tuple,
  // control flow.
  bool NeededOutside(const Instruction& i) {
    if (i.IsRoot()) return true;
    for (const Use& use : i.uses()) {
      const Instruction& u = *use.user;
      if (!IsFree(u)) continue;
      if (!AliasesOperand(u)) return true;
      if (NeededOutsideAlias(u)) return true;
    }
    return false;
  }
  bool NeededOutsideAlias(const Instruction& alias) {
    std::vector<const Instruction*> stack = {&alias};
    while (!stack.empty()) {
      const Instruction* i = stack.back();
      stack.pop_back();
      if (i->IsRoot()) return true;
      for (const Use& use : i->uses()) {
        if (!IsFree(*use.user)) continue;
        if (!AliasesOperand(*use.user)) return true;
        stack.push_back(use.user);
      }
    }
    return false;
  }

  // A path from cluster `from` to `to` through a third cluster. Also through
  // control flow and tuples, which are no clusters.
  enum class Path : uint8_t { kNone, kFound, kTooFar };
  Path ThirdBetween(int from, int to) {
    int last = clusters_[to].anchors.back();
    absl::flat_hash_set<int> seen;
    std::vector<int> stack;
    auto push_users = [&](const Instruction& i) {
      for (const Use& use : i.uses()) {
        int u = position_[use.user];
        if (u > last) continue;
        int key = anchor_[u] ? Find(u) : u;
        if (key == from) continue;
        if (seen.insert(key).second) stack.push_back(key);
      }
    };
    // Direct readers are fine; what they feed is not. Start from readers that
    // are neither `to` nor ride along into it.
    std::vector<int> direct;
    for (int a : clusters_[from].anchors) {
      absl::flat_hash_set<int> inline_seen;
      std::vector<const Instruction*> walk = {list_[a]};
      while (!walk.empty()) {
        const Instruction* i = walk.back();
        walk.pop_back();
        for (const Use& use : i->uses()) {
          int u = position_[use.user];
          if (u > last) continue;
          if (anchor_[u]) {
            int f = Find(u);
            if (f != from && f != to && seen.insert(f).second) {
              stack.push_back(f);
            }
          } else if (RidesAlong(*use.user)) {
            if (inline_seen.insert(u).second) walk.push_back(use.user);
          } else if (seen.insert(u).second) {
            stack.push_back(u);
          }
        }
      }
    }
    int visited = 0;
    while (!stack.empty()) {
      int at = stack.back();
      stack.pop_back();
      if (at == to) return Path::kFound;
      if (++visited > kMaxSearch) return Path::kTooFar;
      if (anchor_[at]) {
        for (int a : clusters_[at].anchors) push_users(*list_[a]);
      } else {
        push_users(*list_[at]);
      }
    }
    return Path::kNone;
  }

  Decision Try(int p, int c) {
    const Cluster& a = clusters_[p];
    const Cluster& b = clusters_[c];
    if (static_cast<int64_t>(a.anchors.size() + b.anchors.size()) >
        kMaxMembers) {
      return {Rule::kSize, absl::StrCat(a.anchors.size() + b.anchors.size()),
              absl::StrCat(kMaxMembers)};
    }
    if (a.inputs + b.inputs > kMaxOperands) {
      int64_t exact = CountOperands(p, c);
      if (exact > kMaxOperands) {
        return {Rule::kOperands, absl::StrCat(exact),
                absl::StrCat(kMaxOperands)};
      }
    }
    Decision spaces = SpacesFit(a.space, b.space, HasOtherUsers(p, c));
    if (!spaces.allowed()) return spaces;
    switch (ThirdBetween(p, c)) {
      case Path::kFound:
        return {Rule::kCycle, "", ""};
      case Path::kTooFar:
        return {Rule::kSearch, absl::StrCat(kMaxSearch),
                absl::StrCat(kMaxSearch)};
      case Path::kNone:
        return {};
    }
    return {};
  }

  int64_t CountOperands(int p, int c) {
    absl::flat_hash_set<const Instruction*> inputs;
    absl::flat_hash_set<const Instruction*> inside;
    int64_t outputs = 0;
    for (int k : {p, c}) {
      for (int a : clusters_[k].anchors) inside.insert(list_[a]);
    }
    for (int k : {p, c}) {
      for (int a : clusters_[k].anchors) {
        if (NeededOutside(*list_[a])) ++outputs;
        for (const Instruction* o : list_[a]->operands()) {
          while (RidesAlong(*o) && o->operand_count() == 1) o = o->operand(0);
          if (!inside.contains(o)) inputs.insert(o);
        }
      }
    }
    return static_cast<int64_t>(inputs.size()) + outputs;
  }

  void Merge(int p, int c) {
    // Keep the earlier position as the name; move the smaller lists.
    int keep = c;
    int drop = p;
    if (clusters_[keep].anchors.size() < clusters_[drop].anchors.size()) {
      std::swap(keep, drop);
    }
    Space merged = Joined(clusters_[p].space, clusters_[c].space);
    Cluster& k = clusters_[keep];
    Cluster& d = clusters_[drop];
    size_t middle = k.anchors.size();
    k.anchors.insert(k.anchors.end(), d.anchors.begin(), d.anchors.end());
    std::inplace_merge(k.anchors.begin(), k.anchors.begin() + middle,
                       k.anchors.end());
    k.producers.insert(k.producers.end(), d.producers.begin(),
                       d.producers.end());
    k.consumers.insert(k.consumers.end(), d.consumers.begin(),
                       d.consumers.end());
    k.inputs += d.inputs;
    k.space = merged;
    d = Cluster();
    parent_[drop] = keep;
  }

  static Space Joined(const Space& p, const Space& c) {
    Space s = c;
    if (p.kind != SpaceKind::kMap) s = p;
    double ratio = c.points > 0 ? std::max(1.0, 1.0 * p.points / c.points) : 1;
    s.ops = c.ops + p.ops / ratio;
    return s;
  }

  void Log(int p, int c, const Decision& d) {
    if (log_ == nullptr) return;
    log_->push_back({static_cast<int64_t>(log_->size()),
                     list_[clusters_[p].anchors.back()],
                     list_[clusters_[c].anchors.front()], d});
  }

  void Grow() {
    int n = static_cast<int>(list_.size());
    for (int i = 0; i < n; ++i) {
      if (!anchor_[i] || clusters_[Find(i)].space.kind == SpaceKind::kWall) {
        continue;
      }
      std::vector<int> producers = ProducersOf(i);
      for (auto it = producers.rbegin(); it != producers.rend(); ++it) {
        int p = Find(*it);
        int c = Find(i);
        if (p == c) continue;
        Decision d = Try(p, c);
        Log(p, c, d);
        if (d.allowed()) Merge(p, c);
      }
    }
  }

  // Groups by large value read; neighbours in the list try each other.
  void Siblings() {
    int n = static_cast<int>(list_.size());
    std::map<int, std::vector<int>> readers;
    for (int i = 0; i < n; ++i) {
      if (!anchor_[i]) continue;
      absl::flat_hash_set<int> seen;
      std::vector<const Instruction*> stack(list_[i]->operands().begin(),
                                            list_[i]->operands().end());
      while (!stack.empty()) {
        const Instruction* o = stack.back();
        stack.pop_back();
        if (!seen.insert(position_[o]).second) continue;
        if (RidesAlong(*o)) {
          stack.insert(stack.end(), o->operands().begin(), o->operands().end());
        } else if (o->shape().IsArray() &&
                   o->shape().ByteSize() >= kLargeInput) {
          readers[position_[o]].push_back(i);
        }
      }
    }
    for (const auto& [value, anchors] : readers) {
      for (size_t k = 1; k < anchors.size(); ++k) {
        int a = Find(anchors[k - 1]);
        int b = Find(anchors[k]);
        if (a == b) continue;
        const Space& x = clusters_[a].space;
        const Space& y = clusters_[b].space;
        if (x.kind == SpaceKind::kWall || y.kind == SpaceKind::kWall) continue;
        if (x.points != y.points) continue;
        bool folds_alike = x.kind == y.kind && x.signature == y.signature;
        bool map_and_row =
            (x.kind == SpaceKind::kMap && y.kind == SpaceKind::kRow) ||
            (x.kind == SpaceKind::kRow && y.kind == SpaceKind::kMap);
        if (!folds_alike && !map_and_row) continue;
        if (CountOperands(a, b) > kMaxOperands) continue;
        // Neither may wait for the other, through whatever lies between.
        if (Reaches(a, b) || Reaches(b, a)) continue;
        Merge(a, b);
      }
    }
  }

  bool Reaches(int from, int to) {
    int last = clusters_[to].anchors.back();
    if (clusters_[from].anchors.front() > last) return false;
    absl::flat_hash_set<int> seen = {from};
    std::vector<int> stack = {from};
    int visited = 0;
    while (!stack.empty()) {
      int at = stack.back();
      stack.pop_back();
      if (at == to) return true;
      if (++visited > kMaxSearch) return true;
      auto push = [&](const Instruction& i) {
        for (const Use& use : i.uses()) {
          int u = position_[use.user];
          if (u > last) continue;
          int key = anchor_[u] ? Find(u) : u;
          if (seen.insert(key).second) stack.push_back(key);
        }
      };
      if (anchor_[at]) {
        for (int a : clusters_[at].anchors) push(*list_[a]);
      } else {
        push(*list_[at]);
      }
    }
    return false;
  }

  // ---- From clusters to stored values ----

  struct Piece {
    std::vector<int> own;         // anchors it may compute
    std::vector<int> duplicated;  // anchors of others it computes again
    std::vector<int> roots;
    bool wall = false;
    Space space;
  };

  void Split() {
    int n = static_cast<int>(list_.size());
    piece_of_.assign(n, -1);
    for (int i = 0; i < n; ++i) {
      if (!anchor_[i] || Find(i) != i) continue;
      Piece piece;
      piece.own = clusters_[i].anchors;
      piece.space = clusters_[i].space;
      piece.wall = piece.space.kind == SpaceKind::kWall;
      for (int a : piece.own) piece_of_[a] = static_cast<int>(pieces_.size());
      pieces_.push_back(std::move(piece));
    }
    // What rides along must be stored where something reads it that computes
    // nothing itself: then it is a group of its own.
    for (int i = 0; i < n; ++i) {
      const Instruction& x = *list_[i];
      if (anchor_[i] || IsFree(x) || !RidesAlong(x)) continue;
      if (!StoredForWalls(x)) continue;
      Piece piece;
      piece.own = {i};
      piece.roots = {i};
      piece.space = SpaceOf(x);
      piece_of_[i] = static_cast<int>(pieces_.size());
      pieces_.push_back(std::move(piece));
    }
    FindRoots();
  }

  // Read as a buffer: by a wall, the caller, a tuple or control flow.
  bool StoredForWalls(const Instruction& i) {
    if (NeededOutside(i)) return true;
    std::vector<const Instruction*> stack = {&i};
    while (!stack.empty()) {
      const Instruction* at = stack.back();
      stack.pop_back();
      for (const Use& use : at->uses()) {
        if (IsWall(*use.user) && !IsFree(*use.user)) return true;
        if (AliasesOperand(*use.user)) stack.push_back(use.user);
      }
    }
    return false;
  }

  // Anchors (and stored riders) that each piece computes, from its roots.
  void FindRoots() {
    for (Piece& p : pieces_) {
      p.roots.clear();
    }
    for (size_t k = 0; k < pieces_.size(); ++k) {
      for (int a : pieces_[k].own) {
        const Instruction& x = *list_[a];
        bool stored = NeededOutside(x) || !anchor_[a];
        for (const auto& reader : ReadersOf(a)) {
          int q = piece_of_[reader];
          if (q == static_cast<int>(k)) continue;
          const Piece& other = pieces_[q];
          bool again = std::binary_search(other.duplicated.begin(),
                                          other.duplicated.end(), a);
          if (!again) stored = true;
          if (again) continue;
        }
        if (!stored) {
          // Readers may be duplicates elsewhere.
          for (int reader : ReadersOf(a)) {
            for (int q : duplicated_in_[reader]) {
              if (q == static_cast<int>(k)) continue;
              const Piece& other = pieces_[q];
              if (!std::binary_search(other.duplicated.begin(),
                                      other.duplicated.end(), a)) {
                stored = true;
              }
            }
          }
        }
        if (stored) pieces_[k].roots.push_back(a);
      }
    }
  }

  // Anchors that read anchor a, also through what rides along.
  const std::vector<int>& ReadersOf(int a) {
    auto it = readers_.find(a);
    if (it != readers_.end()) return it->second;
    std::vector<int> found;
    absl::flat_hash_set<int> seen;
    std::vector<const Instruction*> stack = {list_[a]};
    while (!stack.empty()) {
      const Instruction* i = stack.back();
      stack.pop_back();
      for (const Use& use : i->uses()) {
        int u = position_[use.user];
        if (!seen.insert(u).second) continue;
        if (anchor_[u]) {
          found.push_back(u);
        } else if (RidesAlong(*use.user)) {
          stack.push_back(use.user);
        }
      }
    }
    std::sort(found.begin(), found.end());
    return readers_.emplace(a, std::move(found)).first->second;
  }

  void Recompute() {
    bool changed = true;
    for (int round = 0; changed && round < 3; ++round) {
      changed = false;
      for (size_t k = 0; k < pieces_.size(); ++k) {
        if (pieces_[k].wall) continue;
        std::vector<int> roots = pieces_[k].roots;
        for (int r : roots) {
          if (TryRecompute(static_cast<int>(k), r)) changed = true;
        }
      }
      if (changed) FindRoots();
    }
  }

  // Root r of piece k, stored only for other fused pieces: could they all
  // compute it from leaves that are smaller than r itself?
  bool TryRecompute(int k, int r) {
    const Instruction& root = *list_[r];
    if (!root.shape().IsArray() || NeededOutside(root)) return false;
    int64_t bytes = root.shape().ByteSize();
    if (bytes < kLargeInput) return false;
    absl::flat_hash_set<int> targets;
    for (int reader : ReadersOf(r)) {
      int q = piece_of_[reader];
      if (q != k) targets.insert(q);
    }
    if (targets.empty() || targets.size() > 2) return false;
    for (int q : targets) {
      if (pieces_[q].wall ||
          pieces_[q].space.points != pieces_[k].space.points) {
        return false;
      }
    }
    // The chain that computes r: cheap maps of every point; it stops at values
    // of rows and at what is stored anyway.
    std::vector<int> chain;
    absl::flat_hash_set<int> seen;
    std::vector<int> stack = {r};
    int64_t leaf_bytes = 0;
    double ops = 0;
    absl::flat_hash_set<const Instruction*> leaves;
    while (!stack.empty()) {
      int at = stack.back();
      stack.pop_back();
      if (!seen.insert(at).second) continue;
      if (anchor_[at] && at != r && !SameSpaceMap(at, root)) {
        // A row's value: it becomes a stored leaf.
        leaves.insert(list_[at]);
        continue;
      }
      if (anchor_[at]) {
        if (piece_of_[at] != k) {
          leaves.insert(list_[at]);
          continue;
        }
        chain.push_back(at);
        ops += OpsPerElement(*list_[at]);
        if (static_cast<int>(chain.size()) > kMaxRecomputed) return false;
      } else if (!RidesAlong(*list_[at])) {
        leaves.insert(list_[at]);
        continue;
      }
      for (const Instruction* o : list_[at]->operands()) {
        stack.push_back(position_[o]);
      }
    }
    if (ops > 64) return false;
    for (int c : chain) {
      if (list_[c]->opcode() == Opcode::kReduce) return false;
    }
    for (int q : targets) {
      absl::flat_hash_set<const Instruction*> already = LeavesOf(q);
      int64_t extra = 0;
      for (const Instruction* leaf : leaves) {
        if (!already.contains(leaf)) extra += leaf->shape().ByteSize();
      }
      leaf_bytes = std::max(leaf_bytes, extra);
    }
    // Storing and reading r costs twice its bytes; recomputing costs the
    // leaves that are not read yet, each time.
    if (leaf_bytes * static_cast<int64_t>(targets.size()) >= bytes * 2) {
      return false;
    }
    for (int q : targets) {
      Piece& p = pieces_[q];
      p.duplicated.insert(p.duplicated.end(), chain.begin(), chain.end());
      std::sort(p.duplicated.begin(), p.duplicated.end());
      p.duplicated.erase(std::unique(p.duplicated.begin(), p.duplicated.end()),
                         p.duplicated.end());
      for (int c : chain) duplicated_in_[c].insert(q);
    }
    return true;
  }

  bool SameSpaceMap(int at, const Instruction& root) {
    const Instruction& x = *list_[at];
    return x.shape().IsArray() && x.opcode() != Opcode::kReduce &&
           x.shape().ElementCount() == root.shape().ElementCount();
  }

  // Large values that piece q reads.
  absl::flat_hash_set<const Instruction*> LeavesOf(int q) {
    absl::flat_hash_set<const Instruction*> leaves;
    absl::flat_hash_set<int> inside(pieces_[q].own.begin(),
                                    pieces_[q].own.end());
    inside.insert(pieces_[q].duplicated.begin(), pieces_[q].duplicated.end());
    std::vector<int> stack(inside.begin(), inside.end());
    absl::flat_hash_set<int> seen(inside.begin(), inside.end());
    while (!stack.empty()) {
      int at = stack.back();
      stack.pop_back();
      for (const Instruction* o : list_[at]->operands()) {
        int p = position_[o];
        if (!seen.insert(p).second) continue;
        if (!anchor_[p] && RidesAlong(*o)) {
          stack.push_back(p);
        } else {
          leaves.insert(o);
        }
      }
    }
    return leaves;
  }

  ComputationPlan Finish(int64_t* next_number) {
    ComputationPlan plan;
    plan.computation = &computation_;
    std::vector<Group> groups;
    for (const Piece& p : pieces_) {
      if (p.roots.empty()) continue;
      std::vector<const Instruction*> roots;
      std::vector<const Instruction*> allowed;
      for (int r : p.roots) roots.push_back(list_[r]);
      for (int a : p.own) allowed.push_back(list_[a]);
      for (int a : p.duplicated) allowed.push_back(list_[a]);
      Group g = MakeGroup(roots, allowed, (*next_number)++);
      // A chain that no longer has a root inside shrinks the group.
      std::sort(g.members.begin(), g.members.end(),
                [&](const Instruction* a, const Instruction* b) {
                  return position_[a] < position_[b];
                });
      groups.push_back(std::move(g));
    }
    plan.groups = InRunningOrder(std::move(groups));
    return plan;
  }

  // Kahn's algorithm; among what can run, the earliest first root goes first.
  std::vector<Group> InRunningOrder(std::vector<Group> groups) {
    int n = static_cast<int>(groups.size());
    absl::flat_hash_map<const Instruction*, int> stores;
    for (int g = 0; g < n; ++g) {
      for (const Instruction* r : groups[g].roots) stores[r] = g;
    }
    // Groups that each free or control instruction waits for, by position.
    std::vector<std::vector<int>> waits(n);
    std::vector<int> missing(n, 0);
    std::vector<std::vector<int>> next(n);
    for (int g = 0; g < n; ++g) {
      absl::flat_hash_set<int> seen;
      absl::flat_hash_set<int> needs;
      std::vector<int> stack;
      for (const Instruction* i : GroupInputs(groups[g])) {
        stack.push_back(position_[i]);
      }
      while (!stack.empty()) {
        int at = stack.back();
        stack.pop_back();
        if (!seen.insert(at).second) continue;
        auto it = stores.find(list_[at]);
        if (it != stores.end()) {
          if (it->second != g) needs.insert(it->second);
          continue;
        }
        for (const Instruction* o : list_[at]->operands()) {
          stack.push_back(position_[o]);
        }
      }
      missing[g] = static_cast<int>(needs.size());
      for (int m : needs) next[m].push_back(g);
    }
    std::map<int, int> ready;  // position of the first root -> group
    auto add = [&](int g) { ready[position_[groups[g].roots[0]]] = g; };
    for (int g = 0; g < n; ++g) {
      if (missing[g] == 0) add(g);
    }
    std::vector<Group> ordered;
    while (!ready.empty()) {
      int g = ready.begin()->second;
      ready.erase(ready.begin());
      for (int m : next[g]) {
        if (--missing[m] == 0) add(m);
      }
      ordered.push_back(std::move(groups[g]));
    }
    return ordered;
  }

  const Computation& computation_;
  bool fuse_;
  DecisionLog* log_;
  std::vector<const Instruction*> list_;
  absl::flat_hash_map<const Instruction*, int> position_;
  std::vector<bool> anchor_;
  std::vector<int> parent_;
  std::vector<int> order_;
  std::vector<Cluster> clusters_;
  std::vector<int> piece_of_;
  std::vector<Piece> pieces_;
  absl::flat_hash_map<int, std::vector<int>> readers_;
  absl::flat_hash_map<int, absl::flat_hash_set<int>> duplicated_in_;
};

}  // namespace

std::vector<std::vector<const Instruction*>> PiecesOf(
    const ComputationPlan& plan) {
  // A value's own group stores it, or is the only one that computes it; of
  // several, the last in the order (its producer comes first only to be read).
  absl::flat_hash_map<const Instruction*, size_t> owner;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    for (const Instruction* i : plan.groups[g].members) owner.emplace(i, g);
  }
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    for (const Instruction* i : plan.groups[g].roots) owner[i] = g;
  }
  std::vector<std::vector<const Instruction*>> pieces(plan.groups.size());
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    for (const Instruction* i : plan.groups[g].members) {
      if (owner[i] == g && !RidesAlong(*i) && !IsFree(*i)) {
        pieces[g].push_back(i);
      }
    }
  }
  return pieces;
}

absl::StatusOr<ComputationPlan> PlanFromPieces(
    const Computation& computation,
    const std::vector<std::vector<const Instruction*>>& pieces, bool recompute,
    int64_t* next_number) {
  int64_t first = *next_number;
  ComputationPlan plan = Planner(computation, true, nullptr)
                             .RunPieces(pieces, recompute, next_number);
  if (static_cast<int64_t>(plan.groups.size()) != *next_number - first) {
    return absl::InvalidArgumentError(
        absl::StrCat("computation ", std::string(computation.name()),
                     ": groups wait for each other in a ring"));
  }
  return plan;
}

absl::Span<const absl::string_view> StrategyNames() { return kNames; }

absl::StatusOr<Plan> MakePlan(const Module& module, absl::string_view strategy,
                              const StrategyOptions& options) {
  auto names = StrategyNames();
  if (std::find(names.begin(), names.end(), strategy) == names.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown strategy '", strategy,
                     "'; known: ", absl::StrJoin(names, ", ")));
  }
  Plan plan;
  plan.strategy = std::string(strategy);
  plan.module_fingerprint = FingerprintModule(module);
  int64_t number = 0;
  for (const Computation* c : PlannedComputations(module)) {
    plan.computations.push_back(
        Planner(*c, strategy != "none", options.log).Run(&number));
  }
  RIDGE_RETURN_IF_ERROR(ValidatePlan(module, plan));
  return plan;
}

}  // namespace ridge
