#include "backends/kernel/interpreter.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/evaluator.h"

namespace ridge {
namespace {

Shape Flat(ElementType type, int64_t n) { return Shape::Array(type, {n}); }

// One operation as an instruction of its own, over n elements.
class OpRunner {
 public:
  absl::StatusOr<Literal> Run(const Node& node,
                              const std::vector<Literal>& operands, int64_t n) {
    Module module;
    Computation* c = module.AddComputation("op");
    module.set_entry(c);
    std::vector<Instruction*> parameters;
    for (size_t k = 0; k < operands.size(); ++k) {
      parameters.push_back(c->AddParameter(k, operands[k].shape()));
    }
    Instruction* i = c->Add(node.opcode, Flat(node.type, n), parameters);
    if (node.opcode == Opcode::kCompare) {
      i->SetAttr(AttrId::kDirection,
                 EnumValue{static_cast<int32_t>(node.direction)});
      if (node.total_order) {
        i->SetAttr(
            AttrId::kComparisonType,
            EnumValue{static_cast<int32_t>(ComparisonOrder::kTotalOrder)});
      }
    }
    if (node.opcode == Opcode::kReducePrecision) {
      i->SetAttr(AttrId::kExponentBits, int64_t{node.exponent_bits});
      i->SetAttr(AttrId::kMantissaBits, int64_t{node.mantissa_bits});
    }
    c->set_root(i);
    EvalOptions options;
    options.max_threads = 1;
    return EvaluateInstruction(*i, operands, options);
  }
};

class KernelInterpreter {
 public:
  KernelInterpreter(const Kernel& kernel, std::vector<Literal> memory)
      : k_(kernel), memory_(std::move(memory)) {}

  // Storage of each buffer in physical order; outputs are updated.
  std::vector<Literal>& memory() { return memory_; }

  absl::Status Run() {
    std::vector<int64_t> last_use = LastUses();
    values_.resize(k_.nodes.size());
    for (size_t n = 0; n < k_.nodes.size(); ++n) {
      const Node& node = k_.nodes[n];
      absl::StatusOr<Literal> value = Value(node);
      RIDGE_RETURN_IF_ERROR(
          Annotate(value.status(), absl::StrCat(k_.name, " n", n)));
      values_[n] = *std::move(value);
      for (NodeId o : node.operands) {
        if (last_use[o] == static_cast<int64_t>(n)) values_[o] = Literal();
      }
    }
    written_.clear();  // of the round before
    for (const Store& store : k_.stores) RIDGE_RETURN_IF_ERROR(Write(store));
    for (const auto& [b, written] : written_) {
      const int64_t count = std::count(written.begin(), written.end(), true);
      const int64_t size = static_cast<int64_t>(written.size());
      RIDGE_RET_CHECK(k_.pattern == GroupPattern::kScatter || count == size)
          << "stored " << count << " of " << size << " elements";
    }
    return absl::OkStatus();
  }

 private:
  // The variables of a mask, and a counter through their points; the last
  // variable runs fastest.
  class Points {
   public:
    Points(const Kernel& kernel, uint64_t mask) : vars_(kernel.vars.size(), 0) {
      for (size_t v = 0; v < kernel.vars.size(); ++v) {
        if (((mask >> v) & 1) == 0) continue;
        which_.push_back(v);
        extents_.push_back(kernel.vars[v].extent);
        count_ *= kernel.vars[v].extent;
      }
    }
    int64_t count() const { return count_; }
    std::vector<int64_t>& vars() { return vars_; }
    void Next() {
      for (size_t k = which_.size(); k-- > 0;) {
        if (++vars_[which_[k]] < extents_[k]) return;
        vars_[which_[k]] = 0;
      }
    }

   private:
    std::vector<int64_t> vars_;
    std::vector<size_t> which_;
    std::vector<int64_t> extents_;
    int64_t count_ = 1;
  };

