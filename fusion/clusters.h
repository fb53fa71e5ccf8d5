// Clusters: what a strategy merges. Each computing instruction (anchor) is in
// one cluster; what rides along is in none, readers look through it.
#ifndef RIDGE_FUSION_CLUSTERS_H_
#define RIDGE_FUSION_CLUSTERS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "fusion/assemble.h"
#include "fusion/group_analysis.h"
#include "fusion/merge_graph.h"
#include "fusion/plan.h"

namespace ridge {

struct Cluster {
  std::vector<int> own;     // anchors, ascending
  std::vector<int> copies;  // anchors of others that it computes again, sorted
  bool wall = false;        // merges with nothing (dots with their epilogue)
  // All anchors elementwise, of one shape and memory order, and read at the
  // same places: merging two of these needs no analysis.
  bool plain = false;
  int64_t inputs = 0;  // upper bound of its kernel parameters
  int version = 0;     // counts changes
};

// Instructions by their position in the computation's list.
class Clusters {
 public:
  explicit Clusters(const Computation& computation);

  int size() const { return static_cast<int>(list_.size()); }
  const Instruction& at(int i) const { return *list_[i]; }
  int position(const Instruction* i) const { return position_.at(i); }
  bool IsAnchor(int i) const { return anchor_[i]; }
  // Anchors that `i` reads, through what rides along; ascending.
  const std::vector<int>& Producers(int i) const { return producers_[i]; }
  // Anchors that read `i`, likewise.
  const std::vector<int>& Readers(int i) const { return readers_[i]; }
  // Must be stored whoever else computes it: read as a buffer.
  bool IsBuffer(int i) const { return buffer_[i]; }

  int Find(int i) const { return graph_.Find(i); }
  Cluster& cluster(int i) { return clusters_[i]; }
  const Cluster& cluster(int i) const { return clusters_[i]; }
  MergeGraph& graph() { return graph_; }
  // After graph().ThirdBetween(a, b) was kNone. Returns the merged cluster.
  int Merge(int a, int b);
  bool Holds(int cluster, int anchor) const;
  // `cluster` computes `chain` again, and so reads `leaves` (anchors).
  void AddCopies(int cluster, const std::vector<int>& chain,
                 const std::vector<int>& leaves);

  // The group of a cluster, or of two as if merged (b < 0: of one). With
  // `extra` copies, and without storing `dropped` (-1: none).
  Group MakeGroup(int a, int b = -1, absl::Span<const int> extra = {},
                  int dropped = -1) const;
  // Kernel parameters of both clusters as one: what is read, what is stored.
  int64_t CountOperands(int a, int b) const;
  // The anchors that the cluster stores.
  std::vector<int> Roots(int cluster) const;

  std::vector<PlanPiece> Pieces() const;

 private:
  bool Stored(int anchor, int a, int b, int dropped) const;

  const Computation& computation_;
  std::vector<const Instruction*> list_;
  absl::flat_hash_map<const Instruction*, int> position_;
  std::vector<bool> anchor_;
  std::vector<bool> buffer_;
  // Rides along, and has elements of an anchor at other places.
  std::vector<bool> moved_;
  std::vector<std::vector<int>> producers_;
  std::vector<std::vector<int>> readers_;
  // Clusters that read an anchor for what they compute again.
  absl::flat_hash_map<int, std::vector<int>> copy_readers_;
  std::vector<Cluster> clusters_;
  MergeGraph graph_;
};

}  // namespace ridge

#endif  // RIDGE_FUSION_CLUSTERS_H_
