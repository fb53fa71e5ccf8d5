#include "fusion/validate.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/fingerprint.h"
#include "hlo/base/status_macros.h"
#include "hlo/text/printer.h"

namespace ridge {
namespace {

absl::Status Broken(const Group& group, const Instruction* i,
                    absl::string_view rule) {
  return absl::InvalidArgumentError(absl::StrCat(
      "plan: group ", group.name,
      i == nullptr ? "" : absl::StrCat(": %", std::string(i->name())), ": ",
      rule));
}

absl::Status ValidateComputation(const ComputationPlan& plan) {
  absl::flat_hash_map<const Instruction*, int> position;
  int next = 0;
  for (const Instruction* i : plan.computation->instructions()) {
    position[i] = next++;
  }
  absl::flat_hash_map<const Instruction*, const Group*> stored;
  absl::flat_hash_set<std::string> names;
  for (const Group& g : plan.groups) {
    if (!names.insert(g.name).second) {
      return Broken(g, nullptr, "two groups have this name");
    }
    if (g.members.empty()) return Broken(g, nullptr, "has no members");
    int last = -1;
    absl::flat_hash_set<const Instruction*> members;
    for (const Instruction* i : g.members) {
      auto it = position.find(i);
      if (it == position.end()) {
        return Broken(g, i, "is not of the computation");
      }
      if (it->second <= last) {
        return Broken(g, i, "members are not in list order, or repeat");
      }
      last = it->second;
      members.insert(i);
    }
    if (g.roots.empty()) return Broken(g, nullptr, "stores nothing");
    for (const Instruction* root : g.roots) {
      if (!members.contains(root)) {
        return Broken(g, root, "is a root but no member");
      }
      if (!stored.emplace(root, &g).second) {
        return Broken(g, root, "is stored by two groups");
      }
    }
    if (g.hero == nullptr || !members.contains(g.hero)) {
      return Broken(g, g.hero, "the hero is no member");
    }
  }
  // Groups run in order, so inputs must be stored before.
  absl::flat_hash_set<const Instruction*> ready;
  for (const Group& g : plan.groups) {
    for (const Instruction* input : GroupInputs(g)) {
      // Control flow may stand between groups; the runtime orders it.
      if (IsFree(*input)) continue;
      if (!ready.contains(input)) {
        return Broken(g, input,
                      stored.contains(input)
                          ? "is read before the group that stores it"
                          : "is read but stored by no group");
      }
    }
    ready.insert(g.roots.begin(), g.roots.end());
  }
  for (const Instruction* i : plan.computation->instructions()) {
    if (!IsFree(*i)) continue;
    for (const Instruction* o : i->operands()) {
      if (IsFree(*o) || stored.contains(o)) continue;
      if (AliasesOperand(*i) && i->use_count() == 0 && !i->IsRoot()) continue;
      // An alias that only groups read needs no stored operand.
      bool needed = !AliasesOperand(*i) || i->IsRoot();
      if (!needed) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("plan: %", std::string(o->name()), " is read by %",
                       std::string(i->name()), " but stored by no group"));
    }
  }
  return absl::OkStatus();
}

void HashInstruction(const Instruction& i, Fingerprinter* hash) {
  hash->Add(std::string(i.name()));
  hash->Add(std::string(Name(i.opcode())));
  hash->Add(i.shape().ToString(true));
  for (const Instruction* o : i.operands()) hash->Add(std::string(o->name()));
  for (const Attribute& a : i.attributes()) {
    // Where an instruction came from is no part of what it does.
    if (a.id == AttrId::kMetadata || a.id == AttrId::kStatistics) continue;
    hash->Add(std::string(Name(a.id)));
    if (const auto* ints = std::get_if<Ints>(&a.value)) {
      for (int64_t v : *ints) hash->Add(v);
    } else if (const auto* v = std::get_if<int64_t>(&a.value)) {
      hash->Add(*v);
    } else if (const auto* e = std::get_if<EnumValue>(&a.value)) {
      hash->Add(static_cast<int64_t>(e->value));
    } else if (const auto* b = std::get_if<bool>(&a.value)) {
      hash->Add(static_cast<int64_t>(*b));
    } else {
      // Windows, paddings, callees, ...
      hash->Add(PrintAttrValue(i, a.id));
    }
  }
  if (i.opcode() == Opcode::kConstant && i.literal().byte_size() > 0) {
    hash->Add(std::string(reinterpret_cast<const char*>(i.literal().bytes()),
                          i.literal().byte_size()));
  }
}

}  // namespace

std::vector<const Computation*> PlannedComputations(const Module& module) {
  absl::flat_hash_set<const Computation*> runs = {module.entry()};
  std::vector<const Computation*> stack = {module.entry()};
  while (!stack.empty()) {
    const Computation* c = stack.back();
    stack.pop_back();
    for (const Instruction* i : c->instructions()) {
      if (i->opcode() != Opcode::kWhile && i->opcode() != Opcode::kCall &&
          i->opcode() != Opcode::kConditional) {
        continue;
      }
      for (const Computation* called : i->called_computations()) {
        if (called != nullptr && runs.insert(called).second) {
          stack.push_back(called);
        }
      }
    }
  }
  std::vector<const Computation*> ordered;
  for (const Computation* c : module.computations()) {
    if (runs.contains(c) && c != module.entry()) ordered.push_back(c);
  }
  ordered.push_back(module.entry());
  return ordered;
}

// What no memory holds: sums of so many bytes would leave int64.
absl::Status CheckSizes(const Module& module) {
  constexpr int64_t kMostBytes = int64_t{1} << 50;
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      if (i->shape().ByteSize() <= kMostBytes) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          module.source_file(), module.source_file().empty() ? "line " : ":",
          i->location().line, ": ", Name(i->opcode()), " %",
          std::string(i->name()), ": ", i->shape().ToString(),
          " takes more than ", kMostBytes, " bytes"));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidatePlan(const Module& module, const Plan& plan) {
  absl::flat_hash_set<const Computation*> covered;
  absl::flat_hash_set<std::string> names;
  for (const ComputationPlan& c : plan.computations) {
    if (c.computation == nullptr || c.computation->module() != &module) {
      return absl::InvalidArgumentError(
          "plan: covers a computation of another module");
    }
    covered.insert(c.computation);
    RIDGE_RETURN_IF_ERROR(ValidateComputation(c));
    for (const Group& g : c.groups) {
      if (!names.insert(g.name).second) {
        return Broken(g, nullptr, "two groups have this name");
      }
    }
  }
  for (const Computation* c : PlannedComputations(module)) {
    if (!covered.contains(c)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "plan: computation ", std::string(c->name()), " is not covered"));
    }
  }
  return absl::OkStatus();
}

std::string FingerprintModule(const Module& module) {
  Fingerprinter hash;
  for (const Computation* c : module.computations()) {
    hash.Add(std::string(c->name()));
    for (const Instruction* i : c->instructions()) HashInstruction(*i, &hash);
  }
  return hash.Get128().ToHex();
}

}  // namespace ridge
