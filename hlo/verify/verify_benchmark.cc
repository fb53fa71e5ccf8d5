// Time of the verifier by size of the module. With RIDGE_SHARED set, also on
// the largest module of the corpus.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "hlo/text/parser.h"
#include "hlo/verify/verify.h"

namespace ridge {
namespace {

// A chain of elementwise operations, transposes, reductions and dots.
std::string Generated(int64_t instructions) {
  std::string text = R"(HloModule generated
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  zero = f32[] constant(0)
  x0 = f32[128,128]{1,0} parameter(0)
)";
  const int64_t steps = instructions / 6;
  for (int64_t k = 0; k < steps; ++k) {
    absl::StrAppend(&text, "  t", k, " = f32[128,128]{1,0} transpose(x", k,
                    "), dimensions={1,0}\n  d", k, " = f32[128,128]{1,0} dot(x",
                    k, ", t", k,
                    "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n");
    absl::StrAppend(&text, "  r", k, " = f32[128]{0} reduce(d", k,
                    ", zero), dimensions={1}, to_apply=add\n  b", k,
                    " = f32[128,128]{1,0} broadcast(r", k,
                    "), dimensions={0}\n");
    absl::StrAppend(&text, "  m", k, " = f32[128,128]{1,0} multiply(d", k,
                    ", b", k, ")\n  x", k + 1, " = f32[128,128]{1,0} add(m", k,
                    ", x", k, "), metadata={op_name=\"step\" source_line=", k,
                    "}\n");
  }
  absl::StrAppend(&text, "  ROOT out = f32[128,128]{1,0} copy(x", steps,
                  ")\n}\n");
  return text;
}

void Run(benchmark::State& state, const std::string& text) {
  const auto module = ParseModule(text);
  if (!module.ok()) {
    state.SkipWithError("the module does not parse");
    return;
  }
  size_t errors = 0;
  for (auto _ : state) {
    errors = Verify(**module).size();
    benchmark::DoNotOptimize(errors);
  }
  if (errors != 0) state.SkipWithError("the module is not valid");
  state.counters["instructions"] =
      static_cast<double>((*module)->instruction_count());
}

void BM_Generated(benchmark::State& state) {
  Run(state, Generated(state.range(0)));
}
BENCHMARK(BM_Generated)
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);

void BM_LargestOfCorpus(benchmark::State& state) {
  namespace fs = std::filesystem;
  const char* shared = std::getenv("RIDGE_SHARED");
  if (shared == nullptr) {
    state.SkipWithError("RIDGE_SHARED is not set");
    return;
  }
  fs::path largest;
  uintmax_t size = 0;
  for (const auto& entry :
       fs::directory_iterator(absl::StrCat(shared, "/hlo/corpus/modules"))) {
    if (entry.file_size() <= size) continue;
    size = entry.file_size();
    largest = entry.path();
  }
  std::ifstream in(largest, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  Run(state, text.str());
}
BENCHMARK(BM_LargestOfCorpus)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ridge
