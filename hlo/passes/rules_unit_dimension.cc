// Rules that move reshapes which only add or drop dimensions of size 1 out of
// the way. JAX keeps reduced dimensions as [n,1], computes on them, drops them
// and broadcasts; afterwards the computation is on [n]:
//
//   a = f32[n,1] reshape(x)           a' = f32[n] add(x, broadcast(c))
//   b = f32[n,1] add(a, splat(c)) =>  d' = f32[n,m] broadcast(a'), {0}
//   d = f32[n,m] broadcast(reshape<[n]>(b)), {0}
//
// Reshapes that add units sink below what uses them, those that drop units
// rise above what makes them. Either way an instruction with units becomes one
// without, which happens once; no rule goes the other way. All exact.
#include <algorithm>

#include "hlo/passes/dimension_groups.h"
#include "hlo/passes/rules.h"
#include "hlo/passes/value_facts.h"

namespace ridge {
namespace {

absl::Span<const int64_t> Dims(const Instruction* i) {
  return i->shape().dims();
}

bool AddsUnits(const Instruction* i) {
  return i->opcode() == Opcode::kReshape &&
         SameButForUnits(Dims(i), Dims(i->operand(0))) &&
         i->operand(0)->shape().rank() < i->shape().rank();
}

bool DropsUnits(const Instruction* i) {
  return i->opcode() == Opcode::kReshape &&
         SameButForUnits(Dims(i), Dims(i->operand(0))) &&
         i->operand(0)->shape().rank() > i->shape().rank();
}

// Whether a neighbour of `i` would be rid of its reshape if `i` had no units.
bool WorthIt(const Instruction* i, const Instruction* operand) {
  if (AddsUnits(operand)) return true;
  return std::any_of(i->uses().begin(), i->uses().end(),
                     [](const Use& use) { return DropsUnits(use.user); });
}

Instruction* SqueezeElementwise(Instruction* i, Rewriter& r) {
  if (!IsElementwise(i->opcode()) || i->operand_count() == 0 ||
      !i->shape().IsArray() || !HasUnits(Dims(i)) ||
      !i->shape().HasDefaultLayout()) {
    return nullptr;
  }
  bool worth_it = false;
  for (const Instruction* o : i->operands()) {
    if (!o->shape().HasDefaultLayout()) return nullptr;
    worth_it |= WorthIt(i, o);
  }
  if (!worth_it) return nullptr;
  DimVector dims = WithoutUnits(Dims(i));
  std::vector<Instruction*> operands;
  for (Instruction* o : i->operands()) {
    bool scalar_beside_array = !o->shape().SameDims(i->shape());
    operands.push_back(scalar_beside_array ? o : r.Reshape(o, dims));
  }
  Instruction* small =
      r.AddLike(*i, operands, r.ArrayShape(i->shape().type(), dims));
  return r.Reshape(small, Dims(i));
}

// Of an instruction that moves elements within dimensions: those that are 1
// before and after.
struct Squeezed {
  std::vector<bool> dropped;  // by dimension
  DimVector new_index;        // by dimension, -1 where dropped
  DimVector operand_dims;
  DimVector dims;
};

Squeezed Squeeze(const Shape& operand, const Shape& result) {
  Squeezed s;
  for (int64_t d = 0; d < result.rank(); ++d) {
    bool drop = operand.dim(d) == 1 && result.dim(d) == 1;
    s.dropped.push_back(drop);
    s.new_index.push_back(drop ? -1 : static_cast<int64_t>(s.dims.size()));
    if (drop) continue;
    s.operand_dims.push_back(operand.dim(d));
    s.dims.push_back(result.dim(d));
  }
  return s;
}

template <typename T>
std::vector<T> Kept(const std::vector<T>& values, const Squeezed& s) {
  std::vector<T> kept;
  for (size_t d = 0; d < values.size(); ++d) {
    if (!s.dropped[d]) kept.push_back(values[d]);
  }
  return kept;
}

// True where squeezing drops anything and helps a neighbour.
bool ShouldSqueeze(const Instruction* i, const Squeezed& s) {
  return s.dims.size() < static_cast<size_t>(i->shape().rank()) &&
         WorthIt(i, i->operand(0));
}

Instruction* SqueezeSlice(Instruction* i, Rewriter& r) {
  Squeezed s = Squeeze(i->operand(0)->shape(), i->shape());
  if (!ShouldSqueeze(i, s)) return nullptr;
  Instruction* x = r.Reshape(i->operand(0), s.operand_dims);
  Instruction* small =
      r.Slice(x, Kept(*i->boxed<SliceRanges>(AttrId::kSlice), s));
  return r.Reshape(small, Dims(i));
}

Instruction* SqueezePad(Instruction* i, Rewriter& r) {
  const PaddingConfig& padding = *i->boxed<PaddingConfig>(AttrId::kPadding);
  Squeezed s = Squeeze(i->operand(0)->shape(), i->shape());
  for (size_t d = 0; d < padding.size(); ++d) {
    // One element that moved out of sight is not the one that is there.
    if (s.dropped[d] && (padding[d].low != 0 || padding[d].high != 0)) {
      return nullptr;
    }
  }
  if (!ShouldSqueeze(i, s)) return nullptr;
  Instruction* x = r.Reshape(i->operand(0), s.operand_dims);
  Instruction* small = r.AddLike(*i, {x, i->operand(1)},
                                 r.ArrayShape(i->shape().type(), s.dims));
  small->set_boxed(AttrId::kPadding, Kept(padding, s));
  return r.Reshape(small, Dims(i));
}

Instruction* SqueezeReverse(Instruction* i, Rewriter& r) {
  Squeezed s = Squeeze(i->operand(0)->shape(), i->shape());
  if (!ShouldSqueeze(i, s)) return nullptr;
  DimVector reversed;
  for (int64_t d : i->dimensions()) {
    if (!s.dropped[d]) reversed.push_back(s.new_index[d]);
  }
  Instruction* x = r.Reshape(i->operand(0), s.operand_dims);
  Instruction* small =
      r.AddLike(*i, {x}, r.ArrayShape(i->shape().type(), s.dims));
  small->set_ints(AttrId::kDimensions, reversed);
  return r.Reshape(small, Dims(i));
}

Instruction* SqueezeConcatenate(Instruction* i, Rewriter& r) {
  int64_t along = i->dimensions()[0];
  Squeezed s = Squeeze(i->shape(), i->shape());
  if (s.dropped[along]) return nullptr;
  bool worth_it = false;
  for (const Instruction* o : i->operands()) worth_it |= WorthIt(i, o);
  if (!worth_it || s.dims.size() == static_cast<size_t>(i->shape().rank())) {
    return nullptr;
  }
  std::vector<Instruction*> operands;
  for (Instruction* o : i->operands()) {
    DimVector dims = s.dims;
    dims[s.new_index[along]] = Dims(o)[along];
    operands.push_back(r.Reshape(o, dims));
  }
  Instruction* small =
      r.AddLike(*i, operands, r.ArrayShape(i->shape().type(), s.dims));
  small->set_ints(AttrId::kDimensions, {s.new_index[along]});
  return r.Reshape(small, Dims(i));
}

// The start index of a unit dimension is clamped to 0.
Instruction* SqueezeDynamicSlice(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 1 + i->shape().rank()) return nullptr;
  Squeezed s = Squeeze(i->operand(0)->shape(), i->shape());
  if (!ShouldSqueeze(i, s)) return nullptr;
  std::vector<Instruction*> operands = {
      r.Reshape(i->operand(0), s.operand_dims)};
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    if (!s.dropped[d]) operands.push_back(i->operand(1 + d));
  }
  Instruction* small =
      r.AddLike(*i, operands, r.ArrayShape(i->shape().type(), s.dims));
  small->set_ints(AttrId::kDynamicSliceSizes, s.dims);
  return r.Reshape(small, Dims(i));
}

