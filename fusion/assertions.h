// What a user demands of a plan: a region must be one kernel, or the build
// fails.
#ifndef RIDGE_FUSION_ASSERTIONS_H_
#define RIDGE_FUSION_ASSERTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "fusion/plan.h"
#include "hlo/ir/module.h"

namespace ridge {

struct PlanAssertions {
  std::optional<int64_t> max_kernels;  // groups of all computations
  std::optional<int64_t> max_bytes;    // read and written (PlanTraffic)
  // Instructions that must, or must not, share a kernel.
  std::vector<std::pair<std::string, std::string>> must_fuse;
  std::vector<std::pair<std::string, std::string>> must_not_fuse;
};

// From "max_kernels=3", "max_bytes=1000000", "fuse=a,b", "apart=a,b".
// InvalidArgument names what is none of these.
absl::StatusOr<PlanAssertions> ParseAssertions(
    absl::Span<const std::string> texts);

// One line for each assertion that does not hold: what was asserted, what is.
// InvalidArgument where an assertion names an instruction that the planned
// module does not have.
absl::StatusOr<std::vector<std::string>> FailedAssertions(
    const Plan& plan, const PlanAssertions& assertions);

}  // namespace ridge

#endif  // RIDGE_FUSION_ASSERTIONS_H_
