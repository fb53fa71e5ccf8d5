// Places buffers with known lifetimes into one block of memory.
#ifndef RIDGE_BACKENDS_RUNTIME_ARENA_H_
#define RIDGE_BACKENDS_RUNTIME_ARENA_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace ridge {

// A buffer of `bytes` that lives from step `first` through step `last`.
struct ArenaRequest {
  int64_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
};

struct ArenaAssignment {
  std::vector<int64_t> offsets;  // of each request, aligned
  int64_t total_bytes = 0;
};

// Offsets such that requests alive at the same step do not overlap. Requests
// are served in order of `first` (larger ones before smaller), each from the
// smallest free hole that fits. Time n log n.
ArenaAssignment AssignArenaOffsets(absl::Span<const ArenaRequest> requests,
                                   int64_t alignment);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_RUNTIME_ARENA_H_
