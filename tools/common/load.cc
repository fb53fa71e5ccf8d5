#include "tools/common/load.h"

#include <optional>
#include <utility>

#include "cost_model/group_pricer.h"
#include "fusion/plan_io.h"
#include "fusion/strategies.h"
#include "hlo/base/file.h"
#include "hlo/base/safetensors.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/inputs.h"
#include "hlo/evaluator/io.h"
#include "hlo/passes/pipeline.h"
#include "hlo/text/parser.h"
#include "hlo/verify/verify.h"

namespace ridge {

absl::StatusOr<LoadedModule> LoadModule(absl::string_view path) {
  LoadedModule loaded;
  const std::string file = ResolveUserPath(path);
  RIDGE_ASSIGN_OR_RETURN(loaded.written, ReadModule(file));
  if (loaded.written->entry() == nullptr) {
    return absl::InvalidArgumentError(file + ": no entry computation");
  }
  // What follows relies on shapes that fit.
  RIDGE_RETURN_IF_ERROR(Annotate(VerifyStatus(*loaded.written), file));
  loaded.canonical = loaded.written->Clone();
  RIDGE_RETURN_IF_ERROR(Annotate(Canonicalize(loaded.canonical.get()), file));
  return loaded;
}

absl::StatusOr<DeviceDescription> LoadDeviceFor(absl::string_view device,
                                                absl::string_view backend) {
  if (!device.empty()) return LoadDevice(device);
  return LoadDevice(backend == "cuda" ? "h200" : "cpu");
}

absl::StatusOr<Plan> LoadPlan(const Module& canonical,
                              const PlanRequest& request) {
  if (!request.file.empty()) {
    return ReadPlan(request.file, canonical, request.number - 1);
  }
  if (request.number != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--plan_number=", request.number, " needs the file that --plan names"));
  }
  std::optional<CostModelPricer> pricer;
  StrategyOptions options;
  options.limits.numerics = request.numerics;
  options.log = request.log;
  if (request.device != nullptr) {
    options.pricer = &pricer.emplace(*request.device);
  }
  return MakePlan(canonical, request.strategy, options);
}

absl::StatusOr<std::vector<Literal>> LoadArguments(
    const Module& module, absl::string_view inputs_path, uint64_t seed) {
  if (inputs_path.empty()) {
    InputOptions options;
    options.seed = seed;
    return MakeInputs(module, options);
  }
  const std::string file = ResolveUserPath(inputs_path);
  RIDGE_ASSIGN_OR_RETURN(SafeTensors tensors, ReadSafeTensors(file));
  absl::StatusOr<std::vector<Literal>> arguments =
      ReadArguments(module, tensors);
  if (!arguments.ok()) return Annotate(arguments.status(), file);
  return arguments;
}

absl::StatusOr<Literal> LoadExpected(const Module& module,
                                     absl::string_view path) {
  const std::string file = ResolveUserPath(path);
  RIDGE_ASSIGN_OR_RETURN(SafeTensors tensors, ReadSafeTensors(file));
  absl::StatusOr<Literal> expected = ReadResult(module, tensors);
  if (!expected.ok()) return Annotate(expected.status(), file);
  return expected;
}

}  // namespace ridge
