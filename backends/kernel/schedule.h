// Schedules: the small family of ways to run a kernel. One file each in
// backends/kernel/schedules; all share this contract.
//
// What a schedule says here holds for every device: whether it can serve a
// kernel, which parameters it has, what resources a choice of them takes. The
// text is written by the emitter of a back end (backends/cuda, backends/cpu)
// from the same Kernel and the same parameters.
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULE_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/kernel/kernel.h"

namespace ridge {

// The few device facts that bound a schedule's parameters. Filled from a
// device description or from the device itself.
struct DeviceLimits {
  bool is_gpu = true;
  int multiprocessors = 132;         // or CPU cores
  int max_threads_per_block = 1024;  // 1 on a CPU
  int max_threads_per_multiprocessor = 2048;
  int max_blocks_per_multiprocessor = 32;
  int registers_per_multiprocessor = 65536;
  int max_registers_per_thread = 255;
  int64_t shared_bytes_per_block = 232448;  // opt-in maximum
  int64_t shared_bytes_per_multiprocessor = 233472;
  int64_t l2_bytes = 62914560;
  int max_cluster_blocks = 8;  // 1: no clusters
  int vector_bytes = 16;       // widest load; SIMD width on a CPU
};

// What a choice of parameters takes and moves; the cost model's input. Per
// launch, unless it says otherwise.
struct Resources {
  int64_t blocks = 0;
  int threads_per_block = 0;
  int cluster_blocks = 1;
  int64_t shared_bytes = 0;  // per block
  int registers = 0;         // per thread: estimate, or the compiler's word
  bool registers_measured = false;
  int64_t spill_bytes = 0;  // per thread, where measured
  int launches = 1;         // kernels launched (finishing kernels count)
  // Bytes asked of device memory, each operand: loads beyond the first of the
  // same byte that cannot hit a cache are counted again.
  std::vector<int64_t> bytes_per_buffer;
  // Fraction of each 32-byte sector fetched that is used, 0..1, each operand.
  std::vector<double> sector_efficiency;
  int64_t extra_bytes_written = 0;  // partials for finishing kernels
  int64_t extra_bytes_read = 0;
  // Scalar operations over the launch, by unit.
  double fma_ops = 0;      // add, multiply, min, max, compare, select, convert
  double special_ops = 0;  // exp2, log2, rsqrt, sin: one per MUFU instruction
  double integer_ops = 0;
  double double_ops = 0;
  double shuffle_ops = 0;  // warp shuffles
  double shared_ops_bytes = 0;
};

// A schedule's parameters, each with the values worth trying on a device.
struct ParameterSpace {
  struct Axis {
    std::string name;
    std::vector<int64_t> values;
  };
  std::vector<Axis> axes;
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual absl::string_view name() const = 0;
  // OK, or Unimplemented with rule, value and limit.
  virtual absl::Status CanSchedule(const Kernel& kernel,
                                   const DeviceLimits& device) const = 0;
  // Already cut to what can work; the first combination is the default.
  virtual ParameterSpace Parameters(const Kernel& kernel,
                                    const DeviceLimits& device) const = 0;
  // The choice to use when nothing was measured.
  virtual ScheduleChoice Default(const Kernel& kernel,
                                 const DeviceLimits& device) const = 0;
  virtual absl::StatusOr<Resources> Use(const Kernel& kernel,
                                        const ScheduleChoice& choice,
                                        const DeviceLimits& device) const = 0;
};

// Every schedule, in the order of preference.
absl::Span<const Schedule* const> AllSchedules();
// NotFound names the known ones.
absl::StatusOr<const Schedule*> FindSchedule(absl::string_view name);
// Whether a choice from outside (a plan) names parameters that the schedule has
// for this kernel, with values of theirs. InvalidArgument names the parameter,
// its value and what it may be. A schedule that cannot serve the kernel is not
// looked into (another one runs instead), and neither is a CPU's, which has no
// parameters.
absl::Status CheckChoice(const Kernel& kernel, const ScheduleChoice& choice,
                         const DeviceLimits& device);
// The kernel's own choice where it has one, else the default of the first
// schedule that can serve it.
absl::StatusOr<ScheduleChoice> ChooseSchedule(const Kernel& kernel,
                                              const DeviceLimits& device);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULE_H_
