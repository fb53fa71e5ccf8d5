#include "hlo/passes/registry.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "hlo/base/status_macros.h"
#include "hlo/passes/algebraic_simplifier.h"
#include "hlo/passes/batch_norm_expander.h"
#include "hlo/passes/bitcast_normalization.h"
#include "hlo/passes/boundary_layouts.h"
#include "hlo/passes/call_inliner.h"
#include "hlo/passes/constant_folding.h"
#include "hlo/passes/cse.h"
#include "hlo/passes/dce.h"
#include "hlo/passes/dot_operand_layouts.h"
#include "hlo/passes/moments.h"
#include "hlo/passes/pipeline.h"
#include "hlo/passes/while_passes.h"

namespace ridge {
namespace {

absl::StatusOr<bool> RunPipeline(Module* module, const PassOptions& options) {
  CanonicalizeOptions pipeline;
  pipeline.pass_options = options;
  RIDGE_RETURN_IF_ERROR(Canonicalize(module, pipeline));
  return true;
}

// Sorted by name.
constexpr Pass kPasses[] = {
    {"algebraic_simplifier",
     "identities of arithmetic, logic, conversions, shapes, reductions",
     SimplifyAlgebra},
    {"all_rules", "the rewrite rules of all passes from one worklist",
     ApplyAllRules},
    {"batch_norm_expander", "batch norms become reductions and arithmetic",
     ExpandBatchNorms},
    {"bitcast_to_reshape", "bitcasts become reshapes and transposes",
     BitcastToReshape},
    {"boundary_layouts", "copies where layouts differ between computations",
     AgreeOnLayouts},
    {"broadcast_sinking", "computes before it broadcasts", SinkBroadcasts},
    {"call_inliner", "calls become what they call", InlineCalls},
    {"canonicalize", "the whole pipeline", RunPipeline},
    {"constant_folding", "instructions of constants become constants",
     FoldConstants},
    {"convert_mover", "converts where there are fewer bytes", MoveConverts},
    {"cse", "one instruction per value", EliminateCommonSubexpressions},
    {"dce", "drops what nothing uses", EliminateDeadCode},
    {"dot_canonicalizer", "dots of matrices in memory order", CanonicalizeDots},
    {"dot_operand_layouts", "copies where layouts lie across a dot's matrices",
     LayOutDotOperands},
    {"fusion_inliner", "fusions become their bodies", InlineFusions},
    {"gather_simplifier", "gathers and scatters of few or known indices",
     SimplifyGathers},
    {"map_inliner", "elementwise maps become instructions on arrays",
     InlineMaps},
    {"merge_moments", "sums of squared distances from a mean in one pass",
     MergeMoments},
    {"reshape_to_bitcast", "reshapes that keep the buffer become bitcasts",
     ReshapeToBitcast},
    {"unit_dimension_squeezer", "computes without dimensions of size 1",
     SqueezeUnitDimensions},
    {"while_invariant_motion", "what every step repeats runs once",
     MoveLoopInvariants},
    {"while_simplifier", "loops without idle state or idle steps",
     SimplifyWhileLoops},
};

}  // namespace

absl::Span<const Pass> AllPasses() { return kPasses; }

absl::StatusOr<const Pass*> FindPass(absl::string_view name) {
  for (const Pass& pass : kPasses) {
    if (pass.name() == name) return &pass;
  }
  return absl::NotFoundError(absl::StrCat(
      "no pass is named \"", name, "\"; there are: ",
      absl::StrJoin(AllPasses(), ", ", [](std::string* out, const Pass& p) {
        absl::StrAppend(out, p.name());
      })));
}

absl::StatusOr<std::vector<const Pass*>> ParsePassList(absl::string_view list) {
  std::vector<const Pass*> result;
  for (absl::string_view name : absl::StrSplit(list, ',', absl::SkipEmpty())) {
    name = absl::StripAsciiWhitespace(name);
    if (name == "all") {
      for (const Pass& pass : kPasses) result.push_back(&pass);
      continue;
    }
    RIDGE_ASSIGN_OR_RETURN(const Pass* pass, FindPass(name));
    result.push_back(pass);
  }
  return result;
}

}  // namespace ridge
