#include "hlo/evaluator/evaluator.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"
#include "hlo/base/thread_pool.h"
#include "hlo/evaluator/context.h"
#include "hlo/evaluator/handlers.h"

namespace ridge {
namespace eval {
namespace {

// Deeper nesting of calls, loops and branches than this is refused: each level
// takes a frame of the evaluator's own stack.
constexpr int kMaxDepth = 200;

constexpr char kLocated[] = "ridge/evaluator/located";

}  // namespace

bool AliasesOperands(Opcode opcode) {
  switch (opcode) {
    case Opcode::kGetTupleElement:
    case Opcode::kTuple:
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kReshape:
    case Opcode::kCopy:
    case Opcode::kOptimizationBarrier:
    case Opcode::kWhile:
    case Opcode::kCall:
      return true;
    default:
      return false;
  }
}

absl::Status Locate(absl::Status status, const Instruction& instruction) {
  if (status.ok() || status.GetPayload(kLocated).has_value()) return status;
  absl::Status located = Annotate(status, Where(instruction));
  located.SetPayload(kLocated, absl::Cord());
  return located;
}

std::string Where(const Instruction& instruction) {
  std::string text =
      absl::StrCat(instruction.name(), " (", Name(instruction.opcode()));
  if (instruction.location().line > 0) {
    absl::StrAppend(&text, ", line ", instruction.location().line);
  }
  return text + ")";
}

Shape ToF64(const Shape& shape) {
  Shape result = shape;
  if (shape.IsTuple()) {
    for (size_t i = 0; i < shape.tuple_shapes().size(); ++i) {
      *result.mutable_tuple_shape(i) = ToF64(shape.tuple_shape(i));
    }
  } else if (IsFloat(shape.type())) {
    result.set_type(ElementType::kF64);
  } else if (IsComplex(shape.type())) {
    result.set_type(ElementType::kC128);
  }
  return result;
}

int64_t IndexAt(const Literal& literal, int64_t i) {
  int64_t v = GetInt(literal, i);
  if (literal.shape().type() == ElementType::kU64 && v < 0) return INT64_MAX;
  return v;
}

absl::Status CheckDims(absl::string_view what, const Shape& shape,
                       absl::Span<const int64_t> dims) {
  if (shape.IsArray() && shape.dims() == dims) return absl::OkStatus();
  Shape expected =
      Shape::Array(shape.IsArray() ? shape.type() : ElementType::kF32, dims);
  return Invalid(what, " has shape ", shape.ToString(), "; expected ",
                 expected.ToString());
}

absl::Status CheckArrays(const Op& op, int64_t n) {
  if (op.count() != n) {
    return Invalid("takes ", n, " operands, has ", op.count());
  }
  for (int64_t i = 0; i < n; ++i) {
    if (!op.in(i).shape().IsArray()) {
      return Invalid("operand ", i,
                     " is not an array: ", op.in(i).shape().ToString());
    }
  }
  if (!op.shape.IsArray()) {
    return Invalid("result is not an array: ", op.shape.ToString());
  }
  return absl::OkStatus();
}

const Shape* Interpreter::EvalShape(const Shape& shape) {
  if (!f64()) return &shape;
  shapes_.push_back(std::make_unique<Shape>(ToF64(shape)));
  return shapes_.back().get();
}

absl::Status Interpreter::CountStep() {
  if (++steps_ <= options_.max_steps) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "loop iterations: more than max_steps = ", options_.max_steps));
}

void Interpreter::Parallel(
    int64_t begin, int64_t end, int64_t grain,
    absl::FunctionRef<void(int64_t, int64_t)> body) const {
  if (options_.max_threads == 1) {
    // The same ranges as with many threads, so the same results.
    for (int64_t b = begin; b < end; b += grain) {
      body(b, std::min(end, b + grain));
    }
    return;
  }
  ParallelFor(begin, end, grain, body);
}

int Interpreter::threads() const {
  return options_.max_threads == 1 ? 1 : NumThreads();
}

