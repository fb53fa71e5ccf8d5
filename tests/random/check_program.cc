#include "tests/random/check_program.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"
#include "hlo/passes/pipeline.h"
#include "hlo/testing/random_program.h"
#include "hlo/text/printer.h"
#include "tools/common/execute.h"

namespace ridge {

namespace {

bool RunsAlone(const Module& module) {
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      const OpClass op_class = Info(i->opcode()).op_class;
      if (op_class == OpClass::kCollective || op_class == OpClass::kHost) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<ProgramTally> CheckRandomProgram(Backend* backend,
                                                uint64_t seed) {
  LoadedModule module;
  RIDGE_ASSIGN_OR_RETURN(module.written,
                         RandomProgram(seed, VariedOptions(seed)));
  if (!RunsAlone(*module.written)) {
    ProgramTally tally;
    tally.left_out = true;
    return tally;
  }
  auto run = [&]() -> absl::StatusOr<ProgramTally> {
    module.canonical = module.written->Clone();
    RIDGE_RETURN_IF_ERROR(Canonicalize(module.canonical.get()));
    RIDGE_ASSIGN_OR_RETURN(DeviceDescription device,
                           LoadDeviceFor("", backend->name()));
    PlanRequest plan_request;
    plan_request.device = &device;
    RIDGE_ASSIGN_OR_RETURN(Plan plan,
                           LoadPlan(*module.canonical, plan_request));
    RIDGE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                           LoadArguments(*module.written, "", seed));
    ExecuteRequest request;
    request.module = &module;
    request.plan = &plan;
    request.backend = backend;
    request.arguments = arguments;
    request.check = true;
    RIDGE_ASSIGN_OR_RETURN(ExecuteReport report, ExecutePlan(request));
    if (!report.ok()) {
      return absl::DataLossError(report.comparison->ToString());
    }
    ProgramTally tally;
    for (const CompiledStep& step : report.steps) {
      if (step.schedule == "copy") continue;
      ++tally.kernels;
      tally.fallbacks += step.is_fallback;
    }
    return tally;
  };
  absl::StatusOr<ProgramTally> tally = run();
  return tally.ok()
             ? tally
             : Annotate(tally.status(), absl::StrCat("seed ", seed, "\n",
                                                     Print(*module.written)));
}

}  // namespace ridge
