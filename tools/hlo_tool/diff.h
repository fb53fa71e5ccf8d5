// hlo --diff: where two modules differ, names ignored.
#ifndef RIDGE_TOOLS_HLO_TOOL_DIFF_H_
#define RIDGE_TOOLS_HLO_TOOL_DIFF_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "hlo/ir/module.h"

namespace ridge {

struct ModuleDiff {
  // Equal as StructurallyEqual (hlo/ir/equal.h) has it, metadata ignored.
  bool equal = false;
  std::string first_difference;  // in words
  // Where the differences begin: instructions that have no counterpart in the
  // other module though all their operands and callees have. An instruction's
  // counterpart is one that computes the same from the parameters on.
  std::vector<const Instruction*> only_first;
  std::vector<const Instruction*> only_second;
  // All instructions without a counterpart, those included that merely come
  // after a difference.
  int64_t affected_first = 0;
  int64_t affected_second = 0;
};

// Time is linear in the size of the modules.
ModuleDiff DiffModules(const Module& first, const Module& second);

nlohmann::json DiffJson(const ModuleDiff& diff);
// "- " lines are only in the first module, "+ " lines only in the second.
std::string DiffText(const ModuleDiff& diff);

}  // namespace ridge

#endif  // RIDGE_TOOLS_HLO_TOOL_DIFF_H_
