// run: executes a module on a back end.
#include <gflags/gflags.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/runtime/backend.h"
#include "backends/runtime/sampler.h"
#include "cost_model/device.h"
#include "hlo/base/file.h"
#include "hlo/base/safetensors.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/evaluator/io.h"
#include "tools/common/execute.h"
#include "tools/common/interrupt.h"
#include "tools/common/load.h"
#include "tools/common/main.h"
#include "tools/common/numerics_flag.h"
#include "tools/common/output.h"

DEFINE_string(backend, "cpu", "Where to run: reference, cpu or cuda.");
DEFINE_string(device, "",
              "What the plan is priced for; empty: cpu for --backend=cpu, h200 "
              "for --backend=cuda.");
DEFINE_string(strategy, "greedy", "How to plan: none or greedy.");
DEFINE_string(plan, "", "A plan file to run instead of the strategy's.");
DEFINE_string(inputs, "",
              "A safetensors file with the arguments in.0, in.1, ... (tuples "
              "flattened); random if empty.");
DEFINE_uint64(seed, 0, "Seed of random arguments.");
DEFINE_string(outputs, "", "Writes the results out.0, out.1, ... here.");
DEFINE_bool(check, false,
            "Compares the results with the evaluator's, or with --expect.");
DEFINE_string(expect, "",
              "A safetensors file with expected results out.0, out.1, ...; "
              "implies --check.");
DEFINE_bool(worst, false,
            "Says where each output is furthest off, even if all is well.");
DEFINE_int32(repeat, 0,
             "Timed repetitions; 0: as many as give a steady median (the "
             "reference is timed once).");
DEFINE_bool(cold, true, "Empties the caches before each repetition.");
DEFINE_bool(fma, true, "Lets a*b+c round once where the compiler likes to.");
DEFINE_string(precision, "typed",
              "For the reference: typed, where every instruction rounds to its "
              "type, or f64, where none does.");
DEFINE_int64(max_steps, 0,
             "For the reference: loop iterations after which it gives up; 0: "
             "ten million.");
DEFINE_int64(max_bytes, 0,
             "For the reference: memory for values at once; 0: 16 GiB.");
DEFINE_string(dump_kernels, "", "Writes the generated sources to this folder.");

namespace ridge {
namespace {

// What the flags ask of the evaluator; nothing if they leave it to the back
// end.
absl::StatusOr<std::optional<EvalOptions>> EvaluationFromFlags() {
  if (FLAGS_precision != "typed" && FLAGS_precision != "f64") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--precision=", FLAGS_precision, ": there are typed and f64"));
  }
  if (FLAGS_max_steps < 0 || FLAGS_max_bytes < 0) {
    return absl::InvalidArgumentError(
        "--max_steps and --max_bytes are not negative");
  }
  const bool wide = FLAGS_precision == "f64";
  if (!wide && FLAGS_max_steps == 0 && FLAGS_max_bytes == 0) {
    return std::optional<EvalOptions>();
  }
  if (FLAGS_backend != "reference") {
    return absl::InvalidArgumentError(
        "--precision, --max_steps and --max_bytes are the evaluator's: they "
        "need --backend=reference");
  }
  EvalOptions options;
  if (wide) options.precision = EvalPrecision::kF64;
  if (FLAGS_max_steps > 0) options.max_steps = FLAGS_max_steps;
  if (FLAGS_max_bytes > 0) options.max_bytes = FLAGS_max_bytes;
  return std::optional<EvalOptions>(options);
}

absl::StatusOr<ToolOutcome> Run(const std::vector<std::string>& args) {
  RIDGE_RETURN_IF_ERROR(CheckWritable(FLAGS_outputs));
  if (FLAGS_repeat < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--repeat=", FLAGS_repeat, " is negative"));
  }
  RIDGE_ASSIGN_OR_RETURN(std::optional<EvalOptions> evaluation,
                         EvaluationFromFlags());
  FirstResult times;
  double mark = NowMicros();
  auto lap = [&mark] {
    const double last = std::exchange(mark, NowMicros());
    return (mark - last) / 1e6;
  };
  RIDGE_ASSIGN_OR_RETURN(LoadedModule module, LoadModule(args[0]));
  times.parse_s = lap();
  RIDGE_ASSIGN_OR_RETURN(DeviceDescription device,
                         LoadDeviceFor(FLAGS_device, FLAGS_backend));
  RIDGE_ASSIGN_OR_RETURN(
      Plan plan, LoadPlan(*module.canonical, {FLAGS_strategy, FLAGS_plan,
                                              &device, NumericsFromFlag()}));
  times.plan_s = lap();
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                         MakeNamedBackend(FLAGS_backend));
  times.open_s = lap();
  RIDGE_ASSIGN_OR_RETURN(
      std::vector<Literal> arguments,
      LoadArguments(*module.written, FLAGS_inputs, FLAGS_seed));

