// The Sequential schedule: all rounds of a counted loop, a thread a point.
//
// Shape of the text:
//   what all rounds share; c0 = the carried element
//   a = loads of the first rounds
//   for (r = 0; r < WHOLE; r += UNROLL) {
//     b = a; a = loads of the rounds after these
//     each of the UNROLL rounds: values, from b, c0 and the counter; c0 = next
//   }
//   the rounds that are left, one by one
//   store c0
#include "backends/kernel/schedules/sequential.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/common.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

class SequentialEmitter {
 public:
  SequentialEmitter(const Kernel& kernel, const SequentialGeometry& g)
      : kernel_(kernel),
        loop_(*kernel.loop),
        g_(g),
        depends_(RoundDependences(kernel)),
        ahead_(LoadsAhead(kernel)),
        w_(kernel, Dialect::kCuda) {}

  absl::StatusOr<std::string> Body() {
    const std::string& index = w_.index_type();
    BindOver(&w_, SpaceMask(kernel_), w_.NewVar("e", g_.points));
    w_.Line(absl::StrCat("const ", index, " e = (", index, ")blockIdx.x * ",
                         g_.threads, " + threadIdx.x;"));
    w_.Line(absl::StrCat("if (e >= ", g_.points, ") return;"));
    w_.Line("__builtin_assume(e >= 0);");
    RIDGE_RETURN_IF_ERROR(EmitShared());
    RIDGE_RETURN_IF_ERROR(EmitInitial());
    const int64_t whole =
        ahead_.empty() ? 0 : loop_.rounds / g_.unroll * g_.unroll;
    if (whole > 0) RIDGE_RETURN_IF_ERROR(EmitWhole(whole));
    if (whole < loop_.rounds) {
      w_.Line(absl::StrCat("#pragma unroll ", std::min<int64_t>(g_.unroll, 4)));
      w_.Open(absl::StrCat("for (int64_t r = ", whole, "; r < ", loop_.rounds,
                           "; ++r) {"));
      RIDGE_RETURN_IF_ERROR(EmitRound("r", false));
      w_.Close();
    }
    RIDGE_RETURN_IF_ERROR(EmitFinal());
    return WholeFile(
        w_, absl::StrCat("extern \"C\" __global__ void __launch_bounds__(",
                         g_.threads, ") ", kernel_.name, "(",
                         w_.ParameterText("__restrict__"), ") {\n",
                         w_.TakeText(), "}\n"));
  }

 private:
  static std::string Carried(size_t c) { return absl::StrCat("c", c); }

  // What a round uses and no round changes.
  absl::Status EmitShared() {
    std::vector<NodeId> shared;
    auto use = [&](NodeId n) {
      if (n >= 0 && depends_[n] == RoundDependence::kNothing) {
        shared.push_back(n);
      }
    };
    for (size_t n = 0; n < kernel_.nodes.size(); ++n) {
      if (depends_[n] == RoundDependence::kNothing) continue;
      const Node& node = kernel_.nodes[n];
      for (NodeId o : node.operands) use(o);
      use(node.guard);
      if (node.offset < 0) continue;
      for (int32_t d : w_.pool().DynamicNodes(node.offset)) use(d);
    }
    for (const Store& s : kernel_.stores) {
      use(s.value);
      use(s.guard);
      for (int32_t d : w_.pool().DynamicNodes(s.offset)) use(d);
    }
    return w_.Emit(shared);
  }

  absl::Status EmitInitial() {
    for (size_t c = 0; c < loop_.carries.size(); ++c) {
      const CarriedLoop::Carry& carry = loop_.carries[c];
      const Store& store = kernel_.stores[carry.store];
      w_.Line(absl::StrCat(CarryType(kernel_.nodes[store.value].type), " ",
                           Carried(c), ";"));
      if (carry.loads.empty()) continue;
      // At the point of the store there is always an element, guard or not.
      const Node& load = kernel_.nodes[carry.loads[0]];
      w_.Line(absl::StrCat(
          Carried(c), " = ",
          LoadText(load.type,
                   absl::StrCat(w_.BufferName(load.buffer), "[",
                                w_.Text(w_.Bound(load.offset)), "]")),
          ";"));
    }
    return absl::OkStatus();
  }

  // The counter of round `round`, in the present scope.
  void EmitCounter(absl::string_view round) {
    if (loop_.counters.empty()) return;
    w_.Line(absl::StrCat(
        "const ", CarryType(kernel_.nodes[loop_.counters[0]].type), " i = (",
        CarryType(kernel_.nodes[loop_.counters[0]].type), ")(", loop_.start,
        " + (int64_t)", loop_.step, " * (", round, "));"));
    for (NodeId n : loop_.counters) w_.Define(n, "i");
  }

