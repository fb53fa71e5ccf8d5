// fuse: which instructions share a kernel, what that saves, and the result.
#include <gflags/gflags.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/cuda/emit/emit.h"
#include "backends/cuda/kernel_code.h"
#include "backends/kernel/gemm.h"
#include "backends/kernel/kernel.h"
#include "backends/kernel/sequential.h"
#include "backends/runtime/backend.h"
#include "cost_model/device.h"
#include "cost_model/fusion_report.h"
#include "fusion/export.h"
#include "fusion/plan_io.h"
#include "fusion/validate.h"
#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"
#include "hlo/base/table.h"
#include "hlo/passes/loop_analysis.h"
#include "hlo/text/printer.h"
#include "tools/common/built_report.h"
#include "tools/common/execute.h"
#include "tools/common/load.h"
#include "tools/common/main.h"
#include "tools/common/numerics_flag.h"
#include "tools/common/output.h"

DEFINE_string(device, "h200",
              "What to price for: h200, h100, a100, rtx4070, cpu, or the file "
              "of a device description.");
DEFINE_string(strategy, "greedy", "How to plan: none or greedy.");
DEFINE_string(plan, "", "A plan file to replay instead of the strategy's.");
DEFINE_int32(plan_number, 1,
             "Which plan of --plan's file, from 1: autotune writes the best "
             "first.");
DEFINE_string(
    out, "",
    "A folder for fused.hlo, plan.textproto, report.json and the "
    "kernels generated for the device (.cu, or .cc for a CPU) and for "
    "--run.");
DEFINE_bool(run, false,
            "Also executes the plan and checks it against the evaluator.");
DEFINE_string(backend, "cpu", "Where --run runs: reference, cpu or cuda.");
DEFINE_uint64(seed, 0, "Seed of the random arguments of --run.");
DEFINE_bool(compile, false,
            "Also compiles the generated kernels for the GPU that is priced "
            "(needs NVRTC, but no GPU): registers, spills and shared memory "
            "are shown, and stored with --out's plan.");
DEFINE_bool(terms, false, "Prints every term of each group's price.");

namespace ridge {
namespace {

// A while loop, whose body's groups the report counts once.
struct LoopReport {
  std::string name;
  int64_t rounds = -1;  // -1: not known before it runs
  // On a GPU the kernel of all rounds, or why there is none.
  absl::StatusOr<SequentialKernel> kernel =
      absl::UnimplementedError("loops in kernels are a GPU's");
};

std::vector<LoopReport> LoopsOf(const Module& canonical, bool is_gpu) {
  std::vector<LoopReport> loops;
  for (const Computation* c : PlannedComputations(canonical)) {
    for (const Instruction* i : c->instructions()) {
      if (i->opcode() != Opcode::kWhile) continue;
      LoopReport loop;
      loop.name = std::string(i->name());
      loop.rounds = TripCount(*i).value_or(-1);
      if (is_gpu) loop.kernel = BuildSequentialKernel(*i);
      loops.push_back(std::move(loop));
    }
  }
  return loops;
}

nlohmann::ordered_json ToJson(const std::vector<LoopReport>& loops) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const LoopReport& l : loops) {
    json.push_back({{"name", l.name},
                    {"rounds", l.rounds},
                    {"one_kernel", l.kernel.ok()},
                    {"why_not", std::string(l.kernel.status().message())}});
  }
  return json;
}

std::string ToTable(const std::vector<LoopReport>& loops) {
  if (loops.empty()) return "";
  Table table({{"loop", Align::kLeft, 34},
               {"rounds", Align::kRight, 10},
               {"", Align::kLeft, 60}});
  for (const LoopReport& l : loops) {
    table.AddRow({l.name, l.rounds < 0 ? "unknown" : absl::StrCat(l.rounds),
                  l.kernel.ok() ? "all of them in one kernel"
                                : absl::StrCat("step by step: ",
                                               l.kernel.status().message())});
  }
  return absl::StrCat("\nwhat a loop's body holds counts once above\n",
                      table.ToString());
}

nlohmann::ordered_json ToJson(const FusionReport& r) {
  nlohmann::ordered_json json;
  json["module"] = r.module;
  json["device"] = r.device;
  json["strategy"] = r.strategy;
  json["kernels_before"] = r.before.kernels.size();
  json["kernels_after"] = r.after.kernels.size();
  json["tensor_trips_before"] = r.before.tensor_trips;
  json["tensor_trips_after"] = r.after.tensor_trips;
  json["bytes_before"] = r.before.bytes;
  json["bytes_after"] = r.after.bytes;
  json["predicted_us_before"] = r.predicted_us_before;
  json["predicted_us_after"] = r.predicted_us_after;
  json["peak_bytes_before"] = r.peak_bytes_before;
  json["peak_bytes_after"] = r.peak_bytes_after;
  json["groups"] = nlohmann::ordered_json::array();
  for (const GroupReport& g : r.groups) {
    nlohmann::ordered_json group;
    group["name"] = g.name;
    group["kind"] = g.kind;
    group["pattern"] = g.pattern;
    group["hero"] = g.hero;
    group["members"] = g.members;
    group["bytes_read"] = g.bytes_read;
    group["bytes_written"] = g.bytes_written;
    group["flops"] = g.flops;
    group["predicted_us"] = g.predicted_us;
    group["bound"] = g.bound;
    nlohmann::ordered_json terms;
    for (const auto& [name, us] : g.terms_us) terms[name] = us;
    group["terms_us"] = terms;
    json["groups"].push_back(std::move(group));
  }
  return json;
}

