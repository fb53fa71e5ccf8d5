// How fast the evaluator is: a matrix product, elementwise work, reductions, a
// transformer encoder layer with its gradient, and, with $RIDGE_SHARED set,
// every module of its zoo and small sets.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "hlo/evaluator/error_bound.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/evaluator/inputs.h"
#include "hlo/text/parser.h"

namespace ridge {
namespace {

void RunModule(benchmark::State& state,
               absl::StatusOr<std::unique_ptr<Module>> module, bool bounds) {
  if (!module.ok()) {
    state.SkipWithError(std::string(module.status().message()).c_str());
    return;
  }
  absl::StatusOr<std::vector<Literal>> inputs = MakeInputs(**module);
  if (!inputs.ok()) {
    state.SkipWithError(std::string(inputs.status().message()).c_str());
    return;
  }
  for (auto _ : state) {
    absl::Status status = bounds
                              ? EvaluateWithBounds(**module, *inputs).status()
                              : Evaluate(**module, *inputs).status();
    if (!status.ok()) {
      state.SkipWithError(std::string(status.message()).c_str());
      return;
    }
  }
}

void Text(benchmark::State& state, const char* text) {
  RunModule(state, ParseModule(text), /*bounds=*/false);
}

constexpr char kDot[] = R"(ENTRY e {
  x = f32[1024,1024] parameter(0)
  y = f32[1024,1024] parameter(1)
  ROOT d = f32[1024,1024] dot(x, y), lhs_contracting_dims={1},
    rhs_contracting_dims={0} })";
constexpr char kBatchedDot[] = R"(ENTRY e {
  x = bf16[64,128,128] parameter(0)
  y = bf16[64,128,128] parameter(1)
  ROOT d = f32[64,128,128] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={2}, rhs_contracting_dims={2} })";
constexpr char kOddDot[] = R"(ENTRY e {
  x = f32[1021,1019] parameter(0)
  y = f32[1031,1021] parameter(1)
  ROOT d = f32[1019,1031] dot(x, y), lhs_contracting_dims={0},
    rhs_contracting_dims={1} })";
constexpr char kAdd[] = R"(ENTRY e {
  x = f32[4194304] parameter(0)
  y = f32[4194304] parameter(1)
  ROOT s = f32[4194304] add(x, y) })";
constexpr char kGelu[] = R"(ENTRY e {
  x = bf16[1048576] parameter(0)
  y = bf16[1048576] multiply(x, x)
  z = bf16[1048576] multiply(y, x)
  t = bf16[1048576] tanh(z)
  ROOT m = bf16[1048576] multiply(t, x) })";
constexpr char kSum[] = R"(
  add { a = f32[] parameter(0) b = f32[] parameter(1)
    ROOT s = f32[] add(a, b) }
  ENTRY e { x = f32[2048,2048] parameter(0)
    z = f32[] constant(0)
    r = f32[2048] reduce(x, z), dimensions={1}, to_apply=add
    c = f32[2048] reduce(x, z), dimensions={0}, to_apply=add
    ROOT t = (f32[2048], f32[2048]) tuple(r, c) })";
constexpr char kTranspose[] = R"(ENTRY e {
  x = f32[2048,2048] parameter(0)
  ROOT t = f32[2048,2048] transpose(x), dimensions={1,0} })";
constexpr char kSort[] = R"(
  lt { a = f32[] parameter(0) b = f32[] parameter(1)
    ROOT l = pred[] compare(a, b), direction=LT }
  ENTRY e { x = f32[1048576] parameter(0)
    ROOT s = f32[1048576] sort(x), dimensions={0}, to_apply=lt })";

BENCHMARK_CAPTURE(Text, dot_1024_f32, kDot)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(Text, batched_dot_64x128_bf16, kBatchedDot)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(Text, odd_dot_1021_f32, kOddDot)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(Text, add_4M_f32, kAdd)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(Text, tanh_chain_1M_bf16, kGelu)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(Text, row_and_column_sums_2048_f32, kSum)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(Text, transpose_2048_f32, kTranspose)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(Text, sort_1M_f32, kSort)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void File(benchmark::State& state, const char* path) {
  RunModule(state, ReadModule(path), /*bounds=*/false);
}
BENCHMARK_CAPTURE(File, encoder_value_and_grad,
                  "hlo/evaluator/testdata/encoder_value_and_grad.hlo")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// One benchmark a shared module, plain and with error bounds.
const bool kRegistered = [] {
  const char* shared = std::getenv("RIDGE_SHARED");
  if (shared == nullptr) return false;
  for (const char* set : {"zoo", "small"}) {
    std::error_code error;
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(
             absl::StrCat(shared, "/hlo/", set), error)) {
      if (entry.path().extension() == ".hlo") {
        paths.push_back(entry.path().string());
      }
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      for (bool bounds : {false, true}) {
        benchmark::RegisterBenchmark(
            absl::StrCat(bounds ? "bounds/" : "evaluate/", set, "/",
                         std::filesystem::path(path).stem().string())
                .c_str(),
            [path, bounds](benchmark::State& state) {
              RunModule(state, ReadModule(path), bounds);
            })
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace ridge
