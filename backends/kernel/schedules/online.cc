#include "backends/kernel/schedules/online.h"

#include <initializer_list>
#include <map>
#include <utility>

#include "backends/kernel/schedules/geometry.h"

namespace ridge {
namespace {

constexpr uint32_t kMinusInfinity = 0xff800000u;
constexpr uint32_t kOne = 0x3f800000u;

// Two folds and what lies between them.
struct Pair {
  NodeId maximum = -1;
  NodeId sum = -1;
  NodeId value = -1;      // a
  NodeId reference = -1;  // b
};

bool IsF32(const Node& node) { return node.type == ElementType::kF32; }

// A fold over the last space variable with one simple reducer, that starts
// from the constant with the bits `init`.
bool IsFold(const Kernel& kernel, NodeId n, Opcode reducer, uint32_t init) {
  const Node& node = kernel.nodes[n];
  if (node.kind != NodeKind::kReduce || !IsF32(node) ||
      node.operands.size() != 2 || node.reduced != MinorBit(kernel) ||
      kernel.functions[node.function].simple != reducer) {
    return false;
  }
  const Node& start = kernel.nodes[node.operands[1]];
  return start.kind == NodeKind::kConst && start.bits == init;
}

bool IsOp(const Node& node, Opcode opcode) {
  return node.kind == NodeKind::kOp && node.opcode == opcode && IsF32(node);
}

std::optional<Pair> PairAt(const Kernel& kernel, NodeId n) {
  if (!IsFold(kernel, n, Opcode::kAdd, 0)) return std::nullopt;
  const Node& exponential = kernel.nodes[kernel.nodes[n].operands[0]];
  if (!IsOp(exponential, Opcode::kExp)) return std::nullopt;
  const Node& difference = kernel.nodes[exponential.operands[0]];
  if (!IsOp(difference, Opcode::kSubtract)) return std::nullopt;
  Pair pair;
  pair.sum = n;
  pair.value = difference.operands[0];
  pair.reference = difference.operands[1];
  const uint64_t row = MinorBit(kernel);
  if ((kernel.nodes[pair.value].vars & row) == 0 ||
      (kernel.nodes[pair.reference].vars & row) != 0) {
    return std::nullopt;
  }
  for (NodeId m = pair.value + 1; m < pair.sum; ++m) {
    if (IsFold(kernel, m, Opcode::kMaximum, kMinusInfinity) &&
        kernel.nodes[m].operands[0] == pair.value &&
        kernel.nodes[m].phase == kernel.nodes[pair.reference].phase) {
      pair.maximum = m;
    }
  }
  if (pair.maximum < 0) return std::nullopt;
  return pair;
}

// Appends nodes in order.
class Writer {
 public:
  explicit Writer(std::vector<Node>* nodes) : nodes_(*nodes) {}

  NodeId Add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<NodeId>(nodes_.size()) - 1;
  }
  // One to be filled in, until the next is added.
  Node& New(NodeKind kind, ElementType type = ElementType::kF32) {
    Node& node = nodes_.emplace_back();
    node.kind = kind;
    node.type = type;
    return node;
  }
  NodeId Last() const { return static_cast<NodeId>(nodes_.size()) - 1; }
  NodeId Const(uint32_t bits) {
    New(NodeKind::kConst).bits = bits;
    return Last();
  }
  NodeId Op(Opcode opcode, std::initializer_list<NodeId> operands,
            ElementType type = ElementType::kF32) {
    Node& node = New(NodeKind::kOp, type);
    node.opcode = opcode;
    node.operands.assign(operands.begin(), operands.end());
    return Last();
  }

 private:
  std::vector<Node>& nodes_;
};

ScalarFunction Combiner() {
  ScalarFunction f;
  f.name = "online";
  f.parameter_count = 4;
  f.online = true;
  Writer w(&f.nodes);
  for (int p = 0; p < 4; ++p) w.New(NodeKind::kParameter);
  const NodeId m = w.Op(Opcode::kMaximum, {0, 2});
  const NodeId one = w.Const(kOne);
  auto part = [&](NodeId own, NodeId sum) {
    const NodeId is_same = w.Op(Opcode::kCompare, {own, m}, ElementType::kPred);
    f.nodes.back().direction = ComparisonDirection::kEq;
    const NodeId factor =
        w.Op(Opcode::kExp, {w.Op(Opcode::kSubtract, {own, m})});
    return w.Op(Opcode::kMultiply,
                {sum, w.Op(Opcode::kSelect, {is_same, one, factor})});
  };
  const NodeId first = part(0, 1);
  const NodeId second = part(2, 3);
  f.results = {m, w.Op(Opcode::kAdd, {first, second})};
  return f;
}

}  // namespace

std::optional<Kernel> Online(const Kernel& kernel) {
  std::map<NodeId, Pair> by_maximum, by_sum;
  for (NodeId n = 0; n < static_cast<NodeId>(kernel.nodes.size()); ++n) {
    std::optional<Pair> pair = PairAt(kernel, n);
    // One sum a maximum; a second one keeps its own reading.
    if (pair.has_value() && by_maximum.emplace(pair->maximum, *pair).second) {
      by_sum.emplace(n, *pair);
    }
  }
  if (by_sum.empty()) return std::nullopt;
  Kernel online = kernel;
  online.functions.push_back(Combiner());
  online.nodes.clear();
  Writer w(&online.nodes);
  std::vector<NodeId> to(kernel.nodes.size(), -1);
  std::map<NodeId, NodeId> sum_of;  // by maximum: the sum relative to it
  auto index = [&](IndexId expr) {
    return expr >= 0 && kernel.index->HasDynamic(expr)
               ? kernel.index->RenameDynamic(expr, to)
               : expr;
  };
  for (NodeId n = 0; n < static_cast<NodeId>(kernel.nodes.size()); ++n) {
    Node node = kernel.nodes[n];
    for (NodeId& o : node.operands) o = to[o];
    if (node.guard >= 0) node.guard = to[node.guard];
    node.offset = index(node.offset);
    if (by_maximum.count(n) != 0) {
      Node fold = node;
      const NodeId one = w.Const(kOne);
      const NodeId zero = w.Const(0);
      fold.operands.assign({node.operands[0], one, node.operands[1], zero});
      fold.function = static_cast<int32_t>(online.functions.size()) - 1;
      Node sum = fold;
      sum.result = 1;
      sum.origin = kernel.nodes[by_maximum[n].sum].origin;
      to[n] = w.Add(std::move(fold));
      sum_of[n] = w.Add(std::move(sum));
      continue;
    }
    auto it = by_sum.find(n);
    if (it != by_sum.end()) {
      const Pair& pair = it->second;
      const NodeId difference =
          w.Op(Opcode::kSubtract, {to[pair.maximum], to[pair.reference]});
      to[n] = w.Op(Opcode::kMultiply,
                   {sum_of[pair.maximum], w.Op(Opcode::kExp, {difference})});
      online.nodes.back().origin = kernel.nodes[n].origin;
      continue;
    }
    to[n] = w.Add(std::move(node));
  }
  for (Store& s : online.stores) {
    s.value = to[s.value];
    if (s.guard >= 0) s.guard = to[s.guard];
    s.offset = index(s.offset);
  }
  FinishKernel(&online);
  return online;
}

}  // namespace ridge