  std::vector<int64_t> LastUses() const {
    constexpr int64_t kStore = INT64_MAX;
    std::vector<int64_t> last(k_.nodes.size(), -1);
    auto keep = [&](NodeId n) {
      if (n >= 0) last[n] = kStore;
    };
    for (size_t n = 0; n < k_.nodes.size(); ++n) {
      const Node& node = k_.nodes[n];
      for (NodeId o : node.operands) {
        if (last[o] != kStore) last[o] = n;
      }
      // Guards and indices are read point by point: kept to the end.
      keep(node.guard);
      if (node.offset >= 0) {
        for (int32_t d : k_.index->DynamicNodes(node.offset)) keep(d);
      }
    }
    for (const Store& s : k_.stores) {
      keep(s.value);
      keep(s.guard);
      for (int32_t d : k_.index->DynamicNodes(s.offset)) keep(d);
    }
    return last;
  }

  // Where the value of node `n` at these variables lies in its array.
  int64_t Position(NodeId n, const std::vector<int64_t>& vars) const {
    int64_t at = 0;
    for (size_t v = 0; v < k_.vars.size(); ++v) {
      if ((k_.nodes[n].vars >> v) & 1) at = at * k_.vars[v].extent + vars[v];
    }
    return at;
  }

  int64_t Offset(IndexId expr, const std::vector<int64_t>& vars) {
    dynamic_.resize(k_.nodes.size());
    for (int32_t d : k_.index->DynamicNodes(expr)) {
      dynamic_[d] = GetInt(values_[d], Position(d, vars));
    }
    return k_.index->Evaluate(expr, vars, dynamic_);
  }

  bool Holds(NodeId guard, const std::vector<int64_t>& vars) const {
    return guard < 0 || GetInt(values_[guard], Position(guard, vars)) != 0;
  }

  // The values of node `n` at the points of `mask`.
  Literal At(NodeId n, uint64_t mask, std::vector<int64_t> fixed) {
    Points points(k_, mask);
    const ElementType type = k_.nodes[n].type;
    const int width = StorageBytes(type);
    Literal out = Literal::Zeros(Flat(type, points.count()));
    uint8_t* to = out.mutable_bytes();
    for (int64_t p = 0; p < points.count(); ++p, points.Next()) {
      std::vector<int64_t> vars = points.vars();
      for (size_t v = 0; v < fixed.size(); ++v) vars[v] += fixed[v];
      std::memcpy(to + p * width,
                  values_[n].bytes() + Position(n, vars) * width, width);
    }
    return out;
  }

  absl::StatusOr<Literal> Value(const Node& node) {
    Points points(k_, node.vars);
    const int64_t n = points.count();
    const int width = StorageBytes(node.type);
    Literal out = Literal::Zeros(Flat(node.type, n));
    uint8_t* to = out.mutable_bytes();
    switch (node.kind) {
      case NodeKind::kConst: {
        const int half = IsComplex(node.type) ? width / 2 : width;
        std::memcpy(to, &node.bits, half);
        if (half != width) std::memcpy(to + half, &node.bits_high, half);
        return out;
      }
      case NodeKind::kIndex:
        for (int64_t p = 0; p < n; ++p, points.Next()) {
          int64_t value = Offset(node.offset, points.vars());
          std::memcpy(to + p * width, &value, width);
        }
        return out;
      case NodeKind::kLoad: {
        const Literal& memory = memory_[node.buffer];
        const int64_t size = memory.byte_size() / width;
        for (int64_t p = 0; p < n; ++p, points.Next()) {
          if (!Holds(node.guard, points.vars())) continue;
          const int64_t at = Offset(node.offset, points.vars());
          RIDGE_RET_CHECK(at >= 0 && at < size)
              << "load at " << at << " of " << size;
          std::memcpy(to + p * width, memory.bytes() + at * width, width);
        }
        return out;
      }
      case NodeKind::kOp: {
        if (n == 0) return out;
        std::vector<Literal> operands;
        for (NodeId o : node.operands) {
          operands.push_back(At(o, node.vars, {}));
        }
        return ops_.Run(node, operands, n);
      }
      case NodeKind::kReduce:
        return n == 0 ? absl::StatusOr<Literal>(out) : Fold(node);
      case NodeKind::kParameter:
        break;
    }
    return absl::InternalError("parameter outside a function");
  }

