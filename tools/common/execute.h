// Runs a planned module on a back end, checks what came out, times it, and
// says so as a table or as JSON. Shared by `run` and `fuse --run`.
#ifndef RIDGE_TOOLS_COMMON_EXECUTE_H_
#define RIDGE_TOOLS_COMMON_EXECUTE_H_

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/runtime/backend.h"
#include "hlo/evaluator/compare.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/ir/literal.h"
#include "tools/common/load.h"

namespace ridge {

// The back ends that tools are linked with, by name: reference, cpu, cuda.
absl::StatusOr<std::unique_ptr<Backend>> MakeNamedBackend(
    absl::string_view name);

// What the way from the file to the first result took, in seconds. Opening the
// back end is apart: a process does it once.
struct FirstResult {
  double open_s = 0;
  double parse_s = 0;  // reading, verifying and canonicalizing the module
  double plan_s = 0;
  double compile_s = 0;    // buffers, kernels, library calls
  double first_run_s = 0;  // on a GPU without the copies of the host's data
  double Total() const { return parse_s + plan_s + compile_s + first_run_s; }
};

struct ExecuteRequest {
  const LoadedModule* module = nullptr;
  const Plan* plan = nullptr;
  Backend* backend = nullptr;
  CompileOptions compile;
  absl::Span<const Literal> arguments;  // one a parameter
  // Compare with the evaluator's result on the module as written, or with
  // `expected` where it is given.
  bool check = false;
  std::optional<Literal> expected;
  std::optional<MeasureOptions> measure;  // not given: not timed
  // What came before, if it is to be reported.
  std::optional<FirstResult> before;
};

struct ExecuteReport {
  std::string backend;
  std::string plan_strategy;
  Literal result;
  std::optional<Comparison> comparison;
  std::optional<Measurement> measurement;
  std::vector<CompiledStep> steps;
  std::optional<FirstResult> first_result;

  bool ok() const { return !comparison.has_value() || comparison->ok; }
};

absl::StatusOr<ExecuteReport> ExecutePlan(const ExecuteRequest& request);

// Evaluates the module as written, without a plan and without a clock. In
// double (EvalPrecision::kF64) the check is the other way round: how far the
// expected result, or the evaluator's own in the written types, is from it.
absl::StatusOr<ExecuteReport> EvaluateModule(const ExecuteRequest& request,
                                             const EvalOptions& options);

// Compares a result with one from elsewhere (XLA). Both may be off by the
// bounds of hlo/evaluator/error_bound.h, so the tolerance is twice those.
// Where the module is too large to be evaluated, the coarser tolerance of its
// graph.
absl::StatusOr<Comparison> CompareWithExpected(
    const Module& module, absl::Span<const Literal> arguments,
    const Literal& got, const Literal& expected);

// {"backend", "device", "strategy", "total_us", "spread", "cold_cache",
//  "kernels": [{"name", "us", "schedule", "fallback", and where a compiler told
//               what BuiltJson says}],
//  "first_result": {"total_s", "parse_s", "plan_s", "compile_s", "first_run_s",
//                   "open_s", "kernels_compiled", "kernels_compile_s",
//                   "slowest_kernel", "slowest_kernel_s"},
//  "outputs": [{"name", "shape", and where checked "max_abs", "max_rel",
//               "max_ulp", "tolerance", "ok"}]}
nlohmann::json ReportJson(const ExecuteReport& report);

// The same for people. `worst`: where each output is furthest off, too.
std::string ReportTable(const ExecuteReport& report, bool worst);

}  // namespace ridge

#endif  // RIDGE_TOOLS_COMMON_EXECUTE_H_
