#include "hlo/passes/rewriter.h"

#include <string>
#include <utility>

namespace ridge {

bool SameShapeAndLayout(const Shape& a, const Shape& b) {
  if (&a == &b) return true;
  if (!a.Compatible(b)) return false;
  if (a.IsTuple()) {
    for (size_t k = 0; k < a.tuple_shapes().size(); ++k) {
      if (!SameShapeAndLayout(a.tuple_shape(k), b.tuple_shape(k))) {
        return false;
      }
    }
    return true;
  }
  if (!a.IsArray()) return true;
  if (a.has_layout() && b.has_layout() && a.layout() == b.layout()) return true;
  auto plain = [](const Shape& s) {
    return !s.has_layout() ||
           (s.layout().extras == nullptr && s.HasDefaultLayout());
  };
  return plain(a) && plain(b);
}

Shape Rewriter::ArrayShape(ElementType type,
                           absl::Span<const int64_t> dims) const {
  Shape shape = Shape::Array(type, dims);
  const Shape* like = &target_->shape();
  while (like->IsTuple() && !like->tuple_shapes().empty()) {
    like = &like->tuple_shape(0);
  }
  if (like->has_layout()) shape.SetDefaultLayout();
  return shape;
}

Instruction* Rewriter::Add(Opcode opcode, const Shape& shape,
                           absl::Span<Instruction* const> operands) {
  Instruction* i =
      computation()->Add(opcode, shape, operands, Name(opcode), target_);
  i->set_location(target_->location());
  if (const AttrValue* metadata = target_->FindAttr(AttrId::kMetadata)) {
    i->SetAttr(AttrId::kMetadata, *metadata);
  }
  added_.push_back(i);
  return i;
}

Instruction* Rewriter::AddLike(const Instruction& like,
                               absl::Span<Instruction* const> operands,
                               const Shape& shape) {
  Instruction* i = computation()->AddLike(like, operands, &shape, target_,
                                          Name(like.opcode()));
  i->set_location(target_->location());
  if (const AttrValue* metadata = target_->FindAttr(AttrId::kMetadata)) {
    i->SetAttr(AttrId::kMetadata, *metadata);
  }
  added_.push_back(i);
  return i;
}

Instruction* Rewriter::Constant(Literal literal) {
  Shape shape = literal.shape();
  Instruction* i = Add(Opcode::kConstant, shape, {});
  i->set_literal(std::make_shared<const Literal>(std::move(literal)));
  return i;
}

Instruction* Rewriter::Scalar(ElementType type, double value) {
  return Constant(FullLiteral(ArrayShape(type, {}), value));
}

Instruction* Rewriter::Splat(ElementType type, absl::Span<const int64_t> dims,
                             double value) {
  return Broadcast(Scalar(type, value), {}, dims);
}

Instruction* Rewriter::Reshape(Instruction* x, absl::Span<const int64_t> dims) {
  if (x->shape().dims() == dims) return x;
  return Add(Opcode::kReshape, ArrayShape(x->shape().type(), dims), {x});
}

Instruction* Rewriter::Transpose(Instruction* x,
                                 absl::Span<const int64_t> permutation) {
  bool identity = true;
  DimVector dims;
  for (size_t k = 0; k < permutation.size(); ++k) {
    identity &= permutation[k] == static_cast<int64_t>(k);
    dims.push_back(x->shape().dim(permutation[k]));
  }
  if (identity) return x;
  Instruction* i =
      Add(Opcode::kTranspose, ArrayShape(x->shape().type(), dims), {x});
  i->set_ints(AttrId::kDimensions, permutation);
  return i;
}

Instruction* Rewriter::Broadcast(Instruction* x, absl::Span<const int64_t> map,
                                 absl::Span<const int64_t> dims) {
  if (x->shape().dims() == dims) return x;  // map ascends: the identity
  Instruction* i =
      Add(Opcode::kBroadcast, ArrayShape(x->shape().type(), dims), {x});
  i->set_ints(AttrId::kDimensions, map);
  return i;
}

Instruction* Rewriter::Slice(Instruction* x, SliceRanges ranges) {
  DimVector dims;
  bool full = true;
  for (size_t k = 0; k < ranges.size(); ++k) {
    const SliceRange& r = ranges[k];
    int64_t extent = r.limit - r.start;
    dims.push_back(extent <= 0 ? 0 : (extent + r.stride - 1) / r.stride);
    full &= r.start == 0 && r.stride == 1 && r.limit == x->shape().dim(k);
  }
  if (full) return x;
  Instruction* i =
      Add(Opcode::kSlice, ArrayShape(x->shape().type(), dims), {x});
  i->set_boxed(AttrId::kSlice, std::move(ranges));
  return i;
}

Instruction* Rewriter::Convert(Instruction* x, ElementType type) {
  if (x->shape().type() == type) return x;
  Shape shape = x->shape();
  shape.set_type(type);
  return Add(Opcode::kConvert, shape, {x});
}

Instruction* Rewriter::Unary(Opcode opcode, Instruction* x) {
  return Add(opcode, x->shape(), {x});
}

Instruction* Rewriter::Binary(Opcode opcode, Instruction* x, Instruction* y) {
  return Add(opcode, x->shape(), {x, y});
}

Instruction* Rewriter::Compare(ComparisonDirection direction, Instruction* x,
                               Instruction* y) {
  Shape shape = x->shape();
  shape.set_type(ElementType::kPred);
  Instruction* i = Add(Opcode::kCompare, shape, {x, y});
  i->SetAttr(AttrId::kDirection, EnumValue{static_cast<int32_t>(direction)});
  return i;
}

std::vector<Instruction*> Rewriter::TakeAdded() {
  return std::exchange(added_, {});
}

bool Rewriter::Replace(Instruction* old, Instruction* replacement,
                       bool takes_name) {
  old->ReplaceAllUsesWith(replacement);
  if (!old->IsDead()) return false;
  std::string name(old->name());
  old->parent()->Remove(old);
  if (takes_name) replacement->set_name(name);
  return true;
}

}  // namespace ridge
