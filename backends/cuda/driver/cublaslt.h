// Matrix products by cuBLASLt: plan once, list the algorithms, run any.
//
//   RIDGE_ASSIGN_OR_RETURN(auto library, MatmulLibrary::Create(context));
//   RIDGE_ASSIGN_OR_RETURN(MatmulPlan plan, library->Plan(desc));
//   for (int i = 0; i < plan.algos().size(); ++i) { time plan.Run(i, ...) }

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_CUBLASLT_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_CUBLASLT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/cuda/driver/cublaslt_abi.h"
#include "backends/cuda/driver/device.h"
#include "backends/cuda/driver/library.h"
#include "backends/cuda/driver/matmul.h"
#include "backends/cuda/driver/memory.h"
#include "backends/cuda/driver/stream.h"

namespace ridge::cuda {

// What NVIDIA recommends (cuBLAS documentation, "cuBLAS Workspace"): 32 MiB on
// Hopper and later, 4 MiB before. Which algorithms there are depends on it, so
// it is fixed: a choice made by measuring stays valid.
size_t MatmulWorkspaceBytes(const DeviceFacts& facts);

// One way to compute a product.
struct MatmulAlgo {
  LtAlgo algo;
  size_t workspace_bytes = 0;
  double waves = 0;  // 1: one full wave of blocks
  // Identifiers of cuBLASLt's enums; splits of k are a count.
  int id = 0;
  int tile = 0;
  int stages = 0;
  int split_k = 1;
  // Of the splits: 0 none, 1 in place, 2 in the compute type, 4 in D's type.
  int reduction_scheme = 0;
  int swizzle = 0;
  int custom_option = 0;
  int cluster_shape = 0;

  // "id 66 tile 605 stages 36 split_k 1 cluster 3".
  std::string ToString() const;
  // 128 hexadecimal digits for a tuning database, to be used again with the
  // same cuBLASLt version only (MatmulPlan::AddAlgo).
  std::string ToHex() const;
  static absl::StatusOr<LtAlgo> FromHex(absl::string_view hex);
};

struct MatmulPlanOptions {
  int max_algos = 16;
  // Sums of split products: any of MatmulAlgo's reduction schemes, as a mask.
  // 0: only algorithms that do not split k.
  uint32_t reduction_schemes = 7;
  // Plan for part of the device's multiprocessors; 0: all.
  int sm_count_target = 0;
};

// Addresses in device memory. Those that the epilogue does not use may be 0.
struct MatmulBuffers {
  DevicePtr a = 0;
  DevicePtr b = 0;
  DevicePtr c = 0;  // read only if beta is not 0
  DevicePtr d = 0;
  DevicePtr bias = 0;
  DevicePtr aux = 0;
  // One f32 each, for f8: factors on A, B and D. 0: 1.
  DevicePtr scale_a = 0;
  DevicePtr scale_b = 0;
  DevicePtr scale_d = 0;
  // workspace_bytes of the algorithm, aligned to 256. 0: the library's own,
  // which products on several streams at once must not share.
  DevicePtr workspace = 0;
};

class MatmulLibrary;

// A product prepared for one device. Movable. Not thread-safe: a run writes
// addresses into it; runs already given to a stream or a graph keep theirs.
class MatmulPlan {
 public:
  MatmulPlan(MatmulPlan&& other) noexcept;
  MatmulPlan& operator=(MatmulPlan&& other) noexcept;
  ~MatmulPlan();

  // cuBLASLt's ranking, best guess first; at least one.
  absl::Span<const MatmulAlgo> algos() const { return algos_; }
  // Appends an algorithm from a database and returns its index;
  // kUnimplemented if it does not fit this product or version.
  absl::StatusOr<int> AddAlgo(const LtAlgo& algo);

  absl::Status Run(int algo, const MatmulBuffers& buffers,
                   const Stream& stream);

  const MatmulDesc& desc() const { return desc_; }

 private:
  friend class MatmulLibrary;
  struct Handles;  // descriptors, destroyed with the plan

  MatmulPlan(const MatmulLibrary* library, const MatmulDesc& desc,
             std::unique_ptr<Handles> handles);
  absl::Status SetPointers(const MatmulBuffers& buffers);

  const MatmulLibrary* library_;
  MatmulDesc desc_;
  std::unique_ptr<Handles> handles_;
  std::vector<MatmulAlgo> algos_;
};

// cuBLASLt on one device, with a workspace. The context must outlive it, and
// it its plans.
class MatmulLibrary {
 public:
  static absl::StatusOr<std::unique_ptr<MatmulLibrary>> Create(
      const Context& context);
  ~MatmulLibrary();
  MatmulLibrary(const MatmulLibrary&) = delete;
  MatmulLibrary& operator=(const MatmulLibrary&) = delete;

  // Errors: ValidateMatmul's; kUnimplemented if cuBLASLt has no kernel for
  // this product on this device.
  absl::StatusOr<MatmulPlan> Plan(
      const MatmulDesc& desc,
      const MatmulPlanOptions& options = MatmulPlanOptions()) const;

  size_t workspace_bytes() const { return workspace_.size(); }
  // cublasLtGetVersion: 130100 is 13.1.0.
  size_t version() const { return api_->version; }
  const CublasLtApi& api() const { return *api_; }
  const Context& context() const { return context_; }
  LtHandle handle() const { return handle_; }
  DevicePtr workspace() const { return workspace_.ptr(); }

 private:
  MatmulLibrary(const Context& context, const CublasLtApi* api, LtHandle handle,
                DeviceBuffer workspace);

  const Context& context_;
  const CublasLtApi* api_;
  LtHandle handle_;
  DeviceBuffer workspace_;
};

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_CUBLASLT_H_
