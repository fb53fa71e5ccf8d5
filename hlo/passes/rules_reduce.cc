// Rules of reduce. HLO leaves the order of a reduction open, so merging two
// of the same operation re-associates within what the comparison allows;
// everything else here is exact up to the sign of zero (0 + -0 is +0, while a
// reshape passes -0 on).
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hlo/passes/dimension_groups.h"
#include "hlo/passes/rules.h"
#include "hlo/passes/value_facts.h"

namespace ridge {
namespace {

absl::Span<const int64_t> Dims(const Instruction* i) {
  return i->shape().dims();
}

bool Contains(absl::Span<const int64_t> values, int64_t v) {
  return std::find(values.begin(), values.end(), v) != values.end();
}

// The operation of a reduce with one operand whose reducer is one operation.
std::optional<Opcode> SimpleReduction(const Instruction* i) {
  if (i->operand_count() != 2 || !i->shape().IsArray()) return std::nullopt;
  if (!i->operand(0)->shape().IsArray() ||
      i->operand(0)->shape().type() != i->shape().type() ||
      i->operand(1)->shape().type() != i->shape().type()) {
    return std::nullopt;
  }
  return BinaryReducer(i->to_apply());
}

// The same reduction of `x` over other dimensions.
Instruction* ReduceLike(Rewriter& r, const Instruction* i, Instruction* x,
                        absl::Span<const int64_t> reduced) {
  DimVector dims;
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    if (!Contains(reduced, d)) dims.push_back(Dims(x)[d]);
  }
  Instruction* reduce =
      r.AddLike(*i, {x, i->operand(1)}, r.ArrayShape(i->shape().type(), dims));
  reduce->set_ints(AttrId::kDimensions, reduced);
  return reduce;
}

Instruction* ReduceEmpty(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 2 || !i->shape().IsArray() ||
      i->operand(0)->shape().ElementCount() != 0) {
    return nullptr;
  }
  return r.Broadcast(i->operand(1), {}, Dims(i));
}

Instruction* ReduceOfUnits(Instruction* i, Rewriter& r) {
  std::optional<Opcode> op = SimpleReduction(i);
  if (!op.has_value()) return nullptr;
  Instruction* x = i->operand(0);
  for (int64_t d : i->dimensions()) {
    if (Dims(x)[d] != 1) return nullptr;
  }
  Instruction* one = r.Reshape(x, Dims(i));
  if (IsNeutral(*op, i->operand(1))) return one;
  return r.Add(*op, i->shape(), {one, r.Broadcast(i->operand(1), {}, Dims(i))});
}

// No dimension of size 1, reduced or not, takes part in a reduction.
Instruction* ReduceDropUnits(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  if (!SimpleReduction(i).has_value() || !HasUnits(Dims(x))) return nullptr;
  DimVector reduced;
  int64_t next = 0;
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    if (Dims(x)[d] == 1) continue;
    if (Contains(i->dimensions(), d)) reduced.push_back(next);
    ++next;
  }
  Instruction* small =
      ReduceLike(r, i, r.Reshape(x, WithoutUnits(Dims(x))), reduced);
  return r.Reshape(small, Dims(i));
}

Instruction* ReduceOfReduce(Instruction* i, Rewriter& r) {
  Instruction* inner = i->operand(0);
  std::optional<Opcode> op = SimpleReduction(i);
  if (!op.has_value() || SimpleReduction(inner) != op ||
      !IsNeutral(*op, inner->operand(1)) || inner->use_count() != 1) {
    return nullptr;
  }
  // The inner sum of a narrow type is rounded to it, which the user can see.
  bool rounds = *op == Opcode::kAdd || *op == Opcode::kMultiply;
  if (rounds && IsFloat(i->shape().type()) &&
      Info(i->shape().type()).bits < 32) {
    return nullptr;
  }
  Instruction* x = inner->operand(0);
  DimVector left;  // dimensions of x that the inner reduction keeps
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    if (!Contains(inner->dimensions(), d)) left.push_back(d);
  }
  DimVector reduced(inner->dimensions().begin(), inner->dimensions().end());
  for (int64_t d : i->dimensions()) reduced.push_back(left[d]);
  std::sort(reduced.begin(), reduced.end());
  return ReduceLike(r, i, x, reduced);
}

