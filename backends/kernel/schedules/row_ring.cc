#include "backends/kernel/schedules/row_ring.h"

#include <algorithm>

#include "backends/kernel/schedules/geometry.h"

namespace ridge {
namespace {

// Static shared memory of a block and what the system keeps of it, at most.
constexpr int64_t kOtherSharedBytes = 4096;
// Turns beyond which more of them under way bring nothing.
constexpr int64_t kMostStages = 4;
// The least that moves to shared memory asynchronously.
constexpr int64_t kLeastCopyBytes = 4;

bool IsRowInput(const Kernel& kernel, const Node& n) {
  const uint64_t column = MinorBit(kernel);
  return n.kind == NodeKind::kLoad && (n.vars & column) != 0 &&
         (n.vars & ~column & SpaceMask(kernel)) != 0 && !IsReadAgain(kernel, n);
}

}  // namespace

bool IsReadAgain(const Kernel& kernel, const Node& load) {
  return kernel.row_piece > 0 &&
         kernel.buffers[load.buffer].shape.ElementCount() <
             PointCount(kernel, load.vars & SpaceMask(kernel));
}

int64_t HeldBytes(const Kernel& kernel, int64_t vector) {
  int64_t bytes = 0;
  for (const Node& n : kernel.nodes) {
    if (IsRowInput(kernel, n)) bytes += NodeBytes(n) * vector;
  }
  return std::max<int64_t>(bytes, 1);
}

int64_t TurnBytes(const Kernel& kernel, const RowGeometry& g) {
  return g.chunks * HeldBytes(kernel, g.vector) * g.BlockThreads();
}

int64_t MostStages(const Kernel& kernel, const RowGeometry& g,
                   const DeviceLimits& device) {
  for (const Node& n : kernel.nodes) {
    if (IsRowInput(kernel, n) && NodeBytes(n) * g.vector < kLeastCopyBytes) {
      return 0;
    }
  }
  const int64_t room =
      std::min(device.shared_bytes_per_multiprocessor / g.resident,
               device.shared_bytes_per_block) -
      kOtherSharedBytes;
  return std::min(room / TurnBytes(kernel, g), kMostStages);
}

}  // namespace ridge
