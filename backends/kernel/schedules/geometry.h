// What the schedules share: sizes, parameters with defaults, and counts of the
// work and traffic of a kernel.
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_GEOMETRY_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_GEOMETRY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "backends/kernel/kernel.h"
#include "backends/kernel/schedule.h"

namespace ridge {

int64_t CeilDiv(int64_t a, int64_t b);
int64_t NextPowerOfTwo(int64_t n);
// The largest power of two up to `most` that divides n.
int64_t PowerDividing(int64_t n, int64_t most);

// The named parameter, or `fallback` where the choice does not have it.
int64_t ParameterOr(const ScheduleChoice& choice, absl::string_view name,
                    int64_t fallback);

// Elements of 16 bytes of the narrowest of the kernel's large buffers, bytes
// left out where there is wider data: 4 for f32, 8 for bf16; 1 to 8.
int64_t NaturalVector(const Kernel& kernel);
// That and its halves down to 1, each once: an axis for tuning.
std::vector<int64_t> VectorValues(const Kernel& kernel);
// `values` with `first` in front, each once.
std::vector<int64_t> FirstOf(int64_t first, std::vector<int64_t> values);

// Unimplemented: "<schedule>: <rule>".
template <typename... Args>
absl::Status CannotSchedule(absl::string_view schedule, const Args&... rule) {
  return absl::UnimplementedError(absl::StrCat(schedule, ": ", rule...));
}

// The power-of-two vectors of that axis that divide a row of `columns`.
std::vector<int64_t> VectorsDividing(const Kernel& kernel, int64_t columns);

// The last, contiguous variable of the space, as a mask.
uint64_t MinorBit(const Kernel& kernel);
// The variables that reductions fold over, of the space.
uint64_t FoldedMask(const Kernel& kernel);
// Number of different folds across the space (results of one fold count once).
int FoldCount(const Kernel& kernel);
// Reductions one after another: the largest phase.
int PhaseCount(const Kernel& kernel);
// Storage bytes of a node's value.
int64_t NodeBytes(const Node& node);

// ---- Work ----

// Instructions of one operation on each unit, as CUDA's libraries expand it in
// f32 (counted in their machine code, rounded).
struct OpCost {
  double fma = 1;
  double special = 0;
};
OpCost CostOf(Opcode opcode);

// Adds the scalar operations of the kernel to *resources; `evaluations` says
// how often a node is computed over the launch (for a kReduce: how many
// elements it folds), PointCount of its variables by default.
void CountWork(const Kernel& kernel,
               const std::function<double(const Node&)>& evaluations,
               Resources* resources);
double DefaultEvaluations(const Kernel& kernel, const Node& node);

// ---- Traffic ----

struct TrafficOptions {
  // The variable along which neighbouring threads lie: what coalesces.
  int64_t lane_var = 0;
  // Another one along which a tile is as wide (transposes); -1: none.
  int64_t tile_var = -1;
  // Times the bytes that a load touches are fetched from device memory.
  std::function<double(const Node&)> fetches;
};

// Fills bytes_per_buffer and sector_efficiency. A buffer's bytes are the
// elements that its accesses can touch, each access's once (times `fetches`),
// together no more than the buffer holds. Sector efficiency follows from the
// stride along lane_var, unless what else lies in a sector is used while the
// last-level cache still has it.
void CountTraffic(const Kernel& kernel, const DeviceLimits& device,
                  const TrafficOptions& options, Resources* resources);

// Registers of a thread: a base, two for each of the values alive at once as
// far as the order of the nodes tells, and `held` bytes kept besides.
int EstimateRegisters(const Kernel& kernel, int64_t held_bytes,
                      const DeviceLimits& device);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_GEOMETRY_H_
