#include "backends/kernel/schedules/cases.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "backends/kernel/conditions.h"

namespace ridge {
namespace {

// Conditions that are tried: each costs two passes over the nodes.
constexpr int kMostConditions = 8;

int64_t LoadCount(const Kernel& kernel) {
  return std::count_if(kernel.nodes.begin(), kernel.nodes.end(),
                       [](const Node& n) { return n.kind == NodeKind::kLoad; });
}

bool IsBound(const Kernel& kernel, const Node& node) {
  return node.kind == NodeKind::kOp && node.opcode == Opcode::kCompare &&
         kernel.nodes[node.operands[0]].kind == NodeKind::kIndex &&
         kernel.nodes[node.operands[1]].kind == NodeKind::kConst;
}

// Of two integers.
ComparisonDirection Inverse(ComparisonDirection d) {
  switch (d) {
    case ComparisonDirection::kEq:
      return ComparisonDirection::kNe;
    case ComparisonDirection::kNe:
      return ComparisonDirection::kEq;
    case ComparisonDirection::kLt:
      return ComparisonDirection::kGe;
    case ComparisonDirection::kGe:
      return ComparisonDirection::kLt;
    case ComparisonDirection::kGt:
      return ComparisonDirection::kLe;
    case ComparisonDirection::kLe:
      return ComparisonDirection::kGt;
  }
  return d;
}

// The kernel where `condition` is `value`.
Kernel Assuming(const Kernel& kernel, NodeId condition, bool value) {
  Kernel result = kernel;
  // Finishing appends to the pool.
  result.index = std::make_shared<IndexPool>(*kernel.index);
  const Node known = kernel.nodes[condition];
  DecideConditions(
      [&](const Kernel& k, NodeId n) -> std::optional<bool> {
        const Node& node = k.nodes[n];
        if (n == condition) return value;
        if (node.kind == NodeKind::kOp && node.opcode == Opcode::kCompare &&
            node.operands == known.operands &&
            node.direction == Inverse(known.direction)) {
          return !value;
        }
        return std::nullopt;
      },
      &result);
  return result;
}

}  // namespace

std::optional<Cases> SplitCases(const Kernel& kernel,
                                const std::function<bool(NodeId)>& usable) {
  std::optional<Cases> best;
  int64_t fewest = LoadCount(kernel);
  int tried = 0;
  for (NodeId n = 0;
       n < static_cast<NodeId>(kernel.nodes.size()) && tried < kMostConditions;
       ++n) {
    if (!IsBound(kernel, kernel.nodes[n]) || !usable(n)) continue;
    ++tried;
    Cases cases;
    cases.condition = n;
    cases.holds = Assuming(kernel, n, true);
    cases.fails = Assuming(kernel, n, false);
    const int64_t loads =
        std::max(LoadCount(cases.holds), LoadCount(cases.fails));
    if (loads >= fewest) continue;
    fewest = loads;
    best = std::move(cases);
  }
  return best;
}

}  // namespace ridge
