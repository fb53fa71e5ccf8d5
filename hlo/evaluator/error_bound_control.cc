// The interpreter of bounded values: control flow, and which rule is whose.
#include <cmath>
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

// Where nothing rounds, the plain evaluation is all there is to know.
absl::StatusOr<Bounded> RunExact(const BoundOp& op) {
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  return ExactValue(std::move(value));
}

absl::StatusOr<Bounded> BoundCall(const BoundOp& op) {
  const Computation* callee = op.instruction.opcode() == Opcode::kFusion
                                  ? op.instruction.calls()
                                  : op.instruction.to_apply();
  if (callee == nullptr) return Invalid("names no computation");
  if (op.exact() && op.context.IsDiscrete(*callee)) return RunExact(op);
  return op.context.Run(*callee, Shared(op));
}

void Spoil(Bounded* b) { *b = Unbounded(ValueTree(*b)); }

absl::StatusOr<Bounded> BoundWhile(const BoundOp& op) {
  const Computation* condition = op.instruction.computation(AttrId::kCondition);
  const Computation* body = op.instruction.computation(AttrId::kBody);
  if (op.count() != 1 || condition == nullptr || body == nullptr) {
    return Invalid("takes one state, a condition and a body");
  }
  if (op.exact() && op.context.IsDiscrete(*condition) &&
      op.context.IsDiscrete(*body)) {
    return RunExact(op);
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
  if (op.exact() && op.context.IsDiscrete(*callee)) return RunExact(op);
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
      scalar.open_zeros = b->open_zeros;
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

bool BoundInterpreter::IsDiscrete(const Computation& computation) {
  auto [at, inserted] = discrete_.try_emplace(&computation, false);
  if (!inserted) return at->second;
  bool discrete = true;
  for (const Instruction* i : computation.instructions()) {
    ForEachLeaf(i->shape(), [&](const Shape& leaf, const ShapeIndex&) {
      if (leaf.IsArray() && (IsFloat(leaf.type()) || IsComplex(leaf.type()))) {
        discrete = false;
      }
    });
    if (i->opcode() == Opcode::kParameter || i->opcode() == Opcode::kConstant ||
        i->opcode() == Opcode::kIota) {
      continue;
    }
    const BoundRule rule = BoundRuleOf(i->opcode());
    discrete = discrete && (rule == BoundElementwise || rule == BoundMove ||
                            rule == BoundSelect || rule == BoundTuple ||
                            rule == BoundGetTupleElement ||
                            rule == BoundFirst || rule == BoundCall ||
                            rule == BoundWhile || rule == BoundConditional);
    for (const Computation* c : i->called_computations()) {
      discrete = discrete && c != nullptr && IsDiscrete(*c);
    }
    if (!discrete) break;
  }
  discrete_[&computation] = discrete;
  return discrete;
}

namespace {

void CountElements(const Bounded& b, int64_t* count) {
  for (const Bounded& e : b.elements) CountElements(e, count);
  if (!b.tuple && b.value.shape().IsArray()) {
    *count += b.value.shape().ElementCount();
  }
}

int64_t BytesOf(const Bounded& b) {
  int64_t bytes = static_cast<int64_t>(b.value.byte_size()) +
                  static_cast<int64_t>(b.error.byte_size());
  for (const Bounded& e : b.elements) bytes += BytesOf(e);
  return bytes;
}

bool PassesOn(BoundRule rule) {
  return rule == BoundTuple || rule == BoundGetTupleElement ||
         rule == BoundFirst || rule == BoundCall || rule == BoundWhile ||
         rule == BoundConditional || rule == BoundAsyncStart ||
         rule == BoundAsyncDone;
}

// Zeros of sums have either sign, and so has what is made from such.
void MarkOpenZeros(const BoundOp& op, BoundRule rule, Bounded* value) {
  if (PassesOn(rule)) return;
  const OpClass op_class = Info(op.instruction.opcode()).op_class;
  const bool sums =
      op_class == OpClass::kReduce || op_class == OpClass::kContraction ||
      op_class == OpClass::kLinalg || op_class == OpClass::kNorm ||
      op.instruction.opcode() == Opcode::kScatter;
  if (!sums && !op.open_zeros()) return;
  auto mark = [](Bounded* b) {
    const ElementType type = b->value.shape().type();
    b->open_zeros =
        b->value.shape().IsArray() && (IsFloat(type) || IsComplex(type));
  };
  mark(value);
  for (Bounded& e : value->elements) mark(&e);
}

}  // namespace

absl::Status BoundInterpreter::CheckFits(const BoundOp& op) const {
  RIDGE_RETURN_IF_ERROR(typed_.CheckFits(op.shape));
  const BoundRule rule = BoundRuleOf(op.instruction.opcode());
  if (PassesOn(rule)) return absl::OkStatus();
  int64_t results = 0;
  int64_t stored = 0;
  bool rounds = !op.exact();
  ForEachLeaf(op.shape, [&](const Shape& leaf, const ShapeIndex&) {
    if (!leaf.IsArray()) return;
    results += leaf.ElementCount();
    stored += leaf.ElementCount() * StorageBytes(leaf.type());
    rounds = rounds || (rule != BoundMove &&
                        (IsFloat(leaf.type()) || IsComplex(leaf.type())));
  });
  int64_t operands = 0;
  for (const Bounded* b : op.operands) CountElements(*b, &operands);
  // Values, errors and magnitudes in double, at most so many at once.
  const double copies = rule == BoundReduce && op.exact() ? 1 : 3;
  const double bytes =
      static_cast<double>(stored) +
      (rounds ? sizeof(double) * (copies * static_cast<double>(operands) +
                                  4.0 * static_cast<double>(results))
              : 0);
  const int64_t limit = options_.evaluation.max_bytes;
  if (bytes <= static_cast<double>(limit - live_bytes_)) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "error bounds take ", bytes, " bytes here; ", limit - live_bytes_,
      " of max_bytes = ", limit, " are left"));
}

