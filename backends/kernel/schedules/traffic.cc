// Bytes of each buffer, and how much of each sector is used.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "backends/kernel/schedules/geometry.h"

namespace ridge {
namespace {

constexpr double kSectorBytes = 32;  // what device memory moves at least
// Share of the last-level cache that one operand's reuse may count on.
constexpr double kCacheShare = 0.25;

// Elements between neighbouring lanes; nullopt where that changes at random.
std::optional<int64_t> LaneStride(const Kernel& k, IndexId offset,
                                  int64_t lane) {
  for (int32_t d : k.index->DynamicNodes(offset)) {
    if ((k.nodes[d].vars >> lane) & 1) return std::nullopt;
  }
  return k.index->StrideOf(offset, lane);
}

bool DynamicVaries(const Kernel& k, IndexId offset, int64_t lane) {
  for (int32_t d : k.index->DynamicNodes(offset)) {
    if ((k.nodes[d].vars >> lane) & 1) return true;
  }
  return false;
}

// Fraction of the sectors fetched from device memory that is used.
double SectorUse(const Kernel& k, const DeviceLimits& device,
                 const TrafficOptions& options, IndexId offset, int64_t width) {
  const uint64_t vars = AllVars(k, offset);
  const double one = std::min(1.0, width / kSectorBytes);
  auto along = [&](int64_t v) { return ((vars >> v) & 1) != 0; };
  if (!along(options.lane_var)) return 1;
  if (DynamicVaries(k, offset, options.lane_var)) return one;
  const std::optional<int64_t> stride = LaneStride(k, offset, options.lane_var);
  if (!stride.has_value() && k.row_piece > 0) {
    const double piece = static_cast<double>(k.row_piece * width);
    return piece / (std::ceil(piece / kSectorBytes) * kSectorBytes);
  }
  // Remainders and the like: pieces, contiguous for the most part.
  if (!stride.has_value() || std::abs(*stride) <= 1) return 1;
  if (options.tile_var >= 0 &&
      k.index->StrideOf(offset, options.tile_var) == 1) {
    return 1;
  }
  const double use =
      std::max(one, 1.0 / static_cast<double>(std::abs(*stride)));
  // Another variable runs through the sector: its later points find it in the
  // cache if all sectors that one pass of the lanes touches fit.
  for (int64_t v = 0; v < k.space_vars; ++v) {
    if (v == options.lane_var || k.index->StrideOf(offset, v) != 1) continue;
    const double between =
        kSectorBytes *
        static_cast<double>(PointCount(
            k, vars & ~(uint64_t{1} << v) & ~((uint64_t{1} << v) - 1)));
    if (between <= kCacheShare * static_cast<double>(device.l2_bytes)) {
      return 1;
    }
  }
  return use;
}

}  // namespace

void CountTraffic(const Kernel& kernel, const DeviceLimits& device,
                  const TrafficOptions& options, Resources* r) {
  const size_t count = kernel.buffers.size();
  std::vector<double> bytes(count, 0), sectors(count, 0);
  std::vector<double> fetched(count, 1);
  auto touch = [&](int32_t b, IndexId offset, uint64_t vars, double fetches) {
    const Shape& shape = kernel.buffers[b].shape;
    const int64_t width = StorageBytes(shape.type());
    const double touched =
        static_cast<double>(
            std::min(shape.ElementCount(), PointCount(kernel, vars))) *
        static_cast<double>(width);
    bytes[b] += touched;
    fetched[b] = std::max(fetched[b], fetches);
    sectors[b] += touched / SectorUse(kernel, device, options, offset, width);
  };
  for (const Node& n : kernel.nodes) {
    if (n.kind != NodeKind::kLoad) continue;
    touch(n.buffer, n.offset, AllVars(kernel, n.offset),
          options.fetches ? options.fetches(n) : 1.0);
  }
  for (const Store& s : kernel.stores) {
    touch(s.buffer, s.offset, s.vars, 1.0);
    // A combining update reads what it adds to.
    if (s.combine >= 0) bytes[s.buffer] *= 2;
  }
  r->bytes_per_buffer.assign(count, 0);
  r->sector_efficiency.assign(count, 1.0);
  for (size_t b = 0; b < count; ++b) {
    if (bytes[b] == 0) continue;
    r->sector_efficiency[b] = bytes[b] / sectors[b];
    const double whole =
        static_cast<double>(kernel.buffers[b].shape.ElementCount()) *
        StorageBytes(kernel.buffers[b].shape.type());
    const double most = kernel.buffers[b].is_output ? 2 * whole : whole;
    r->bytes_per_buffer[b] =
        static_cast<int64_t>(std::min(bytes[b], most) * fetched[b]);
  }
}

}  // namespace ridge
