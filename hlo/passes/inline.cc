#include "hlo/passes/inline.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace ridge {

absl::StatusOr<Instruction*> InlineBefore(
    Instruction* call, const Computation& callee,
    absl::Span<Instruction* const> arguments) {
  if (callee.parameters().size() != arguments.size() ||
      callee.root() == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(call->name(), " (line ", call->location().line, ") calls ",
                     callee.name(), " with ", arguments.size(),
                     " arguments; it takes ", callee.parameters().size()));
  }
  absl::flat_hash_map<const Instruction*, Instruction*> copies;
  copies.reserve(callee.instruction_count());
  const AttrValue* metadata = call->FindAttr(AttrId::kMetadata);
  for (const Instruction* i : callee.instructions()) {
    if (i->opcode() == Opcode::kParameter) {
      copies[i] = arguments[i->parameter_number()];
      continue;
    }
    std::vector<Instruction*> operands;
    operands.reserve(i->operand_count());
    for (const Instruction* o : i->operands()) operands.push_back(copies[o]);
    Instruction* copy =
        call->parent()->AddLike(*i, operands, nullptr, call, i->name());
    if (copy->location().line == 0) copy->set_location(call->location());
    if (metadata != nullptr && !copy->has(AttrId::kMetadata)) {
      copy->SetAttr(AttrId::kMetadata, *metadata);
    }
    for (const Instruction* p : i->control_predecessors()) {
      copy->AddControlPredecessor(copies[p]);
    }
    copies[i] = copy;
  }
  return copies[callee.root()];
}

}  // namespace ridge
