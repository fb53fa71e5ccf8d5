// The passes by name.
#ifndef RIDGE_HLO_PASSES_REGISTRY_H_
#define RIDGE_HLO_PASSES_REGISTRY_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/passes/pass.h"

namespace ridge {

// Every pass, sorted by name.
absl::Span<const Pass> AllPasses();

// NotFound, with the names there are, for an unknown name.
absl::StatusOr<const Pass*> FindPass(absl::string_view name);

// A comma-separated list such as "cse,dce"; "canonicalize" stands for the
// whole pipeline (pipeline.h) and "all" for every pass.
absl::StatusOr<std::vector<const Pass*>> ParsePassList(absl::string_view list);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_REGISTRY_H_
