// Statistics of repeated timings.
#ifndef RIDGE_BACKENDS_RUNTIME_SAMPLES_H_
#define RIDGE_BACKENDS_RUNTIME_SAMPLES_H_

#include <vector>

#include "absl/types/span.h"
#include "backends/runtime/measurement.pb.h"

namespace ridge {

// The p-quantile (0..1) of `values`, linear between neighbours; 0 of none.
double Quantile(absl::Span<const double> values, double p);

// Median, and spread (p90 - p10) / median, of times in microseconds. An empty
// list, and a median of 0, give spread 0.
Samples MakeSamples(absl::Span<const double> us, bool cold_cache);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_RUNTIME_SAMPLES_H_
