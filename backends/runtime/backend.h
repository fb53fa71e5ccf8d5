// Back ends: what can run a planned module.
#ifndef RIDGE_BACKENDS_RUNTIME_BACKEND_H_
#define RIDGE_BACKENDS_RUNTIME_BACKEND_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/kernel/schedule.h"
#include "backends/runtime/measurement.pb.h"
#include "backends/runtime/program.h"
#include "hlo/ir/literal.h"

namespace ridge {

// How to time. Defaults are the protocol of every figure Ridge prints.
struct MeasureOptions {
  int warmup = 2;
  int min_repetitions = 5;
  int max_repetitions = 200;
  // Repeating stops once this much was timed, or much longer was waited for.
  double budget_us = 200e3;
  // Rotate among enough copies of the buffers, or flush, so that no repetition
  // finds its data in the last-level cache.
  bool cold_cache = true;
  bool per_kernel = true;  // time each step too, in a run of its own
  const std::atomic<bool>* interrupted = nullptr;  // checked between samples
};

struct CompileOptions {
  bool fast_math = false;       // allow approximations beyond HLO's rounding
  bool fma_contraction = true;  // a*b+c in one rounding within float types
  std::string dump_directory;   // generated sources are written here
  bool use_cache = true;
  // Small steps may share a launch, and are then timed as one.
  bool chains = true;
};

// One generated kernel or library call of an executable, for reports.
struct CompiledStep {
  std::string name;
  std::string schedule;      // with parameters, or the library's words
  std::string source;        // generated text; empty for library calls
  bool is_fallback = false;  // no fast schedule covered it
  bool is_chain = false;     // several steps of the plan in one launch
  Resources resources;       // as measured by the compiler where it told
  BuiltKernel built;         // in its own words; no functions: it told nothing
};

// What the compiler said of the steps that it told of; `of_plan`: of those that
// are the plan's, as a plan stores them.
inline std::vector<BuiltKernel> BuiltKernelsOf(
    absl::Span<const CompiledStep> steps, bool of_plan = false) {
  std::vector<BuiltKernel> built;
  for (const CompiledStep& s : steps) {
    if (s.built.functions.empty() || (of_plan && s.is_chain)) continue;
    built.push_back(s.built);
  }
  return built;
}

class Executable {
 public:
  virtual ~Executable() = default;
  // Arguments are flattened entry parameters (tuples by leaf), in row-major
  // literals whatever the layout. Outputs likewise: leaves of the root.
  // Output memory is poisoned (0xff bytes) first.
  virtual absl::StatusOr<std::vector<Literal>> Run(
      absl::Span<const Literal> arguments) = 0;
  // Times runs on the given arguments.
  virtual absl::StatusOr<Measurement> Measure(
      absl::Span<const Literal> arguments, const MeasureOptions& options) = 0;
  virtual const std::vector<CompiledStep>& steps() const = 0;
  // The first execution, its data in place; nothing before it, or where
  // nothing has to be put in place.
  virtual std::optional<double> first_run_us() const { return std::nullopt; }
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual absl::string_view name() const = 0;
  virtual DeviceLimits limits() const = 0;
  virtual DeviceState state() const = 0;
  // `module` and `plan` must outlive the executable.
  virtual absl::StatusOr<std::unique_ptr<Executable>> Compile(
      const Module& module, const Plan& plan,
      const CompileOptions& options) = 0;
};

// Each in its own folder; Unavailable says what is missing (no GPU, no
// compiler) and where it was looked for.
absl::StatusOr<std::unique_ptr<Backend>> MakeReferenceBackend();
absl::StatusOr<std::unique_ptr<Backend>> MakeCpuBackend();
absl::StatusOr<std::unique_ptr<Backend>> MakeCudaBackend();

}  // namespace ridge

#endif  // RIDGE_BACKENDS_RUNTIME_BACKEND_H_
