// compare: predicted against measured time, group by group.
#include <gflags/gflags.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/runtime/backend.h"
#include "cost_model/device.h"
#include "cost_model/group_pricer.h"
#include "cost_model/roofline.h"
#include "cost_model/statistics.h"
#include "fusion/plan.h"
#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"
#include "hlo/base/table.h"
#include "tools/common/execute.h"
#include "tools/common/interrupt.h"
#include "tools/common/load.h"
#include "tools/common/main.h"
#include "tools/common/numerics_flag.h"
#include "tools/common/output.h"

DEFINE_string(backend, "cpu", "Where to measure: cpu or cuda.");
DEFINE_string(device, "",
              "What to price for; empty: cpu for --backend=cpu, h200 for "
              "--backend=cuda.");
DEFINE_string(strategy, "greedy", "How to plan: none or greedy.");
DEFINE_string(plan, "", "A plan file, for a single module.");
DEFINE_string(out, "", "Writes the rows as CSV here.");
DEFINE_uint64(seed, 0, "Seed of the random arguments.");
DEFINE_double(split_us, 5,
              "Errors of groups measured below this are summed up apart: there "
              "launches, not the model, decide.");

namespace ridge {
namespace {

struct Row {
  std::string module;
  std::string group;
  std::string pattern;
  int64_t members = 0;
  int64_t bytes = 0;
  double predicted_us = 0;
  double roofline_us = 0;
  double measured_us = 0;
  double spread = 0;
};

// The raw roofline's matrix rate, by the type that the group multiplies.
double Tflops(const Group& group, const DeviceDescription& device) {
  if (group.pattern == GroupPattern::kGemm &&
      Info(group.hero->operand(0)->shape().type()).bits == 16) {
    return device.matrix_bf16_tflops().value();
  }
  return device.matrix_f32_tflops().value();
}

absl::Status AddModule(const std::string& path, Backend* backend,
                       const DeviceDescription& device, std::vector<Row>* rows,
                       DeviceState* state) {
  RIDGE_ASSIGN_OR_RETURN(LoadedModule module, LoadModule(path));
  RIDGE_ASSIGN_OR_RETURN(
      Plan plan, LoadPlan(*module.canonical, {FLAGS_strategy, FLAGS_plan,
                                              &device, NumericsFromFlag()}));
  RIDGE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                         LoadArguments(*module.written, "", FLAGS_seed));
  ExecuteRequest request;
  request.module = &module;
  request.plan = &plan;
  request.backend = backend;
  request.arguments = arguments;
  request.compile.chains = false;  // predictions are of groups
  request.measure = MeasureOptions();
  request.measure->interrupted = InterruptScope::Flag();
  RIDGE_ASSIGN_OR_RETURN(ExecuteReport report, ExecutePlan(request));
  *state = report.measurement->state();
  for (const ComputationPlan& c : plan.computations) {
    for (const Group& g : c.groups) {
      RIDGE_ASSIGN_OR_RETURN(Price price, PriceGroup(g, device));
      for (const KernelMeasurement& k : report.measurement->kernels()) {
        if (k.name() != g.name || k.samples().us_size() == 0) continue;
        Row row;
        row.module = std::string(module.written->name());
        row.group = g.name;
        row.pattern = PatternName(g.pattern);
        row.members = static_cast<int64_t>(g.members.size());
        row.bytes = price.bytes_read + price.bytes_written;
        row.predicted_us = price.us;
        row.roofline_us =
            RawRooflineUs(row.bytes, static_cast<double>(price.flops),
                          Tflops(g, device), device);
        row.measured_us = k.samples().median_us();
        row.spread = k.samples().spread();
        rows->push_back(std::move(row));
      }
    }
  }
  return absl::OkStatus();
}

struct Summary {
  size_t groups = 0;
  double mape = 0;
  double tau = 0;
  double roofline_mape = 0;
  double roofline_tau = 0;
};

template <typename Fn>
Summary Summarise(const std::vector<Row>& rows, Fn&& keep) {
  std::vector<double> predicted;
  std::vector<double> roofline;
  std::vector<double> measured;
  for (const Row& r : rows) {
    if (!keep(r)) continue;
    predicted.push_back(r.predicted_us);
    roofline.push_back(r.roofline_us);
    measured.push_back(r.measured_us);
  }
  Summary s;
  s.groups = measured.size();
  s.mape = MeanAbsolutePercentageError(predicted, measured);
  s.tau = KendallTau(predicted, measured);
  s.roofline_mape = MeanAbsolutePercentageError(roofline, measured);
  s.roofline_tau = KendallTau(roofline, measured);
  return s;
}

double ErrorOf(const Row& r) {
  return r.measured_us > 0 ? r.predicted_us / r.measured_us - 1 : 0;
}

std::string Csv(const std::vector<Row>& rows) {
  std::string text =
      "module,group,pattern,members,bytes,predicted_us,roofline_us,"
      "measured_us,spread,error\n";
  for (const Row& r : rows) {
    absl::StrAppendFormat(&text, "%s,%s,%s,%d,%d,%.3f,%.3f,%.3f,%.4f,%.4f\n",
                          r.module, r.group, r.pattern, r.members, r.bytes,
                          r.predicted_us, r.roofline_us, r.measured_us,
                          r.spread, ErrorOf(r));
  }
  return text;
}

std::string ToTable(const std::vector<Row>& rows, const DeviceState& state) {
  Table table({{"module", Align::kLeft, 22},
               {"group", Align::kLeft, 26},
               {"bytes", Align::kRight, 9},
               {"predicted", Align::kRight, 10},
               {"roofline", Align::kRight, 10},
               {"measured", Align::kRight, 10},
               {"error", Align::kRight, 7}});
  for (const Row& r : rows) {
    table.AddRow({r.module, r.group, HumanBytes(r.bytes),
                  HumanMicros(r.predicted_us), HumanMicros(r.roofline_us),
                  HumanMicros(r.measured_us),
                  absl::StrFormat("%+.0f%%", 100 * ErrorOf(r))});
  }
  std::string text =
      absl::StrCat("measured on ", state.device(), " (", state.backend(),
                   ")\n\n", table.ToString(), "\n");
  auto add = [&](const char* what, const Summary& s) {
    if (s.groups == 0) return;
    absl::StrAppendFormat(&text,
                          "%-22s %3d groups: error %.1f%%, tau %.2f; raw "
                          "roofline: error %.1f%%, tau %.2f\n",
                          what, s.groups, 100 * s.mape, s.tau,
                          100 * s.roofline_mape, s.roofline_tau);
  };
  add("all", Summarise(rows, [](const Row&) { return true; }));
  add(absl::StrCat("from ", FLAGS_split_us, " us").c_str(),
      Summarise(rows,
                [](const Row& r) { return r.measured_us >= FLAGS_split_us; }));
  add(absl::StrCat("below ", FLAGS_split_us, " us").c_str(),
      Summarise(rows,
                [](const Row& r) { return r.measured_us < FLAGS_split_us; }));
  return text;
}

nlohmann::ordered_json ToJson(const std::vector<Row>& rows,
                              const DeviceState& state) {
  nlohmann::ordered_json json;
  json["device"] = state.device();
  json["backend"] = state.backend();
  Summary s = Summarise(rows, [](const Row&) { return true; });
  json["mape"] = s.mape;
  json["kendall_tau"] = s.tau;
  json["roofline_mape"] = s.roofline_mape;
  json["roofline_kendall_tau"] = s.roofline_tau;
  json["groups"] = nlohmann::ordered_json::array();
  for (const Row& r : rows) {
    nlohmann::ordered_json g;
    g["module"] = r.module;
    g["group"] = r.group;
    g["pattern"] = r.pattern;
    g["members"] = r.members;
    g["bytes"] = r.bytes;
    g["predicted_us"] = r.predicted_us;
    g["roofline_us"] = r.roofline_us;
    g["measured_us"] = r.measured_us;
    g["spread"] = r.spread;
    json["groups"].push_back(std::move(g));
  }
  return json;
}

absl::StatusOr<ToolOutcome> Run(const std::vector<std::string>& args) {
  RIDGE_RETURN_IF_ERROR(CheckWritable(FLAGS_out));
  if (!FLAGS_plan.empty() && args.size() > 1) {
    return absl::InvalidArgumentError(
        "--plan goes with one module; several were given");
  }
  RIDGE_ASSIGN_OR_RETURN(DeviceDescription device,
                         LoadDeviceFor(FLAGS_device, FLAGS_backend));
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                         MakeNamedBackend(FLAGS_backend));
  InterruptScope interrupt;
  std::vector<Row> rows;
  DeviceState state;
  for (const std::string& path : args) {
    RIDGE_RETURN_IF_ERROR(
        AddModule(path, backend.get(), device, &rows, &state));
    if (interrupt.Requested()) break;
  }
  if (!FLAGS_out.empty()) {
    RIDGE_RETURN_IF_ERROR(
        WriteFileAtomic(ResolveUserPath(FLAGS_out), Csv(rows)));
  }
  RIDGE_RETURN_IF_ERROR(
      WriteOutput("", OutputFormatFromFlag() == OutputFormat::kJson
                          ? JsonText(ToJson(rows, state))
                          : ToTable(rows, state)));
  return ToolOutcome::kDone;
}

}  // namespace
}  // namespace ridge

int main(int argc, char** argv) {
  ridge::ToolInfo info;
  info.name = "compare";
  info.summary =
      "Measures every group of a plan and compares with the prediction: error "
      "per group, mean absolute percentage error, Kendall's tau, and the raw "
      "roofline beside them.";
  info.arguments = "MODULE.hlo...";
  info.examples = {
      "compare tests/hlo/*.hlo --out=compare.csv",
      "compare model.hlo --backend=cuda --device=h200 --format=json",
  };
  info.source_file = __FILE__;
  info.min_args = 1;
  return ridge::RunTool(argc, argv, info, ridge::Run);
}
