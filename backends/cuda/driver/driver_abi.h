// The part of the CUDA driver's and NVRTC's binary interface that Ridge calls.
//
// Declared here rather than taken from the toolkit, so that one binary, built
// on any machine, can drive a GPU on another. The interface is stable: NVIDIA
// gives a changed function a new exported name (cuMemAlloc_v2) and never
// renumbers an enum. abi_test.cc holds every line against the toolkit's own
// headers wherever those are installed.

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_DRIVER_ABI_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_DRIVER_ABI_H_

#include <cstddef>
#include <cstdint>

// The handles are pointers to the driver's own (incomplete) global structs, so
// that they are the same types as in a file that does include cuda.h.
struct CUctx_st;
struct CUevent_st;
struct CUfunc_st;
struct CUgraphExec_st;
struct CUgraphNode_st;
struct CUgraph_st;
struct CUkern_st;
struct CUmod_st;
struct CUstream_st;
struct _nvrtcProgram;  // NOLINT(bugprone-reserved-identifier)

namespace ridge::cuda {

using ContextHandle = CUctx_st*;
using EventHandle = CUevent_st*;
using FunctionHandle = CUfunc_st*;
using GraphExecHandle = CUgraphExec_st*;
using GraphHandle = CUgraph_st*;
using GraphNodeHandle = CUgraphNode_st*;
using KernelHandle = CUkern_st*;
using ModuleHandle = CUmod_st*;
using ProgramHandle = _nvrtcProgram*;
using StreamHandle = CUstream_st*;

// An address in device memory; 0 is null.
using DevicePtr = uint64_t;

// ---- Driver: results and constants ----------------------------------------

using DriverResult = int;
inline constexpr DriverResult kDriverSuccess = 0;
inline constexpr DriverResult kDriverInvalidValue = 1;
inline constexpr DriverResult kDriverOutOfMemory = 2;
inline constexpr DriverResult kDriverNotInitialized = 3;
inline constexpr DriverResult kDriverStubLibrary = 34;
inline constexpr DriverResult kDriverCallRequiresNewerDriver = 36;
inline constexpr DriverResult kDriverDeviceUnavailable = 46;
inline constexpr DriverResult kDriverNoDevice = 100;
inline constexpr DriverResult kDriverInvalidDevice = 101;
inline constexpr DriverResult kDriverInvalidImage = 200;
inline constexpr DriverResult kDriverNoBinaryForGpu = 209;
inline constexpr DriverResult kDriverUnsupportedPtxVersion = 222;
inline constexpr DriverResult kDriverNotFound = 500;
inline constexpr DriverResult kDriverNotReady = 600;
inline constexpr DriverResult kDriverLaunchOutOfResources = 701;
inline constexpr DriverResult kDriverNotSupported = 801;
inline constexpr DriverResult kDriverSystemNotReady = 802;
inline constexpr DriverResult kDriverSystemDriverMismatch = 803;
inline constexpr DriverResult kDriverInvalidClusterSize = 912;

// CUdevice_attribute.
enum class DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxSharedPerBlock = 8,
  kWarpSize = 10,
  kMaxRegistersPerBlock = 12,
  kClockRate = 13,  // kHz
  kSmCount = 16,
  kEccEnabled = 32,
  kPciBusId = 33,
  kPciDeviceId = 34,
  kMemoryClockRate = 36,  // kHz
  kMemoryBusWidth = 37,   // bits
  kL2CacheSize = 38,      // bytes
  kMaxThreadsPerSm = 39,
  kPciDomainId = 50,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedPerSm = 81,
  kMaxRegistersPerSm = 82,
  kCooperativeLaunch = 95,
  kMaxSharedPerBlockOptin = 97,
  kMaxBlocksPerSm = 106,
  kMaxPersistingL2 = 108,
  kReservedSharedPerBlock = 111,
  kClusterLaunch = 120,
};

