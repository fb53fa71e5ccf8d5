// The passes over rows that RowReduce and RowColumn share.
//
// `row_threads` threads share a row (of `cluster` blocks where one block cannot
// hold it); a block takes `block_rows` rows at a time. Thread x of a row holds
// vectors x, x + threads, x + 2*threads ... of `vector` elements. All loads of
// the row are issued first and stay in registers (`cached`); then one pass over
// the held elements for each chain of reductions:
//
//   load every vector of every row input
//   pass 0: fold what needs no other fold; combine across the threads
//   pass 1: fold what needs pass 0's results ...
//   last:   store what needs them all
//
// Stores, and additions to column sums, happen in the first pass that has their
// value. A value that takes long to compute and is needed in a later pass
// again is kept, as far as registers go. Where a row is too long to hold, each
// pass reads it again.
//
// A sum of products with a factor of the row (schedules/scaled_sum.h) is folded
// a pass before the factor is known, which may save a pass;
// where the result is not finite, the threads fold it again as written
// (row_scaled.cc).
//
// With stages, blocks walk over the rows, and the inputs of the next turns are
// copied to a ring in shared memory meanwhile (row_ring.cc). A thread reads
// only what it copied itself, so that the ring needs no barriers; and where
// there is one stage only, each place is filled anew as soon as it was read for
// the last time.
#ifndef RIDGE_BACKENDS_CUDA_EMIT_ROW_PASSES_H_
#define RIDGE_BACKENDS_CUDA_EMIT_ROW_PASSES_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/cuda/emit/common.h"
#include "backends/cuda/emit/folds.h"
#include "backends/kernel/schedules/row_reduce.h"
#include "backends/kernel/schedules/scaled_sum.h"

namespace ridge::cuda {

// CUDA functions that a kernel with a ring, or with online folds, calls.
extern const char kRingHelpers[];
extern const char kOnlineHelpers[];

class RowPasses {
 public:
  // `columns`: folds over the rows, accumulated element by element in arrays
  // that the caller declares with DeclareColumns.
  RowPasses(const Kernel& kernel, const RowGeometry& geometry,
            std::vector<Fold> columns);

  BodyWriter& writer() { return w_; }

  // Arrays for the row's inputs and for kept values.
  void DeclareHeld();
  // The inputs of row `r` (a variable in scope) into the arrays, or into a
  // second set of them (`ahead`), which DeclareAhead declares and TakeAhead
  // moves over.
  void LoadHeld(bool ahead);
  void DeclareAhead();
  void TakeAhead();
  // The ring in dynamic shared memory, where the geometry has stages.
  void DeclareRing();
  // Opens the walk over a block's turns, from `first`, `step` apart; in it the
  // row and its inputs are there. Closes it.
  void OpenWalk(absl::string_view first, absl::string_view step);
  void CloseWalk();
  int64_t RingBytes() const;
  // Row `r` of the thread in the block's turn.
  void DeclareRow(absl::string_view turn);
  absl::Status DeclareColumns();
  // All passes, then the values of the row itself. Row variable `r` and thread
  // variable `x` are in scope; `in_range` too where rows may be missing.
  absl::Status EmitPasses();
  // Each thread's column sums to scratch memory, share blockIdx.x.
  void StoreColumns();
  // Passes after which threads wait for each other.
  int Meetings() const { return meetings_; }
  // The kernel's stores that hang on a fold over the rows: not done here.
  const std::vector<Store>& after_columns() const { return after_columns_; }

 private:
  // Emitter variables, in the order of NewVar.
  enum : int64_t { kRow = 0, kChunk = 1, kThread = 2, kLane = 3 };

  bool IsRowFold(NodeId n) const;
  // Threads of a row meet once a turn.
  bool OneMeeting() const { return last_pass_ == 1; }
  // The load whose bf16 pairs fold n is the maximum or minimum of; -1: none.
  NodeId PairsOf(NodeId n) const;
  // What fold n reads of each element.
  std::vector<NodeId> FoldReads(NodeId n) const;
  // Whether sums may be folded again: whoever shares a row's barriers decides
  // alike.
  bool MayFoldAgain() const;
  // A fold across the space, over the row or over the rows.
  bool IsFold(NodeId n) const;
  bool InLoop(NodeId n);
  void FindPasses();
  void Bind();
  void PickLoads();
  void PickKept();
  int StorePass(const Store& s) const;
  // What is stored as bf16, before the conversion: lanes are converted in
  // pairs. -1: something else is stored.
  NodeId Unpacked(const Store& s);
  int ColumnPass(const Fold& f) const;
  std::vector<NodeId> PassRoots(int pass);
  int64_t RecomputedOps(NodeId n);

  std::string RowGuard(absl::string_view before) const;
  std::string RingPlace(absl::string_view slot) const;
  std::string VectorType(NodeId load) const;
  int64_t RingBytes(NodeId load) const;  // its part, all stages
  void LoadRing(absl::string_view turn, absl::string_view slot);
  void CopyToRing(NodeId n, absl::string_view slot);
  // The next turn's vector to where this turn's was.
  void Refill(NodeId n);
  void FindLastReads();
  void LoadVector(NodeId n, absl::string_view target);
  void OpenChunks();
  void OpenInside();
  void CloseInside();
  absl::Status EmitEarlyLoads(int pass);
  absl::Status EmitShared(absl::Span<const NodeId> roots);
  std::vector<Fold> FoldsOf(int pass);
  absl::Status EmitPass(int pass);
  absl::Status DeclareFolds(const std::vector<Fold>& folds);
  // Results of the scaled sums whose factors are there in pass `pass`
  // (row_scaled.cc).
  absl::Status EmitScaled(int pass);
  absl::Status EmitAgain(const Fold& fold, int pass);
  // A fold's pairs, where it has such: one accumulator for two lanes; those of
  // a vector join it; at the end they are the lanes' (row_scaled.cc).
  bool IsMaximum(const Fold& fold) const;
  void DeclarePairs(const Fold& fold);
  void AddPairs(const Fold& fold);
  void TakePairs(const Fold& fold);
  absl::StatusOr<std::string> AddElement(
      const Fold& fold, const std::vector<std::string>& acc) const;
  absl::Status EmitElements(int pass, absl::Span<const NodeId> roots,
                            const std::vector<Fold>& folds);
  absl::Status EmitRowStores();

  // From one accumulator a lane and thread to the row's, element 0 of each
  // everywhere (row_combine.cc).
  absl::Status Combine(const std::vector<Fold>& folds);
  absl::Status AcrossWarps(const std::vector<Fold>& folds, int64_t warps);
  absl::Status AcrossBlocks(const std::vector<Fold>& folds, int64_t warps);

  const Kernel& kernel_;
  RowGeometry g_;
  std::vector<Fold> columns_;
  std::vector<Store> stores_;  // done here
  std::vector<Store> after_columns_;
  BodyWriter w_;
  uint64_t column_bit_;
  std::vector<int> pass_;  // row folds on the longest path; -1: after a column
  std::vector<int> load_depth_;  // loads on the longest path, itself included
  std::map<NodeId, ScaledSum> scaled_;
  bool again_ = false;  // a sum is folded again: nothing held is used
  int last_pass_ = 0;
  int meetings_ = 0;
  std::map<NodeId, IndexId> base_;
  std::set<NodeId> held_;
  std::set<NodeId> streamed_;
  std::set<NodeId> kept_;
  std::map<NodeId, int> kept_pass_;
  std::map<NodeId, int> last_read_;  // the last pass that needs a row input
};

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_EMIT_ROW_PASSES_H_
