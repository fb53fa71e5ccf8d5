#include "backends/kernel/schedules/row_again.h"

#include <algorithm>
#include <vector>

#include "backends/kernel/precision.h"
#include "backends/kernel/schedules/geometry.h"

namespace ridge {

int64_t InstructionsOf(const Node& node, bool is_loose) {
  if (node.kind == NodeKind::kIndex) return 2;
  if (node.kind != NodeKind::kOp) return 0;
  switch (node.opcode) {
    case Opcode::kExp:
      if (is_loose && node.type == ElementType::kF32) return 2;
      [[fallthrough]];
    case Opcode::kExpm1:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kTanh:
    case Opcode::kLogistic:
    case Opcode::kErf:
    case Opcode::kPower:
    case Opcode::kSine:
    case Opcode::kCosine:
      return IsFloat(node.type) ? 10 : 2;
    case Opcode::kDivide:
    case Opcode::kRemainder:
      return 6;
    default:
      return 1;
  }
}

int64_t InstructionsAgain(const Kernel& kernel) {
  const uint64_t row = MinorBit(kernel);
  // By node: passes (bits) that need it for elements.
  std::vector<uint64_t> passes(kernel.nodes.size(), 0);
  auto bit = [](int32_t pass) { return uint64_t{1} << std::min(63, pass); };
  for (const Store& s : kernel.stores) {
    if ((s.vars & row) == 0) continue;
    passes[s.value] |= bit(kernel.nodes[s.value].phase);
    if (s.guard >= 0) passes[s.guard] |= bit(kernel.nodes[s.value].phase);
  }
  const ValuePrecision precision = PrecisionOf(kernel);
  int64_t again = 0;
  for (size_t n = kernel.nodes.size(); n-- > 0;) {
    const Node& node = kernel.nodes[n];
    const bool folds = (node.reduced & row) != 0;
    const uint64_t of = folds ? bit(node.phase - 1) : passes[n];
    if (of == 0 || (!folds && (node.vars & row) == 0)) continue;
    for (NodeId o : node.operands) passes[o] |= of;
    if (!folds) {
      again += (__builtin_popcountll(of) - 1) *
               InstructionsOf(node, precision.loose[n]);
    }
  }
  return again;
}

}  // namespace ridge
