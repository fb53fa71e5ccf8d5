#include "backends/kernel/sequential.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "backends/kernel/builder.h"
#include "hlo/base/status_macros.h"
#include "hlo/passes/loop_analysis.h"

namespace ridge {
namespace {

// Rounds through which the offsets of an update are followed.
constexpr int64_t kMostFollowed = 1 << 16;

// The body as one group. Its inputs are elements of the state and constants of
// several values; its roots what the body leaves in the state, but for the
// counter and what no round changes.
absl::StatusOr<Group> BodyGroup(const Instruction& loop, const LoopState& state,
                                const CountedLoop& counted,
                                std::vector<int64_t>* output_element) {
  const Computation& body = *loop.computation(AttrId::kBody);
  Group group;
  // No name of HLO's is one of C's then: instructions are called "while".
  group.name = absl::StrCat("loop_", Identifier(loop.name()));
  group.pattern = GroupPattern::kLoop;
  group.hero = body.root();
  for (const Instruction* i : body.instructions()) {
    if (i == state.parameter || i == state.root) continue;
    if (i->opcode() == Opcode::kGetTupleElement &&
        i->operand(0) == state.parameter) {
      continue;
    }
    if (i->opcode() == Opcode::kConstant && !ConstantNode(*i).ok()) continue;
    group.members.push_back(i);
  }
  const std::vector<bool> invariant = InvariantElements(state);
  absl::flat_hash_set<const Instruction*> seen;
  for (int64_t k = 0; k < state.size(); ++k) {
    if (!loop.shape().tuple_shape(k).IsArray()) {
      return Refuse(loop, absl::StrCat("element ", k, " is no array"));
    }
    if (invariant[k] || k == counted.index) continue;
    const Instruction* next = state.root->operand(k);
    if (next->opcode() == Opcode::kGetTupleElement) {
      return Refuse(loop, absl::StrCat("element ", k, " becomes another"));
    }
    if (!seen.insert(next).second) {
      return Refuse(loop, absl::StrCat("element ", k, " equals another"));
    }
    if (next->opcode() == Opcode::kScatter) {
      return Refuse(loop, absl::StrCat("element ", k, " is scattered to"));
    }
    if (next->opcode() == Opcode::kDynamicUpdateSlice) {
      group.pattern = GroupPattern::kScatter;
    }
    group.roots.push_back(next);
    output_element->push_back(k);
  }
  return group;
}

// Values of integer nodes of a kernel in one round, as far as they follow from
// constants and the counter.
class RoundValues {
 public:
  RoundValues(const Kernel& kernel, int64_t counter)
      : k_(kernel), counter_(counter) {}

  // No recursion beyond the depth of an index: a handful of nodes.
  std::optional<int64_t> Of(NodeId n, int depth = 0) const {
    const Node& node = k_.nodes[n];
    if (!IsInteger(node.type) && !IsPred(node.type)) return std::nullopt;
    const std::vector<NodeId>& counters = k_.loop->counters;
    if (std::find(counters.begin(), counters.end(), n) != counters.end()) {
      return counter_;
    }
    if (node.kind == NodeKind::kConst) return Constant(node);
    if (node.kind != NodeKind::kOp || depth > 16) return std::nullopt;
    std::vector<int64_t> v;
    for (NodeId o : node.operands) {
      std::optional<int64_t> value = Of(o, depth + 1);
      if (!value.has_value()) return std::nullopt;
      v.push_back(*value);
    }
    std::optional<int64_t> result = Apply(node, v);
    // Within 31 bits nothing has wrapped, whatever the type.
    if (!result.has_value() || *result > std::numeric_limits<int32_t>::max() ||
        *result < std::numeric_limits<int32_t>::min() ||
        Info(node.type).bits < 32) {
      return IsPred(node.type) ? result : std::nullopt;
    }
    return result;
  }

 private:
  static std::optional<int64_t> Constant(const Node& node) {
    const int shift = 64 - 8 * StorageBytes(node.type);
    const int64_t raw = static_cast<int64_t>(node.bits << shift);
    if (IsSigned(node.type)) return raw >> shift;
    return node.bits > std::numeric_limits<int32_t>::max()
               ? std::nullopt
               : std::optional<int64_t>(static_cast<int64_t>(node.bits));
  }

