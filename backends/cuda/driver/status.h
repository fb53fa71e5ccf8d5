// Error codes of NVIDIA's libraries as absl::Status.

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_STATUS_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "backends/cuda/driver/library.h"

namespace ridge::cuda {

// The status of a driver call; `what` names the call. The message reads
// "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
//
//   kUnavailable        no device, or a driver that cannot serve it
//   kResourceExhausted  out of memory, registers or shared memory
//   kInvalidArgument    a wrong value, handle or cluster size
//   kNotFound           no such kernel or global
//   kUnimplemented      the device or driver cannot do this
//   kFailedPrecondition a cubin for another device or a newer driver
//   kInternal           the rest; after a fault in a kernel, such as
//                       CUDA_ERROR_ILLEGAL_ADDRESS, the process's context is
//                       lost and every later call fails the same way
absl::Status DriverStatus(const DriverApi& api, DriverResult result,
                          absl::string_view what);

// The status of a cuBLASLt call.
absl::Status LtStatusToAbsl(LtStatus result, absl::string_view what);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_STATUS_H_
