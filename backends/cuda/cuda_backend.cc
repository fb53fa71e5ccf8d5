// The CUDA back end: generated kernels through NVRTC, matrix products through
// cuBLASLt, both opened at run time.

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cuda/compile.h"
#include "backends/cuda/driver/nvrtc.h"
#include "backends/cuda/executable.h"
#include "backends/runtime/backend.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

class CudaBackend : public Backend {
 public:
  CudaBackend(std::unique_ptr<cuda::Context> context,
              std::unique_ptr<cuda::MatmulLibrary> library, std::string nvrtc)
      : context_(std::move(context)),
        library_(std::move(library)),
        nvrtc_(std::move(nvrtc)) {}

  absl::string_view name() const override { return "cuda"; }

  DeviceLimits limits() const override {
    return cuda::LimitsOf(context_->facts());
  }

  DeviceState state() const override {
    const cuda::DeviceFacts& f = context_->facts();
    DeviceState s;
    s.set_device(f.name);
    s.set_backend("cuda");
    s.set_driver_version(absl::StrCat(f.driver_version / 1000, ".",
                                      f.driver_version % 1000 / 10));
    s.set_compiler_version(absl::StrCat("NVRTC ", nvrtc_));
    s.set_library_version(library_ == nullptr
                              ? "no cuBLASLt"
                              : absl::StrCat("cuBLASLt ", library_->version()));
    s.set_clock_mhz(f.sm_clock_mhz);
    s.set_memory_clock_mhz(f.memory_clock_mhz);
    return s;
  }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(
      const Module& module, const Plan& plan,
      const CompileOptions& options) override {
    RIDGE_RETURN_IF_ERROR(context_->Bind());
    RIDGE_ASSIGN_OR_RETURN(
        cuda::CompiledProgram compiled,
        cuda::CompileProgram(*context_, library_.get(), module, plan, options));
    compiled.state = state();
    return cuda::MakeCudaExecutable(*context_, std::move(compiled));
  }

 private:
  std::unique_ptr<cuda::Context> context_;
  std::unique_ptr<cuda::MatmulLibrary> library_;
  std::string nvrtc_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Backend>> MakeCudaBackend() {
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<cuda::Context> context,
                         cuda::Context::Create());
  RIDGE_ASSIGN_OR_RETURN(std::string nvrtc, cuda::NvrtcVersion());
  // Without cuBLASLt products run as plain kernels; the report says so.
  absl::StatusOr<std::unique_ptr<cuda::MatmulLibrary>> library =
      cuda::MatmulLibrary::Create(*context);
  return std::make_unique<CudaBackend>(
      std::move(context), library.ok() ? *std::move(library) : nullptr,
      std::move(nvrtc));
}

}  // namespace ridge
