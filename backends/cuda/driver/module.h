// Compiled kernels on the device: load, look up, launch.
//
//   RIDGE_ASSIGN_OR_RETURN(Module module, Module::Load(context, kernel.cubin));
//   RIDGE_ASSIGN_OR_RETURN(Function f, module.GetFunction("softmax"));
//   KernelArgs args;
//   args.Add(in).Add(out).Add(rows);
//   LaunchConfig config;
//   config.grid.x = rows;
//   config.block.x = 256;
//   RIDGE_RETURN_IF_ERROR(f.Launch(config, args, stream));

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_MODULE_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_MODULE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/cuda/driver/device.h"
#include "backends/cuda/driver/stream.h"

namespace ridge::cuda {

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;

  uint64_t Count() const { return uint64_t{x} * y * z; }
};

struct LaunchConfig {
  Dim3 grid;  // blocks, also where they form clusters
  Dim3 block;
  size_t dynamic_shared_bytes = 0;
  // Blocks per cluster; grid must be a multiple. {1, 1, 1}: no clusters.
  Dim3 cluster;
  // All blocks are resident at once, for grid-wide barriers.
  bool cooperative = false;
  // The kernel may start while its predecessor in the stream ends; it must
  // wait with griddepcontrol.wait before it reads what that one wrote.
  bool programmatic_dependent = false;
};

// The values of a kernel's parameters, in order, copied.
class KernelArgs {
 public:
  template <typename T>
  KernelArgs& Add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    AddBytes(&value, sizeof(T), alignof(T));
    return *this;
  }
  // A parameter of any type, such as a struct made at run time.
  void AddBytes(const void* bytes, size_t size, size_t alignment);

  int size() const { return static_cast<int>(offsets_.size()); }
  // Pointers to the values; valid until the next Add.
  std::vector<void*> Pointers() const;
  // Puts another value of the same size into a parameter.
  template <typename T>
  void Set(int index, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    SetBytes(index, &value, sizeof(T));
  }

 private:
  void SetBytes(int index, const void* bytes, size_t size);

  // Parameters may need more alignment than a char vector has; the largest,
  // a tensor map's, is 128.
  struct alignas(128) Chunk {
    char bytes[128];
  };
  std::vector<Chunk> storage_;
  std::vector<size_t> offsets_;
  size_t used_ = 0;
};

// As the driver sees the loaded code.
struct FunctionFacts {
  int registers = 0;        // per thread
  int64_t local_bytes = 0;  // per thread: stack and spills
  int64_t static_shared_bytes = 0;
  int64_t const_bytes = 0;
  int max_threads_per_block = 0;  // that the registers allow
  int binary_version = 0;         // 90 for compute capability 9.0
};

// A kernel of a Module, which must outlive it. Cheap to copy.
class Function {
 public:
  Function() = default;

  absl::StatusOr<FunctionFacts> Facts() const;

  // Allows launches with this much dynamic shared memory; needed above 48 KiB.
  // kInvalidArgument, with the device's limit, if static and dynamic together
  // are too much.
  absl::Status SetMaxDynamicShared(size_t bytes) const;
  // Allows clusters of more than 8 blocks (16 on Hopper).
  absl::Status AllowLargeClusters() const;

  // Blocks that one multiprocessor holds at once.
  absl::StatusOr<int> MaxBlocksPerSm(int threads_per_block,
                                     size_t dynamic_shared_bytes) const;
  // Clusters that the device holds at once; kUnimplemented before 11.8.
  absl::StatusOr<int> MaxActiveClusters(const LaunchConfig& config) const;

  absl::Status Launch(const LaunchConfig& config, const KernelArgs& args,
                      const Stream& stream) const;
  // The same with pointers that the caller keeps, for launches without any
  // allocation.
  absl::Status Launch(const LaunchConfig& config, void** params,
                      const Stream& stream) const;

  const std::string& name() const { return *name_; }
  FunctionHandle handle() const { return handle_; }

 private:
  friend class Module;
  Function(const Context* context, FunctionHandle handle,
           const std::string* name)
      : context_(context), handle_(handle), name_(name) {}

  const Context* context_ = nullptr;
  FunctionHandle handle_ = nullptr;
  const std::string* name_ = nullptr;
};

class Module {
 public:
  // Loads a cubin (or PTX, which the driver then compiles). A cubin for
  // another device or from a newer toolkit than the driver's is
  // kFailedPrecondition with both named.
  static absl::StatusOr<Module> Load(const Context& context,
                                     absl::string_view image);
  Module(Module&& other) noexcept { *this = std::move(other); }
  Module& operator=(Module&& other) noexcept;
  ~Module();

  // `name` as in the cubin: use extern "C" kernels. kNotFound names it.
  absl::StatusOr<Function> GetFunction(const std::string& name);
  struct Global {
    DevicePtr ptr = 0;
    size_t bytes = 0;
  };
  // A __device__ or __constant__ variable.
  absl::StatusOr<Global> GetGlobal(const std::string& name) const;

 private:
  Module(const Context* context, ModuleHandle handle);

  const Context* context_ = nullptr;
  ModuleHandle handle_ = nullptr;
  // Owned so that Function stays a few words; never shrinks.
  std::vector<std::unique_ptr<const std::string>> names_;
};

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_MODULE_H_