  absl::Status EmitLoads(absl::string_view first) {
    w_.Line("#pragma unroll");
    w_.Open(absl::StrCat("for (int u = 0; u < ", g_.unroll, "; ++u) {"));
    EmitCounter(absl::StrCat(first, " + u"));
    for (NodeId n : ahead_) {
      RIDGE_RETURN_IF_ERROR(w_.Emit(n));
      w_.Line(absl::StrCat("a", n, "[u] = ", w_.Name(n), ";"));
    }
    w_.Close();
    return absl::OkStatus();
  }

  absl::Status EmitWhole(int64_t whole) {
    auto declare = [&](absl::string_view prefix) {
      for (NodeId n : ahead_) {
        w_.Line(absl::StrCat(CarryType(kernel_.nodes[n].type), " ", prefix, n,
                             "[", g_.unroll, "];"));
      }
    };
    declare("a");
    RIDGE_RETURN_IF_ERROR(EmitLoads("0"));
    w_.Line("#pragma unroll 1");
    w_.Open(absl::StrCat("for (int64_t r = 0; r < ", whole,
                         "; r += ", g_.unroll, ") {"));
    declare("b");
    w_.Line("#pragma unroll");
    w_.Open(absl::StrCat("for (int u = 0; u < ", g_.unroll, "; ++u) {"));
    for (NodeId n : ahead_) {
      w_.Line(absl::StrCat("b", n, "[u] = a", n, "[u];"));
    }
    w_.Close();
    w_.Open(absl::StrCat("if (r + ", g_.unroll, " < ", whole, ") {"));
    RIDGE_RETURN_IF_ERROR(EmitLoads(absl::StrCat("r + ", g_.unroll)));
    w_.Close();
    w_.Line("#pragma unroll");
    w_.Open(absl::StrCat("for (int u = 0; u < ", g_.unroll, "; ++u) {"));
    RIDGE_RETURN_IF_ERROR(EmitRound("r + u", true));
    w_.Close();
    w_.Close();
    return absl::OkStatus();
  }

  // One round, in a scope of its own.
  absl::Status EmitRound(absl::string_view round, bool loaded) {
    EmitCounter(round);
    for (size_t c = 0; c < loop_.carries.size(); ++c) {
      for (NodeId n : loop_.carries[c].loads) w_.Define(n, Carried(c));
    }
    if (loaded) {
      for (NodeId n : ahead_) w_.Define(n, absl::StrCat("b", n, "[u]"));
    }
    for (size_t s = 0; s < kernel_.stores.size(); ++s) {
      const bool carried =
          std::any_of(loop_.carries.begin(), loop_.carries.end(),
                      [&](const CarriedLoop::Carry& c) {
                        return c.store == static_cast<int32_t>(s);
                      });
      RIDGE_RETURN_IF_ERROR(carried ? w_.Emit(kernel_.stores[s].value)
                                    : w_.EmitStore(kernel_.stores[s]));
    }
    // All values are read before any is replaced.
    for (size_t c = 0; c < loop_.carries.size(); ++c) {
      const NodeId value = kernel_.stores[loop_.carries[c].store].value;
      w_.Line(absl::StrCat("const ", CarryType(kernel_.nodes[value].type),
                           " next", c, " = ", w_.Name(value), ";"));
    }
    for (size_t c = 0; c < loop_.carries.size(); ++c) {
      w_.Line(absl::StrCat(Carried(c), " = next", c, ";"));
    }
    return absl::OkStatus();
  }

  absl::Status EmitFinal() {
    for (size_t c = 0; c < loop_.carries.size(); ++c) {
      const Store& store = kernel_.stores[loop_.carries[c].store];
      w_.Open("{");
      w_.Define(store.value, Carried(c));
      RIDGE_RETURN_IF_ERROR(w_.EmitStore(store));
      w_.Close();
    }
    return absl::OkStatus();
  }

  const Kernel& kernel_;
  const CarriedLoop& loop_;
  const SequentialGeometry g_;
  const std::vector<RoundDependence> depends_;
  const std::vector<NodeId> ahead_;
  BodyWriter w_;
};

}  // namespace

absl::StatusOr<EmittedKernel> EmitSequential(const Kernel& kernel,
                                             const ScheduleChoice& choice,
                                             const DeviceLimits& device) {
  RIDGE_RETURN_IF_ERROR(SequentialSchedule()->CanSchedule(kernel, device));
  const SequentialGeometry g = SequentialGeometryOf(kernel, choice, device);
  EmittedKernel emitted;
  emitted.choice = {"sequential",
                    {{"threads", g.threads}, {"unroll", g.unroll}}};
  RIDGE_ASSIGN_OR_RETURN(emitted.source, SequentialEmitter(kernel, g).Body());
  Launch launch;
  launch.function = kernel.name;
  launch.grid = CeilDiv(g.points, g.threads);
  launch.block = static_cast<int>(g.threads);
  emitted.launches.push_back(std::move(launch));
  return emitted;
}

}  // namespace ridge::cuda
