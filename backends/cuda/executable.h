// A compiled program on a CUDA device: memory, the host loop over its steps,
// timing with device events.
#ifndef RIDGE_BACKENDS_CUDA_EXECUTABLE_H_
#define RIDGE_BACKENDS_CUDA_EXECUTABLE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/cuda/compile.h"
#include "backends/runtime/backend.h"

namespace ridge::cuda {

// `context` must outlive the executable. ResourceExhausted where the device
// cannot hold the program's buffers.
absl::StatusOr<std::unique_ptr<Executable>> MakeCudaExecutable(
    const Context& context, CompiledProgram compiled);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_EXECUTABLE_H_
