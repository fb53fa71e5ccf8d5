// What every tool does first: a module file read, verified and brought into
// canonical form, and a plan for it.
#ifndef RIDGE_TOOLS_COMMON_LOAD_H_
#define RIDGE_TOOLS_COMMON_LOAD_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
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

// The plan in the file (as the user typed its name; InvalidArgument where it
// is another module's), or if that is empty, the strategy's.
absl::StatusOr<Plan> LoadPlan(const Module& canonical,
                              absl::string_view strategy,
                              absl::string_view plan_path);

// One literal a parameter: from a safetensors file (in.0, in.1, ...), or where
// `inputs_path` is empty, random from `seed`.
absl::StatusOr<std::vector<Literal>> LoadArguments(
    const Module& module, absl::string_view inputs_path, uint64_t seed);

// The expected result from a safetensors file (out.0, out.1, ...).
absl::StatusOr<Literal> LoadExpected(const Module& module,
                                     absl::string_view path);

}  // namespace ridge

#endif  // RIDGE_TOOLS_COMMON_LOAD_H_