// reduce(reshape(x)) where each group of the reshape is reduced as a whole or
// kept as a whole.
Instruction* ReduceOfReshape(Instruction* i, Rewriter& r) {
  if (!SimpleReduction(i).has_value()) return nullptr;
  Instruction* reshape = i->operand(0);
  Instruction* x = reshape->operand(0);
  // A reshape that drops units is what ReduceDropUnits wants.
  if (SameButForUnits(Dims(x), Dims(reshape)) && !HasUnits(Dims(reshape))) {
    return nullptr;
  }
  auto groups = GroupDimensions(Dims(x), Dims(reshape));
  if (!groups.has_value()) return nullptr;
  DimVector reduced;
  for (const DimensionGroup& g : *groups) {
    bool first = Contains(i->dimensions(), g.to[0]);
    for (int64_t d : g.to) {
      if (Contains(i->dimensions(), d) != first) return nullptr;
    }
    if (first) reduced.insert(reduced.end(), g.from.begin(), g.from.end());
  }
  // Nothing left to reduce is another rule's business.
  if (reduced.empty()) return nullptr;
  return r.Reshape(ReduceLike(r, i, x, reduced), Dims(i));
}

Instruction* ReduceOfTranspose(Instruction* i, Rewriter& r) {
  if (!SimpleReduction(i).has_value()) return nullptr;
  Instruction* t = i->operand(0);
  DimVector reduced;
  for (int64_t d : i->dimensions()) reduced.push_back(t->dimensions()[d]);
  std::sort(reduced.begin(), reduced.end());
  // Kept dimensions of x by their rank among the kept ones.
  DimVector rank_of(t->shape().rank(), -1);
  int64_t next = 0;
  for (int64_t d = 0; d < t->shape().rank(); ++d) {
    if (!Contains(reduced, d)) rank_of[d] = next++;
  }
  DimVector permutation;
  for (int64_t d = 0; d < t->shape().rank(); ++d) {
    if (!Contains(i->dimensions(), d)) {
      permutation.push_back(rank_of[t->dimensions()[d]]);
    }
  }
  return r.Transpose(ReduceLike(r, i, t->operand(0), reduced), permutation);
}

// Reducing n copies of x: x itself for max, min, and, or; n x for add.
Instruction* ReduceOfBroadcast(Instruction* i, Rewriter& r) {
  std::optional<Opcode> op = SimpleReduction(i);
  Instruction* b = i->operand(0);
  if (!op.has_value() || !Ascends(b->dimensions()) ||
      !IsNeutral(*op, i->operand(1))) {
    return nullptr;
  }
  Instruction* x = b->operand(0);
  DimVector of_operand;  // reduced dimensions of x
  DimVector copied;      // reduced dimensions of b that x does not have
  double copies = 1;
  for (int64_t d : i->dimensions()) {
    auto at = std::find(b->dimensions().begin(), b->dimensions().end(), d);
    if (at != b->dimensions().end()) {
      of_operand.push_back(at - b->dimensions().begin());
    } else {
      copied.push_back(d);
      copies *= Dims(b)[d];
    }
  }
  if (copied.empty() || copies == 0) return nullptr;
  std::sort(of_operand.begin(), of_operand.end());
  ElementType type = i->shape().type();
  bool scales = *op == Opcode::kAdd && !IsPred(type);
  switch (*op) {
    case Opcode::kAdd:
      if (IsPred(type)) break;
      if (IsInteger(type)) break;  // wraps the same either way
      // The number of copies must be a value of the type.
      if (!IsIeeeFloat(type) ||
          GetDouble(FullLiteral(Shape::Scalar(type), copies), 0) != copies) {
        return nullptr;
      }
      break;
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
      break;
    default:
      return nullptr;
  }
  if (IsInteger(type) && scales &&
      copies > std::ldexp(1, Info(type).bits - 1) - 1) {
    return nullptr;  // SetDouble would saturate
  }
  // A narrow sum would be rounded before it is scaled, and again after.
  if (scales && IsFloat(type) && Info(type).bits < 32 && !of_operand.empty()) {
    return nullptr;
  }
  Instruction* once = of_operand.empty() ? x : ReduceLike(r, i, x, of_operand);
  if (scales) {
    once = r.Binary(Opcode::kMultiply, once,
                    r.Splat(type, once->shape().dims(), copies));
  }
  // What of x was kept goes to its place among the kept dimensions of b.
  DimVector map;
  DimVector position(b->shape().rank(), -1);
  int64_t next = 0;
  for (int64_t d = 0; d < b->shape().rank(); ++d) {
    if (!Contains(i->dimensions(), d)) position[d] = next++;
  }
  for (int64_t d : b->dimensions()) {
    if (position[d] >= 0) map.push_back(position[d]);
  }
  return r.Broadcast(once, map, Dims(i));
}

