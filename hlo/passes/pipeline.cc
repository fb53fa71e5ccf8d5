#include "hlo/passes/pipeline.h"

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "hlo/base/status_macros.h"
#include "hlo/passes/registry.h"

namespace ridge {
namespace {

constexpr absl::string_view kExpanding[] = {
    "call_inliner",
    "map_inliner",
    "batch_norm_expander",
    "bitcast_to_reshape",
};

// The rules first, because they make the rest small; CSE after them, because
// they make equal what was only equivalent; DCE last, for what all left over.
constexpr absl::string_view kSimplifying[] = {
    "all_rules",
    "constant_folding",
    "call_inliner",
    "while_simplifier",
    "while_invariant_motion",
    "cse",
    "dce",
};

// Last, since rules would take back what they do, or not see through it.
constexpr absl::string_view kFinishing[] = {
    "merge_moments",
    "dce",
    "dot_operand_layouts",
    "boundary_layouts",
};

class Runner {
 public:
  Runner(Module* module, const CanonicalizeOptions& options)
      : module_(module),
        options_(options),
        pass_options_(options.pass_options) {
    pass_options_.stats = &stats_.rewrites;
  }

  absl::StatusOr<bool> Run(absl::string_view name) {
    RIDGE_ASSIGN_OR_RETURN(const Pass* pass, FindPass(name));
    PassTiming& timing = TimingOf(name);
    absl::Time start = absl::Now();
    absl::StatusOr<bool> changed = pass->Run(module_, pass_options_);
    timing.time += absl::Now() - start;
    ++timing.runs;
    if (!changed.ok()) {
      return Annotate(changed.status(), absl::StrCat("pass ", name));
    }
    if (*changed) ++timing.changes;
    if (*changed && options_.verify_between_passes) {
      RIDGE_RETURN_IF_ERROR(Annotate(VerifyStatus(*module_, AfterPasses()),
                                     absl::StrCat("after pass ", name)));
    }
    return changed;
  }

  absl::Status RunAll() {
    for (absl::string_view name : kExpanding) {
      RIDGE_RETURN_IF_ERROR(Run(name).status());
    }
    bool changed = true;
    while (changed && stats_.rounds < options_.max_rounds) {
      ++stats_.rounds;
      changed = false;
      for (absl::string_view name : kSimplifying) {
        RIDGE_ASSIGN_OR_RETURN(bool c, Run(name));
        changed |= c;
      }
    }
    stats_.converged = !changed && stats_.rewrites.converged;
    for (absl::string_view name : kFinishing) {
      RIDGE_RETURN_IF_ERROR(Run(name).status());
    }
    return absl::OkStatus();
  }

  CanonicalizeStats&& TakeStats() { return std::move(stats_); }

 private:
  PassTiming& TimingOf(absl::string_view name) {
    for (PassTiming& t : stats_.passes) {
      if (t.pass == name) return t;
    }
    PassTiming timing;
    timing.pass = std::string(name);
    stats_.passes.push_back(std::move(timing));
    return stats_.passes.back();
  }

  Module* module_;
  const CanonicalizeOptions& options_;
  PassOptions pass_options_;
  CanonicalizeStats stats_;
};

}  // namespace

absl::Span<const absl::string_view> ExpandingPasses() { return kExpanding; }
absl::Span<const absl::string_view> SimplifyingPasses() { return kSimplifying; }

VerifyOptions AfterPasses() {
  VerifyOptions verify;
  verify.allow_mixed_precision = true;
  verify.verify_names_unchanged = false;
  return verify;
}

absl::Status Canonicalize(Module* module, const CanonicalizeOptions& options) {
  if (module->entry() == nullptr) {
    return absl::InvalidArgumentError("the module has no entry computation");
  }
  Runner runner(module, options);
  absl::Status status = runner.RunAll();
  CanonicalizeStats stats = runner.TakeStats();
  if (options.pass_options.stats != nullptr) {
    *options.pass_options.stats = stats.rewrites;
  }
  if (options.stats != nullptr) *options.stats = std::move(stats);
  return status;
}

}  // namespace ridge
