// Kernels as CUDA C++. One emitter a schedule; all read the Kernel and the
// schedule's parameters, and nothing else.
#ifndef RIDGE_BACKENDS_CUDA_EMIT_EMIT_H_
#define RIDGE_BACKENDS_CUDA_EMIT_EMIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/kernel/kernel.h"
#include "backends/kernel/schedule.h"

namespace ridge::cuda {

// One launch of an emitted function. Grids are one-dimensional.
struct Launch {
  std::string function;
  int64_t grid = 1;
  int block = 256;
  int cluster = 1;           // blocks of a thread block cluster
  int64_t shared_bytes = 0;  // dynamic
  // The blocks walk over the work: no more are launched than fit the device
  // at once.
  bool resident = false;
  // The function takes one struct of all addresses, not one by one.
  bool packed = false;
  // Parameters in order: n >= 0 is the kernel's buffer n, -1 - s is scratch s.
  std::vector<int32_t> arguments;
};

struct EmittedKernel {
  std::string source;     // a whole translation unit, prelude included
  std::string functions;  // without the prelude
  std::vector<Launch> launches;
  std::vector<int64_t> scratch_bytes;
  // Schedule with the parameters that were used.
  ScheduleChoice choice;
  // True for the form that serves every kernel and promises no speed.
  bool plain = false;
};

// Emits `kernel` under `choice`. An empty choice, or a schedule that cannot
// serve the kernel as it stands, takes the plain form.
absl::StatusOr<EmittedKernel> EmitKernel(const Kernel& kernel,
                                         const ScheduleChoice& choice,
                                         const DeviceLimits& device);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_EMIT_EMIT_H_
