#include "hlo/analysis/cost_counts.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "absl/container/flat_hash_map.h"

namespace ridge {
namespace {

constexpr int kMaxDepth = 64;  // of calls within calls

int64_t Add(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_add_overflow(a, b, &r) ? std::numeric_limits<int64_t>::max()
                                          : r;
}

int64_t Mul(int64_t a, int64_t b) {
  return SaturatingMul(std::max<int64_t>(a, 0), std::max<int64_t>(b, 0));
}

// Elements of an array, or of all arrays of a tuple.
int64_t Elements(const Shape& shape) {
  int64_t count = 0;
  ForEachLeaf(shape, [&](const Shape& leaf, const ShapeIndex&) {
    if (leaf.IsArray())
      count = Add(count, std::max<int64_t>(leaf.ElementCount(), 0));
  });
  return count;
}

int64_t Bytes(const Shape& shape) {
  return std::max<int64_t>(shape.ByteSize(), 0);
}

CostCounts Sum(const CostCounts& a, const CostCounts& b) {
  return {Add(a.flops, b.flops), Add(a.transcendentals, b.transcendentals),
          Add(a.bytes, b.bytes), a.loop_counted_once || b.loop_counted_once};
}

CostCounts Times(const CostCounts& a, int64_t n) {
  return {Mul(a.flops, n), Mul(a.transcendentals, n), Mul(a.bytes, n),
          a.loop_counted_once};
}

class Counter;
using Rule = CostCounts (*)(const Instruction&, Counter*);

// Counts with a memo, so that computations called from many places are counted
// once.
class Counter {
 public:
  CostCounts Of(const Instruction& i);
  CostCounts Of(const Computation* c) {
    if (c == nullptr || depth_ >= kMaxDepth) return {};
    auto it = memo_.find(c);
    if (it != memo_.end()) return it->second;
    ++depth_;
    CostCounts sum;
    for (const Instruction* i : c->instructions()) sum = Sum(sum, Of(*i));
    --depth_;
    memo_[c] = sum;
    return sum;
  }

