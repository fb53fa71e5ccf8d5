#include "backends/kernel/precision.h"

namespace ridge {
namespace {

std::vector<bool> ExactNodes(const Kernel& kernel) {
  std::vector<bool> exact(kernel.nodes.size(), false);
  auto jumps = [&](const Node& n) {
    if (n.kind == NodeKind::kReduce) {
      const ScalarFunction& function = kernel.functions[n.function];
      return !function.simple.has_value() && !function.online;
    }
    if (n.kind != NodeKind::kOp) return false;
    switch (n.opcode) {
      case Opcode::kConvert:
      case Opcode::kBitcastConvert:
        return !IsFloat(n.type);
      case Opcode::kCompare:
      case Opcode::kFloor:
      case Opcode::kCeil:
      case Opcode::kRoundNearestAfz:
      case Opcode::kRoundNearestEven:
      case Opcode::kRemainder:
      case Opcode::kSign:
      case Opcode::kIsFinite:
      case Opcode::kReducePrecision:
      case Opcode::kStochasticConvert:
        return true;
      default:
        return false;
    }
  };
  for (size_t n = kernel.nodes.size(); n-- > 0;) {
    const Node& node = kernel.nodes[n];
    if (!exact[n] && !jumps(node)) continue;
    for (NodeId o : node.operands) exact[o] = true;
  }
  return exact;
}

bool IsLongSum(const Kernel& kernel, const Node& node) {
  return node.kind == NodeKind::kReduce &&
         kernel.functions[node.function].simple == Opcode::kAdd &&
         PointCount(kernel, node.reduced) >= kLongSum;
}

bool IsOneOf(const Node& node, std::initializer_list<Opcode> opcodes) {
  if (node.kind != NodeKind::kOp || !IsFloat(node.type)) return false;
  for (Opcode o : opcodes) {
    if (node.opcode == o) return true;
  }
  return false;
}

// Values with the drift of a long sum as a factor.
std::vector<bool> DriftingNodes(const Kernel& kernel) {
  std::vector<bool> drifts(kernel.nodes.size(), false);
  for (size_t n = 0; n < kernel.nodes.size(); ++n) {
    const Node& node = kernel.nodes[n];
    if (IsLongSum(kernel, node)) {
      drifts[n] = IsFloat(node.type);
    } else if (IsOneOf(node, {Opcode::kMultiply, Opcode::kDivide})) {
      drifts[n] = drifts[node.operands[0]] || drifts[node.operands[1]];
    } else if (IsOneOf(node,
                       {Opcode::kConvert, Opcode::kNegate, Opcode::kAbs})) {
      drifts[n] = drifts[node.operands[0]];
    }
  }
  return drifts;
}

std::vector<bool> LooseNodes(const Kernel& kernel,
                             const std::vector<bool>& exact) {
  const size_t count = kernel.nodes.size();
  std::vector<bool> loose(count, true);
  const std::vector<bool> drifts = DriftingNodes(kernel);
  auto narrow = [&](NodeId n) {
    return IsFloat(kernel.nodes[n].type) &&
           Info(kernel.nodes[n].type).bits <= 16;
  };
  auto seen = [&](NodeId n) {
    if (n >= 0) loose[n] = loose[n] && narrow(n);
  };
  auto seen_in_index = [&](IndexId expr) {
    if (expr < 0) return;
    for (int32_t d : kernel.index->DynamicNodes(expr)) seen(d);
  };
  for (const Store& s : kernel.stores) {
    seen(s.value);
    seen(s.guard);
    seen_in_index(s.offset);
  }
  for (size_t n = count; n-- > 0;) {
    const Node& node = kernel.nodes[n];
    seen(node.guard);
    seen_in_index(node.offset);
    if (IsLongSum(kernel, node)) continue;
    if (loose[n] &&
        IsOneOf(node, {Opcode::kConvert, Opcode::kMultiply, Opcode::kDivide,
                       Opcode::kNegate, Opcode::kAbs, Opcode::kSelect})) {
      continue;
    }
    if (IsOneOf(node, {Opcode::kMultiply, Opcode::kDivide})) {
      // One factor's drift hides what the other lacks.
      if (!drifts[node.operands[1]]) seen(node.operands[0]);
      if (!drifts[node.operands[0]]) seen(node.operands[1]);
      continue;
    }
    for (NodeId o : node.operands) seen(o);
  }
  for (size_t n = 0; n < count; ++n) {
    if (exact[n]) loose[n] = false;
  }
  return loose;
}

}  // namespace

ValuePrecision PrecisionOf(const Kernel& kernel) {
  ValuePrecision precision;
  precision.exact = ExactNodes(kernel);
  precision.loose = LooseNodes(kernel, precision.exact);
  return precision;
}

}  // namespace ridge
