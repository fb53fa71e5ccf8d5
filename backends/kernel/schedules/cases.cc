#include "backends/kernel/schedules/cases.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

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

// Rewrites nodes in order under the assumption that one of them is known.
class Assumption {
 public:
  Assumption(const Kernel& kernel, NodeId condition, bool value)
      : kernel_(kernel), same_as_(kernel_.nodes.size()) {
    // Finishing appends to the pool.
    kernel_.index = std::make_shared<IndexPool>(*kernel.index);
    std::iota(same_as_.begin(), same_as_.end(), 0);
    const Node known = kernel_.nodes[condition];
    for (NodeId n = 0; n < static_cast<NodeId>(kernel_.nodes.size()); ++n) {
      Node& node = kernel_.nodes[n];
      for (NodeId& o : node.operands) o = same_as_[o];
      if (node.guard >= 0) node.guard = same_as_[node.guard];
      if (n == condition) {
        Fix(n, value);
      } else if (IsInverse(node, known)) {
        Fix(n, !value);
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
  Kernel Take() { return std::move(kernel_); }

 private:
  static bool IsInverse(const Node& node, const Node& known) {
    return node.kind == NodeKind::kOp && node.opcode == Opcode::kCompare &&
           node.operands == known.operands &&
           node.direction == Inverse(known.direction);
  }
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

  Kernel kernel_;
  std::vector<NodeId> same_as_;
};

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
    cases.holds = Assumption(kernel, n, true).Take();
    cases.fails = Assumption(kernel, n, false).Take();
    const int64_t loads =
        std::max(LoadCount(cases.holds), LoadCount(cases.fails));
    if (loads >= fewest) continue;
    fewest = loads;
    best = std::move(cases);
  }
  return best;
}

}  // namespace ridge