  // The accumulators of all kept points at once, folded one reduced point
  // after the other. Sums go round kLanes partial ones, as those of any
  // parallel machine do: rounding errors then stay as small as emitters' are.
  absl::StatusOr<Literal> Fold(const Node& node) {
    constexpr int64_t kLanes = 16;
    const ScalarFunction& f = k_.functions[node.function];
    const size_t n = node.operands.size() / 2;
    Points folded(k_, node.reduced);
    const int64_t count = folded.count();
    auto values = [&] {
      std::vector<Literal> at;
      for (size_t k = 0; k < n; ++k) {
        at.push_back(At(node.operands[k], node.vars, folded.vars()));
      }
      folded.Next();
      return at;
    };
    // The init first, then the partial results.
    std::vector<std::vector<Literal>> partial(1);
    for (size_t k = 0; k < n; ++k) {
      partial[0].push_back(At(node.operands[n + k], node.vars, {}));
    }
    int64_t p = 0;
    if (f.simple == Opcode::kAdd) {
      for (; p < std::min(count, kLanes); ++p) partial.push_back(values());
    }
    for (; p < count; ++p) {
      std::vector<Literal>& lane =
          partial[partial.size() == 1 ? 0 : 1 + p % kLanes];
      RIDGE_ASSIGN_OR_RETURN(lane, Combine(f, lane, values()));
    }
    for (size_t lane = 1; lane < partial.size(); ++lane) {
      RIDGE_ASSIGN_OR_RETURN(partial[0], Combine(f, partial[0], partial[lane]));
    }
    return partial[0][node.result];
  }

  absl::StatusOr<std::vector<Literal>> Combine(
      const ScalarFunction& f, const std::vector<Literal>& accumulators,
      const std::vector<Literal>& values) {
    std::vector<Literal> arguments = accumulators;
    arguments.insert(arguments.end(), values.begin(), values.end());
    return Call(f, std::move(arguments));
  }

  absl::StatusOr<std::vector<Literal>> Call(const ScalarFunction& f,
                                            std::vector<Literal> arguments) {
    const int64_t n = arguments[0].shape().ElementCount();
    std::vector<Literal> values = std::move(arguments);
    for (size_t i = f.parameter_count; i < f.nodes.size(); ++i) {
      const Node& node = f.nodes[i];
      if (node.kind == NodeKind::kConst) {
        Literal one = Literal::Zeros(Flat(node.type, n));
        const int width = StorageBytes(node.type);
        const int half = IsComplex(node.type) ? width / 2 : width;
        for (int64_t p = 0; p < n; ++p) {
          uint8_t* to = one.mutable_bytes() + p * width;
          std::memcpy(to, &node.bits, half);
          if (half != width) std::memcpy(to + half, &node.bits_high, half);
        }
        values.push_back(std::move(one));
        continue;
      }
      std::vector<Literal> operands;
      for (NodeId o : node.operands) operands.push_back(values[o]);
      RIDGE_ASSIGN_OR_RETURN(Literal value, ops_.Run(node, operands, n));
      values.push_back(std::move(value));
    }
    std::vector<Literal> results;
    for (NodeId r : f.results) results.push_back(values[r]);
    return results;
  }

  absl::Status Write(const Store& store) {
    Points points(k_, store.vars);
    Literal& memory = memory_[store.buffer];
    const ElementType type = k_.buffers[store.buffer].shape.type();
    const int width = StorageBytes(type);
    const int64_t size = memory.byte_size() / width;
    std::vector<bool>& written = written_[store.buffer];
    written.resize(size);
    for (int64_t p = 0; p < points.count(); ++p, points.Next()) {
      if (!Holds(store.guard, points.vars())) continue;
      const int64_t at = Offset(store.offset, points.vars());
      RIDGE_RET_CHECK(at >= 0 && at < size)
          << "store at " << at << " of " << size;
      RIDGE_RET_CHECK(!written[at] || !store.unique)
          << "element " << at << " stored twice";
      written[at] = true;
      Literal value = Literal::Zeros(Flat(type, 1));
      std::memcpy(value.mutable_bytes(),
                  values_[store.value].bytes() +
                      Position(store.value, points.vars()) * width,
                  width);
      if (store.combine >= 0) {
        Literal old = Literal::Zeros(Flat(type, 1));
        std::memcpy(old.mutable_bytes(), memory.bytes() + at * width, width);
        RIDGE_ASSIGN_OR_RETURN(std::vector<Literal> results,
                               Call(k_.functions[store.combine], {old, value}));
        value = results[0];
      }
      std::memcpy(memory.mutable_bytes() + at * width, value.bytes(), width);
    }
    return absl::OkStatus();
  }

