// Which steps of a program may run beside each other on the device: every step
// waits for those whose memory it would meet, and for nothing else. A recorded
// graph then overlaps the start of one kernel with the end of another, and runs
// many small ones at once.
#ifndef RIDGE_BACKENDS_CUDA_OVERLAP_H_
#define RIDGE_BACKENDS_CUDA_OVERLAP_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace ridge::cuda {

struct MemoryRange {
  uint64_t begin = 0;
  uint64_t end = 0;  // one past the last byte
};

struct StepMemory {
  std::vector<MemoryRange> reads;
  std::vector<MemoryRange> writes;
};

struct Placement {
  // All lanes meet in lane 0 ahead of this step.
  bool joins = false;
  // The stream the step goes to; steps of one lane run in order.
  int lane = 0;
  // Earlier steps, of other lanes and since the last meeting, to wait for.
  std::vector<size_t> waits;
};

// One placement a step, in the order given, which is an order in which they can
// run one by one. Lanes meet every kMeetingSteps steps, so that time grows
// linearly with the program.
inline constexpr size_t kMeetingSteps = 128;
std::vector<Placement> PlaceSteps(absl::Span<const StepMemory> steps,
                                  int lanes);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_OVERLAP_H_
