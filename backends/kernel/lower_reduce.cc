// Rules of reductions.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "backends/kernel/builder.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// Nodes of the values and inits of a reduction, at one index.
struct Folded {
  std::vector<NodeId> operands;  // N values, then N inits
  bool pending = false;
};

// Sums and products of floats narrower than f32 accumulate in f32 and round
// once, as the evaluator's do: a sum in bf16 would stop growing at 256 terms.
// Null where the reducer is no such thing.
struct Accumulation {
  Opcode opcode;
  ElementType type;
};
std::optional<Accumulation> WideAccumulation(const ScalarFunction& f) {
  if (f.parameter_count != 2 || f.results.size() != 1) return std::nullopt;
  const ElementType narrow = f.nodes[0].type;
  if (!IsFloat(narrow) || f.nodes[1].type != narrow) return std::nullopt;
  auto sums = [](Opcode op) {
    return op == Opcode::kAdd || op == Opcode::kMultiply;
  };
  if (f.simple.has_value()) {
    if (!sums(*f.simple) || Info(narrow).bits >= 32) return std::nullopt;
    return Accumulation{*f.simple, ElementType::kF32};
  }
  // convert(op(convert(a), convert(b))), in either order.
  const Node& last = f.nodes[f.results[0]];
  if (last.opcode != Opcode::kConvert || last.kind != NodeKind::kOp) {
    return std::nullopt;
  }
  const Node& op = f.nodes[last.operands[0]];
  if (op.kind != NodeKind::kOp || !sums(op.opcode) || !IsFloat(op.type) ||
      Info(op.type).bits <= Info(narrow).bits) {
    return std::nullopt;
  }
  uint32_t seen = 0;
  for (NodeId o : op.operands) {
    const Node& wide = f.nodes[o];
    if (wide.kind != NodeKind::kOp || wide.opcode != Opcode::kConvert ||
        wide.operands[0] > 1) {
      return std::nullopt;
    }
    seen |= 1u << wide.operands[0];
  }
  if (seen != 3) return std::nullopt;
  return Accumulation{op.opcode,
                      Info(op.type).bits >= 32 ? op.type : ElementType::kF32};
}

// One result of the fold of `folded` over the variables in `mask`.
absl::StatusOr<NodeId> Fold(KernelBuilder& b, const ValueRequest& r,
                            const Folded& folded, uint64_t mask) {
  const Instruction& i = *r.instruction;
  if (i.to_apply() == nullptr) return Refuse(i, "no to_apply");
  RIDGE_ASSIGN_OR_RETURN(int32_t function, b.Function(i.to_apply()));
  const int64_t n = static_cast<int64_t>(folded.operands.size()) / 2;
  const ScalarFunction& f = b.function(function);
  if (f.parameter_count != 2 * n ||
      static_cast<int64_t>(f.results.size()) != n) {
    return Refuse(
        i, absl::StrCat("reducer with ", f.parameter_count, " parameters and ",
                        f.results.size(), " results for ", n, " operands"));
  }
  if (mask == 0) {
    // One element: combine it with the init, the accumulator first.
    std::vector<NodeId> arguments(folded.operands.begin() + n,
                                  folded.operands.end());
    arguments.insert(arguments.end(), folded.operands.begin(),
                     folded.operands.begin() + n);
    return b.Inline(ScalarFunction(f), arguments)[r.part];
  }
  Node node;
  node.kind = NodeKind::kReduce;
  if (std::optional<Accumulation> wide = WideAccumulation(f)) {
    const ElementType narrow = b.node(folded.operands[0]).type;
    node.type = wide->type;
    for (NodeId o : folded.operands) {
      node.operands.push_back(b.Convert(o, wide->type));
    }
    node.function = b.SimpleFunction(wide->opcode, wide->type);
    node.reduced = mask;
    node.origin = &i;
    return b.Convert(b.Add(std::move(node)), narrow);
  }
  node.type = b.node(folded.operands[r.part]).type;
  node.operands.assign(folded.operands.begin(), folded.operands.end());
  node.function = function;
  node.result = r.part;
  node.reduced = mask;
  node.origin = &i;
  return b.Add(std::move(node));
}

