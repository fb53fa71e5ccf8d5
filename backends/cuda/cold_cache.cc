#include "backends/cuda/cold_cache.h"

#include <algorithm>
#include <utility>

#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// Touching this many times the cache leaves nothing else there.
constexpr int64_t kFactor = 4;
constexpr unsigned kBlocks = 512;
constexpr unsigned kThreads = 256;

// Reads `vectors` times 16 bytes.
constexpr char kPtx[] = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .entry rdg_read(.param .u64 from, .param .u64 vectors)
{
  .reg .b64 %from, %vectors, %at, %step, %address;
  .reg .b32 %block, %blocks, %thread, %threads, %first, %all, %v<4>;
  .reg .pred %done;
  ld.param.u64 %from, [from];
  ld.param.u64 %vectors, [vectors];
  cvta.to.global.u64 %from, %from;
  mov.u32 %block, %ctaid.x;
  mov.u32 %blocks, %nctaid.x;
  mov.u32 %thread, %tid.x;
  mov.u32 %threads, %ntid.x;
  mad.lo.u32 %first, %block, %threads, %thread;
  mul.lo.u32 %all, %blocks, %threads;
  cvt.u64.u32 %at, %first;
  cvt.u64.u32 %step, %all;
$next:
  setp.ge.u64 %done, %at, %vectors;
  @%done bra $end;
  shl.b64 %address, %at, 4;
  add.u64 %address, %from, %address;
  ld.volatile.global.v4.u32 {%v0, %v1, %v2, %v3}, [%address];
  add.u64 %at, %at, %step;
  bra $next;
$end:
  ret;
}
)";

}  // namespace

absl::StatusOr<ColdCache> ColdCache::Create(const Context& context) {
  const int64_t cache_bytes = context.facts().l2_bytes;
  RIDGE_ASSIGN_OR_RETURN(Module module, Module::Load(context, kPtx));
  RIDGE_ASSIGN_OR_RETURN(
      DeviceBuffer memory,
      DeviceBuffer::Allocate(context, kFactor * cache_bytes));
  ColdCache cache(std::move(module), std::move(memory), cache_bytes);
  RIDGE_ASSIGN_OR_RETURN(cache.read_, cache.module_.GetFunction("rdg_read"));
  return cache;
}

absl::Status ColdCache::Flush(int64_t written, const Stream& stream) {
  if (pattern_ == 0) {
    RIDGE_RETURN_IF_ERROR(Fill(stream, memory_.ptr(), memory_.size(), 0));
  }
  LaunchConfig config;
  config.grid.x = kBlocks;
  config.block.x = kThreads;
  KernelArgs args;
  args.Add<DevicePtr>(memory_.ptr()).Add<uint64_t>(memory_.size() / 16);
  RIDGE_RETURN_IF_ERROR(read_.Launch(config, args, stream));
  return Fill(stream, memory_.ptr(), std::min(written, cache_bytes_),
              ++pattern_);
}

}  // namespace ridge::cuda
