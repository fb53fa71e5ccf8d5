// What a ParallelFor costs by itself: the basis for choosing a grain.

#include <cstdint>

#include "benchmark/benchmark.h"
#include "hlo/base/thread_pool.h"

namespace ridge {
namespace {

void BM_EmptyLoop(benchmark::State& state) {
  const int64_t chunks = state.range(0);
  for (auto _ : state) {
    ParallelFor(0, chunks, 1,
                [](int64_t b, int64_t) { benchmark::DoNotOptimize(b); });
  }
}
BENCHMARK(BM_EmptyLoop)->Arg(1)->Arg(2)->Arg(16)->Arg(1024)->UseRealTime();

}  // namespace
}  // namespace ridge
