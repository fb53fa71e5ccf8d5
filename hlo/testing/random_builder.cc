#include "hlo/testing/random_builder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace ridge::testing {
namespace {

// Types that generated arrays may have; f8e8m0fnu has no zero and no sign, so
// that nearly nothing is defined for it, and the one-bit types likewise.
constexpr ElementType kTypes[] = {
    ElementType::kPred,   ElementType::kS4,     ElementType::kS8,
    ElementType::kS16,    ElementType::kS32,    ElementType::kS64,
    ElementType::kU4,     ElementType::kU8,     ElementType::kU16,
    ElementType::kU32,    ElementType::kU64,    ElementType::kF8E4M3FN,
    ElementType::kF8E5M2, ElementType::kF8E3M4, ElementType::kF8E4M3B11FNUZ,
    ElementType::kF16,    ElementType::kBF16,   ElementType::kF32,
    ElementType::kF64,    ElementType::kC64,    ElementType::kC128,
};
// What programs mostly are made of.
constexpr ElementType kCommonTypes[] = {ElementType::kF32,  ElementType::kF32,
                                        ElementType::kF32,  ElementType::kF32,
                                        ElementType::kBF16, ElementType::kBF16,
                                        ElementType::kF16,  ElementType::kS32,
                                        ElementType::kS32,  ElementType::kPred};
constexpr int64_t kSizes[] = {1, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 13, 16};
constexpr double kConstants[] = {0, 0, 1, 1, -1, 2, 0.5, -0.5, 3, 4};

}  // namespace

double Limit(ElementType type) {
  if (IsFloat(type) && Info(type).bits <= 8) return 6;
  if (type == ElementType::kF16) return 256;
  return 1024;
}

bool RandomBuilder::Uses(ElementType type) const {
  return options_.types.empty() ||
         std::find(options_.types.begin(), options_.types.end(), type) !=
             options_.types.end();
}

std::vector<ElementType> RandomBuilder::TypesWhere(
    bool (*predicate)(ElementType)) const {
  std::vector<ElementType> result;
  for (ElementType t : kTypes) {
    if (Uses(t) && predicate(t)) result.push_back(t);
  }
  return result;
}

ElementType RandomBuilder::RandomType() {
  if (!options_.types.empty()) return random_.Pick(options_.types);
  if (random_.Chance(0.8)) return random_.Pick(absl::MakeSpan(kCommonTypes));
  return random_.Pick(absl::MakeSpan(kTypes));
}

Shape RandomBuilder::RandomShape(ElementType type) {
  DimVector dims;
  int64_t rank = random_.Between(0, options_.max_rank);
  int64_t elements = 1;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t size = random_.Pick(absl::MakeSpan(kSizes));
    if (elements * size > options_.max_elements) size = 1;
    if (options_.zero_sizes && random_.Chance(0.004)) size = 0;
    elements *= std::max<int64_t>(size, 1);
    dims.push_back(size);
  }
  return Shape::Array(type, dims);
}

std::optional<Value> RandomBuilder::Pick(const Filter& filter) {
  std::vector<const Value*> fitting;
  for (const Value& v : pool_) {
    if (!filter || filter(v)) fitting.push_back(&v);
  }
  if (fitting.empty()) return std::nullopt;
  // Recent values are likelier, so that programs grow deep.
  double u = random_.Unit();
  int64_t back = static_cast<int64_t>(u * u * fitting.size());
  return *fitting[fitting.size() - 1 - back];
}

DimVector RandomBuilder::Permutation(int64_t n) {
  DimVector p(n);
  std::iota(p.begin(), p.end(), 0);
  for (int64_t k = n - 1; k > 0; --k) std::swap(p[k], p[random_.Below(k + 1)]);
  return p;
}

Value RandomBuilder::Push(Instruction* i, double low, double high) {
  Value v{i, low, high};
  if (i->shape().IsArray()) pool_.push_back(v);
  return v;
}

Value RandomBuilder::Scalar(ElementType type, double value) {
  Literal literal = FullLiteral(Shape::Scalar(type), value);
  double held = GetDouble(literal, 0);
  return Value{computation_->AddConstant(std::move(literal)), held, held};
}

Value RandomBuilder::Splat(const Shape& shape, double value) {
  Value scalar = Scalar(shape.type(), value);
  if (shape.rank() == 0) return scalar;
  Instruction* b = Add(Opcode::kBroadcast, shape, {scalar.i});
  b->set_ints(AttrId::kDimensions, {});
  return Value{b, scalar.low, scalar.high};
}

