#include "hlo/analysis/cost_counts.h"

#include <limits>

namespace ridge {
namespace {

constexpr int kMaxDepth = 64;  // of calls within calls

int64_t Add(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_add_overflow(a, b, &r) ? std::numeric_limits<int64_t>::max()
                                          : r;
}

int64_t FlopsAt(const Instruction& i, int depth);

int64_t ComputationFlops(const Computation* c, int depth) {
  if (c == nullptr || depth > kMaxDepth) return 0;
  int64_t n = 0;
  for (const Instruction* i : c->instructions()) {
    n = Add(n, FlopsAt(*i, depth + 1));
  }
  return n;
}

int64_t Product(const Shape& shape, Ints dims) {
  int64_t n = 1;
  for (int64_t d : dims) n = SaturatingMul(n, shape.dim(d));
  return n;
}

int64_t FlopsAt(const Instruction& i, int depth) {
  int64_t elements = i.shape().ElementCount();
  switch (i.opcode()) {
    case Opcode::kDot:
      return SaturatingMul(
          2 * elements,
          Product(i.operand(0)->shape(), i.ints(AttrId::kLhsContractingDims)));
    case Opcode::kConvolution: {
      const ConvDimLabels* labels = i.boxed<ConvDimLabels>(AttrId::kDimLabels);
      if (labels == nullptr) return 0;
      const Shape& kernel = i.operand(1)->shape();
      int64_t per = kernel.dim(labels->kernel_input_feature);
      for (int64_t d : labels->kernel_spatial) {
        per = SaturatingMul(per, kernel.dim(d));
      }
      return SaturatingMul(2 * elements, per);
    }
    case Opcode::kReduce: {
      // Inputs of all parts together; each is folded once.
      int64_t per = ComputationFlops(i.to_apply(), depth);
      return SaturatingMul(i.operand(0)->shape().ElementCount(), per);
    }
    case Opcode::kReduceWindow: {
      int64_t window = 1;
      if (const Window* w = i.window()) {
        for (const WindowDimension& d : *w) {
          window = SaturatingMul(window, d.size);
        }
      }
      return SaturatingMul(SaturatingMul(elements, window),
                           ComputationFlops(i.to_apply(), depth));
    }
    case Opcode::kMap:
      return SaturatingMul(elements, ComputationFlops(i.to_apply(), depth));
    case Opcode::kScatter:
      return SaturatingMul(
          i.operand(i.operand_count() - 1)->shape().ElementCount(),
          ComputationFlops(i.to_apply(), depth));
    case Opcode::kFft: {
      int64_t n = 1;
      for (int64_t d : i.ints(AttrId::kFftLength)) n = SaturatingMul(n, d);
      int64_t log = 0;
      while ((int64_t{1} << log) < n && log < 62) ++log;
      return SaturatingMul(5 * log, elements);
    }
    case Opcode::kFusion:
    case Opcode::kCall:
    case Opcode::kWhile:
    case Opcode::kConditional: {
      int64_t n = 0;
      for (const Computation* c : i.called_computations()) {
        n = Add(n, ComputationFlops(c, depth));
      }
      return n;
    }
    case Opcode::kConvert:
    case Opcode::kCopy:
      return 0;
    default:
      return IsElementwise(i.opcode()) ? elements : 0;
  }
}

}  // namespace

int64_t Flops(const Instruction& instruction) {
  return FlopsAt(instruction, 0);
}

}  // namespace ridge
