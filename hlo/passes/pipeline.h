// Canonicalize: the passes that every module takes before fusion looks at it.
//
//   expand    calls, maps and batch norms become plain instructions
//   simplify  all rewrite rules of all passes from one worklist, then folding,
//             loops, CSE and DCE; repeated until nothing changes
//
// The result has no degenerate unit-dimension detours, no identity
// instructions, one instruction per value, dots in canonical form, and the
// same outputs.
#ifndef RIDGE_HLO_PASSES_PIPELINE_H_
#define RIDGE_HLO_PASSES_PIPELINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "hlo/passes/pass.h"
#include "hlo/verify/verify.h"

namespace ridge {

struct PassTiming {
  std::string pass;
  int64_t runs = 0;
  int64_t changes = 0;  // runs that changed the module
  absl::Duration time;
};

struct CanonicalizeStats {
  std::vector<PassTiming> passes;  // in the order of the first run
  int64_t rounds = 0;
  bool converged = true;
  RewriteStats rewrites;
};

struct CanonicalizeOptions {
#ifdef NDEBUG
  bool verify_between_passes = false;
#else
  bool verify_between_passes = true;
#endif
  // Rounds of the simplifying passes. Real modules need two to five.
  int64_t max_rounds = 16;
  PassOptions pass_options;
  CanonicalizeStats* stats = nullptr;
};

// Errors: what a pass or the verifier between passes returns, with the pass
// named; the module is then in an unspecified but safe state.
absl::Status Canonicalize(Module* module,
                          const CanonicalizeOptions& options = {});

// What a module that passes have rewritten is held to: they rename, while
// metadata names what was there before, and leave mixed precision as it was.
VerifyOptions AfterPasses();

// The passes of the two phases, in order.
absl::Span<const absl::string_view> ExpandingPasses();
absl::Span<const absl::string_view> SimplifyingPasses();

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_PIPELINE_H_
