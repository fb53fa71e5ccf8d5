// Custom calls: those that mean nothing on one device are the identity; TopK
// is sorted; everything else is refused by name.
#include <algorithm>
#include <array>
#include <utility>

#include "hlo/evaluator/handlers.h"

namespace ridge {
namespace eval {
namespace {

// One operand, passed on.
constexpr std::array<absl::string_view, 10> kIdentityTargets = {
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "LayoutConstraint",
    "MoveToHost",
    "MoveToDevice",
    "annotate_device_placement",
    "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape",
};

bool IsIdentityTarget(absl::string_view target) {
  return std::find(kIdentityTargets.begin(), kIdentityTargets.end(), target) !=
         kIdentityTargets.end();
}

}  // namespace

absl::Status CheckCustomCall(const Instruction& instruction) {
  absl::string_view target = instruction.text(AttrId::kCustomCallTarget);
  if (IsIdentityTarget(target) || target == "TopK") return absl::OkStatus();
  return Unsupported("custom call \"", target,
                     "\": its meaning is not part of HLO");
}

absl::StatusOr<Literal> EvalCustomCall(const Op& op) {
  absl::string_view target = op.instruction.text(AttrId::kCustomCallTarget);
  if (IsIdentityTarget(target)) {
    if (op.count() != 1 || !op.in(0).shape().Compatible(op.shape)) {
      return Unsupported("custom call \"", target, "\" that changes the shape ",
                         "of its operand needs more than one device");
    }
    return op.Take(0);
  }
  if (target == "TopK") return EvalTopK(op);
  return CheckCustomCall(op.instruction);
}

}  // namespace eval
}  // namespace ridge
