// ValidateKernel: the invariants of kernel.h.
#include <map>

#include "absl/strings/str_cat.h"
#include "backends/kernel/kernel.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// Operands an opcode takes as kOp.
int64_t Arity(Opcode opcode) { return Info(opcode).arity; }

class Checker {
 public:
  explicit Checker(const Kernel& kernel) : k_(kernel) {}

  absl::Status Run() {
    RIDGE_RET_CHECK(k_.index != nullptr);
    const int64_t vars = static_cast<int64_t>(k_.vars.size());
    RIDGE_RET_CHECK(vars >= 1 && vars <= 64) << vars;
    RIDGE_RET_CHECK(k_.space_vars >= 1 && k_.space_vars <= vars)
        << k_.space_vars;
    bool outputs = false;
    for (const KernelBuffer& b : k_.buffers) {
      RIDGE_RET_CHECK(b.is_output || !outputs) << "an input after an output";
      outputs |= b.is_output;
      RIDGE_RET_CHECK(b.aliases < static_cast<int32_t>(k_.buffers.size()));
      RIDGE_RET_CHECK(b.aliases < 0 || !k_.buffers[b.aliases].is_output);
    }
    for (const ScalarFunction& f : k_.functions) {
      RIDGE_RETURN_IF_ERROR(Annotate(CheckFunction(f), f.name));
    }
    for (size_t n = 0; n < k_.nodes.size(); ++n) {
      RIDGE_RETURN_IF_ERROR(
          Annotate(CheckNode(n), absl::StrCat(k_.name, " n", n)));
    }
    for (size_t s = 0; s < k_.stores.size(); ++s) {
      RIDGE_RETURN_IF_ERROR(Annotate(CheckStore(k_.stores[s]),
                                     absl::StrCat(k_.name, " store ", s)));
    }
    for (const auto& [b, points] : stored_) {
      RIDGE_RET_CHECK(points == k_.buffers[b].shape.ElementCount())
          << points << " elements stored";
    }
    return k_.prologue == nullptr ? absl::OkStatus()
                                  : ValidateKernel(*k_.prologue);
  }

 private:
  absl::Status CheckFunction(const ScalarFunction& f) {
    const int64_t size = static_cast<int64_t>(f.nodes.size());
    RIDGE_RET_CHECK(f.parameter_count <= size);
    for (int64_t n = 0; n < size; ++n) {
      const Node& node = f.nodes[n];
      const bool parameter = n < f.parameter_count;
      RIDGE_RET_CHECK((node.kind == NodeKind::kParameter) == parameter);
      RIDGE_RET_CHECK(parameter || node.kind == NodeKind::kConst ||
                      node.kind == NodeKind::kOp);
      for (NodeId o : node.operands) RIDGE_RET_CHECK(o >= 0 && o < n);
    }
    for (NodeId r : f.results) RIDGE_RET_CHECK(r >= 0 && r < size);
    return absl::OkStatus();
  }

  absl::Status CheckIndex(IndexId expr, int64_t before) {
    RIDGE_RET_CHECK(expr >= 0 && expr < k_.index->size());
    for (int32_t d : k_.index->DynamicNodes(expr)) {
      RIDGE_RET_CHECK(d >= 0 && d < before) << "dynamic node " << d;
      RIDGE_RET_CHECK(IsInteger(k_.nodes[d].type));
    }
    const uint64_t vars = k_.index->VarMask(expr);
    RIDGE_RET_CHECK(k_.vars.size() == 64 || (vars >> k_.vars.size()) == 0);
    return absl::OkStatus();
  }

  absl::Status CheckGuard(NodeId guard, int64_t before) {
    RIDGE_RET_CHECK(guard >= -1 && guard < before);
    RIDGE_RET_CHECK(guard < 0 || IsPred(k_.nodes[guard].type));
    return absl::OkStatus();
  }

  absl::Status CheckBuffer(int32_t b, bool is_output) {
    RIDGE_RET_CHECK(b >= 0 && b < static_cast<int32_t>(k_.buffers.size()));
    RIDGE_RET_CHECK(k_.buffers[b].is_output == is_output);
    return absl::OkStatus();
  }

