#include "hlo/passes/loop_analysis.h"

#include <limits>

#include "hlo/passes/value_facts.h"

namespace ridge {
namespace {

bool UsedByElementsOnly(const Instruction* parameter) {
  for (const Use& use : parameter->uses()) {
    if (use.user->opcode() != Opcode::kGetTupleElement) return false;
  }
  return !parameter->IsRoot();
}

Instruction* OnlyParameter(const Computation* c) {
  if (c == nullptr || c->root() == nullptr || c->parameters().size() != 1) {
    return nullptr;
  }
  return c->parameter(0);
}

std::optional<int64_t> ScalarInteger(const Instruction* i) {
  if (i->opcode() != Opcode::kConstant || !i->shape().IsScalar() ||
      !IsInteger(i->shape().type()) || i->literal().elided()) {
    return std::nullopt;
  }
  // Beyond 2^31 the arithmetic below could overflow; no loop counts so far.
  int64_t v = GetInt(i->literal(), 0);
  if (v > std::numeric_limits<int32_t>::max() ||
      v < std::numeric_limits<int32_t>::min()) {
    return std::nullopt;
  }
  return v;
}

// The element of `parameter` that `i` is, or nothing.
std::optional<int64_t> ElementIndex(const Instruction* i,
                                    const Instruction* parameter) {
  if (i->opcode() != Opcode::kGetTupleElement || i->operand(0) != parameter) {
    return std::nullopt;
  }
  return i->tuple_index();
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::optional<int64_t> Trips(const CountedLoop& l, ComparisonDirection d) {
  using Dir = ComparisonDirection;
  switch (d) {
    case Dir::kLt:
      if (l.start >= l.limit) return 0;
      return l.step > 0 ? std::optional(CeilDiv(l.limit - l.start, l.step))
                        : std::nullopt;
    case Dir::kLe:
      if (l.start > l.limit) return 0;
      return l.step > 0 ? std::optional(CeilDiv(l.limit - l.start + 1, l.step))
                        : std::nullopt;
    case Dir::kGt:
      if (l.start <= l.limit) return 0;
      return l.step < 0 ? std::optional(CeilDiv(l.start - l.limit, -l.step))
                        : std::nullopt;
    case Dir::kGe:
      if (l.start < l.limit) return 0;
      return l.step < 0 ? std::optional(CeilDiv(l.start - l.limit + 1, -l.step))
                        : std::nullopt;
    case Dir::kNe: {
      int64_t distance = l.limit - l.start;
      if (distance == 0) return 0;
      if (l.step == 0 || distance % l.step != 0 || distance / l.step < 0) {
        return std::nullopt;
      }
      return distance / l.step;
    }
    case Dir::kEq:
      return l.start != l.limit ? std::optional<int64_t>(0) : std::nullopt;
  }
  return std::nullopt;
}

ComparisonDirection Swapped(ComparisonDirection d) {
  using Dir = ComparisonDirection;
  switch (d) {
    case Dir::kLt:
      return Dir::kGt;
    case Dir::kLe:
      return Dir::kGe;
    case Dir::kGt:
      return Dir::kLt;
    case Dir::kGe:
      return Dir::kLe;
    default:
      return d;
  }
}

}  // namespace

std::optional<LoopState> PlainLoopState(const Instruction& loop) {
  if (loop.opcode() != Opcode::kWhile || loop.operand_count() != 1 ||
      loop.operand(0)->opcode() != Opcode::kTuple) {
    return std::nullopt;
  }
  const Computation* body = loop.computation(AttrId::kBody);
  Instruction* parameter = OnlyParameter(body);
  Instruction* condition_parameter =
      OnlyParameter(loop.computation(AttrId::kCondition));
  if (parameter == nullptr || condition_parameter == nullptr ||
      body->root()->opcode() != Opcode::kTuple ||
      body->root()->use_count() != 0 || !UsedByElementsOnly(parameter) ||
      !UsedByElementsOnly(condition_parameter)) {
    return std::nullopt;
  }
  LoopState state{loop.operand(0), parameter, body->root(),
                  condition_parameter};
  if (state.root->operand_count() != state.size() ||
      parameter->shape().tuple_shapes().size() !=
          static_cast<size_t>(state.size())) {
    return std::nullopt;
  }
  return state;
}

std::vector<bool> InvariantElements(const LoopState& state) {
  std::vector<bool> invariant(state.size(), false);
  for (int64_t k = 0; k < state.size(); ++k) {
    invariant[k] = ElementIndex(state.root->operand(k), state.parameter) == k;
  }
  return invariant;
}

std::optional<CountedLoop> AnalyzeCountedLoop(const Instruction& loop) {
  std::optional<LoopState> state = PlainLoopState(loop);
  if (!state.has_value()) return std::nullopt;
  const Instruction* compare = loop.computation(AttrId::kCondition)->root();
  if (compare->opcode() != Opcode::kCompare) return std::nullopt;
  std::vector<bool> invariant = InvariantElements(*state);
  // A number known before the loop: a constant, or an element that stays at
  // the constant it starts with.
  auto known = [&](const Instruction* i,
                   const Instruction* parameter) -> std::optional<int64_t> {
    if (auto v = ScalarInteger(i)) return v;
    std::optional<int64_t> k = ElementIndex(i, parameter);
    if (!k.has_value() || !invariant[*k]) return std::nullopt;
    return ScalarInteger(state->init->operand(*k));
  };
  auto direction =
      compare->enum_attr(AttrId::kDirection, ComparisonDirection::kEq);
  const Instruction* condition_parameter = state->condition_parameter;
  std::optional<int64_t> index =
      ElementIndex(compare->operand(0), condition_parameter);
  std::optional<int64_t> limit =
      known(compare->operand(1), condition_parameter);
  if (!index.has_value() || !limit.has_value() || invariant[*index]) {
    index = ElementIndex(compare->operand(1), condition_parameter);
    limit = known(compare->operand(0), condition_parameter);
    direction = Swapped(direction);
  }
  if (!index.has_value() || !limit.has_value()) return std::nullopt;
  CountedLoop result;
  result.index = *index;
  result.limit = *limit;
  std::optional<int64_t> start = ScalarInteger(state->init->operand(*index));
  if (!start.has_value()) return std::nullopt;
  result.start = *start;
  const Instruction* next = state->root->operand(*index);
  bool adds = next->opcode() == Opcode::kAdd;
  if (!adds && next->opcode() != Opcode::kSubtract) return std::nullopt;
  const Instruction* a = next->operand(0);
  const Instruction* b = next->operand(1);
  if (adds && ElementIndex(b, state->parameter) == *index) std::swap(a, b);
  std::optional<int64_t> step = known(b, state->parameter);
  if (ElementIndex(a, state->parameter) != *index || !step.has_value()) {
    return std::nullopt;
  }
  result.step = adds ? *step : -*step;
  std::optional<int64_t> trips = Trips(result, direction);
  if (!trips.has_value()) return std::nullopt;
  result.trip_count = *trips;
  // The last value of the counter must fit, or it wraps before it ends.
  ElementType type = next->shape().type();
  int bits = Info(type).bits - (IsSigned(type) ? 1 : 0);
  if (bits < 62) {
    int64_t last = result.start + result.trip_count * result.step;
    int64_t high = (int64_t{1} << bits) - 1;
    int64_t low = IsSigned(type) ? -high - 1 : 0;
    if (last > high || last < low) return std::nullopt;
  }
  return result;
}

std::optional<int64_t> TripCount(const Instruction& loop) {
  std::optional<CountedLoop> counted = AnalyzeCountedLoop(loop);
  if (!counted.has_value()) return std::nullopt;
  return counted->trip_count;
}

}  // namespace ridge