constexpr RewriteRule kRules[] = {
    {"squeeze-elementwise", kAnyOpcode, kAnyOpcode,
     "f(reshape<[n,1]>(x)) = reshape<[n,1]>(f(x))", SqueezeElementwise},
    {"squeeze-slice", Opcode::kSlice, kAnyOpcode,
     "slice(reshape<[n,1]>(x)) = reshape(slice(x))", SqueezeSlice},
    {"squeeze-pad", Opcode::kPad, kAnyOpcode,
     "pad(reshape<[n,1]>(x)) = reshape(pad(x))", SqueezePad},
    {"squeeze-reverse", Opcode::kReverse, kAnyOpcode,
     "reverse(reshape<[n,1]>(x)) = reshape(reverse(x))", SqueezeReverse},
    {"squeeze-concatenate", Opcode::kConcatenate, kAnyOpcode,
     "concatenate(reshape<[n,1]>(x), ...) = reshape(concatenate(x, ...))",
     SqueezeConcatenate},
    {"squeeze-dynamic-slice", Opcode::kDynamicSlice, kAnyOpcode,
     "dynamic-slice(reshape<[n,1]>(x)) = reshape(dynamic-slice(x))",
     SqueezeDynamicSlice},
};

}  // namespace

absl::Span<const RewriteRule> UnitDimensionRules() { return kRules; }

}  // namespace ridge