// sum(-x) = -sum(x): rounding to nearest is symmetric.
Instruction* ReduceOfNegate(Instruction* i, Rewriter& r) {
  std::optional<Opcode> op = SimpleReduction(i);
  if (op != Opcode::kAdd || !IsNeutral(*op, i->operand(1)) ||
      !IsIeeeFloat(i->shape().type())) {
    return nullptr;
  }
  return r.Unary(Opcode::kNegate,
                 ReduceLike(r, i, i->operand(0)->operand(0), i->dimensions()));
}

// Whether every element is its position in dimension d.
bool IsPositionIn(const Instruction* i, int64_t d) {
  if (i->opcode() == Opcode::kIota) {
    return i->int_attr(AttrId::kIotaDimension) == d;
  }
  if (i->opcode() != Opcode::kBroadcast) return false;
  const Instruction* x = i->operand(0);
  if (x->opcode() != Opcode::kIota) return false;
  const int64_t of = x->int_attr(AttrId::kIotaDimension);
  return i->dimensions()[of] == d && x->shape().dim(of) == i->shape().dim(d);
}

// The sum of what is c at one position and zero at all others is c, if there
// is such a position.
Instruction* SumOfOneHot(Instruction* i, Rewriter& r) {
  std::optional<Opcode> op = SimpleReduction(i);
  Instruction* select = i->operand(0);
  if (op != Opcode::kAdd || !IsNeutral(*op, i->operand(1)) ||
      i->dimensions().size() != 1 || IsPred(i->shape().type()) ||
      IsComplex(i->shape().type())) {
    return nullptr;
  }
  const int64_t d = i->dimensions()[0];
  Instruction* compare = select->operand(0);
  Instruction* hot = select->operand(1);
  if (compare->opcode() != Opcode::kCompare ||
      compare->enum_attr(AttrId::kDirection, ComparisonDirection::kNe) !=
          ComparisonDirection::kEq ||
      hot->opcode() != Opcode::kBroadcast || SplatValue(hot).value_or(0) == 0 ||
      !IsAllZero(select->operand(2))) {
    return nullptr;
  }
  Instruction* position = compare->operand(0);
  Instruction* wanted = compare->operand(1);
  if (!IsPositionIn(position, d)) std::swap(position, wanted);
  const ElementType type = position->shape().type();
  const int64_t count = select->shape().dim(d);
  if (!IsPositionIn(position, d) || wanted->opcode() != Opcode::kBroadcast ||
      !IsInteger(type) || Info(type).bits < 32 || count < 1 ||
      count > std::numeric_limits<int32_t>::max()) {
    return nullptr;
  }
  DimVector map;
  for (int64_t to : wanted->dimensions()) {
    if (to == d) return nullptr;
    map.push_back(to > d ? to - 1 : to);
  }
  absl::Span<const int64_t> dims = Dims(i);
  Instruction* at = r.Broadcast(wanted->operand(0), map, dims);
  Instruction* low =
      r.Compare(ComparisonDirection::kGe, at, r.Splat(type, dims, 0));
  Instruction* high =
      r.Compare(ComparisonDirection::kLe, at, r.Splat(type, dims, count - 1));
  return r.Add(Opcode::kSelect, i->shape(),
               {r.Binary(Opcode::kAnd, low, high),
                r.Broadcast(hot->operand(0), {}, dims),
                r.Splat(i->shape().type(), dims, 0)});
}

