#include "hlo/passes/algebraic_simplifier.h"

#include "hlo/passes/rules.h"

namespace ridge {

std::vector<absl::Span<const RewriteRule>> AllRuleTables() {
  return {TupleRules(),         ReshapeRules(),          BroadcastRules(),
          ConvertRules(),       ArithmeticRules(),       LogicRules(),
          SliceRules(),         ReduceRules(),           DotRules(),
          GatherScatterRules(), BroadcastSinkingRules(), UnitDimensionRules(),
          ConvertMoverRules()};
}

absl::StatusOr<bool> SimplifyAlgebra(Module* module,
                                     const PassOptions& options) {
  return ApplyRules(
      module,
      {TupleRules(), ReshapeRules(), BroadcastRules(), ConvertRules(),
       ArithmeticRules(), LogicRules(), SliceRules(), ReduceRules()},
      options);
}

absl::StatusOr<bool> SqueezeUnitDimensions(Module* module,
                                           const PassOptions& options) {
  return ApplyRules(module, {UnitDimensionRules()}, options);
}

absl::StatusOr<bool> SinkBroadcasts(Module* module,
                                    const PassOptions& options) {
  return ApplyRules(module, {BroadcastSinkingRules()}, options);
}

absl::StatusOr<bool> MoveConverts(Module* module, const PassOptions& options) {
  return ApplyRules(module, {ConvertMoverRules()}, options);
}

absl::StatusOr<bool> CanonicalizeDots(Module* module,
                                      const PassOptions& options) {
  return ApplyRules(module, {DotRules()}, options);
}

absl::StatusOr<bool> SimplifyGathers(Module* module,
                                     const PassOptions& options) {
  return ApplyRules(module, {GatherScatterRules()}, options);
}

absl::StatusOr<bool> ApplyAllRules(Module* module, const PassOptions& options) {
  return ApplyRules(module, AllRuleTables(), options);
}

}  // namespace ridge
