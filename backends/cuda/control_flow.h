// Kernels that decide for a recorded graph: they set the conditions of its
// conditional nodes from values in device memory, so that no loop and no branch
// waits for the host.
#ifndef RIDGE_BACKENDS_CUDA_CONTROL_FLOW_H_
#define RIDGE_BACKENDS_CUDA_CONTROL_FLOW_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/driver/module.h"
#include "backends/cuda/driver/stream.h"

namespace ridge::cuda {

class ControlKernels {
 public:
  static absl::StatusOr<ControlKernels> Load(const Context& context);

  // The condition holds if the byte at `flag` is not zero.
  absl::Status SetIfTrue(ConditionHandle condition, DevicePtr flag,
                         const Stream& stream) const;
  // The condition holds if `branch` of `count` is the one that `selector`, a
  // pred (true: branch 0) or an s32 (out of range: the last), stands for.
  absl::Status SetIfChosen(ConditionHandle condition, DevicePtr selector,
                           bool is_pred, int32_t branch, int32_t count,
                           const Stream& stream) const;

 private:
  explicit ControlKernels(Module module) : module_(std::move(module)) {}

  Module module_;
  Function set_if_true_;
  Function set_if_chosen_;
};

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_CONTROL_FLOW_H_