absl::StatusOr<Bounded> BoundInterpreter::Run(const Computation& computation,
                                              std::vector<Bounded> arguments) {
  if (depth_ >= kMaxDepth) {
    return absl::ResourceExhaustedError(
        absl::StrCat("computations nested deeper than ", kMaxDepth, " at ",
                     computation.name()));
  }
  ++depth_;
  const int64_t live_before = live_bytes_;
  auto leave = absl::MakeCleanup([&] {
    --depth_;
    live_bytes_ = live_before;
  });
  RIDGE_ASSIGN_OR_RETURN(const Plan* plan, typed_.PlanOf(computation));
  if (arguments.size() != plan->parameter_slots.size()) {
    return Invalid("computation ", computation.name(), " takes ",
                   plan->parameter_slots.size(), " arguments, got ",
                   arguments.size());
  }
  std::vector<Bounded> values(plan->steps.size());
  std::vector<int64_t> bytes(plan->steps.size(), 0);
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
      absl::Status fits = CheckFits(op);
      if (!fits.ok()) return Locate(fits, instruction);
      const BoundRule rule = BoundRuleOf(instruction.opcode());
      absl::StatusOr<Bounded> value = rule(op);
      if (!value.ok()) return Locate(value.status(), instruction);
      values[s] = *std::move(value);
      MarkOpenZeros(op, rule, &values[s]);
      if (!AliasesOperands(instruction.opcode())) {
        bytes[s] = BytesOf(values[s]);
        live_bytes_ += bytes[s];
      }
    }
    for (int32_t dead : step.frees) {
      values[dead] = Bounded();
      live_bytes_ -= bytes[dead];
      bytes[dead] = 0;
    }
  }
  return std::move(values[plan->root]);
}

}  // namespace eval
}  // namespace ridge
