#include "backends/runtime/sampler.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"
#include "hlo/base/thread_pool.h"

namespace ridge {
namespace {

// What is not timed (flushing caches) may take this many times the budget.
constexpr double kMostUntimed = 4;

bool Interrupted(const MeasureOptions& options) {
  return options.interrupted != nullptr &&
         options.interrupted->load(std::memory_order_relaxed);
}

}  // namespace

double NowMicros() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

absl::StatusOr<std::vector<double>> TakeSamples(
    const MeasureOptions& options, absl::FunctionRef<void()> before,
    absl::FunctionRef<absl::StatusOr<double>()> sample) {
  std::vector<double> us;
  double used = 0;
  const double start = NowMicros();
  for (int k = -options.warmup; k < options.max_repetitions; ++k) {
    if (Interrupted(options)) break;
    // A warm-up of a long program may use up the budget by itself.
    if (k < 0 && used > options.budget_us) k = 0;
    if (k >= options.min_repetitions &&
        (used > options.budget_us ||
         NowMicros() - start > kMostUntimed * options.budget_us)) {
      break;
    }
    before();
    RIDGE_ASSIGN_OR_RETURN(double took, sample());
    used += took;
    if (k >= 0) us.push_back(took);
    if (k == -1) used = 0;
  }
  if (us.empty()) {
    return absl::CancelledError("interrupted before anything was measured");
  }
  return us;
}

void FlushHostCaches() {
  static std::vector<char>& block = *[] {
    int64_t l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    int64_t bytes =
        std::max<int64_t>(32 << 20, std::min<int64_t>(2 * l3, 256 << 20));
    return new std::vector<char>(bytes);
  }();
  ParallelFor(0, static_cast<int64_t>(block.size()), 1 << 20,
              [&](int64_t begin, int64_t end) {
                for (int64_t k = begin; k < end; k += 64) ++block[k];
              });
}

bool OtherLoadSeen() {
  absl::StatusOr<std::string> text = ReadFile("/proc/loadavg");
  int runnable = 0;
  if (!text.ok() ||
      std::sscanf(text->c_str(), "%*f %*f %*f %d/", &runnable) != 1) {
    return false;
  }
  // One of those is this process.
  return runnable - 1 >= std::max(1, NumThreads());
}

}  // namespace ridge
