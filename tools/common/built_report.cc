#include "tools/common/built_report.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/base/table.h"

namespace ridge {
namespace {

// Known only to the process that compiled.
bool WasTimed(const BuiltKernel& built) {
  return built.compile_ms > 0 || built.from_cache;
}

std::string CompileText(const BuiltKernel& built) {
  if (!WasTimed(built)) return "";
  return built.from_cache ? "cached"
                          : absl::StrFormat("%.0f ms", built.compile_ms);
}

}  // namespace

nlohmann::ordered_json BuiltJson(const BuiltKernel& built) {
  nlohmann::ordered_json json;
  json["target"] = built.target;
  json["compiler"] = built.compiler;
  json["code_bytes"] = built.code_bytes;
  if (WasTimed(built)) {
    json["compile_s"] = built.compile_ms / 1e3;
    json["cached"] = built.from_cache;
  }
  json["functions"] = nlohmann::ordered_json::array();
  for (const BuiltFunction& f : built.functions) {
    json["functions"].push_back(
        {{"name", f.name},
         {"threads", f.threads},
         {"registers", f.registers},
         {"spill_store_bytes", f.spill_store_bytes},
         {"spill_load_bytes", f.spill_load_bytes},
         {"static_shared_bytes", f.static_shared_bytes},
         {"dynamic_shared_bytes", f.dynamic_shared_bytes}});
  }
  return json;
}

std::string BuiltTable(absl::Span<const BuiltKernel> built) {
  if (built.empty()) return "";
  Table table({{"compiled function", Align::kLeft, 40},
               {"threads", Align::kRight, 7},
               {"registers", Align::kRight, 9},
               {"spilled", Align::kRight, 9},
               {"shared", Align::kRight, 10},
               {"code", Align::kRight, 10},
               {"compiled in", Align::kRight, 11}});
  for (const BuiltKernel& b : built) {
    for (size_t k = 0; k < b.functions.size(); ++k) {
      const BuiltFunction& f = b.functions[k];
      table.AddRow({f.name, absl::StrCat(f.threads), absl::StrCat(f.registers),
                    HumanBytes(f.spill_store_bytes),
                    HumanBytes(f.static_shared_bytes + f.dynamic_shared_bytes),
                    k == 0 ? HumanBytes(b.code_bytes) : "",
                    k == 0 ? CompileText(b) : ""});
    }
  }
  return absl::StrCat("\nfor ", built[0].target, ", by ", built[0].compiler,
                      "\n", table.ToString());
}

CompileTotals TotalsOf(absl::Span<const BuiltKernel> built) {
  CompileTotals totals;
  for (const BuiltKernel& b : built) {
    ++totals.kernels;
    if (b.from_cache) continue;
    ++totals.compiled;
    const double s = b.compile_ms / 1e3;
    totals.sum_s += s;
    if (s <= totals.slowest_s) continue;
    totals.slowest_s = s;
    totals.slowest = b.kernel;
  }
  return totals;
}

}  // namespace ridge
