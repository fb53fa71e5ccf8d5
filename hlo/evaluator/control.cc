// Opcodes that run other computations, and those that only pass values on.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "hlo/base/status_macros.h"
#include "hlo/evaluator/elementwise.h"
#include "hlo/evaluator/handlers.h"

namespace ridge {
namespace eval {
namespace {

std::vector<Literal> TakeAll(const Op& op) {
  std::vector<Literal> values;
  for (int64_t i = 0; i < op.count(); ++i) values.push_back(op.Take(i));
  return values;
}

absl::Status CheckPredicate(const Literal& value) {
  if (value.shape().IsScalar() && IsPred(value.shape().type())) {
    return absl::OkStatus();
  }
  return Invalid("the condition gives ", value.shape().ToString(),
                 ", not pred[]");
}

}  // namespace

absl::StatusOr<Literal> EvalTuple(const Op& op) {
  Literal out = Literal::Tuple(TakeAll(op));
  *out.mutable_shape() = op.shape;
  return out;
}

// Interpreter::Run evaluates these itself when it can; here they come from
// RunInstruction.
absl::StatusOr<Literal> EvalGetTupleElement(const Op& op) {
  if (op.count() != 1) return Invalid("takes 1 operand, has ", op.count());
  const int64_t k = op.instruction.tuple_index();
  if (k < 0 || k >= static_cast<int64_t>(op.in(0).elements().size())) {
    return Invalid("no element ", k, " in ", op.in(0).shape().ToString());
  }
  return op.in(0).elements()[k];
}

absl::StatusOr<Literal> EvalUnreachable(const Op& op) {
  return Invalid("has no value outside its computation");
}

absl::StatusOr<Literal> EvalAfterAll(const Op& op) {
  return Literal::Zeros(Shape::Token());
}

// add-dependency, domain, opt-barrier.
absl::StatusOr<Literal> EvalFirstOperand(const Op& op) {
  if (op.count() < 1) return Invalid("takes an operand, has none");
  return op.Take(0);
}

absl::StatusOr<Literal> EvalCall(const Op& op) {
  const Computation* callee = op.instruction.to_apply();
  if (callee == nullptr) return Invalid("names no computation");
  return op.interpreter.Run(*callee, TakeAll(op));
}

absl::StatusOr<Literal> EvalFusion(const Op& op) {
  const Computation* callee = op.instruction.calls();
  if (callee == nullptr) return Invalid("names no computation");
  return op.interpreter.Run(*callee, TakeAll(op));
}

absl::StatusOr<Literal> EvalWhile(const Op& op) {
  const Computation* condition = op.instruction.computation(AttrId::kCondition);
  const Computation* body = op.instruction.computation(AttrId::kBody);
  if (op.count() != 1 || condition == nullptr || body == nullptr) {
    return Invalid("takes one state, a condition and a body");
  }
  Literal state = op.Take(0);
  while (true) {
    RIDGE_ASSIGN_OR_RETURN(Literal go, op.interpreter.Run(*condition, {state}));
    RIDGE_RETURN_IF_ERROR(CheckPredicate(go));
    if (go.data<uint8_t>()[0] == 0) return state;
    RIDGE_RETURN_IF_ERROR(op.interpreter.CountStep());
    std::vector<Literal> arguments;
    arguments.push_back(std::move(state));
    RIDGE_ASSIGN_OR_RETURN(state,
                           op.interpreter.Run(*body, std::move(arguments)));
  }
}

// By pred: true first. By index: out of range takes the last branch.
absl::StatusOr<Literal> EvalConditional(const Op& op) {
  std::vector<Computation*> branches = op.instruction.branches();
  const int64_t count = static_cast<int64_t>(branches.size());
  if (count < 1 || op.count() != count + 1) {
    return Invalid("takes a selector and one operand a branch");
  }
  const Literal& selector = op.in(0);
  if (!selector.shape().IsScalar()) return Invalid("selector is not a scalar");
  int64_t chosen;
  if (IsPred(selector.shape().type())) {
    chosen = selector.data<uint8_t>()[0] != 0 ? 0 : 1;
  } else {
    chosen = IndexAt(selector, 0);
  }
  if (chosen < 0 || chosen >= count) chosen = count - 1;
  std::vector<Literal> arguments;
  arguments.push_back(op.Take(chosen + 1));
  return op.interpreter.Run(*branches[chosen], std::move(arguments));
}

absl::StatusOr<Literal> EvalMap(const Op& op) {
  const Computation* callee = op.instruction.to_apply();
  if (callee == nullptr) return Invalid("names no computation");
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, op.count()));
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  for (int64_t i = 0; i < op.count(); ++i) {
    RIDGE_RETURN_IF_ERROR(CheckDims(absl::StrCat("operand ", i),
                                    op.in(i).shape(), op.shape.dims()));
  }
  const int64_t n = op.shape.ElementCount();
  Literal out = Literal::Zeros(op.shape);
  if (n == 0) return out;
  uint8_t* bytes = out.mutable_bytes();
  const int width = StorageBytes(op.shape.type());
  const ScalarProgram* program = op.interpreter.Program(*callee);
  if (program != nullptr) {
    bool agree =
        static_cast<int64_t>(program->parameters().size()) == op.count() &&
        program->results().size() == 1 &&
        LaneOf(program->results()[0]) == LaneOf(op.shape.type());
    for (int64_t i = 0; agree && i < op.count(); ++i) {
      agree =
          LaneOf(program->parameters()[i]) == LaneOf(op.in(i).shape().type());
    }
    if (!agree) return Invalid("the computation does not match the operands");
    LaneFn store = StoreFn(op.shape.type());
    constexpr int64_t kGrain = 8 * kBlockElements;
    op.interpreter.Parallel(0, n, kGrain, [&](int64_t b, int64_t e) {
      ScalarProgram::Workspace workspace(*program);
      std::vector<std::vector<uint8_t>> buffers(
          op.count(), std::vector<uint8_t>(kBlockBytes));
      std::vector<const void*> in(op.count());
      for (int64_t at = b; at < e; at += kBlockElements) {
        const int64_t m = std::min(kBlockElements, e - at);
        for (int64_t i = 0; i < op.count(); ++i) {
          in[i] = LoadBlock(op.in(i), at, m, buffers[i].data());
        }
        const void* result[1];
        program->Run(&workspace, in, m, result);
        if (store != nullptr) {
          store(result[0], bytes + at * width, m);
        } else {
          std::memcpy(bytes + at * width, result[0], m * width);
        }
      }
    });
    return out;
  }
  for (int64_t e = 0; e < n; ++e) {
    std::vector<Literal> arguments;
    for (int64_t i = 0; i < op.count(); ++i) {
      ElementType type = op.in(i).shape().type();
      const int w = StorageBytes(type);
      const uint8_t* p = op.in(i).bytes() + e * w;
      arguments.push_back(Literal::FromBytes(Shape::Scalar(type),
                                             std::vector<uint8_t>(p, p + w)));
    }
    RIDGE_ASSIGN_OR_RETURN(Literal value,
                           op.interpreter.Run(*callee, std::move(arguments)));
    if (!value.shape().IsScalar() || value.shape().type() != op.shape.type()) {
      return Invalid("the computation gives ", value.shape().ToString());
    }
    std::memcpy(bytes + e * width, value.bytes(), width);
  }
  return out;
}