// CUfunction_attribute.
enum class FunctionAttribute : int {
  kMaxThreadsPerBlock = 0,
  kStaticSharedBytes = 1,
  kConstBytes = 2,
  kLocalBytes = 3,
  kRegisters = 4,
  kBinaryVersion = 6,
  kMaxDynamicSharedBytes = 8,
  kPreferredSharedCarveout = 9,  // per cent of the largest, -1: driver's choice
  kNonPortableClusterSize = 14,
};

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
// Thread-local: an unsafe call on this thread is an error, others go on.
// Relaxed: neither is watched.
inline constexpr int kCaptureThreadLocal = 1;
inline constexpr int kCaptureRelaxed = 2;
inline constexpr int kGraphNodeKernel = 0;
inline constexpr int kGraphNodeMemcpy = 1;
inline constexpr int kGraphNodeMemset = 2;
inline constexpr int kGraphNodeConditional = 13;
// CUgraphConditionalNodeType.
inline constexpr int kConditionalIf = 0;
inline constexpr int kConditionalWhile = 1;
// CUstreamCaptureStatus, CUstreamUpdateCaptureDependencies_flags.
inline constexpr int kCaptureActive = 1;
inline constexpr unsigned kCaptureSetDependencies = 1;

// CUlaunchAttributeID.
inline constexpr int kLaunchCooperative = 2;
inline constexpr int kLaunchClusterDimension = 4;
inline constexpr int kLaunchProgrammaticSerialization = 6;

// CUlaunchAttribute, with the values used here.
struct LaunchAttributeAbi {
  int id;
  int pad;
  union {
    char bytes[64];
    int flag;
    struct {
      unsigned x, y, z;
    } cluster;
  };
};

// CUlaunchConfig.
struct LaunchConfigAbi {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  StreamHandle stream;
  LaunchAttributeAbi* attributes;
  unsigned num_attributes;
};

// CUDA_KERNEL_NODE_PARAMS_v2. `function` is null where `kernel` is given.
struct KernelNodeAbi {
  FunctionHandle function;
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  void** params;
  void** extra;
  KernelHandle kernel;
  ContextHandle context;
};

// CUgraphNodeParams of a conditional node. The driver fills in `graphs`, its
// own array of `size` body graphs.
struct ConditionalNodeAbi {
  int type;  // kGraphNodeConditional
  int reserved0[3];
  uint64_t handle;
  int conditional_type;
  unsigned size;
  GraphHandle* graphs;
  ContextHandle context;
  char reserved1[200];
  int64_t reserved2;
};

// CUtensorMap: a descriptor for bulk tensor copies, passed to kernels by value
// as a __grid_constant__ parameter. CUDA 12 aligns it to 64 bytes, 13 to 128.
struct alignas(128) TensorMapAbi {
  uint64_t opaque[16];
};

// ---- Driver: functions ----------------------------------------------------
//
// X(need, field, exported name, return type, parameters): `need` is kRequired
// or kOptional; an optional field is null where the library lacks the symbol.
// Fields carry no "cu", so that cuda.h's macros cannot rename them.