absl::Status Interpreter::CheckFits(const Shape& shape) const {
  // A literal stores sub-byte elements one a byte.
  int64_t bytes = 0;
  bool is_static = true;
  ForEachLeaf(shape, [&](const Shape& leaf, const ShapeIndex&) {
    if (!leaf.IsArray()) return;
    is_static = is_static && leaf.IsStatic();
    int64_t b = SaturatingMul(leaf.ElementCount(), StorageBytes(leaf.type()));
    bytes = b > INT64_MAX - bytes ? INT64_MAX : bytes + b;
  });
  if (!is_static) {
    return Unsupported("dynamic shapes have no value on the host: ",
                       shape.ToString());
  }
  if (bytes <= options_.max_bytes - live_bytes_) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the value of shape ", shape.ToString(), " takes ", bytes,
                   " bytes; ", options_.max_bytes - live_bytes_,
                   " of max_bytes = ", options_.max_bytes, " are left"));
}

uint64_t Interpreter::NextRngSeed() {
  return options_.rng_seed + 0x9e3779b97f4a7c15ull * ++rng_calls_;
}

const ScalarProgram* Interpreter::Program(const Computation& computation) {
  auto [it, inserted] = programs_.try_emplace(&computation);
  if (inserted) it->second = ScalarProgram::Compile(computation, f64());
  return it->second.get();
}

absl::StatusOr<const Plan*> Interpreter::PlanOf(
    const Computation& computation) {
  auto it = plans_.find(&computation);
  if (it != plans_.end()) return it->second.get();
  auto plan = std::make_unique<Plan>();
  const Instruction* root = computation.root();
  if (root == nullptr) {
    return Invalid("computation ", computation.name(), " has no root");
  }

  // What the root needs.
  absl::flat_hash_set<const Instruction*> needed;
  std::vector<const Instruction*> stack = {root};
  while (!stack.empty()) {
    const Instruction* i = stack.back();
    stack.pop_back();
    if (!needed.insert(i).second) continue;
    for (const Instruction* o : i->operands()) stack.push_back(o);
  }

  absl::flat_hash_map<const Instruction*, int32_t> slots;
  std::vector<int32_t> last_use;
  plan->parameter_slots.assign(computation.parameters().size(), -1);
  for (const Instruction* i : computation.instructions()) {
    if (!needed.contains(i)) continue;
    int32_t slot = static_cast<int32_t>(plan->steps.size());
    PlanStep step;
    step.instruction = i;
    step.shape = EvalShape(i->shape());
    step.handler = HandlerOf(i->opcode());
    for (const Instruction* o : i->operands()) {
      auto at = slots.find(o);
      if (at == slots.end()) {
        return Locate(
            Invalid("operand ", o->name(), " does not come before its user"),
            *i);
      }
      step.operands.push_back(at->second);
      last_use[at->second] = slot;
    }
    if (i->opcode() == Opcode::kParameter) {
      int64_t k = i->parameter_number();
      if (k < 0 || k >= static_cast<int64_t>(plan->parameter_slots.size())) {
        return Locate(Invalid("parameter number ", k, " is not registered"),
                      *i);
      }
      plan->parameter_slots[k] = slot;
    }
    if (i->opcode() == Opcode::kConstant) {
      if (i->shared_literal() == nullptr ||
          !i->literal().shape().Compatible(i->shape())) {
        return Locate(Invalid("the literal does not have the shape"), *i);
      }
      step.constant = i->shared_literal();
      if (f64()) {
        step.constant = std::make_shared<const Literal>(
            ConvertTo(*step.constant, *step.shape));
      }
    }
    slots[i] = slot;
    last_use.push_back(-1);
    plan->steps.push_back(std::move(step));
  }
  auto root_slot = slots.find(root);
  if (root_slot == slots.end()) {
    return Invalid("the root of ", computation.name(), " is not among its ",
                   "instructions");
  }
  plan->root = root_slot->second;
  last_use[plan->root] = -1;

  // Last uses, and which tuples are taken apart by get-tuple-element alone.
  for (int32_t s = 0; s < static_cast<int32_t>(plan->steps.size()); ++s) {
    PlanStep& step = plan->steps[s];
    for (size_t k = 0; k < step.operands.size(); ++k) {
      int32_t o = step.operands[k];
      if (last_use[o] != s) continue;
      bool first = true;
      for (size_t j = 0; j < step.operands.size(); ++j) {
        if (j < k && step.operands[j] == o) first = false;
        if (j > k && step.operands[j] == o) first = false;
      }
      // An operand read twice by one instruction is freed, not taken.
      if (first && k < 64) step.owned |= uint64_t{1} << k;
      if (std::find(step.frees.begin(), step.frees.end(), o) ==
          step.frees.end()) {
        step.frees.push_back(o);
      }
    }
    if (s == plan->root || last_use[s] >= 0) continue;
    step.frees.push_back(s);  // reached only as a control dependence
  }
  std::vector<uint8_t> only_elements(plan->steps.size(), 1);
  only_elements[plan->root] = 0;
  for (const PlanStep& step : plan->steps) {
    if (step.instruction->opcode() == Opcode::kGetTupleElement) continue;
    for (int32_t o : step.operands) only_elements[o] = 0;
  }
  absl::flat_hash_set<std::pair<int32_t, int64_t>> seen;
  for (int32_t s = static_cast<int32_t>(plan->steps.size()) - 1; s >= 0; --s) {
    PlanStep& step = plan->steps[s];
    if (step.instruction->opcode() != Opcode::kGetTupleElement ||
        step.operands.size() != 1 || only_elements[step.operands[0]] == 0) {
      continue;
    }
    step.moves_element =
        seen.insert({step.operands[0], step.instruction->tuple_index()}).second;
  }
  return plans_.emplace(&computation, std::move(plan)).first->second.get();
}

