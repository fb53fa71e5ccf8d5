// A directed acyclic graph whose nodes can be merged, as long as no cycle
// arises. Keeps a topological order, so that a question costs a search of only
// what lies between the two nodes in that order, and answers it from whichever
// side is done first.
#ifndef RIDGE_FUSION_MERGE_GRAPH_H_
#define RIDGE_FUSION_MERGE_GRAPH_H_

#include <cstdint>
#include <vector>

namespace ridge {

class MergeGraph {
 public:
  // Nodes that one search may visit; beyond that the answer is kTooFar.
  static constexpr int kMaxSearch = 4096;
  enum class Path : uint8_t { kNone, kFound, kTooFar };

  // `n` nodes; their numbers must be a topological order.
  explicit MergeGraph(int n);
  void AddEdge(int from, int to);

  // The node that `i` is part of by now.
  int Find(int i) const;
  // Whether `a` and `b` are connected through a third node, so that merging
  // them would close a cycle. Direct edges do not count.
  Path ThirdBetween(int a, int b);
  // Merges two nodes, for which ThirdBetween was kNone just before; the result
  // is named `keep`, which must be one of them.
  void Merge(int keep, int drop);
  // Whether a precedes b in the order kept.
  bool Before(int a, int b) const { return label_[a] < label_[b]; }
  // Current nodes after and before `i`, each once, in no particular but a
  // deterministic order.
  std::vector<int> Successors(int i);
  std::vector<int> Predecessors(int i);

 private:
  // One of the two searches that take turns: from the earlier node along the
  // edges, from the later one against them.
  struct Search {
    bool forward = true;
    int first = 0;
    int other = 0;
    std::vector<int> stack;
    std::vector<int> visited;
    bool found = false;
  };
  void Visit(Search* search, int node);
  void Compact(std::vector<int>* list, int self);
  void Unlink(int i);
  void LinkAfter(int i, int after);
  void Relabel();

  std::vector<int> parent_;
  std::vector<std::vector<int>> next_;
  std::vector<std::vector<int>> before_;
  std::vector<double> label_;
  std::vector<int> list_next_;  // order as a linked list; n is the sentinel
  std::vector<int> list_before_;
  std::vector<int> mark_[2];  // by direction: the last search that saw a node
  int stamp_ = 0;
  // What the last ThirdBetween learnt: what follows the earlier node (or
  // precedes the later one) between the two.
  std::vector<int> between_;
  bool between_forward_ = true;
  int first_ = -1;
  int last_ = -1;
};

}  // namespace ridge

#endif  // RIDGE_FUSION_MERGE_GRAPH_H_
