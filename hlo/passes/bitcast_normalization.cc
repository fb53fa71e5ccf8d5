#include "hlo/passes/bitcast_normalization.h"

#include "hlo/passes/dimension_groups.h"
#include "hlo/passes/rewriter.h"
#include "hlo/passes/scope.h"

namespace ridge {
namespace {

bool HasPlainBuffer(const Shape& s) {
  return s.IsArray() && s.IsStatic() &&
         (!s.has_layout() || s.layout().extras == nullptr);
}

// Logical dimensions from major to minor.
DimVector PhysicalOrder(const Shape& s) {
  DimVector order;
  for (int64_t k = s.rank() - 1; k >= 0; --k) {
    order.push_back(s.has_layout() ? s.layout().minor_to_major[k]
                                   : s.rank() - 1 - k);
  }
  return order;
}

DimVector Permuted(absl::Span<const int64_t> dims,
                   absl::Span<const int64_t> permutation) {
  DimVector result;
  for (int64_t d : permutation) result.push_back(dims[d]);
  return result;
}

DimVector Inverse(absl::Span<const int64_t> permutation) {
  DimVector result(permutation.size());
  for (size_t k = 0; k < permutation.size(); ++k) result[permutation[k]] = k;
  return result;
}

bool HasControlEdges(const Instruction& i) {
  return i.has_control_successors() || !i.control_predecessors().empty();
}

}  // namespace

bool TransposeKeepsBuffer(const Shape& from, const Shape& to,
                          absl::Span<const int64_t> permutation) {
  if (!HasPlainBuffer(from) || !HasPlainBuffer(to)) return false;
  if (from.ElementCount() <= 1) return true;
  DimVector from_strides = ElementStrides(from);
  DimVector to_strides = ElementStrides(to);
  for (int64_t d = 0; d < to.rank(); ++d) {
    if (to.dim(d) != 1 && to_strides[d] != from_strides[permutation[d]]) {
      return false;
    }
  }
  return true;
}

bool ReshapeKeepsBuffer(const Shape& from, const Shape& to) {
  if (!HasPlainBuffer(from) || !HasPlainBuffer(to)) return false;
  if (from.ElementCount() <= 1) return true;
  auto groups = GroupDimensions(from.dims(), to.dims());
  if (!groups.has_value()) return from.ElementCount() == 0;
  DimVector from_strides = ElementStrides(from);
  DimVector to_strides = ElementStrides(to);
  // A group must be one run of memory on both sides, at the same stride.
  auto is_run = [](absl::Span<const int64_t> group, const Shape& s,
                   const DimVector& strides) {
    for (size_t k = 1; k < group.size(); ++k) {
      if (strides[group[k - 1]] != strides[group[k]] * s.dim(group[k])) {
        return false;
      }
    }
    return true;
  };
  for (const DimensionGroup& g : *groups) {
    if (!is_run(g.from, from, from_strides) || !is_run(g.to, to, to_strides) ||
        from_strides[g.from.back()] != to_strides[g.to.back()]) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<bool> BitcastToReshape(Module* module,
                                      const PassOptions& options) {
  bool changed = false;
  Rewriter r(options);
  for (Computation* computation : ComputationsInScope(module, options)) {
    for (Instruction* i : computation->instructions()) {
      if (i->opcode() != Opcode::kBitcast || HasControlEdges(*i)) continue;
      Instruction* x = i->operand(0);
      if (!HasPlainBuffer(i->shape()) || !HasPlainBuffer(x->shape()) ||
          i->shape().type() != x->shape().type() ||
          i->shape().ElementCount() != x->shape().ElementCount()) {
        continue;
      }
      r.set_target(i);
      Instruction* result;
      if (ReshapeKeepsBuffer(x->shape(), i->shape())) {
        if (SameShapeAndLayout(x->shape(), i->shape())) {
          result = x;
        } else {
          result = r.Add(Opcode::kReshape, i->shape(), {x});
        }
      } else {
        // Both sides in memory order; between them a plain reshape.
        DimVector to_physical = PhysicalOrder(i->shape());
        Instruction* physical = r.Transpose(x, PhysicalOrder(x->shape()));
        Instruction* reshaped =
            r.Reshape(physical, Permuted(i->shape().dims(), to_physical));
        result = r.Transpose(reshaped, Inverse(to_physical));
      }
      if (!SameShapeAndLayout(result->shape(), i->shape())) {
        bool made_here = result != x && result->use_count() == 0;
        if (made_here) {
          result->set_shape(i->shape());
        } else {
          result = r.Add(Opcode::kCopy, i->shape(), {result});
        }
      }
      Rewriter::Replace(i, result, /*takes_name=*/result != x);
      changed = true;
    }
  }
  return changed;
}

absl::StatusOr<bool> ReshapeToBitcast(Module* module,
                                      const PassOptions& options) {
  bool changed = false;
  Rewriter r(options);
  for (Computation* computation : ComputationsInScope(module, options)) {
    for (Instruction* i : computation->instructions()) {
      if (i->operand_count() != 1 || HasControlEdges(*i)) continue;
      const Shape& from = i->operand(0)->shape();
      bool keeps = false;
      if (i->opcode() == Opcode::kReshape) {
        keeps = ReshapeKeepsBuffer(from, i->shape());
      } else if (i->opcode() == Opcode::kTranspose) {
        keeps = TransposeKeepsBuffer(from, i->shape(), i->dimensions());
      }
      if (!keeps) continue;
      r.set_target(i);
      // A bitcast without layouts could not be told from any other.
      Shape shape = i->shape();
      if (!shape.has_layout()) shape.SetDefaultLayout();
      if (!from.has_layout()) {
        Shape with_layout = from;
        with_layout.SetDefaultLayout();
        i->operand(0)->set_shape(with_layout);
      }
      Instruction* bitcast = r.Add(Opcode::kBitcast, shape, {i->operand(0)});
      Rewriter::Replace(i, bitcast, /*takes_name=*/true);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ridge
