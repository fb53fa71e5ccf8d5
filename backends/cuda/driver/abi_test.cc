// Holds driver_abi.h and cublaslt_abi.h against the toolkit's own headers, at
// compile time. Where those are not installed there is nothing to check.

#include "gtest/gtest.h"

#ifndef RIDGE_HAVE_CUDA_HEADERS

TEST(AbiTest, MatchesToolkitHeaders) {
  GTEST_SKIP() << "built without the CUDA toolkit's headers";
}

#else

#include <cublasLt.h>
#include <cuda.h>
#include <nvrtc.h>

#include <cstddef>
#include <type_traits>

#include "backends/cuda/driver/cublaslt_abi.h"
#include "backends/cuda/driver/driver_abi.h"

namespace ridge::cuda {
namespace {

// Whether values of the two types travel the same way through a call: the
// same handle or both any pointer, both floating or both integers or enums,
// of one size.
template <typename A, typename B>
constexpr bool SameKind() {
  if (std::is_pointer_v<A> || std::is_pointer_v<B>) {
    return std::is_pointer_v<A> && std::is_pointer_v<B>;
  }
  return std::is_void_v<A> == std::is_void_v<B> &&
         std::is_floating_point_v<A> == std::is_floating_point_v<B> &&
         sizeof(A) == sizeof(B);
}

// Pointers to what the library reads or writes must agree in size too.
template <typename A, typename B>
constexpr bool SameParameter() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using PA = std::remove_cv_t<std::remove_pointer_t<A>>;
    using PB = std::remove_cv_t<std::remove_pointer_t<B>>;
    if constexpr (std::is_arithmetic_v<PB> || std::is_enum_v<PB>) {
      // One way to spell a 64-bit integer is `long`, another `long long`; and
      // void* takes any pointer.
      if constexpr (std::is_void_v<PA> || std::is_void_v<PB>)
        return true;
      else
        return sizeof(PA) == sizeof(PB);
    }
    return true;
  }
  return SameKind<A, B>();
}

template <typename Ours, typename Theirs>
struct SameFunction : std::false_type {};
template <typename R1, typename R2, typename... A, typename... B>
struct SameFunction<R1 (*)(A...), R2 (*)(B...)> {
  static constexpr bool Check() {
    if constexpr (sizeof...(A) != sizeof...(B)) {
      return false;
    } else {
      return SameKind<R1, R2>() && (SameParameter<A, B>() && ...);
    }
  }
  static constexpr bool value = Check();
};

