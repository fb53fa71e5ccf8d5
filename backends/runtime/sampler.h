// The measuring loop that back ends on the host share.
#ifndef RIDGE_BACKENDS_RUNTIME_SAMPLER_H_
#define RIDGE_BACKENDS_RUNTIME_SAMPLER_H_

#include <chrono>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "backends/runtime/backend.h"

namespace ridge {

// Microseconds since some fixed time; never runs backwards.
double NowMicros();

// Calls `sample`, which does the work once and returns what it took in
// microseconds: options.warmup times without counting, then until budget or
// max_repetitions are used up, at least min_repetitions times. `before` runs
// ahead of each call, untimed. Cancelled where the user interrupted before
// there was one sample.
absl::StatusOr<std::vector<double>> TakeSamples(
    const MeasureOptions& options, absl::FunctionRef<void()> before,
    absl::FunctionRef<absl::StatusOr<double>()> sample);

// Pushes the caller's data out of all caches.
void FlushHostCaches();

// True where more of others' work wants to run than there are idle cores.
bool OtherLoadSeen();

}  // namespace ridge

#endif  // RIDGE_BACKENDS_RUNTIME_SAMPLER_H_
