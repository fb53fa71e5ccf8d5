#include <algorithm>
#include <cmath>

#include "hlo/testing/random_builder.h"

namespace ridge::testing {
namespace {

// scale on the diagonal of [n,n], zero elsewhere.
Instruction* Diagonal(RandomBuilder& b, ElementType type, int64_t n,
                      double scale) {
  Shape index = Shape::Array(ElementType::kS32, {n, n});
  Instruction* side[2];
  for (int64_t d : {0, 1}) {
    side[d] = b.Add(Opcode::kIota, index, {});
    side[d]->SetAttr(AttrId::kIotaDimension, d);
  }
  Instruction* on =
      b.Add(Opcode::kCompare, Shape::Array(ElementType::kPred, {n, n}),
            {side[0], side[1]});
  on->SetAttr(AttrId::kDirection,
              EnumValue{static_cast<int32_t>(ComparisonDirection::kEq)});
  Shape shape = Shape::Array(type, {n, n});
  return b.Add(Opcode::kSelect, shape,
               {on, b.Splat(shape, scale).i, b.Splat(shape, 0).i});
}

bool IsSmallMatrix(const Value& v) {
  return v.type() == ElementType::kF32 && v.shape().rank() == 2 &&
         v.shape().dim(0) > 0 && v.shape().dim(0) <= 8 &&
         v.shape().dim(1) > 0 && v.shape().dim(1) <= 8;
}

// Of x xT + 2 I, which is well conditioned.
bool MakeCholesky(RandomBuilder& b) {
  std::optional<Value> v = b.Pick(IsSmallMatrix);
  if (!v.has_value()) return false;
  Value x = b.Clamped(*v, -1, 1);
  int64_t n = x.shape().dim(0);
  Shape square = Shape::Array(x.type(), {n, n});
  Instruction* product = b.Add(Opcode::kDot, square, {x.i, x.i});
  product->set_ints(AttrId::kLhsContractingDims, {1});
  product->set_ints(AttrId::kRhsContractingDims, {1});
  Instruction* a =
      b.Add(Opcode::kAdd, square, {product, Diagonal(b, x.type(), n, 2)});
  Instruction* i = b.Add(Opcode::kCholesky, square, {a});
  i->SetAttr(AttrId::kLower, true);
  // Its other triangle holds whatever was there: look at the lower one only.
  Instruction* row =
      b.Add(Opcode::kIota, Shape::Array(ElementType::kS32, {n, n}), {});
  row->SetAttr(AttrId::kIotaDimension, int64_t{0});
  Instruction* column =
      b.Add(Opcode::kIota, Shape::Array(ElementType::kS32, {n, n}), {});
  column->SetAttr(AttrId::kIotaDimension, int64_t{1});
  Instruction* lower =
      b.Add(Opcode::kCompare, Shape::Array(ElementType::kPred, {n, n}),
            {row, column});
  lower->SetAttr(AttrId::kDirection,
                 EnumValue{static_cast<int32_t>(ComparisonDirection::kGe)});
  b.Push(b.Add(Opcode::kSelect, square, {lower, i, b.Splat(square, 0).i}), -4,
         4);
  return true;
}

bool MakeTriangularSolve(RandomBuilder& b) {
  std::optional<Value> v = b.Pick(IsSmallMatrix);
  if (!v.has_value()) return false;
  Value rhs = b.Clamped(*v, -4, 4);
  int64_t n = rhs.shape().dim(0);
  Shape square = Shape::Array(rhs.type(), {n, n});
  Value x = b.Clamped(b.Like(square), -0.25, 0.25);
  Instruction* a =
      b.Add(Opcode::kAdd, square, {x.i, Diagonal(b, rhs.type(), n, 2)});
  Instruction* i = b.Add(Opcode::kTriangularSolve, rhs.shape(), {a, rhs.i});
  i->SetAttr(AttrId::kLeftSide, true);
  i->SetAttr(AttrId::kLower, b.random().Chance(0.5));
  i->SetAttr(AttrId::kUnitDiagonal, false);
  i->SetAttr(AttrId::kTransposeA,
             EnumValue{static_cast<int32_t>(
                 b.random().Chance(0.5) ? TriangularTranspose::kNoTranspose
                                        : TriangularTranspose::kTranspose)});
  b.Push(i, -32, 32);
  return true;
}

bool MakeFft(RandomBuilder& b) {
  std::optional<Value> x = b.Pick([](const Value& v) {
    return (v.type() == ElementType::kC64 || v.type() == ElementType::kF32) &&
           v.shape().rank() > 0 && v.shape().ElementCount() > 0;
  });
  if (!x.has_value() || !b.Uses(ElementType::kC64)) return false;
  bool real = x->type() == ElementType::kF32;
  Value input = real ? b.Clamped(*x, -4, 4) : *x;
  if (input.magnitude() > 16) return false;
  Shape shape = input.shape();
  int64_t last = shape.rank() - 1;
  int64_t n = shape.dim(last);
  shape.set_type(ElementType::kC64);
  if (real) shape.set_dim(last, n / 2 + 1);
  Instruction* i = b.Add(Opcode::kFft, shape, {input.i});
  i->SetAttr(AttrId::kFftType, EnumValue{static_cast<int32_t>(
                                   real                     ? FftType::kRfft
                                   : b.random().Chance(0.5) ? FftType::kFft
                                                            : FftType::kIfft)});
  i->set_ints(AttrId::kFftLength, {n});
  double m = 2 * static_cast<double>(n) * (input.magnitude() + 4);
  b.Push(i, -m, m);
  return true;
}

bool MakeSelectAndScatter(RandomBuilder& b) {
  std::optional<Value> x = b.Pick([](const Value& v) {
    return v.shape().rank() > 0 && v.shape().ElementCount() > 0 &&
           (v.type() == ElementType::kF32 || v.type() == ElementType::kS32);
  });
  if (!x.has_value()) return false;
  Window window;
  DimVector dims;
  for (int64_t d : x->shape().dims()) {
    WindowDimension w;
    w.size = b.random().Between(1, std::min<int64_t>(d, 3));
    w.stride = w.size;
    window.push_back(w);
    dims.push_back((d - w.size) / w.stride + 1);
  }
  Value source = b.Like(Shape::Array(x->type(), dims));
  if (IsFloat(x->type())) source = b.Clamped(source, -8, 8);
  Shape scalar = Shape::Scalar(x->type());
  Computation* select = b.NewComputation("select");
  Instruction* p = select->AddParameter(0, scalar);
  Instruction* q = select->AddParameter(1, scalar);
  Instruction* ge =
      select->Add(Opcode::kCompare, Shape::Scalar(ElementType::kPred), {p, q});
  ge->SetAttr(AttrId::kDirection,
              EnumValue{static_cast<int32_t>(ComparisonDirection::kGe)});
  select->set_root(ge);
  Instruction* i = b.Add(Opcode::kSelectAndScatter, x->shape(),
                         {x->i, source.i, b.Scalar(x->type(), 0).i});
  i->set_boxed(AttrId::kWindow, std::move(window));
  i->SetAttr(AttrId::kSelect, select);
  i->SetAttr(AttrId::kScatter, b.Reducer(Opcode::kAdd, x->type()));
  b.Push(i, -8, 8);
  return true;
}

constexpr RandomOperation kOperations[] = {
    {"cholesky", 1, false, MakeCholesky},
    {"triangular-solve", 1, false, MakeTriangularSolve},
    {"fft", 1, false, MakeFft},
    {"select-and-scatter", 1, false, MakeSelectAndScatter},
};

}  // namespace

absl::Span<const RandomOperation> LinalgOperations() { return kOperations; }

}  // namespace ridge::testing
