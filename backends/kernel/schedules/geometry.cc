#include "backends/kernel/schedules/geometry.h"

#include <algorithm>

namespace ridge {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t NextPowerOfTwo(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

int64_t PowerDividing(int64_t n, int64_t most) {
  int64_t p = 1;
  while (p * 2 <= most && n % (p * 2) == 0) p *= 2;
  return p;
}

int64_t ParameterOr(const ScheduleChoice& choice, absl::string_view name,
                    int64_t fallback) {
  auto it = choice.parameters.find(std::string(name));
  return it == choice.parameters.end() ? fallback : it->second;
}

int64_t NaturalVector(const Kernel& kernel) {
  int64_t largest = 0;
  for (const KernelBuffer& b : kernel.buffers) {
    largest = std::max(largest, b.shape.ElementCount());
  }
  int64_t narrow = 16;
  bool bytes_alone = true;
  for (const KernelBuffer& b : kernel.buffers) {
    if (b.shape.ElementCount() < largest / 2) continue;
    const int64_t bytes = StorageBytes(b.shape.type());
    if (bytes == 1) continue;
    bytes_alone = false;
    narrow = std::min(narrow, bytes);
  }
  return std::clamp<int64_t>(16 / (bytes_alone ? 1 : narrow), 1, 8);
}

std::vector<int64_t> VectorValues(const Kernel& kernel) {
  std::vector<int64_t> values;
  for (int64_t v = NaturalVector(kernel); v >= 1; v /= 2) values.push_back(v);
  return values;
}

std::vector<int64_t> FirstOf(int64_t first, std::vector<int64_t> values) {
  values.erase(std::remove(values.begin(), values.end(), first), values.end());
  values.insert(values.begin(), first);
  return values;
}

std::vector<int64_t> VectorsDividing(const Kernel& kernel, int64_t columns) {
  std::vector<int64_t> vectors;
  for (int64_t v : VectorValues(kernel)) {
    if (columns % v == 0) vectors.push_back(v);
  }
  return vectors;
}

uint64_t MinorBit(const Kernel& kernel) {
  return uint64_t{1} << (kernel.space_vars - 1);
}

uint64_t FoldedMask(const Kernel& kernel) {
  uint64_t mask = 0;
  for (const Node& n : kernel.nodes) mask |= n.reduced;
  return mask & SpaceMask(kernel);
}

int FoldCount(const Kernel& kernel) {
  int count = 0;
  for (size_t n = 0; n < kernel.nodes.size(); ++n) {
    const Node& node = kernel.nodes[n];
    if ((node.reduced & SpaceMask(kernel)) == 0) continue;
    bool first = true;
    for (size_t m = 0; m < n && first; ++m) {
      const Node& other = kernel.nodes[m];
      first = !(
          other.kind == NodeKind::kReduce && other.operands == node.operands &&
          other.function == node.function && other.reduced == node.reduced);
    }
    count += first;
  }
  return count;
}

int PhaseCount(const Kernel& kernel) {
  int phases = 0;
  for (const Node& n : kernel.nodes) phases = std::max(phases, n.phase);
  return phases;
}

int64_t NodeBytes(const Node& node) { return StorageBytes(node.type); }

}  // namespace ridge
