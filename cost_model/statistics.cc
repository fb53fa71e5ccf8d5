#include "cost_model/statistics.h"

#include <cmath>
#include <cstdint>

namespace ridge {

double MeanAbsolutePercentageError(absl::Span<const double> predicted,
                                   absl::Span<const double> measured) {
  double sum = 0;
  int64_t count = 0;
  for (size_t i = 0; i < predicted.size(); ++i) {
    if (!(measured[i] > 0)) continue;
    sum += std::fabs(predicted[i] - measured[i]) / measured[i];
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

double KendallTau(absl::Span<const double> a, absl::Span<const double> b) {
  int64_t agree = 0;
  int64_t only_a = 0;  // pairs tied in b but not in a
  int64_t only_b = 0;
  int64_t disagree = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = i + 1; j < a.size(); ++j) {
      double x = a[i] - a[j];
      double y = b[i] - b[j];
      if (x == 0 && y == 0) continue;
      if (x == 0) {
        ++only_b;
      } else if (y == 0) {
        ++only_a;
      } else if ((x > 0) == (y > 0)) {
        ++agree;
      } else {
        ++disagree;
      }
    }
  }
  double pairs = static_cast<double>(agree + disagree);
  double scale = std::sqrt((pairs + only_a) * (pairs + only_b));
  return scale == 0 ? 0 : static_cast<double>(agree - disagree) / scale;
}

}  // namespace ridge
