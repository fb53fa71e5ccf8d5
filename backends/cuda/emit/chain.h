// Several small steps as one kernel: a block, or the blocks of a cluster, runs
// the steps' kernels one after another, each over its own grid in turns, with a
// barrier where a step needs what another wrote. Where each step alone would
// take less time than its launch, this is what a launch costs once.
#ifndef RIDGE_BACKENDS_CUDA_EMIT_CHAIN_H_
#define RIDGE_BACKENDS_CUDA_EMIT_CHAIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cuda/emit/emit.h"

namespace ridge::cuda {

// One link. Numbers in `arguments` are parameters of the chain.
struct ChainLink {
  enum class Kind : uint8_t {
    kKernel,  // arguments: the kernel's buffers, then its scratch arrays
    kCopy,    // arguments: from, to
    kWhile,   // bodies: condition, body; arguments: the condition's result
    kBranch,  // bodies: the branches; arguments: the selector
  };
  Kind kind = Kind::kKernel;
  std::string name;
  EmittedKernel kernel;
  std::vector<int32_t> arguments;
  size_t first_written = 0;  // arguments from here on are written
  int64_t bytes = 0;         // kCopy
  bool is_pred = false;      // kBranch: true takes branch 0; else an s32
  std::vector<std::vector<ChainLink>> bodies;
};

// A parameter of the chain. Two that overlap (begin, end in one `space`) may
// not be touched without a barrier between if one is written.
struct ChainMemory {
  int64_t space = 0;
  int64_t begin = 0;
  int64_t end = 0;
  bool is_constant = false;  // no link writes it, and it is worth fetching
  // No other launch sees it: the one block keeps it in shared memory.
  bool is_local = false;
};
inline bool Overlap(const ChainMemory& a, const ChainMemory& b) {
  return a.space == b.space && a.begin < b.end && b.begin < a.end;
}

struct Chain {
  std::string name;  // a C identifier
  std::vector<ChainLink> links;
  std::vector<ChainMemory> parameters;
  int cluster = 1;  // blocks; a power of two up to 8
  // For arrays that no link writes: bytes of dynamic shared memory.
  int64_t most_fetched = 160 << 10;
};

// Launches that one block can run in turns: no cluster, no dynamic shared
// memory, no blocks that walk over the work themselves.
bool CanChain(const EmittedKernel& kernel);
// Bytes of the arrays that the text declares in shared memory.
int64_t StaticSharedBytes(absl::string_view source);

// The chain's launch; its `arguments` are the numbers of the parameters that
// are not local.
absl::StatusOr<EmittedKernel> EmitChain(const Chain& chain);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_EMIT_CHAIN_H_
