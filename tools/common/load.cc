#include "tools/common/load.h"

#include <utility>

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

absl::StatusOr<Plan> LoadPlan(const Module& canonical,
                              absl::string_view strategy,
                              absl::string_view plan_path) {
  if (plan_path.empty()) return MakePlan(canonical, strategy);
  return ReadPlan(plan_path, canonical);
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