  const Kernel& k_;
  std::vector<Literal> memory_;
  std::vector<Literal> values_;
  std::map<int32_t, std::vector<bool>> written_;  // elements by output
  std::vector<int64_t> dynamic_;
  OpRunner ops_;
};

// Calls fn(row-major position, physical position) for each element.
template <typename Fn>
void ForEachElement(const Shape& shape, Fn&& fn) {
  const DimVector strides = ElementStrides(shape);
  const int64_t n = shape.ElementCount();
  DimVector index(shape.rank(), 0);
  for (int64_t row = 0; row < n; ++row) {
    int64_t at = 0;
    for (int64_t d = 0; d < shape.rank(); ++d) at += index[d] * strides[d];
    fn(row, at);
    for (int64_t d = shape.rank() - 1; d >= 0; --d) {
      if (++index[d] < shape.dim(d)) break;
      index[d] = 0;
    }
  }
}

// ---- Rounds of a loop ----

void SetCounters(const Kernel& kernel, int64_t round,
                 std::vector<Literal>* memory) {
  const int64_t value = kernel.loop->start + kernel.loop->step * round;
  for (NodeId n : kernel.loop->counters) {
    Literal& counter = (*memory)[kernel.nodes[n].buffer];
    std::memcpy(counter.mutable_bytes(), &value, counter.byte_size());
  }
}

void Carry(const Kernel& kernel, std::vector<Literal>* memory) {
  for (const CarriedLoop::Carry& c : kernel.loop->carries) {
    for (NodeId load : c.loads) {
      (*memory)[kernel.nodes[load].buffer] =
          (*memory)[kernel.stores[c.store].buffer];
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<Literal>> InterpretKernel(
    const Kernel& kernel, absl::Span<const Literal> inputs) {
  std::vector<Literal> memory;
  for (const KernelBuffer& buffer : kernel.buffers) {
    const Shape& shape = buffer.shape;
    const int width = StorageBytes(shape.type());
    Literal m = Literal::Zeros(Flat(shape.type(), shape.ElementCount()));
    if (buffer.is_output) {
      if (m.byte_size() > 0) {
        std::memset(m.mutable_bytes(), 0xff, m.byte_size());
      }
      if (buffer.aliases >= 0) m = memory[buffer.aliases];
    } else {
      if (memory.size() >= inputs.size() ||
          !inputs[memory.size()].shape().Compatible(shape)) {
        return absl::InvalidArgumentError(absl::StrCat(kernel.name, ": input ",
                                                       memory.size(), " is no ",
                                                       shape.ToString()));
      }
      const Literal& input = inputs[memory.size()];
      uint8_t* to = m.mutable_bytes();
      ForEachElement(shape, [&](int64_t row, int64_t at) {
        std::memcpy(to + at * width, input.bytes() + row * width, width);
      });
    }
    memory.push_back(std::move(m));
  }
  if (kernel.prologue != nullptr) {
    KernelInterpreter first(*kernel.prologue, std::move(memory));
    RIDGE_RETURN_IF_ERROR(first.Run());
    memory = std::move(first.memory());
  }
  KernelInterpreter main(kernel, std::move(memory));
  const int64_t rounds = kernel.loop.has_value() ? kernel.loop->rounds : 1;
  for (int64_t r = 0; r < rounds; ++r) {
    if (kernel.loop.has_value()) SetCounters(kernel, r, &main.memory());
    RIDGE_RETURN_IF_ERROR(main.Run());
    if (kernel.loop.has_value()) Carry(kernel, &main.memory());
  }
  std::vector<Literal> outputs;
  for (size_t b = 0; b < kernel.buffers.size(); ++b) {
    const Shape& shape = kernel.buffers[b].shape;
    if (!kernel.buffers[b].is_output) continue;
    Literal out = Literal::Zeros(shape);
    const int width = StorageBytes(shape.type());
    const uint8_t* from = main.memory()[b].bytes();
    uint8_t* to = out.mutable_bytes();
    ForEachElement(shape, [&](int64_t row, int64_t at) {
      std::memcpy(to + row * width, from + at * width, width);
    });
    outputs.push_back(std::move(out));
  }
  return outputs;
}

}  // namespace ridge
