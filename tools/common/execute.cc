#include "tools/common/execute.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/runtime/arguments.h"
#include "backends/runtime/physical.h"
#include "backends/runtime/sampler.h"
#include "hlo/base/status_macros.h"
#include "hlo/base/table.h"
#include "hlo/evaluator/error_bound.h"
#include "tools/common/built_report.h"

namespace ridge {
namespace {

// How much of its tolerance the element uses that uses most.
std::string OfBound(const OutputComparison& c) {
  if (c.differ == 0) return "0%";
  const double gap = std::abs(c.got - c.expected);
  if (c.tolerance == 0 || !std::isfinite(gap)) return c.ok ? "0%" : "beyond";
  const double used = gap / c.tolerance;
  return used < 10 ? absl::StrFormat("%.0f%%", 100 * used)
                   : absl::StrFormat("%.3gx", used);
}

// Doubles every finite bound of a tree of tolerances.
void Double(Tolerances* tolerances) {
  for (Tolerance& t : tolerances->outputs) {
    t.absolute *= 2;
    t.relative *= 2;
    if (!t.bound.shape().IsArray()) continue;
    for (double& b : t.bound.mutable_data<double>()) b *= 2;
  }
}

nlohmann::json Number(double value) {
  return std::isfinite(value) ? nlohmann::json(value)
                              : nlohmann::json(absl::StrCat(value));
}

std::vector<Literal> Leaves(const ExecuteReport& report) {
  return FlattenLiterals({report.result});
}

nlohmann::json FirstResultJson(const ExecuteReport& report) {
  const FirstResult& f = *report.first_result;
  const CompileTotals totals = TotalsOf(BuiltKernelsOf(report.steps));
  return {{"total_s", f.Total()},
          {"open_s", f.open_s},
          {"parse_s", f.parse_s},
          {"plan_s", f.plan_s},
          {"compile_s", f.compile_s},
          {"first_run_s", f.first_run_s},
          {"kernels_compiled", totals.compiled},
          {"kernels_compile_s", totals.sum_s},
          {"slowest_kernel", totals.slowest},
          {"slowest_kernel_s", totals.slowest_s}};
}

std::string FirstResultText(const ExecuteReport& report) {
  const FirstResult& f = *report.first_result;
  const CompileTotals totals = TotalsOf(BuiltKernelsOf(report.steps));
  std::string text = absl::StrFormat(
      "file to first result: %.3f s (parse %.3f, plan %.3f, compile %.3f, "
      "first run %.3f; opening the back end took %.3f)\n",
      f.Total(), f.parse_s, f.plan_s, f.compile_s, f.first_run_s, f.open_s);
  if (totals.compiled > 0) {
    absl::StrAppendFormat(
        &text,
        "%d of %d kernels compiled, %.3f s in all, slowest %.3f s (%s)\n",
        totals.compiled, totals.kernels, totals.sum_s, totals.slowest_s,
        totals.slowest);
  }
  return text;
}

}  // namespace

absl::StatusOr<Comparison> CompareWithExpected(
    const Module& module, absl::Span<const Literal> arguments,
    const Literal& got, const Literal& expected) {
  BoundOptions options;
  // Others may round every partial sum of a bf16 or f16 reduction to the type.
  options.narrow_sums_in_f32 = false;
  absl::StatusOr<BoundedValue> bounded =
      EvaluateWithBounds(module, arguments, options);
  if (!bounded.ok()) {
    if (absl::IsResourceExhausted(bounded.status())) {
      return CompareOutputs(module, got, expected);
    }
    return bounded.status();
  }
  Tolerances tolerances = TolerancesOf(*bounded);
  Double(&tolerances);
  return CompareWith(tolerances, got, expected);
}

absl::StatusOr<ExecuteReport> ExecutePlan(const ExecuteRequest& request) {
  const Module& module = *request.module->canonical;
  ExecuteReport report;
  report.backend = std::string(request.backend->name());
  report.plan_strategy = request.plan->strategy;
  const double start_us = NowMicros();
  RIDGE_ASSIGN_OR_RETURN(
      std::unique_ptr<Executable> executable,
      request.backend->Compile(module, *request.plan, request.compile));
  const double compiled_us = NowMicros();
  report.steps = executable->steps();
  std::vector<Literal> arguments = FlattenLiterals(request.arguments);
  const double run_us = NowMicros();
  RIDGE_ASSIGN_OR_RETURN(std::vector<Literal> outputs,
                         executable->Run(arguments));
  if (request.before.has_value()) {
    report.first_result = request.before;
    report.first_result->compile_s = (compiled_us - start_us) / 1e6;
    report.first_result->first_run_s =
        executable->first_run_us().value_or(NowMicros() - run_us) / 1e6;
  }
  size_t next = 0;
  const Module& written = *request.module->written;
  report.result =
      UnflattenLiteral(written.entry()->root()->shape(), outputs, &next);
  if (request.expected.has_value()) {
    RIDGE_ASSIGN_OR_RETURN(
        report.comparison,
        CompareWithExpected(written, request.arguments, report.result,
                            *request.expected));
  } else if (request.check) {
    absl::StatusOr<Comparison> compared =
        CompareWithEvaluator(written, request.arguments, report.result);
    if (absl::IsResourceExhausted(compared.status())) {
      // Too large for bounds: the evaluator's result, and the coarser
      // tolerance of the graph.
      RIDGE_ASSIGN_OR_RETURN(Literal expected,
                             Evaluate(written, request.arguments));
      compared = CompareOutputs(written, report.result, expected);
    }
    RIDGE_RETURN_IF_ERROR(compared.status());
    report.comparison = *std::move(compared);
  }
  if (request.measure.has_value()) {
    RIDGE_ASSIGN_OR_RETURN(report.measurement,
                           executable->Measure(arguments, *request.measure));
  }
  return report;
}

absl::StatusOr<ExecuteReport> EvaluateModule(const ExecuteRequest& request,
                                             const EvalOptions& options) {
  const Module& module = *request.module->written;
  ExecuteReport report;
  report.backend = std::string(request.backend->name());
  report.plan_strategy = "none";
  RIDGE_ASSIGN_OR_RETURN(report.result,
                         Evaluate(module, request.arguments, options));
  if (!request.check && !request.expected.has_value()) return report;
  const bool wide = options.precision == EvalPrecision::kF64;
  Literal other = report.result;
  if (request.expected.has_value()) {
    other = *request.expected;
  } else if (wide) {
    EvalOptions typed = options;
    typed.precision = EvalPrecision::kAsTyped;
    RIDGE_ASSIGN_OR_RETURN(other, Evaluate(module, request.arguments, typed));
  }
  RIDGE_ASSIGN_OR_RETURN(report.comparison,
                         wide ? CompareWithExpected(module, request.arguments,
                                                    other, report.result)
                              : CompareWithExpected(module, request.arguments,
                                                    report.result, other));
  return report;
}

nlohmann::json ReportJson(const ExecuteReport& report) {
  nlohmann::json json;
  json["backend"] = report.backend;
  json["strategy"] = report.plan_strategy;
  json["kernels"] = nlohmann::json::array();
  if (report.measurement.has_value()) {
    const Measurement& m = *report.measurement;
    json["device"] = m.state().device();
    json["total_us"] = m.total().median_us();
    json["spread"] = m.total().spread();
    json["samples"] = m.total().us_size();
    json["cold_cache"] = m.total().cold_cache();
    json["other_load_seen"] = m.state().other_load_seen();
    for (const KernelMeasurement& k : m.kernels()) {
      json["kernels"].push_back({{"name", k.name()},
                                 {"us", k.samples().median_us()},
                                 {"schedule", k.schedule()}});
    }
  } else {
    for (const CompiledStep& s : report.steps) {
      json["kernels"].push_back({{"name", s.name}, {"schedule", s.schedule}});
    }
  }
  for (size_t k = 0; k < json["kernels"].size() && k < report.steps.size();
       ++k) {
    nlohmann::json& kernel = json["kernels"][k];
    kernel["fallback"] = report.steps[k].is_fallback;
    if (report.steps[k].built.functions.empty()) continue;
    kernel.update(nlohmann::json(BuiltJson(report.steps[k].built)));
  }
  if (report.first_result.has_value()) {
    json["first_result"] = FirstResultJson(report);
  }
  json["outputs"] = nlohmann::json::array();
  std::vector<Literal> leaves = Leaves(report);
  for (size_t k = 0; k < leaves.size(); ++k) {
    nlohmann::json output = {{"name", absl::StrCat("out.", k)},
                             {"shape", leaves[k].shape().ToString()}};
    if (report.comparison.has_value()) {
      const OutputComparison& c = report.comparison->outputs[k];
      output["max_abs"] = Number(c.max_abs);
      output["max_rel"] = Number(c.max_rel);
      output["max_ulp"] = c.max_ulp;
      output["tolerance"] = Number(c.tolerance);
      output["ok"] = c.ok;
      output["unbounded"] = c.unbounded;
    }
    json["outputs"].push_back(std::move(output));
  }
  return json;
}

std::string ReportTable(const ExecuteReport& report, bool worst) {
  std::string text;
  if (report.measurement.has_value()) {
    const Measurement& m = *report.measurement;
    Table table({{"kernel", Align::kLeft, 40},
                 {"time", Align::kRight},
                 {"spread", Align::kRight},
                 {"schedule", Align::kLeft, 48}});
    for (int k = 0; k < m.kernels_size(); ++k) {
      const KernelMeasurement& kernel = m.kernels(k);
      bool fallback = k < static_cast<int>(report.steps.size()) &&
                      report.steps[k].is_fallback;
      table.AddRow({kernel.name(), HumanMicros(kernel.samples().median_us()),
                    absl::StrFormat("%.0f%%", 100 * kernel.samples().spread()),
                    absl::StrCat(kernel.schedule(),
                                 fallback ? " (no fast kernel)" : "")});
    }
    table.AddRule();
    table.AddRow(
        {"total", HumanMicros(m.total().median_us()),
         absl::StrFormat("%.0f%%", 100 * m.total().spread()),
         absl::StrCat(m.total().us_size(), " samples, ",
                      m.total().cold_cache() ? "cold" : "warm", " caches")});
    text = absl::StrCat(report.backend, " (", m.state().device(), "), plan ",
                        report.plan_strategy, "\n", table.ToString());
    if (m.state().other_load_seen()) {
      absl::StrAppend(&text,
                      "note: other work ran on this machine meanwhile\n");
    }
  }
  if (report.first_result.has_value()) {
    absl::StrAppend(&text, FirstResultText(report));
  }
  Table outputs({{"output", Align::kLeft},
                 {"shape", Align::kLeft, 40},
                 {"max abs", Align::kRight},
                 {"max rel", Align::kRight},
                 {"max ulp", Align::kRight},
                 {"of bound", Align::kRight},
                 {"", Align::kLeft}});
  std::vector<Literal> leaves = Leaves(report);
  for (size_t k = 0; k < leaves.size(); ++k) {
    std::vector<std::string> row = {absl::StrCat("out.", k),
                                    leaves[k].shape().ToString()};
    if (report.comparison.has_value()) {
      const OutputComparison& c = report.comparison->outputs[k];
      row.push_back(absl::StrFormat("%.3g", c.max_abs));
      row.push_back(absl::StrFormat("%.3g", c.max_rel));
      row.push_back(absl::StrCat(c.max_ulp));
      row.push_back(OfBound(c));
      row.push_back(absl::StrCat(
          c.ok ? "ok" : "WRONG",
          c.unbounded > 0 ? absl::StrCat(", ", c.unbounded, " without bound")
                          : ""));
    }
    outputs.AddRow(std::move(row));
  }
  absl::StrAppend(&text, text.empty() ? "" : "\n", outputs.ToString());
  if (report.comparison.has_value() && (worst || !report.comparison->ok)) {
    absl::StrAppend(&text, "\n", report.comparison->ToString());
    if (text.back() != '\n') text += '\n';
  }
  return text;
}

}  // namespace ridge