nlohmann::ordered_json ToJson(const std::vector<BuiltKernel>& built) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const BuiltKernel& b : built) {
    nlohmann::ordered_json kernel;
    kernel["kernel"] = b.kernel;
    kernel.update(BuiltJson(b));
    json.push_back(std::move(kernel));
  }
  return json;
}

std::string ToTable(const FusionReport& r) {
  Table groups({{"group", Align::kLeft, 34},
                {"kind", Align::kLeft, 8},
                {"hero", Align::kLeft, 18},
                {"ops", Align::kRight, 5},
                {"read", Align::kRight, 10},
                {"written", Align::kRight, 10},
                {"predicted", Align::kRight, 11},
                {"bound", Align::kLeft, 11}});
  for (const GroupReport& g : r.groups) {
    groups.AddRow({g.name, g.kind, g.hero, absl::StrCat(g.members.size()),
                   HumanBytes(g.bytes_read), HumanBytes(g.bytes_written),
                   HumanMicros(g.predicted_us), g.bound});
  }
  std::string text =
      absl::StrCat("module ", r.module, " on ", r.device, ", strategy ",
                   r.strategy, "\n\n", groups.ToString(), "\n");
  if (FLAGS_terms) {
    for (const GroupReport& g : r.groups) {
      std::vector<std::string> terms;
      for (const auto& [name, us] : g.terms_us) {
        terms.push_back(absl::StrFormat("%s %.2f", name, us));
      }
      absl::StrAppend(&text, g.name, ": ", absl::StrJoin(terms, " + "),
                      " us\n");
    }
    text += "\n";
  }
  Table totals({{"", Align::kLeft, 28},
                {"before", Align::kRight, 12},
                {"after", Align::kRight, 12}});
  totals.AddRow({"kernels", absl::StrCat(r.before.kernels.size()),
                 absl::StrCat(r.after.kernels.size())});
  totals.AddRow({"tensor trips", absl::StrCat(r.before.tensor_trips),
                 absl::StrCat(r.after.tensor_trips)});
  totals.AddRow({"bytes through memory", HumanBytes(r.before.bytes),
                 HumanBytes(r.after.bytes)});
  totals.AddRow({"predicted time", HumanMicros(r.predicted_us_before),
                 HumanMicros(r.predicted_us_after)});
  totals.AddRow({"peak memory", HumanBytes(r.peak_bytes_before),
                 HumanBytes(r.peak_bytes_after)});
  absl::StrAppend(&text, totals.ToString());
  if (!r.after.small_values.empty()) {
    absl::StrAppend(&text, "besides the tensors, after fusion: ",
                    absl::StrJoin(r.after.small_values, ", "), "\n");
  }
  return text;
}

// Kernels of an earlier plan would look like this one's.
void RemoveKernels(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const std::string extension = entry.path().extension().string();
    if ((absl::StartsWith(name, "fusion_") ||
         absl::StartsWith(name, "loop_")) &&
        (extension == ".cu" || extension == ".cc")) {
      std::filesystem::remove(entry.path(), ignored);
    }
  }
}

absl::Status WriteFolder(const std::string& folder, const Module& canonical,
                         const Plan& plan,
                         const nlohmann::ordered_json& report) {
  RIDGE_RETURN_IF_ERROR(MakeDirs(folder));
  RemoveKernels(folder);
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Module> fused,
                         ExportFused(canonical, plan));
  RIDGE_RETURN_IF_ERROR(
      WriteFileAtomic(absl::StrCat(folder, "/fused.hlo"), Print(*fused)));
  RIDGE_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(folder, "/plan.textproto"),
                                        PlanToText(canonical, plan)));
  return WriteFileAtomic(absl::StrCat(folder, "/report.json"),
                         JsonText(report));
}

