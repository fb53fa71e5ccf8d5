// The evaluator's table: one row an opcode.
#include "hlo/evaluator/handlers.h"

#include <array>

#include "hlo/base/status_macros.h"

namespace ridge {
namespace eval {
namespace {

constexpr Handler RowOf(Opcode opcode) {
  switch (opcode) {
#define V(op, handler) \
  case Opcode::op:     \
    return handler;
    V(kAbs, EvalElementwise)
    V(kAcos, EvalElementwise)
    V(kAcosh, EvalElementwise)
    V(kAdd, EvalElementwise)
    V(kAddDependency, EvalFirstOperand)
    V(kAfterAll, EvalAfterAll)
    V(kAllGather, EvalCollective)
    V(kAllGatherStart, EvalCollectiveStart)
    V(kAllGatherDone, EvalCollectiveDone)
    V(kAllReduce, EvalCollective)
    V(kAllReduceStart, EvalCollectiveStart)
    V(kAllReduceDone, EvalCollectiveDone)
    V(kAllToAll, EvalCollective)
    V(kAnd, EvalElementwise)
    V(kAsin, EvalElementwise)
    V(kAsinh, EvalElementwise)
    V(kAsyncStart, EvalAsyncStart)
    V(kAsyncUpdate, EvalAsyncUpdate)
    V(kAsyncDone, EvalAsyncDone)
    V(kAtan2, EvalElementwise)
    V(kAtanh, EvalElementwise)
    V(kBatchNormGrad, EvalBatchNormGrad)
    V(kBatchNormInference, EvalBatchNormInference)
    V(kBatchNormTraining, EvalBatchNormTraining)
    V(kBitcast, EvalBitcast)
    V(kBitcastConvert, EvalBitcastConvert)
    V(kBroadcast, EvalBroadcast)
    V(kCall, EvalCall)
    V(kCbrt, EvalElementwise)
    V(kCeil, EvalElementwise)
    V(kCholesky, EvalCholesky)
    V(kClamp, EvalElementwise)
    V(kCollectiveBroadcast, EvalCollective)
    V(kCollectivePermute, EvalCollective)
    V(kCollectivePermuteStart, EvalCollectiveStart)
    V(kCollectivePermuteDone, EvalCollectiveDone)
    V(kCompare, EvalCompare)
    V(kComplex, EvalElementwise)
    V(kConcatenate, EvalConcatenate)
    V(kConditional, EvalConditional)
    V(kConstant, EvalUnreachable)
    V(kConvert, EvalConvert)
    V(kConvolution, EvalConvolution)
    V(kCopy, EvalIdentity)
    V(kCopyStart, EvalCopyStart)
    V(kCopyDone, EvalCopyDone)
    V(kCosine, EvalElementwise)
    V(kCosh, EvalElementwise)
    V(kCountLeadingZeros, EvalElementwise)
    V(kCustomCall, EvalCustomCall)
    V(kDivide, EvalElementwise)
    V(kDomain, EvalFirstOperand)
    V(kDot, EvalDot)
    V(kDynamicReshape, EvalDynamicReshape)
    V(kDynamicSlice, EvalDynamicSlice)
    V(kDynamicUpdateSlice, EvalDynamicUpdateSlice)
    V(kErf, EvalElementwise)
    V(kExp, EvalElementwise)
    V(kExpm1, EvalElementwise)
    V(kFft, EvalFft)
    V(kFloor, EvalElementwise)
    V(kFusion, EvalFusion)
    V(kGather, EvalGather)
    V(kGetDimensionSize, EvalGetDimensionSize)
    V(kGetTupleElement, EvalGetTupleElement)
    V(kImag, EvalElementwise)
    V(kInfeed, EvalHost)
    V(kIota, EvalIota)
    V(kIsFinite, EvalElementwise)
    V(kLog, EvalElementwise)
    V(kLog1p, EvalElementwise)
    V(kLogistic, EvalElementwise)
    V(kMap, EvalMap)
    V(kMaximum, EvalElementwise)
    V(kMinimum, EvalElementwise)
    V(kMultiply, EvalElementwise)
    V(kNegate, EvalElementwise)
    V(kNot, EvalElementwise)
    V(kOptimizationBarrier, EvalFirstOperand)
    V(kOr, EvalElementwise)
    V(kOutfeed, EvalHost)
    V(kPad, EvalPad)
    V(kParameter, EvalUnreachable)
    V(kPartitionId, EvalOnlyReplica)
    V(kPopulationCount, EvalElementwise)
    V(kPower, EvalElementwise)
    V(kRaggedAllToAll, EvalCollective)
    V(kRaggedDot, EvalRaggedDot)
    V(kReal, EvalElementwise)
    V(kRecv, EvalHost)
    V(kRecvDone, EvalHost)
    V(kReduce, EvalReduce)
    V(kReducePrecision, EvalElementwise)
    V(kReduceScatter, EvalCollective)
    V(kReduceWindow, EvalReduceWindow)
    V(kRemainder, EvalElementwise)
    V(kReplicaId, EvalOnlyReplica)
    V(kReshape, EvalReshape)
    V(kReverse, EvalReverse)
    V(kRng, EvalRng)
    V(kRngBitGenerator, EvalRngBitGenerator)
    V(kRngGetAndUpdateState, EvalRngGetAndUpdateState)
    V(kRoundNearestAfz, EvalElementwise)
    V(kRoundNearestEven, EvalElementwise)
    V(kRsqrt, EvalElementwise)
    V(kScaledDot, EvalScaledDot)
    V(kScatter, EvalScatter)
    V(kSelect, EvalSelect)
    V(kSelectAndScatter, EvalSelectAndScatter)
    V(kSend, EvalHost)
    V(kSendDone, EvalHost)
    V(kSetDimensionSize, EvalSetDimensionSize)
    V(kShiftLeft, EvalElementwise)
    V(kShiftRightArithmetic, EvalElementwise)
    V(kShiftRightLogical, EvalElementwise)
    V(kSign, EvalElementwise)
    V(kSine, EvalElementwise)
    V(kSinh, EvalElementwise)
    V(kSlice, EvalSlice)
    V(kSort, EvalSort)
    V(kSqrt, EvalElementwise)
    V(kStochasticConvert, EvalStochasticConvert)
    V(kSubtract, EvalElementwise)
    V(kTan, EvalElementwise)
    V(kTanh, EvalElementwise)
    V(kTopK, EvalTopK)
    V(kTranspose, EvalTranspose)
    V(kTriangularSolve, EvalTriangularSolve)
    V(kTuple, EvalTuple)
    V(kWhile, EvalWhile)
    V(kXor, EvalElementwise)
#undef V
  }
  return EvalUnreachable;
}

constexpr std::array<Handler, kOpcodeCount> MakeTable() {
  std::array<Handler, kOpcodeCount> table = {};
  for (int op = 0; op < kOpcodeCount; ++op) {
    table[op] = RowOf(static_cast<Opcode>(op));
  }
  return table;
}

constexpr std::array<Handler, kOpcodeCount> kTable = MakeTable();

}  // namespace

Handler HandlerOf(Opcode opcode) { return kTable[static_cast<int>(opcode)]; }

}  // namespace eval
}  // namespace ridge
