// NVIDIA's libraries, opened with dlopen when first asked for, so that one
// binary starts on a machine with no GPU and no CUDA, and uses what a machine
// has.
//
// What is missing is kUnavailable, with the library, every name tried and the
// loader's reason for each; callers that can do without test for that code.

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_LIBRARY_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_LIBRARY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cuda/driver/cublaslt_abi.h"
#include "backends/cuda/driver/driver_abi.h"

namespace ridge::cuda {

#define RIDGE_CUDA_FIELD(need, field, symbol, result, params) \
  result(*field) params = nullptr;

// Each table has one function pointer per symbol, named in the ABI headers,
// and says which file it came from.

struct DriverApi {
  std::string path;
  RIDGE_CUDA_DRIVER_SYMBOLS(RIDGE_CUDA_FIELD)
};

struct NvrtcApi {
  std::string path;
  int major = 0;
  int minor = 0;
  RIDGE_CUDA_NVRTC_SYMBOLS(RIDGE_CUDA_FIELD)
};

struct CublasLtApi {
  std::string path;
  size_t version = 0;  // 130100 is 13.1.0
  RIDGE_CUDA_CUBLASLT_SYMBOLS(RIDGE_CUDA_FIELD)
};

#undef RIDGE_CUDA_FIELD

// The process's tables, opened at the first call and kept for good; a failure
// is kept as well. Driver() has also called cuInit: OK means that a driver
// answers, not that there is a device.
absl::StatusOr<const DriverApi*> Driver();
absl::StatusOr<const NvrtcApi*> Nvrtc();
absl::StatusOr<const CublasLtApi*> CublasLt();

// File names and paths to try, in order: CUDA_HOME's library folders, names
// for the system's own search (LD_LIBRARY_PATH, ldconfig), then
// /usr/local/cuda. CUDA_HOME also fits NVIDIA's Python packages
// (site-packages/nvidia/cu13).
std::vector<std::string> DriverCandidates();
std::vector<std::string> NvrtcCandidates();
std::vector<std::string> CublasLtCandidates();

// Open without the cache, from the first candidate that opens and has every
// required symbol. Not followed by cuInit.
absl::StatusOr<DriverApi> LoadDriver(const std::vector<std::string>& paths);
absl::StatusOr<NvrtcApi> LoadNvrtc(const std::vector<std::string>& paths);
absl::StatusOr<CublasLtApi> LoadCublasLt(const std::vector<std::string>& paths);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_LIBRARY_H_