absl::StatusOr<Literal> Interpreter::Run(const Computation& computation,
                                         std::vector<Literal> arguments) {
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
  RIDGE_ASSIGN_OR_RETURN(const Plan* planned, PlanOf(computation));
  const Plan& plan = *planned;
  if (arguments.size() != plan.parameter_slots.size()) {
    return Invalid("computation ", computation.name(), " takes ",
                   plan.parameter_slots.size(), " arguments, got ",
                   arguments.size());
  }
  std::vector<Literal> values(plan.steps.size());
  std::vector<int64_t> bytes(plan.steps.size(), 0);
  std::vector<Literal*> operands;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const PlanStep& step = plan.steps[s];
    const Instruction& instruction = *step.instruction;
    switch (instruction.opcode()) {
      case Opcode::kParameter: {
        Literal& argument = arguments[instruction.parameter_number()];
        if (!argument.shape().Compatible(*step.shape)) {
          return Locate(Invalid("argument ", instruction.parameter_number(),
                                " has shape ", argument.shape().ToString(),
                                "; the parameter has ", step.shape->ToString()),
                        instruction);
        }
        values[s] = std::move(argument);
        break;
      }
      case Opcode::kConstant:
        values[s] = *step.constant;
        break;
      case Opcode::kGetTupleElement: {
        Literal& tuple = values[step.operands[0]];
        int64_t k = instruction.tuple_index();
        if (step.operands.size() != 1 || k < 0 ||
            k >= static_cast<int64_t>(tuple.elements().size())) {
          return Locate(
              Invalid("no element ", k, " in ", tuple.shape().ToString()),
              instruction);
        }
        if (step.moves_element) {
          values[s] = std::move(tuple.mutable_elements()[k]);
        } else {
          values[s] = tuple.elements()[k];
        }
        break;
      }
      default: {
        operands.clear();
        for (int32_t o : step.operands) operands.push_back(&values[o]);
        Op op{*this, instruction, *step.shape, operands, step.owned};
        absl::StatusOr<Literal> value = step.handler(op);
        if (!value.ok()) return Locate(value.status(), instruction);
        values[s] = *std::move(value);
        break;
      }
    }
    if (!values[s].shape().Compatible(*step.shape)) {
      return Locate(
          Invalid("the value has shape ", values[s].shape().ToString(),
                  "; the instruction says ", step.shape->ToString()),
          instruction);
    }
    if (!AliasesOperands(instruction.opcode())) {
      bytes[s] = values[s].byte_size();
      live_bytes_ += bytes[s];
    }
    for (int32_t dead : step.frees) {
      values[dead] = Literal();
      live_bytes_ -= bytes[dead];
      bytes[dead] = 0;
    }
  }
  return std::move(values[plan.root]);
}

