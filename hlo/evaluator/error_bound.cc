#include "hlo/evaluator/error_bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/error_bound_context.h"

namespace ridge {
namespace eval {
namespace {

constexpr int kMaxDepth = 100;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Z = std::complex<double>;

}  // namespace

double SpacingOf(ElementType type) {
  return type == ElementType::kF64 || type == ElementType::kC128 ? 0x1p-52
                                                                 : 0x1p-23;
}

double SumGrowth(int64_t n) {
  return 1 + std::sqrt(static_cast<double>(n)) / 2;
}

Bounded ExactValue(Literal value) {
  Bounded b;
  if (!value.shape().IsTuple()) {
    b.value = std::move(value);
    return b;
  }
  b.tuple = true;
  for (const Literal& e : value.elements()) {
    b.elements.push_back(ExactValue(e));
  }
  return b;
}

Bounded ArrayValue(Literal value, Literal error) {
  Bounded b;
  b.value = std::move(value);
  if (!AllZero(error)) b.error = std::move(error);
  return b;
}

Bounded Unbounded(Literal value) {
  Bounded b;
  if (value.shape().IsTuple()) {
    b.tuple = true;
    for (const Literal& e : value.elements()) {
      b.elements.push_back(Unbounded(e));
    }
    return b;
  }
  if (value.shape().IsArray()) {
    b.error = FullLiteral(Shape::Array(ElementType::kF64, value.shape().dims()),
                          kInfinity);
  }
  b.value = std::move(value);
  return b;
}

Literal ValueTree(const Bounded& b) {
  if (!b.tuple) return b.value;
  std::vector<Literal> elements;
  for (const Bounded& e : b.elements) elements.push_back(ValueTree(e));
  return Literal::Tuple(std::move(elements));
}

Literal ErrorTree(const Bounded& b) {
  if (!b.tuple) {
    return b.value.shape().IsArray() ? ErrorsOf(b) : Literal::Tuple({});
  }
  std::vector<Literal> elements;
  for (const Bounded& e : b.elements) elements.push_back(ErrorTree(e));
  return Literal::Tuple(std::move(elements));
}

Literal ErrorsOf(const Bounded& b) {
  if (b.error.shape().IsArray()) return b.error;
  return Literal::Zeros(
      Shape::Array(ElementType::kF64, b.value.shape().dims()));
}

Literal Wide(const Literal& value) {
  Shape shape = value.shape();
  if (!IsComplex(shape.type())) {
    shape.set_type(ElementType::kF64);
  } else {
    shape.set_type(ElementType::kC128);
  }
  return ConvertTo(value, shape);
}

Literal Magnitudes(const Literal& value) {
  Literal out =
      Literal::Zeros(Shape::Array(ElementType::kF64, value.shape().dims()));
  absl::Span<double> d = out.mutable_data<double>();
  Literal wide = Wide(value);
  if (IsComplex(value.shape().type())) {
    absl::Span<const Z> z = wide.data<Z>();
    for (size_t i = 0; i < d.size(); ++i) d[i] = std::abs(z[i]);
  } else {
    absl::Span<const double> x = wide.data<double>();
    for (size_t i = 0; i < d.size(); ++i) d[i] = std::fabs(x[i]);
  }
  return out;
}

void AddTo(const Literal& more, Literal* errors) { AddScaled(1, more, errors); }

void AddScaled(double factor, const Literal& more, Literal* errors) {
  absl::Span<double> e = errors->mutable_data<double>();
  absl::Span<const double> m = more.data<double>();
  for (size_t i = 0; i < e.size(); ++i) {
    // 0 * inf would be NaN: no part of an unbounded error is bounded.
    if (m[i] != 0) e[i] += factor * m[i];
  }
}

bool AllZero(const Literal& errors) {
  for (double e : errors.data<double>()) {
    if (e != 0) return false;
  }
  return true;
}

std::vector<Literal> Values(const BoundOp& op) {
  std::vector<Literal> values;
  for (const Bounded* b : op.operands) values.push_back(ValueTree(*b));
  return values;
}

namespace {

absl::StatusOr<Literal> RunHandler(Interpreter& interpreter, const BoundOp& op,
                                   const Shape& shape,
                                   std::vector<Literal> operands) {
  std::vector<Literal*> pointers;
  for (Literal& l : operands) pointers.push_back(&l);
  Op plain{interpreter, op.instruction, shape, pointers, /*owned=*/0};
  return op.handler(plain);
}

}  // namespace

absl::StatusOr<Literal> RunTyped(const BoundOp& op,
                                 std::vector<Literal> operands) {
  return RunHandler(op.context.typed(), op, op.shape, std::move(operands));
}

absl::StatusOr<Literal> RunWide(const BoundOp& op,
                                std::vector<Literal> operands) {
  for (Literal& l : operands) l = ConvertTo(l, ToF64(l.shape()));
  return RunHandler(op.context.wide(), op, ToF64(op.shape),
                    std::move(operands));
}

Literal RoundedError(const Literal& value, const Literal& center,
                     const Literal& slack) {
  Literal error =
      Literal::Zeros(Shape::Array(ElementType::kF64, value.shape().dims()));
  absl::Span<double> e = error.mutable_data<double>();
  absl::Span<const double> s = slack.data<double>();
  Literal v = Wide(value);
  if (IsComplex(value.shape().type())) {
    absl::Span<const Z> c = center.data<Z>();
    absl::Span<const Z> w = v.data<Z>();
    const double u = SpacingOf(value.shape().type());
    for (size_t i = 0; i < e.size(); ++i) {
      e[i] = s[i] == 0 ? 0 : s[i] + u * std::abs(w[i]) + std::abs(c[i] - w[i]);
      if (std::isnan(e[i])) e[i] = kInfinity;
    }
    return error;
  }
  Literal ends[2] = {center, center};
  for (int side = 0; side < 2; ++side) {
    absl::Span<double> d = ends[side].mutable_data<double>();
    for (size_t i = 0; i < d.size(); ++i) d[i] += side == 0 ? -s[i] : s[i];
    ends[side] = Wide(ConvertTo(ends[side], value.shape()));
  }
  absl::Span<const double> lo = ends[0].data<double>();
  absl::Span<const double> hi = ends[1].data<double>();
  absl::Span<const double> w = v.data<double>();
  absl::Span<const double> c = center.data<double>();
  for (size_t i = 0; i < e.size(); ++i) {
    if (s[i] == 0) {
      // No slack: the value itself is what every implementation gets.
      e[i] = 0;
    } else if (std::isnan(c[i]) && std::isfinite(s[i])) {
      e[i] = 0;
    } else if (lo[i] == w[i] && hi[i] == w[i]) {
      e[i] = 0;
    } else {
      e[i] = std::max(std::fabs(hi[i] - w[i]), std::fabs(w[i] - lo[i]));
      if (std::isnan(e[i])) e[i] = kInfinity;
    }
  }
  return error;
}

void BoundInterpreter::Note(const Instruction& instruction,
                            absl::string_view reason) {
  if (!noted_.insert(&instruction).second) return;
  notes_.push_back(absl::StrCat(Where(instruction), ": ", reason));
}

// ---- Control flow ----

namespace {

Bounded TakeOrShare(const BoundOp& op, int64_t i) { return op.in(i); }

absl::StatusOr<Bounded> BoundTuple(const BoundOp& op) {
  Bounded b;
  b.tuple = true;
  for (int64_t i = 0; i < op.count(); ++i) {
    b.elements.push_back(TakeOrShare(op, i));
  }
  return b;
}

absl::StatusOr<Bounded> BoundGetTupleElement(const BoundOp& op) {
  const int64_t k = op.instruction.tuple_index();
  if (op.count() != 1 || k < 0 ||
      k >= static_cast<int64_t>(op.in(0).elements.size())) {
    return Invalid("no element ", k);
  }
  return op.in(0).elements[k];
}

absl::StatusOr<Bounded> BoundFirst(const BoundOp& op) {
  if (op.count() < 1) return Invalid("takes an operand, has none");
  return op.in(0);
}

std::vector<Bounded> Shared(const BoundOp& op) {
  std::vector<Bounded> values;
  for (const Bounded* b : op.operands) values.push_back(*b);
  return values;
}

absl::StatusOr<Bounded> BoundCall(const BoundOp& op) {
  const Computation* callee = op.instruction.opcode() == Opcode::kFusion
                                  ? op.instruction.calls()
                                  : op.instruction.to_apply();
  if (callee == nullptr) return Invalid("names no computation");
  return op.context.Run(*callee, Shared(op));
}

void Spoil(Bounded* b) { *b = Unbounded(ValueTree(*b)); }

absl::StatusOr<Bounded> BoundWhile(const BoundOp& op) {
  const Computation* condition = op.instruction.computation(AttrId::kCondition);
  const Computation* body = op.instruction.computation(AttrId::kBody);
  if (op.count() != 1 || condition == nullptr || body == nullptr) {
    return Invalid("takes one state, a condition and a body");
  }
  Bounded state = op.in(0);
  bool certain = true;
  while (true) {
    RIDGE_ASSIGN_OR_RETURN(Bounded go, op.context.Run(*condition, {state}));
    if (!go.value.shape().IsScalar() || !IsPred(go.value.shape().type())) {
      return Invalid("the condition is no pred[]");
    }
    if (!go.exact() && certain) {
      certain = false;
      op.context.Note(op.instruction,
                      "the loop's condition lies within its error");
    }
    if (go.value.data<uint8_t>()[0] == 0) break;
    RIDGE_RETURN_IF_ERROR(op.context.typed().CountStep());
    std::vector<Bounded> arguments;
    arguments.push_back(std::move(state));
    RIDGE_ASSIGN_OR_RETURN(state, op.context.Run(*body, std::move(arguments)));
  }
  if (!certain) Spoil(&state);
  return state;
}

absl::StatusOr<Bounded> BoundConditional(const BoundOp& op) {
  std::vector<Computation*> branches = op.instruction.branches();
  const int64_t count = static_cast<int64_t>(branches.size());
  if (count < 1 || op.count() != count + 1 ||
      !op.in(0).value.shape().IsScalar()) {
    return Invalid("takes a selector and one operand a branch");
  }
  const Literal& selector = op.in(0).value;
  int64_t chosen = IsPred(selector.shape().type())
                       ? (selector.data<uint8_t>()[0] != 0 ? 0 : 1)
                       : IndexAt(selector, 0);
  if (chosen < 0 || chosen >= count) chosen = count - 1;
  RIDGE_ASSIGN_OR_RETURN(
      Bounded result, op.context.Run(*branches[chosen], {op.in(chosen + 1)}));
  if (!op.in(0).exact()) {
    op.context.Note(op.instruction,
                    "the branch taken lies within the error "
                    "of its selector");
    Spoil(&result);
  }
  return result;
}

// map: the computation over arrays is the computation over scalars at each
// element; instructions of it are elementwise, so it is run element by element
// only where it is not.
absl::StatusOr<Bounded> BoundMap(const BoundOp& op) {
  const Computation* callee = op.instruction.to_apply();
  if (callee == nullptr) return Invalid("names no computation");
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  Literal error =
      Literal::Zeros(Shape::Array(ElementType::kF64, value.shape().dims()));
  const int64_t n = value.shape().ElementCount();
  for (int64_t i = 0; i < n; ++i) {
    std::vector<Bounded> arguments;
    for (const Bounded* b : op.operands) {
      ElementType type = b->value.shape().type();
      const int width = StorageBytes(type);
      const uint8_t* p = b->value.bytes() + i * width;
      Bounded scalar;
      scalar.value = Literal::FromBytes(Shape::Scalar(type),
                                        std::vector<uint8_t>(p, p + width));
      if (!b->exact()) {
        scalar.error = FullLiteral(Shape::Scalar(ElementType::kF64),
                                   b->error.data<double>()[i]);
      }
      arguments.push_back(std::move(scalar));
    }
    RIDGE_ASSIGN_OR_RETURN(Bounded r,
                           op.context.Run(*callee, std::move(arguments)));
    if (!r.exact()) {
      error.mutable_data<double>()[i] = r.error.data<double>()[0];
    }
  }
  return ArrayValue(std::move(value), std::move(error));
}

absl::StatusOr<Bounded> BoundAsyncStart(const BoundOp& op) {
  const Computation* callee = op.instruction.calls();
  if (callee == nullptr) callee = op.instruction.to_apply();
  if (callee == nullptr) return Invalid("names no computation");
  if (!op.shape.IsTuple() || op.shape.tuple_shapes().size() < 2) {
    return Invalid("the result is no ((operands), output, state...) tuple");
  }
  RIDGE_ASSIGN_OR_RETURN(Bounded value, op.context.Run(*callee, Shared(op)));
  Bounded result;
  result.tuple = true;
  Bounded operands;
  operands.tuple = true;
  operands.elements = Shared(op);
  result.elements.push_back(std::move(operands));
  result.elements.push_back(std::move(value));
  for (size_t k = 2; k < op.shape.tuple_shapes().size(); ++k) {
    result.elements.push_back(
        ExactValue(Literal::Zeros(op.shape.tuple_shape(k))));
  }
  return result;
}

absl::StatusOr<Bounded> BoundAsyncDone(const BoundOp& op) {
  if (op.count() != 1 || op.in(0).elements.size() < 2) {
    return Invalid("the operand is no async value");
  }
  return op.in(0).elements[1];
}

// copy-start, copy-done, collectives over one device, custom calls that pass
// their operand on: values as the handler gives them; errors if they are the
// operand's.
absl::StatusOr<Bounded> BoundPass(const BoundOp& op) {
  if (op.instruction.opcode() == Opcode::kCustomCall &&
      op.instruction.text(AttrId::kCustomCallTarget) == "TopK") {
    return BoundTopK(op);
  }
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  if (op.exact()) return ExactValue(std::move(value));
  if (op.count() == 1 && op.in(0).value.shape().IsArray() &&
      value.shape().IsArray() &&
      value.shape().SameDims(op.in(0).value.shape())) {
    return ArrayValue(std::move(value), ErrorsOf(op.in(0)));
  }
  if (op.count() == 1 && op.in(0).tuple && value.shape().IsArray() &&
      !op.in(0).elements.empty() && !op.in(0).elements[0].tuple) {
    return op.in(0).elements[0];  // copy-done and the like
  }
  if (op.count() == 1 && !op.in(0).tuple && value.shape().IsTuple()) {
    Bounded result;
    result.tuple = true;
    for (const Literal& e : value.elements()) {
      result.elements.push_back(e.shape().Compatible(op.in(0).value.shape())
                                    ? op.in(0)
                                    : ExactValue(e));
    }
    return result;
  }
  op.context.Note(op.instruction, "no rule for its error");
  return Unbounded(std::move(value));
}

constexpr BoundRule RuleRow(Opcode opcode) {
  switch (opcode) {
    case Opcode::kTuple:
      return BoundTuple;
    case Opcode::kGetTupleElement:
      return BoundGetTupleElement;
    case Opcode::kAddDependency:
    case Opcode::kDomain:
    case Opcode::kOptimizationBarrier:
    case Opcode::kAsyncUpdate:
      return BoundFirst;
    case Opcode::kCall:
    case Opcode::kFusion:
      return BoundCall;
    case Opcode::kWhile:
      return BoundWhile;
    case Opcode::kConditional:
      return BoundConditional;
    case Opcode::kMap:
      return BoundMap;
    case Opcode::kAsyncStart:
      return BoundAsyncStart;
    case Opcode::kAsyncDone:
      return BoundAsyncDone;
    case Opcode::kCustomCall:
      return BoundPass;
    case Opcode::kSelect:
      return BoundSelect;
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kCopy:
    case Opcode::kDynamicReshape:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGather:
    case Opcode::kPad:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSetDimensionSize:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return BoundMove;
    case Opcode::kReduce:
      return BoundReduce;
    case Opcode::kReduceWindow:
      return BoundReduceWindow;
    case Opcode::kScatter:
      return BoundScatter;
    case Opcode::kSelectAndScatter:
      return BoundSelectAndScatter;
    case Opcode::kDot:
    case Opcode::kConvolution:
    case Opcode::kRaggedDot:
    case Opcode::kScaledDot:
      return BoundContraction;
    case Opcode::kFft:
      return BoundFft;
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve:
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
      return BoundByProbing;
    case Opcode::kSort:
      return BoundSort;
    case Opcode::kTopK:
      return BoundTopK;
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState:
      return BoundRandom;
    case Opcode::kAfterAll:
    case Opcode::kBitcastConvert:
    case Opcode::kGetDimensionSize:
    case Opcode::kIota:
    case Opcode::kRngBitGenerator:
    case Opcode::kStochasticConvert:
      return BoundExactOrUnbounded;
    default:
      break;
  }
  switch (Info(opcode).op_class) {
    case OpClass::kElementwise:
      return BoundElementwise;
    case OpClass::kCollective:
    case OpClass::kAsync:
      return BoundPass;
    default:
      return BoundExactOrUnbounded;
  }
}

}  // namespace

BoundRule BoundRuleOf(Opcode opcode) { return RuleRow(opcode); }

absl::StatusOr<Bounded> BoundInterpreter::Run(const Computation& computation,
                                              std::vector<Bounded> arguments) {
  if (depth_ >= kMaxDepth) {
    return absl::ResourceExhaustedError(
        absl::StrCat("computations nested deeper than ", kMaxDepth, " at ",
                     computation.name()));
  }
  ++depth_;
  auto leave = absl::MakeCleanup([&] { --depth_; });
  RIDGE_ASSIGN_OR_RETURN(const Plan* plan, typed_.PlanOf(computation));
  if (arguments.size() != plan->parameter_slots.size()) {
    return Invalid("computation ", computation.name(), " takes ",
                   plan->parameter_slots.size(), " arguments, got ",
                   arguments.size());
  }
  std::vector<Bounded> values(plan->steps.size());
  std::vector<Bounded*> operands;
  for (size_t s = 0; s < plan->steps.size(); ++s) {
    const PlanStep& step = plan->steps[s];
    const Instruction& instruction = *step.instruction;
    if (instruction.opcode() == Opcode::kParameter) {
      values[s] = std::move(arguments[instruction.parameter_number()]);
    } else if (instruction.opcode() == Opcode::kConstant) {
      values[s] = ExactValue(*step.constant);
    } else {
      operands.clear();
      for (int32_t o : step.operands) operands.push_back(&values[o]);
      BoundOp op{*this, instruction, *step.shape, step.handler, operands};
      absl::StatusOr<Bounded> value = BoundRuleOf(instruction.opcode())(op);
      if (!value.ok()) return Locate(value.status(), instruction);
      values[s] = *std::move(value);
    }
    for (int32_t dead : step.frees) values[dead] = Bounded();
  }
  return std::move(values[plan->root]);
}

}  // namespace eval

absl::StatusOr<BoundedValue> EvaluateWithBounds(
    const Module& module, absl::Span<const Literal> arguments,
    const BoundOptions& options) {
  if (options.evaluation.precision != EvalPrecision::kAsTyped) {
    return absl::InvalidArgumentError(
        "error bounds are those of an evaluation in the written types");
  }
  if (module.entry() == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("module ", module.name(), " has no entry computation"));
  }
  RIDGE_RETURN_IF_ERROR(CheckArguments(*module.entry(), arguments));
  eval::BoundInterpreter interpreter(options);
  std::vector<eval::Bounded> values;
  for (const Literal& a : arguments) values.push_back(eval::ExactValue(a));
  RIDGE_ASSIGN_OR_RETURN(eval::Bounded result,
                         interpreter.Run(*module.entry(), std::move(values)));
  return BoundedValue{eval::ValueTree(result), eval::ErrorTree(result),
                      interpreter.TakeNotes()};
}

}  // namespace ridge
