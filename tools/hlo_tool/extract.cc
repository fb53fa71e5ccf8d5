#include "tools/hlo_tool/extract.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/text/diagnostic.h"

namespace ridge {
namespace {

const Instruction* FindInstruction(const Computation& computation,
                                   absl::string_view name) {
  for (const Instruction* i : computation.instructions()) {
    if (i->name() == name) return i;
  }
  return nullptr;
}

// The entry's instruction of that name first, then any other's.
const Instruction* FindInstruction(const Module& module,
                                   absl::string_view name) {
  size_t slash = name.rfind('/');
  if (slash != absl::string_view::npos) {
    const Computation* c = module.FindComputation(name.substr(0, slash));
    absl::string_view rest = name.substr(slash + 1);
    absl::ConsumePrefix(&rest, "%");
    return c == nullptr ? nullptr : FindInstruction(*c, rest);
  }
  if (module.entry() != nullptr) {
    const Instruction* i = FindInstruction(*module.entry(), name);
    if (i != nullptr) return i;
  }
  for (const Computation* c : module.computations()) {
    const Instruction* i = FindInstruction(*c, name);
    if (i != nullptr) return i;
  }
  return nullptr;
}

absl::Status NotFound(const Module& module, absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const Computation* c : module.computations()) {
    names.push_back(c->name());
    for (const Instruction* i : c->instructions()) names.push_back(i->name());
  }
  return absl::NotFoundError(absl::StrCat("no instruction or computation `",
                                          name, "` in module `", module.name(),
                                          "`", DidYouMean(name, names)));
}

// Everything `target` needs within its computation.
absl::flat_hash_set<const Instruction*> Cone(const Instruction* target) {
  absl::flat_hash_set<const Instruction*> cone = {target};
  std::vector<const Instruction*> stack = {target};
  auto visit = [&](const Instruction* i) {
    if (cone.insert(i).second) stack.push_back(i);
  };
  while (!stack.empty()) {
    const Instruction* i = stack.back();
    stack.pop_back();
    for (const Instruction* o : i->operands()) visit(o);
    for (const Instruction* p : i->control_predecessors()) visit(p);
  }
  return cone;
}

// Removes what is not in `kept` (copies by original), users first.
void RemoveOthers(
    const absl::flat_hash_map<const Instruction*, Instruction*>& copies,
    const absl::flat_hash_set<const Instruction*>& kept,
    Computation* computation) {
  absl::flat_hash_set<const Instruction*> keep;
  for (const auto& [original, copy] : copies) {
    if (kept.contains(original)) keep.insert(copy);
  }
  std::vector<Instruction*> all = computation->InstructionVector();
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    Instruction* i = *it;
    if (keep.contains(i)) continue;
    if (i->opcode() == Opcode::kParameter) {
      computation->RemoveParameter(i->parameter_number());
    } else {
      computation->Remove(i);
    }
  }
}

std::unique_ptr<Module> ExtractComputation(const Module& module,
                                           const Computation& computation) {
  auto result = std::make_unique<Module>(computation.name());
  absl::flat_hash_map<const Computation*, Computation*> map;
  result->set_entry(result->CloneComputation(computation, &map));
  return result;
}

std::unique_ptr<Module> ExtractCone(const Instruction& target) {
  std::unique_ptr<Module> result =
      ExtractComputation(*target.module(), *target.parent());
  Computation* entry = result->entry();
  // Copies stand in the order of their originals.
  absl::flat_hash_map<const Instruction*, Instruction*> copies;
  Instruction* copy = entry->first();
  for (const Instruction* i : target.parent()->instructions()) {
    copies[i] = copy;
    copy = copy->next();
  }
  entry->set_root(copies[&target]);
  RemoveOthers(copies, Cone(&target), entry);
  result->RemoveUnreachableComputations();
  result->set_name(target.name());
  return result;
}

// The instruction with its operands as parameters.
std::unique_ptr<Module> ExtractAlone(const Instruction& target) {
  auto result = std::make_unique<Module>(target.name());
  absl::flat_hash_map<const Computation*, Computation*> map;
  for (const Computation* called : target.called_computations()) {
    if (called != nullptr) result->CloneComputation(*called, &map);
  }
  Computation* entry = result->AddComputation("entry");
  result->set_entry(entry);
  absl::flat_hash_map<const Instruction*, Instruction*> parameters;
  std::vector<Instruction*> operands;
  for (const Instruction* o : target.operands()) {
    Instruction*& p = parameters[o];
    if (p == nullptr && o->opcode() == Opcode::kConstant) {
      p = entry->Add(Opcode::kConstant, o->shape(), {}, o->name());
      p->set_literal(o->shared_literal());
    } else if (p == nullptr) {
      int64_t number = static_cast<int64_t>(entry->parameters().size());
      p = entry->AddParameter(number, o->shape(), o->name());
    }
    operands.push_back(p);
  }
  Instruction* copy = entry->AddLike(target, operands);
  copy->RehomeAttributes();
  if (target.opcode() == Opcode::kParameter) {
    copy->set_parameter_number(0);
    entry->RegisterParameter(copy);
  }
  copy->MapComputations([&](Computation* c) {
    auto it = map.find(c);
    return it == map.end() ? c : it->second;
  });
  entry->set_root(copy);
  return result;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> Extract(const Module& module,
                                                absl::string_view name,
                                                bool alone) {
  absl::ConsumePrefix(&name, "%");
  std::unique_ptr<Module> result;
  if (const Computation* c = module.FindComputation(name)) {
    result = ExtractComputation(module, *c);
  } else if (const Instruction* i = FindInstruction(module, name)) {
    alone = alone || i->opcode() == Opcode::kFusion;
    result = alone ? ExtractAlone(*i) : ExtractCone(*i);
  } else {
    return NotFound(module, name);
  }
  result->set_source_file(module.source_file());
  // A schedule stays one, as do device counts; layouts and aliases are those
  // of another entry.
  for (const Module::HeaderAttribute& a : module.header()) {
    if (a.name != "is_scheduled" && a.name != "replica_count" &&
        a.name != "num_partitions") {
      continue;
    }
    result->mutable_header()->push_back(
        {result->CopyText(a.name), result->CopyText(a.text)});
  }
  return result;
}

}  // namespace ridge
