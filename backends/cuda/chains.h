// Which steps of a program go in one launch (emit/chain.h): runs of small ones,
// and loops and branches all of whose steps are small.
#ifndef RIDGE_BACKENDS_CUDA_CHAINS_H_
#define RIDGE_BACKENDS_CUDA_CHAINS_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "backends/cuda/emit/emit.h"
#include "backends/kernel/schedule.h"
#include "backends/runtime/program.h"

namespace ridge::cuda {

// Limits for one block: what it does in about the time that a launch takes.
inline constexpr int64_t kChainBytesPerBlock = 32 << 10;
inline constexpr int64_t kChainOpsPerBlock = 1 << 17;
// Steps that one thread takes in a fold.
inline constexpr int64_t kChainFold = 512;
inline constexpr int64_t kMaxChainBlocks = 8;

// Replaces runs of small steps by kChain steps, everywhere in the program:
// their inputs and outputs are what the run reads and writes. The launch of
// each, by the step's name.
absl::StatusOr<absl::flat_hash_map<std::string, EmittedKernel>> FormChains(
    const DeviceLimits& device, Program* program);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_CHAINS_H_
