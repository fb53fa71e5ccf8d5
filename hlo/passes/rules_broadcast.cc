// Rules of broadcast, and the broadcast form of splat constants. All exact.
//
// Canonical: one broadcast between a value without unit dimensions and the
// shape where it is needed, dimensions ascending.
#include <algorithm>
#include <numeric>

#include "hlo/passes/dimension_groups.h"
#include "hlo/passes/rules.h"
#include "hlo/passes/value_facts.h"

namespace ridge {
namespace {

absl::Span<const int64_t> Dims(const Instruction* i) {
  return i->shape().dims();
}

Instruction* BroadcastIdentity(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  return x->shape().Compatible(i->shape()) && Ascends(i->dimensions())
             ? x
             : nullptr;
}

Instruction* BroadcastUnsorted(Instruction* i, Rewriter& r) {
  Ints map = i->dimensions();
  if (Ascends(map)) return nullptr;
  DimVector order(map.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return map[a] < map[b]; });
  DimVector sorted(map.begin(), map.end());
  std::sort(sorted.begin(), sorted.end());
  if (!Ascends(sorted)) return nullptr;
  return r.Broadcast(r.Transpose(i->operand(0), order), sorted, Dims(i));
}

Instruction* BroadcastOfBroadcast(Instruction* i, Rewriter& r) {
  Instruction* b = i->operand(0);
  if (!Ascends(i->dimensions()) || !Ascends(b->dimensions())) return nullptr;
  DimVector map;
  for (int64_t d : b->dimensions()) map.push_back(i->dimensions()[d]);
  return r.Broadcast(b->operand(0), map, Dims(i));
}

Instruction* BroadcastOfUnits(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  if (!HasUnits(Dims(x)) || !Ascends(i->dimensions())) return nullptr;
  DimVector map;
  for (int64_t k = 0; k < x->shape().rank(); ++k) {
    if (Dims(x)[k] != 1) map.push_back(i->dimensions()[k]);
  }
  return r.Broadcast(r.Reshape(x, WithoutUnits(Dims(x))), map, Dims(i));
}

Instruction* BroadcastToUnits(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  if (x->shape().ElementCount() != i->shape().ElementCount() ||
      !Ascends(i->dimensions())) {
    return nullptr;
  }
  return r.Reshape(x, Dims(i));
}

// A constant of equal elements holds one number.
Instruction* SplatConstant(Instruction* i, Rewriter& r) {
  const Literal& l = i->literal();
  if (!i->shape().IsArray() || i->shape().rank() == 0 || l.elided() ||
      !IsSplat(l)) {
    return nullptr;
  }
  int width = StorageBytes(i->shape().type());
  Literal scalar =
      Literal::FromBytes(r.ArrayShape(i->shape().type(), {}),
                         std::vector<uint8_t>(l.bytes(), l.bytes() + width));
  Instruction* c = r.Constant(std::move(scalar));
  if (i->shape().ElementCount() == 1) return r.Reshape(c, Dims(i));
  return r.Broadcast(c, {}, Dims(i));
}

constexpr RewriteRule kRules[] = {
    {"broadcast-identity", Opcode::kBroadcast, kAnyOpcode,
     "broadcast<S>(x: S) = x", BroadcastIdentity},
    {"broadcast-unsorted", Opcode::kBroadcast, kAnyOpcode,
     "broadcast<{1,0}>(x) = broadcast<{0,1}>(transpose(x))", BroadcastUnsorted},
    {"broadcast-of-broadcast", Opcode::kBroadcast, Opcode::kBroadcast,
     "broadcast(broadcast(x)) = broadcast(x)", BroadcastOfBroadcast},
    {"broadcast-of-units", Opcode::kBroadcast, kAnyOpcode,
     "broadcast(x: [n,1]) = broadcast(reshape<[n]>(x))", BroadcastOfUnits},
    {"broadcast-to-units", Opcode::kBroadcast, kAnyOpcode,
     "broadcast<[n,1]>(x: [n]) = reshape(x)", BroadcastToUnits},
    {"splat-constant", Opcode::kConstant, kAnyOpcode,
     "{c, c, ...} = broadcast(c)", SplatConstant},
};

// ---- Sinking: compute before broadcasting ----

// op(broadcast(x), broadcast(y)) = broadcast(op(x', y')), where x' and y' are
// x and y broadcast to the dimensions that either has. Applies where that is
// fewer elements than the result has.
Instruction* SinkBroadcast(Instruction* i, Rewriter& r) {
  if (!IsElementwise(i->opcode()) || i->opcode() == Opcode::kCopy ||
      i->operand_count() == 0 || !i->shape().IsArray()) {
    return nullptr;
  }
  std::vector<bool> needed(i->shape().rank(), false);
  bool any_broadcast = false;
  for (const Instruction* o : i->operands()) {
    // select and clamp take scalars beside arrays.
    if (!o->shape().SameDims(i->shape())) {
      if (!o->shape().IsScalar()) return nullptr;
      continue;
    }
    if (o->opcode() != Opcode::kBroadcast || !Ascends(o->dimensions())) {
      return nullptr;
    }
    any_broadcast = true;
    for (int64_t d : o->dimensions()) needed[d] = true;
  }
  if (!any_broadcast) return nullptr;
  DimVector map;
  DimVector dims;
  DimVector position(i->shape().rank(), -1);
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    if (!needed[d]) continue;
    position[d] = map.size();
    map.push_back(d);
    dims.push_back(Dims(i)[d]);
  }
  Shape small = r.ArrayShape(i->shape().type(), dims);
  if (small.ElementCount() >= i->shape().ElementCount()) return nullptr;
  std::vector<Instruction*> operands;
  for (Instruction* o : i->operands()) {
    if (!o->shape().SameDims(i->shape())) {
      operands.push_back(o);
      continue;
    }
    DimVector inner;
    for (int64_t d : o->dimensions()) inner.push_back(position[d]);
    operands.push_back(r.Broadcast(o->operand(0), inner, dims));
  }
  return r.Broadcast(r.AddLike(*i, operands, small), map, Dims(i));
}

constexpr RewriteRule kSinking[] = {
    {"sink-broadcast", kAnyOpcode, kAnyOpcode,
     "f(broadcast(x), broadcast(y)) = broadcast(f(x, y))", SinkBroadcast},
};

}  // namespace

absl::Span<const RewriteRule> BroadcastRules() { return kRules; }
absl::Span<const RewriteRule> BroadcastSinkingRules() { return kSinking; }

}  // namespace ridge
