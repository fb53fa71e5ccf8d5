#include "cost_model/group_pricer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/kernel/gemm.h"
#include "backends/kernel/schedule.h"
#include "backends/kernel/schedules/geometry.h"
#include "cost_model/gemm_model.h"
#include "cost_model/roofline.h"
#include "fusion/instruction_traits.h"
#include "hlo/analysis/cost_counts.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// What a plain kernel or a library's less tuned routine reaches of the
// streaming rate: sorts, transforms and the like pass over their data more
// than once.
constexpr double kPlainShare = 0.5;

Price PriceOpaque(const Group& group, const DeviceDescription& device,
                  const PriceOptions& options) {
  Resources r;
  r.blocks = device.multiprocessors() * 8;
  r.threads_per_block = device.is_gpu() ? 256 : 1;
  int64_t read = 0;
  int64_t written = 0;
  for (const Instruction* i : GroupInputs(group)) {
    read += i->shape().ByteSize();
  }
  for (const Instruction* i : group.roots) written += i->shape().ByteSize();
  int64_t flops = 0;
  for (const Instruction* i : group.members) flops += Flops(*i);
  r.fma_ops = static_cast<double>(flops) / 2 / kPlainShare;
  Price p = PriceResources(r, static_cast<int64_t>(read / kPlainShare),
                           static_cast<int64_t>(written / kPlainShare), device,
                           options);
  p.bytes_read = read;
  p.bytes_written = written;
  p.flops = flops;
  return p;
}

// Whether all but one of the members ride along.
bool ComputesOne(const Group& group) {
  return std::count_if(group.members.begin(), group.members.end(),
                       [](const Instruction* i) { return !RidesAlong(*i); }) <=
         1;
}

// Several instructions in a kernel that no schedule is made for: reductions
// across the space inside of a thread each; on a CPU rows in pieces, whose
// elements no vector reads.
bool IsNeedlesslyPlain(const Group& group, const Kernel& kernel,
                       const DeviceLimits& limits) {
  if (FoldedMask(kernel) == 0 || ComputesOne(group)) return false;
  if (!limits.is_gpu) return kernel.row_piece > 0;
  absl::StatusOr<ScheduleChoice> choice = ChooseSchedule(kernel, limits);
  return !choice.ok() || choice->name == "loop";
}

std::string Key(const Group& group) {
  std::string key =
      absl::StrCat(static_cast<int>(group.pattern), ":", group.schedule.name);
  for (const auto& [name, value] : group.schedule.parameters) {
    absl::StrAppend(&key, ",", name, "=", value);
  }
  for (const Instruction* i : group.members)
    absl::StrAppend(&key, " ", i->id());
  absl::StrAppend(&key, ">");
  for (const Instruction* i : group.roots) absl::StrAppend(&key, " ", i->id());
  return key;
}

}  // namespace

absl::StatusOr<Price> PriceGroup(const Group& group,
                                 const DeviceDescription& device,
                                 const PriceOptions& options) {
  if (group.pattern == GroupPattern::kOpaque) {
    return PriceOpaque(group, device, options);
  }
  if (group.pattern == GroupPattern::kGemm) {
    absl::StatusOr<GemmLowering> gemm = LowerGemm(group);
    if (gemm.ok()) return PriceGemm(gemm->step, device, options);
    return PriceOpaque(group, device, options);
  }
  absl::StatusOr<Kernel> kernel = BuildKernel(group);
  if (absl::IsUnimplemented(kernel.status()) && ComputesOne(group)) {
    // Runs as it is, on whatever plain routine there is for it.
    return PriceOpaque(group, device, options);
  }
  RIDGE_RETURN_IF_ERROR(kernel.status());
  if (options.refuse_plain &&
      IsNeedlesslyPlain(group, *kernel, LimitsOf(device))) {
    return absl::UnimplementedError(
        absl::StrCat(group.name, ": no schedule serves it as a whole"));
  }
  RIDGE_ASSIGN_OR_RETURN(ridge::Price price,
                         PriceKernel(*kernel, group.schedule, device, options));
  price.flops = 0;
  for (const Instruction* i : group.members) price.flops += Flops(*i);
  return price;
}

absl::StatusOr<GroupPrice> CostModelPricer::Price(const Group& group) {
  std::string key = Key(group);
  auto it = known_.find(key);
  if (it != known_.end()) return it->second;
  PriceOptions options = options_;
  options.refuse_plain = true;
  absl::StatusOr<ridge::Price> price = PriceGroup(group, device_, options);
  absl::StatusOr<GroupPrice> result;
  if (!price.ok()) {
    result = price.status();
  } else {
    GroupPrice g;
    g.us = price->us;
    g.bytes_read = price->bytes_read;
    g.bytes_written = price->bytes_written;
    g.flops = price->flops;
    g.bound = TermName(price->bound);
    for (int t = 0; t < kTermCount; ++t) {
      if (price->terms_us[t] > 0) {
        g.terms_us.emplace_back(TermName(static_cast<Term>(t)),
                                price->terms_us[t]);
      }
    }
    g.registers = price->resources.registers;
    g.spills = price->resources.spill_bytes > 0;
    result = std::move(g);
  }
  known_.emplace(std::move(key), result);
  return result;
}

}  // namespace ridge
