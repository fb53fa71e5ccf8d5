// Folds over strided variables, in two stages: partial results of each share of
// the folded points in scratch memory, then a second kernel that folds those in
// order and computes what hangs on them.
#ifndef RIDGE_BACKENDS_CUDA_EMIT_COLUMN_FOLDS_H_
#define RIDGE_BACKENDS_CUDA_EMIT_COLUMN_FOLDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/cuda/emit/common.h"
#include "backends/kernel/schedules/column_reduce.h"

namespace ridge::cuda {

// One kReduce, with all of its results.
struct ColumnFold {
  std::vector<NodeId> nodes;   // by result; -1: unused
  std::vector<NodeId> values;  // by part
  std::vector<NodeId> inits;
  NodeId any = -1;
  // One operation with a neutral element: partial results start from that, and
  // the initial value counts once, in the second stage.
  bool simple = false;
};

// The folds over exactly the variables in `reduced`. Unimplemented where a
// partial result cannot be started.
absl::StatusOr<std::vector<ColumnFold>> ColumnFolds(const Kernel& kernel,
                                                    uint64_t reduced);

// The type of part p's accumulator, and its first value (the initial values
// are in scope of `w` where the fold is not simple).
std::string FoldType(const Kernel& kernel, const ColumnFold& fold, size_t p);
std::string FoldStart(const BodyWriter& w, const ColumnFold& fold, size_t p);

// Scratch memory: an array p<fold>_<part> of `shares` x `columns` each. As
// declared parameters, leading comma included; and their sizes.
std::string ScratchParameters(const Kernel& kernel,
                              const std::vector<ColumnFold>& folds,
                              absl::string_view qualifier);
std::vector<int64_t> ScratchBytes(const Kernel& kernel,
                                  const std::vector<ColumnFold>& folds,
                                  int64_t shares, int64_t columns);

// The second kernel, <name>_finish: kFinishBlock threads a block, of which
// `finish_threads` fold one column's shares; then the stores.
inline constexpr int kFinishBlock = 256;
struct FinishGeometry {
  uint64_t kept = 0;  // variables of a column
  int64_t columns = 1;
  int64_t shares = 1;
  int64_t finish_threads = 1;
};
absl::StatusOr<std::string> EmitFinish(const Kernel& kernel,
                                       const FinishGeometry& geometry,
                                       const std::vector<ColumnFold>& folds,
                                       const std::vector<Store>& stores);
Launch FinishLaunch(const Kernel& kernel, const FinishGeometry& geometry);
// Threads that fold one column: more where there are few columns.
int64_t FinishThreads(int64_t columns, int64_t shares);

// Binds the variables in `mask` to the digits of `linear`, the last fastest.
void BindOver(BodyWriter* w, uint64_t mask, IndexId linear);

// acc[0] takes `width` lanes' results (a power of two).
absl::Status ShuffleFold(BodyWriter* w, const Kernel& kernel,
                         const ColumnFold& fold, size_t number, int64_t width);
// "acc<fold>_<part>" + suffix, by part.
std::vector<std::string> FoldNames(const ColumnFold& fold, size_t number,
                                   absl::string_view suffix);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_EMIT_COLUMN_FOLDS_H_
