#include "fusion/clusters.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "fusion/axis_links.h"
#include "fusion/instruction_traits.h"

namespace ridge {
namespace {

// Whether `reader` takes its operand number k as a whole buffer.
bool TakesBuffer(const Instruction& reader, int64_t k) {
  if (IsFree(reader)) return !AliasesOperand(reader);
  if (IsUpdate(reader)) return k == 0;
  return IsWall(reader);
}

}  // namespace

Clusters::Clusters(const Computation& computation)
    : computation_(computation),
      graph_(static_cast<int>(computation.instruction_count())) {
  for (const Instruction* i : computation.instructions()) {
    position_[i] = static_cast<int>(list_.size());
    list_.push_back(i);
  }
  const int n = size();
  anchor_.resize(n);
  buffer_.assign(n, false);
  moved_.assign(n, false);
  producers_.resize(n);
  readers_.resize(n);
  clusters_.resize(n);
  for (int i = 0; i < n; ++i) {
    const Instruction& x = *list_[i];
    anchor_[i] = !IsFree(x) && !RidesAlong(x);
    const bool rides = RidesAlong(x) || AliasesOperand(x);
    for (const Instruction* o : x.operands()) {
      const int p = position_.at(o);
      if (rides && (anchor_[p] || moved_[p])) moved_[i] = true;
      // A conversion that rides along leaves its operand where it is.
      if (rides && x.opcode() == Opcode::kConvert && !moved_[p]) {
        moved_[i] = false;
      }
    }
    // Read as a buffer, through whatever rides along: what rides along is then
    // stored by a kernel of its own, which reads its operand from memory.
    if (x.IsRoot()) buffer_[i] = true;
    for (const Use& use : x.uses()) {
      if (TakesBuffer(*use.user, use.operand_index)) buffer_[i] = true;
    }
    if (rides) continue;
    // Nodes of the graph: anchors, and what hands values on.
    absl::flat_hash_set<int> seen;
    std::vector<int> stack;
    auto look = [&](int at) {
      for (const Instruction* o : list_[at]->operands()) {
        const int p = position_.at(o);
        if (!seen.insert(p).second) continue;
        if (anchor_[p]) {
          producers_[i].push_back(p);
          graph_.AddEdge(p, i);
        } else if (RidesAlong(*o) || AliasesOperand(*o)) {
          stack.push_back(p);
        } else {
          graph_.AddEdge(p, i);
        }
      }
    };
    look(i);
    while (!stack.empty()) {
      const int at = stack.back();
      stack.pop_back();
      look(at);
    }
    for (const Instruction* p : x.control_predecessors()) {
      graph_.AddEdge(position_.at(p), i);
    }
    std::sort(producers_[i].begin(), producers_[i].end());
    if (!anchor_[i]) continue;
    for (int p : producers_[i]) readers_[p].push_back(i);
    Cluster& c = clusters_[i];
    c.own = {i};
    c.wall = IsWall(x) && !(IsUpdate(x) && x.shape().IsArray());
    c.plain = IsElementwise(x.opcode()) && !IsWall(x);
    for (const Instruction* o : x.operands()) {
      if (moved_[position_.at(o)]) c.plain = false;
    }
    c.inputs = x.operand_count() + 1;
  }
  // From what rides along to what it reads.
  for (int i = n - 1; i >= 0; --i) {
    if (!buffer_[i] || !(RidesAlong(*list_[i]) || AliasesOperand(*list_[i]))) {
      continue;
    }
    for (const Instruction* o : list_[i]->operands()) {
      buffer_[position_.at(o)] = true;
    }
  }
}

int Clusters::Merge(int a, int b) {
  int keep = a;
  int drop = b;
  if (clusters_[keep].own.size() < clusters_[drop].own.size()) {
    std::swap(keep, drop);
  }
  graph_.Merge(keep, drop);
  Cluster& k = clusters_[keep];
  Cluster& d = clusters_[drop];
  const size_t middle = k.own.size();
  const Instruction& x = *list_[k.own[0]];
  const Instruction& y = *list_[d.own[0]];
  k.plain = k.plain && d.plain && x.shape().SameDims(y.shape()) &&
            PhysicalDims(x.shape()) == PhysicalDims(y.shape());
  k.own.insert(k.own.end(), d.own.begin(), d.own.end());
  std::inplace_merge(k.own.begin(), k.own.begin() + middle, k.own.end());
  std::vector<int> copies = std::move(k.copies);
  copies.insert(copies.end(), d.copies.begin(), d.copies.end());
  std::sort(copies.begin(), copies.end());
  copies.erase(std::unique(copies.begin(), copies.end()), copies.end());
  k.copies.clear();
  std::set_difference(copies.begin(), copies.end(), k.own.begin(), k.own.end(),
                      std::back_inserter(k.copies));
  k.inputs += d.inputs;
  k.wall = k.wall || d.wall;
  k.version = std::max(k.version, d.version) + 1;
  d = Cluster();
  return keep;
}

bool Clusters::Holds(int cluster, int anchor) const {
  const std::vector<int>& copies = clusters_[cluster].copies;
  return std::binary_search(copies.begin(), copies.end(), anchor);
}

void Clusters::AddCopies(int cluster, const std::vector<int>& chain,
                         const std::vector<int>& leaves) {
  Cluster& c = clusters_[cluster];
  c.copies.insert(c.copies.end(), chain.begin(), chain.end());
  std::sort(c.copies.begin(), c.copies.end());
  c.copies.erase(std::unique(c.copies.begin(), c.copies.end()), c.copies.end());
  ++c.version;
  for (int leaf : leaves) copy_readers_[leaf].push_back(cluster);
}

// Whether the cluster (or pair) must store its anchor: somebody else reads it.
bool Clusters::Stored(int anchor, int a, int b, int dropped) const {
  if (buffer_[anchor]) return true;
  if (anchor == dropped) return false;
  for (int r : readers_[anchor]) {
    const int f = Find(r);
    if (f != a && f != b && !Holds(f, anchor)) return true;
  }
  auto it = copy_readers_.find(anchor);
  if (it == copy_readers_.end()) return false;
  for (int reader : it->second) {
    const int q = Find(reader);
    if (q != a && q != b && !Holds(q, anchor)) return true;
  }
  return false;
}

std::vector<int> Clusters::Roots(int cluster) const {
  std::vector<int> roots;
  for (int i : clusters_[cluster].own) {
    if (Stored(i, cluster, -1, -1)) roots.push_back(i);
  }
  return roots;
}

int64_t Clusters::CountOperands(int a, int b) const {
  absl::flat_hash_set<int> seen;
  std::vector<int> stack;
  int64_t count = 0;
  for (int k : {a, b}) {
    for (int i : clusters_[k].own) {
      seen.insert(i);
      stack.push_back(i);
      if (Stored(i, a, b, -1)) ++count;
    }
  }
  while (!stack.empty()) {
    const int at = stack.back();
    stack.pop_back();
    for (const Instruction* o : list_[at]->operands()) {
      const int p = position_.at(o);
      if (!seen.insert(p).second) continue;
      if (!anchor_[p] && RidesAlong(*o)) {
        stack.push_back(p);
      } else {
        ++count;
      }
    }
  }
  return count;
}

Group Clusters::MakeGroup(int a, int b, absl::Span<const int> extra,
                          int dropped) const {
  absl::flat_hash_set<int> allowed(extra.begin(), extra.end());
  std::vector<int> roots;
  for (int k : {a, b}) {
    if (k < 0) continue;
    for (int i : clusters_[k].own) {
      allowed.insert(i);
      if (Stored(i, a, b, dropped)) roots.push_back(i);
    }
    allowed.insert(clusters_[k].copies.begin(), clusters_[k].copies.end());
  }
  std::sort(roots.begin(), roots.end());
  std::vector<int> members;
  absl::flat_hash_set<int> inside;
  std::vector<int> stack(roots.rbegin(), roots.rend());
  while (!stack.empty()) {
    const int m = stack.back();
    stack.pop_back();
    if (!inside.insert(m).second) continue;
    members.push_back(m);
    const Instruction& x = *list_[m];
    for (int64_t k = 0; k < x.operand_count(); ++k) {
      if (TakesBuffer(x, k)) continue;
      const int p = position_.at(x.operand(k));
      if (allowed.contains(p) || RidesAlong(*list_[p])) stack.push_back(p);
    }
  }
  std::sort(members.begin(), members.end());
  Group group;
  for (int m : members) group.members.push_back(list_[m]);
  for (int r : roots) group.roots.push_back(list_[r]);
  return group;
}

std::vector<PlanPiece> Clusters::Pieces() const {
  std::vector<PlanPiece> pieces;
  for (int i = 0; i < size(); ++i) {
    if (!anchor_[i] || Find(i) != i) continue;
    PlanPiece piece;
    for (int a : clusters_[i].own) piece.own.push_back(list_[a]);
    for (int a : clusters_[i].copies) piece.copies.push_back(list_[a]);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace ridge
