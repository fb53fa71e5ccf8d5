#include <algorithm>
#include <cmath>

#include "hlo/testing/random_builder.h"

namespace ridge::testing {
namespace {

constexpr double kStateLimit = 3;
constexpr int kMaxDepth = 2;

// Up to `n` values fit for the state of a loop or the arguments of a call.
std::vector<Value> PickState(RandomBuilder& b, int n) {
  std::vector<Value> state;
  for (int k = 0; k < n; ++k) {
    std::optional<Value> v =
        b.Pick([](const Value& x) { return !IsComplex(x.type()); });
    if (!v.has_value()) break;
    state.push_back(
        IsFloat(v->type()) ? b.Clamped(*v, -kStateLimit, kStateLimit) : *v);
  }
  return state;
}

Instruction* Element(Computation* c, Instruction* tuple, int64_t k) {
  Instruction* e =
      c->Add(Opcode::kGetTupleElement, tuple->shape().tuple_shape(k), {tuple});
  e->SetAttr(AttrId::kIndex, k);
  return e;
}

// A value of `shape` that the computation came to, fitted into `like`.
Value Result(RandomBuilder& b, const Shape& shape, double low, double high) {
  Value v = b.Like(shape);
  return IsFloat(shape.type()) ? b.Clamped(v, low, high) : v;
}

bool MakeWhile(RandomBuilder& b) {
  if (b.depth() >= kMaxDepth) return false;
  std::vector<Value> state =
      PickState(b, static_cast<int>(b.random().Between(1, 3)));
  if (state.empty()) return false;
  Shape counter = Shape::Scalar(ElementType::kS32);
  std::vector<Shape> shapes = {counter};
  std::vector<Instruction*> init = {b.Scalar(ElementType::kS32, 0).i};
  for (const Value& v : state) {
    shapes.push_back(v.shape());
    init.push_back(v.i);
  }
  Shape shape = Shape::Tuple(shapes);
  Instruction* start = b.Add(Opcode::kTuple, shape, init);

  Computation* condition = b.NewComputation("condition");
  Instruction* p = condition->AddParameter(0, shape);
  Instruction* limit = condition->AddConstant(
      FullLiteral(counter, static_cast<double>(b.random().Between(0, 4))));
  Instruction* less =
      condition->Add(Opcode::kCompare, Shape::Scalar(ElementType::kPred),
                     {Element(condition, p, 0), limit});
  less->SetAttr(AttrId::kDirection,
                EnumValue{static_cast<int32_t>(ComparisonDirection::kLt)});
  condition->set_root(less);

  Computation* body = b.NewComputation("body");
  Instruction* q = body->AddParameter(0, shape);
  RandomBuilder inner(body, &b.random(), b.options(), b.depth() + 1);
  std::vector<Instruction*> elements;
  Instruction* count = Element(body, q, 0);
  if (b.random().Chance(0.5)) inner.Push(count, 0, 0);
  for (size_t k = 0; k < state.size(); ++k) {
    elements.push_back(Element(body, q, static_cast<int64_t>(k) + 1));
    inner.Push(elements.back(), -kStateLimit, kStateLimit);
  }
  DrawOperations(inner, static_cast<int>(b.random().Between(1, 6)));
  std::vector<Instruction*> next = {inner.Add(
      Opcode::kAdd, counter, {count, inner.Scalar(ElementType::kS32, 1).i})};
  for (size_t k = 0; k < state.size(); ++k) {
    // Some elements stay as they are.
    next.push_back(
        b.random().Chance(0.25)
            ? elements[k]
            : Result(inner, state[k].shape(), -kStateLimit, kStateLimit).i);
  }
  body->set_root(inner.Add(Opcode::kTuple, shape, next));

  Instruction* loop = b.Add(Opcode::kWhile, shape, {start});
  loop->SetAttr(AttrId::kCondition, condition);
  loop->SetAttr(AttrId::kBody, body);
  for (size_t k = 0; k < state.size(); ++k) {
    if (b.random().Chance(0.2)) continue;
    b.Push(Element(b.computation(), loop, static_cast<int64_t>(k) + 1),
           -kStateLimit, kStateLimit);
  }
  return true;
}

// A computation of `arguments` with a result of `result`'s shape and range.
Computation* Function(RandomBuilder& b, const std::vector<Value>& arguments,
                      const Value& result, absl::string_view name) {
  Computation* c = b.NewComputation(name);
  RandomBuilder inner(c, &b.random(), b.options(), b.depth() + 1);
  for (size_t k = 0; k < arguments.size(); ++k) {
    inner.Push(c->AddParameter(static_cast<int64_t>(k), arguments[k].shape()),
               arguments[k]);
  }
  DrawOperations(inner, static_cast<int>(b.random().Between(1, 6)));
  c->set_root(Result(inner, result.shape(), -kStateLimit, kStateLimit).i);
  return c;
}

bool MakeCall(RandomBuilder& b) {
  if (b.depth() >= kMaxDepth) return false;
  std::vector<Value> arguments =
      PickState(b, static_cast<int>(b.random().Between(1, 3)));
  if (arguments.empty()) return false;
  const Value& like = arguments[0];
  std::vector<Instruction*> operands;
  for (const Value& v : arguments) operands.push_back(v.i);
  Computation* c = Function(b, arguments, like, "callee");
  Instruction* call = b.Add(Opcode::kCall, like.shape(), operands);
  call->SetAttr(AttrId::kToApply, c);
  b.Push(call, -kStateLimit, kStateLimit);
  return true;
}

bool MakeConditional(RandomBuilder& b) {
  if (b.depth() >= kMaxDepth) return false;
  std::vector<Value> arguments = PickState(b, 2);
  if (arguments.empty()) return false;
  const Value like = arguments[0];
  bool by_index = b.random().Chance(0.5);
  int64_t count = by_index ? b.random().Between(1, 3) : 2;
  std::vector<Instruction*> operands = {
      by_index ? b.Indices({}, count).i
               : b.Like(Shape::Scalar(ElementType::kPred)).i};
  std::vector<Computation*> branches;
  for (int64_t k = 0; k < count; ++k) {
    Value argument = b.random().Pick(arguments);
    operands.push_back(argument.i);
    branches.push_back(Function(b, {argument}, like, "branch"));
  }
  Instruction* i = b.Add(Opcode::kConditional, like.shape(), operands);
  if (by_index || b.random().Chance(0.3)) {
    // Predicates choose the first branch for true either way.
    i->set_boxed(AttrId::kBranchComputations, branches);
  } else {
    i->SetAttr(AttrId::kTrueComputation, branches[0]);
    i->SetAttr(AttrId::kFalseComputation, branches[1]);
  }
  b.Push(i, -kStateLimit, kStateLimit);
  return true;
}

bool MakeMap(RandomBuilder& b) {
  std::optional<Value> x = b.Pick([](const Value& v) {
    return (v.type() == ElementType::kF32 || v.type() == ElementType::kS32) &&
           v.shape().rank() > 0;
  });
  if (!x.has_value()) return false;
  Value u = IsFloat(x->type()) ? b.Clamped(*x, -kStateLimit, kStateLimit) : *x;
  Value v = b.Partner(u);
  if (IsFloat(v.type())) v = b.Clamped(v, -kStateLimit, kStateLimit);
  Shape scalar = Shape::Scalar(u.type());
  Computation* c = b.NewComputation("mapped");
  Instruction* p = c->AddParameter(0, scalar);
  Instruction* q = c->AddParameter(1, scalar);
  Instruction* two = c->AddConstant(FullLiteral(scalar, 2));
  Instruction* product = c->Add(Opcode::kMultiply, scalar, {p, two});
  c->set_root(c->Add(b.random().Chance(0.5) ? Opcode::kAdd : Opcode::kMaximum,
                     scalar, {product, q}));
  Instruction* i = b.Add(Opcode::kMap, u.shape(), {u.i, v.i});
  DimVector dims;
  for (int64_t d = 0; d < u.shape().rank(); ++d) dims.push_back(d);
  i->set_ints(AttrId::kDimensions, dims);
  i->SetAttr(AttrId::kToApply, c);
  b.Push(i, -9, 9);
  return true;
}

// A fusion, as a fused module has them; its body is elementwise.
bool MakeFusion(RandomBuilder& b) {
  std::optional<Value> v = b.Pick([](const Value& x) {
    return x.type() == ElementType::kF32 || x.type() == ElementType::kBF16;
  });
  if (!v.has_value()) return false;
  Value x = b.Clamped(*v, -kStateLimit, kStateLimit);
  Computation* c = b.NewComputation("fused");
  Instruction* p = c->AddParameter(0, x.shape());
  Instruction* t = c->Add(Opcode::kTanh, x.shape(), {p});
  Instruction* n = c->Add(Opcode::kNegate, x.shape(), {t});
  c->set_root(c->Add(Opcode::kAdd, x.shape(), {n, p}));
  Instruction* i = b.Add(Opcode::kFusion, x.shape(), {x.i});
  i->SetAttr(AttrId::kKind, EnumValue{static_cast<int32_t>(FusionKind::kLoop)});
  i->SetAttr(AttrId::kCalls, c);
  b.Push(i, -kStateLimit - 1, kStateLimit + 1);
  return true;
}

bool MakeTuple(RandomBuilder& b) {
  std::optional<Value> x = b.Pick();
  std::optional<Value> y = b.Pick();
  if (!x.has_value() || !y.has_value()) return false;
  Shape shape = Shape::Tuple({x->shape(), y->shape()});
  Instruction* t = b.Add(Opcode::kTuple, shape, {x->i, y->i});
  if (b.random().Chance(0.5)) {
    t = b.Add(Opcode::kOptimizationBarrier, shape, {t});
  }
  b.Push(Element(b.computation(), t, 0), *x);
  if (b.random().Chance(0.7)) b.Push(Element(b.computation(), t, 1), *y);
  return true;
}

bool MakeSharding(RandomBuilder& b) {
  std::optional<Value> x = b.Pick();
  if (!x.has_value()) return false;
  Instruction* i = b.Add(Opcode::kCustomCall, x->shape(), {x->i});
  i->set_text(AttrId::kCustomCallTarget, "Sharding");
  i->set_text(AttrId::kSharding, "{replicated}");
  b.Push(i, *x);
  return true;
}

constexpr RandomOperation kOperations[] = {
    {"while", 3, false, MakeWhile},
    {"call", 2, false, MakeCall},
    {"conditional", 2, false, MakeConditional},
    {"map", 1, false, MakeMap},
    {"fusion", 1, false, MakeFusion},
    {"tuple", 2, false, MakeTuple},
    {"sharding", 1, false, MakeSharding},
};

}  // namespace

absl::Span<const RandomOperation> ControlOperations() { return kOperations; }

}  // namespace ridge::testing
