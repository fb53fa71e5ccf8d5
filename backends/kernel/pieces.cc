#include "backends/kernel/pieces.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "backends/kernel/builder.h"
#include "backends/kernel/conditions.h"

namespace ridge {
namespace {

// A thread holds all pieces at once.
constexpr int64_t kMostPieces = 4;
constexpr int64_t kMostLoads = 12;
// Pieces begin at multiples of this many elements: a sector of 16-bit ones.
constexpr int64_t kPieceAlignment = 16;

// A variable of `count` pieces of `piece` values.
struct Split {
  int64_t var = 0;
  int64_t piece = 0;
  int64_t count = 0;
};

// `bound` as one of variable v itself, or of v mod `period` where that divides
// the extent; nullopt for what depends on v in other ways, or not on v alone.
struct VarBound {
  int64_t var = 0;
  int64_t period = 0;  // the extent where the whole variable is compared
  int64_t first = 0;
};
std::optional<VarBound> VarBoundOf(const Kernel& kernel,
                                   const IndexBound& bound) {
  const IndexPool& pool = *kernel.index;
  const IndexSum sum = pool.Decompose(bound.index);
  if (sum.terms.size() != 1 || sum.terms[0].factor != 1) return std::nullopt;
  const IndexNode& atom = pool.node(sum.terms[0].atom);
  const bool is_mod = atom.kind == IndexKind::kMod;
  const IndexNode& var = is_mod ? pool.node(atom.a) : atom;
  if (var.kind != IndexKind::kVar || var.value >= kernel.space_vars) {
    return std::nullopt;
  }
  VarBound result;
  result.var = var.value;
  const int64_t extent = kernel.vars[var.value].extent;
  result.period = is_mod ? atom.value : extent;
  result.first = bound.first - sum.constant;
  if (extent % result.period != 0) return std::nullopt;
  return result;
}

// The pieces that the bounds of each (variable, period) make, equal in size.
std::vector<std::pair<int64_t, Split>> Candidates(const Kernel& kernel) {
  std::map<std::pair<int64_t, int64_t>, int64_t> pieces;
  for (NodeId n = 0; n < static_cast<NodeId>(kernel.nodes.size()); ++n) {
    const std::optional<IndexBound> bound = BoundOf(kernel, n);
    if (!bound.has_value()) continue;
    const std::optional<VarBound> of = VarBoundOf(kernel, *bound);
    if (!of.has_value() || of->first <= 0 || of->first >= of->period) continue;
    int64_t& piece =
        pieces.try_emplace({of->var, of->period}, of->period).first->second;
    piece = std::gcd(piece, of->first);
  }
  std::vector<std::pair<int64_t, Split>> candidates;
  for (const auto& [key, piece] : pieces) {
    const int64_t count = key.second / piece;
    if (count < 2 || count > kMostPieces) continue;
    candidates.push_back({key.second, {key.first, piece, count}});
  }
  return candidates;
}

// Variable v as v * period + (v + 1), v + 1 new.
void SplitVar(int64_t v, int64_t period, Kernel* kernel) {
  IndexPool& pool = *kernel->index;
  const int64_t outer = kernel->vars[v].extent / period;
  std::vector<IndexId> replacement(kernel->vars.size(), -1);
  replacement[v] =
      pool.Add(pool.Mul(pool.Var(v, outer), period), pool.Var(v + 1, period));
  for (size_t w = v + 1; w < kernel->vars.size(); ++w) {
    replacement[w] = pool.Var(w + 1, kernel->vars[w].extent);
  }
  kernel->vars[v].extent = outer;
  kernel->vars.insert(kernel->vars.begin() + v + 1, IterationVar{period});
  ++kernel->space_vars;
  SubstituteVars(replacement, kernel);
}

// Removes a variable of one value.
void DropVar(int64_t v, Kernel* kernel) {
  if (kernel->vars[v].extent != 1 || kernel->space_vars == 1) return;
  std::vector<IndexId> replacement(kernel->vars.size(), -1);
  for (size_t w = v + 1; w < kernel->vars.size(); ++w) {
    replacement[w] = kernel->index->Var(w - 1, kernel->vars[w].extent);
  }
  kernel->vars.erase(kernel->vars.begin() + v);
  --kernel->space_vars;
  SubstituteVars(replacement, kernel);
}

// The kernel at the points of one piece, over the piece's space.
Kernel PieceOf(const Kernel& kernel, const Split& split, int64_t number) {
  Kernel piece = kernel;
  IndexPool& pool = *piece.index;
  std::vector<IndexId> replacement(piece.vars.size(), -1);
  replacement[split.var] =
      pool.AddConst(pool.Var(split.var, split.piece), number * split.piece);
  piece.vars[split.var].extent = split.piece;
  SubstituteVars(replacement, &piece);
  DecideConditions(
      [](const Kernel& k, NodeId n) -> std::optional<bool> {
        const std::optional<IndexBound> bound = BoundOf(k, n);
        if (!bound.has_value()) return std::nullopt;
        const IndexRange& range = k.index->range(bound->index);
        if (range.hi < bound->first) return bound->below;
        if (range.lo >= bound->first) return !bound->below;
        return std::nullopt;
      },
      &piece);
  return piece;
}

// Adds the nodes and stores of `from`, over the same space and pool.
void Append(const Kernel& from, Kernel* to) {
  const NodeId shift = static_cast<NodeId>(to->nodes.size());
  std::vector<int32_t> renamed(from.nodes.size());
  std::iota(renamed.begin(), renamed.end(), shift);
  auto index = [&](IndexId* expr) {
    if (*expr >= 0) *expr = to->index->RenameDynamic(*expr, renamed);
  };
  for (Node node : from.nodes) {
    for (NodeId& o : node.operands) o += shift;
    if (node.guard >= 0) node.guard += shift;
    index(&node.offset);
    to->nodes.push_back(std::move(node));
  }
  for (Store store : from.stores) {
    store.value += shift;
    index(&store.offset);
    to->stores.push_back(store);
  }
}

// Loads that are one for all points cost nothing, shared or not.
int64_t LoadsOfPoints(const Kernel& kernel) {
  return std::count_if(
      kernel.nodes.begin(), kernel.nodes.end(),
      [](const Node& n) { return n.kind == NodeKind::kLoad && n.vars != 0; });
}

// Every store writes runs of a piece that begin on whole vectors.
bool IsAligned(const Kernel& kernel, const Split& split) {
  return std::all_of(kernel.stores.begin(), kernel.stores.end(),
                     [&](const Store& s) {
                       const std::optional<int64_t> stride =
                           kernel.index->StrideOf(s.offset, split.var);
                       return stride.has_value() && *stride > 0 &&
                              *stride * split.piece % kPieceAlignment == 0;
                     });
}

std::optional<Kernel> Together(const Kernel& kernel, const Split& split) {
  if (!IsAligned(kernel, split)) return std::nullopt;
  Kernel together;
  int64_t apart = 0;
  for (int64_t p = 0; p < split.count; ++p) {
    const Kernel piece = PieceOf(kernel, split, p);
    apart += LoadsOfPoints(piece);
    if (p == 0) {
      together = piece;
    } else {
      Append(piece, &together);
    }
  }
  DropVar(split.var, &together);
  MergeVars(&together);
  const int64_t loads = LoadsOfPoints(together);
  if (loads > kMostLoads || 4 * loads > 3 * apart) return std::nullopt;
  // Bounds of an index may not tell that it lies inside where a guard did.
  if (!ValidateKernel(together).ok()) return std::nullopt;
  return together;
}

}  // namespace

bool TakePiecesTogether(Kernel* kernel) {
  if (kernel->pattern != GroupPattern::kLoop || kernel->prologue != nullptr ||
      kernel->vars.size() >= 64) {
    return false;
  }
  for (const Node& n : kernel->nodes) {
    if (n.kind == NodeKind::kReduce) return false;
  }
  for (const Store& s : kernel->stores) {
    if (s.vars != SpaceMask(*kernel)) return false;
  }
  for (auto [period, split] : Candidates(*kernel)) {
    Kernel trial = *kernel;
    trial.index = std::make_shared<IndexPool>(*kernel->index);
    if (period != trial.vars[split.var].extent) {
      SplitVar(split.var, period, &trial);
      FinishKernel(&trial);
      ++split.var;
    }
    std::optional<Kernel> together = Together(trial, split);
    if (!together.has_value()) continue;
    *kernel = *std::move(together);
    return true;
  }
  return false;
}

bool HasPieces(const Kernel& kernel) {
  absl::flat_hash_set<int32_t> stored;
  return !std::all_of(
      kernel.stores.begin(), kernel.stores.end(),
      [&](const Store& s) { return stored.insert(s.buffer).second; });
}

}  // namespace ridge
