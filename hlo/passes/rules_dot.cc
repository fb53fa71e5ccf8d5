// Canonical dots. Afterwards each operand of a dot is a batched matrix in
// memory order: batch dimensions first and in the order of the result, then
// free and contracting dimensions, each kind in one run, in either order; no
// dimension has size 1. Transposes that only swap the two runs are part of the
// dot. A dot that contracts nothing is a multiply. All exact.
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

bool Contains(absl::Span<const int64_t> values, int64_t v) {
  return std::find(values.begin(), values.end(), v) != values.end();
}

// The roles of one operand's dimensions.
struct Side {
  DimVector batch;
  DimVector contracting;
  DimVector free;
};

Side SideOf(const Instruction* dot, int operand) {
  bool lhs = operand == 0;
  Ints batch = dot->ints(lhs ? AttrId::kLhsBatchDims : AttrId::kRhsBatchDims);
  Ints contracting = dot->ints(lhs ? AttrId::kLhsContractingDims
                                   : AttrId::kRhsContractingDims);
  Side s;
  s.batch.assign(batch.begin(), batch.end());
  s.contracting.assign(contracting.begin(), contracting.end());
  for (int64_t d = 0; d < dot->operand(operand)->shape().rank(); ++d) {
    if (!Contains(batch, d) && !Contains(contracting, d)) s.free.push_back(d);
  }
  return s;
}

void SetSide(Instruction* dot, int operand, const Side& s) {
  bool lhs = operand == 0;
  auto set = [&](AttrId id, const DimVector& dims) {
    if (dims.empty()) {
      dot->RemoveAttr(id);
    } else {
      dot->set_ints(id, dims);
    }
  };
  set(lhs ? AttrId::kLhsBatchDims : AttrId::kRhsBatchDims, s.batch);
  set(lhs ? AttrId::kLhsContractingDims : AttrId::kRhsContractingDims,
      s.contracting);
}

bool IsPlainDot(const Instruction* i) { return i->operand_count() == 2; }

// Consecutive ascending numbers.
bool IsRun(absl::Span<const int64_t> dims) {
  for (size_t k = 1; k < dims.size(); ++k) {
    if (dims[k] != dims[k - 1] + 1) return false;
  }
  return true;
}

bool IsMatrix(const Side& s) {
  return IsRun(s.batch) && (s.batch.empty() || s.batch[0] == 0) &&
         IsRun(s.contracting) && IsRun(s.free);
}

// ---- Rules ----

Instruction* DotDropUnits(Instruction* i, Rewriter& r) {
  if (!IsPlainDot(i)) return nullptr;
  Instruction* x[] = {i->operand(0), i->operand(1)};
  if (!HasUnits(Dims(x[0])) && !HasUnits(Dims(x[1]))) return nullptr;
  Side side[2];
  Instruction* operands[2];
  DimVector dims;
  for (int k : {0, 1}) {
    Side s = SideOf(i, k);
    DimVector new_index(x[k]->shape().rank(), -1);
    int64_t next = 0;
    for (int64_t d = 0; d < x[k]->shape().rank(); ++d) {
      if (Dims(x[k])[d] != 1) new_index[d] = next++;
    }
    auto keep = [&](const DimVector& from, DimVector* to) {
      for (int64_t d : from) {
        if (new_index[d] >= 0) to->push_back(new_index[d]);
      }
    };
    keep(s.batch, &side[k].batch);
    keep(s.contracting, &side[k].contracting);
    operands[k] = r.Reshape(x[k], WithoutUnits(Dims(x[k])));
  }
  Instruction* dot = r.AddLike(
      *i, operands, r.ArrayShape(i->shape().type(), WithoutUnits(Dims(i))));
  SetSide(dot, 0, side[0]);
  SetSide(dot, 1, side[1]);
  return r.Reshape(dot, Dims(i));
}

// One product for each element of the result.
Instruction* DotOfNothing(Instruction* i, Rewriter& r) {
  ElementType type = i->shape().type();
  if (!IsPlainDot(i) || i->has(AttrId::kDotAlgorithm) ||
      !(IsIeeeFloat(type) || IsComplex(type) || IsInteger(type))) {
    return nullptr;
  }
  Side side[] = {SideOf(i, 0), SideOf(i, 1)};
  if (!side[0].contracting.empty()) return nullptr;
  Instruction* factors[2];
  for (int k : {0, 1}) {
    DimVector order = side[k].batch;
    order.insert(order.end(), side[k].free.begin(), side[k].free.end());
    Instruction* x = r.Convert(r.Transpose(i->operand(k), order), type);
    DimVector map(order.size());
    std::iota(map.begin(), map.end(), 0);
    if (k == 1) {
      for (size_t d = side[1].batch.size(); d < map.size(); ++d) {
        map[d] += side[0].free.size();
      }
    }
    factors[k] = r.Broadcast(x, map, Dims(i));
  }
  return r.Add(Opcode::kMultiply, i->shape(), factors);
}

