#include <algorithm>
#include <cmath>
#include <numeric>

#include "hlo/testing/random_builder.h"

namespace ridge::testing {
namespace {

bool Multiplies(ElementType t) {
  return t == ElementType::kF32 || t == ElementType::kBF16 ||
         t == ElementType::kF16 || t == ElementType::kF64 ||
         t == ElementType::kS32 || t == ElementType::kC64;
}

bool MakeDot(RandomBuilder& b) {
  std::optional<Value> v =
      b.Pick([](const Value& x) { return Multiplies(x.type()); });
  if (!v.has_value()) return false;
  const Shape shape = v->shape();
  // Each dimension of the left operand gets a role; the right one is made to
  // match, its dimensions in any order.
  DimVector lhs_batch, lhs_contracting, rhs_batch, rhs_contracting, lhs_free;
  double terms = 1;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    switch (b.random().Below(3)) {
      case 0:
        lhs_free.push_back(d);
        break;
      case 1:
        lhs_contracting.push_back(d);
        terms *= std::max<int64_t>(shape.dim(d), 1);
        break;
      default:
        if (b.random().Chance(0.6)) {
          lhs_batch.push_back(d);
        } else {
          lhs_free.push_back(d);
        }
    }
  }
  if (b.random().Chance(0.3)) {
    std::reverse(lhs_contracting.begin(), lhs_contracting.end());
  }
  if (b.random().Chance(0.2)) std::reverse(lhs_batch.begin(), lhs_batch.end());
  int64_t free = b.random().Between(0, 2);
  int64_t rhs_rank = lhs_batch.size() + lhs_contracting.size() + free;
  DimVector order =
      b.random().Chance(0.5) ? b.Permutation(rhs_rank) : DimVector(rhs_rank);
  if (!order.empty() && order[0] == 0 && order.back() == 0) {
    std::iota(order.begin(), order.end(), 0);
  }
  DimVector rhs_dims(rhs_rank, 1);
  int64_t at = 0;
  for (int64_t d : lhs_batch) {
    rhs_dims[order[at]] = shape.dim(d);
    rhs_batch.push_back(order[at++]);
  }
  for (int64_t d : lhs_contracting) {
    rhs_dims[order[at]] = shape.dim(d);
    rhs_contracting.push_back(order[at++]);
  }
  while (at < rhs_rank) rhs_dims[order[at++]] = b.random().Between(1, 5);
  DimVector dims;
  for (int64_t d : lhs_batch) dims.push_back(shape.dim(d));
  for (int64_t d : lhs_free) dims.push_back(shape.dim(d));
  for (int64_t d = 0; d < rhs_rank; ++d) {
    bool is_free =
        std::find(rhs_batch.begin(), rhs_batch.end(), d) == rhs_batch.end() &&
        std::find(rhs_contracting.begin(), rhs_contracting.end(), d) ==
            rhs_contracting.end();
    if (is_free) dims.push_back(rhs_dims[d]);
  }
  ElementType type = v->type();
  Shape rhs_shape = Shape::Array(type, rhs_dims);
  Shape out = Shape::Array(type, dims);
  if (rhs_shape.ElementCount() > 2 * b.options().max_elements ||
      out.ElementCount() > 2 * b.options().max_elements) {
    return false;
  }
  Value x = *v;
  Value y = b.RandomConstant(rhs_shape);
  if (b.random().Chance(0.7)) y = b.Like(rhs_shape);
  double m = 0;
  if (IsFloat(type)) {
    double limit = std::max(0.25, std::min(4.0, std::sqrt(64 / terms)));
    x = b.Clamped(x, -limit, limit);
    y = b.Clamped(y, -limit, limit);
    m = terms * limit * limit;
  } else if (IsComplex(type) && x.magnitude() + y.magnitude() > 20) {
    return false;
  } else {
    m = terms * 2 * (x.magnitude() + 4) * (y.magnitude() + 4);
  }
  // Wider results, as `preferred_element_type` asks for.
  if (type == ElementType::kBF16 && b.random().Chance(0.4)) {
    out.set_type(ElementType::kF32);
  }
  if (!b.Uses(out.type())) return false;
  Instruction* i = b.Add(Opcode::kDot, out, {x.i, y.i});
  auto set = [&](AttrId id, const DimVector& d) {
    if (!d.empty()) i->set_ints(id, d);
  };
  set(AttrId::kLhsBatchDims, lhs_batch);
  set(AttrId::kRhsBatchDims, rhs_batch);
  set(AttrId::kLhsContractingDims, lhs_contracting);
  set(AttrId::kRhsContractingDims, rhs_contracting);
  b.Push(i, -m, m);
  return true;
}

// x [batch or free..., m, k] with one matrix [k, n] of y a group of m's rows
// (free mode), a group of k's indices (contracting) or as a dot (batch).
bool MakeRaggedDot(RandomBuilder& b) {
  std::optional<Value> v = b.Pick([](const Value& x) {
    return Multiplies(x.type()) && !IsComplex(x.type()) &&
           x.shape().rank() >= 2;
  });
  if (!v.has_value()) return false;
  const Shape shape = v->shape();
  const ElementType type = v->type();
  const int64_t k = shape.rank() - 1;
  const int64_t batch = b.random().Chance(0.5) ? k - 1 : 0;
  const bool contracting = b.random().Chance(0.4);
  const int64_t ragged = contracting ? k : b.random().Chance(0.2) ? 0 : k - 1;
  const bool free = !contracting && ragged >= batch;
  const int64_t groups = b.random().Between(1, 3);
  const int64_t n = b.random().Between(1, 4);
  DimVector lhs_batch, rhs_batch, rhs_dims, dims;
  if (free) rhs_dims.push_back(groups);
  if (contracting) dims.push_back(groups);
  for (int64_t d = 0; d < batch; ++d) {
    lhs_batch.push_back(d);
    rhs_batch.push_back(static_cast<int64_t>(rhs_dims.size()));
    rhs_dims.push_back(shape.dim(d));
  }
  const int64_t rhs_k = static_cast<int64_t>(rhs_dims.size());
  rhs_dims.push_back(shape.dim(k));
  rhs_dims.push_back(n);
  for (int64_t d = 0; d < k; ++d) dims.push_back(shape.dim(d));
  dims.push_back(n);
  // Sizes for all, or for each index in front of the ragged dimension.
  DimVector size_dims;
  if (b.random().Chance(0.5) && (free || contracting)) {
    for (int64_t d = 0; d < (contracting ? batch : ragged); ++d) {
      size_dims.push_back(shape.dim(d));
    }
  }
  size_dims.push_back(groups);
  const Shape out = Shape::Array(type, dims);
  if (out.ElementCount() > 2 * b.options().max_elements) return false;
  double limit = 4;
  Value x = *v;
  Value y = b.Like(Shape::Array(type, rhs_dims));
  if (IsFloat(type)) {
    x = b.Clamped(x, -limit, limit);
    y = b.Clamped(y, -limit, limit);
  } else {
    limit = 4 + std::max(x.magnitude(), y.magnitude());
  }
  Value sizes = b.Indices(size_dims, 4);
  Instruction* i = b.Add(Opcode::kRaggedDot, out, {x.i, y.i, sizes.i});
  if (batch > 0) {
    i->set_ints(AttrId::kLhsBatchDims, lhs_batch);
    i->set_ints(AttrId::kRhsBatchDims, rhs_batch);
  }
  i->set_ints(AttrId::kLhsContractingDims, {k});
  i->set_ints(AttrId::kRhsContractingDims, {rhs_k});
  i->set_ints(AttrId::kLhsRaggedDims, {ragged});
  if (free) i->set_ints(AttrId::kRhsGroupDims, {0});
  const double m =
      limit * limit * static_cast<double>(std::max<int64_t>(1, shape.dim(k)));
  b.Push(i, -m, m);
  return true;
}

// x [m, k] and y [k, n], each with a scale a block.
bool MakeScaledDot(RandomBuilder& b) {
  std::optional<Value> v = b.Pick([](const Value& x) {
    return (x.type() == ElementType::kF32 || x.type() == ElementType::kBF16) &&
           x.shape().rank() == 2 && x.shape().ElementCount() > 0;
  });
  if (!v.has_value()) return false;
  const ElementType type = v->type();
  const int64_t m = v->shape().dim(0);
  const int64_t k = v->shape().dim(1);
  const int64_t n = b.random().Between(1, 5);
  Value x = b.Clamped(*v, -2, 2);
  Value y = b.Clamped(b.Like(Shape::Array(type, {k, n})), -2, 2);
  auto scale = [&](const Value& of) {
    Shape shape =
        Shape::Array(type, {b.random().Chance(0.5) ? of.shape().dim(0) : 1,
                            b.random().Chance(0.5) ? of.shape().dim(1) : 1});
    if (b.random().Chance(0.2)) shape = Shape::Scalar(type);
    return b.Clamped(b.Like(shape), -2, 2);
  };
  const Value x_scale = scale(x);
  const Value y_scale = scale(y);
  Instruction* i = b.Add(Opcode::kScaledDot, Shape::Array(type, {m, n}),
                         {x.i, y.i, x_scale.i, y_scale.i});
  i->set_ints(AttrId::kLhsContractingDims, {1});
  i->set_ints(AttrId::kRhsContractingDims, {0});
  const double limit = 16.0 * static_cast<double>(k);
  b.Push(i, -limit, limit);
  return true;
}

// NWC, WIO -> NWC.
bool MakeConvolution(RandomBuilder& b) {
  std::optional<Value> v = b.Pick([](const Value& x) {
    return x.shape().rank() == 3 && x.shape().ElementCount() > 0 &&
           (x.type() == ElementType::kF32 || x.type() == ElementType::kBF16);
  });
  if (!v.has_value()) return false;
  Value x = b.Clamped(*v, -2, 2);
  int64_t width = x.shape().dim(1);
  int64_t features = x.shape().dim(2);
  int64_t size = b.random().Between(1, std::min<int64_t>(3, width));
  int64_t outputs = b.random().Between(1, 4);
  WindowDimension w;
  w.size = size;
  w.stride = b.random().Between(1, 2);
  w.padding_low = b.random().Between(0, 1);
  w.padding_high = b.random().Between(0, 1);
  int64_t padded = width + w.padding_low + w.padding_high;
  int64_t out = (padded - size) / w.stride + 1;
  Value kernel = b.Clamped(
      b.Like(Shape::Array(x.type(), {size, features, outputs})), -2, 2);
  Instruction* i =
      b.Add(Opcode::kConvolution,
            Shape::Array(x.type(), {x.shape().dim(0), out, outputs}),
            {x.i, kernel.i});
  i->set_boxed(AttrId::kWindow, Window{w});
  ConvDimLabels labels;
  labels.input_batch = 0;
  labels.input_spatial = {1};
  labels.input_feature = 2;
  labels.kernel_spatial = {0};
  labels.kernel_input_feature = 1;
  labels.kernel_output_feature = 2;
  labels.output_batch = 0;
  labels.output_spatial = {1};
  labels.output_feature = 2;
  labels.input_rank = labels.kernel_rank = labels.output_rank = 3;
  i->set_boxed(AttrId::kDimLabels, labels);
  double m = 4.0 * size * features;
  b.Push(i, -m, m);
  return true;
}

bool MakeBatchNorm(RandomBuilder& b) {
  std::optional<Value> v = b.Pick([](const Value& x) {
    return x.shape().rank() > 1 && x.shape().ElementCount() > 0 &&
           x.type() == ElementType::kF32;
  });
  if (!v.has_value()) return false;
  Value x = b.Clamped(*v, -4, 4);
  int64_t feature = b.random().Below(x.shape().rank());
  Shape vector = Shape::Array(x.type(), {x.shape().dim(feature)});
  Value scale = b.Clamped(b.Like(vector), -2, 2);
  Value offset = b.Clamped(b.Like(vector), -2, 2);
  auto norm = [&](Opcode op, const Shape& shape,
                  absl::Span<Instruction* const> operands) {
    Instruction* i = b.Add(op, shape, operands);
    i->SetAttr(AttrId::kEpsilon, 0.125);
    i->SetAttr(AttrId::kFeatureIndex, feature);
    return i;
  };
  Shape triple = Shape::Tuple({x.shape(), vector, vector});
  auto push_elements = [&](Instruction* i, double m) {
    for (int64_t k = 0; k < 3; ++k) {
      Instruction* e =
          b.Add(Opcode::kGetTupleElement, triple.tuple_shape(k), {i});
      e->SetAttr(AttrId::kIndex, k);
      b.Push(e, -m, m);
    }
  };
  if (b.random().Chance(0.4)) {
    push_elements(
        norm(Opcode::kBatchNormTraining, triple, {x.i, scale.i, offset.i}), 24);
    return true;
  }
  Value mean = b.Clamped(b.Like(vector), -2, 2);
  Value variance = b.Clamped(b.Positive(b.Like(vector), 0.5), 0.25, 4);
  if (b.random().Chance(0.5)) {
    Instruction* i = norm(Opcode::kBatchNormInference, x.shape(),
                          {x.i, scale.i, offset.i, mean.i, variance.i});
    b.Push(i, -32, 32);
    return true;
  }
  Value dy = b.Clamped(b.Like(x.shape()), -2, 2);
  double m = 100.0 * x.shape().ElementCount();
  push_elements(norm(Opcode::kBatchNormGrad, triple,
                     {x.i, scale.i, mean.i, variance.i, dy.i}),
                m);
  return true;
}

constexpr RandomOperation kOperations[] = {
    {"dot", 7, false, MakeDot},
    {"ragged-dot", 1, false, MakeRaggedDot},
    {"scaled-dot", 1, false, MakeScaledDot},
    {"convolution", 1, false, MakeConvolution},
    {"batch-norm", 1, false, MakeBatchNorm},
};

}  // namespace

absl::Span<const RandomOperation> ContractionOperations() {
  return kOperations;
}

}  // namespace ridge::testing