#define RIDGE_CUDA_DRIVER_SYMBOLS(X)                                           \
  X(kRequired, Init, cuInit, DriverResult, (unsigned flags))                   \
  X(kRequired, DriverGetVersion, cuDriverGetVersion, DriverResult,             \
    (int* version))                                                            \
  X(kRequired, GetErrorName, cuGetErrorName, DriverResult,                     \
    (DriverResult error, const char** text))                                   \
  X(kRequired, GetErrorString, cuGetErrorString, DriverResult,                 \
    (DriverResult error, const char** text))                                   \
  X(kRequired, DeviceGetCount, cuDeviceGetCount, DriverResult, (int* count))   \
  X(kRequired, DeviceGet, cuDeviceGet, DriverResult,                           \
    (int* device, int ordinal))                                                \
  X(kRequired, DeviceGetName, cuDeviceGetName, DriverResult,                   \
    (char* name, int length, int device))                                      \
  X(kRequired, DeviceGetAttribute, cuDeviceGetAttribute, DriverResult,         \
    (int* value, DeviceAttribute attribute, int device))                       \
  X(kRequired, DeviceTotalMem, cuDeviceTotalMem_v2, DriverResult,              \
    (size_t * bytes, int device))                                              \
  X(kRequired, DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, DriverResult, \
    (ContextHandle * context, int device))                                     \
  X(kRequired, DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2,          \
    DriverResult, (int device))                                                \
  X(kRequired, CtxSetCurrent, cuCtxSetCurrent, DriverResult,                   \
    (ContextHandle context))                                                   \
  X(kRequired, CtxGetCurrent, cuCtxGetCurrent, DriverResult,                   \
    (ContextHandle * context))                                                 \
  X(kRequired, CtxSynchronize, cuCtxSynchronize, DriverResult, ())             \
  X(kRequired, MemGetInfo, cuMemGetInfo_v2, DriverResult,                      \
    (size_t * free, size_t * total))                                           \
  X(kRequired, MemAlloc, cuMemAlloc_v2, DriverResult,                          \
    (DevicePtr * pointer, size_t bytes))                                       \
  X(kRequired, MemFree, cuMemFree_v2, DriverResult, (DevicePtr pointer))       \
  X(kRequired, MemHostAlloc, cuMemHostAlloc, DriverResult,                     \
    (void** pointer, size_t bytes, unsigned flags))                            \
  X(kRequired, MemFreeHost, cuMemFreeHost, DriverResult, (void* pointer))      \
  X(kRequired, MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, DriverResult,            \
    (DevicePtr to, const void* from, size_t bytes, StreamHandle stream))       \
  X(kRequired, MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, DriverResult,            \
    (void* to, DevicePtr from, size_t bytes, StreamHandle stream))             \
  X(kRequired, MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, DriverResult,            \
    (DevicePtr to, DevicePtr from, size_t bytes, StreamHandle stream))         \
  X(kRequired, MemsetD8Async, cuMemsetD8Async, DriverResult,                   \
    (DevicePtr to, unsigned char value, size_t count, StreamHandle stream))    \
  X(kRequired, MemsetD32Async, cuMemsetD32Async, DriverResult,                 \
    (DevicePtr to, unsigned value, size_t count, StreamHandle stream))         \
  X(kRequired, StreamCreate, cuStreamCreate, DriverResult,                     \
    (StreamHandle * stream, unsigned flags))                                   \
  X(kRequired, StreamDestroy, cuStreamDestroy_v2, DriverResult,                \
    (StreamHandle stream))                                                     \
  X(kRequired, StreamSynchronize, cuStreamSynchronize, DriverResult,           \
    (StreamHandle stream))                                                     \
  X(kRequired, StreamQuery, cuStreamQuery, DriverResult,                       \
    (StreamHandle stream))                                                     \
  X(kRequired, StreamWaitEvent, cuStreamWaitEvent, DriverResult,               \
    (StreamHandle stream, EventHandle event, unsigned flags))                  \
  X(kRequired, EventCreate, cuEventCreate, DriverResult,                       \
    (EventHandle * event, unsigned flags))                                     \
  X(kRequired, EventDestroy, cuEventDestroy_v2, DriverResult,                  \
    (EventHandle event))                                                       \
  X(kRequired, EventRecord, cuEventRecord, DriverResult,                       \
    (EventHandle event, StreamHandle stream))                                  \
  X(kRequired, EventSynchronize, cuEventSynchronize, DriverResult,             \
    (EventHandle event))                                                       \
  /* The first version: drivers before 12.8 have no other. */                  \
  X(kRequired, EventElapsedTime, cuEventElapsedTime, DriverResult,             \
    (float* milliseconds, EventHandle begin, EventHandle end))                 \
  X(kRequired, StreamBeginCapture, cuStreamBeginCapture_v2, DriverResult,      \
    (StreamHandle stream, int mode))                                           \
  X(kRequired, StreamEndCapture, cuStreamEndCapture, DriverResult,             \
    (StreamHandle stream, GraphHandle * graph))                                \
  X(kRequired, GraphInstantiate, cuGraphInstantiateWithFlags, DriverResult,    \
    (GraphExecHandle * exec, GraphHandle graph, unsigned long long flags))     \
  X(kRequired, GraphLaunch, cuGraphLaunch, DriverResult,                       \
    (GraphExecHandle exec, StreamHandle stream))                               \
  X(kRequired, GraphUpload, cuGraphUpload, DriverResult,                       \
    (GraphExecHandle exec, StreamHandle stream))                               \
  X(kRequired, GraphDestroy, cuGraphDestroy, DriverResult,                     \
    (GraphHandle graph))                                                       \
  X(kRequired, GraphExecDestroy, cuGraphExecDestroy, DriverResult,             \
    (GraphExecHandle exec))                                                    \
  X(kRequired, GraphGetNodes, cuGraphGetNodes, DriverResult,                   \
    (GraphHandle graph, GraphNodeHandle * nodes, size_t * count))              \
  X(kRequired, GraphNodeGetType, cuGraphNodeGetType, DriverResult,             \
    (GraphNodeHandle node, int* type))                                         \
  X(kOptional, GraphKernelNodeGetParams, cuGraphKernelNodeGetParams_v2,        \
    DriverResult, (GraphNodeHandle node, KernelNodeAbi * params))              \
  /* Conditional nodes: since 12.3. */                                         \
  X(kOptional, GraphConditionalHandleCreate, cuGraphConditionalHandleCreate,   \
    DriverResult,                                                              \
    (uint64_t * handle, GraphHandle graph, ContextHandle context,              \
     unsigned default_value, unsigned flags))                                  \
  X(kOptional, GraphAddNode, cuGraphAddNode_v2, DriverResult,                  \
    (GraphNodeHandle * node, GraphHandle graph,                                \
     const GraphNodeHandle* dependencies, const void* edges, size_t count,     \
     ConditionalNodeAbi* params))                                              \
  X(kOptional, StreamGetCaptureInfo, cuStreamGetCaptureInfo_v3, DriverResult,  \
    (StreamHandle stream, int* status, uint64_t* id, GraphHandle* graph,       \
     const GraphNodeHandle** dependencies, const void** edges, size_t* count)) \
  X(kOptional, StreamUpdateCaptureDependencies,                                \
    cuStreamUpdateCaptureDependencies_v2, DriverResult,                        \
    (StreamHandle stream, GraphNodeHandle * dependencies, const void* edges,   \
     size_t count, unsigned flags))                                            \
  X(kOptional, StreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph,         \
    DriverResult,                                                              \
    (StreamHandle stream, GraphHandle graph,                                   \
     const GraphNodeHandle* dependencies, const void* edges, size_t count,     \
     int mode))                                                                \
  X(kOptional, FuncGetName, cuFuncGetName, DriverResult,                       \
    (const char** name, FunctionHandle function))                              \
  X(kOptional, KernelGetName, cuKernelGetName, DriverResult,                   \
    (const char** name, KernelHandle kernel))                                  \
  X(kRequired, ModuleLoadData, cuModuleLoadData, DriverResult,                 \
    (ModuleHandle * module, const void* image))                                \
  X(kRequired, ModuleUnload, cuModuleUnload, DriverResult,                     \
    (ModuleHandle module))                                                     \
  X(kRequired, ModuleGetFunction, cuModuleGetFunction, DriverResult,           \
    (FunctionHandle * function, ModuleHandle module, const char* name))        \
  X(kRequired, ModuleGetGlobal, cuModuleGetGlobal_v2, DriverResult,            \
    (DevicePtr * pointer, size_t * bytes, ModuleHandle module,                 \
     const char* name))                                                        \
  X(kRequired, FuncSetAttribute, cuFuncSetAttribute, DriverResult,             \
    (FunctionHandle function, FunctionAttribute attribute, int value))         \
  X(kRequired, FuncGetAttribute, cuFuncGetAttribute, DriverResult,             \
    (int* value, FunctionAttribute attribute, FunctionHandle function))        \
  X(kRequired, OccupancyMaxActiveBlocks,                                       \
    cuOccupancyMaxActiveBlocksPerMultiprocessor, DriverResult,                 \
    (int* blocks, FunctionHandle function, int block_size,                     \
     size_t shared_bytes))                                                     \
  X(kOptional, OccupancyMaxActiveClusters, cuOccupancyMaxActiveClusters,       \
    DriverResult,                                                              \
    (int* clusters, FunctionHandle function, const LaunchConfigAbi* config))   \
  X(kRequired, LaunchKernelEx, cuLaunchKernelEx, DriverResult,                 \
    (const LaunchConfigAbi* config, FunctionHandle function, void** params,    \
     void** extra))                                                            \
  X(kOptional, TensorMapEncodeTiled, cuTensorMapEncodeTiled, DriverResult,     \
    (TensorMapAbi * map, int type, uint32_t rank, void* address,               \
     const uint64_t* dims, const uint64_t* strides, const uint32_t* box,       \
     const uint32_t* element_strides, int interleave, int swizzle,             \
     int l2_promotion, int out_of_bounds_fill))