// An output of a variadic reduce that is made from its own operand alone, by
// one operation, is a reduce of its own.
Instruction* PartOfVariadicReduce(Instruction* i, Rewriter& r) {
  Instruction* reduce = i->operand(0);
  const Computation* reducer = reduce->to_apply();
  int64_t n = reduce->operand_count() / 2;
  int64_t k = i->tuple_index();
  if (n < 2 || k >= n || reducer == nullptr || reducer->root() == nullptr ||
      reducer->root()->opcode() != Opcode::kTuple ||
      reducer->root()->operand_count() != n ||
      reducer->parameters().size() != static_cast<size_t>(2 * n)) {
    return nullptr;
  }
  const Instruction* part = reducer->root()->operand(k);
  if (!IsCommutative(part->opcode())) return nullptr;
  const Instruction* a = part->operand(0);
  const Instruction* b = part->operand(1);
  if (b == reducer->parameter(k)) std::swap(a, b);
  ElementType type = i->shape().type();
  if (a != reducer->parameter(k) || b != reducer->parameter(n + k) ||
      part->shape().type() != type ||
      reduce->operand(k)->shape().type() != type ||
      reduce->operand(n + k)->shape().type() != type) {
    return nullptr;
  }
  Computation* own = reducer->module()->AddComputation(Name(part->opcode()));
  Shape scalar = Shape::Scalar(type);
  Instruction* x = own->AddParameter(0, scalar);
  Instruction* y = own->AddParameter(1, scalar);
  own->set_root(own->Add(part->opcode(), scalar, {x, y}));
  own->module()->MoveComputationBefore(own, i->parent());
  Instruction* single = r.AddLike(
      *reduce, {reduce->operand(k), reduce->operand(n + k)}, i->shape());
  single->SetAttr(AttrId::kToApply, own);
  return single;
}

constexpr RewriteRule kRules[] = {
    {"reduce-empty", Opcode::kReduce, kAnyOpcode,
     "reduce(x: [0], init) = broadcast(init)", ReduceEmpty},
    {"reduce-of-units", Opcode::kReduce, kAnyOpcode,
     "reduce(x: [n,1], {1}) = reshape<[n]>(x)", ReduceOfUnits},
    {"reduce-drop-units", Opcode::kReduce, kAnyOpcode,
     "reduce(x: [n,1,m], {2}) = reshape(reduce(reshape<[n,m]>(x), {1}))",
     ReduceDropUnits},
    {"reduce-of-reduce", Opcode::kReduce, Opcode::kReduce,
     "reduce(reduce(x, {0}), {0}) = reduce(x, {0,1})", ReduceOfReduce},
    {"reduce-of-reshape", Opcode::kReduce, Opcode::kReshape,
     "reduce(reshape(x)) = reshape(reduce(x))", ReduceOfReshape},
    {"reduce-of-transpose", Opcode::kReduce, Opcode::kTranspose,
     "reduce(transpose(x)) = transpose(reduce(x))", ReduceOfTranspose},
    {"reduce-of-broadcast", Opcode::kReduce, Opcode::kBroadcast,
     "sum(broadcast(x)) = n x, max(broadcast(x)) = x", ReduceOfBroadcast},
    {"reduce-of-negate", Opcode::kReduce, Opcode::kNegate, "sum(-x) = -sum(x)",
     ReduceOfNegate},
    {"sum-of-one-hot", Opcode::kReduce, Opcode::kSelect,
     "sum(select(iota == k, c, 0)) = select(0 <= k < n, c, 0)", SumOfOneHot},
    {"part-of-variadic-reduce", Opcode::kGetTupleElement, Opcode::kReduce,
     "variadic-reduce(x, y)[0] = reduce(x) where x alone decides",
     PartOfVariadicReduce},
};

}  // namespace

absl::Span<const RewriteRule> ReduceRules() { return kRules; }

}  // namespace ridge
