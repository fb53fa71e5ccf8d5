// RowPasses: from each thread's partial results to the row's.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/row_passes.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {

absl::Status RowPasses::Combine(const std::vector<Fold>& folds) {
  if (folds.empty()) return absl::OkStatus();
  for (const Fold& fold : folds) {
    if (fold.online) {
      RIDGE_RETURN_IF_ERROR(
          ShuffleFold(&w_, fold, std::min<int64_t>(32, g_.row_threads)));
      continue;
    }
    w_.Line("#pragma unroll");
    w_.Open(absl::StrCat("for (int h = ", g_.vector, " / 2; h > 0; h /= 2) {"));
    w_.Line("#pragma unroll");
    w_.Open("for (int j = 0; j < h; ++j) {");
    RIDGE_ASSIGN_OR_RETURN(std::string lanes,
                           w_.CombineStatement(fold.nodes, Each(fold, "[j]"),
                                               Each(fold, "[j + h]")));
    w_.Line(lanes);
    w_.Close();
    w_.Close();
    // A vector length that is no power of two has lanes left over.
    for (int64_t done = NextPowerOfTwo(g_.vector + 1) / 2; done < g_.vector;
         ++done) {
      RIDGE_ASSIGN_OR_RETURN(
          std::string rest,
          w_.CombineStatement(fold.nodes, Each(fold, "[0]"),
                              Each(fold, absl::StrCat("[", done, "]"))));
      w_.Line(rest);
    }
    RIDGE_RETURN_IF_ERROR(
        ShuffleFold(&w_, fold, std::min<int64_t>(32, g_.row_threads)));
  }
  const int64_t warps = std::max<int64_t>(1, g_.row_threads / 32);
  if (g_.cluster > 1) {
    RIDGE_RETURN_IF_ERROR(AcrossBlocks(folds, warps));
  } else if (warps > 1) {
    RIDGE_RETURN_IF_ERROR(AcrossWarps(folds, warps));
  }
  return absl::OkStatus();
}

// Through shared memory; each pass has its own, so that one barrier is enough.
absl::Status RowPasses::AcrossWarps(const std::vector<Fold>& folds,
                                    int64_t warps) {
  for (const Fold& fold : folds) {
    for (size_t p = 0; p < fold.names.size(); ++p) {
      w_.Line(absl::StrCat("__shared__ ", fold.types[p], " w", fold.names[p],
                           "[", g_.block_rows, "][", warps, "];"));
    }
  }
  w_.Open("if (threadIdx.x % 32 == 0) {");
  std::string at =
      absl::StrCat("[threadIdx.x / ", g_.row_threads, "][lane / 32]");
  for (const Fold& fold : folds) {
    for (const std::string& n : fold.names) {
      w_.Line(absl::StrCat("w", n, at, " = ", n, "[0];"));
    }
  }
  w_.Close();
  w_.Line("__syncthreads();");
  for (const Fold& fold : folds) {
    for (const std::string& n : fold.names) {
      w_.Line(absl::StrCat(n, "[0] = w", n, "[threadIdx.x / ", g_.row_threads,
                           "][threadIdx.x % ", warps, "];"));
    }
    RIDGE_RETURN_IF_ERROR(ShuffleFold(&w_, fold, warps));
  }
  return absl::OkStatus();
}

// Each warp's results go to all blocks of the cluster, lane b writing to block
// b; after one barrier each warp folds the results of all.
absl::Status RowPasses::AcrossBlocks(const std::vector<Fold>& folds,
                                     int64_t warps) {
  const int64_t results = warps * g_.cluster;
  for (const Fold& fold : folds) {
    for (size_t p = 0; p < fold.names.size(); ++p) {
      w_.Line(absl::StrCat("__shared__ alignas(16) ", fold.types[p], " c",
                           fold.names[p], "[", results, "];"));
    }
  }
  // All blocks have started, or are done with their turn.
  if (meetings_ == 1 && (g_.stages == 0 || OneMeeting())) {
    w_.Line("rdg_cluster_wait();");
  }
  w_.Open(absl::StrCat("if (threadIdx.x % 32 < ", g_.cluster, ") {"));
  for (const Fold& fold : folds) {
    for (const std::string& n : fold.names) {
      w_.Line(absl::StrCat("rdg_cluster_write(&c", n, "[rank * ", warps,
                           " + threadIdx.x / 32], threadIdx.x % 32, ", n,
                           "[0]);"));
    }
  }
  w_.Close();
  w_.Line("rdg_cluster_arrive();");
  w_.Line("rdg_cluster_wait();");
  for (const Fold& fold : folds) {
    for (const std::string& n : fold.names) {
      w_.Line(absl::StrCat(n, "[0] = c", n, "[threadIdx.x % ",
                           std::min<int64_t>(32, results), "];"));
    }
    if (results > 32) {
      w_.Line("#pragma unroll");
      w_.Open(absl::StrCat("for (int b = 32; b < ", results, "; b += 32) {"));
      std::vector<std::string> others;
      for (const std::string& n : fold.names) {
        others.push_back(absl::StrCat("c", n, "[threadIdx.x % 32 + b]"));
      }
      RIDGE_ASSIGN_OR_RETURN(
          std::string line,
          w_.CombineStatement(fold.nodes, Each(fold, "[0]"), others));
      w_.Line(line);
      w_.Close();
    }
    RIDGE_RETURN_IF_ERROR(
        ShuffleFold(&w_, fold, std::min<int64_t>(32, results)));
  }
  return absl::OkStatus();
}

}  // namespace ridge::cuda