#define RIDGE_CHECK_FUNCTION(need, field, symbol, result, params) \
  using field##Type = result(*) params;                           \
  static_assert(SameFunction<field##Type, decltype(&::symbol)>::value, #symbol);

RIDGE_CUDA_DRIVER_SYMBOLS(RIDGE_CHECK_FUNCTION)
namespace nvrtc {
RIDGE_CUDA_NVRTC_SYMBOLS(RIDGE_CHECK_FUNCTION)
}
namespace lt {
RIDGE_CUDA_CUBLASLT_SYMBOLS(RIDGE_CHECK_FUNCTION)
}

#define RIDGE_CHECK_VALUE(ours, theirs)                                 \
  static_assert(                                                        \
      static_cast<long long>(ours) == static_cast<long long>(::theirs), \
      #theirs)

// Handles are the toolkit's own types.
static_assert(std::is_same_v<ContextHandle, CUcontext>);
static_assert(std::is_same_v<EventHandle, CUevent>);
static_assert(std::is_same_v<FunctionHandle, CUfunction>);
static_assert(std::is_same_v<GraphExecHandle, CUgraphExec>);
static_assert(std::is_same_v<GraphHandle, CUgraph>);
static_assert(std::is_same_v<GraphNodeHandle, CUgraphNode>);
static_assert(std::is_same_v<KernelHandle, CUkernel>);
static_assert(std::is_same_v<ModuleHandle, CUmodule>);
static_assert(std::is_same_v<ProgramHandle, nvrtcProgram>);
static_assert(std::is_same_v<StreamHandle, CUstream>);
static_assert(sizeof(DevicePtr) == sizeof(CUdeviceptr));
static_assert(sizeof(int) == sizeof(CUdevice));

RIDGE_CHECK_VALUE(kDriverSuccess, CUDA_SUCCESS);
RIDGE_CHECK_VALUE(kDriverInvalidValue, CUDA_ERROR_INVALID_VALUE);
RIDGE_CHECK_VALUE(kDriverOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
RIDGE_CHECK_VALUE(kDriverNotInitialized, CUDA_ERROR_NOT_INITIALIZED);
RIDGE_CHECK_VALUE(kDriverStubLibrary, CUDA_ERROR_STUB_LIBRARY);
RIDGE_CHECK_VALUE(kDriverCallRequiresNewerDriver,
                  CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
RIDGE_CHECK_VALUE(kDriverDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
RIDGE_CHECK_VALUE(kDriverNoDevice, CUDA_ERROR_NO_DEVICE);
RIDGE_CHECK_VALUE(kDriverInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
RIDGE_CHECK_VALUE(kDriverInvalidImage, CUDA_ERROR_INVALID_IMAGE);
RIDGE_CHECK_VALUE(kDriverNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
RIDGE_CHECK_VALUE(kDriverUnsupportedPtxVersion,
                  CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
RIDGE_CHECK_VALUE(kDriverNotFound, CUDA_ERROR_NOT_FOUND);
RIDGE_CHECK_VALUE(kDriverNotReady, CUDA_ERROR_NOT_READY);
RIDGE_CHECK_VALUE(kDriverLaunchOutOfResources,
                  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
RIDGE_CHECK_VALUE(kDriverNotSupported, CUDA_ERROR_NOT_SUPPORTED);
RIDGE_CHECK_VALUE(kDriverSystemNotReady, CUDA_ERROR_SYSTEM_NOT_READY);
RIDGE_CHECK_VALUE(kDriverSystemDriverMismatch,
                  CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
RIDGE_CHECK_VALUE(kDriverInvalidClusterSize, CUDA_ERROR_INVALID_CLUSTER_SIZE);

#define RIDGE_CHECK_DEVICE(ours, theirs) \
  RIDGE_CHECK_VALUE(DeviceAttribute::ours, CU_DEVICE_ATTRIBUTE_##theirs)
RIDGE_CHECK_DEVICE(kMaxThreadsPerBlock, MAX_THREADS_PER_BLOCK);
RIDGE_CHECK_DEVICE(kMaxSharedPerBlock, MAX_SHARED_MEMORY_PER_BLOCK);
RIDGE_CHECK_DEVICE(kWarpSize, WARP_SIZE);
RIDGE_CHECK_DEVICE(kMaxRegistersPerBlock, MAX_REGISTERS_PER_BLOCK);
RIDGE_CHECK_DEVICE(kClockRate, CLOCK_RATE);
RIDGE_CHECK_DEVICE(kSmCount, MULTIPROCESSOR_COUNT);
RIDGE_CHECK_DEVICE(kEccEnabled, ECC_ENABLED);
RIDGE_CHECK_DEVICE(kPciBusId, PCI_BUS_ID);
RIDGE_CHECK_DEVICE(kPciDeviceId, PCI_DEVICE_ID);
RIDGE_CHECK_DEVICE(kMemoryClockRate, MEMORY_CLOCK_RATE);
RIDGE_CHECK_DEVICE(kMemoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH);
RIDGE_CHECK_DEVICE(kL2CacheSize, L2_CACHE_SIZE);
RIDGE_CHECK_DEVICE(kMaxThreadsPerSm, MAX_THREADS_PER_MULTIPROCESSOR);
RIDGE_CHECK_DEVICE(kPciDomainId, PCI_DOMAIN_ID);
RIDGE_CHECK_DEVICE(kComputeCapabilityMajor, COMPUTE_CAPABILITY_MAJOR);
RIDGE_CHECK_DEVICE(kComputeCapabilityMinor, COMPUTE_CAPABILITY_MINOR);
RIDGE_CHECK_DEVICE(kMaxSharedPerSm, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
RIDGE_CHECK_DEVICE(kMaxRegistersPerSm, MAX_REGISTERS_PER_MULTIPROCESSOR);
RIDGE_CHECK_DEVICE(kCooperativeLaunch, COOPERATIVE_LAUNCH);
RIDGE_CHECK_DEVICE(kMaxSharedPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
RIDGE_CHECK_DEVICE(kMaxBlocksPerSm, MAX_BLOCKS_PER_MULTIPROCESSOR);
RIDGE_CHECK_DEVICE(kMaxPersistingL2, MAX_PERSISTING_L2_CACHE_SIZE);
RIDGE_CHECK_DEVICE(kReservedSharedPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK);
RIDGE_CHECK_DEVICE(kClusterLaunch, CLUSTER_LAUNCH);

#define RIDGE_CHECK_FUNC(ours, theirs) \
  RIDGE_CHECK_VALUE(FunctionAttribute::ours, CU_FUNC_ATTRIBUTE_##theirs)
RIDGE_CHECK_FUNC(kMaxThreadsPerBlock, MAX_THREADS_PER_BLOCK);
RIDGE_CHECK_FUNC(kStaticSharedBytes, SHARED_SIZE_BYTES);
RIDGE_CHECK_FUNC(kConstBytes, CONST_SIZE_BYTES);
RIDGE_CHECK_FUNC(kLocalBytes, LOCAL_SIZE_BYTES);
RIDGE_CHECK_FUNC(kRegisters, NUM_REGS);
RIDGE_CHECK_FUNC(kBinaryVersion, BINARY_VERSION);
RIDGE_CHECK_FUNC(kMaxDynamicSharedBytes, MAX_DYNAMIC_SHARED_SIZE_BYTES);
RIDGE_CHECK_FUNC(kPreferredSharedCarveout, PREFERRED_SHARED_MEMORY_CARVEOUT);
RIDGE_CHECK_FUNC(kNonPortableClusterSize, NON_PORTABLE_CLUSTER_SIZE_ALLOWED);

RIDGE_CHECK_VALUE(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
RIDGE_CHECK_VALUE(kEventDisableTiming, CU_EVENT_DISABLE_TIMING);
RIDGE_CHECK_VALUE(kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
RIDGE_CHECK_VALUE(kCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
RIDGE_CHECK_VALUE(kGraphNodeKernel, CU_GRAPH_NODE_TYPE_KERNEL);
RIDGE_CHECK_VALUE(kGraphNodeMemcpy, CU_GRAPH_NODE_TYPE_MEMCPY);
RIDGE_CHECK_VALUE(kGraphNodeMemset, CU_GRAPH_NODE_TYPE_MEMSET);
RIDGE_CHECK_VALUE(kGraphNodeConditional, CU_GRAPH_NODE_TYPE_CONDITIONAL);
RIDGE_CHECK_VALUE(kConditionalIf, CU_GRAPH_COND_TYPE_IF);
RIDGE_CHECK_VALUE(kConditionalWhile, CU_GRAPH_COND_TYPE_WHILE);
RIDGE_CHECK_VALUE(kCaptureActive, CU_STREAM_CAPTURE_STATUS_ACTIVE);
RIDGE_CHECK_VALUE(kCaptureSetDependencies, CU_STREAM_SET_CAPTURE_DEPENDENCIES);
RIDGE_CHECK_VALUE(kLaunchCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
RIDGE_CHECK_VALUE(kLaunchClusterDimension,
                  CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
RIDGE_CHECK_VALUE(kLaunchProgrammaticSerialization,
                  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);

#define RIDGE_CHECK_OFFSET(ours, our_member, theirs, their_member) \
  static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member))
static_assert(sizeof(LaunchAttributeAbi) == sizeof(CUlaunchAttribute));
RIDGE_CHECK_OFFSET(LaunchAttributeAbi, bytes, CUlaunchAttribute, value);
static_assert(sizeof(LaunchConfigAbi) == sizeof(CUlaunchConfig));
RIDGE_CHECK_OFFSET(LaunchConfigAbi, block_x, CUlaunchConfig, blockDimX);
RIDGE_CHECK_OFFSET(LaunchConfigAbi, shared_bytes, CUlaunchConfig,
                   sharedMemBytes);
RIDGE_CHECK_OFFSET(LaunchConfigAbi, stream, CUlaunchConfig, hStream);
RIDGE_CHECK_OFFSET(LaunchConfigAbi, attributes, CUlaunchConfig, attrs);
RIDGE_CHECK_OFFSET(LaunchConfigAbi, num_attributes, CUlaunchConfig, numAttrs);
static_assert(sizeof(KernelNodeAbi) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
RIDGE_CHECK_OFFSET(KernelNodeAbi, shared_bytes, CUDA_KERNEL_NODE_PARAMS_v2,
                   sharedMemBytes);
RIDGE_CHECK_OFFSET(KernelNodeAbi, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
static_assert(sizeof(ConditionalNodeAbi) == sizeof(CUgraphNodeParams));
RIDGE_CHECK_OFFSET(ConditionalNodeAbi, handle, CUgraphNodeParams,
                   conditional.handle);
RIDGE_CHECK_OFFSET(ConditionalNodeAbi, conditional_type, CUgraphNodeParams,
                   conditional.type);
RIDGE_CHECK_OFFSET(ConditionalNodeAbi, graphs, CUgraphNodeParams,
                   conditional.phGraph_out);
RIDGE_CHECK_OFFSET(ConditionalNodeAbi, context, CUgraphNodeParams,
                   conditional.ctx);
RIDGE_CHECK_OFFSET(ConditionalNodeAbi, reserved2, CUgraphNodeParams, reserved2);
static_assert(sizeof(TensorMapAbi) == sizeof(CUtensorMap));
static_assert(alignof(TensorMapAbi) >= alignof(CUtensorMap));

RIDGE_CHECK_VALUE(kNvrtcSuccess, NVRTC_SUCCESS);
RIDGE_CHECK_VALUE(kNvrtcInvalidOption, NVRTC_ERROR_INVALID_OPTION);
RIDGE_CHECK_VALUE(kNvrtcCompilationError, NVRTC_ERROR_COMPILATION);

RIDGE_CHECK_VALUE(kLtSuccess, CUBLAS_STATUS_SUCCESS);
RIDGE_CHECK_VALUE(kLtNotInitialized, CUBLAS_STATUS_NOT_INITIALIZED);
RIDGE_CHECK_VALUE(kLtAllocFailed, CUBLAS_STATUS_ALLOC_FAILED);
RIDGE_CHECK_VALUE(kLtInvalidValue, CUBLAS_STATUS_INVALID_VALUE);
RIDGE_CHECK_VALUE(kLtArchMismatch, CUBLAS_STATUS_ARCH_MISMATCH);
RIDGE_CHECK_VALUE(kLtExecutionFailed, CUBLAS_STATUS_EXECUTION_FAILED);
RIDGE_CHECK_VALUE(kLtInternalError, CUBLAS_STATUS_INTERNAL_ERROR);
RIDGE_CHECK_VALUE(kLtNotSupported, CUBLAS_STATUS_NOT_SUPPORTED);

RIDGE_CHECK_VALUE(LtType::kF32, CUDA_R_32F);
RIDGE_CHECK_VALUE(LtType::kF64, CUDA_R_64F);
RIDGE_CHECK_VALUE(LtType::kF16, CUDA_R_16F);
RIDGE_CHECK_VALUE(LtType::kS8, CUDA_R_8I);
RIDGE_CHECK_VALUE(LtType::kS32, CUDA_R_32I);
RIDGE_CHECK_VALUE(LtType::kBF16, CUDA_R_16BF);
RIDGE_CHECK_VALUE(LtType::kF8E4M3, CUDA_R_8F_E4M3);
RIDGE_CHECK_VALUE(LtType::kF8E5M2, CUDA_R_8F_E5M2);
RIDGE_CHECK_VALUE(LtCompute::kF32, CUBLAS_COMPUTE_32F);
RIDGE_CHECK_VALUE(LtCompute::kF64, CUBLAS_COMPUTE_64F);
RIDGE_CHECK_VALUE(LtCompute::kS32, CUBLAS_COMPUTE_32I);
RIDGE_CHECK_VALUE(LtCompute::kF32FastTF32, CUBLAS_COMPUTE_32F_FAST_TF32);
RIDGE_CHECK_VALUE(LtOp::kNone, CUBLAS_OP_N);
RIDGE_CHECK_VALUE(LtOp::kTranspose, CUBLAS_OP_T);

#define RIDGE_CHECK_EPILOGUE(ours, theirs) \
  RIDGE_CHECK_VALUE(LtEpilogue::ours, CUBLASLT_EPILOGUE_##theirs)
RIDGE_CHECK_EPILOGUE(kDefault, DEFAULT);
RIDGE_CHECK_EPILOGUE(kRelu, RELU);
RIDGE_CHECK_EPILOGUE(kReluAux, RELU_AUX);
RIDGE_CHECK_EPILOGUE(kBias, BIAS);
RIDGE_CHECK_EPILOGUE(kReluBias, RELU_BIAS);
RIDGE_CHECK_EPILOGUE(kReluAuxBias, RELU_AUX_BIAS);
RIDGE_CHECK_EPILOGUE(kDRelu, DRELU);
RIDGE_CHECK_EPILOGUE(kDReluBgrad, DRELU_BGRAD);
RIDGE_CHECK_EPILOGUE(kGelu, GELU);
RIDGE_CHECK_EPILOGUE(kGeluAux, GELU_AUX);
RIDGE_CHECK_EPILOGUE(kGeluBias, GELU_BIAS);
RIDGE_CHECK_EPILOGUE(kGeluAuxBias, GELU_AUX_BIAS);
RIDGE_CHECK_EPILOGUE(kDGelu, DGELU);
RIDGE_CHECK_EPILOGUE(kDGeluBgrad, DGELU_BGRAD);
RIDGE_CHECK_EPILOGUE(kBgradA, BGRADA);
RIDGE_CHECK_EPILOGUE(kBgradB, BGRADB);

#define RIDGE_CHECK_DESC(ours, theirs) \
  RIDGE_CHECK_VALUE(LtDescAttribute::ours, CUBLASLT_MATMUL_DESC_##theirs)
RIDGE_CHECK_DESC(kTransA, TRANSA);
RIDGE_CHECK_DESC(kTransB, TRANSB);
RIDGE_CHECK_DESC(kEpilogue, EPILOGUE);
RIDGE_CHECK_DESC(kBiasPointer, BIAS_POINTER);
RIDGE_CHECK_DESC(kBiasBatchStride, BIAS_BATCH_STRIDE);
RIDGE_CHECK_DESC(kAuxPointer, EPILOGUE_AUX_POINTER);
RIDGE_CHECK_DESC(kAuxLd, EPILOGUE_AUX_LD);
RIDGE_CHECK_DESC(kAuxBatchStride, EPILOGUE_AUX_BATCH_STRIDE);
RIDGE_CHECK_DESC(kSmCountTarget, SM_COUNT_TARGET);
RIDGE_CHECK_DESC(kAScalePointer, A_SCALE_POINTER);
RIDGE_CHECK_DESC(kBScalePointer, B_SCALE_POINTER);
RIDGE_CHECK_DESC(kCScalePointer, C_SCALE_POINTER);
RIDGE_CHECK_DESC(kDScalePointer, D_SCALE_POINTER);
RIDGE_CHECK_DESC(kAmaxDPointer, AMAX_D_POINTER);
RIDGE_CHECK_DESC(kAuxDataType, EPILOGUE_AUX_DATA_TYPE);
RIDGE_CHECK_DESC(kFastAccumulation, FAST_ACCUM);
RIDGE_CHECK_DESC(kBiasDataType, BIAS_DATA_TYPE);
RIDGE_CHECK_VALUE(LtLayoutAttribute::kBatchCount,
                  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
RIDGE_CHECK_VALUE(LtLayoutAttribute::kBatchStride,
                  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);

#define RIDGE_CHECK_PREF(ours, theirs) \
  RIDGE_CHECK_VALUE(LtPreferenceAttribute::ours, CUBLASLT_MATMUL_PREF_##theirs)
RIDGE_CHECK_PREF(kMaxWorkspaceBytes, MAX_WORKSPACE_BYTES);
RIDGE_CHECK_PREF(kReductionSchemeMask, REDUCTION_SCHEME_MASK);
RIDGE_CHECK_PREF(kMinAlignmentA, MIN_ALIGNMENT_A_BYTES);
RIDGE_CHECK_PREF(kMinAlignmentB, MIN_ALIGNMENT_B_BYTES);
RIDGE_CHECK_PREF(kMinAlignmentC, MIN_ALIGNMENT_C_BYTES);
RIDGE_CHECK_PREF(kMinAlignmentD, MIN_ALIGNMENT_D_BYTES);

#define RIDGE_CHECK_ALGO(ours, theirs) \
  RIDGE_CHECK_VALUE(LtAlgoAttribute::ours, CUBLASLT_ALGO_CONFIG_##theirs)
RIDGE_CHECK_ALGO(kId, ID);
RIDGE_CHECK_ALGO(kTile, TILE_ID);
RIDGE_CHECK_ALGO(kSplitK, SPLITK_NUM);
RIDGE_CHECK_ALGO(kReductionScheme, REDUCTION_SCHEME);
RIDGE_CHECK_ALGO(kSwizzle, CTA_SWIZZLING);
RIDGE_CHECK_ALGO(kCustomOption, CUSTOM_OPTION);
RIDGE_CHECK_ALGO(kStages, STAGES_ID);
RIDGE_CHECK_ALGO(kInnerShape, INNER_SHAPE_ID);
RIDGE_CHECK_ALGO(kClusterShape, CLUSTER_SHAPE_ID);

static_assert(sizeof(LtAlgo) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(LtHeuristicResult) ==
              sizeof(cublasLtMatmulHeuristicResult_t));
RIDGE_CHECK_OFFSET(LtHeuristicResult, workspace_bytes,
                   cublasLtMatmulHeuristicResult_t, workspaceSize);
RIDGE_CHECK_OFFSET(LtHeuristicResult, state, cublasLtMatmulHeuristicResult_t,
                   state);
RIDGE_CHECK_OFFSET(LtHeuristicResult, waves, cublasLtMatmulHeuristicResult_t,
                   wavesCount);

TEST(AbiTest, MatchesToolkitHeaders) {
  SUCCEED() << "every line was checked when this file was compiled";
}

}  // namespace
}  // namespace ridge::cuda

#endif  // RIDGE_HAVE_CUDA_HEADERS
