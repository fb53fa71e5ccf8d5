// What the compiler said of generated kernels, as JSON and for people.
#ifndef RIDGE_TOOLS_COMMON_BUILT_REPORT_H_
#define RIDGE_TOOLS_COMMON_BUILT_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/types/span.h"
#include "fusion/plan.h"

namespace ridge {

// {"code_bytes", "target", "compiler", "functions": [{"name", "threads",
//  "registers", "spill_store_bytes", "spill_load_bytes", "static_shared_bytes",
//  "dynamic_shared_bytes"}]}, and where it was compiled by this process
// "compile_s", "cached".
nlohmann::ordered_json BuiltJson(const BuiltKernel& built);

// A line a function; empty if there are none.
std::string BuiltTable(absl::Span<const BuiltKernel> built);

// What compiling took: kernels, those that were compiled now, seconds of these
// together (threads share them), and the slowest.
struct CompileTotals {
  int kernels = 0;
  int compiled = 0;
  double sum_s = 0;
  double slowest_s = 0;
  std::string slowest;
};
CompileTotals TotalsOf(absl::Span<const BuiltKernel> built);

}  // namespace ridge

#endif  // RIDGE_TOOLS_COMMON_BUILT_REPORT_H_
