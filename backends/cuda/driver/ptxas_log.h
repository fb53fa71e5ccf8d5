// What ptxas says of each kernel, read from NVRTC's log.

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_PTXAS_LOG_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_PTXAS_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ridge::cuda {

// One kernel's needs, from --ptxas-options=-v. Per thread unless it says
// otherwise. Device functions that were not inlined are not in the list; what
// their stack takes is in cumulative_stack_bytes of their callers.
struct KernelResources {
  std::string name;  // as in the cubin
  int registers = 0;
  int64_t stack_bytes = 0;             // local arrays and spill slots
  int64_t cumulative_stack_bytes = 0;  // with the functions that it calls
  int64_t spill_store_bytes = 0;    // bytes of store instructions, not executed
  int64_t spill_load_bytes = 0;     // bytes; likewise
  int64_t static_shared_bytes = 0;  // per block
  int barriers = 0;                 // named barriers, per block
  double ptxas_ms = 0;              // 0 if the log does not say

  bool Spills() const { return spill_store_bytes > 0 || spill_load_bytes > 0; }
};

// Kernels in the order of the log, which is by name. Lines that are neither
// known nor needed are skipped.
std::vector<KernelResources> ParsePtxasLog(absl::string_view log);

// The first error in a compiler's log, with the source line that follows it
// where there is one: 'k(3): error: identifier "zz" is undefined: p[0]=zz;'.
// Warnings and remarks are skipped. Empty if there is no error.
std::string FirstError(absl::string_view log);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_PTXAS_LOG_H_
