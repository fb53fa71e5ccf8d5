#include "backends/kernel/schedules/loop.h"

#include <algorithm>
#include <set>

#include "backends/kernel/pieces.h"
#include "backends/kernel/schedules/geometry.h"
#include "backends/kernel/schedules/table.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// Bytes of shared memory's rate that a lookup takes: a word, and the waits for
// others in the same bank (3.4 for a warp of random indices).
constexpr double kLookupBytes = 4 * 3.4;

// All stores are of the same points, none adds to others', and nothing is to be
// done before.
bool OneLaunch(const Kernel& kernel) {
  return kernel.prologue == nullptr && !kernel.stores.empty() &&
         std::all_of(
             kernel.stores.begin(), kernel.stores.end(), [&](const Store& s) {
               return s.vars == kernel.stores.front().vars && s.combine < 0;
             });
}

}  // namespace

LoopGeometry LoopGeometryOf(const Kernel& kernel, uint64_t store_vars,
                            const ScheduleChoice& choice,
                            const DeviceLimits& device) {
  LoopGeometry g;
  g.points = PointCount(kernel, store_vars);
  if (OneLaunch(kernel)) {
    const int64_t wanted = ParameterOr(choice, "table", -1);
    g.table = wanted < 0 ? TablePays(kernel, g.points, device)
                         : wanted > 0 && FindTable(kernel, device).value >= 0;
  }
  // A table leaves room for one block on a multiprocessor. Pieces, of which a
  // point has one (H200, rotary embedding: 74 us against 79), are read with
  // fewer threads, one vector each: every vector runs the text of its own. So
  // are pieces made together, of which a thread holds all.
  const bool pieces =
      HasPieces(kernel) ||
      std::any_of(kernel.nodes.begin(), kernel.nodes.end(), [](const Node& n) {
        return n.kind == NodeKind::kLoad && n.guard >= 0;
      });
  g.threads = ParameterOr(choice, "threads",
                          std::min(g.table  ? 1024
                                   : pieces ? 128
                                            : 256,
                                   device.max_threads_per_block));
  g.vector = ParameterOr(choice, "vector", NaturalVector(kernel));
  // Few points: spread them over the device before making vectors of them.
  const int64_t processors = device.multiprocessors;
  while (g.vector > 1 && g.points / g.vector < processors * 128) {
    g.vector /= 2;
  }
  // Two vectors in flight a thread hide most of the latency at full occupancy.
  g.unroll = ParameterOr(choice, "unroll", pieces ? 1 : 2);
  while (g.unroll > 1 &&
         g.points / (g.vector * g.unroll * g.threads) < processors * 4) {
    g.unroll /= 2;
  }
  if (device.is_gpu) {
    const std::vector<Repeat> repeats = FindRepeats(kernel, store_vars);
    const int64_t step = g.threads * g.vector;
    if (ParameterOr(choice, "meet", 1) != 0) {
      g.meeting =
          BestMeeting(kernel, store_vars, repeats, device,
                      [&](const Meeting& m) { return m.points % step == 0; });
    }
    while (g.meeting.count > 1 && g.meeting.points % (step * g.unroll) != 0) {
      g.unroll /= 2;
    }
    const bool pays =
        StreamPays(kernel, store_vars, repeats, g.meeting, device);
    g.stream = ParameterOr(choice, "stream", pays ? 1 : 0) > 0;
  }
  const int64_t per_block = g.threads * g.unroll * g.vector;
  g.full_blocks = g.points / per_block;
  g.tail_blocks = CeilDiv(g.points - g.full_blocks * per_block, g.threads);
  return g;
}

ScheduleChoice ChoiceOf(absl::string_view schedule, const LoopGeometry& g) {
  return {std::string(schedule),
          {{"vector", g.vector},
           {"threads", g.threads},
           {"unroll", g.unroll},
           {"table", g.table ? 1 : 0},
           {"meet", g.meeting.count > 1 ? 1 : 0},
           {"stream", g.stream ? 1 : 0}}};
}

