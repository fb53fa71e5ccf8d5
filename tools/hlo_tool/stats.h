// hlo --stats: what a module is made of.
#ifndef RIDGE_TOOLS_HLO_TOOL_STATS_H_
#define RIDGE_TOOLS_HLO_TOOL_STATS_H_

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "hlo/ir/module.h"

namespace ridge {

struct OpcodeStats {
  int64_t count = 0;
  int64_t output_bytes = 0;  // saturating, tuples not counted
  int64_t flops = 0;         // saturating; see ModuleStats::opcodes
};

struct ModuleStats {
  std::string name;
  int64_t computations = 0;
  int64_t instructions = 0;
  int64_t entry_instructions = 0;
  int64_t parameter_bytes = 0;  // of the entry
  int64_t result_bytes = 0;     // of the entry
  int64_t constant_bytes = 0;
  int64_t elided_constants = 0;
  int64_t flops = 0;  // of one run of the entry; loop bodies count once
  // A fusion's or a loop's operations count with the instructions inside,
  // those of a reduction's computation with the reduction.
  std::map<std::string, OpcodeStats> opcodes;
  std::map<std::string, int64_t> types;  // arrays produced, by element type
};

ModuleStats ComputeStats(const Module& module);
nlohmann::json StatsJson(const ModuleStats& stats);
// Tables for people, most frequent first.
std::string StatsText(const ModuleStats& stats);

}  // namespace ridge

#endif  // RIDGE_TOOLS_HLO_TOOL_STATS_H_
