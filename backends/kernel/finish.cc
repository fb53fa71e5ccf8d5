// FinishKernel and MergeVars: what is derived from the nodes as built.
#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/kernel/builder.h"
#include "backends/kernel/kernel.h"

namespace ridge {

NodeKey KeyOf(const Node& n) {
  NodeKey key = {static_cast<int64_t>(n.kind),
                 static_cast<int64_t>(n.opcode),
                 static_cast<int64_t>(n.type),
                 n.buffer,
                 n.offset,
                 n.guard,
                 static_cast<int64_t>(n.bits),
                 static_cast<int64_t>(n.bits_high),
                 static_cast<int64_t>(n.direction),
                 n.total_order,
                 n.exponent_bits,
                 n.mantissa_bits,
                 n.function,
                 n.result,
                 static_cast<int64_t>(n.reduced)};
  for (NodeId o : n.operands) key.push_back(o);
  return key;
}

namespace {

// Marks what the stores need. Users come after operands, so one pass from the
// back does.
std::vector<bool> LiveNodes(const Kernel& kernel) {
  std::vector<bool> live(kernel.nodes.size());
  auto mark = [&](NodeId n) {
    if (n >= 0) live[n] = true;
  };
  auto mark_index = [&](IndexId expr) {
    if (expr < 0) return;
    for (int32_t n : kernel.index->DynamicNodes(expr)) live[n] = true;
  };
  for (const Store& store : kernel.stores) {
    mark(store.value);
    mark(store.guard);
    mark_index(store.offset);
  }
  for (int64_t n = static_cast<int64_t>(kernel.nodes.size()) - 1; n >= 0; --n) {
    if (!live[n]) continue;
    const Node& node = kernel.nodes[n];
    for (NodeId o : node.operands) mark(o);
    mark(node.guard);
    mark_index(node.offset);
  }
  return live;
}

void Derive(const Kernel& kernel, Node* node) {
  uint64_t vars = 0;
  int32_t phase = 0;
  auto use = [&](NodeId n) {
    if (n < 0) return;
    vars |= kernel.nodes[n].vars;
    phase = std::max(phase, kernel.nodes[n].phase);
  };
  for (NodeId o : node->operands) use(o);
  use(node->guard);
  if (node->offset >= 0) {
    vars |= kernel.index->VarMask(node->offset);
    for (int32_t n : kernel.index->DynamicNodes(node->offset)) use(n);
  }
  node->vars = vars & ~node->reduced;
  // Folds that stay inside a thread need no waiting.
  node->phase = phase + ((node->reduced & SpaceMask(kernel)) != 0 ? 1 : 0);
}

}  // namespace

void FinishKernel(Kernel* kernel) {
  const std::vector<bool> live = LiveNodes(*kernel);
  std::vector<Node> old = std::move(kernel->nodes);
  kernel->nodes.clear();
  std::vector<NodeId> to(old.size(), -1);
  absl::flat_hash_map<NodeKey, NodeId> known;
  auto index = [&](IndexId expr) {
    return kernel->index->HasDynamic(expr)
               ? kernel->index->RenameDynamic(expr, to)
               : expr;
  };
  for (size_t n = 0; n < old.size(); ++n) {
    if (!live[n]) continue;
    Node node = std::move(old[n]);
    for (NodeId& o : node.operands) o = to[o];
    if (node.guard >= 0) node.guard = to[node.guard];
    if (node.offset >= 0) node.offset = index(node.offset);
    auto [it, inserted] = known.try_emplace(
        KeyOf(node), static_cast<NodeId>(kernel->nodes.size()));
    to[n] = it->second;
    if (!inserted) continue;
    Derive(*kernel, &node);
    kernel->nodes.push_back(std::move(node));
  }
  for (Store& store : kernel->stores) {
    store.value = to[store.value];
    if (store.guard >= 0) store.guard = to[store.guard];
    store.offset = index(store.offset);
    store.vars = AllVars(*kernel, store.offset) |
                 kernel->nodes[store.value].vars |
                 (store.guard >= 0 ? kernel->nodes[store.guard].vars : 0);
    // Each point of the space is an update of its own, even where two agree.
    if (!store.unique) store.vars |= SpaceMask(*kernel);
  }
}

void SubstituteVars(absl::Span<const IndexId> replacement, Kernel* kernel) {
  absl::flat_hash_map<IndexId, IndexId> done;
  auto rewrite = [&](IndexId* expr) {
    if (*expr < 0) return;
    auto [it, inserted] = done.try_emplace(*expr, -1);
    if (inserted) it->second = kernel->index->Substitute(*expr, replacement);
    *expr = it->second;
  };
  for (Node& n : kernel->nodes) rewrite(&n.offset);
  for (Store& s : kernel->stores) rewrite(&s.offset);
}

namespace {

// Whether variables v and v + 1 always stand together.
bool Mergeable(const Kernel& kernel, int64_t v) {
  if (v + 1 == kernel.space_vars) return false;
  const int64_t extent = kernel.vars[v + 1].extent;
  auto allows = [&](IndexId expr) {
    return expr < 0 || kernel.index->CanMerge(expr, v, v + 1, extent);
  };
  for (const Node& n : kernel.nodes) {
    if (((n.reduced >> v) & 1) != ((n.reduced >> (v + 1)) & 1)) return false;
    if (!allows(n.offset)) return false;
  }
  for (const Store& s : kernel.stores) {
    if (!allows(s.offset)) return false;
  }
  return true;
}

// Drops bit v + 1, which agrees with bit v.
uint64_t MergedMask(uint64_t mask, int64_t v) {
  const uint64_t low = (uint64_t{2} << v) - 1;
  return (mask & low) | ((mask >> 1) & ~low);
}

void MergePair(Kernel* kernel, int64_t v) {
  IndexPool& pool = *kernel->index;
  kernel->vars[v].extent =
      SaturatingMul(kernel->vars[v].extent, kernel->vars[v + 1].extent);
  kernel->vars.erase(kernel->vars.begin() + v + 1);
  if (v + 1 < kernel->space_vars) --kernel->space_vars;
  // major*E + minor, with nothing else to depend on: minor stands for both.
  std::vector<IndexId> replacement(kernel->vars.size() + 1, -1);
  replacement[v] = pool.Const(0);
  for (size_t w = v; w < kernel->vars.size(); ++w) {
    replacement[w + 1] = pool.Var(w, kernel->vars[w].extent);
  }
  SubstituteVars(replacement, kernel);
  for (Node& n : kernel->nodes) n.reduced = MergedMask(n.reduced, v);
}

}  // namespace

void MergeVars(Kernel* kernel) {
  for (int64_t v = static_cast<int64_t>(kernel->vars.size()) - 2; v >= 0; --v) {
    if (Mergeable(*kernel, v)) MergePair(kernel, v);
  }
  FinishKernel(kernel);
}

}  // namespace ridge
