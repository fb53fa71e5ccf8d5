#include "backends/kernel/schedules/scaled_sum.h"

#include "backends/kernel/schedules/geometry.h"

namespace ridge {
namespace {

// One sum of floats that are carried in their own type.
bool IsPlainSum(const Kernel& kernel, NodeId reduce) {
  const Node& node = kernel.nodes[reduce];
  return node.kind == NodeKind::kReduce && node.operands.size() == 2 &&
         (node.type == ElementType::kF32 || node.type == ElementType::kF64) &&
         kernel.functions[node.function].simple == Opcode::kAdd;
}

bool IsOp(const Kernel& kernel, NodeId n, Opcode opcode) {
  return kernel.nodes[n].kind == NodeKind::kOp &&
         kernel.nodes[n].opcode == opcode;
}

}  // namespace

std::optional<ScaledSum> ScaledSumOf(const Kernel& kernel, NodeId reduce) {
  const uint64_t row = MinorBit(kernel);
  if (!IsPlainSum(kernel, reduce) || kernel.nodes[reduce].reduced != row) {
    return std::nullopt;
  }
  ScaledSum sum;
  sum.term = kernel.nodes[reduce].operands[0];
  auto varies = [&](NodeId n) { return (kernel.nodes[n].vars & row) != 0; };
  while (varies(sum.term)) {
    const Node& node = kernel.nodes[sum.term];
    if (IsOp(kernel, sum.term, Opcode::kNegate)) {
      sum.negative = !sum.negative;
      sum.term = node.operands[0];
    } else if (IsOp(kernel, sum.term, Opcode::kMultiply) &&
               varies(node.operands[0]) != varies(node.operands[1])) {
      const int of_row = varies(node.operands[0]) ? 0 : 1;
      sum.factors.push_back(node.operands[1 - of_row]);
      sum.term = node.operands[of_row];
    } else {
      break;
    }
  }
  if (!varies(sum.term) || sum.factors.empty()) return std::nullopt;
  return sum;
}

std::optional<ProductTerm> ProductTermOf(const Kernel& kernel, NodeId reduce) {
  if (!IsPlainSum(kernel, reduce)) return std::nullopt;
  const NodeId value = kernel.nodes[reduce].operands[0];
  if (!IsOp(kernel, value, Opcode::kMultiply)) return std::nullopt;
  const Node& product = kernel.nodes[value];
  return ProductTerm{product.operands[0], product.operands[1]};
}

}  // namespace ridge
