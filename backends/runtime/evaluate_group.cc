#include "backends/runtime/evaluate_group.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "backends/runtime/physical.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/evaluator.h"

namespace ridge {

absl::StatusOr<std::vector<Literal>> EvaluateGroup(
    const Group& group, absl::Span<const Literal> inputs) {
  absl::flat_hash_map<const Instruction*, Literal> values;
  size_t next = 0;
  for (const Instruction* input : GroupInputs(group)) {
    size_t leaves = 0;
    ForEachLeaf(input->shape(),
                [&](const Shape&, const ShapeIndex&) { ++leaves; });
    RIDGE_RET_CHECK(next + leaves <= inputs.size()) << group.name;
    values[input] = UnflattenLiteral(input->shape(), inputs, &next);
  }
  for (const Instruction* member : group.members) {
    std::vector<Literal> operands;
    for (const Instruction* operand : member->operands()) {
      auto value = values.find(operand);
      RIDGE_RET_CHECK(value != values.end())
          << group.name << " misses " << std::string(operand->name());
      operands.push_back(value->second);
    }
    RIDGE_ASSIGN_OR_RETURN(Literal value,
                           EvaluateInstruction(*member, operands));
    values[member] = std::move(value);
  }
  std::vector<Literal> roots;
  for (const Instruction* root : group.roots) {
    auto value = values.find(root);
    RIDGE_RET_CHECK(value != values.end()) << group.name;
    roots.push_back(value->second);
  }
  return FlattenLiterals(roots);
}

}  // namespace ridge
