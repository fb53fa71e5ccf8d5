// Matrix products checked against a plain kernel that sums in double.

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_MATMUL_BENCH_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_MATMUL_BENCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/driver/cublaslt.h"
#include "backends/cuda/driver/matmul.h"
#include "backends/cuda/driver/memory.h"
#include "backends/cuda/driver/module.h"
#include "backends/cuda/driver/stream.h"

namespace ridge::cuda {

struct Verdict {
  uint64_t wrong[3] = {};  // values of D, of aux, of a bias gradient
  float worst[3] = {};     // error over tolerance
  bool Good() const { return wrong[0] + wrong[1] + wrong[2] == 0; }
};

class MatmulBench {
 public:
  static absl::StatusOr<std::unique_ptr<MatmulBench>> Create(
      const Context& context);

  // Operands and the reference product for descriptions that differ from
  // `desc` in epilogue, alpha and beta only. With `views`, operands start one
  // element past an aligned address.
  absl::Status Prepare(const MatmulDesc& desc, bool views = false);

  // Runs one algorithm on poisoned outputs and compares everything it wrote.
  absl::StatusOr<Verdict> Check(MatmulPlan* plan, int algo);

  // What one run gives to the stream.
  absl::StatusOr<std::vector<GraphNode>> Nodes(MatmulPlan* plan, int algo);
  // Device time of one run.
  absl::StatusOr<double> Micros(MatmulPlan* plan, int algo);
  const MatmulLibrary& library() const { return *library_; }

 private:
  MatmulBench(const Context& context, std::unique_ptr<MatmulLibrary> library,
              Stream stream, Module module)
      : context_(context),
        library_(std::move(library)),
        stream_(std::move(stream)),
        module_(std::move(module)) {}

  absl::Status LoadFunctions();
  absl::Status FillRandom(DevicePtr to, MatmulType type, int64_t count,
                          uint32_t seed);
  absl::Status CheckBiasGradient(const MatmulDesc& desc);

  const Context& context_;
  std::unique_ptr<MatmulLibrary> library_;
  Stream stream_;
  Module module_;
  Function fill_;
  Function reference_;
  Function check_;
  Function sums_;

  DeviceBuffer memory_;
  MatmulBuffers buffers_;
  DevicePtr acc_ = 0;
  DevicePtr mag_ = 0;
  DevicePtr expected_ = 0;
  DevicePtr verdict_ = 0;
  size_t d_bytes_ = 0;
  size_t aux_bytes_ = 0;
};

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_MATMUL_BENCH_H_