// ---- NVRTC ----------------------------------------------------------------

using NvrtcResult = int;
inline constexpr NvrtcResult kNvrtcSuccess = 0;
inline constexpr NvrtcResult kNvrtcInvalidOption = 5;
inline constexpr NvrtcResult kNvrtcCompilationError = 6;

#define RIDGE_CUDA_NVRTC_SYMBOLS(X)                                          \
  X(kRequired, Version, nvrtcVersion, NvrtcResult, (int* major, int* minor)) \
  X(kRequired, GetErrorString, nvrtcGetErrorString, const char*,             \
    (NvrtcResult result))                                                    \
  X(kRequired, GetNumSupportedArchs, nvrtcGetNumSupportedArchs, NvrtcResult, \
    (int* count))                                                            \
  X(kRequired, GetSupportedArchs, nvrtcGetSupportedArchs, NvrtcResult,       \
    (int* archs))                                                            \
  X(kRequired, CreateProgram, nvrtcCreateProgram, NvrtcResult,               \
    (ProgramHandle * program, const char* source, const char* name,          \
     int num_headers, const char* const* headers,                            \
     const char* const* include_names))                                      \
  X(kRequired, DestroyProgram, nvrtcDestroyProgram, NvrtcResult,             \
    (ProgramHandle * program))                                               \
  X(kRequired, CompileProgram, nvrtcCompileProgram, NvrtcResult,             \
    (ProgramHandle program, int num_options, const char* const* options))    \
  X(kRequired, GetPtxSize, nvrtcGetPTXSize, NvrtcResult,                     \
    (ProgramHandle program, size_t * bytes))                                 \
  X(kRequired, GetPtx, nvrtcGetPTX, NvrtcResult,                             \
    (ProgramHandle program, char* ptx))                                      \
  X(kRequired, GetCubinSize, nvrtcGetCUBINSize, NvrtcResult,                 \
    (ProgramHandle program, size_t * bytes))                                 \
  X(kRequired, GetCubin, nvrtcGetCUBIN, NvrtcResult,                         \
    (ProgramHandle program, char* cubin))                                    \
  X(kRequired, GetLogSize, nvrtcGetProgramLogSize, NvrtcResult,              \
    (ProgramHandle program, size_t * bytes))                                 \
  X(kRequired, GetLog, nvrtcGetProgramLog, NvrtcResult,                      \
    (ProgramHandle program, char* log))

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_DRIVER_ABI_H_
