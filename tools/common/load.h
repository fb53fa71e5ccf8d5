// What every tool does first: a module file read, verified and brought into
// canonical form, and a plan for it.
#ifndef RIDGE_TOOLS_COMMON_LOAD_H_
#define RIDGE_TOOLS_COMMON_LOAD_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cost_model/device.h"
#include "fusion/decision_log.h"
#include "fusion/legality.h"
#include "fusion/plan.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace ridge {

struct LoadedModule {
  // As written: what results are checked against.
  std::unique_ptr<Module> written;
  // The same program in canonical form: what is planned and run.
  std::unique_ptr<Module> canonical;
};

// `path` as the user typed it. Errors name the file, and where they can, line
// and instruction: NotFound, InvalidArgument (not HLO, or not valid HLO).
absl::StatusOr<LoadedModule> LoadModule(absl::string_view path);

// What to price for: `device` as LoadDevice takes it, or if that is empty, what
// the back end usually runs on (h200 for cuda, else cpu).
absl::StatusOr<DeviceDescription> LoadDeviceFor(absl::string_view device,
                                                absl::string_view backend);

struct PlanRequest {
  std::string strategy = "greedy";
  std::string file;  // as the user typed it; its plan replaces the strategy's
  // Prices decide where a fusion has a cost; null: bytes over bandwidth.
  const DeviceDescription* device = nullptr;
  Numerics numerics = Numerics::kAsWritten;
  DecisionLog* log = nullptr;  // every decision of the strategy, if asked for
  int number = 1;              // of the file's plans, from 1
};

// InvalidArgument where the file's plan is another module's.
absl::StatusOr<Plan> LoadPlan(const Module& canonical,
                              const PlanRequest& request);

// One literal a parameter: from a safetensors file (in.0, in.1, ...), or where
// `inputs_path` is empty, random from `seed`.
absl::StatusOr<std::vector<Literal>> LoadArguments(
    const Module& module, absl::string_view inputs_path, uint64_t seed);

// The expected result from a safetensors file (out.0, out.1, ...).
absl::StatusOr<Literal> LoadExpected(const Module& module,
                                     absl::string_view path);

}  // namespace ridge

#endif  // RIDGE_TOOLS_COMMON_LOAD_H_