 private:
  absl::flat_hash_map<const Computation*, CostCounts> memo_;
  int depth_ = 0;
};

// Operands and result once each.
int64_t AllBytes(const Instruction& i) {
  int64_t bytes = Bytes(i.shape());
  for (const Instruction* operand : i.operands()) {
    bytes = Add(bytes, Bytes(operand->shape()));
  }
  return bytes;
}

const Shape* OperandShape(const Instruction& i, int64_t k) {
  return k < i.operand_count() ? &i.operand(k)->shape() : nullptr;
}

// ---- Rules: operations, and bytes where they are not operands + result -----

CostCounts Free(const Instruction&, Counter*) { return {}; }

CostCounts Move(const Instruction& i, Counter*) {
  return {0, 0, AllBytes(i), false};
}

// Reads and writes as much as its result.
CostCounts MoveResult(const Instruction& i, Counter*) {
  int64_t bytes = Mul(2, Bytes(i.shape()));
  for (int64_t k = 1; k < i.operand_count(); ++k) {
    bytes = Add(bytes, Bytes(i.operand(k)->shape()));  // indices
  }
  return {0, 0, bytes, false};
}

// Reads and writes as much as its update, operand `k`.
int64_t UpdateBytes(const Instruction& i, int64_t first_update) {
  int64_t bytes = 0;
  for (int64_t k = first_update; k < i.operand_count(); ++k) {
    bytes = Add(bytes, Bytes(i.operand(k)->shape()));
  }
  return bytes;
}

CostCounts Update(const Instruction& i, Counter*) {
  const Shape* update = OperandShape(i, 1);
  if (update == nullptr) return {};
  return {0, 0, Mul(2, Bytes(*update)), false};
}

CostCounts Arithmetic(const Instruction& i, Counter*) {
  return {Elements(i.shape()), 0, AllBytes(i), false};
}

CostCounts Transcendental(const Instruction& i, Counter*) {
  const int64_t n = Elements(i.shape());
  return {n, n, AllBytes(i), false};
}

CostCounts Dot(const Instruction& i, Counter*) {
  const Shape* lhs = OperandShape(i, 0);
  if (lhs == nullptr) return {};
  int64_t depth = 1;
  for (int64_t d : i.ints(AttrId::kLhsContractingDims)) {
    if (d >= 0 && d < lhs->rank()) depth = Mul(depth, lhs->dim(d));
  }
  return {Mul(2, Mul(Elements(i.shape()), depth)), 0, AllBytes(i), false};
}

// Every row of the lhs meets one group of the rhs, whichever it is.
CostCounts RaggedDot(const Instruction& i, Counter* counter) {
  const Shape* lhs = OperandShape(i, 0);
  const Ints ragged = i.ints(AttrId::kLhsRaggedDims);
  const Ints contracting = i.ints(AttrId::kLhsContractingDims);
  CostCounts counts = Dot(i, counter);
  if (lhs == nullptr || ragged.empty() ||
      std::find(contracting.begin(), contracting.end(), ragged[0]) ==
          contracting.end()) {
    return counts;
  }
  // The groups split the contracted dimension among themselves.
  const int64_t groups = i.shape().rank() > 0 ? i.shape().dim(0) : 1;
  counts.flops /= std::max<int64_t>(groups, 1);
  return counts;
}

CostCounts Convolution(const Instruction& i, Counter*) {
  const ConvDimLabels* labels = i.boxed<ConvDimLabels>(AttrId::kDimLabels);
  const Shape* kernel = OperandShape(i, 1);
  if (labels == nullptr || kernel == nullptr || !kernel->IsArray()) return {};
  const auto size = [&](int64_t d) {
    return d >= 0 && d < kernel->rank() ? kernel->dim(d) : 1;
  };
  // The kernel's input features are those of one feature group. Padding is
  // counted like data.
  int64_t depth = size(labels->kernel_input_feature);
  for (int64_t d : labels->kernel_spatial) depth = Mul(depth, size(d));
  CostCounts counts;
  counts.flops = Mul(2, Mul(Elements(i.shape()), depth));
  // Each output feature of a batch group sees that group of the batch alone.
  counts.bytes = AllBytes(i);
  return counts;
}

int64_t WindowSize(const Instruction& i) {
  int64_t size = 1;
  if (const Window* window = i.window()) {
    for (const WindowDimension& d : *window) size = Mul(size, d.size);
  }
  return size;
}

// `n` applications of the reducer.
CostCounts Apply(const Instruction& i, const Computation* reducer, int64_t n,
                 int64_t bytes, Counter* counter) {
  CostCounts counts = Times(counter->Of(reducer), n);
  counts.bytes = bytes;
  return counts;
}

CostCounts Reduce(const Instruction& i, Counter* counter) {
  const Shape* input = OperandShape(i, 0);
  if (input == nullptr) return {};
  return Apply(i, i.to_apply(), Elements(*input), AllBytes(i), counter);
}

CostCounts ReduceWindow(const Instruction& i, Counter* counter) {
  // The parts of a variadic one share the reducer.
  const Shape& part = i.shape().IsTuple() && !i.shape().tuple_shapes().empty()
                          ? i.shape().tuple_shape(0)
                          : i.shape();
  return Apply(i, i.to_apply(), Mul(Elements(part), WindowSize(i)), AllBytes(i),
               counter);
}

CostCounts SelectAndScatter(const Instruction& i, Counter* counter) {
  const Shape* source = OperandShape(i, 1);
  if (source == nullptr) return {};
  // A window of n elements is searched with n - 1 comparisons.
  const int64_t n = Elements(*source);
  CostCounts counts =
      Sum(Times(counter->Of(i.computation(AttrId::kSelect)),
                Mul(n, WindowSize(i) - 1)),
          Times(counter->Of(i.computation(AttrId::kScatter)), n));
  counts.bytes = AllBytes(i);
  return counts;
}

CostCounts Map(const Instruction& i, Counter* counter) {
  return Apply(i, i.to_apply(), Elements(i.shape()), AllBytes(i), counter);
}

CostCounts Scatter(const Instruction& i, Counter* counter) {
  const int64_t parts = i.operand_count() / 2;
  if (parts < 1) return {};
  const Shape& update = i.operand(i.operand_count() - 1)->shape();
  // Updates are read; what they meet is read and written.
  const int64_t updates = UpdateBytes(i, parts + 1);
  const int64_t bytes = Add(Mul(3, updates), Bytes(i.operand(parts)->shape()));
  return Apply(i, i.to_apply(), Elements(update), bytes, counter);
}

int64_t CeilLog2(int64_t n) {
  int64_t log = 0;
  while (log < 62 && (int64_t{1} << log) < n) ++log;
  return log;
}

// n log n comparisons along the sorted dimension.
CostCounts Sort(const Instruction& i, Counter* counter) {
  const Shape* input = OperandShape(i, 0);
  const Ints dims = i.dimensions();
  if (input == nullptr || dims.empty() || dims[0] < 0 ||
      dims[0] >= input->rank()) {
    return {};
  }
  return Apply(i, i.to_apply(),
               Mul(Elements(*input), CeilLog2(input->dim(dims[0]))),
               AllBytes(i), counter);
}

CostCounts TopK(const Instruction& i, Counter*) {
  const Shape* input = OperandShape(i, 0);
  if (input == nullptr) return {};
  return {Mul(Elements(*input),
              std::max<int64_t>(CeilLog2(i.int_attr(AttrId::kK, 1)), 1)),
          0, AllBytes(i), false};
}

// 5 n log2 n, the usual count of a complex transform; a real one has half as
// many elements.
CostCounts Fft(const Instruction& i, Counter*) {
  int64_t n = 1;
  for (int64_t d : i.ints(AttrId::kFftLength)) n = Mul(n, d);
  return {Mul(Mul(5, CeilLog2(n)), Elements(i.shape())), 0, AllBytes(i), false};
}

// n^3 / 3 a matrix, with n square roots.
CostCounts Cholesky(const Instruction& i, Counter*) {
  const Shape& shape = i.shape();
  if (!shape.IsArray() || shape.rank() < 2) return {};
  const int64_t n = std::max<int64_t>(shape.dim(shape.rank() - 1), 1);
  const int64_t elements = Elements(shape);
  return {Mul(elements, n) / 3, elements / n, AllBytes(i), false};
}

// n multiply-adds for each element of the result, half of them with zeros.
CostCounts TriangularSolve(const Instruction& i, Counter*) {
  const Shape* a = OperandShape(i, 0);
  if (a == nullptr || !a->IsArray() || a->rank() < 2) return {};
  return {Mul(Elements(i.shape()), a->dim(a->rank() - 1)), 0, AllBytes(i),
          false};
}

// Mean and variance (4), then normalise, scale and shift (4); inference needs
// only the latter, the gradient both twice.
template <int per_element>
CostCounts BatchNorm(const Instruction& i, Counter*) {
  const Shape* input = OperandShape(i, 0);
  const Shape* scale = OperandShape(i, 1);
  if (input == nullptr || scale == nullptr) return {};
  return {Mul(per_element, Elements(*input)), Elements(*scale), AllBytes(i),
          false};
}

// Operations inside, bytes outside.
CostCounts Fusion(const Instruction& i, Counter* counter) {
  CostCounts counts = counter->Of(i.calls());
  counts.bytes = AllBytes(i);
  return counts;
}

CostCounts Callees(const Instruction& i, Counter* counter) {
  CostCounts sum;
  for (const Computation* c : i.called_computations()) {
    sum = Sum(sum, counter->Of(c));
  }
  return sum;
}

CostCounts While(const Instruction& i, Counter* counter) {
  CostCounts sum = Callees(i, counter);
  sum.loop_counted_once = true;
  return sum;
}

// The reducer on each element, where there is one.
CostCounts Collective(const Instruction& i, Counter* counter) {
  int64_t elements = 0;
  for (const Instruction* operand : i.operands()) {
    elements = Add(elements, Elements(operand->shape()));
  }
  return Apply(i, i.to_apply(), elements, AllBytes(i), counter);
}

CostCounts Random(const Instruction& i, Counter*) {
  return {Elements(i.shape()), 0, Bytes(i.shape()), false};
}

// ---- The table -------------------------------------------------------------

#define RIDGE_COST_RULES(V)              \
  V(kAbs, Arithmetic)                    \
  V(kAcos, Transcendental)               \
  V(kAcosh, Transcendental)              \
  V(kAdd, Arithmetic)                    \
  V(kAddDependency, Free)                \
  V(kAfterAll, Free)                     \
  V(kAllGather, Move)                    \
  V(kAllGatherStart, Move)               \
  V(kAllGatherDone, Free)                \
  V(kAllReduce, Collective)              \
  V(kAllReduceStart, Collective)         \
  V(kAllReduceDone, Free)                \
  V(kAllToAll, Move)                     \
  V(kAnd, Arithmetic)                    \
  V(kAsin, Transcendental)               \
  V(kAsinh, Transcendental)              \
  V(kAsyncStart, Callees)                \
  V(kAsyncUpdate, Free)                  \
  V(kAsyncDone, Free)                    \
  V(kAtan2, Transcendental)              \
  V(kAtanh, Transcendental)              \
  V(kBatchNormGrad, BatchNorm<16>)       \
  V(kBatchNormInference, BatchNorm<4>)   \
  V(kBatchNormTraining, BatchNorm<8>)    \
  V(kBitcast, Free)                      \
  V(kBitcastConvert, Move)               \
  V(kBroadcast, Move)                    \
  V(kCall, Callees)                      \
  V(kCbrt, Transcendental)               \
  V(kCeil, Arithmetic)                   \
  V(kCholesky, Cholesky)                 \
  V(kClamp, Arithmetic)                  \
  V(kCollectiveBroadcast, Move)          \
  V(kCollectivePermute, Move)            \
  V(kCollectivePermuteStart, Move)       \
  V(kCollectivePermuteDone, Free)        \
  V(kCompare, Arithmetic)                \
  V(kComplex, Arithmetic)                \
  V(kConcatenate, Move)                  \
  V(kConditional, Callees)               \
  V(kConstant, Free)                     \
  V(kConvert, Move)                      \
  V(kConvolution, Convolution)           \
  V(kCopy, Move)                         \
  V(kCopyStart, MoveResult)              \
  V(kCopyDone, Free)                     \
  V(kCosine, Transcendental)             \
  V(kCosh, Transcendental)               \
  V(kCountLeadingZeros, Arithmetic)      \
  V(kCustomCall, Move)                   \
  V(kDivide, Arithmetic)                 \
  V(kDomain, Free)                       \
  V(kDot, Dot)                           \
  V(kDynamicReshape, Move)               \
  V(kDynamicSlice, MoveResult)           \
  V(kDynamicUpdateSlice, Update)         \
  V(kErf, Transcendental)                \
  V(kExp, Transcendental)                \
  V(kExpm1, Transcendental)              \
  V(kFft, Fft)                           \
  V(kFloor, Arithmetic)                  \
  V(kFusion, Fusion)                     \
  V(kGather, MoveResult)                 \
  V(kGetDimensionSize, Free)             \
  V(kGetTupleElement, Free)              \
  V(kImag, Arithmetic)                   \
  V(kInfeed, Move)                       \
  V(kIota, Move)                         \
  V(kIsFinite, Arithmetic)               \
  V(kLog, Transcendental)                \
  V(kLog1p, Transcendental)              \
  V(kLogistic, Transcendental)           \
  V(kMap, Map)                           \
  V(kMaximum, Arithmetic)                \
  V(kMinimum, Arithmetic)                \
  V(kMultiply, Arithmetic)               \
  V(kNegate, Arithmetic)                 \
  V(kNot, Arithmetic)                    \
  V(kOptimizationBarrier, Free)          \
  V(kOr, Arithmetic)                     \
  V(kOutfeed, Move)                      \
  V(kPad, Move)                          \
  V(kParameter, Free)                    \
  V(kPartitionId, Free)                  \
  V(kPopulationCount, Arithmetic)        \
  V(kPower, Transcendental)              \
  V(kRaggedAllToAll, Move)               \
  V(kRaggedDot, RaggedDot)               \
  V(kReal, Arithmetic)                   \
  V(kRecv, Move)                         \
  V(kRecvDone, Free)                     \
  V(kReduce, Reduce)                     \
  V(kReducePrecision, Arithmetic)        \
  V(kReduceScatter, Collective)          \
  V(kReduceWindow, ReduceWindow)         \
  V(kRemainder, Arithmetic)              \
  V(kReplicaId, Free)                    \
  V(kReshape, Move)                      \
  V(kReverse, Move)                      \
  V(kRng, Random)                        \
  V(kRngBitGenerator, Random)            \
  V(kRngGetAndUpdateState, Random)       \
  V(kRoundNearestAfz, Arithmetic)        \
  V(kRoundNearestEven, Arithmetic)       \
  V(kRsqrt, Transcendental)              \
  V(kScaledDot, Dot)                     \
  V(kScatter, Scatter)                   \
  V(kSelect, Arithmetic)                 \
  V(kSelectAndScatter, SelectAndScatter) \
  V(kSend, Move)                         \
  V(kSendDone, Free)                     \
  V(kSetDimensionSize, Free)             \
  V(kShiftLeft, Arithmetic)              \
  V(kShiftRightArithmetic, Arithmetic)   \
  V(kShiftRightLogical, Arithmetic)      \
  V(kSign, Arithmetic)                   \
  V(kSine, Transcendental)               \
  V(kSinh, Transcendental)               \
  V(kSlice, MoveResult)                  \
  V(kSort, Sort)                         \
  V(kSqrt, Transcendental)               \
  V(kStochasticConvert, Arithmetic)      \
  V(kSubtract, Arithmetic)               \
  V(kTan, Transcendental)                \
  V(kTanh, Transcendental)               \
  V(kTopK, TopK)                         \
  V(kTranspose, Move)                    \
  V(kTriangularSolve, TriangularSolve)   \
  V(kTuple, Free)                        \
  V(kWhile, While)                       \
  V(kXor, Arithmetic)

struct CostRule {
  Opcode opcode;
  Rule rule;
};

constexpr CostRule kCostRules[] = {
#define V(opcode, rule) {Opcode::opcode, rule},
    RIDGE_COST_RULES(V)
#undef V
};
static_assert(std::size(kCostRules) == kOpcodeCount, "one rule an opcode");

constexpr bool InOpcodeOrder() {
  for (int k = 0; k < kOpcodeCount; ++k) {
    if (static_cast<int>(kCostRules[k].opcode) != k) return false;
  }
  return true;
}
static_assert(InOpcodeOrder(), "cost rules follow the order of Opcode");

CostCounts Counter::Of(const Instruction& i) {
  return kCostRules[static_cast<size_t>(i.opcode())].rule(i, this);
}

}  // namespace

CostCounts CountCosts(const Instruction& instruction) {
  return Counter().Of(instruction);
}

int64_t Flops(const Instruction& instruction) {
  return CountCosts(instruction).flops;
}

int64_t Transcendentals(const Instruction& instruction) {
  return CountCosts(instruction).transcendentals;
}

}  // namespace ridge
