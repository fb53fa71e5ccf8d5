#include "hlo/passes/rewrite_rule.h"

#include <array>
#include <deque>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/passes/scope.h"

namespace ridge {
namespace {

// The rules that may apply to each opcode, in table order.
class RuleIndex {
 public:
  explicit RuleIndex(absl::Span<const absl::Span<const RewriteRule>> tables) {
    for (absl::Span<const RewriteRule> table : tables) {
      for (const RewriteRule& rule : table) {
        if (rule.opcode.has_value()) {
          by_opcode_[static_cast<int>(*rule.opcode)].push_back(&rule);
          continue;
        }
        for (auto& rules : by_opcode_) rules.push_back(&rule);
      }
    }
  }
  const std::vector<const RewriteRule*>& For(Opcode opcode) const {
    return by_opcode_[static_cast<int>(opcode)];
  }

 private:
  std::array<std::vector<const RewriteRule*>, kOpcodeCount> by_opcode_;
};

bool PlainLayout(const Shape& shape) {
  return !shape.has_layout() ||
         (shape.layout().extras == nullptr && shape.HasDefaultLayout());
}

// Arithmetic on floats of several types, which XLA's verifier lets pass: rules
// know one type.
bool MixesPrecision(const Instruction& i) {
  if (!IsElementwise(i.opcode()) || !i.shape().IsArray() ||
      i.opcode() == Opcode::kConvert ||
      i.opcode() == Opcode::kStochasticConvert ||
      i.opcode() == Opcode::kBitcastConvert) {
    return false;
  }
  std::optional<ElementType> one;
  if (IsFloat(i.shape().type())) one = i.shape().type();
  for (const Instruction* o : i.operands()) {
    if (!o->shape().IsArray() || !IsFloat(o->shape().type())) continue;
    if (one.has_value() && *one != o->shape().type()) return true;
    one = o->shape().type();
  }
  return false;
}

// Whether rules may look at `i` at all.
bool Eligible(const Instruction& i) {
  if (MixesPrecision(i)) return false;
  if (i.has_control_successors() || !i.control_predecessors().empty()) {
    return false;
  }
  if (!i.shape().IsStatic()) return false;
  bool any_layout =
      IsElementwise(i.opcode()) || Info(i.opcode()).op_class == OpClass::kTuple;
  if (!any_layout && !PlainLayout(i.shape())) return false;
  for (const Instruction* o : i.operands()) {
    if (!o->shape().IsStatic()) return false;
    if (!any_layout && !PlainLayout(o->shape())) return false;
  }
  return true;
}

class Worklist {
 public:
  Worklist(const RuleIndex& rules, const PassOptions& options)
      : rules_(rules), options_(options), rewriter_(options) {}

  absl::StatusOr<bool> Run(Computation* computation) {
    for (Instruction* i : computation->instructions()) Push(i);
    int64_t budget = options_.max_rewrites_per_instruction *
                     (computation->instruction_count() + 16);
    bool changed = false;
    while (!queue_.empty()) {
      Instruction* i = queue_.front();
      queue_.pop_front();
      state_[i->id()] = kIdle;
      if (RemoveIfDead(i)) {
        changed = true;
        continue;
      }
      if (!Eligible(*i)) continue;
      absl::StatusOr<bool> applied = ApplyFirst(i);
      if (!applied.ok()) return applied.status();
      if (!*applied) continue;
      changed = true;
      if (--budget <= 0) {
        if (options_.stats != nullptr) options_.stats->converged = false;
        break;
      }
    }
    queue_.clear();
    return changed;
  }

 private:
  enum : uint8_t { kIdle, kQueued, kRemoved };

  void Push(Instruction* i) {
    if (static_cast<size_t>(i->id()) >= state_.size()) {
      state_.resize(std::max<size_t>(i->id() + 1, 2 * state_.size()), kIdle);
    }
    if (state_[i->id()] != kIdle) return;
    state_[i->id()] = kQueued;
    queue_.push_back(i);
  }

  bool RemoveIfDead(Instruction* i) {
    if (!i->IsDead()) return false;
    absl::InlinedVector<Instruction*, 4> operands(i->operands().begin(),
                                                  i->operands().end());
    i->parent()->Remove(i);
    Forget(i, operands);
    return true;
  }

  void Forget(Instruction* removed, absl::Span<Instruction* const> operands) {
    state_[removed->id()] = kRemoved;
    for (Instruction* o : operands) Push(o);
  }

  absl::StatusOr<bool> ApplyFirst(Instruction* i) {
    for (const RewriteRule* rule : rules_.For(i->opcode())) {
      if (rule->operand0.has_value() &&
          (i->operand_count() == 0 ||
           i->operand(0)->opcode() != *rule->operand0)) {
        continue;
      }
      rewriter_.set_target(i);
      Instruction* replacement = rule->rewrite(i, rewriter_);
      std::vector<Instruction*> added = rewriter_.TakeAdded();
      if (replacement == nullptr || replacement == i) {
        for (Instruction* a : added) Push(a);  // dead, or changed in place
        if (replacement == nullptr) continue;
        Count(*rule);
        Push(i);
        for (const Use& use : i->uses()) Push(use.user);
        return true;
      }
      if (!replacement->shape().Compatible(i->shape())) {
        return absl::InternalError(absl::StrCat(
            "rule ", rule->name, " replaces ", i->name(), " (line ",
            i->location().line, ") of shape ", i->shape().ToString(), " by ",
            replacement->shape().ToString()));
      }
      bool is_new = !added.empty() && added.back() == replacement;
      if (!SameShapeAndLayout(replacement->shape(), i->shape())) {
        if (!is_new) {
          for (Instruction* a : added) Push(a);
          continue;  // the instruction is there for its layout
        }
        replacement->set_shape(i->shape());
      }
      Count(*rule);
      for (Instruction* a : added) Push(a);
      Push(replacement);
      for (const Use& use : i->uses()) Push(use.user);
      absl::InlinedVector<Instruction*, 4> operands(i->operands().begin(),
                                                    i->operands().end());
      if (Rewriter::Replace(i, replacement, is_new)) Forget(i, operands);
      return true;
    }
    return false;
  }

  void Count(const RewriteRule& rule) {
    if (options_.stats == nullptr) return;
    ++options_.stats->rule_counts[std::string(rule.name)];
  }

  const RuleIndex& rules_;
  const PassOptions& options_;
  Rewriter rewriter_;
  std::deque<Instruction*> queue_;
  std::vector<uint8_t> state_;  // by instruction id
};

}  // namespace

absl::StatusOr<bool> ApplyRules(
    Module* module, absl::Span<const absl::Span<const RewriteRule>> tables,
    const PassOptions& options) {
  RuleIndex rules(tables);
  Worklist worklist(rules, options);
  bool changed = false;
  for (Computation* computation : ComputationsInScope(module, options)) {
    absl::StatusOr<bool> c = worklist.Run(computation);
    if (!c.ok()) return c.status();
    changed |= *c;
  }
  return changed;
}

}  // namespace ridge
