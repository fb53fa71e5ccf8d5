#include "backends/cuda/overlap.h"

#include <algorithm>

namespace ridge::cuda {
namespace {

bool Meet(absl::Span<const MemoryRange> a, absl::Span<const MemoryRange> b) {
  for (const MemoryRange& x : a) {
    for (const MemoryRange& y : b) {
      if (x.begin < y.end && y.begin < x.end) return true;
    }
  }
  return false;
}

bool Conflict(const StepMemory& a, const StepMemory& b) {
  return Meet(a.writes, b.writes) || Meet(a.writes, b.reads) ||
         Meet(a.reads, b.writes);
}

}  // namespace

std::vector<Placement> PlaceSteps(absl::Span<const StepMemory> steps,
                                  int lanes) {
  std::vector<Placement> placed(steps.size());
  constexpr size_t kNone = static_cast<size_t>(-1);
  std::vector<size_t> tail(lanes, kNone);  // the last step of each lane
  size_t start = 0;
  for (size_t k = 0; k < steps.size(); ++k) {
    Placement& p = placed[k];
    if (k - start == kMeetingSteps) {
      p.joins = true;
      start = k;
      std::fill(tail.begin(), tail.end(), kNone);
    }
    // The latest conflicting step of each lane stands for the earlier ones.
    std::vector<size_t> latest(lanes, kNone);
    for (size_t e = start; e < k; ++e) {
      if (!Conflict(steps[e], steps[k])) continue;
      latest[placed[e].lane] = e;
    }
    // Behind one it waits for, if nothing else is there yet.
    bool behind = false;
    for (int l = 0; l < lanes; ++l) {
      if (latest[l] == kNone || latest[l] != tail[l]) continue;
      p.lane = l;
      behind = true;
    }
    if (!behind) {
      // A lane that is free, else the one that was given work longest ago.
      p.lane =
          static_cast<int>(std::min_element(tail.begin(), tail.end(),
                                            [&](size_t a, size_t b) {
                                              return (a == kNone ? 0 : a + 1) <
                                                     (b == kNone ? 0 : b + 1);
                                            }) -
                           tail.begin());
    }
    for (int l = 0; l < lanes; ++l) {
      if (l != p.lane && latest[l] != kNone) p.waits.push_back(latest[l]);
    }
    tail[p.lane] = k;
  }
  return placed;
}

}  // namespace ridge::cuda