  static std::optional<int64_t> Apply(const Node& node,
                                      const std::vector<int64_t>& v) {
    switch (node.opcode) {
      case Opcode::kAdd:
        return v[0] + v[1];
      case Opcode::kSubtract:
        return v[0] - v[1];
      case Opcode::kMultiply:
        return v[0] * v[1];
      case Opcode::kMaximum:
        return std::max(v[0], v[1]);
      case Opcode::kMinimum:
        return std::min(v[0], v[1]);
      case Opcode::kConvert:
        return v[0];
      case Opcode::kSelect:
        return v[0] != 0 ? v[1] : v[2];
      case Opcode::kCompare:
        switch (node.direction) {
          case ComparisonDirection::kEq:
            return v[0] == v[1];
          case ComparisonDirection::kNe:
            return v[0] != v[1];
          case ComparisonDirection::kLt:
            return v[0] < v[1];
          case ComparisonDirection::kLe:
            return v[0] <= v[1];
          case ComparisonDirection::kGt:
            return v[0] > v[1];
          case ComparisonDirection::kGe:
            return v[0] >= v[1];
        }
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  const Kernel& k_;
  int64_t counter_;
};

// Whether no two points of a dynamic-update-slice write one element, in
// whatever rounds: threads do not wait for each other between rounds. So it is
// where the offset tells its parts, as a number tells its digits.
bool PlacesStayApart(const IndexPool& pool, IndexId offset) {
  IndexSum sum = pool.Decompose(offset);
  std::sort(sum.terms.begin(), sum.terms.end(),
            [](const IndexTerm& x, const IndexTerm& y) {
              return x.factor < y.factor;
            });
  int64_t span = 0;
  for (const IndexTerm& t : sum.terms) {
    const IndexRange range = pool.range(t.atom);
    if (t.factor <= span) return false;
    span += t.factor * (range.hi - range.lo);
  }
  return true;
}

// Whether the rounds' updates together write every element: the offset is
// stride * d + (all of [0, stride)), and d takes all values that it can have.
bool WritesAll(const Kernel& kernel, const Store& store) {
  if (store.guard >= 0 || kernel.loop->rounds > kMostFollowed) return false;
  const IndexPool& pool = *kernel.index;
  IndexSum sum = pool.Decompose(store.offset);
  const Shape& shape = kernel.buffers[store.buffer].shape;
  NodeId moving = -1;
  int64_t stride = 0, rest_high = sum.constant;
  for (const IndexTerm& t : sum.terms) {
    if (pool.node(t.atom).kind == IndexKind::kDynamic) {
      if (moving >= 0) return false;
      moving = static_cast<NodeId>(pool.node(t.atom).value);
      stride = t.factor;
      continue;
    }
    if (pool.HasDynamic(t.atom) || t.factor < 0) return false;
    rest_high += t.factor * pool.range(t.atom).hi;
  }
  // One point an element of the stride: no two of them share one
  // (PlacesStayApart).
  if (moving < 0 || stride <= 0 || sum.constant != 0 ||
      rest_high != stride - 1 ||
      PointCount(kernel, SpaceMask(kernel)) != stride) {
    return false;
  }
  const int64_t places = shape.ElementCount() / stride;
  if (places * stride != shape.ElementCount()) return false;
  std::vector<bool> hit(places);
  for (int64_t r = 0; r < kernel.loop->rounds; ++r) {
    const int64_t counter = kernel.loop->start + r * kernel.loop->step;
    std::optional<int64_t> d = RoundValues(kernel, counter).Of(moving);
    if (!d.has_value() || *d < 0 || *d >= places) return false;
    hit[*d] = true;
  }
  return std::find(hit.begin(), hit.end(), false) == hit.end();
}

class Linker {
 public:
  Linker(const Instruction& loop, SequentialKernel* out)
      : loop_(loop), kernel_(out->kernel), out_(out) {}

  absl::Status Run() {
    if (kernel_.prologue != nullptr) {
      return Refuse(loop_, "an update of what is no element of the state");
    }
    for (const Node& n : kernel_.nodes) {
      if (n.kind == NodeKind::kReduce) return Refuse(loop_, "a reduction");
    }
    FindInputs();
    for (size_t s = 0; s < kernel_.stores.size(); ++s) {
      RIDGE_RETURN_IF_ERROR(LinkStore(static_cast<int32_t>(s)));
    }
    return CheckLoads();
  }

 private:
  void FindInputs() {
    for (size_t b = 0; b < kernel_.buffers.size(); ++b) {
      const KernelBuffer& buffer = kernel_.buffers[b];
      if (buffer.is_output) continue;
      // Constants of several values are the only other inputs.
      const bool state = buffer.value->opcode() == Opcode::kGetTupleElement;
      out_->input_element.push_back(state ? buffer.value->tuple_index() : -1);
    }
    for (NodeId n = 0; n < static_cast<NodeId>(kernel_.nodes.size()); ++n) {
      if (ElementOf(n) == out_->counter_element) {
        kernel_.loop->counters.push_back(n);
      }
    }
  }

  // Element of the state that a node loads from; -1 for none.
  int64_t ElementOf(NodeId n) const {
    const Node& node = kernel_.nodes[n];
    return node.kind == NodeKind::kLoad ? out_->input_element[node.buffer] : -1;
  }

  absl::Status LinkStore(int32_t s) {
    const Store& store = kernel_.stores[s];
    const int64_t inputs = static_cast<int64_t>(out_->input_element.size());
    const int64_t element = out_->output_element[store.buffer - inputs];
    const KernelBuffer& buffer = kernel_.buffers[store.buffer];
    if (PointCount(kernel_, store.vars) !=
            PointCount(kernel_, SpaceMask(kernel_)) ||
        store.combine >= 0) {
      return Refuse(loop_, "arrays of different sizes");
    }
    if (buffer.aliases >= 0) {
      if (out_->input_element[buffer.aliases] != element) {
        return Refuse(loop_, absl::StrCat("element ", element,
                                          " is an update of another"));
      }
      if (!PlacesStayApart(*kernel_.index, store.offset)) {
        return Refuse(loop_, absl::StrCat("element ", element,
                                          ": updates of two rounds overlap"));
      }
      updated_.insert(element);
      out_->overwritten[store.buffer - inputs] = WritesAll(kernel_, store);
      return absl::OkStatus();
    }
    CarriedLoop::Carry carry;
    carry.store = s;
    for (NodeId n = 0; n < static_cast<NodeId>(kernel_.nodes.size()); ++n) {
      if (ElementOf(n) != element) continue;
      const Node& load = kernel_.nodes[n];
      if (load.offset != store.offset ||
          !(kernel_.buffers[load.buffer].shape == buffer.shape)) {
        return Refuse(loop_, absl::StrCat("element ", element,
                                          " is read at other points"));
      }
      carry.loads.push_back(n);
    }
    out_->overwritten[store.buffer - inputs] = true;
    kernel_.loop->carries.push_back(std::move(carry));
    return absl::OkStatus();
  }

  absl::Status CheckLoads() const {
    for (NodeId n = 0; n < static_cast<NodeId>(kernel_.nodes.size()); ++n) {
      const int64_t element = ElementOf(n);
      if (updated_.contains(element)) {
        return Refuse(loop_, absl::StrCat("element ", element,
                                          " is read and updated in parts"));
      }
    }
    return absl::OkStatus();
  }

  const Instruction& loop_;
  Kernel& kernel_;
  SequentialKernel* out_;
  absl::flat_hash_set<int64_t> updated_;
};

}  // namespace

absl::StatusOr<SequentialKernel> BuildSequentialKernel(
    const Instruction& loop) {
  std::optional<LoopState> state = PlainLoopState(loop);
  std::optional<CountedLoop> counted = AnalyzeCountedLoop(loop);
  if (!state.has_value() || !counted.has_value() || counted->trip_count < 1) {
    return Refuse(loop, "no counted loop");
  }
  SequentialKernel out;
  RIDGE_ASSIGN_OR_RETURN(
      Group group, BodyGroup(loop, *state, *counted, &out.output_element));
  out.counter_element = counted->index;
  out.counter_end = counted->start + counted->trip_count * counted->step;
  if (group.roots.empty()) return out;
  RIDGE_ASSIGN_OR_RETURN(out.kernel, BuildRoundKernel(group));
  CarriedLoop rounds;
  rounds.rounds = counted->trip_count;
  rounds.start = counted->start;
  rounds.step = counted->step;
  out.kernel.loop = std::move(rounds);
  out.overwritten.assign(out.output_element.size(), false);
  RIDGE_RETURN_IF_ERROR(Linker(loop, &out).Run());
  return out;
}

}  // namespace ridge