namespace {

class Loop : public Schedule {
 public:
  absl::string_view name() const override { return "loop"; }

  absl::Status CanSchedule(const Kernel&, const DeviceLimits&) const override {
    return absl::OkStatus();
  }

  ParameterSpace Parameters(const Kernel& kernel,
                            const DeviceLimits& device) const override {
    if (!device.is_gpu) return {};
    const LoopGeometry g = LoopGeometryOf(kernel, Largest(kernel), {}, device);
    ParameterSpace space;
    std::vector<int64_t> vectors, unrolls;
    // What a small kernel would be cut down to is not worth a trial.
    for (int64_t v : VectorValues(kernel)) {
      if (v <= g.vector) vectors.push_back(v);
    }
    for (int64_t u : {1, 2, 4}) {
      if (u <= 2 * g.unroll) unrolls.push_back(u);
    }
    space.axes.push_back({"vector", FirstOf(g.vector, vectors)});
    space.axes.push_back({"threads", FirstOf(g.threads, {128, 256, 512})});
    space.axes.push_back({"unroll", FirstOf(g.unroll, unrolls)});
    std::vector<int64_t> tables = {0};
    if (OneLaunch(kernel) && FindTable(kernel, device).value >= 0) {
      tables.push_back(1);
    }
    space.axes.push_back({"table", FirstOf(g.table, tables)});
    std::vector<int64_t> meets = {0};
    if (g.meeting.count > 1) meets.push_back(1);
    space.axes.push_back({"meet", FirstOf(g.meeting.count > 1, meets)});
    space.axes.push_back({"stream", FirstOf(g.stream, {0, 1})});
    return space;
  }

  ScheduleChoice Default(const Kernel& kernel,
                         const DeviceLimits& device) const override {
    if (!device.is_gpu) return {"loop", {}};
    return ChoiceOf("loop",
                    LoopGeometryOf(kernel, Largest(kernel), {}, device));
  }

  absl::StatusOr<Resources> Use(const Kernel& kernel,
                                const ScheduleChoice& choice,
                                const DeviceLimits& device) const override {
    Resources r;
    std::set<uint64_t> masks;
    uint64_t all = 0;
    for (const Store& s : kernel.stores) {
      masks.insert(s.vars);
      all |= s.vars;
    }
    r.launches = std::max<int>(1, masks.size());
    for (uint64_t mask : masks) {
      LoopGeometry g = LoopGeometryOf(kernel, mask, choice, device);
      r.blocks += g.full_blocks + g.tail_blocks;
      r.threads_per_block = static_cast<int>(g.threads);
    }
    LoopGeometry g = LoopGeometryOf(kernel, all, choice, device);
    r.registers =
        EstimateRegisters(kernel, 16 * g.unroll * Loads(kernel), device);
    const std::vector<Context> contexts = Contexts(kernel);
    const double points = static_cast<double>(PointCount(kernel, all));
    const uint64_t lane = uint64_t{1} << (kernel.space_vars - 1);
    Table table;
    if (g.table) {
      table = FindTable(kernel, device);
      r.launches += 1;
      r.blocks = std::min<int64_t>(r.blocks, device.multiprocessors);
      r.shared_bytes = table.bytes;
      r.shared_ops_bytes = points * kLookupBytes;
      r.extra_bytes_written = table.bytes;
    }
    auto evaluations = [&](const Node& n) {
      if (g.table && table.inside[&n - kernel.nodes.data()]) {
        return static_cast<double>(table.entries);
      }
      const Context& c = contexts[&n - kernel.nodes.data()];
      const double folded = static_cast<double>(PointCount(kernel, n.reduced));
      double times = 0;
      // A vector's points share what does not vary along it.
      if (c.outside) {
        times += points * folded / ((n.vars & lane) != 0 ? 1.0 : g.vector);
      }
      if (c.inside != 0) {
        times += points * folded *
                 static_cast<double>(PointCount(kernel, c.inside & n.vars));
      }
      return times;
    };
    CountWork(kernel, evaluations, &r);
    TrafficOptions traffic;
    traffic.lane_var = LaneVar(kernel, all);
    const std::vector<Repeat> repeats = FindRepeats(kernel, all);
    traffic.fetches = [&](const Node& n) {
      const double again = Fetches(
          kernel, all, repeats, static_cast<NodeId>(&n - kernel.nodes.data()),
          {g.meeting, g.stream}, device);
      // Read again by other points' folds: from the cache, if it fits.
      const double once =
          static_cast<double>(PointCount(kernel, AllVars(kernel, n.offset)));
      const double bytes = once * static_cast<double>(NodeBytes(n));
      const bool fits = bytes <= 0.25 * static_cast<double>(device.l2_bytes);
      const bool folded = contexts[&n - kernel.nodes.data()].inside != 0;
      return fits || !folded ? again : std::max(again, evaluations(n) / once);
    };
    CountTraffic(kernel, device, traffic, &r);
    if (kernel.prologue != nullptr) {
      r.launches += 1;
      for (const Store& s : kernel.prologue->stores) {
        const Shape& shape = kernel.buffers[s.buffer].shape;
        r.extra_bytes_written +=
            shape.ElementCount() * StorageBytes(shape.type());
      }
    }
    return r;
  }

