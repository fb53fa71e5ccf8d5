// For tests of planning: modules from text, groups by instruction name.
#ifndef RIDGE_FUSION_TESTING_H_
#define RIDGE_FUSION_TESTING_H_

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "fusion/group_analysis.h"
#include "fusion/plan.h"
#include "fusion/strategies.h"
#include "hlo/base/status_macros.h"
#include "hlo/passes/pipeline.h"
#include "hlo/text/parser.h"

namespace ridge {

// A module with reducers add, max and min over f32, and the given entry
// instructions. Not canonicalised: groups are as written.
inline absl::StatusOr<std::unique_ptr<Module>> EntryModule(
    absl::string_view entry) {
  return ParseModule(absl::StrCat(R"(
HloModule test
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
ENTRY main {)",
                                  entry, "}"));
}

// Instructions of the entry by name, in the given order.
inline std::vector<const Instruction*> Named(const Module& module,
                                             absl::string_view names) {
  std::vector<const Instruction*> found;
  for (absl::string_view name : absl::StrSplit(names, ' ', absl::SkipEmpty())) {
    for (const Instruction* i : module.entry()->instructions()) {
      if (i->name() == name) found.push_back(i);
    }
  }
  return found;
}

// The entry's instructions but its parameters and tuple, as one group that
// stores `roots`.
inline GroupAnalysis AnalyzeAll(const Module& module, absl::string_view roots,
                                const FusionLimits& limits = {}) {
  std::vector<const Instruction*> members;
  for (const Instruction* i : module.entry()->instructions()) {
    if (i->opcode() != Opcode::kParameter && i->opcode() != Opcode::kTuple) {
      members.push_back(i);
    }
  }
  return AnalyzeGroup(members, Named(module, roots), limits);
}

// The group that stores `name`; null where none does.
inline const Group* GroupStoring(const Plan& plan, absl::string_view name) {
  for (const ComputationPlan& c : plan.computations) {
    for (const Group& g : c.groups) {
      for (const Instruction* r : g.roots) {
        if (r->name() == name) return &g;
      }
    }
  }
  return nullptr;
}

// "loop row_reduce": patterns of all groups in order.
inline std::string Patterns(const Plan& plan) {
  std::string text;
  for (const ComputationPlan& c : plan.computations) {
    for (const Group& g : c.groups) {
      absl::StrAppend(&text, text.empty() ? "" : " ", PatternName(g.pattern));
    }
  }
  return text;
}

}  // namespace ridge

#endif  // RIDGE_FUSION_TESTING_H_
