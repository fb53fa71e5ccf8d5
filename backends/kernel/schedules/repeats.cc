#include "backends/kernel/schedules/repeats.h"

#include <algorithm>
#include <numeric>

#include "absl/types/span.h"
#include "backends/kernel/schedules/geometry.h"

namespace ridge {
namespace {

// Less is read again from caches near the multiprocessors, or is too little to
// matter.
constexpr int64_t kWorthKeeping = 1 << 20;
// Shares of the last-level cache: an operand up to this large stays in it
// although other data passes through, for being read often; one up to this
// large stays if that data makes way; and what is read again after so many
// bytes is still there, whatever its size.
constexpr double kStays = 0.25;
constexpr double kStaysBesideStreams = 0.5;
constexpr double kStillThere = 0.5;

// A digit of the number of a point.
struct Digit {
  int64_t var = 0;     // of the kernel, that it is part of
  int64_t stride = 1;  // points
  int64_t extent = 1;
  int64_t within = 1;  // its weight in the variable
};

// Values of variable v after which a remainder or a division in `expr` begins
// anew.
void CollectPeriods(const IndexPool& pool, IndexId expr, int64_t v,
                    std::vector<int64_t>* periods) {
  if (((pool.VarMask(expr) >> v) & 1) == 0) return;
  const IndexNode& n = pool.node(expr);
  if (n.a >= 0) CollectPeriods(pool, n.a, v, periods);
  if (n.b >= 0) CollectPeriods(pool, n.b, v, periods);
  if (n.kind != IndexKind::kMod && n.kind != IndexKind::kFloorDiv) return;
  for (const IndexTerm& t : pool.Decompose(n.a).terms) {
    const IndexNode& atom = pool.node(t.atom);
    const int64_t period = n.value / std::gcd(n.value, std::abs(t.factor));
    if (atom.kind == IndexKind::kVar && atom.value == v) {
      periods->push_back(period);
    } else if (atom.kind == IndexKind::kFloorDiv &&
               pool.node(atom.a).kind == IndexKind::kVar &&
               pool.node(atom.a).value == v) {
      periods->push_back(SaturatingMul(period, atom.value));
    }
  }
}

// The digits of a point that `expr` may tell apart, the fastest first.
std::vector<Digit> DigitsFor(const Kernel& kernel, uint64_t mask,
                             IndexId expr) {
  std::vector<Digit> digits;
  int64_t stride = 1;
  for (int64_t v = static_cast<int64_t>(kernel.vars.size()) - 1; v >= 0; --v) {
    const int64_t extent = kernel.vars[v].extent;
    if (((mask >> v) & 1) == 0 || extent == 1) continue;
    std::vector<int64_t> periods;
    CollectPeriods(*kernel.index, expr, v, &periods);
    periods.push_back(extent);
    std::sort(periods.begin(), periods.end());
    int64_t within = 1;
    for (int64_t p : periods) {
      if (p <= within || p % within != 0 || extent % p != 0) continue;
      digits.push_back({v, stride * within, p / within, within});
      within = p;
    }
    stride *= extent;
  }
  return digits;
}

// By digit: whether the load's place depends on it.
std::vector<bool> DependsOn(const Kernel& kernel, const Node& load,
                            absl::Span<const Digit> digits, IndexPool* pool) {
  const int64_t first = static_cast<int64_t>(kernel.vars.size());
  std::vector<IndexId> replacement(kernel.vars.size(), -1);
  for (size_t d = 0; d < digits.size(); ++d) {
    IndexId& r = replacement[digits[d].var];
    if (r < 0) r = pool->Const(0);
    r = pool->Add(
        r, pool->Mul(pool->Var(first + d, digits[d].extent), digits[d].within));
  }
  const uint64_t vars =
      pool->VarMask(pool->Substitute(load.offset, replacement));
  uint64_t indices = 0;  // variables that dynamic indices depend on
  for (int32_t n : kernel.index->DynamicNodes(load.offset)) {
    indices |= kernel.nodes[n].vars;
  }
  std::vector<bool> depends(digits.size());
  for (size_t d = 0; d < digits.size(); ++d) {
    depends[d] =
        (((vars >> (first + d)) | (indices >> digits[d].var)) & 1) != 0;
  }
  return depends;
}

int64_t Width(const Kernel& kernel, int32_t buffer) {
  return StorageBytes(kernel.buffers[buffer].shape.type());
}

// Elements that a load can touch.
int64_t Touched(const Kernel& kernel, const Node& load) {
  return std::min(kernel.buffers[load.buffer].shape.ElementCount(),
                  PointCount(kernel, AllVars(kernel, load.offset)));
}

// That pass through the cache for a point, on average.
double BytesPerPoint(const Kernel& kernel, uint64_t mask) {
  const double points = static_cast<double>(PointCount(kernel, mask));
  double bytes = 0;
  for (const Node& n : kernel.nodes) {
    if (n.kind != NodeKind::kLoad) continue;
    bytes += static_cast<double>(Width(kernel, n.buffer)) *
             std::min(1.0, static_cast<double>(Touched(kernel, n)) / points);
  }
  for (const Store& s : kernel.stores) {
    if (s.vars == mask) bytes += static_cast<double>(Width(kernel, s.buffer));
  }
  return bytes;
}

bool operator==(const Meeting& a, const Meeting& b) {
  return a.points == b.points && a.count == b.count;
}

// Whether what is read again has left the cache.
bool IsFar(const Repeat& r, const WalkOrder& order, double bytes_per_point,
           const DeviceLimits& device) {
  const double cache = static_cast<double>(device.l2_bytes);
  if (static_cast<double>(r.bytes) <=
      (order.stream ? kStaysBesideStreams : kStays) * cache) {
    return false;
  }
  double apart = static_cast<double>(r.points);
  if (order.meeting.count > 1) {
    if (Meeting{r.points, r.count} == order.meeting) return false;
    // Of one repetition of those that meet: the others come in between.
    if (r.points * r.count <= order.meeting.points) {
      apart *= static_cast<double>(order.meeting.count);
    }
  }
  return apart * bytes_per_point > kStillThere * cache;
}

double FetchesOf(const std::vector<Repeat>& repeats, NodeId load,
                 const WalkOrder& order, double bytes_per_point,
                 const DeviceLimits& device) {
  double times = 1;
  for (const Repeat& r : repeats) {
    if (r.load == load && IsFar(r, order, bytes_per_point, device)) {
      times *= static_cast<double>(r.count);
    }
  }
  return times;
}

}  // namespace

std::vector<Repeat> FindRepeats(const Kernel& kernel, uint64_t mask) {
  std::vector<Repeat> repeats;
  IndexPool pool;
  const int64_t points = PointCount(kernel, mask);
  for (NodeId n = 0; n < static_cast<NodeId>(kernel.nodes.size()); ++n) {
    const Node& load = kernel.nodes[n];
    if (load.kind != NodeKind::kLoad) continue;
    const uint64_t vars = AllVars(kernel, load.offset);
    const int64_t width = Width(kernel, load.buffer);
    const int64_t touched = Touched(kernel, load);
    if ((vars & ~mask) != 0 || touched > points / 2 ||
        touched < kWorthKeeping / width) {
      continue;
    }
    const std::vector<Digit> digits = DigitsFor(kernel, mask, load.offset);
    if (kernel.vars.size() + digits.size() > 64) continue;
    if (pool.size() == 0) pool = *kernel.index;
    const std::vector<bool> depends = DependsOn(kernel, load, digits, &pool);
    int64_t elements = 1;
    for (size_t d = 0; d < digits.size(); ++d) {
      if (depends[d]) {
        elements *= digits[d].extent;
        continue;
      }
      if (d > 0 && !depends[d - 1]) {
        repeats.back().count *= digits[d].extent;
      } else {
        repeats.push_back(
            {n, digits[d].stride, digits[d].extent, elements * width});
      }
    }
  }
  return repeats;
}

double Fetches(const Kernel& kernel, uint64_t mask,
               const std::vector<Repeat>& repeats, NodeId load,
               const WalkOrder& order, const DeviceLimits& device) {
  if (repeats.empty()) return 1;
  return FetchesOf(repeats, load, order, BytesPerPoint(kernel, mask), device);
}

Meeting BestMeeting(const Kernel& kernel, uint64_t mask,
                    const std::vector<Repeat>& repeats,
                    const DeviceLimits& device,
                    const std::function<bool(const Meeting&)>& fits) {
  Meeting best;
  if (repeats.empty()) return best;
  const double bytes_per_point = BytesPerPoint(kernel, mask);
  auto fetched = [&](const Meeting& meeting) {
    double bytes = 0;
    NodeId last = -1;  // repeats of one load follow each other
    for (const Repeat& r : repeats) {
      if (r.load == last) continue;
      last = r.load;
      const Node& load = kernel.nodes[r.load];
      bytes +=
          static_cast<double>(Touched(kernel, load) *
                              Width(kernel, load.buffer)) *
          FetchesOf(repeats, r.load, {meeting, false}, bytes_per_point, device);
    }
    return bytes;
  };
  double least = fetched(best);
  for (const Repeat& r : repeats) {
    const Meeting meeting = {r.points, r.count};
    if (!IsFar(r, {}, bytes_per_point, device) || !fits(meeting)) continue;
    const double bytes = fetched(meeting);
    if (bytes >= least) continue;
    least = bytes;
    best = meeting;
  }
  return best;
}

bool StreamPays(const Kernel& kernel, uint64_t mask,
                const std::vector<Repeat>& repeats, const Meeting& meeting,
                const DeviceLimits& device) {
  if (repeats.empty()) return false;
  const double bytes_per_point = BytesPerPoint(kernel, mask);
  return std::any_of(repeats.begin(), repeats.end(), [&](const Repeat& r) {
    return IsFar(r, {meeting, false}, bytes_per_point, device) &&
           !IsFar(r, {meeting, true}, bytes_per_point, device);
  });
}

bool IsReadOnce(const Kernel& kernel, uint64_t mask, NodeId n) {
  const Node& load = kernel.nodes[n];
  if (AllVars(kernel, load.offset) != mask ||
      kernel.index->HasDynamic(load.offset)) {
    return false;
  }
  const int64_t loads = std::count_if(
      kernel.nodes.begin(), kernel.nodes.end(), [&](const Node& other) {
        return other.kind == NodeKind::kLoad && other.buffer == load.buffer;
      });
  return SaturatingMul(loads, PointCount(kernel, mask)) <=
         kernel.buffers[load.buffer].shape.ElementCount();
}

}  // namespace ridge
