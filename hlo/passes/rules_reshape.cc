// Rules of reshape, transpose, bitcast, reverse and iota. All exact.
//
// The worklist shows these rules only default layouts, where a bitcast
// between equal types is a reshape. Other layouts are the business of
// bitcast_normalization.
#include <algorithm>

#include "hlo/passes/dimension_groups.h"
#include "hlo/passes/rules.h"
#include "hlo/passes/value_facts.h"

namespace ridge {
namespace {

absl::Span<const int64_t> Dims(const Instruction* i) {
  return i->shape().dims();
}

Instruction* EmptyValue(Instruction* i, Rewriter& r) {
  if (!i->shape().IsArray() || i->shape().ElementCount() != 0) return nullptr;
  if (i->opcode() == Opcode::kParameter ||
      i->opcode() == Opcode::kGetTupleElement || i->HasSideEffect() ||
      (i->use_count() == 0 && !i->IsRoot())) {
    return nullptr;
  }
  if (i->opcode() == Opcode::kBroadcast &&
      i->operand(0)->opcode() == Opcode::kConstant &&
      i->operand(0)->shape().IsScalar()) {
    return nullptr;
  }
  return r.Splat(i->shape().type(), Dims(i), 0);
}

// ---- reshape ----

Instruction* ReshapeIdentity(Instruction* i, Rewriter& r) {
  return i->shape().Compatible(i->operand(0)->shape()) ? i->operand(0)
                                                       : nullptr;
}

Instruction* ReshapeOfReshape(Instruction* i, Rewriter& r) {
  return r.Reshape(i->operand(0)->operand(0), Dims(i));
}

// reshape(broadcast(x)) where every group of the reshape is made of broadcast
// dimensions alone or of dimensions of x alone:
//   reshape<[6,4]>(broadcast<[2,3,4], dimensions={2}>(x))
//     = broadcast<[6,4], dimensions={1}>(x)
Instruction* ReshapeOfBroadcast(Instruction* i, Rewriter& r) {
  Instruction* b = i->operand(0);
  Instruction* x = b->operand(0);
  if (!Ascends(b->dimensions())) return nullptr;
  auto groups = GroupDimensions(Dims(b), Dims(i));
  if (!groups.has_value()) return nullptr;
  std::vector<bool> of_operand(b->shape().rank(), false);
  for (int64_t d : b->dimensions()) of_operand[d] = true;
  DimVector operand_dims;
  DimVector map;
  for (const DimensionGroup& g : *groups) {
    bool first = of_operand[g.from[0]];
    for (int64_t d : g.from) {
      if (of_operand[d] != first) return nullptr;
    }
    if (!first) continue;
    for (int64_t d : g.to) {
      map.push_back(d);
      operand_dims.push_back(Dims(i)[d]);
    }
  }
  return r.Broadcast(r.Reshape(x, operand_dims), map, Dims(i));
}

// reshape(transpose(x)) that only adds or removes unit dimensions, and a
// transpose that moves only those, meet in one of the two.
Instruction* TransposeOfUnits(Instruction* i, Rewriter& r) {
  Ints permutation = i->dimensions();
  int64_t last = -1;
  for (int64_t d : permutation) {
    if (Dims(i->operand(0))[d] == 1) continue;
    if (d < last) return nullptr;
    last = d;
  }
  return r.Reshape(i->operand(0), Dims(i));
}

Instruction* TransposeOfTranspose(Instruction* i, Rewriter& r) {
  Ints outer = i->dimensions();
  Ints inner = i->operand(0)->dimensions();
  DimVector merged;
  for (int64_t d : outer) merged.push_back(inner[d]);
  return r.Transpose(i->operand(0)->operand(0), merged);
}

// Permuted dimensions of a broadcast are those of a smaller transpose.
Instruction* TransposeOfBroadcast(Instruction* i, Rewriter& r) {
  Instruction* b = i->operand(0);
  DimVector operand_dim(b->shape().rank(), -1);
  for (size_t k = 0; k < b->dimensions().size(); ++k) {
    operand_dim[b->dimensions()[k]] = k;
  }
  DimVector permutation;
  DimVector map;
  for (int64_t k = 0; k < i->shape().rank(); ++k) {
    int64_t from = operand_dim[i->dimensions()[k]];
    if (from < 0) continue;
    permutation.push_back(from);
    map.push_back(k);
  }
  return r.Broadcast(r.Transpose(b->operand(0), permutation), map, Dims(i));
}

// transpose(reshape(x)) where the reshape only adds unit dimensions: permute
// first, in the lower rank.
Instruction* TransposeOfUnitReshape(Instruction* i, Rewriter& r) {
  Instruction* reshape = i->operand(0);
  Instruction* x = reshape->operand(0);
  if (!SameButForUnits(Dims(reshape), Dims(x)) ||
      x->shape().rank() >= reshape->shape().rank() || HasUnits(Dims(x))) {
    return nullptr;
  }
  DimVector position(reshape->shape().rank(), -1);
  int64_t next = 0;
  for (int64_t k = 0; k < reshape->shape().rank(); ++k) {
    if (Dims(reshape)[k] != 1) position[k] = next++;
  }
  DimVector permutation;
  for (int64_t d : i->dimensions()) {
    if (position[d] >= 0) permutation.push_back(position[d]);
  }
  return r.Reshape(r.Transpose(x, permutation), Dims(i));
}

// ---- bitcast ----

Instruction* BitcastIsReshape(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  if (!i->shape().IsArray() || !x->shape().IsArray()) return nullptr;
  if (i->shape().type() == x->shape().type()) {
    if (i->shape().ElementCount() != x->shape().ElementCount()) return nullptr;
    return r.Reshape(x, Dims(i));
  }
  auto bytes = [](ElementType t) { return Info(t).bits; };
  if (!x->shape().SameDims(i->shape()) || IsPred(i->shape().type()) ||
      IsPred(x->shape().type()) ||
      bytes(i->shape().type()) != bytes(x->shape().type())) {
    return nullptr;
  }
  return r.Add(Opcode::kBitcastConvert, i->shape(), {x});
}

// ---- reverse, iota ----

Instruction* ReverseOfUnits(Instruction* i, Rewriter& r) {
  DimVector kept;
  for (int64_t d : i->dimensions()) {
    if (Dims(i)[d] != 1) kept.push_back(d);
  }
  if (kept.empty()) return i->operand(0);
  if (kept.size() == i->dimensions().size()) return nullptr;
  Instruction* reversed = r.AddLike(*i, {i->operand(0)}, i->shape());
  reversed->set_ints(AttrId::kDimensions, kept);
  return reversed;
}

Instruction* ReverseOfReverse(Instruction* i, Rewriter& r) {
  DimVector once;
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    auto has = [d](Ints dims) {
      return std::find(dims.begin(), dims.end(), d) != dims.end();
    };
    if (has(i->dimensions()) != has(i->operand(0)->dimensions())) {
      once.push_back(d);
    }
  }
  Instruction* x = i->operand(0)->operand(0);
  if (once.empty()) return x;
  Instruction* reversed = r.AddLike(*i, {x}, i->shape());
  reversed->set_ints(AttrId::kDimensions, once);
  return reversed;
}

Instruction* ReverseOfBroadcast(Instruction* i, Rewriter& r) {
  Instruction* b = i->operand(0);
  for (int64_t d : b->dimensions()) {
    for (int64_t e : i->dimensions()) {
      if (d == e) return nullptr;
    }
  }
  return b;
}

// An iota of more than one dimension is a broadcast row of numbers.
Instruction* IotaOfOneDimension(Instruction* i, Rewriter& r) {
  if (i->shape().rank() < 2) return nullptr;
  int64_t d = i->int_attr(AttrId::kIotaDimension);
  Instruction* row =
      r.Add(Opcode::kIota, r.ArrayShape(i->shape().type(), {Dims(i)[d]}), {});
  row->SetAttr(AttrId::kIotaDimension, int64_t{0});
  return r.Broadcast(row, {d}, Dims(i));
}

Instruction* IotaOfUnit(Instruction* i, Rewriter& r) {
  if (Dims(i)[i->int_attr(AttrId::kIotaDimension)] != 1 ||
      IsComplex(i->shape().type())) {
    return nullptr;
  }
  return r.Splat(i->shape().type(), Dims(i), 0);
}

constexpr RewriteRule kRules[] = {
    {"empty-value", kAnyOpcode, kAnyOpcode, "x = 0 where x has no elements",
     EmptyValue},
    {"reshape-identity", Opcode::kReshape, kAnyOpcode, "reshape<S>(x: S) = x",
     ReshapeIdentity},
    {"reshape-of-reshape", Opcode::kReshape, Opcode::kReshape,
     "reshape(reshape(x)) = reshape(x)", ReshapeOfReshape},
    {"reshape-of-broadcast", Opcode::kReshape, Opcode::kBroadcast,
     "reshape(broadcast(x)) = broadcast(reshape(x))", ReshapeOfBroadcast},
    {"transpose-of-units", Opcode::kTranspose, kAnyOpcode,
     "transpose(x) = reshape(x) where only unit dimensions move",
     TransposeOfUnits},
    {"transpose-of-transpose", Opcode::kTranspose, Opcode::kTranspose,
     "transpose(transpose(x)) = transpose(x)", TransposeOfTranspose},
    {"transpose-of-broadcast", Opcode::kTranspose, Opcode::kBroadcast,
     "transpose(broadcast(x)) = broadcast(transpose(x))", TransposeOfBroadcast},
    {"transpose-of-unit-reshape", Opcode::kTranspose, Opcode::kReshape,
     "transpose(reshape(x)) = reshape(transpose(x)) for added units",
     TransposeOfUnitReshape},
    {"bitcast-is-reshape", Opcode::kBitcast, kAnyOpcode,
     "bitcast(x) = reshape(x) in default layouts", BitcastIsReshape},
    {"reverse-of-units", Opcode::kReverse, kAnyOpcode,
     "reverse(x) = x along unit dimensions", ReverseOfUnits},
    {"reverse-of-reverse", Opcode::kReverse, Opcode::kReverse,
     "reverse(reverse(x)) = x", ReverseOfReverse},
    {"reverse-of-broadcast", Opcode::kReverse, Opcode::kBroadcast,
     "reverse(broadcast(x)) = broadcast(x) along new dimensions",
     ReverseOfBroadcast},
    {"iota-of-unit", Opcode::kIota, kAnyOpcode, "iota<[1]> = 0", IotaOfUnit},
    {"iota-of-one-dimension", Opcode::kIota, kAnyOpcode,
     "iota<[n,m]> = broadcast(iota<[n]>)", IotaOfOneDimension},
};

}  // namespace

absl::Span<const RewriteRule> ReshapeRules() { return kRules; }

}  // namespace ridge
