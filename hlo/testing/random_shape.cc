#include <algorithm>
#include <numeric>

#include "hlo/testing/random_builder.h"

namespace ridge::testing {
namespace {

bool HasRank(const Value& v) { return v.shape().rank() > 0; }

bool MakeBroadcast(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(
      [&](const Value& v) { return v.shape().rank() < b.options().max_rank; });
  if (!x.has_value()) return false;
  DimVector dims(x->shape().dims().begin(), x->shape().dims().end());
  DimVector map(dims.size());
  std::iota(map.begin(), map.end(), 0);
  int64_t elements = x->shape().ElementCount();
  int64_t grow = b.random().Between(1, b.options().max_rank - dims.size());
  for (int64_t k = 0; k < grow; ++k) {
    int64_t at = b.random().Between(0, dims.size());
    int64_t size = b.random().Between(1, 5);
    if (elements * size > b.options().max_elements) size = 1;
    elements *= size;
    dims.insert(dims.begin() + at, size);
    for (int64_t& m : map) m += m >= at;
  }
  Instruction* i =
      b.Add(Opcode::kBroadcast, Shape::Array(x->type(), dims), {x->i});
  i->set_ints(AttrId::kDimensions, map);
  b.Push(i, *x);
  return true;
}

// Splits and joins dimensions, adds and drops those of size 1.
DimVector OtherDims(RandomBuilder& b, const Shape& shape) {
  DimVector dims;
  for (int64_t d : shape.dims()) {
    if (d == 1 && b.random().Chance(0.6)) continue;
    int64_t factor = d % 2 == 0 && d > 0 ? 2 : d % 3 == 0 && d > 0 ? 3 : 1;
    if (factor > 1 && factor < d && b.random().Chance(0.4)) {
      dims.push_back(factor);
      dims.push_back(d / factor);
    } else if (!dims.empty() && b.random().Chance(0.3)) {
      dims.back() *= d;
    } else {
      dims.push_back(d);
    }
  }
  int64_t units = b.random().Chance(0.5) ? b.random().Between(1, 2) : 0;
  for (int64_t k = 0; k < units; ++k) {
    dims.insert(dims.begin() + b.random().Between(0, dims.size()), 1);
  }
  while (dims.size() > 6) {
    int64_t last = dims.back();
    dims.pop_back();
    dims.back() *= last;
  }
  return dims;
}

bool MakeReshape(RandomBuilder& b) {
  std::optional<Value> x = b.Pick();
  if (!x.has_value()) return false;
  Shape shape = Shape::Array(x->type(), OtherDims(b, x->shape()));
  Value y = b.Push(b.Add(Opcode::kReshape, shape, {x->i}), *x);
  if (b.random().Chance(0.3)) {
    b.Push(b.Add(Opcode::kReshape, x->shape(), {y.i}), *x);
  }
  return true;
}

bool MakeTranspose(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(HasRank);
  if (!x.has_value()) return false;
  DimVector permutation = b.Permutation(x->shape().rank());
  DimVector dims;
  for (int64_t p : permutation) dims.push_back(x->shape().dim(p));
  Instruction* i =
      b.Add(Opcode::kTranspose, Shape::Array(x->type(), dims), {x->i});
  i->set_ints(AttrId::kDimensions, permutation);
  b.Push(i, *x);
  return true;
}

bool MakeReverse(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(HasRank);
  if (!x.has_value()) return false;
  DimVector dims;
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    if (b.random().Chance(0.5)) dims.push_back(d);
  }
  Instruction* i = b.Add(Opcode::kReverse, x->shape(), {x->i});
  i->set_ints(AttrId::kDimensions, dims);
  b.Push(i, *x);
  return true;
}

bool MakeSlice(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(HasRank);
  if (!x.has_value()) return false;
  SliceRanges ranges;
  DimVector dims;
  for (int64_t d : x->shape().dims()) {
    SliceRange r{0, d, 1};
    if (b.random().Chance(0.6) && d > 0) {
      r.start = b.random().Below(d);
      r.limit = b.random().Between(r.start + 1, d);
      if (b.options().zero_sizes && b.random().Chance(0.01)) {
        r.limit = r.start;
      }
      r.stride = b.random().Chance(0.3) ? b.random().Between(1, 3) : 1;
    }
    ranges.push_back(r);
    dims.push_back((r.limit - r.start + r.stride - 1) / r.stride);
  }
  Instruction* i = b.Add(Opcode::kSlice, Shape::Array(x->type(), dims), {x->i});
  i->set_boxed(AttrId::kSlice, std::move(ranges));
  b.Push(i, *x);
  return true;
}

bool MakePad(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(HasRank);
  if (!x.has_value()) return false;
  PaddingConfig padding;
  DimVector dims;
  int64_t elements = 1;
  for (int64_t d : x->shape().dims()) {
    PaddingDimension p;
    if (b.random().Chance(0.6)) {
      p.low = b.random().Between(-1, 2);
      p.high = b.random().Between(-1, 2);
      p.interior = b.random().Chance(0.2) ? 1 : 0;
    }
    int64_t size =
        d + p.low + p.high + std::max<int64_t>(d - 1, 0) * p.interior;
    if (size < 0) {
      p = PaddingDimension();
      size = d;
    }
    elements *= std::max<int64_t>(size, 1);
    padding.push_back(p);
    dims.push_back(size);
  }
  if (elements > 2 * b.options().max_elements) return false;
  Value with = b.Like(Shape::Scalar(x->type()));
  Instruction* i =
      b.Add(Opcode::kPad, Shape::Array(x->type(), dims), {x->i, with.i});
  i->set_boxed(AttrId::kPadding, std::move(padding));
  b.Push(i, std::min(x->low, with.low), std::max(x->high, with.high));
  return true;
}

bool MakeConcatenate(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(HasRank);
  if (!x.has_value()) return false;
  int64_t along = b.random().Below(x->shape().rank());
  std::vector<Instruction*> operands = {x->i};
  Shape shape = x->shape();
  double low = x->low;
  double high = x->high;
  int64_t more = b.random().Between(0, 3);
  for (int64_t k = 0; k < more; ++k) {
    std::optional<Value> y = b.Pick([&](const Value& v) {
      if (v.type() != shape.type() || v.shape().rank() != shape.rank()) {
        return false;
      }
      for (int64_t d = 0; d < shape.rank(); ++d) {
        if (d != along && v.shape().dim(d) != shape.dim(d)) return false;
      }
      return true;
    });
    Value z = y.has_value() ? *y : b.Partner(*x);
    if (shape.ElementCount() > b.options().max_elements) break;
    operands.push_back(z.i);
    shape.set_dim(along, shape.dim(along) + z.shape().dim(along));
    low = std::min(low, z.low);
    high = std::max(high, z.high);
  }
  Instruction* i = b.Add(Opcode::kConcatenate, shape, operands);
  i->set_ints(AttrId::kDimensions, {along});
  b.Push(i, low, high);
  return true;
}

bool MakeIota(RandomBuilder& b) {
  ElementType type = b.RandomType();
  if (IsPred(type) || IsComplex(type)) return false;
  Shape shape = b.RandomShape(type);
  if (shape.rank() == 0) return false;
  Instruction* i = b.Add(Opcode::kIota, shape, {});
  int64_t d = b.random().Below(shape.rank());
  i->SetAttr(AttrId::kIotaDimension, d);
  b.Push(i, 0, static_cast<double>(shape.dim(d)));
  return true;
}

bool MakeConstant(RandomBuilder& b) {
  Shape shape = b.RandomShape(b.RandomType());
  Value v = b.random().Chance(0.5) ? b.RandomConstant(shape) : b.Like(shape);
  b.Push(v.i, v);
  return true;
}

bool MakeBitcast(RandomBuilder& b) {
  std::optional<Value> x = b.Pick();
  if (!x.has_value()) return false;
  Shape shape = Shape::Array(x->type(), OtherDims(b, x->shape()));
  b.Push(b.Add(Opcode::kBitcast, shape, {x->i}), *x);
  return true;
}

constexpr RandomOperation kOperations[] = {
    {"broadcast", 9, true, MakeBroadcast},
    {"reshape", 9, true, MakeReshape},
    {"transpose", 6, true, MakeTranspose},
    {"reverse", 2, true, MakeReverse},
    {"slice", 5, true, MakeSlice},
    {"pad", 3, true, MakePad},
    {"concatenate", 4, true, MakeConcatenate},
    {"iota", 3, true, MakeIota},
    {"constant", 3, true, MakeConstant},
    {"bitcast", 2, true, MakeBitcast},
};

}  // namespace

absl::Span<const RandomOperation> ShapeOperations() { return kOperations; }

}  // namespace ridge::testing
