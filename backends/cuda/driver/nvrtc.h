// CUDA C++ to machine code, at run time and without a GPU.
//
//   CompileRequest request;
//   request.name = "softmax";
//   request.source = "extern \"C\" __global__ void softmax(...) {...}";
//   request.arch = "sm_90a";
//   RIDGE_ASSIGN_OR_RETURN(CompiledKernel kernel, Compile(request, &cache));
//   kernel.Find("softmax")->registers;
//
// NVRTC has no headers of its own, not even <stdint.h>: a source that must
// compile on any machine includes nothing. Device intrinsics, inline PTX and
// the types of the core language are always there; __half and __nv_bfloat16
// need cuda_fp16.h and cuda_bf16.h, see CudaIncludeFolder.

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_NVRTC_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_NVRTC_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/cuda/driver/disk_cache.h"
#include "backends/cuda/driver/ptxas_log.h"

namespace ridge::cuda {

struct CompileRequest {
  // The kernel's name for messages, and the file name in the compiler's. A
  // source may hold several kernels.
  std::string name;
  std::string source;
  std::string arch;  // "sm_90a"; DeviceFacts::Arch()
  // Beyond C++17, the architecture and ptxas's report: "--fmad=false",
  // "--use_fast_math", "-lineinfo", "-I...", "-D...", "--maxrregcount=N".
  std::vector<std::string> options;
  bool want_ptx = false;
  // What the cache knows the source by; empty: by the name and the source. Two
  // requests may share it whose sources differ in names and comments alone;
  // the code that comes back may then be the other's, with its names.
  std::string content;
};

struct CompiledKernel {
  std::string name;  // of the request that was compiled
  std::string cubin;
  std::string ptx;  // if asked for
  std::string log;  // warnings and ptxas's report
  std::vector<KernelResources> kernels;
  double compile_ms = 0;  // wall time; of the first compile if from the cache
  bool from_cache = false;

  // Null if there is no such kernel.
  const KernelResources* Find(absl::string_view name) const;
};

// Errors: kUnavailable without NVRTC; kInvalidArgument where the source does
// not compile or an option is wrong, with the kernel's name, the first error
// and its source line. `cache` may be null; failures are not cached.
absl::StatusOr<CompiledKernel> Compile(const CompileRequest& request,
                                       DiskCache* cache = nullptr);

// Compiles all, on the process's threads (NVRTC 13.0 scales: 1.8 times as fast
// on two cores). Results are in the order of the requests; one failure does
// not stop the others.
std::vector<absl::StatusOr<CompiledKernel>> CompileAll(
    absl::Span<const CompileRequest> requests, DiskCache* cache = nullptr);

// The process's cache for kernels, in DefaultCacheFolder() + "/cubin".
DiskCache& KernelCache();

// "13.0".
absl::StatusOr<std::string> NvrtcVersion();
// Whether NVRTC can make code for "sm_90a" and the like.
absl::StatusOr<bool> NvrtcSupports(absl::string_view arch);

// A folder with cuda_fp16.h and cuda_bf16.h: CUDA_HOME's, the one beside the
// NVRTC in use, or /usr/local/cuda's. kNotFound with the folders searched.
absl::StatusOr<std::string> CudaIncludeFolder();

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_NVRTC_H_