 private:
  static uint64_t Largest(const Kernel& kernel) {
    uint64_t largest = 0;
    int64_t points = -1;
    for (const Store& s : kernel.stores) {
      if (PointCount(kernel, s.vars) <= points) continue;
      points = PointCount(kernel, s.vars);
      largest = s.vars;
    }
    return largest;
  }
  // Where a node is computed: outside of all folds, once a point; and inside
  // folds over the variables of a mask, again for each point, since no thread
  // shares a value with another.
  struct Context {
    bool outside = false;
    uint64_t inside = 0;
  };
  static std::vector<Context> Contexts(const Kernel& kernel) {
    std::vector<Context> contexts(kernel.nodes.size());
    auto need = [&](NodeId n, bool outside, uint64_t inside) {
      if (n < 0) return;
      contexts[n].outside |= outside;
      contexts[n].inside |= inside;
    };
    for (const Store& s : kernel.stores) {
      need(s.value, true, 0);
      need(s.guard, true, 0);
      for (int32_t d : kernel.index->DynamicNodes(s.offset)) need(d, true, 0);
    }
    for (size_t k = kernel.nodes.size(); k-- > 0;) {
      const Node& n = kernel.nodes[k];
      const Context c = contexts[k];
      const size_t values =
          n.kind == NodeKind::kReduce ? n.operands.size() / 2 : 0;
      for (size_t o = 0; o < n.operands.size(); ++o) {
        if (o < values) {
          need(n.operands[o], false, c.inside | n.reduced);
        } else {
          need(n.operands[o], c.outside, c.inside);
        }
      }
      need(n.guard, c.outside, c.inside);
      if (n.offset < 0) continue;
      for (int32_t d : kernel.index->DynamicNodes(n.offset)) {
        need(d, c.outside, c.inside);
      }
    }
    return contexts;
  }
  // The last variable of the stores: threads run along it.
  static int64_t LaneVar(const Kernel& kernel, uint64_t mask) {
    for (int64_t v = kernel.space_vars - 1; v >= 0; --v) {
      if ((mask >> v) & 1) return v;
    }
    return 0;
  }
  static int64_t Loads(const Kernel& kernel) {
    return std::count_if(
        kernel.nodes.begin(), kernel.nodes.end(),
        [](const Node& n) { return n.kind == NodeKind::kLoad; });
  }
};

}  // namespace

const Schedule* LoopSchedule() {
  static const Loop& schedule = *new Loop;
  return &schedule;
}

}  // namespace ridge
