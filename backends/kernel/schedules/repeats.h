// Operands that a kernel reads again, and how far apart. Points are walked in
// order, the last variable fastest: a position table that repeats for every
// sequence of a batch is read once a sequence, and by then has left the cache
// if a sequence is long. Meeting is another order: the same place of all
// repetitions before the next place,
//   plain    a0 a1 a2 ... b0 b1 b2 ... c0 c1 c2 ...
//   meeting  a0 b0 c0 a1 b1 c1 a2 b2 c2 ...
// so that what they share is read from device memory once.
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_REPEATS_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_REPEATS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "backends/kernel/schedule.h"

namespace ridge {

// The load reads at point e what it reads at e + points, and so on, `count`
// times in all, in every run of points * count.
struct Repeat {
  NodeId load = -1;
  int64_t points = 0;
  int64_t count = 1;
  int64_t bytes = 0;  // that it reads in `points` points, each byte once
};

// Loads that read the same again, over the points of the variables in `mask`,
// those of small operands (less than a MiB) left out.
std::vector<Repeat> FindRepeats(const Kernel& kernel, uint64_t mask);

// The order of the points: count 1 is the plain one.
struct Meeting {
  int64_t points = 0;
  int64_t count = 1;
};

struct WalkOrder {
  Meeting meeting;
  // What is touched once makes way for the rest in the last-level cache.
  bool stream = false;
};

// How often a load's bytes come from device memory in that order.
double Fetches(const Kernel& kernel, uint64_t mask,
               const std::vector<Repeat>& repeats, NodeId load,
               const WalkOrder& order, const DeviceLimits& device);

// The meeting that saves most, of those that `fits`; the plain order if none
// saves.
Meeting BestMeeting(const Kernel& kernel, uint64_t mask,
                    const std::vector<Repeat>& repeats,
                    const DeviceLimits& device,
                    const std::function<bool(const Meeting&)>& fits);

// Whether in that order some operand leaves the cache between its reads that
// would stay if the rest made way.
bool StreamPays(const Kernel& kernel, uint64_t mask,
                const std::vector<Repeat>& repeats, const Meeting& meeting,
                const DeviceLimits& device);

// Whether the load's operand has an element for each load of it at each point:
// as a rule then none is loaded twice. For hints only.
bool IsReadOnce(const Kernel& kernel, uint64_t mask, NodeId load);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_REPEATS_H_