Instruction* DotOfEmpty(Instruction* i, Rewriter& r) {
  if (!IsPlainDot(i) || (i->operand(0)->shape().ElementCount() != 0 &&
                         i->operand(1)->shape().ElementCount() != 0)) {
    return nullptr;
  }
  return r.Splat(i->shape().type(), Dims(i), 0);
}

// The pairs of contracting dimensions in the order of the left operand's.
Instruction* DotContractingOrder(Instruction* i, Rewriter& r) {
  if (!IsPlainDot(i)) return nullptr;
  Side lhs = SideOf(i, 0);
  Side rhs = SideOf(i, 1);
  if (Ascends(lhs.contracting)) return nullptr;
  DimVector order(lhs.contracting.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return lhs.contracting[a] < lhs.contracting[b];
  });
  Side new_lhs = lhs;
  Side new_rhs = rhs;
  for (size_t k = 0; k < order.size(); ++k) {
    new_lhs.contracting[k] = lhs.contracting[order[k]];
    new_rhs.contracting[k] = rhs.contracting[order[k]];
  }
  SetSide(i, 0, new_lhs);
  SetSide(i, 1, new_rhs);
  return i;
}

// dot(transpose(x), y): read x in its own order where that is a matrix too.
Instruction* DotOfTranspose(Instruction* i, Rewriter& r) {
  if (!IsPlainDot(i)) return nullptr;
  for (int k : {0, 1}) {
    Instruction* t = i->operand(k);
    if (t->opcode() != Opcode::kTranspose) continue;
    Side s = SideOf(i, k);
    for (DimVector* dims : {&s.batch, &s.contracting, &s.free}) {
      for (int64_t& d : *dims) d = t->dimensions()[d];
    }
    // Free dimensions are in the order of the result.
    if (!IsMatrix(s)) continue;
    Instruction* operands[] = {i->operand(0), i->operand(1)};
    operands[k] = t->operand(0);
    Instruction* dot = r.AddLike(*i, operands, i->shape());
    SetSide(dot, k, s);
    return dot;
  }
  return nullptr;
}

Instruction* DotOfScattered(Instruction* i, Rewriter& r) {
  if (!IsPlainDot(i)) return nullptr;
  Side side[] = {SideOf(i, 0), SideOf(i, 1)};
  if (IsMatrix(side[0]) && IsMatrix(side[1])) return nullptr;
  Instruction* operands[] = {i->operand(0), i->operand(1)};
  for (int k : {0, 1}) {
    if (IsMatrix(side[k])) continue;
    DimVector order = side[k].batch;
    auto append = [&order](const DimVector& dims) {
      order.insert(order.end(), dims.begin(), dims.end());
    };
    int64_t batch = side[k].batch.size();
    int64_t free = side[k].free.size();
    int64_t contracting = side[k].contracting.size();
    // The minor dimension of the operand stays minor where it can.
    bool contracting_last =
        !Contains(side[k].free, i->operand(k)->shape().rank() - 1);
    append(contracting_last ? side[k].free : side[k].contracting);
    append(contracting_last ? side[k].contracting : side[k].free);
    operands[k] = r.Transpose(operands[k], order);
    std::iota(side[k].batch.begin(), side[k].batch.end(), 0);
    std::iota(side[k].free.begin(), side[k].free.end(),
              batch + (contracting_last ? 0 : contracting));
    std::iota(side[k].contracting.begin(), side[k].contracting.end(),
              batch + (contracting_last ? free : 0));
  }
  Instruction* dot = r.AddLike(*i, operands, i->shape());
  SetSide(dot, 0, side[0]);
  SetSide(dot, 1, side[1]);
  return dot;
}

constexpr RewriteRule kRules[] = {
    {"dot-of-empty", Opcode::kDot, kAnyOpcode, "dot(x: [n,0], y: [0,m]) = 0",
     DotOfEmpty},
    {"dot-drop-units", Opcode::kDot, kAnyOpcode,
     "dot(x: [n,1,k], y) = reshape(dot(reshape<[n,k]>(x), y))", DotDropUnits},
    {"dot-of-nothing", Opcode::kDot, kAnyOpcode,
     "dot(x: [n], y: [m]) = broadcast(x) * broadcast(y)", DotOfNothing},
    {"dot-contracting-order", Opcode::kDot, kAnyOpcode,
     "dot<{1,0}x{3,2}> = dot<{0,1}x{2,3}>", DotContractingOrder},
    {"dot-of-transpose", Opcode::kDot, kAnyOpcode,
     "dot<{1}x{0}>(transpose(x), y) = dot<{0}x{0}>(x, y)", DotOfTranspose},
    {"dot-of-scattered", Opcode::kDot, kAnyOpcode,
     "dot(x: [k,batch,n], y) = dot(transpose<[batch,n,k]>(x), y)",
     DotOfScattered},
};

}  // namespace

absl::Span<const RewriteRule> DotRules() { return kRules; }

}  // namespace ridge
