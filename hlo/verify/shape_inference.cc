#include "hlo/verify/shape_inference.h"

#include <array>

#include "hlo/verify/infer.h"

namespace ridge {
namespace {

// RIDGE_SHAPE_RULES(V): V(opcode, rule), one row an opcode.
#define RIDGE_SHAPE_RULES(V)                         \
  V(kAbs, Unary)                                     \
  V(kAcos, Unary)                                    \
  V(kAcosh, Unary)                                   \
  V(kAdd, Binary)                                    \
  V(kAddDependency, AddDependency)                   \
  V(kAfterAll, AfterAll)                             \
  V(kAllGather, AllGather)                           \
  V(kAllGatherStart, AllGatherStart)                 \
  V(kAllGatherDone, AllGatherDone)                   \
  V(kAllReduce, AllReduce)                           \
  V(kAllReduceStart, AllReduce)                      \
  V(kAllReduceDone, AllReduceDone)                   \
  V(kAllToAll, AllToAll)                             \
  V(kAnd, Binary)                                    \
  V(kAsin, Unary)                                    \
  V(kAsinh, Unary)                                   \
  V(kAsyncStart, AsyncStart)                         \
  V(kAsyncUpdate, AsyncUpdate)                       \
  V(kAsyncDone, AsyncDone)                           \
  V(kAtan2, Binary)                                  \
  V(kAtanh, Unary)                                   \
  V(kBatchNormGrad, BatchNormGrad)                   \
  V(kBatchNormInference, BatchNormInference)         \
  V(kBatchNormTraining, BatchNormTraining)           \
  V(kBitcast, Bitcast)                               \
  V(kBitcastConvert, BitcastConvert)                 \
  V(kBroadcast, Broadcast)                           \
  V(kCall, Call)                                     \
  V(kCbrt, Unary)                                    \
  V(kCeil, Unary)                                    \
  V(kCholesky, Cholesky)                             \
  V(kClamp, Clamp)                                   \
  V(kCollectiveBroadcast, CollectiveBroadcast)       \
  V(kCollectivePermute, CollectivePermute)           \
  V(kCollectivePermuteStart, CollectivePermuteStart) \
  V(kCollectivePermuteDone, CollectivePermuteDone)   \
  V(kCompare, Compare)                               \
  V(kComplex, Complex)                               \
  V(kConcatenate, Concatenate)                       \
  V(kConditional, Conditional)                       \
  V(kConstant, Constant)                             \
  V(kConvert, Convert)                               \
  V(kConvolution, Convolution)                       \
  V(kCopy, Copy)                                     \
  V(kCopyStart, CopyStart)                           \
  V(kCopyDone, CopyDone)                             \
  V(kCosine, Unary)                                  \
  V(kCosh, Unary)                                    \
  V(kCountLeadingZeros, Unary)                       \
  V(kCustomCall, CustomCall)                         \
  V(kDivide, Binary)                                 \
  V(kDomain, FirstOperand)                           \
  V(kDot, Dot)                                       \
  V(kDynamicReshape, DynamicReshape)                 \
  V(kDynamicSlice, DynamicSlice)                     \
  V(kDynamicUpdateSlice, DynamicUpdateSlice)         \
  V(kErf, Unary)                                     \
  V(kExp, Unary)                                     \
  V(kExpm1, Unary)                                   \
  V(kFft, Fft)                                       \
  V(kFloor, Unary)                                   \
  V(kFusion, Fusion)                                 \
  V(kGather, Gather)                                 \
  V(kGetDimensionSize, GetDimensionSize)             \
  V(kGetTupleElement, GetTupleElement)               \
  V(kImag, Unary)                                    \
  V(kInfeed, Infeed)                                 \
  V(kIota, Iota)                                     \
  V(kIsFinite, Unary)                                \
  V(kLog, Unary)                                     \
  V(kLog1p, Unary)                                   \
  V(kLogistic, Unary)                                \
  V(kMap, Map)                                       \
  V(kMaximum, Binary)                                \
  V(kMinimum, Binary)                                \
  V(kMultiply, Binary)                               \
  V(kNegate, Unary)                                  \
  V(kNot, Unary)                                     \
  V(kOptimizationBarrier, FirstOperand)              \
  V(kOr, Binary)                                     \
  V(kOutfeed, Outfeed)                               \
  V(kPad, Pad)                                       \
  V(kParameter, Parameter)                           \
  V(kPartitionId, DeviceId)                          \
  V(kPopulationCount, Unary)                         \
  V(kPower, Binary)                                  \
  V(kRaggedAllToAll, RaggedAllToAll)                 \
  V(kRaggedDot, RaggedDot)                           \
  V(kReal, Unary)                                    \
  V(kRecv, Recv)                                     \
  V(kRecvDone, RecvDone)                             \
  V(kReduce, Reduce)                                 \
  V(kReducePrecision, ReducePrecision)               \
  V(kReduceScatter, ReduceScatter)                   \
  V(kReduceWindow, ReduceWindow)                     \
  V(kRemainder, Binary)                              \
  V(kReplicaId, DeviceId)                            \
  V(kReshape, Reshape)                               \
  V(kReverse, Reverse)                               \
  V(kRng, Rng)                                       \
  V(kRngBitGenerator, RngBitGenerator)               \
  V(kRngGetAndUpdateState, RngGetAndUpdateState)     \
  V(kRoundNearestAfz, Unary)                         \
  V(kRoundNearestEven, Unary)                        \
  V(kRsqrt, Unary)                                   \
  V(kScaledDot, ScaledDot)                           \
  V(kScatter, Scatter)                               \
  V(kSelect, Select)                                 \
  V(kSelectAndScatter, SelectAndScatter)             \
  V(kSend, Send)                                     \
  V(kSendDone, SendDone)                             \
  V(kSetDimensionSize, SetDimensionSize)             \
  V(kShiftLeft, Binary)                              \
  V(kShiftRightArithmetic, Binary)                   \
  V(kShiftRightLogical, Binary)                      \
  V(kSign, Unary)                                    \
  V(kSine, Unary)                                    \
  V(kSinh, Unary)                                    \
  V(kSlice, Slice)                                   \
  V(kSort, Sort)                                     \
  V(kSqrt, Unary)                                    \
  V(kStochasticConvert, StochasticConvert)           \
  V(kSubtract, Binary)                               \
  V(kTan, Unary)                                     \
  V(kTanh, Unary)                                    \
  V(kTopK, TopK)                                     \
  V(kTranspose, Transpose)                           \
  V(kTriangularSolve, TriangularSolve)               \
  V(kTuple, Tuple)                                   \
  V(kWhile, While)                                   \
  V(kXor, Binary)

struct ShapeRule {
  Opcode opcode;
  infer::Rule rule;
};

constexpr ShapeRule kShapeRules[] = {
#define V(opcode, rule) {Opcode::opcode, infer::rule},
    RIDGE_SHAPE_RULES(V)
#undef V
};
static_assert(std::size(kShapeRules) == kOpcodeCount,
              "one shape rule an opcode");

constexpr bool InOpcodeOrder() {
  for (int k = 0; k < kOpcodeCount; ++k) {
    if (static_cast<int>(kShapeRules[k].opcode) != k) return false;
  }
  return true;
}
static_assert(InOpcodeOrder(), "shape rules follow the order of Opcode");

}  // namespace

absl::StatusOr<Shape> InferShape(const Instruction& instruction) {
  return kShapeRules[static_cast<size_t>(instruction.opcode())].rule(
      instruction);
}

}  // namespace ridge
