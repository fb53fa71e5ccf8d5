// The part of cuBLASLt's binary interface that Ridge calls, declared here for
// the reason given in driver_abi.h and checked by abi_test.cc. The same from
// cuBLAS 12 to 13.

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_CUBLASLT_ABI_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_CUBLASLT_ABI_H_

#include <cstddef>
#include <cstdint>

#include "backends/cuda/driver/driver_abi.h"

namespace ridge::cuda {

using LtStatus = int;
inline constexpr LtStatus kLtSuccess = 0;
inline constexpr LtStatus kLtNotInitialized = 1;
inline constexpr LtStatus kLtAllocFailed = 3;
inline constexpr LtStatus kLtInvalidValue = 7;
inline constexpr LtStatus kLtArchMismatch = 8;
inline constexpr LtStatus kLtExecutionFailed = 13;
inline constexpr LtStatus kLtInternalError = 14;
inline constexpr LtStatus kLtNotSupported = 15;

// cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t and
// cublasLtMatmulPreference_t: all opaque pointers.
using LtHandle = void*;
using LtMatmulDesc = void*;
using LtLayout = void*;
using LtPreference = void*;

// cudaDataType.
enum class LtType : int32_t {
  kF32 = 0,
  kF64 = 1,
  kF16 = 2,
  kS8 = 3,
  kS32 = 10,
  kBF16 = 14,
  kF8E4M3 = 28,
  kF8E5M2 = 29,
};

// cublasComputeType_t.
enum class LtCompute : int32_t {
  kF32 = 68,
  kF64 = 70,
  kS32 = 72,
  kF32FastTF32 = 77,
};

// cublasOperation_t.
enum class LtOp : int32_t { kNone = 0, kTranspose = 1 };

// cublasLtEpilogue_t.
enum class LtEpilogue : uint32_t {
  kDefault = 1,
  kRelu = 2,
  kReluAux = 130,
  kBias = 4,
  kReluBias = 6,
  kReluAuxBias = 134,
  kDRelu = 136,
  kDReluBgrad = 152,
  kGelu = 32,
  kGeluAux = 160,
  kGeluBias = 36,
  kGeluAuxBias = 164,
  kDGelu = 192,
  kDGeluBgrad = 208,
  kBgradA = 256,
  kBgradB = 512,
};

// cublasLtMatmulDescAttributes_t, with the type of each value.
enum class LtDescAttribute : int {
  kTransA = 3,             // LtOp
  kTransB = 4,             // LtOp
  kEpilogue = 7,           // LtEpilogue
  kBiasPointer = 8,        // DevicePtr
  kBiasBatchStride = 10,   // int64_t
  kAuxPointer = 11,        // DevicePtr
  kAuxLd = 12,             // int64_t
  kAuxBatchStride = 13,    // int64_t
  kSmCountTarget = 15,     // int32_t
  kAScalePointer = 17,     // DevicePtr
  kBScalePointer = 18,     // DevicePtr
  kCScalePointer = 19,     // DevicePtr
  kDScalePointer = 20,     // DevicePtr
  kAmaxDPointer = 21,      // DevicePtr
  kAuxDataType = 22,       // LtType
  kFastAccumulation = 25,  // int8_t
  kBiasDataType = 26,      // LtType
};

// cublasLtMatrixLayoutAttribute_t.
enum class LtLayoutAttribute : int {
  kBatchCount = 5,   // int32_t
  kBatchStride = 6,  // int64_t, elements
};

// cublasLtMatmulPreferenceAttributes_t.
enum class LtPreferenceAttribute : int {
  kMaxWorkspaceBytes = 1,    // uint64_t
  kReductionSchemeMask = 3,  // uint32_t
  kMinAlignmentA = 5,        // uint32_t, bytes; likewise B, C, D
  kMinAlignmentB = 6,
  kMinAlignmentC = 7,
  kMinAlignmentD = 8,
};

// cublasLtMatmulAlgoConfigAttributes_t.
enum class LtAlgoAttribute : int {
  kId = 0,               // int32_t
  kTile = 1,             // uint32_t
  kSplitK = 2,           // int32_t
  kReductionScheme = 3,  // uint32_t
  kSwizzle = 4,          // uint32_t
  kCustomOption = 5,     // uint32_t
  kStages = 6,           // uint32_t
  kInnerShape = 7,       // uint16_t
  kClusterShape = 8,     // uint16_t
};

// cublasLtMatmulAlgo_t: may be stored, and used again with the same version
// of the library.
struct LtAlgo {
  uint64_t data[8] = {};
};

// cublasLtMatmulHeuristicResult_t.
struct LtHeuristicResult {
  LtAlgo algo;
  size_t workspace_bytes;
  LtStatus state;
  float waves;
  int reserved[4];
};

// X(need, field, exported name, return type, parameters), as in driver_abi.h.
#define RIDGE_CUDA_CUBLASLT_SYMBOLS(X)                                         \
  X(kRequired, GetVersion, cublasLtGetVersion, size_t, ())                     \
  X(kRequired, Create, cublasLtCreate, LtStatus, (LtHandle * handle))          \
  X(kRequired, Destroy, cublasLtDestroy, LtStatus, (LtHandle handle))          \
  X(kRequired, DescCreate, cublasLtMatmulDescCreate, LtStatus,                 \
    (LtMatmulDesc * desc, LtCompute compute, LtType scale))                    \
  X(kRequired, DescDestroy, cublasLtMatmulDescDestroy, LtStatus,               \
    (LtMatmulDesc desc))                                                       \
  X(kRequired, DescSet, cublasLtMatmulDescSetAttribute, LtStatus,              \
    (LtMatmulDesc desc, LtDescAttribute attribute, const void* value,          \
     size_t bytes))                                                            \
  X(kRequired, DescGet, cublasLtMatmulDescGetAttribute, LtStatus,              \
    (LtMatmulDesc desc, LtDescAttribute attribute, void* value, size_t bytes,  \
     size_t* written))                                                         \
  X(kRequired, LayoutCreate, cublasLtMatrixLayoutCreate, LtStatus,             \
    (LtLayout * layout, LtType type, uint64_t rows, uint64_t cols,             \
     int64_t ld))                                                              \
  X(kRequired, LayoutDestroy, cublasLtMatrixLayoutDestroy, LtStatus,           \
    (LtLayout layout))                                                         \
  X(kRequired, LayoutSet, cublasLtMatrixLayoutSetAttribute, LtStatus,          \
    (LtLayout layout, LtLayoutAttribute attribute, const void* value,          \
     size_t bytes))                                                            \
  X(kRequired, PreferenceCreate, cublasLtMatmulPreferenceCreate, LtStatus,     \
    (LtPreference * preference))                                               \
  X(kRequired, PreferenceDestroy, cublasLtMatmulPreferenceDestroy, LtStatus,   \
    (LtPreference preference))                                                 \
  X(kRequired, PreferenceSet, cublasLtMatmulPreferenceSetAttribute, LtStatus,  \
    (LtPreference preference, LtPreferenceAttribute attribute,                 \
     const void* value, size_t bytes))                                         \
  X(kRequired, AlgoGetHeuristic, cublasLtMatmulAlgoGetHeuristic, LtStatus,     \
    (LtHandle handle, LtMatmulDesc desc, LtLayout a, LtLayout b, LtLayout c,   \
     LtLayout d, LtPreference preference, int requested,                       \
     LtHeuristicResult* results, int* returned))                               \
  X(kRequired, AlgoCheck, cublasLtMatmulAlgoCheck, LtStatus,                   \
    (LtHandle handle, LtMatmulDesc desc, LtLayout a, LtLayout b, LtLayout c,   \
     LtLayout d, const LtAlgo* algo, LtHeuristicResult* result))               \
  X(kRequired, AlgoConfigGet, cublasLtMatmulAlgoConfigGetAttribute, LtStatus,  \
    (const LtAlgo* algo, LtAlgoAttribute attribute, void* value, size_t bytes, \
     size_t* written))                                                         \
  X(kRequired, Matmul, cublasLtMatmul, LtStatus,                               \
    (LtHandle handle, LtMatmulDesc desc, const void* alpha, const void* a,     \
     LtLayout a_layout, const void* b, LtLayout b_layout, const void* beta,    \
     const void* c, LtLayout c_layout, void* d, LtLayout d_layout,             \
     const LtAlgo* algo, void* workspace, size_t workspace_bytes,              \
     StreamHandle stream))

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_CUBLASLT_ABI_H_
