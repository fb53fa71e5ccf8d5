// A planned module made ready for a CUDA device: buffers, emitted and compiled
// kernels, prepared matrix products.
#ifndef RIDGE_BACKENDS_CUDA_COMPILE_H_
#define RIDGE_BACKENDS_CUDA_COMPILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "backends/cuda/driver/cublaslt.h"
#include "backends/cuda/driver/device.h"
#include "backends/cuda/driver/module.h"
#include "backends/cuda/emit/emit.h"
#include "backends/runtime/backend.h"
#include "backends/runtime/program.h"

namespace ridge::cuda {

// One launch, its function loaded; parameters are addresses, bound per run.
struct ReadyLaunch {
  Function function;
  LaunchConfig config;
  std::vector<int32_t> arguments;  // as in Launch
  bool packed = false;
};

// What a step of the program runs.
struct StepCode {
  std::vector<ReadyLaunch> launches;
  std::vector<int64_t> scratch_offsets;  // in the scratch block
  std::optional<MatmulPlan> matmul;
  int matmul_algo = 0;
  bool on_host = false;  // by the evaluator, through host memory
};

struct CompiledProgram {
  Program program;
  absl::flat_hash_map<const Step*, size_t> index;
  std::vector<CompiledStep> steps;
  std::vector<StepCode> code;  // beside `steps`
  std::vector<ridge::cuda::Module> modules;
  int64_t scratch_bytes = 0;
  bool all_on_device = true;  // no step needs the host: a graph can hold it
  bool has_control = false;   // loops or branches, if the driver's graphs can
  std::string module_fingerprint;
  DeviceState state;
  double compile_ms = 0;
};

DeviceLimits LimitsOf(const DeviceFacts& facts);

absl::StatusOr<CompiledProgram> CompileProgram(const Context& context,
                                               MatmulLibrary* library,
                                               const ridge::Module& module,
                                               const Plan& plan,
                                               const CompileOptions& options);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_COMPILE_H_
