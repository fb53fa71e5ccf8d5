#include "cost_model/kernel_resources.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/kernel/schedules/geometry.h"

namespace ridge {
namespace {

constexpr int kSectorBytes = 32;  // what device memory moves at least
// The fast form of a quotient of bf16, which rounds right.
constexpr double kBf16DivideOps = 3;
constexpr int kThreads = 256;
constexpr int kElementsPerThread = 8;

}  // namespace

Resources EstimateResources(const Kernel& k, const ScheduleChoice& choice,
                            const DeviceLimits& device) {
  Resources r;
  const size_t buffers = k.buffers.size();
  r.bytes_per_buffer.assign(buffers, 0);
  r.sector_efficiency.assign(buffers, 1.0);
  const int64_t minor = std::max(0, k.space_vars - 1);
  const uint64_t minor_bit = uint64_t{1} << minor;

  auto touch = [&](int32_t buffer, IndexId offset, uint64_t vars) {
    const Shape& shape = k.buffers[buffer].shape;
    int64_t width = StorageBytes(shape.type());
    int64_t elements = std::min(shape.ElementCount(), PointCount(k, vars));
    double efficiency = 1;
    std::optional<int64_t> stride = k.index->StrideOf(offset, minor);
    bool varies = (vars & minor_bit) != 0;
    if (varies && k.pattern != GroupPattern::kTranspose) {
      int64_t step = stride.has_value() ? std::abs(*stride) : kSectorBytes;
      if (step > 1) {
        efficiency = std::max<double>(static_cast<double>(width) / kSectorBytes,
                                      1.0 / static_cast<double>(step));
        // Neighbouring rows use the rest of a sector while it is cached.
        if (shape.ByteSize() < device.l2_bytes) efficiency = 1;
      }
    }
    // One element for many points is fetched once.
    r.bytes_per_buffer[buffer] =
        std::max(r.bytes_per_buffer[buffer], elements * width);
    r.sector_efficiency[buffer] =
        std::min(r.sector_efficiency[buffer], efficiency);
  };

  int live = 0;
  int folds = 0;
  for (const Node& n : k.nodes) {
    double points = static_cast<double>(PointCount(k, n.vars));
    switch (n.kind) {
      case NodeKind::kLoad:
        touch(n.buffer, n.offset, AllVars(k, n.offset));
        r.integer_ops += points / kElementsPerThread * 4;
        break;
      case NodeKind::kIndex:
        r.integer_ops += points * 2;
        break;
      case NodeKind::kOp: {
        OpCost cost = CostOf(n.opcode);
        if (n.opcode == Opcode::kDivide && n.type == ElementType::kBF16) {
          cost.fma = kBf16DivideOps;
        }
        if (n.type == ElementType::kF64) {
          r.double_ops += points * (cost.fma + 4 * cost.special);
        } else {
          r.fma_ops += points * cost.fma;
          r.special_ops += points * cost.special;
          // Rounding to a small float type.
          if (IsFloat(n.type) && Info(n.type).bits < 32) r.fma_ops += points;
        }
        if (points > 0) ++live;
        break;
      }
      case NodeKind::kReduce: {
        double folded = static_cast<double>(PointCount(k, n.vars | n.reduced));
        r.fma_ops += folded;
        r.shuffle_ops += points * 5;
        ++folds;
        break;
      }
      default:
        break;
    }
  }
  for (const Store& s : k.stores) touch(s.buffer, s.offset, s.vars);

  auto parameter = [&](const char* name, int64_t fallback) {
    auto it = choice.parameters.find(name);
    return it == choice.parameters.end() ? fallback : it->second;
  };
  int64_t points = PointCount(k, SpaceMask(k));
  r.threads_per_block =
      device.is_gpu ? static_cast<int>(parameter("threads", kThreads)) : 1;
  r.blocks = std::max<int64_t>(
      1, points / (int64_t{r.threads_per_block} * kElementsPerThread));
  r.registers = std::min(device.max_registers_per_thread,
                         24 + 2 * std::min(live, 40) + 4 * folds);
  if (k.pattern == GroupPattern::kColumnReduce) {
    int64_t result = 0;
    for (const Store& s : k.stores) {
      result += PointCount(k, s.vars) *
                StorageBytes(k.buffers[s.buffer].shape.type());
    }
    int64_t shares = std::min<int64_t>(
        device.multiprocessors * 16,
        std::max<int64_t>(1, points / std::max<int64_t>(1, result) / 64));
    r.launches = 2;
    r.extra_bytes_written = result * shares;
    r.extra_bytes_read = result * shares;
    if (r.extra_bytes_written > r.bytes_per_buffer[0]) {
      r.extra_bytes_written = r.extra_bytes_read = r.bytes_per_buffer[0] / 16;
    }
  }
  return r;
}

}  // namespace ridge
