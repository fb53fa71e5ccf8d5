// Writes a kernel's stages as host C++.
//
// Each stage is a function
//   extern "C" void SYMBOL(void* const* rdg_b, char* rdg_s,
//                          int64_t rdg_begin, int64_t rdg_end);
// that runs units [rdg_begin, rdg_end): rdg_b holds the kernel's buffers in
// order, rdg_s is scratch memory that the kernel's stages share.
#ifndef RIDGE_BACKENDS_CPU_EMIT_H_
#define RIDGE_BACKENDS_CPU_EMIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/stages.h"
#include "backends/kernel/kernel.h"

namespace ridge {

struct EmittedStage {
  std::string symbol;
  int64_t units = 0;
  int64_t grain = 1;
  bool serial = false;
};

struct EmittedKernel {
  std::string text;
  std::vector<EmittedStage> stages;
  int64_t scratch_bytes = 0;
  std::string schedule;
};

// What every translation unit begins with: functions of floats, the scalar
// prelude and the folds of blocks.
std::string HostPrelude();
// The first of these (host_math.cc).
std::string HostMath();

// Errors: Unimplemented, naming the instruction, where a node has no scalar
// code.
absl::StatusOr<EmittedKernel> EmitKernel(const Kernel& kernel);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_CPU_EMIT_H_