  absl::Status CheckNode(int64_t n) {
    const Node& node = k_.nodes[n];
    for (NodeId o : node.operands) RIDGE_RET_CHECK(o >= 0 && o < n) << o;
    RIDGE_RETURN_IF_ERROR(CheckGuard(node.guard, n));
    switch (node.kind) {
      case NodeKind::kConst:
        return absl::OkStatus();
      case NodeKind::kLoad:
        RIDGE_RETURN_IF_ERROR(CheckBuffer(node.buffer, false));
        RIDGE_RET_CHECK(k_.buffers[node.buffer].shape.type() == node.type);
        return CheckLoad(node, n);
      case NodeKind::kIndex:
        RIDGE_RET_CHECK(IsInteger(node.type));
        return CheckIndex(node.offset, n);
      case NodeKind::kOp:
        RIDGE_RET_CHECK(Arity(node.opcode) ==
                        static_cast<int64_t>(node.operands.size()))
            << Name(node.opcode);
        return absl::OkStatus();
      case NodeKind::kReduce: {
        RIDGE_RET_CHECK(node.function >= 0 &&
                        node.function <
                            static_cast<int32_t>(k_.functions.size()));
        const ScalarFunction& f = k_.functions[node.function];
        RIDGE_RET_CHECK(f.parameter_count ==
                        static_cast<int32_t>(node.operands.size()));
        RIDGE_RET_CHECK(node.result < static_cast<int32_t>(f.results.size()));
        RIDGE_RET_CHECK(node.reduced != 0);
        RIDGE_RET_CHECK((node.vars & node.reduced) == 0);
        // A fold is either across the space or inside a thread.
        const uint64_t space = node.reduced & SpaceMask(k_);
        RIDGE_RET_CHECK(space == 0 || space == node.reduced);
        return absl::OkStatus();
      }
      case NodeKind::kParameter:
        RIDGE_RET_CHECK(false) << "parameter outside a function";
    }
    return absl::OkStatus();
  }

  // An unguarded offset lies inside its buffer for all points.
  absl::Status CheckLoad(const Node& node, int64_t n) {
    RIDGE_RETURN_IF_ERROR(CheckIndex(node.offset, n));
    const IndexRange r = k_.index->range(node.offset);
    const int64_t elements = k_.buffers[node.buffer].shape.ElementCount();
    RIDGE_RET_CHECK(node.guard >= 0 || (r.lo >= 0 && r.hi < elements))
        << "offset in [" << r.lo << ", " << r.hi << "] of " << elements;
    return absl::OkStatus();
  }

  absl::Status CheckStore(const Store& s) {
    const int64_t all = static_cast<int64_t>(k_.nodes.size());
    RIDGE_RET_CHECK(s.value >= 0 && s.value < all);
    RIDGE_RETURN_IF_ERROR(CheckGuard(s.guard, all));
    RIDGE_RETURN_IF_ERROR(CheckBuffer(s.buffer, true));
    RIDGE_RETURN_IF_ERROR(CheckIndex(s.offset, all));
    RIDGE_RET_CHECK((s.vars & ~SpaceMask(k_)) == 0)
        << "depends on an inner variable";
    RIDGE_RET_CHECK(k_.nodes[s.value].type ==
                    k_.buffers[s.buffer].shape.type());
    const bool scatters =
        k_.index->HasDynamic(s.offset) || s.combine >= 0 || s.guard >= 0;
    RIDGE_RET_CHECK(!scatters || k_.pattern == GroupPattern::kScatter);
    if (k_.pattern != GroupPattern::kScatter) {
      // One store an element: the value may vary with nothing else.
      RIDGE_RET_CHECK((k_.nodes[s.value].vars & ~k_.index->VarMask(s.offset)) ==
                      0);
      stored_[s.buffer] += PointCount(k_, k_.index->VarMask(s.offset));
    }
    return absl::OkStatus();
  }

  const Kernel& k_;
  std::map<int32_t, int64_t> stored_;  // elements by output
};

}  // namespace

absl::Status ValidateKernel(const Kernel& kernel) {
  return Checker(kernel).Run();
}

}  // namespace ridge