// Whether the requested element exists whatever the guard says.
bool InBounds(KernelBuilder& b, const ValueRequest& r) {
  const Shape& shape = PartShape(*r.instruction, r.part);
  for (size_t d = 0; d < r.index.size(); ++d) {
    const IndexRange range = b.pool().range(r.index[d]);
    if (range.lo < 0 || range.hi >= shape.dim(d)) return false;
  }
  return true;
}

}  // namespace

// Indices along the reduced dimensions are the space's own variables where the
// operand lies over the space and the requested index does not use them;
// otherwise inner variables.
absl::StatusOr<NodeId> LowerReduce(KernelBuilder& b, const ValueRequest& r) {
  const Instruction& i = *r.instruction;
  const int64_t n = i.operand_count() / 2;
  if (n == 0) return Refuse(i, "no operands");
  const Shape& shape = i.operand(0)->shape();
  std::vector<bool> folds(shape.rank());
  bool empty = false;
  for (int64_t d : i.dimensions()) {
    if (d < 0 || d >= shape.rank()) return Refuse(i, "dimension out of range");
    folds[d] = true;
    empty |= shape.dim(d) == 0;
  }
  Folded folded;
  for (int64_t k = 0; k < n; ++k) {
    NodeId init = b.Need(i.operand(n + k), {});
    folded.pending |= init == kPending;
    folded.operands.push_back(init);
  }
  if (empty) return folded.pending ? kPending : folded.operands[r.part];

  uint64_t used = b.VarsOf(r.index, r.guard);
  NodeId guard = r.guard;
  const IndexTuple* home = b.Home(i.operand(0));
  // A fold across the space is the same for all rounds of a fold inside a
  // thread: it cannot follow that one's variables.
  const uint64_t space = SpaceMask(*b.kernel());
  if (home != nullptr && (used & ~space) != 0) {
    const uint64_t by_index = b.VarsOf(r.index, kAlways);
    if ((by_index & ~space) == 0 && InBounds(b, r)) {
      guard = kAlways;
      used = by_index;
    } else {
      home = nullptr;
    }
  }
  uint64_t home_mask = 0;
  if (home != nullptr) {
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (folds[d]) home_mask |= b.pool().VarMask((*home)[d]);
    }
    int64_t points = 1;
    for (int64_t d : i.dimensions()) points *= shape.dim(d);
    // The variables must be free, and count the reduced elements once each.
    if ((home_mask & used) != 0 ||
        PointCount(*b.kernel(), home_mask) != points) {
      home = nullptr;
    }
  }
  uint64_t mask = home != nullptr ? home_mask : 0;
  IndexTuple index(shape.rank(), -1);
  int64_t kept = 0;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (!folds[d]) index[d] = r.index[kept++];
  }
  // In physical order, so that the innermost loop is the contiguous one.
  for (int64_t d : PhysicalOrder(shape)) {
    if (!folds[d]) continue;
    if (home != nullptr) {
      index[d] = (*home)[d];
      continue;
    }
    RIDGE_ASSIGN_OR_RETURN(index[d], b.InnerVar(shape.dim(d), &used));
    mask |= b.pool().VarMask(index[d]);
  }
  for (int64_t k = 0; k < n; ++k) {
    NodeId value = b.Need(i.operand(k), index, guard);
    folded.pending |= value == kPending;
    folded.operands.insert(folded.operands.begin() + k, value);
  }
  if (folded.pending) return kPending;
  return Fold(b, r, folded, mask);
}