absl::StatusOr<Literal> Interpreter::RunInstruction(
    const Instruction& instruction, std::vector<Literal> operands) {
  const Shape* shape = EvalShape(instruction.shape());
  std::vector<Literal*> pointers;
  for (Literal& o : operands) pointers.push_back(&o);
  switch (instruction.opcode()) {
    case Opcode::kParameter:
      return Invalid("a parameter has no value of its own");
    case Opcode::kConstant:
      return ConvertTo(instruction.literal(), *shape);
    default:
      break;
  }
  Op op{*this, instruction, *shape, pointers, /*owned=*/0};
  absl::StatusOr<Literal> value = HandlerOf(instruction.opcode())(op);
  if (!value.ok()) return Locate(value.status(), instruction);
  return value;
}

namespace {

absl::Status CheckInstruction(const Instruction& i) {
  if (i.opcode() == Opcode::kCustomCall) return CheckCustomCall(i);
  if (!i.shape().IsStatic()) {
    return Unsupported("dynamic shapes have no value on the host: ",
                       i.shape().ToString());
  }
  return CheckOneDevice(i);
}

}  // namespace
}  // namespace eval

absl::Status CheckEvaluable(const Module& module) {
  if (module.entry() == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("module ", module.name(), " has no entry computation"));
  }
  absl::flat_hash_set<const Computation*> seen = {module.entry()};
  std::vector<const Computation*> stack = {module.entry()};
  while (!stack.empty()) {
    const Computation* computation = stack.back();
    stack.pop_back();
    for (const Instruction* i : computation->instructions()) {
      absl::Status status = eval::CheckInstruction(*i);
      if (!status.ok()) return Annotate(status, eval::Where(*i));
      for (const Computation* c : i->called_computations()) {
        if (c != nullptr && seen.insert(c).second) stack.push_back(c);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckArguments(const Computation& computation,
                            absl::Span<const Literal> arguments) {
  const size_t count = computation.parameters().size();
  if (arguments.size() != count) {
    return absl::InvalidArgumentError(
        absl::StrCat("computation ", computation.name(), " takes ", count,
                     " arguments, got ", arguments.size()));
  }
  for (size_t k = 0; k < count; ++k) {
    const Instruction* p = computation.parameter(k);
    if (p == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "computation ", computation.name(), " has no parameter ", k));
    }
    if (!arguments[k].shape().Compatible(p->shape())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "argument ", k, " has shape ", arguments[k].shape().ToString(),
          "; parameter ", eval::Where(*p), " has ", p->shape().ToString()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> Evaluate(const Module& module,
                                 absl::Span<const Literal> arguments,
                                 const EvalOptions& options) {
  if (module.entry() == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("module ", module.name(), " has no entry computation"));
  }
  return EvaluateComputation(*module.entry(), arguments, options);
}

absl::StatusOr<Literal> EvaluateComputation(const Computation& computation,
                                            absl::Span<const Literal> arguments,
                                            const EvalOptions& options) {
  RIDGE_RETURN_IF_ERROR(CheckArguments(computation, arguments));
  eval::Interpreter interpreter(options);
  std::vector<Literal> values(arguments.begin(), arguments.end());
  if (interpreter.f64()) {
    for (Literal& v : values) v = eval::ConvertTo(v, eval::ToF64(v.shape()));
  }
  return interpreter.Run(computation, std::move(values));
}

absl::StatusOr<Literal> EvaluateInstruction(const Instruction& instruction,
                                            absl::Span<const Literal> operands,
                                            const EvalOptions& options) {
  eval::Interpreter interpreter(options);
  std::vector<Literal> values(operands.begin(), operands.end());
  if (interpreter.f64()) {
    for (Literal& v : values) v = eval::ConvertTo(v, eval::ToF64(v.shape()));
  }
  return interpreter.RunInstruction(instruction, std::move(values));
}

}  // namespace ridge
