#include "backends/kernel/schedules/table.h"

#include <algorithm>

#include "backends/kernel/schedules/geometry.h"

namespace ridge {
namespace {

constexpr int kMostBits = 16;
// Kernels with more nodes than this are not searched: the search is quadratic.
constexpr size_t kMostNodes = 600;
// Operations that a multiprocessor does while it moves a byte, about: beyond,
// arithmetic bounds the kernel.
constexpr double kOpsPerByte = 4;
// Points for each entry, so that filling the table on every multiprocessor
// stays a small part of the time.
constexpr int64_t kPointsPerEntry = 256;
// Static shared memory and what the system keeps of a block's.
constexpr int64_t kOtherSharedBytes = 2048;

bool IsSmall(ElementType type) {
  return (IsFloat(type) || IsInteger(type)) && Info(type).bits <= kMostBits;
}

double OpsOfNode(const Node& n) {
  if (n.kind != NodeKind::kOp) return 0;
  const OpCost cost = CostOf(n.opcode);
  const bool rounds = IsFloat(n.type) && Info(n.type).bits < 32;
  return cost.fma + 4 * cost.special + (rounds ? 1 : 0);
}

// The nodes that depend on `from` and constants alone, and the costliest of
// them that is small.
Table From(const Kernel& kernel, NodeId from) {
  Table table;
  table.from = from;
  const size_t count = kernel.nodes.size();
  std::vector<bool> only(count, false);
  std::vector<bool> constant(count, false);
  // Operations on the way to a node; a node reached twice is counted twice,
  // which only the choice between candidates sees.
  std::vector<double> ops(count, 0);
  only[from] = true;
  for (size_t n = 0; n < count; ++n) {
    const Node& node = kernel.nodes[n];
    if (node.kind == NodeKind::kConst) constant[n] = true;
    if (node.kind != NodeKind::kOp || static_cast<NodeId>(n) <= from) continue;
    bool all = true;
    for (NodeId o : node.operands) {
      all = all && (only[o] || constant[o]);
      ops[n] = std::max(ops[n], ops[o]);
    }
    only[n] = all && std::any_of(node.operands.begin(), node.operands.end(),
                                 [&](NodeId o) { return only[o]; });
    if (!only[n]) continue;
    ops[n] += OpsOfNode(node);
    if (IsSmall(node.type) && (table.value < 0 || ops[n] >= ops[table.value])) {
      table.value = static_cast<NodeId>(n);
    }
  }
  if (table.value < 0) return table;
  // What the value needs, and nothing else does.
  table.inside.assign(count, false);
  std::vector<NodeId> stack = {table.value};
  while (!stack.empty()) {
    const NodeId at = stack.back();
    stack.pop_back();
    if (at == from || constant[at] || table.inside[at]) continue;
    table.inside[at] = true;
    for (NodeId o : kernel.nodes[at].operands) stack.push_back(o);
  }
  // What others need is computed for every point all the same.
  std::vector<bool> needed(count, false);
  for (const Store& s : kernel.stores) {
    needed[s.value] = true;
    if (s.guard >= 0) needed[s.guard] = true;
    for (int32_t d : kernel.index->DynamicNodes(s.offset)) needed[d] = true;
  }
  for (size_t n = count; n-- > 0;) {
    const Node& node = kernel.nodes[n];
    const bool by_table = static_cast<NodeId>(n) == table.value;
    if (!needed[n] || by_table) continue;
    table.inside[n] = false;
    for (NodeId o : node.operands) needed[o] = true;
    if (node.guard >= 0) needed[node.guard] = true;
    if (node.offset < 0) continue;
    for (int32_t d : kernel.index->DynamicNodes(node.offset)) needed[d] = true;
  }
  for (size_t n = 0; n < count; ++n) {
    if (table.inside[n]) table.saved_ops += OpsOfNode(kernel.nodes[n]);
  }
  table.entries = int64_t{1} << Info(kernel.nodes[from].type).bits;
  table.bytes = table.entries * NodeBytes(kernel.nodes[table.value]);
  return table;
}

}  // namespace

Table FindTable(const Kernel& kernel, const DeviceLimits& device) {
  Table best;
  if (kernel.nodes.size() > kMostNodes || FoldedMask(kernel) != 0) return best;
  for (NodeId n = 0; n < static_cast<NodeId>(kernel.nodes.size()); ++n) {
    const Node& node = kernel.nodes[n];
    const bool of_point = (node.vars & ~SpaceMask(kernel)) == 0;
    if (!of_point || !IsSmall(node.type) || Info(node.type).bits < 8 ||
        (node.kind != NodeKind::kLoad && node.kind != NodeKind::kOp)) {
      continue;
    }
    Table table = From(kernel, n);
    if (table.value >= 0 && table.saved_ops > best.saved_ops &&
        table.bytes + kOtherSharedBytes <= device.shared_bytes_per_block) {
      best = std::move(table);
    }
  }
  return best;
}

bool TablePays(const Kernel& kernel, int64_t points,
               const DeviceLimits& device) {
  if (!device.is_gpu) return false;
  double ops = 0;
  int64_t bytes = 0;
  for (const Node& n : kernel.nodes) {
    ops += OpsOfNode(n);
    if (n.kind == NodeKind::kLoad && PointCount(kernel, n.vars) == points) {
      bytes += NodeBytes(n);
    }
  }
  for (const Store& s : kernel.stores) {
    bytes += StorageBytes(kernel.buffers[s.buffer].shape.type());
  }
  if (ops <= kOpsPerByte * static_cast<double>(bytes)) return false;
  const Table table = FindTable(kernel, device);
  return table.value >= 0 && table.saved_ops > ops / 2 &&
         points / kPointsPerEntry >= table.entries;
}

}  // namespace ridge
