#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "hlo/testing/random_builder.h"

namespace ridge::testing {
namespace {

struct Reduction {
  Opcode opcode;
  double init;
};

// A reduction that suits `type`, with its neutral start.
Reduction PickReduction(RandomBuilder& b, ElementType type) {
  if (IsPred(type)) {
    return b.random().Chance(0.5) ? Reduction{Opcode::kAnd, 1}
                                  : Reduction{Opcode::kOr, 0};
  }
  double inf = INFINITY;
  switch (b.random().Below(4)) {
    case 0:
      if (!IsComplex(type)) {
        // Types without infinity start from their limits instead.
        Literal low = FullLiteral(Shape::Scalar(type), -inf);
        double start = GetDouble(low, 0);
        return {Opcode::kMaximum, std::isnan(start) ? -4 : start};
      }
      return {Opcode::kAdd, 0};
    case 1:
      if (!IsComplex(type)) {
        Literal high = FullLiteral(Shape::Scalar(type), inf);
        double start = GetDouble(high, 0);
        return {Opcode::kMinimum, std::isnan(start) ? 4 : start};
      }
      return {Opcode::kAdd, 0};
    default:
      return {Opcode::kAdd, 0};
  }
}

// `v` small enough that `terms` of them add up to something tame.
Value Summable(RandomBuilder& b, const Value& v, double terms) {
  if (!IsFloat(v.type())) return v;
  double limit = std::max(Limit(v.type()) / std::max(terms, 1.0), 0.05);
  return b.Clamped(v, -limit, limit);
}

bool MakeReduce(RandomBuilder& b) {
  std::optional<Value> v =
      b.Pick([](const Value& x) { return x.shape().rank() > 0; });
  if (!v.has_value()) return false;
  DimVector reduced;
  DimVector kept;
  double terms = 1;
  for (int64_t d = 0; d < v->shape().rank(); ++d) {
    if (b.random().Chance(0.5)) {
      reduced.push_back(d);
      terms *= std::max<int64_t>(v->shape().dim(d), 1);
    } else {
      kept.push_back(v->shape().dim(d));
    }
  }
  Reduction reduction = PickReduction(b, v->type());
  double init = reduction.init;
  // Now and then a start that is not neutral.
  if (b.random().Chance(0.1) && !IsPred(v->type())) init = 1;
  Value x = reduction.opcode == Opcode::kAdd ? Summable(b, *v, terms) : *v;
  Instruction* i = b.Add(Opcode::kReduce, Shape::Array(x.type(), kept),
                         {x.i, b.Scalar(x.type(), init).i});
  i->set_ints(AttrId::kDimensions, reduced);
  i->SetAttr(AttrId::kToApply, b.Reducer(reduction.opcode, x.type()));
  if (IsFloat(x.type())) {
    double m = reduction.opcode == Opcode::kAdd ? terms * x.magnitude() + 1
                                                : std::max(x.magnitude(), 1.0);
    // A reduction of nothing is its start.
    Value r{i, -m, m};
    if (x.shape().ElementCount() == 0 && std::isinf(init)) {
      r.low = -INFINITY;
      r.high = INFINITY;
      r = b.Clamped(r, -4, 4);
    }
    Value y = b.Push(r.i, r.low, r.high);
    // Spread again over what was reduced, as norms do; often by way of a
    // dimension of size 1.
    if (b.random().Chance(0.5)) {
      Instruction* from = y.i;
      DimVector map;
      for (int64_t d = 0; d < x.shape().rank(); ++d) {
        if (std::find(reduced.begin(), reduced.end(), d) == reduced.end()) {
          map.push_back(d);
        }
      }
      if (b.random().Chance(0.5)) {
        DimVector with_units(x.shape().dims().begin(), x.shape().dims().end());
        for (int64_t d : reduced) with_units[d] = 1;
        Instruction* one =
            b.Add(Opcode::kReshape, Shape::Array(x.type(), with_units), {from});
        Value unit = b.Tame(b.Push(one, y));
        Instruction* t = b.Add(Opcode::kTanh, one->shape(), {unit.i});
        Instruction* back =
            b.Add(Opcode::kReshape, Shape::Array(x.type(), kept), {t});
        from = back;
        y.low = -1;
        y.high = 1;
      }
      Instruction* spread = b.Add(Opcode::kBroadcast, x.shape(), {from});
      spread->set_ints(AttrId::kDimensions, map);
      b.Push(spread, y);
    }
    return true;
  }
  b.Push(i, 0, 0);
  return true;
}

// argmax: the larger value, of equal ones the one with the lower index.
bool MakeArgMax(RandomBuilder& b) {
  std::optional<Value> x = b.Pick([](const Value& v) {
    return v.shape().rank() > 0 && IsFloat(v.type()) &&
           Info(v.type()).bits >= 16 && v.shape().ElementCount() > 0;
  });
  if (!x.has_value() || !b.Uses(ElementType::kS32)) return false;
  ElementType type = x->type();
  Shape value = Shape::Scalar(type);
  Shape index = Shape::Scalar(ElementType::kS32);
  Shape pred = Shape::Scalar(ElementType::kPred);
  Computation* c = b.NewComputation("argmax");
  Instruction* v0 = c->AddParameter(0, value);
  Instruction* i0 = c->AddParameter(1, index);
  Instruction* v1 = c->AddParameter(2, value);
  Instruction* i1 = c->AddParameter(3, index);
  auto compare = [&](ComparisonDirection d, Instruction* p, Instruction* q) {
    Instruction* r = c->Add(Opcode::kCompare, pred, {p, q});
    r->SetAttr(AttrId::kDirection, EnumValue{static_cast<int32_t>(d)});
    return r;
  };
  Instruction* greater = compare(ComparisonDirection::kGt, v0, v1);
  Instruction* equal = compare(ComparisonDirection::kEq, v0, v1);
  Instruction* lower = compare(ComparisonDirection::kLt, i0, i1);
  Instruction* tie = c->Add(Opcode::kAnd, pred, {equal, lower});
  Instruction* first = c->Add(Opcode::kOr, pred, {greater, tie});
  Instruction* best = c->Add(Opcode::kSelect, value, {first, v0, v1});
  Instruction* where = c->Add(Opcode::kSelect, index, {first, i0, i1});
  Shape pair = Shape::Tuple({value, index});
  c->set_root(c->Add(Opcode::kTuple, pair, {best, where}));

  int64_t along = b.random().Below(x->shape().rank());
  DimVector kept;
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    if (d != along) kept.push_back(x->shape().dim(d));
  }
  Shape indices = x->shape();
  indices.set_type(ElementType::kS32);
  Instruction* iota = b.Add(Opcode::kIota, indices, {});
  iota->SetAttr(AttrId::kIotaDimension, along);
  Shape best_shape = Shape::Array(type, kept);
  Shape where_shape = Shape::Array(ElementType::kS32, kept);
  Instruction* i = b.Add(
      Opcode::kReduce, Shape::Tuple({best_shape, where_shape}),
      {x->i, iota, b.Scalar(type, -1024).i, b.Scalar(ElementType::kS32, 0).i});
  i->set_ints(AttrId::kDimensions, {along});
  i->SetAttr(AttrId::kToApply, c);
  Instruction* e0 = b.Add(Opcode::kGetTupleElement, best_shape, {i});
  e0->SetAttr(AttrId::kIndex, int64_t{0});
  Instruction* e1 = b.Add(Opcode::kGetTupleElement, where_shape, {i});
  e1->SetAttr(AttrId::kIndex, int64_t{1});
  b.Push(e0, -1024, 1024);
  b.Push(e1, 0, 0);
  return true;
}

bool MakeReduceWindow(RandomBuilder& b) {
  std::optional<Value> v = b.Pick([](const Value& x) {
    return x.shape().rank() > 0 && !IsPred(x.type()) && !IsComplex(x.type()) &&
           Info(x.type()).bits >= 16;
  });
  if (!v.has_value()) return false;
  Window window;
  DimVector dims;
  double terms = 1;
  for (int64_t d : v->shape().dims()) {
    WindowDimension w;
    if (b.random().Chance(0.5)) {
      w.size = b.random().Between(1, 3);
      w.stride = b.random().Between(1, 2);
      w.padding_low = b.random().Between(0, 1);
      w.padding_high = b.random().Between(0, 1);
      if (b.random().Chance(0.2)) w.window_dilation = 2;
      if (b.random().Chance(0.2)) w.base_dilation = 2;
    }
    int64_t base = d == 0 ? 0 : (d - 1) * w.base_dilation + 1;
    int64_t padded = base + w.padding_low + w.padding_high;
    int64_t extent = (w.size - 1) * w.window_dilation + 1;
    dims.push_back(padded < extent ? 0 : (padded - extent) / w.stride + 1);
    terms *= w.size;
    window.push_back(w);
  }
  Shape shape = Shape::Array(v->type(), dims);
  if (shape.ElementCount() > 2 * b.options().max_elements) return false;
  bool sum = b.random().Chance(0.6);
  Value x = sum ? Summable(b, *v, terms) : b.Tame(*v);
  double init = sum ? 0 : IsUnsigned(x.type()) ? 0 : -4;
  Instruction* i =
      b.Add(Opcode::kReduceWindow, shape, {x.i, b.Scalar(x.type(), init).i});
  i->set_boxed(AttrId::kWindow, std::move(window));
  i->SetAttr(AttrId::kToApply,
             b.Reducer(sum ? Opcode::kAdd : Opcode::kMaximum, x.type()));
  double m = sum ? terms * x.magnitude() + 1 : std::max(x.magnitude(), 4.0);
  b.Push(i, -m, m);
  return true;
}

constexpr RandomOperation kOperations[] = {
    {"reduce", 10, true, MakeReduce},
    {"argmax", 2, true, MakeArgMax},
    {"reduce-window", 3, true, MakeReduceWindow},
};

}  // namespace

absl::Span<const RandomOperation> ReduceOperations() { return kOperations; }

}  // namespace ridge::testing
