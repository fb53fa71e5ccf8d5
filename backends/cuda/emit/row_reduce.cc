// The RowReduce schedule: rows of contiguous elements, several reductions and
// maps over them, one read of each input. See row_passes.h.
#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/row_passes.h"
#include "backends/kernel/schedules/online.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

constexpr char kClusterHelpers[] = R"cuda(
RDG_FN unsigned rdg_cluster_rank() {
  unsigned r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
RDG_FN void rdg_cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
RDG_FN void rdg_cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// Writes to what `p`, of this block's shared memory, is in block `rank`'s.
template <typename T>
RDG_FN void rdg_cluster_write(T* p, unsigned rank, const T& value) {
  static_assert(sizeof(T) % 4 == 0, "whole words");
  unsigned words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
  unsigned near = (unsigned)__cvta_generic_to_shared(p), far;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(far) : "r"(near), "r"(rank));
#pragma unroll
  for (int i = 0; i < (int)(sizeof(T) / 4); ++i) {
    asm volatile("st.shared::cluster.u32 [%0], %1;"
                 :: "r"(far + 4 * i), "r"(words[i]) : "memory");
  }
}
)cuda";

void EmitThread(const RowGeometry& g, BodyWriter* w) {
  w->Line(absl::StrCat("const int lane = threadIdx.x % ", g.row_threads, ";"));
  std::string x = "lane";
  if (g.cluster > 1) {
    w->Line("const int rank = (int)rdg_cluster_rank();");
    x = absl::StrCat("lane + rank * ", g.row_threads);
  }
  w->Line(absl::StrCat("const ", w->index_type(), " x = ", x, ";"));
  w->Line("__builtin_assume(x >= 0);");
}

}  // namespace

absl::StatusOr<EmittedKernel> EmitRowReduce(const Kernel& written,
                                            const ScheduleChoice& choice,
                                            const DeviceLimits& device) {
  RIDGE_RETURN_IF_ERROR(RowReduceSchedule()->CanSchedule(written, device));
  const RowGeometry g = RowGeometryOf(written, choice, device);
  std::optional<Kernel> online;
  if (g.online) online = Online(written);
  const Kernel& kernel = g.online ? *online : written;
  EmittedKernel emitted;
  emitted.choice = ChoiceOf(g);
  RowPasses passes(kernel, g, {});
  BodyWriter& w = passes.writer();
  EmitThread(g, &w);
  if (g.cluster > 1) w.Line("rdg_cluster_arrive();");
  // Clusters take turns in order.
  auto of_cluster = [&](absl::string_view blocks) {
    return g.cluster == 1 ? absl::StrCat("(", w.index_type(), ")", blocks)
                          : absl::StrCat("(", w.index_type(), ")(", blocks,
                                         " / ", g.cluster, ")");
  };
  Launch launch;
  if (g.stages > 0) {
    passes.DeclareRing();
    passes.OpenWalk(of_cluster("blockIdx.x"), of_cluster("gridDim.x"));
    passes.DeclareHeld();
    RIDGE_RETURN_IF_ERROR(passes.EmitPasses());
    passes.CloseWalk();
    launch.resident = true;
    launch.shared_bytes = passes.RingBytes();
  } else {
    passes.DeclareRow(of_cluster("blockIdx.x"));
    passes.DeclareHeld();
    passes.LoadHeld(/*ahead=*/false);
    RIDGE_RETURN_IF_ERROR(passes.EmitPasses());
  }
  RIDGE_ASSIGN_OR_RETURN(std::string helpers, w.FunctionsText());
  std::string bounds = absl::StrCat(g.BlockThreads());
  if (g.resident > 1) absl::StrAppend(&bounds, ", ", g.resident);
  std::string cluster;
  if (g.cluster > 1) {
    cluster = absl::StrCat("__cluster_dims__(", g.cluster, ", 1, 1) ");
  }
  emitted.source = absl::StrCat(
      FilePrelude(), g.cluster > 1 ? kClusterHelpers : "",
      g.stages > 0 ? kRingHelpers : "", g.online ? kOnlineHelpers : "", helpers,
      "\nextern \"C\" __global__ void ", cluster, "__launch_bounds__(", bounds,
      ") ", kernel.name, "(", w.ParameterText("__restrict__"), ") {\n",
      w.TakeText(), "}\n");
  launch.function = kernel.name;
  launch.grid = g.Turns() * g.cluster;
  launch.block = static_cast<int>(g.BlockThreads());
  launch.cluster = static_cast<int>(g.cluster);
  emitted.launches.push_back(std::move(launch));
  return emitted;
}

}  // namespace ridge::cuda
