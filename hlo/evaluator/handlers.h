// Handlers by class of opcode; handlers.cc is the table.
#ifndef RIDGE_HLO_EVALUATOR_HANDLERS_H_
#define RIDGE_HLO_EVALUATOR_HANDLERS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/evaluator/context.h"

namespace ridge {
namespace eval {

#define RIDGE_HANDLER(name) absl::StatusOr<Literal> name(const Op& op);

// elementwise.cc
RIDGE_HANDLER(EvalElementwise)
RIDGE_HANDLER(EvalCompare)
RIDGE_HANDLER(EvalConvert)
RIDGE_HANDLER(EvalSelect)
RIDGE_HANDLER(EvalStochasticConvert)
// shape_ops.cc
RIDGE_HANDLER(EvalIdentity)
RIDGE_HANDLER(EvalBitcast)
RIDGE_HANDLER(EvalBitcastConvert)
RIDGE_HANDLER(EvalBroadcast)
RIDGE_HANDLER(EvalConcatenate)
RIDGE_HANDLER(EvalDynamicReshape)
RIDGE_HANDLER(EvalIota)
RIDGE_HANDLER(EvalPad)
RIDGE_HANDLER(EvalReshape)
RIDGE_HANDLER(EvalReverse)
RIDGE_HANDLER(EvalSlice)
RIDGE_HANDLER(EvalTranspose)
// reduce.cc, reduce_window.cc
RIDGE_HANDLER(EvalReduce)
RIDGE_HANDLER(EvalReduceWindow)
RIDGE_HANDLER(EvalSelectAndScatter)
// dot.cc, convolution.cc
RIDGE_HANDLER(EvalDot)
RIDGE_HANDLER(EvalRaggedDot)
RIDGE_HANDLER(EvalScaledDot)
RIDGE_HANDLER(EvalConvolution)
// indexed.cc, sort.cc
RIDGE_HANDLER(EvalDynamicSlice)
RIDGE_HANDLER(EvalDynamicUpdateSlice)
RIDGE_HANDLER(EvalGather)
RIDGE_HANDLER(EvalScatter)
RIDGE_HANDLER(EvalSort)
RIDGE_HANDLER(EvalTopK)
// control.cc
RIDGE_HANDLER(EvalAfterAll)
RIDGE_HANDLER(EvalAsyncStart)
RIDGE_HANDLER(EvalAsyncUpdate)
RIDGE_HANDLER(EvalAsyncDone)
RIDGE_HANDLER(EvalCall)
RIDGE_HANDLER(EvalConditional)
RIDGE_HANDLER(EvalCopyStart)
RIDGE_HANDLER(EvalCopyDone)
RIDGE_HANDLER(EvalFirstOperand)
RIDGE_HANDLER(EvalFusion)
RIDGE_HANDLER(EvalGetDimensionSize)
RIDGE_HANDLER(EvalGetTupleElement)
RIDGE_HANDLER(EvalMap)
RIDGE_HANDLER(EvalSetDimensionSize)
RIDGE_HANDLER(EvalTuple)
RIDGE_HANDLER(EvalWhile)
RIDGE_HANDLER(EvalUnreachable)
// collective.cc
RIDGE_HANDLER(EvalCollective)
RIDGE_HANDLER(EvalCollectiveStart)
RIDGE_HANDLER(EvalCollectiveDone)
RIDGE_HANDLER(EvalOnlyReplica)
RIDGE_HANDLER(EvalHost)
// custom_call.cc
RIDGE_HANDLER(EvalCustomCall)
// linalg.cc, fft.cc, norm.cc, random.cc
RIDGE_HANDLER(EvalCholesky)
RIDGE_HANDLER(EvalTriangularSolve)
RIDGE_HANDLER(EvalFft)
RIDGE_HANDLER(EvalBatchNormTraining)
RIDGE_HANDLER(EvalBatchNormInference)
RIDGE_HANDLER(EvalBatchNormGrad)
RIDGE_HANDLER(EvalRng)
RIDGE_HANDLER(EvalRngBitGenerator)
RIDGE_HANDLER(EvalRngGetAndUpdateState)

#undef RIDGE_HANDLER

// scatter with this combiner in place of the instruction's.
absl::StatusOr<Literal> ScatterWith(const Op& op, const Computation& combiner);

// One sorted line of sort: line `l` of the operands is ordered as
// order[l*n], order[l*n+1] ... (positions along the sorted dimension).
absl::StatusOr<std::vector<int64_t>> SortOrder(const Op& op);
// Where in a row-major array element i of line l lies.
struct SortLines {
  int64_t dim = 0;
  int64_t length = 0;
  int64_t stride = 1;
  int64_t lines = 0;
  int64_t at(int64_t l, int64_t i) const {
    return l / stride * stride * length + l % stride + i * stride;
  }
};
absl::StatusOr<SortLines> SortLinesOf(const Op& op);

// OK, or why no arguments could make these run here.
absl::Status CheckOneDevice(const Instruction& instruction);   // collective.cc
absl::Status CheckCustomCall(const Instruction& instruction);  // custom_call.cc

}  // namespace eval
}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_HANDLERS_H_