namespace {

// The value that changes no result of `f`, for the types whose values are all
// known; `otherwise` where there is none.
NodeId Neutral(KernelBuilder& b, const ScalarFunction& f, ElementType type,
               NodeId otherwise) {
  if (!f.simple.has_value() || IsComplex(type)) return otherwise;
  const int bits = Info(type).bits;
  const bool is_float = IsFloat(type);
  if (!IsPred(type) && (is_float ? bits < 16 : bits < 8)) return otherwise;
  const bool is_signed = !is_float && IsSigned(type);
  const int64_t low = is_signed ? INT64_MIN >> (64 - bits) : 0;
  const int64_t high = IsPred(type) ? 1 : ~low;  // of unsigned ones all bits
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (*f.simple) {
    case Opcode::kAdd:
      // Minus zero: the only one that keeps minus zeros.
      return is_float ? b.Float(type, -0.0) : b.Int(type, 0);
    case Opcode::kOr:
    case Opcode::kXor:
      return b.Int(type, 0);
    case Opcode::kMultiply:
      return is_float ? b.Float(type, 1) : b.Int(type, 1);
    case Opcode::kAnd:
      return b.Int(type, IsPred(type) ? 1 : -1);
    case Opcode::kMaximum:
      return is_float ? b.Float(type, -kInfinity) : b.Int(type, low);
    case Opcode::kMinimum:
      return is_float ? b.Float(type, kInfinity) : b.Int(type, high);
    default:
      return otherwise;
  }
}

}  // namespace

absl::StatusOr<NodeId> LowerReduceWindow(KernelBuilder& b,
                                         const ValueRequest& r) {
  const Instruction& i = *r.instruction;
  const int64_t n = i.operand_count() / 2;
  const Window* window = i.window();
  if (n == 0 || window == nullptr || window->size() != r.index.size()) {
    return Refuse(i, "window does not fit the operand");
  }
  const Shape& shape = i.operand(0)->shape();
  Folded folded;
  for (int64_t k = 0; k < n; ++k) {
    NodeId init = b.Need(i.operand(n + k), {});
    folded.pending |= init == kPending;
    folded.operands.push_back(init);
  }
  IndexPool& pool = b.pool();
  uint64_t used = b.VarsOf(r.index, r.guard), mask = 0;
  IndexTuple index;
  NodeId inside = kAlways;
  for (size_t d = 0; d < window->size(); ++d) {
    const WindowDimension& w = (*window)[d];
    if (w.size == 0) return folded.pending ? kPending : folded.operands[r.part];
    RIDGE_ASSIGN_OR_RETURN(IndexId at, b.InnerVar(w.size, &used));
    mask |= pool.VarMask(at);
    IndexId base = pool.Add(pool.Mul(r.index[d], w.stride),
                            pool.Mul(at, w.window_dilation));
    base = pool.AddConst(base, -w.padding_low);
    IndexId element = pool.FloorDiv(base, w.base_dilation);
    inside = b.And(inside, b.InRange(element, 0, shape.dim(d)));
    if (w.base_dilation > 1) {
      inside = b.And(inside, b.InRange(pool.Mod(base, w.base_dilation), 0, 1));
    }
    index.push_back(element);
  }
  std::vector<NodeId> values;
  for (int64_t k = 0; k < n; ++k) {
    NodeId value = b.IsFalse(inside)
                       ? folded.operands[k]
                       : b.Need(i.operand(k), index, b.And(r.guard, inside));
    folded.pending |= value == kPending;
    values.push_back(value);
  }
  if (folded.pending) return kPending;
  // What lies outside counts for nothing; where the reducer is none of the
  // usual ones, as the init, which is to be neutral.
  if (i.to_apply() == nullptr) return Refuse(i, "no to_apply");
  RIDGE_ASSIGN_OR_RETURN(int32_t function, b.Function(i.to_apply()));
  for (int64_t k = 0; k < n; ++k) {
    const NodeId nothing = Neutral(b, b.function(function),
                                   b.node(values[k]).type, folded.operands[k]);
    values[k] = b.Select(b.AsNode(inside), values[k], nothing);
  }
  folded.operands.insert(folded.operands.begin(), values.begin(), values.end());
  return Fold(b, r, folded, mask);
}

}  // namespace ridge
