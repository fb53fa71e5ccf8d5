// autotune: searches for a better plan on the device at hand.
#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "autotune/database.h"
#include "autotune/tuner.h"
#include "backends/runtime/backend.h"
#include "cost_model/device.h"
#include "fusion/plan_io.h"
#include "fusion/validate.h"
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
DEFINE_string(budget, "30s", "How long to search: 30s, 5m, 1h.");
DEFINE_string(out, "plans.textproto", "Where the ranked plans are written.");
DEFINE_string(db, "",
              "The tuning database; results in it are not measured again. "
              "Empty: nothing is kept.");
DEFINE_uint64(seed, 0, "Seed of the random arguments.");

namespace ridge {
namespace {

PlanListProto ToProto(const Module& module, const DeviceState& state,
                      const TuneResult& result) {
  PlanListProto list;
  list.set_module(std::string(module.name()));
  list.set_module_fingerprint(FingerprintModule(module));
  list.set_device(state.device());
  list.set_backend(state.backend());
  for (const Candidate& c : result.candidates) {
    RankedPlanProto* p = list.add_plans();
    p->set_rank(c.rank);
    *p->mutable_plan() = PlanToProto(module, c.plan);
    p->set_predicted_us(c.predicted_us);
    p->set_measured_us(c.measured_us);
    p->set_spread(c.spread);
    p->set_failure(c.failure);
  }
  return list;
}

size_t Groups(const Plan& plan) {
  size_t n = 0;
  for (const ComputationPlan& c : plan.computations) n += c.groups.size();
  return n;
}

std::string ToTable(const TuneResult& result, const DeviceState& state) {
  Table table({{"rank", Align::kRight, 4},
               {"kernels", Align::kRight, 7},
               {"predicted", Align::kRight, 11},
               {"measured", Align::kRight, 11},
               {"spread", Align::kRight, 7},
               {"plan", Align::kLeft, 36}});
  for (const Candidate& c : result.candidates) {
    if (c.measured_us == 0 && c.failure.empty()) continue;
    table.AddRow({absl::StrCat(c.rank), absl::StrCat(Groups(c.plan)),
                  HumanMicros(c.predicted_us),
                  c.measured_us > 0 ? HumanMicros(c.measured_us) : "-",
                  absl::StrFormat("%.1f%%", 100 * c.spread),
                  c.failure.empty()
                      ? c.plan.note
                      : absl::StrCat(c.plan.note, ": ", c.failure)});
  }
  std::string text =
      absl::StrCat("tuned on ", state.device(), " (", state.backend(), ")\n\n",
                   table.ToString(), "\n");
  if (!result.candidates.empty() && result.default_us > 0 &&
      result.candidates[0].measured_us > 0) {
    absl::StrAppendFormat(
        &text, "best against greedy: %.2fx; %d plans priced%s\n",
        result.default_us / result.candidates[0].measured_us,
        result.candidates.size(),
        result.finished ? "; no change of the best one is left that helps"
                        : "; stopped before the search was over");
  }
  return text;
}

nlohmann::ordered_json ToJson(const TuneResult& result,
                              const DeviceState& state) {
  nlohmann::ordered_json json;
  json["device"] = state.device();
  json["backend"] = state.backend();
  json["default_us"] = result.default_us;
  json["finished"] = result.finished;
  json["plans"] = nlohmann::ordered_json::array();
  for (const Candidate& c : result.candidates) {
    nlohmann::ordered_json p;
    p["rank"] = c.rank;
    p["note"] = c.plan.note;
    p["kernels"] = Groups(c.plan);
    p["predicted_us"] = c.predicted_us;
    p["measured_us"] = c.measured_us;
    p["spread"] = c.spread;
    p["failure"] = c.failure;
    json["plans"].push_back(std::move(p));
  }
  return json;
}

absl::StatusOr<ToolOutcome> Run(const std::vector<std::string>& args) {
  RIDGE_RETURN_IF_ERROR(CheckWritable(FLAGS_out));
  absl::Duration budget;
  if (!absl::ParseDuration(FLAGS_budget, &budget) ||
      budget <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--budget=", FLAGS_budget, " is no duration (30s, 5m, 1h)"));
  }
  if (FLAGS_backend == "reference") {
    return absl::InvalidArgumentError(
        "--backend=reference runs no kernels to tune; there are cpu and cuda");
  }
  RIDGE_ASSIGN_OR_RETURN(DeviceDescription device,
                         LoadDeviceFor(FLAGS_device, FLAGS_backend));
  RIDGE_ASSIGN_OR_RETURN(LoadedModule module, LoadModule(args[0]));
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                         MakeNamedBackend(FLAGS_backend));
  RIDGE_ASSIGN_OR_RETURN(
      std::unique_ptr<TuningDatabase> database,
      TuningDatabase::Open(FLAGS_db.empty() ? "" : ResolveUserPath(FLAGS_db)));
  InterruptScope interrupt;
  TuneOptions options;
  options.budget_s = absl::ToDoubleSeconds(budget);
  options.seed = FLAGS_seed;
  options.numerics = NumericsFromFlag();
  options.interrupted = InterruptScope::Flag();
  options.progress = [](const std::string& line) {
    std::fprintf(stderr, "%s\n", line.c_str());
  };
  RIDGE_ASSIGN_OR_RETURN(TuneResult result,
                         Tune(*module.written, *module.canonical, backend.get(),
                              device, database.get(), options));
  if (InterruptScope::Flag()->load() &&
      std::none_of(result.candidates.begin(), result.candidates.end(),
                   [](const Candidate& c) { return c.measured_us > 0; })) {
    return absl::CancelledError("interrupted before anything was measured");
  }
  DeviceState state = backend->state();
  RIDGE_RETURN_IF_ERROR(WriteFileAtomic(
      ResolveUserPath(FLAGS_out),
      PlanListToText(ToProto(*module.canonical, state, result))));
  RIDGE_RETURN_IF_ERROR(
      WriteOutput("", OutputFormatFromFlag() == OutputFormat::kJson
                          ? JsonText(ToJson(result, state))
                          : ToTable(result, state)));
  return ToolOutcome::kDone;
}

}  // namespace
}  // namespace ridge

int main(int argc, char** argv) {
  ridge::ToolInfo info;
  info.name = "autotune";
  info.summary =
      "Proposes plans, prices all, measures the best few on the device, and "
      "writes them ranked. Ctrl-C stops early and keeps what was found; with "
      "--db a later run goes on from there.";
  info.arguments = "MODULE.hlo";
  info.examples = {
      "autotune tests/hlo/gelu_block.hlo --budget=30s --out=plans.textproto",
      "autotune model.hlo --backend=cuda --budget=5m --db=tuning.db",
      "fuse model.hlo --plan=plans.textproto --plan_number=2",
  };
  info.source_file = __FILE__;
  info.min_args = info.max_args = 1;
  return ridge::RunTool(argc, argv, info, ridge::Run);
}
