#include "fusion/merge_graph.h"

#include <algorithm>
#include <utility>

namespace ridge {

MergeGraph::MergeGraph(int n)
    : parent_(n),
      next_(n),
      before_(n),
      label_(n + 1),
      list_next_(n + 1),
      list_before_(n + 1) {
  mark_[0].assign(n, 0);
  mark_[1].assign(n, 0);
  for (int i = 0; i < n; ++i) parent_[i] = i;
  // A ring through the sentinel n.
  for (int i = 0; i <= n; ++i) {
    label_[i] = i;
    list_next_[i] = i == n ? 0 : i + 1;
    list_before_[i] = i == 0 ? n : i - 1;
  }
}

void MergeGraph::AddEdge(int from, int to) {
  if (from == to) return;
  next_[from].push_back(to);
  before_[to].push_back(from);
}

int MergeGraph::Find(int i) const {
  while (parent_[i] != i) i = parent_[i];
  return i;
}

// Lists name nodes as they were; brings one up to date.
void MergeGraph::Compact(std::vector<int>* list, int self) {
  for (int& i : *list) i = Find(i);
  std::sort(list->begin(), list->end());
  list->erase(std::unique(list->begin(), list->end()), list->end());
  list->erase(std::remove(list->begin(), list->end(), self), list->end());
}

std::vector<int> MergeGraph::Successors(int i) {
  Compact(&next_[i], i);
  return next_[i];
}

std::vector<int> MergeGraph::Predecessors(int i) {
  Compact(&before_[i], i);
  return before_[i];
}

void MergeGraph::Visit(Search* s, int node) {
  for (int raw : s->forward ? next_[node] : before_[node]) {
    const int i = Find(raw);
    if (i == node || mark_[s->forward][i] == stamp_) continue;
    if (i == s->other) {
      // The direct edge is fine; a longer way is not.
      if (node != s->first) s->found = true;
      continue;
    }
    // What lies beyond the other node in the order cannot lead to it.
    if (s->forward ? label_[i] > label_[s->other]
                   : label_[i] < label_[s->other]) {
      continue;
    }
    mark_[s->forward][i] = stamp_;
    s->visited.push_back(i);
    s->stack.push_back(i);
  }
}

MergeGraph::Path MergeGraph::ThirdBetween(int a, int b) {
  if (label_[a] > label_[b]) std::swap(a, b);
  first_ = a;
  last_ = b;
  ++stamp_;
  Search searches[2];
  searches[0].first = a;
  searches[0].other = b;
  searches[1].forward = false;
  searches[1].first = b;
  searches[1].other = a;
  for (Search& s : searches) Visit(&s, s.first);
  while (true) {
    for (Search& s : searches) {
      if (s.found) return Path::kFound;
      if (s.stack.empty()) {
        between_ = std::move(s.visited);
        between_forward_ = s.forward;
        return Path::kNone;
      }
      if (static_cast<int>(s.visited.size()) > kMaxSearch) {
        return Path::kTooFar;
      }
      const int node = s.stack.back();
      s.stack.pop_back();
      Visit(&s, node);
    }
  }
}

void MergeGraph::Unlink(int i) {
  list_next_[list_before_[i]] = list_next_[i];
  list_before_[list_next_[i]] = list_before_[i];
}

void MergeGraph::LinkAfter(int i, int after) {
  const int next = list_next_[after];
  list_next_[after] = i;
  list_before_[i] = after;
  list_next_[i] = next;
  list_before_[next] = i;
  const int sentinel = static_cast<int>(parent_.size());
  const double low = after == sentinel ? label_[next] - 2 : label_[after];
  const double high = next == sentinel ? low + 2 : label_[next];
  label_[i] = low + (high - low) / 2;
  if (!(label_[i] > low && label_[i] < high)) Relabel();
}

void MergeGraph::Relabel() {
  const int sentinel = static_cast<int>(parent_.size());
  double label = 0;
  for (int i = list_next_[sentinel]; i != sentinel; i = list_next_[i]) {
    label_[i] = label++;
  }
  label_[sentinel] = label;
}

void MergeGraph::Merge(int keep, int drop) {
  // The merged node takes the place of the later one, and what followed the
  // earlier one moves behind it; or the mirror image.
  const int place = between_forward_ ? last_ : first_;
  std::sort(between_.begin(), between_.end(),
            [&](int x, int y) { return label_[x] < label_[y]; });
  if (between_forward_) {
    int after = place;
    for (int i : between_) {
      Unlink(i);
      LinkAfter(i, after);
      after = i;
    }
  } else {
    for (int i : between_) {
      Unlink(i);
      LinkAfter(i, list_before_[place]);
    }
  }
  const int other = place == keep ? drop : keep;
  Unlink(other);
  if (place != keep) {
    // `keep` takes over the place of `drop`.
    const int after = list_before_[drop];
    Unlink(drop);
    LinkAfter(keep, after);
  }
  parent_[drop] = keep;
  // The shorter list moves.
  for (auto* lists : {&next_, &before_}) {
    std::vector<int>& k = (*lists)[keep];
    std::vector<int>& d = (*lists)[drop];
    if (k.size() < d.size()) std::swap(k, d);
    k.insert(k.end(), d.begin(), d.end());
    d.clear();
    d.shrink_to_fit();
  }
  between_.clear();
}

}  // namespace ridge
