// The RowReduce schedule: rows of contiguous elements, several reductions and
// maps over them, one read of each input. See row_passes.h.
#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/row_passes.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

constexpr char kClusterHelpers[] = R"cuda(
RDG_FN unsigned rdg_cluster_rank() {
  unsigned r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
RDG_FN void rdg_cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// The word at `p` of this block's shared memory, in block `rank`'s.
RDG_FN unsigned rdg_cluster_word(const unsigned* p, unsigned rank) {
  unsigned near = (unsigned)__cvta_generic_to_shared(p), far, v;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(far) : "r"(near), "r"(rank));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(far));
  return v;
}
template <typename T>
RDG_FN T rdg_cluster_read(const T* p, unsigned rank) {
  static_assert(sizeof(T) % 4 == 0, "whole words");
  unsigned words[sizeof(T) / 4];
#pragma unroll
  for (int i = 0; i < (int)(sizeof(T) / 4); ++i) {
    words[i] = rdg_cluster_word((const unsigned*)p + i, rank);
  }
  T value;
  memcpy(&value, words, sizeof(T));
  return value;
}
)cuda";

// Blocks of a cluster that share a multiprocessor: one loads while the other
// waits for its cluster.
constexpr int kBlocksBesideEachOther = 2;

void EmitHead(const RowGeometry& g, BodyWriter* w) {
  const std::string& index = w->index_type();
  w->Line(absl::StrCat("const int lane = threadIdx.x % ", g.row_threads, ";"));
  std::string x = "lane";
  std::string block = absl::StrCat("(", index, ")blockIdx.x");
  if (g.cluster > 1) {
    w->Line("const int rank = (int)rdg_cluster_rank();");
    x = absl::StrCat("lane + rank * ", g.row_threads);
    block = absl::StrCat("(", index, ")(blockIdx.x / ", g.cluster, ")");
  }
  w->Line(absl::StrCat("const ", index, " x = ", x, ";"));
  std::string row = g.block_rows == 1
                        ? block
                        : absl::StrCat(block, " * ", g.block_rows,
                                       " + threadIdx.x / ", g.row_threads);
  if (g.rows % g.block_rows == 0) {
    w->Line(absl::StrCat("const ", index, " r = ", row, ";"));
  } else {
    // Threads past the last row repeat it and store nothing.
    w->Line(absl::StrCat("const ", index, " row = ", row, ";"));
    w->Line(absl::StrCat("const bool in_range = row < ", g.rows, ";"));
    w->Line(absl::StrCat("const ", index, " r = in_range ? row : ", g.rows - 1,
                         ";"));
  }
  w->Line("__builtin_assume(r >= 0);");
  w->Line("__builtin_assume(x >= 0);");
}

}  // namespace

absl::StatusOr<EmittedKernel> EmitRowReduce(const Kernel& kernel,
                                            const ScheduleChoice& choice,
                                            const DeviceLimits& device) {
  RIDGE_RETURN_IF_ERROR(RowReduceSchedule()->CanSchedule(kernel, device));
  const RowGeometry g = RowGeometryOf(kernel, choice, device);
  EmittedKernel emitted;
  emitted.choice = ChoiceOf(g);
  RowPasses passes(kernel, g, {});
  BodyWriter& w = passes.writer();
  EmitHead(g, &w);
  passes.DeclareHeld();
  passes.LoadHeld(/*ahead=*/false);
  RIDGE_RETURN_IF_ERROR(passes.EmitPasses());
  RIDGE_ASSIGN_OR_RETURN(std::string helpers, w.FunctionsText());
  std::string bounds = absl::StrCat(g.BlockThreads());
  std::string cluster;
  if (g.cluster > 1) {
    cluster = absl::StrCat("__cluster_dims__(", g.cluster, ", 1, 1) ");
    absl::StrAppend(&bounds, ", ", kBlocksBesideEachOther);
  }
  emitted.source = absl::StrCat(
      FilePrelude(), g.cluster > 1 ? kClusterHelpers : "", helpers,
      "\nextern \"C\" __global__ void ", cluster, "__launch_bounds__(", bounds,
      ") ", kernel.name, "(", w.ParameterText("__restrict__"), ") {\n",
      w.TakeText(), "}\n");
  Launch launch;
  launch.function = kernel.name;
  launch.grid = CeilDiv(g.rows, g.block_rows) * g.cluster;
  launch.block = static_cast<int>(g.BlockThreads());
  launch.cluster = static_cast<int>(g.cluster);
  emitted.launches.push_back(std::move(launch));
  return emitted;
}

}  // namespace ridge::cuda
