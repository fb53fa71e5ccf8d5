// The opcodes of HLO: one row each, read by every layer. What a layer adds
// (attributes, shape rule, evaluator, emitter, cost) it keeps in a table of
// its own, indexed by Opcode.
#ifndef RIDGE_HLO_IR_OPCODE_H_
#define RIDGE_HLO_IR_OPCODE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace ridge {

enum class OpClass : uint8_t {
  kElementwise,  // output element i needs element i of each operand
  kShape,        // moves elements, computes none
  kReduce,       // reduce, reduce-window, select-and-scatter
  kContraction,  // dot-like and convolution
  kIndexed,      // gather, scatter, dynamic slices, sort, topk
  kRandom,
  kLinalg,   // fft, cholesky, triangular-solve
  kNorm,     // batch-norm-*
  kControl,  // while, conditional, call, fusion, map, custom-call
  kTuple,
  kCollective,
  kAsync,  // start/update/done pairs and copies between memories
  kHost,   // infeed, outfeed, send, recv
  kOther,
};

inline constexpr int8_t kVariadic = -1;

// RIDGE_OPCODES(V): V(enumerator, text, arity, class). Arity counts operands;
// kVariadic where it varies (the verifier knows the rule).
#define RIDGE_OPCODES(V)                                                  \
  V(kAbs, "abs", 1, kElementwise)                                         \
  V(kAcos, "acos", 1, kElementwise)                                       \
  V(kAcosh, "acosh", 1, kElementwise)                                     \
  V(kAdd, "add", 2, kElementwise)                                         \
  V(kAddDependency, "add-dependency", 2, kOther)                          \
  V(kAfterAll, "after-all", kVariadic, kOther)                            \
  V(kAllGather, "all-gather", kVariadic, kCollective)                     \
  V(kAllGatherStart, "all-gather-start", kVariadic, kCollective)          \
  V(kAllGatherDone, "all-gather-done", 1, kCollective)                    \
  V(kAllReduce, "all-reduce", kVariadic, kCollective)                     \
  V(kAllReduceStart, "all-reduce-start", kVariadic, kCollective)          \
  V(kAllReduceDone, "all-reduce-done", 1, kCollective)                    \
  V(kAllToAll, "all-to-all", kVariadic, kCollective)                      \
  V(kAnd, "and", 2, kElementwise)                                         \
  V(kAsin, "asin", 1, kElementwise)                                       \
  V(kAsinh, "asinh", 1, kElementwise)                                     \
  V(kAsyncStart, "async-start", kVariadic, kAsync)                        \
  V(kAsyncUpdate, "async-update", 1, kAsync)                              \
  V(kAsyncDone, "async-done", 1, kAsync)                                  \
  V(kAtan2, "atan2", 2, kElementwise)                                     \
  V(kAtanh, "atanh", 1, kElementwise)                                     \
  V(kBatchNormGrad, "batch-norm-grad", 5, kNorm)                          \
  V(kBatchNormInference, "batch-norm-inference", 5, kNorm)                \
  V(kBatchNormTraining, "batch-norm-training", 3, kNorm)                  \
  V(kBitcast, "bitcast", 1, kShape)                                       \
  V(kBitcastConvert, "bitcast-convert", 1, kShape)                        \
  V(kBroadcast, "broadcast", 1, kShape)                                   \
  V(kCall, "call", kVariadic, kControl)                                   \
  V(kCbrt, "cbrt", 1, kElementwise)                                       \
  V(kCeil, "ceil", 1, kElementwise)                                       \
  V(kCholesky, "cholesky", 1, kLinalg)                                    \
  V(kClamp, "clamp", 3, kElementwise)                                     \
  V(kCollectiveBroadcast, "collective-broadcast", kVariadic, kCollective) \
  V(kCollectivePermute, "collective-permute", kVariadic, kCollective)     \
  V(kCollectivePermuteStart, "collective-permute-start", kVariadic,       \
    kCollective)                                                          \
  V(kCollectivePermuteDone, "collective-permute-done", 1, kCollective)    \
  V(kCompare, "compare", 2, kElementwise)                                 \
  V(kComplex, "complex", 2, kElementwise)                                 \
  V(kConcatenate, "concatenate", kVariadic, kShape)                       \
  V(kConditional, "conditional", kVariadic, kControl)                     \
  V(kConstant, "constant", 0, kOther)                                     \
  V(kConvert, "convert", 1, kElementwise)                                 \
  V(kConvolution, "convolution", 2, kContraction)                         \
  V(kCopy, "copy", 1, kElementwise)                                       \
  V(kCopyStart, "copy-start", 1, kAsync)                                  \
  V(kCopyDone, "copy-done", 1, kAsync)                                    \
  V(kCosine, "cosine", 1, kElementwise)                                   \
  V(kCosh, "cosh", 1, kElementwise)                                       \
  V(kCountLeadingZeros, "count-leading-zeros", 1, kElementwise)           \
  V(kCustomCall, "custom-call", kVariadic, kControl)                      \
  V(kDivide, "divide", 2, kElementwise)                                   \
  V(kDomain, "domain", 1, kOther)                                         \
  V(kDot, "dot", kVariadic, kContraction)                                 \
  V(kDynamicReshape, "dynamic-reshape", kVariadic, kShape)                \
  V(kDynamicSlice, "dynamic-slice", kVariadic, kIndexed)                  \
  V(kDynamicUpdateSlice, "dynamic-update-slice", kVariadic, kIndexed)     \
  V(kErf, "erf", 1, kElementwise)                                         \
  V(kExp, "exponential", 1, kElementwise)                                 \
  V(kExpm1, "exponential-minus-one", 1, kElementwise)                     \
  V(kFft, "fft", 1, kLinalg)                                              \
  V(kFloor, "floor", 1, kElementwise)                                     \
  V(kFusion, "fusion", kVariadic, kControl)                               \
  V(kGather, "gather", 2, kIndexed)                                       \
  V(kGetDimensionSize, "get-dimension-size", 1, kOther)                   \
  V(kGetTupleElement, "get-tuple-element", 1, kTuple)                     \
  V(kImag, "imag", 1, kElementwise)                                       \
  V(kInfeed, "infeed", 1, kHost)                                          \
  V(kIota, "iota", 0, kShape)                                             \
  V(kIsFinite, "is-finite", 1, kElementwise)                              \
  V(kLog, "log", 1, kElementwise)                                         \
  V(kLog1p, "log-plus-one", 1, kElementwise)                              \
  V(kLogistic, "logistic", 1, kElementwise)                               \
  V(kMap, "map", kVariadic, kControl)                                     \
  V(kMaximum, "maximum", 2, kElementwise)                                 \
  V(kMinimum, "minimum", 2, kElementwise)                                 \
  V(kMultiply, "multiply", 2, kElementwise)                               \
  V(kNegate, "negate", 1, kElementwise)                                   \
  V(kNot, "not", 1, kElementwise)                                         \
  V(kOptimizationBarrier, "opt-barrier", 1, kOther)                       \
  V(kOr, "or", 2, kElementwise)                                           \
  V(kOutfeed, "outfeed", 2, kHost)                                        \
  V(kPad, "pad", 2, kShape)                                               \
  V(kParameter, "parameter", 0, kOther)                                   \
  V(kPartitionId, "partition-id", 0, kCollective)                         \
  V(kPopulationCount, "popcnt", 1, kElementwise)                          \
  V(kPower, "power", 2, kElementwise)                                     \
  V(kRaggedAllToAll, "ragged-all-to-all", 6, kCollective)                 \
  V(kRaggedDot, "ragged-dot", 3, kContraction)                            \
  V(kReal, "real", 1, kElementwise)                                       \
  V(kRecv, "recv", 1, kHost)                                              \
  V(kRecvDone, "recv-done", 1, kHost)                                     \
  V(kReduce, "reduce", kVariadic, kReduce)                                \
  V(kReducePrecision, "reduce-precision", 1, kElementwise)                \
  V(kReduceScatter, "reduce-scatter", kVariadic, kCollective)             \
  V(kReduceWindow, "reduce-window", kVariadic, kReduce)                   \
  V(kRemainder, "remainder", 2, kElementwise)                             \
  V(kReplicaId, "replica-id", 0, kCollective)                             \
  V(kReshape, "reshape", 1, kShape)                                       \
  V(kReverse, "reverse", 1, kShape)                                       \
  V(kRng, "rng", kVariadic, kRandom)                                      \
  V(kRngBitGenerator, "rng-bit-generator", 1, kRandom)                    \
  V(kRngGetAndUpdateState, "rng-get-and-update-state", 0, kRandom)        \
  V(kRoundNearestAfz, "round-nearest-afz", 1, kElementwise)               \
  V(kRoundNearestEven, "round-nearest-even", 1, kElementwise)             \
  V(kRsqrt, "rsqrt", 1, kElementwise)                                     \
  V(kScaledDot, "scaled-dot", 4, kContraction)                            \
  V(kScatter, "scatter", kVariadic, kIndexed)                             \
  V(kSelect, "select", 3, kElementwise)                                   \
  V(kSelectAndScatter, "select-and-scatter", 3, kReduce)                  \
  V(kSend, "send", 2, kHost)                                              \
  V(kSendDone, "send-done", 1, kHost)                                     \
  V(kSetDimensionSize, "set-dimension-size", 2, kOther)                   \
  V(kShiftLeft, "shift-left", 2, kElementwise)                            \
  V(kShiftRightArithmetic, "shift-right-arithmetic", 2, kElementwise)     \
  V(kShiftRightLogical, "shift-right-logical", 2, kElementwise)           \
  V(kSign, "sign", 1, kElementwise)                                       \
  V(kSine, "sine", 1, kElementwise)                                       \
  V(kSinh, "sinh", 1, kElementwise)                                       \
  V(kSlice, "slice", 1, kShape)                                           \
  V(kSort, "sort", kVariadic, kIndexed)                                   \
  V(kSqrt, "sqrt", 1, kElementwise)                                       \
  V(kStochasticConvert, "stochastic-convert", 2, kElementwise)            \
  V(kSubtract, "subtract", 2, kElementwise)                               \
  V(kTan, "tan", 1, kElementwise)                                         \
  V(kTanh, "tanh", 1, kElementwise)                                       \
  V(kTopK, "topk", 1, kIndexed)                                           \
  V(kTranspose, "transpose", 1, kShape)                                   \
  V(kTriangularSolve, "triangular-solve", 2, kLinalg)                     \
  V(kTuple, "tuple", kVariadic, kTuple)                                   \
  V(kWhile, "while", 1, kControl)                                         \
  V(kXor, "xor", 2, kElementwise)

enum class Opcode : uint8_t {
#define V(e, ...) e,
  RIDGE_OPCODES(V)
#undef V
};

#define V(...) +1
inline constexpr int kOpcodeCount = 0 RIDGE_OPCODES(V);
#undef V

struct OpcodeInfo {
  Opcode opcode;
  absl::string_view name;
  int8_t arity;  // kVariadic where it varies
  OpClass op_class;
};

const OpcodeInfo& Info(Opcode opcode);
inline absl::string_view Name(Opcode op) { return Info(op).name; }
std::optional<Opcode> OpcodeFromName(absl::string_view name);

inline bool IsElementwise(Opcode op) {
  return Info(op).op_class == OpClass::kElementwise;
}
inline bool IsCollective(Opcode op) {
  return Info(op).op_class == OpClass::kCollective;
}

}  // namespace ridge

#endif  // RIDGE_HLO_IR_OPCODE_H_