absl::StatusOr<Literal> EvalGetDimensionSize(const Op& op) {
  Ints dims = op.instruction.dimensions();
  if (op.count() != 1 || dims.size() != 1 || !op.shape.IsScalar()) {
    return Invalid("takes one array and one dimension");
  }
  const Shape& s = op.in(0).shape();
  if (!s.IsArray() || dims[0] < 0 || dims[0] >= s.rank()) {
    return Invalid("no dimension ", dims[0], " in ", s.ToString());
  }
  Literal out = Literal::Zeros(op.shape);
  SetDouble(&out, 0, static_cast<double>(s.dim(dims[0])));
  return out;
}

// A literal has the size its shape says: only that size can be set.
absl::StatusOr<Literal> EvalSetDimensionSize(const Op& op) {
  Ints dims = op.instruction.dimensions();
  if (op.count() != 2 || dims.size() != 1 || !op.in(0).shape().IsArray() ||
      !op.in(1).shape().IsScalar() || !IsInteger(op.in(1).shape().type())) {
    return Invalid("takes one array, a size and one dimension");
  }
  const Shape& s = op.in(0).shape();
  if (dims[0] < 0 || dims[0] >= s.rank()) {
    return Invalid("no dimension ", dims[0], " in ", s.ToString());
  }
  if (!op.shape.IsStatic() || IndexAt(op.in(1), 0) != s.dim(dims[0])) {
    return Unsupported("set-dimension-size to ", IndexAt(op.in(1), 0), " of ",
                       s.ToString(),
                       ": values of dynamic size have no literal");
  }
  return op.Take(0);
}

// ---- async: everything happens at the start ----

absl::StatusOr<Literal> EvalAsyncStart(const Op& op) {
  const Computation* callee = op.instruction.calls();
  if (callee == nullptr) callee = op.instruction.to_apply();
  if (callee == nullptr) return Invalid("names no computation");
  if (!op.shape.IsTuple() || op.shape.tuple_shapes().size() < 2) {
    return Invalid("the result is no ((operands), output, state...) tuple");
  }
  std::vector<Literal> operands;
  for (int64_t i = 0; i < op.count(); ++i) operands.push_back(op.in(i));
  RIDGE_ASSIGN_OR_RETURN(Literal value, op.interpreter.Run(*callee, operands));
  std::vector<Literal> parts;
  parts.push_back(Literal::Tuple(std::move(operands)));
  parts.push_back(std::move(value));
  for (size_t k = 2; k < op.shape.tuple_shapes().size(); ++k) {
    RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape.tuple_shape(k)));
    parts.push_back(Literal::Zeros(op.shape.tuple_shape(k)));
  }
  return Literal::Tuple(std::move(parts));
}

absl::StatusOr<Literal> EvalAsyncUpdate(const Op& op) {
  return EvalFirstOperand(op);
}

absl::StatusOr<Literal> EvalAsyncDone(const Op& op) {
  if (op.count() != 1 || op.in(0).elements().size() < 2) {
    return Invalid("the operand is no async value");
  }
  return op.in(0).elements()[1];
}

// (copy, original, context).
absl::StatusOr<Literal> EvalCopyStart(const Op& op) {
  if (op.count() != 1 || !op.shape.IsTuple() ||
      op.shape.tuple_shapes().size() < 2) {
    return Invalid("the result is no (copy, original, context) tuple");
  }
  std::vector<Literal> parts = {op.in(0), op.in(0)};
  for (size_t k = 2; k < op.shape.tuple_shapes().size(); ++k) {
    RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape.tuple_shape(k)));
    parts.push_back(Literal::Zeros(op.shape.tuple_shape(k)));
  }
  return Literal::Tuple(std::move(parts));
}

absl::StatusOr<Literal> EvalCopyDone(const Op& op) {
  if (op.count() != 1 || op.in(0).elements().empty()) {
    return Invalid("the operand is no copy-start value");
  }
  return op.in(0).elements()[0];
}

}  // namespace eval
}  // namespace ridge
