// Emitted kernels to machine code, and what the compiler says of them. Needs
// NVRTC, but no GPU.
#ifndef RIDGE_BACKENDS_CUDA_KERNEL_CODE_H_
#define RIDGE_BACKENDS_CUDA_KERNEL_CODE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/cuda/driver/nvrtc.h"
#include "backends/cuda/emit/emit.h"
#include "backends/runtime/backend.h"
#include "fusion/plan.h"

namespace ridge::cuda {

struct NamedKernel {
  std::string name;  // in the names of its functions
  EmittedKernel emitted;
};

// Kernels that differ in their names alone (the updates of an optimizer's
// parameters, a kernel of two plans) share code, whose functions have the names
// of the kernel that was compiled: code->name. Emitted files have no variables
// of their own, so launches that share code share nothing else.
struct KernelCode {
  std::shared_ptr<const CompiledKernel> code;
  bool shared = false;  // it is an earlier one's of the same call
};

// Compiles all, on the process's threads; results in the order of the kernels.
std::vector<absl::StatusOr<KernelCode>> CompileKernels(
    absl::Span<const NamedKernel> kernels, absl::string_view arch,
    const CompileOptions& options);

// The name in the code of one of the kernel's functions.
std::string FunctionIn(const KernelCode& code, const NamedKernel& kernel,
                       absl::string_view function);

// Adds a kernel's functions to what was compiled for a step.
absl::Status AddBuilt(const NamedKernel& kernel, const KernelCode& code,
                      absl::string_view arch, BuiltKernel* built);

// Compiles every kernel that the plan generates for a device with these limits
// and this architecture ("sm_90a"), as its back end would. Library calls and
// what only the evaluator knows have none.
absl::StatusOr<std::vector<BuiltKernel>> BuildPlanKernels(
    const ridge::Module& module, const Plan& plan, const DeviceLimits& limits,
    absl::string_view arch, const CompileOptions& options);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_KERNEL_CODE_H_
