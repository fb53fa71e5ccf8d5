#include "backends/cpu/emit.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/cpu/stage_writer.h"
#include "backends/kernel/body_writer.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// Places in scratch memory.
struct Scratch {
  std::map<NodeId, Stored> stored;
  std::map<NodeId, int64_t> partial;
  int64_t bytes = 0;

  int64_t Take(int64_t count, int64_t element) {
    int64_t at = bytes;
    bytes += (SaturatingMul(count, element) + 63) / 64 * 64;
    return at;
  }
};

Scratch PlaceFolds(const Kernel& kernel, const StagePlan& plan) {
  Scratch scratch;
  if (plan.stages.size() < 2) return scratch;
  const uint64_t live = LiveVars(kernel);
  for (const Stage& stage : plan.stages) {
    for (const Fold& f : stage.folds) {
      int64_t points = PointCount(kernel, f.vars & live);
      if (IsPartial(stage, f)) {
        scratch.partial[f.any] =
            scratch.Take(SaturatingMul(points, stage.chunks), 16);
        continue;
      }
      for (NodeId n : f.results) {
        if (n >= 0) scratch.stored[n] = {scratch.Take(points, 16), f.vars};
      }
    }
  }
  return scratch;
}

absl::Status EmitInto(const Kernel& kernel, const std::string& prefix,
                      EmittedKernel* out) {
  StagePlan plan = PlanStages(kernel);
  Scratch scratch = PlaceFolds(kernel, plan);
  out->scratch_bytes = std::max(out->scratch_bytes, scratch.bytes);
  if (plan.stages.empty()) return absl::OkStatus();
  BodyWriter functions(kernel, Dialect::kHost);
  RIDGE_ASSIGN_OR_RETURN(std::string helpers, functions.FunctionsText());
  out->text += helpers;
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    EmittedStage emitted;
    emitted.symbol = absl::StrCat(prefix, "_s", s);
    emitted.units = stage.units;
    emitted.grain = StageGrain(stage);
    emitted.serial = stage.serial;
    RIDGE_ASSIGN_OR_RETURN(
        std::string text,
        StageWriter(kernel, stage, scratch.stored, scratch.partial)
            .Write(emitted.symbol));
    out->text += text;
    out->stages.push_back(std::move(emitted));
  }
  if (out->schedule.empty()) out->schedule = plan.schedule;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EmittedKernel> EmitKernel(const Kernel& kernel) {
  EmittedKernel out;
  out.text = absl::StrCat(
      "// ", absl::StrReplaceAll(ToString(kernel), {{"\n", "\n// "}}), "\n");
  if (kernel.prologue != nullptr) {
    RIDGE_RETURN_IF_ERROR(EmitInto(
        *kernel.prologue, absl::StrCat("rdg_", kernel.name, "_pre"), &out));
    out.schedule.clear();
  }
  RIDGE_RETURN_IF_ERROR(
      EmitInto(kernel, absl::StrCat("rdg_", kernel.name), &out));
  return out;
}

}  // namespace ridge
