#include "fusion/assertions.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "fusion/traffic.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

absl::StatusOr<const Instruction*> Find(const Plan& plan,
                                        const std::string& name) {
  for (const ComputationPlan& c : plan.computations) {
    for (const Instruction* i : c.computation->instructions()) {
      if (i->name() == absl::StripPrefix(name, "%")) return i;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("an assertion names %", name,
                   ", which the planned module does not have"));
}

// The group that holds both; null where none does.
absl::StatusOr<const Group*> Shared(
    const Plan& plan, const std::pair<std::string, std::string>& names) {
  RIDGE_ASSIGN_OR_RETURN(const Instruction* a, Find(plan, names.first));
  RIDGE_ASSIGN_OR_RETURN(const Instruction* b, Find(plan, names.second));
  for (const ComputationPlan& c : plan.computations) {
    for (const Group& g : c.groups) {
      auto has = [&](const Instruction* i) {
        return std::find(g.members.begin(), g.members.end(), i) !=
               g.members.end();
      };
      if (has(a) && has(b)) return &g;
    }
  }
  return static_cast<const Group*>(nullptr);
}

}  // namespace

absl::StatusOr<PlanAssertions> ParseAssertions(
    absl::Span<const std::string> texts) {
  PlanAssertions parsed;
  for (const std::string& text : texts) {
    const std::vector<std::string> parts =
        absl::StrSplit(text, absl::MaxSplits('=', 1));
    const std::string value = parts.size() > 1 ? parts[1] : "";
    const std::vector<std::string> names = absl::StrSplit(value, ',');
    int64_t number = 0;
    const bool is_number = absl::SimpleAtoi(value, &number) && number >= 0;
    const bool is_pair =
        names.size() == 2 && !names[0].empty() && !names[1].empty();
    if (parts[0] == "max_kernels" && is_number) {
      parsed.max_kernels = number;
    } else if (parts[0] == "max_bytes" && is_number) {
      parsed.max_bytes = number;
    } else if (parts[0] == "fuse" && is_pair) {
      parsed.must_fuse.push_back({names[0], names[1]});
    } else if (parts[0] == "apart" && is_pair) {
      parsed.must_not_fuse.push_back({names[0], names[1]});
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "not an assertion: '", text,
          "'; known: max_kernels=N, max_bytes=N, fuse=A,B, apart=A,B"));
    }
  }
  return parsed;
}

absl::StatusOr<std::vector<std::string>> FailedAssertions(
    const Plan& plan, const PlanAssertions& assertions) {
  std::vector<std::string> failed;
  if (assertions.max_kernels.has_value()) {
    int64_t kernels = 0;
    for (const ComputationPlan& c : plan.computations) {
      kernels += static_cast<int64_t>(c.groups.size());
    }
    if (kernels > *assertions.max_kernels) {
      failed.push_back(absl::StrCat("max_kernels=", *assertions.max_kernels,
                                    ": the plan has ", kernels));
    }
  }
  if (assertions.max_bytes.has_value()) {
    const int64_t bytes = PlanTraffic(plan).bytes;
    if (bytes > *assertions.max_bytes) {
      failed.push_back(absl::StrCat("max_bytes=", *assertions.max_bytes,
                                    ": the plan moves ", bytes));
    }
  }
  for (const auto& names : assertions.must_fuse) {
    RIDGE_ASSIGN_OR_RETURN(const Group* group, Shared(plan, names));
    if (group == nullptr) {
      failed.push_back(absl::StrCat("fuse=", names.first, ",", names.second,
                                    ": no kernel holds both"));
    }
  }
  for (const auto& names : assertions.must_not_fuse) {
    RIDGE_ASSIGN_OR_RETURN(const Group* group, Shared(plan, names));
    if (group != nullptr) {
      failed.push_back(absl::StrCat("apart=", names.first, ",", names.second,
                                    ": kernel ", group->name, " holds both"));
    }
  }
  return failed;
}

}  // namespace ridge
