// Reductions across the space as accumulators: what the row and the column
// schedules share, and the second stage of folds over strided variables, which
// combines the partial results of each share of the folded points in order and
// computes what hangs on them.
#ifndef RIDGE_BACKENDS_CUDA_EMIT_FOLDS_H_
#define RIDGE_BACKENDS_CUDA_EMIT_FOLDS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/cuda/emit/common.h"
#include "backends/kernel/schedules/column_reduce.h"

namespace ridge::cuda {

// One kReduce, with all of its results.
struct Fold {
  std::vector<NodeId> nodes;   // by result; -1: unused
  std::vector<NodeId> values;  // by part
  std::vector<NodeId> inits;
  std::vector<std::string> types;  // of the accumulators, by part
  std::vector<std::string> names;
  NodeId any = -1;
  int64_t number = 0;  // of its scratch memory
  // One operation with a neutral element: partial results start from that, and
  // the initial value counts once, at the end.
  bool simple = false;
  // A maximum and a sum relative to it (schedules/online.h): one pair a thread.
  bool online = false;
  // A maximum or minimum of this load's bf16 elements, taken in pairs before
  // they are converted (RowPasses); -1: none.
  NodeId pairs = -1;
};

// The fold that `reduce` is a result of; names are left to the caller.
Fold FoldAt(const BodyWriter& w, NodeId reduce);
// The folds over exactly the variables in `reduced`, named acc<fold>_<part>.
// Unimplemented where a partial result cannot be started.
absl::StatusOr<std::vector<Fold>> ColumnFolds(const Kernel& kernel,
                                              uint64_t reduced);

// The first value of part p's accumulator (the initial values are in scope of
// `w` where the fold is not simple).
std::string FoldStart(const BodyWriter& w, const Fold& fold, size_t p);
// The accumulators' names, each with the suffix.
std::vector<std::string> Each(const Fold& fold, absl::string_view suffix);
// Element 0 of each accumulator takes those of `width` lanes (a power of two).
absl::Status ShuffleFold(BodyWriter* w, const Fold& fold, int64_t width);
// Declares the fold's nodes: element 0 of each accumulator, complete.
absl::Status DefineResults(BodyWriter* w, const Fold& fold);

// Scratch memory: an array p<fold>_<part> of `shares` x `columns` each. As
// declared parameters, leading comma included; and their sizes.
std::string ScratchParameters(const std::vector<Fold>& folds,
                              absl::string_view qualifier);
std::vector<int64_t> ScratchBytes(const Kernel& kernel,
                                  const std::vector<Fold>& folds,
                                  int64_t shares, int64_t columns);

// The second kernel, <name>_finish: FinishThreads() threads fold one column's
// shares; then the stores.
struct FinishGeometry {
  uint64_t kept = 0;  // variables of a column
  int64_t columns = 1;
  int64_t shares = 1;
  int64_t least_threads = 1;  // that fold one column: a power of two
  int64_t Threads() const {
    return std::max(least_threads, FinishThreads(columns, shares));
  }
  int64_t Blocks() const;
};
// Its body. `block` is the text of the block's number among those of this part.
absl::Status EmitFinishPart(BodyWriter* w, const FinishGeometry& geometry,
                            const std::vector<Fold>& folds,
                            const std::vector<Store>& stores,
                            absl::string_view block);
absl::StatusOr<std::string> EmitFinish(const Kernel& kernel,
                                       const FinishGeometry& geometry,
                                       const std::vector<Fold>& folds,
                                       const std::vector<Store>& stores);
Launch FinishLaunch(const Kernel& kernel, const FinishGeometry& geometry);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_EMIT_FOLDS_H_
