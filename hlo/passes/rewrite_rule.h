// Rewrite rules as data, and the worklist that applies them.
//
// A rule is one row: a name, the opcode it looks at (and that of operand 0,
// where it matters), the equation it stands for, and a function that returns
// the replacement or null. Tables of rules are reviewed and tested row by
// row; no rule knows of another.
#ifndef RIDGE_HLO_PASSES_REWRITE_RULE_H_
#define RIDGE_HLO_PASSES_REWRITE_RULE_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"
#include "hlo/passes/rewriter.h"

namespace ridge {

// The condition and the rewrite of a rule. Returns null where the rule does
// not apply; it must then have built nothing.
using RewriteFunction = Instruction* (*)(Instruction*, Rewriter&);

inline constexpr std::optional<Opcode> kAnyOpcode = std::nullopt;

struct RewriteRule {
  absl::string_view name;
  // What it looks at; kAnyOpcode for every instruction.
  std::optional<Opcode> opcode;
  // The opcode that operand 0 must have, or kAnyOpcode.
  std::optional<Opcode> operand0;
  absl::string_view equation;
  RewriteFunction rewrite;
};

// Rules see only instructions without control edges whose array shapes (and
// those of their operands) are static and have default layouts, except that
// rules of elementwise opcodes see any static layout: those build no shape of
// their own. A replacement of another shape or layout is refused.
//
// Work is bounded by options.max_rewrites_per_instruction; beyond it the
// worklist stops and stats->converged becomes false.
absl::StatusOr<bool> ApplyRules(
    Module* module, absl::Span<const absl::Span<const RewriteRule>> tables,
    const PassOptions& options);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_REWRITE_RULE_H_