  InterruptScope interrupt;
  ExecuteRequest request;
  request.module = &module;
  request.plan = &plan;
  request.backend = backend.get();
  request.compile.fma_contraction = FLAGS_fma;
  request.compile.dump_directory = ResolveUserPath(FLAGS_dump_kernels);
  request.arguments = arguments;
  request.check = FLAGS_check;
  request.before = times;
  if (!FLAGS_expect.empty() && FLAGS_inputs.empty() && !arguments.empty()) {
    absl::FPrintF(stderr,
                  "run: note: --expect without --inputs: the arguments are "
                  "random (--seed=%d)\n",
                  FLAGS_seed);
  }
  if (!FLAGS_expect.empty()) {
    RIDGE_ASSIGN_OR_RETURN(request.expected,
                           LoadExpected(*module.written, FLAGS_expect));
  }
  MeasureOptions measure;
  measure.cold_cache = FLAGS_cold;
  measure.interrupted = InterruptScope::Flag();
  if (backend->name() == "reference" && FLAGS_repeat == 0) {
    measure.warmup = 0;
    measure.min_repetitions = measure.max_repetitions = 1;
  } else if (FLAGS_repeat > 0) {
    measure.min_repetitions = measure.max_repetitions = FLAGS_repeat;
  }
  request.measure = measure;
  RIDGE_ASSIGN_OR_RETURN(ExecuteReport report,
                         evaluation.has_value()
                             ? EvaluateModule(request, *evaluation)
                             : ExecutePlan(request));

  if (!FLAGS_outputs.empty()) {
    SafeTensors tensors;
    AddTensors("out", absl::MakeConstSpan(&report.result, 1), &tensors);
    RIDGE_RETURN_IF_ERROR(
        WriteSafeTensors(ResolveUserPath(FLAGS_outputs), tensors));
  }
  std::string text = OutputFormatFromFlag() == OutputFormat::kJson
                         ? JsonText(ReportJson(report))
                         : ReportTable(report, FLAGS_worst);
  RIDGE_RETURN_IF_ERROR(WriteOutput("", text));
  return report.ok() ? ToolOutcome::kDone : ToolOutcome::kCheckFailed;
}

}  // namespace
}  // namespace ridge

int main(int argc, char** argv) {
  ridge::ToolInfo info;
  info.name = "run";
  info.summary =
      "Executes an HLO module on a back end, prints what each kernel took, and "
      "checks the results if asked to.";
  info.arguments = "MODULE.hlo";
  info.examples = {
      "run softmax.hlo --check",
      "run softmax.hlo --backend=cuda --inputs=x.safetensors "
      "--expect=x.safetensors",
      "run softmax.hlo --strategy=none --format=json --outputs=y.safetensors",
  };
  info.source_file = __FILE__;
  info.min_args = info.max_args = 1;
  return ridge::RunTool(argc, argv, info, ridge::Run);
}
