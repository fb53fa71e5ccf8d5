#include "benchmark/benchmark.h"
#include "tools/bazel/selftest/greet.h"

namespace ridge::selftest {
namespace {

void BM_Greet(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(GreetingText(MakeGreeting("Ridge")));
  }
}
BENCHMARK(BM_Greet);

}  // namespace
}  // namespace ridge::selftest