Value RandomBuilder::RandomConstant(const Shape& shape) {
  Literal literal = Literal::Zeros(shape);
  double low = 0;
  double high = 0;
  for (int64_t k = 0; k < shape.ElementCount(); ++k) {
    double v = IsFloat(shape.type()) || IsComplex(shape.type())
                   ? std::round((random_.Unit() * 4 - 2) * 16) / 16
                   : static_cast<double>(random_.Between(0, 7));
    SetDouble(&literal, k, v);
    low = std::min(low, v);
    high = std::max(high, v);
  }
  return Value{computation_->AddConstant(std::move(literal)), low, high};
}

Value RandomBuilder::Like(const Shape& shape) {
  if (random_.Chance(0.6)) {
    std::optional<Value> v =
        Pick([&](const Value& x) { return x.shape() == shape; });
    if (v.has_value()) return *v;
  }
  // A broadcast of something smaller, as bias and scale are.
  if (shape.rank() > 0 && random_.Chance(0.6)) {
    std::optional<Value> small = Pick([&](const Value& x) {
      if (x.type() != shape.type() || x.shape().rank() >= shape.rank()) {
        return false;
      }
      // Its dimensions must be found in order among those of the shape.
      int64_t at = 0;
      for (int64_t d = 0; d < shape.rank() && at < x.shape().rank(); ++d) {
        if (shape.dim(d) == x.shape().dim(at)) ++at;
      }
      return at == x.shape().rank();
    });
    if (small.has_value()) {
      DimVector map;
      int64_t at = 0;
      for (int64_t d = 0; d < shape.rank() && at < small->shape().rank(); ++d) {
        if (shape.dim(d) != small->shape().dim(at)) continue;
        map.push_back(d);
        ++at;
      }
      Instruction* b = Add(Opcode::kBroadcast, shape, {small->i});
      b->set_ints(AttrId::kDimensions, map);
      return Push(b, *small);
    }
  }
  if (random_.Chance(0.2)) return RandomConstant(shape);
  double value = random_.Pick(absl::MakeSpan(kConstants));
  if (!IsFloat(shape.type()) && !IsComplex(shape.type())) {
    value = std::fabs(std::floor(value));
    if (IsPred(shape.type())) value = value != 0;
  }
  return Splat(shape, value);
}

Value RandomBuilder::Clamped(const Value& v, double low, double high) {
  if (v.low >= low && v.high <= high) return v;
  Value from = Scalar(v.type(), low);
  Value to = Scalar(v.type(), high);
  Instruction* c = Add(Opcode::kClamp, v.shape(), {from.i, v.i, to.i});
  return Value{c, std::max(low, std::min(v.low, high)),
               std::min(high, std::max(v.high, low))};
}

Value RandomBuilder::Tame(const Value& v) {
  if (!IsFloat(v.type())) return v;
  double limit = Limit(v.type());
  return Clamped(v, -limit, limit);
}

Value RandomBuilder::Positive(const Value& v, double offset) {
  Value magnitude{Add(Opcode::kAbs, v.shape(), {v.i}), 0, v.magnitude()};
  Instruction* sum =
      Add(Opcode::kAdd, v.shape(), {magnitude.i, Splat(v.shape(), offset).i});
  return Value{sum, offset, magnitude.high + offset};
}

Value RandomBuilder::Indices(absl::Span<const int64_t> dims, int64_t limit) {
  Shape shape = Shape::Array(ElementType::kS32, dims);
  if (random_.Chance(0.3) && Uses(ElementType::kS32)) {
    std::optional<Value> v =
        Pick([&](const Value& x) { return x.shape() == shape; });
    if (v.has_value()) return *v;
  }
  if (dims.size() > 0 && random_.Chance(0.2)) {
    Instruction* iota = Add(Opcode::kIota, shape, {});
    iota->SetAttr(AttrId::kIotaDimension,
                  random_.Below(static_cast<int64_t>(dims.size())));
    return Value{iota, 0, 0};
  }
  Literal literal = Literal::Zeros(shape);
  for (int64_t k = 0; k < shape.ElementCount(); ++k) {
    int64_t index = random_.Below(std::max<int64_t>(limit, 1));
    if (random_.Chance(0.05)) index = random_.Between(-2, limit + 2);
    SetDouble(&literal, k, static_cast<double>(index));
  }
  return Value{computation_->AddConstant(std::move(literal)), 0, 0};
}

Computation* RandomBuilder::NewComputation(absl::string_view name) {
  Module* module = computation_->module();
  Computation* c = module->AddComputation(name);
  module->MoveComputationBefore(c, computation_);
  return c;
}

Computation* RandomBuilder::Reducer(Opcode opcode, ElementType type) {
  Computation* c = NewComputation(absl::StrCat("reduce_", Name(opcode)));
  Shape scalar = Shape::Scalar(type);
  Instruction* x = c->AddParameter(0, scalar);
  Instruction* y = c->AddParameter(1, scalar);
  bool swapped = random_.Chance(0.2);
  c->set_root(c->Add(opcode, scalar, {swapped ? y : x, swapped ? x : y}));
  return c;
}

}  // namespace ridge::testing
