// RowPasses: from each thread's partial results to the row's.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/row_passes.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {

absl::Status RowPasses::Combine(int pass, const std::vector<Fold>& folds) {
  if (folds.empty()) return absl::OkStatus();
  for (const Fold& fold : folds) {
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
  int64_t warps = g_.row_threads / 32;
  if (warps > 1) RIDGE_RETURN_IF_ERROR(AcrossWarps(folds, warps));
  if (g_.cluster > 1) RIDGE_RETURN_IF_ERROR(AcrossBlocks(pass, folds));
  for (const Fold& fold : folds) {
    RIDGE_RETURN_IF_ERROR(DefineResults(&w_, fold));
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

absl::Status RowPasses::AcrossBlocks(int pass, const std::vector<Fold>& folds) {
  for (const Fold& fold : folds) {
    for (size_t p = 0; p < fold.names.size(); ++p) {
      w_.Line(absl::StrCat("__shared__ alignas(16) ", fold.types[p], " c",
                           fold.names[p], "[", g_.block_rows, "];"));
    }
  }
  w_.Open("if (lane == 0) {");
  for (const Fold& fold : folds) {
    for (const std::string& n : fold.names) {
      w_.Line(absl::StrCat("c", n, "[threadIdx.x / ", g_.row_threads, "] = ", n,
                           "[0];"));
    }
  }
  w_.Close();
  w_.Line("rdg_cluster_sync();");
  for (const Fold& fold : folds) {
    auto read = [&](const std::string& n, absl::string_view rank) {
      return absl::StrCat("rdg_cluster_read(&c", n, "[threadIdx.x / ",
                          g_.row_threads, "], ", rank, ")");
    };
    for (const std::string& n : fold.names) {
      w_.Line(absl::StrCat(n, "[0] = ", read(n, "0"), ";"));
    }
    w_.Line("#pragma unroll");
    w_.Open(absl::StrCat("for (unsigned b = 1; b < ", g_.cluster, "; ++b) {"));
    std::vector<std::string> others;
    for (size_t p = 0; p < fold.names.size(); ++p) {
      w_.Line(absl::StrCat("const ", fold.types[p], " other", p, " = ",
                           read(fold.names[p], "b"), ";"));
      others.push_back(absl::StrCat("other", p));
    }
    RIDGE_ASSIGN_OR_RETURN(
        std::string line,
        w_.CombineStatement(fold.nodes, Each(fold, "[0]"), others));
    w_.Line(line);
    w_.Close();
  }
  // Nobody may leave while others still read its memory.
  bool last = true;
  for (NodeId n = 0; n < static_cast<NodeId>(kernel_.nodes.size()); ++n) {
    if (IsRowFold(n) && pass_[n] > pass + 1) last = false;
  }
  if (last) w_.Line("rdg_cluster_sync();");
  return absl::OkStatus();
}

}  // namespace ridge::cuda
