#include "backends/runtime/arguments.h"

#include "absl/strings/str_cat.h"

namespace ridge {

std::vector<Shape> ParameterLeaves(const Module& module) {
  std::vector<Shape> leaves;
  for (const Instruction* p : module.entry()->parameters()) {
    ForEachLeaf(p->shape(), [&](const Shape& leaf, const ShapeIndex&) {
      leaves.push_back(leaf);
    });
  }
  return leaves;
}

std::vector<Shape> ResultLeaves(const Module& module) {
  std::vector<Shape> leaves;
  ForEachLeaf(
      module.entry()->root()->shape(),
      [&](const Shape& leaf, const ShapeIndex&) { leaves.push_back(leaf); });
  return leaves;
}

std::vector<Shape> InputLeaves(const Group& group) {
  std::vector<Shape> leaves;
  for (const Instruction* input : GroupInputs(group)) {
    ForEachLeaf(input->shape(), [&](const Shape& leaf, const ShapeIndex&) {
      leaves.push_back(leaf);
    });
  }
  return leaves;
}

absl::Status CheckArguments(const Module& module,
                            absl::Span<const Literal> arguments) {
  std::vector<Shape> expected = ParameterLeaves(module);
  if (expected.size() != arguments.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the module takes ", expected.size(), " arrays, not ",
                     arguments.size()));
  }
  for (size_t k = 0; k < expected.size(); ++k) {
    if (!expected[k].IsArray()) continue;
    if (!expected[k].Compatible(arguments[k].shape())) {
      return absl::InvalidArgumentError(
          absl::StrCat("argument ", k, " is ", arguments[k].shape().ToString(),
                       ", the module takes ", expected[k].ToString()));
    }
  }
  return absl::OkStatus();
}

}  // namespace ridge
