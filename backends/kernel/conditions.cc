#include "backends/kernel/conditions.h"

#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace ridge {
namespace {

class Decider {
 public:
  explicit Decider(Kernel* kernel)
      : kernel_(*kernel), same_as_(kernel->nodes.size()) {
    std::iota(same_as_.begin(), same_as_.end(), 0);
  }

  void Run(
      const std::function<std::optional<bool>(const Kernel&, NodeId)>& known) {
    for (NodeId n = 0; n < static_cast<NodeId>(kernel_.nodes.size()); ++n) {
      Node& node = kernel_.nodes[n];
      for (NodeId& o : node.operands) o = same_as_[o];
      if (node.guard >= 0) node.guard = same_as_[node.guard];
      if (const std::optional<bool> value = known(kernel_, n)) {
        Fix(n, *value);
      } else {
        Simplify(n);
      }
    }
    for (Store& s : kernel_.stores) {
      s.value = same_as_[s.value];
      if (s.guard >= 0) s.guard = same_as_[s.guard];
    }
    FinishKernel(&kernel_);
  }

 private:
  void Fix(NodeId n, bool value) {
    Node fixed;
    fixed.kind = NodeKind::kConst;
    fixed.type = ElementType::kPred;
    fixed.bits = value ? 1 : 0;
    kernel_.nodes[n] = std::move(fixed);
  }
  std::optional<bool> Known(NodeId n) const {
    const Node& node = kernel_.nodes[n];
    if (node.kind != NodeKind::kConst || node.type != ElementType::kPred) {
      return std::nullopt;
    }
    return node.bits != 0;
  }

  void Simplify(NodeId n) {
    Node& node = kernel_.nodes[n];
    if (node.kind == NodeKind::kLoad && node.guard >= 0) {
      const std::optional<bool> guard = Known(node.guard);
      if (!guard.has_value()) return;
      node.guard = -1;
      if (*guard) return;
      Node zero;  // what a load yields where its guard is false
      zero.kind = NodeKind::kConst;
      zero.type = node.type;
      node = std::move(zero);
      return;
    }
    if (node.kind != NodeKind::kOp) return;
    switch (node.opcode) {
      case Opcode::kSelect:
        if (const std::optional<bool> c = Known(node.operands[0])) {
          same_as_[n] = node.operands[*c ? 1 : 2];
        }
        return;
      case Opcode::kNot:
        if (node.type != ElementType::kPred) return;
        if (const std::optional<bool> c = Known(node.operands[0])) {
          Fix(n, !*c);
        }
        return;
      case Opcode::kAnd:
      case Opcode::kOr:
        if (node.type != ElementType::kPred) return;
        for (int k : {0, 1}) {
          const std::optional<bool> c = Known(node.operands[k]);
          if (!c.has_value()) continue;
          // The value that decides alone, or leaves it to the other.
          if (*c == (node.opcode == Opcode::kOr)) {
            Fix(n, *c);
          } else {
            same_as_[n] = node.operands[1 - k];
          }
          return;
        }
        return;
      default:
        return;
    }
  }

  Kernel& kernel_;
  std::vector<NodeId> same_as_;
};

}  // namespace

std::optional<IndexBound> BoundOf(const Kernel& kernel, NodeId n) {
  const Node& node = kernel.nodes[n];
  if (node.kind != NodeKind::kOp || node.opcode != Opcode::kCompare) {
    return std::nullopt;
  }
  const Node& index = kernel.nodes[node.operands[0]];
  const Node& limit = kernel.nodes[node.operands[1]];
  if (index.kind != NodeKind::kIndex || limit.kind != NodeKind::kConst) {
    return std::nullopt;
  }
  // Of the types that hold the index as it is.
  if (limit.type != index.type ||
      (limit.type != ElementType::kS32 && limit.type != ElementType::kS64)) {
    return std::nullopt;
  }
  IndexBound bound;
  bound.index = index.offset;
  bound.first = limit.type == ElementType::kS32
                    ? static_cast<int32_t>(limit.bits)
                    : static_cast<int64_t>(limit.bits);
  if (bound.first == std::numeric_limits<int64_t>::max()) return std::nullopt;
  switch (node.direction) {
    case ComparisonDirection::kLt:
      return bound;
    case ComparisonDirection::kLe:
      ++bound.first;
      return bound;
    case ComparisonDirection::kGe:
      bound.below = false;
      return bound;
    case ComparisonDirection::kGt:
      ++bound.first;
      bound.below = false;
      return bound;
    default:
      return std::nullopt;
  }
}

void DecideConditions(
    const std::function<std::optional<bool>(const Kernel&, NodeId)>& known,
    Kernel* kernel) {
  Decider(kernel).Run(known);
}

}  // namespace ridge
