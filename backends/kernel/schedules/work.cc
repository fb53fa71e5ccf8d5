// Scalar operations and registers.
#include <algorithm>

#include "backends/kernel/schedules/geometry.h"

namespace ridge {
namespace {

struct CostRow {
  Opcode opcode;
  OpCost cost;
};
constexpr CostRow kCosts[] = {
    {Opcode::kExp, {6, 1}},    {Opcode::kExpm1, {20, 1}},
    {Opcode::kLog, {14, 1}},   {Opcode::kLog1p, {20, 1}},
    {Opcode::kTanh, {14, 2}},  {Opcode::kLogistic, {14, 2}},
    {Opcode::kErf, {18, 1}},   {Opcode::kDivide, {9, 1}},
    {Opcode::kSqrt, {6, 1}},   {Opcode::kRsqrt, {3, 1}},
    {Opcode::kSine, {22, 0}},  {Opcode::kCosine, {22, 0}},
    {Opcode::kPower, {60, 3}}, {Opcode::kTan, {40, 2}},
    {Opcode::kAtan2, {40, 2}}, {Opcode::kSinh, {40, 2}},
    {Opcode::kCosh, {40, 2}},  {Opcode::kAsin, {40, 2}},
    {Opcode::kAcos, {40, 2}},  {Opcode::kAsinh, {40, 2}},
    {Opcode::kAcosh, {40, 2}}, {Opcode::kAtanh, {40, 2}},
    {Opcode::kCbrt, {40, 2}},  {Opcode::kRemainder, {40, 2}},
};
// The fast form of a quotient of bf16, which rounds right.
constexpr double kBf16Divide = 3;
// Integer division is a subroutine.
constexpr double kIntegerDivide = 20;
// An f64 transcendental, in f64 operations, for each special operation of f32.
constexpr double kDoubleSpecial = 4;
// Base and scale of the index arithmetic of an access.
constexpr double kAddressOps = 2;

void AddOp(const Node& n, double times, Resources* r) {
  OpCost cost = CostOf(n.opcode);
  if (n.opcode == Opcode::kDivide && n.type == ElementType::kBF16) {
    cost.fma = kBf16Divide;
  }
  if (IsInteger(n.type)) {
    const bool divides =
        n.opcode == Opcode::kDivide || n.opcode == Opcode::kRemainder;
    r->integer_ops += times * (divides ? kIntegerDivide : 1);
    return;
  }
  if (n.type == ElementType::kF64 || n.type == ElementType::kC128) {
    r->double_ops += times * (cost.fma + kDoubleSpecial * cost.special);
    return;
  }
  // Complex operations are about four real ones; small floats round.
  const double parts = IsComplex(n.type) ? 4 : 1;
  const bool rounds = IsFloat(n.type) && Info(n.type).bits < 32;
  r->fma_ops += times * (parts * cost.fma + (rounds ? 1 : 0));
  r->special_ops += times * parts * cost.special;
}

}  // namespace

OpCost CostOf(Opcode opcode) {
  for (const CostRow& row : kCosts) {
    if (row.opcode == opcode) return row.cost;
  }
  return {};
}

double DefaultEvaluations(const Kernel& kernel, const Node& node) {
  return static_cast<double>(PointCount(kernel, node.vars | node.reduced));
}

void CountWork(const Kernel& kernel,
               const std::function<double(const Node&)>& evaluations,
               Resources* r) {
  for (const Node& n : kernel.nodes) {
    const double times =
        evaluations ? evaluations(n) : DefaultEvaluations(kernel, n);
    switch (n.kind) {
      case NodeKind::kConst:
      case NodeKind::kParameter:
        break;
      case NodeKind::kLoad:
      case NodeKind::kIndex:
        // Divisions by constants take a multiplication and shifts each.
        r->integer_ops +=
            times * (kAddressOps + kernel.index->TreeSize(n.offset) / 4);
        break;
      case NodeKind::kOp:
        AddOp(n, times, r);
        break;
      case NodeKind::kReduce:
        // The results of one fold share its function: the first pays.
        if (n.result != 0) break;
        if (kernel.functions[n.function].online) {
          // By vectors: what bringing two pairs together takes is rare.
          for (Opcode o : {Opcode::kMaximum, Opcode::kSubtract, Opcode::kExp,
                           Opcode::kAdd}) {
            Node step;
            step.opcode = o;
            AddOp(step, times, r);
          }
          break;
        }
        for (const Node& step : kernel.functions[n.function].nodes) {
          if (step.kind == NodeKind::kOp) AddOp(step, times, r);
        }
        break;
    }
  }
}

int EstimateRegisters(const Kernel& kernel, int64_t held_bytes,
                      const DeviceLimits& device) {
  constexpr int kBase = 24;  // pointers, indices, loop counters
  // Values alive: defined and still to be used, nodes in order.
  std::vector<size_t> last(kernel.nodes.size(), 0);
  for (size_t n = 0; n < kernel.nodes.size(); ++n) {
    for (NodeId o : kernel.nodes[n].operands) last[o] = n;
  }
  for (const Store& s : kernel.stores) last[s.value] = kernel.nodes.size();
  int alive = 0, most = 0;
  std::vector<int> ends(kernel.nodes.size() + 1, 0);
  for (size_t n = 0; n < kernel.nodes.size(); ++n) {
    const int words = kernel.nodes[n].kind == NodeKind::kConst
                          ? 0
                          : std::max<int>(1, NodeBytes(kernel.nodes[n]) / 4);
    alive += words;
    ends[last[n]] += words;
    most = std::max(most, alive);
    alive -= ends[n];
  }
  const int64_t total = kBase + 2 * int64_t{most} + held_bytes / 4;
  return static_cast<int>(
      std::min<int64_t>(total, device.max_registers_per_thread));
}

}  // namespace ridge