// The kernels of groups and loops as CUDA C++, which takes no GPU; library
// calls and what no kernel serves have none.
absl::Status WriteCudaSources(const std::string& folder, const Plan& plan,
                              const std::vector<LoopReport>& loops,
                              const DeviceLimits& limits) {
  auto write = [&](const Kernel& kernel,
                   const ScheduleChoice& choice) -> absl::Status {
    absl::StatusOr<cuda::EmittedKernel> emitted =
        cuda::EmitKernel(kernel, choice, limits);
    if (absl::IsUnimplemented(emitted.status())) return absl::OkStatus();
    RIDGE_RETURN_IF_ERROR(emitted.status());
    return WriteFileAtomic(absl::StrCat(folder, "/", kernel.name, ".cu"),
                           emitted->source);
  };
  for (const ComputationPlan& computation : plan.computations) {
    for (const Group& group : computation.groups) {
      if (group.pattern == GroupPattern::kGemm && LowerGemm(group).ok()) {
        continue;
      }
      absl::StatusOr<Kernel> kernel = BuildKernel(group);
      if (absl::IsUnimplemented(kernel.status())) continue;
      RIDGE_RETURN_IF_ERROR(kernel.status());
      RIDGE_RETURN_IF_ERROR(write(*kernel, group.schedule));
    }
  }
  for (const LoopReport& loop : loops) {
    if (!loop.kernel.ok() || loop.kernel->kernel.stores.empty()) continue;
    RIDGE_RETURN_IF_ERROR(write(loop.kernel->kernel, ScheduleChoice()));
  }
  return absl::OkStatus();
}

absl::StatusOr<ToolOutcome> Run(const std::vector<std::string>& args) {
  RIDGE_ASSIGN_OR_RETURN(DeviceDescription device, LoadDevice(FLAGS_device));
  RIDGE_ASSIGN_OR_RETURN(LoadedModule module, LoadModule(args[0]));
  PlanRequest planning;
  planning.strategy = FLAGS_strategy;
  planning.file = FLAGS_plan;
  planning.number = FLAGS_plan_number;
  planning.device = &device;
  planning.numerics = NumericsFromFlag();
  RIDGE_ASSIGN_OR_RETURN(Plan plan, LoadPlan(*module.canonical, planning));
  if (FLAGS_compile) {
    if (!device.is_gpu()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--compile is for GPUs, and --device=", FLAGS_device, " is none"));
    }
    RIDGE_ASSIGN_OR_RETURN(
        plan.built,
        cuda::BuildPlanKernels(*module.canonical, plan, LimitsOf(device),
                               device.architecture(), CompileOptions()));
  }
  RIDGE_ASSIGN_OR_RETURN(
      FusionReport report,
      MakeFusionReport(*module.written, *module.canonical, plan, device));
  const bool json = OutputFormatFromFlag() == OutputFormat::kJson;
  const std::vector<LoopReport> loops =
      LoopsOf(*module.canonical, device.is_gpu());
  nlohmann::ordered_json whole = ToJson(report);
  whole["loops"] = ToJson(loops);
  if (!plan.built.empty()) whole["compiled"] = ToJson(plan.built);
  std::string text =
      absl::StrCat(ToTable(report), ToTable(loops), BuiltTable(plan.built));
  if (!FLAGS_out.empty()) {
    RIDGE_RETURN_IF_ERROR(WriteFolder(ResolveUserPath(FLAGS_out),
                                      *module.canonical, plan, whole));
  }
  const DeviceLimits limits = LimitsOf(device);
  if (!FLAGS_out.empty() && limits.is_gpu) {
    RIDGE_RETURN_IF_ERROR(
        WriteCudaSources(ResolveUserPath(FLAGS_out), plan, loops, limits));
  }
  bool ok = true;
  if (FLAGS_run || (!FLAGS_out.empty() && !limits.is_gpu)) {
    RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                           MakeNamedBackend(FLAGS_backend));
    CompileOptions options;
    if (!FLAGS_out.empty()) options.dump_directory = ResolveUserPath(FLAGS_out);
    if (FLAGS_run) {
      RIDGE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                             LoadArguments(*module.written, "", FLAGS_seed));
      ExecuteRequest request;
      request.module = &module;
      request.plan = &plan;
      request.backend = backend.get();
      request.compile = options;
      request.arguments = arguments;
      request.check = true;
      request.measure = MeasureOptions();
      RIDGE_ASSIGN_OR_RETURN(ExecuteReport executed, ExecutePlan(request));
      ok = executed.ok();
      whole["run"] = ReportJson(executed);
      absl::StrAppend(&text, "\n", ReportTable(executed, false));
    } else {
      RIDGE_RETURN_IF_ERROR(
          backend->Compile(*module.canonical, plan, options).status());
    }
  }
  RIDGE_RETURN_IF_ERROR(WriteOutput("", json ? JsonText(whole) : text));
  return ok ? ToolOutcome::kDone : ToolOutcome::kCheckFailed;
}

}  // namespace
}  // namespace ridge

int main(int argc, char** argv) {
  ridge::ToolInfo info;
  info.name = "fuse";
  info.summary =
      "Forms fusion groups in an HLO module, prices them on a device, and "
      "shows what fusion saves.";
  info.arguments = "MODULE.hlo";
  info.examples = {
      "fuse tests/hlo/gelu_scale_residual.hlo --run",
      "fuse model.hlo --device=a100 --strategy=greedy --out=/tmp/fused",
      "fuse model.hlo --device=h200 --compile --out=/tmp/fused",
      "fuse model.hlo --plan=plans.textproto --format=json",
  };
  info.source_file = __FILE__;
  info.min_args = info.max_args = 1;
  return ridge::RunTool(argc, argv, info, ridge::Run);
}
