#include "tools/hlo_tool/stats.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/analysis/cost_counts.h"

namespace ridge {
namespace {

void AddSaturating(int64_t value, int64_t* sum) {
  if (__builtin_add_overflow(*sum, value, sum)) {
    *sum = std::numeric_limits<int64_t>::max();
  }
}

void CountTypes(const Shape& shape, std::map<std::string, int64_t>* types) {
  if (shape.IsTuple()) return;  // its parts are counted where they are made
  ++(*types)[std::string(Name(shape.type()))];
}

// 1536 -> "1.50 KiB"
std::string Bytes(int64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? absl::StrCat(bytes, " B")
                   : absl::StrFormat("%.2f %s", value, units[unit]);
}

// Whether the operations of what `i` calls are counted there, and not with `i`:
// the callees of reduce, sort, map and their like run once for each element,
// and are counted with their caller.
bool CalleesCountForThemselves(const Instruction& i) {
  const OpClass c = Info(i.opcode()).op_class;
  return c == OpClass::kAsync ||
         (c == OpClass::kControl && i.opcode() != Opcode::kMap);
}

absl::flat_hash_set<const Computation*> CountedWithCaller(
    const Module& module) {
  absl::flat_hash_set<const Computation*> result;
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      if (CalleesCountForThemselves(*i)) continue;
      for (const Computation* called : i->called_computations()) {
        result.insert(called);
      }
    }
  }
  return result;
}

}  // namespace

ModuleStats ComputeStats(const Module& module) {
  ModuleStats stats;
  stats.name = std::string(module.name());
  stats.computations = static_cast<int64_t>(module.computations().size());
  const absl::flat_hash_set<const Computation*> counted_with_caller =
      CountedWithCaller(module);
  for (const Computation* c : module.computations()) {
    stats.instructions += c->instruction_count();
    for (const Instruction* i : c->instructions()) {
      OpcodeStats& op = stats.opcodes[std::string(Name(i->opcode()))];
      ++op.count;
      CountTypes(i->shape(), &stats.types);
      int64_t bytes = i->shape().IsTuple() ? 0 : i->shape().ByteSize();
      AddSaturating(bytes, &op.output_bytes);
      if (i->opcode() == Opcode::kConstant) {
        AddSaturating(i->shape().ByteSize(), &stats.constant_bytes);
        if (i->literal().elided()) ++stats.elided_constants;
      }
      if (!CalleesCountForThemselves(*i) && !counted_with_caller.contains(c)) {
        AddSaturating(Flops(*i), &op.flops);
      }
    }
  }
  const Computation* entry = module.entry();
  if (entry == nullptr) return stats;
  stats.entry_instructions = entry->instruction_count();
  for (const Instruction* p : entry->parameters()) {
    if (p != nullptr)
      AddSaturating(p->shape().ByteSize(), &stats.parameter_bytes);
  }
  if (entry->root() != nullptr) {
    stats.result_bytes = entry->root()->shape().ByteSize();
  }
  for (const Instruction* i : entry->instructions()) {
    AddSaturating(Flops(*i), &stats.flops);
  }
  return stats;
}

nlohmann::json StatsJson(const ModuleStats& stats) {
  nlohmann::json opcodes = nlohmann::json::object();
  for (const auto& [name, op] : stats.opcodes) {
    opcodes[name] = {{"count", op.count},
                     {"output_bytes", op.output_bytes},
                     {"flops", op.flops}};
  }
  return {{"module", stats.name},
          {"computations", stats.computations},
          {"instructions", stats.instructions},
          {"entry_instructions", stats.entry_instructions},
          {"parameter_bytes", stats.parameter_bytes},
          {"result_bytes", stats.result_bytes},
          {"constant_bytes", stats.constant_bytes},
          {"elided_constants", stats.elided_constants},
          {"flops", stats.flops},
          {"opcodes", opcodes},
          {"types", stats.types}};
}

std::string StatsText(const ModuleStats& stats) {
  std::string out = absl::StrCat(
      "module ", stats.name, "\n  computations  ", stats.computations,
      "\n  instructions  ", stats.instructions, " (", stats.entry_instructions,
      " in the entry)\n  parameters    ", Bytes(stats.parameter_bytes),
      "\n  result        ", Bytes(stats.result_bytes), "\n  constants     ",
      Bytes(stats.constant_bytes));
  if (stats.elided_constants > 0) {
    absl::StrAppend(&out, " (", stats.elided_constants, " elided)");
  }
  absl::StrAppend(&out, "\n  FLOP          ",
                  absl::StrFormat("%.4g", static_cast<double>(stats.flops)),
                  " for one run, loop bodies once\n\n");
  std::vector<std::pair<std::string, OpcodeStats>> opcodes(
      stats.opcodes.begin(), stats.opcodes.end());
  std::stable_sort(opcodes.begin(), opcodes.end(),
                   [](const auto& a, const auto& b) {
                     return a.second.count > b.second.count;
                   });
  absl::StrAppendFormat(&out, "  %-26s %9s %14s %12s\n", "opcode", "count",
                        "output", "FLOP");
  for (const auto& [name, op] : opcodes) {
    absl::StrAppendFormat(&out, "  %-26s %9d %14s %12.4g\n", name, op.count,
                          Bytes(op.output_bytes),
                          static_cast<double>(op.flops));
  }
  absl::StrAppendFormat(&out, "\n  %-26s %9s\n", "element type", "count");
  for (const auto& [name, count] : stats.types) {
    absl::StrAppendFormat(&out, "  %-26s %9d\n", name, count);
  }
  return out;
}

}  // namespace ridge
