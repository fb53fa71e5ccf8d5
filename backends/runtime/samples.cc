#include "backends/runtime/samples.h"

#include <algorithm>
#include <cmath>

namespace ridge {

double Quantile(absl::Span<const double> values, double p) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  double at = p * static_cast<double>(sorted.size() - 1);
  size_t below = static_cast<size_t>(std::floor(at));
  size_t above = std::min(below + 1, sorted.size() - 1);
  double weight = at - static_cast<double>(below);
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

Samples MakeSamples(absl::Span<const double> us, bool cold_cache) {
  Samples samples;
  for (double t : us) samples.add_us(t);
  double median = Quantile(us, 0.5);
  samples.set_median_us(median);
  if (median > 0) {
    samples.set_spread((Quantile(us, 0.9) - Quantile(us, 0.1)) / median);
  }
  samples.set_cold_cache(cold_cache);
  return samples;
}

}  // namespace ridge
