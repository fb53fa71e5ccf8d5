// A compiled program on the CPU: buffers, the host loop over its steps, and
// timing.
#ifndef RIDGE_BACKENDS_CPU_EXECUTABLE_H_
#define RIDGE_BACKENDS_CPU_EXECUTABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "backends/cpu/toolchain.h"
#include "backends/runtime/backend.h"
#include "backends/runtime/program.h"

namespace ridge {

// See emit.h.
using StageFunction = void (*)(void* const* buffers, char* scratch,
                               int64_t begin, int64_t end);

struct StageCall {
  StageFunction function = nullptr;
  int64_t units = 0;
  int64_t grain = 1;
  bool serial = false;
  std::string symbol;
};

struct StepCode {
  std::vector<StageCall> stages;  // kKernel
  bool evaluate = false;          // by the evaluator
};

struct CompiledProgram {
  Program program;
  // What each step that does work runs; steps of one group share an entry.
  absl::flat_hash_map<const Step*, size_t> index;
  std::vector<CompiledStep> steps;
  std::vector<StepCode> code;  // beside `steps`
  int64_t scratch_bytes = 0;
  std::unique_ptr<LoadedLibrary> library;  // null: nothing was generated
  std::string module_fingerprint;
  DeviceState state;
  double compile_ms = 0;
};

// Device, libraries and load, as seen now.
DeviceState CpuState();

// ResourceExhausted where the program's buffers cannot be had.
absl::StatusOr<std::unique_ptr<Executable>> MakeCpuExecutable(
    CompiledProgram compiled);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_CPU_EXECUTABLE_H_
