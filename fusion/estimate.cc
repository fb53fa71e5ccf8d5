#include "fusion/estimate.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/cost_counts.h"

namespace ridge {
namespace {

// What a plain kernel reaches of the streaming rate (sorts and the like go
// over their data more than once), and what transposed access through shared
// memory does.
constexpr double kPlainShare = 0.5;
constexpr double kTransposeShare = 0.85;
// Neighbours of a point, up to which a thread block's worth of rows is few.
constexpr double kRowsPerBlock = 1;

}  // namespace

GroupPrice Estimate(const Group& group, const GroupAnalysis& a,
                    const EstimateDevice& device) {
  GroupPrice p;
  p.bytes_read = a.bytes_read;
  p.bytes_written = a.bytes_written;
  for (const Instruction* m : group.members) p.flops += Flops(*m);
  double read = static_cast<double>(a.bytes_read);
  // A row too long for the chip is read again by every later pass.
  if (a.pattern == GroupPattern::kRowReduce && a.rows > 0) {
    const int passes = a.phases - 1 + (a.row_kept ? 1 : 0);
    const double row = read / static_cast<double>(a.rows);
    if (row > static_cast<double>(device.row_bytes)) read *= 1 + passes;
  }
  // Bandwidth that the kernel can use: rows are units of work where a value of
  // the whole row waits for its fold; without one, rows can be split.
  double share = 1;
  if (a.pattern == GroupPattern::kRowReduce && (a.row_kept || a.phases > 1)) {
    share = std::min(1.0, kRowsPerBlock * static_cast<double>(a.rows) /
                              static_cast<double>(device.multiprocessors));
  } else if (a.pattern == GroupPattern::kOpaque) {
    share = kPlainShare;
  } else if (a.transposed > 0) {
    share = a.folds > 0 ? kPlainShare / 2 : kTransposeShare;
  }
  const double per_us = device.gigabytes_per_s * 1e3 * std::max(share, 1e-3);
  const double read_us = read / per_us;
  const double write_us = static_cast<double>(a.bytes_written) / per_us;
  double compute_us = a.ops / (device.gigaops_per_s * 1e3 * share);
  if (a.pattern == GroupPattern::kGemm) {
    compute_us = static_cast<double>(p.flops) / (device.matrix_gigaflops * 1e3);
  }
  // Arithmetic hides behind memory where there is less of it.
  const double hidden = std::min(compute_us, read_us + write_us);
  p.terms_us = {{"launch", device.launch_us},
                {"dram_read", read_us},
                {"dram_write", write_us},
                {"compute", compute_us - hidden}};
  p.bound = "launch";
  double largest = -1;
  for (const auto& [name, us] : p.terms_us) {
    p.us += us;
    if (us > largest) {
      largest = us;
      p.bound = name;
    }
  }
  return p;
}

absl::StatusOr<GroupPrice> EstimatePricer::Price(const Group& group) {
  GroupAnalysis a = AnalyzeGroup(group.members, group.roots, limits_);
  if (!a.decision.allowed()) {
    return absl::UnimplementedError(absl::StrCat(
        group.name,
        a.at == nullptr ? "" : absl::StrCat(": %", std::string(a.at->name())),
        ": ", a.decision.ToString()));
  }
  return Estimate(group, a, device_);
}

}  // namespace ridge
