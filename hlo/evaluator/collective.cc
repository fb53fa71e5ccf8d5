// Collectives and host transfers. A computation is evaluated as the only
// replica of the only partition: a collective over groups of one is the
// identity, anything wider is refused.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/handlers.h"

namespace ridge {
namespace eval {
namespace {

int64_t HeaderCount(const Module& module, absl::string_view name) {
  int64_t n = 1;
  absl::string_view text = module.header_text(name);
  if (!text.empty() && !absl::SimpleAtoi(text, &n)) return INT64_MAX;
  return n;
}

absl::Status CheckAlone(const Instruction& i) {
  const Module& module = *i.module();
  for (absl::string_view count : {"replica_count", "num_partitions"}) {
    if (HeaderCount(module, count) > 1) {
      return Unsupported("needs more than one device: ", count, "=",
                         module.header_text(count));
    }
  }
  const ReplicaGroups* groups = i.boxed<ReplicaGroups>(AttrId::kReplicaGroups);
  if (groups != nullptr) {
    for (const std::vector<int64_t>& g : groups->groups) {
      if (g.size() > 1) {
        return Unsupported("needs more than one device: a replica group of ",
                           g.size());
      }
    }
  }
  const IntLists* pairs = i.boxed<IntLists>(AttrId::kSourceTargetPairs);
  if (pairs != nullptr) {
    for (const std::vector<int64_t>& p : *pairs) {
      for (int64_t device : p) {
        if (device != 0) {
          return Unsupported(
              "needs more than one device: source_target_pairs "
              "name device ",
              device);
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Literal> EvalCollective(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckAlone(op.instruction));
  const Opcode opcode = op.instruction.opcode();
  if (opcode == Opcode::kRaggedAllToAll) {
    return Unsupported("ragged-all-to-all");
  }
  if (op.count() < 1) return Invalid("takes operands, has none");
  if (opcode == Opcode::kCollectivePermute) {
    const IntLists* pairs =
        op.instruction.boxed<IntLists>(AttrId::kSourceTargetPairs);
    if (op.count() != 1) return Unsupported("in-place collective-permute");
    // Who receives nothing has zeros.
    if (pairs == nullptr || pairs->empty()) return Literal::Zeros(op.shape);
  }
  if (op.count() == 1 && op.in(0).shape().Compatible(op.shape)) {
    return op.Take(0);
  }
  std::vector<Literal> values;
  for (int64_t i = 0; i < op.count(); ++i) values.push_back(op.in(i));
  Literal tuple = Literal::Tuple(std::move(values));
  if (!tuple.shape().Compatible(op.shape)) {
    return Invalid("over one device, operands of ", tuple.shape().ToString(),
                   " cannot give ", op.shape.ToString());
  }
  return tuple;
}

// The result of a start is whatever its done unpacks: (operands, results)
// where the shape says so, the results alone for all-reduce.
absl::StatusOr<Literal> EvalCollectiveStart(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckAlone(op.instruction));
  if (op.count() < 1) return Invalid("takes operands, has none");
  std::vector<Literal> values;
  for (int64_t i = 0; i < op.count(); ++i) values.push_back(op.in(i));
  Literal all = op.count() == 1 ? values[0] : Literal::Tuple(values);
  if (all.shape().Compatible(op.shape)) return all;
  std::vector<Literal> parts = {all, all};
  for (size_t k = 2; op.shape.IsTuple() && k < op.shape.tuple_shapes().size();
       ++k) {
    RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape.tuple_shape(k)));
    parts.push_back(Literal::Zeros(op.shape.tuple_shape(k)));
  }
  Literal tuple = Literal::Tuple(std::move(parts));
  if (!tuple.shape().Compatible(op.shape)) {
    return Invalid("over one device, operands of ", all.shape().ToString(),
                   " cannot give ", op.shape.ToString());
  }
  return tuple;
}

absl::StatusOr<Literal> EvalCollectiveDone(const Op& op) {
  if (op.count() != 1) return Invalid("takes 1 operand, has ", op.count());
  if (op.in(0).shape().Compatible(op.shape)) return op.Take(0);
  if (op.in(0).elements().size() >= 2 &&
      op.in(0).elements()[1].shape().Compatible(op.shape)) {
    return op.in(0).elements()[1];
  }
  return Invalid("the operand has shape ", op.in(0).shape().ToString());
}

absl::StatusOr<Literal> EvalOnlyReplica(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckAlone(op.instruction));
  if (!op.shape.IsScalar()) return Invalid("is not a scalar");
  return Literal::Zeros(op.shape);
}

absl::StatusOr<Literal> EvalHost(const Op& op) {
  return Unsupported(Name(op.instruction.opcode()),
                     " exchanges data with a host program, which is not here");
}

absl::Status CheckOneDevice(const Instruction& instruction) {
  switch (Info(instruction.opcode()).op_class) {
    case OpClass::kCollective:
      if (instruction.opcode() == Opcode::kRaggedAllToAll) {
        return Unsupported("ragged-all-to-all");
      }
      return CheckAlone(instruction);
    case OpClass::kHost:
      return Unsupported(
          Name(instruction.opcode()),
          " exchanges data with a host program, which is not here");
    default:
      return absl::OkStatus();
  }
}

}  // namespace eval
}  // namespace ridge
