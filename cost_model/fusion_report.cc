#include "cost_model/fusion_report.h"

#include "cost_model/group_pricer.h"
#include "cost_model/roofline.h"
#include "hlo/base/status_macros.h"

namespace ridge {

absl::StatusOr<FusionReport> MakeFusionReport(const Module& written,
                                              const Module& canonical,
                                              const Plan& plan,
                                              const DeviceDescription& device,
                                              const PriceOptions& options) {
  FusionReport report;
  report.module = std::string(written.name());
  report.device = device.name();
  report.strategy = plan.strategy;
  report.before = UnfusedTraffic(written);
  report.after = PlanTraffic(plan);
  report.peak_bytes_before = UnfusedPeakBytes(written);
  report.peak_bytes_after = PlanPeakBytes(canonical, plan);
  for (const KernelTraffic& k : report.before.kernels) {
    Resources r;
    r.blocks = int64_t{device.multiprocessors()} * 16;
    r.threads_per_block = device.is_gpu() ? 256 : 1;
    r.launches = 1;
    r.fma_ops = static_cast<double>(k.flops);
    report.predicted_us_before +=
        PriceResources(r, k.bytes_read, k.bytes_written, device, options).us;
  }
  for (const ComputationPlan& c : plan.computations) {
    for (const Group& g : c.groups) {
      RIDGE_ASSIGN_OR_RETURN(Price price, PriceGroup(g, device, options));
      GroupReport out;
      out.name = g.name;
      out.kind = std::string(
          EnumNames(EnumId::kFusionKind)[static_cast<int>(KindOf(g.pattern))]);
      out.pattern = PatternName(g.pattern);
      out.hero = std::string(g.hero->name());
      for (const Instruction* m : g.members) {
        out.members.emplace_back(m->name());
      }
      out.bytes_read = price.bytes_read;
      out.bytes_written = price.bytes_written;
      out.flops = price.flops;
      out.predicted_us = price.us;
      out.bound = TermName(price.bound);
      for (int t = 0; t < kTermCount; ++t) {
        if (price.terms_us[t] > 0) {
          out.terms_us.emplace_back(TermName(static_cast<Term>(t)),
                                    price.terms_us[t]);
        }
      }
      report.predicted_us_after += price.us;
      report.groups.push_back(std::move(out));
    }
  }
  return report;
}

}  // namespace ridge
