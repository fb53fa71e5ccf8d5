// A matrix product as cuBLASLt takes it, described in row-major terms. Plain
// data and arithmetic; needs neither CUDA nor a device.
//
//   D[b] = act(alpha * op(A[b]) op(B[b]) + beta * C[b] + bias)
//
// with op(A) of m x k, op(B) of k x n, D of m x n, and bias a vector over n,
// the minor dimension. What cuBLASLt gets is the transpose of all that: a
// row-major matrix is the column-major form of its transpose, so it is asked
// for D^T = op(B)^T op(A)^T with the operands swapped. (CUBLASLT_ORDER_ROW
// would say so directly, but does not work with a bias.)

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_MATMUL_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_MATMUL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "backends/cuda/driver/cublaslt_abi.h"

namespace ridge::cuda {

enum class MatmulType { kF64, kF32, kF16, kBF16, kF8E4M3, kF8E5M2, kS8, kS32 };

// How products are formed and summed. kF32 keeps f32 operands whole (no tensor
// cores); kTF32 rounds them to 10 bits of mantissa. 16-bit and 8-bit floats
// use tensor cores and sum in f32 with kF32.
enum class MatmulCompute { kF32, kTF32, kF64, kS32 };

// "Aux" forms also write what the backward pass needs: of ReLU a bit per
// element, of GELU the value before it. GELU is the tanh form. ReLU of NaN is
// 0, not NaN.
enum class MatmulEpilogue {
  kNone,
  kBias,
  kRelu,
  kBiasRelu,
  kGelu,
  kBiasGelu,
  kReluAux,
  kBiasReluAux,
  kGeluAux,
  kBiasGeluAux,
  kDRelu,       // D = aux ? product : 0
  kDReluBgrad,  // and bias[n] = the sum of D over m
  kDGelu,       // D = product * gelu'(aux)
  kDGeluBgrad,
  kBgradA,  // bias[m] = the sum of op(A) over k
  kBgradB,  // bias[n] = the sum of op(B) over k
};

struct EpilogueFacts {
  enum class Use { kNone, kRead, kWritten };
  MatmulEpilogue epilogue;
  LtEpilogue lt;
  const char* name;
  Use bias;
  Use aux;
  bool aux_is_bits;
};

// One row per epilogue, in the order of the enum.
absl::Span<const EpilogueFacts> AllEpilogues();
const EpilogueFacts& FactsOf(MatmulEpilogue epilogue);

absl::string_view ToString(MatmulType type);  // "bf16"
absl::string_view ToString(MatmulCompute compute);
int BytesOf(MatmulType type);
bool IsF8(MatmulType type);

struct MatmulDesc {
  // A batch stride that leaves no gap. 0 means one matrix for all batches.
  static constexpr int64_t kPacked = -1;

  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t batch = 1;
  MatmulType a = MatmulType::kF32;
  MatmulType b = MatmulType::kF32;
  MatmulType d = MatmulType::kF32;
  // C's type; unset: D's, or bf16 where D is f8.
  absl::optional<MatmulType> c;
  // The stored matrix is [k, m], or [n, k].
  bool transpose_a = false;
  bool transpose_b = false;
  // Elements from one row to the next; 0: packed.
  int64_t lda = 0;
  int64_t ldb = 0;
  int64_t ldc = 0;
  int64_t ldd = 0;
  // Elements from one batch to the next.
  int64_t stride_a = kPacked;
  int64_t stride_b = kPacked;
  int64_t stride_c = kPacked;
  int64_t stride_d = kPacked;
  MatmulCompute compute = MatmulCompute::kF32;
  double alpha = 1;
  double beta = 0;
  MatmulEpilogue epilogue = MatmulEpilogue::kNone;
  // The bias's type; unset: D's, or what cuBLASLt asks for with s8 and f8.
  absl::optional<MatmulType> bias;
  int64_t bias_stride = 0;  // elements; 0: one bias for all batches
  // Row length of aux in its elements: bits for ReLU (a multiple of 128),
  // values of D's type for GELU (a multiple of 8). 0: the shortest allowed.
  int64_t aux_ld = 0;
  // f8 only: sums stay in the tensor core's shorter accumulator. Faster, less
  // exact.
  bool fast_accumulation = false;
  // What the addresses are multiples of, in bytes. cuBLASLt believes it, and a
  // kernel chosen for more than is true faults.
  int align_a = 256;
  int align_b = 256;
  int align_c = 256;
  int align_d = 256;
  int align_bias = 256;
  int align_aux = 256;

  // As named above, with 0 and kPacked resolved.
  int64_t Lda() const { return lda > 0 ? lda : transpose_a ? m : k; }
  int64_t Ldb() const { return ldb > 0 ? ldb : transpose_b ? k : n; }
  int64_t Ldc() const { return ldc > 0 ? ldc : n; }
  int64_t Ldd() const { return ldd > 0 ? ldd : n; }
  int64_t StrideA() const;
  int64_t StrideB() const;
  int64_t StrideC() const;
  int64_t StrideD() const;
  int64_t AuxLd() const;
  int64_t AuxStride() const { return m * AuxLd(); }  // elements
  MatmulType CType() const;
  MatmulType BiasType() const;
  // Elements of the bias, of one batch: n, or m for kBgradA. 0: no bias.
  int64_t BiasSize() const;
  // Bytes of the aux buffer, all batches. 0: none.
  int64_t AuxBytes() const;
  double Flops() const { return 2.0 * batch * m * n * k; }

  // One line, complete: "512x1024x256 bf16,bf16->f32 B^T f32 bias_gelu ...".
  std::string ToString() const;
};

// kInvalidArgument where the numbers do not fit together; kUnimplemented, with
// the reason, where cuBLASLt has no such product at all. OK does not promise a
// kernel for the device at hand; planning tells.
absl::Status ValidateMatmul(const MatmulDesc& desc);

// The product as cuBLASLt gets it: column-major, operands swapped.
struct LtMatrix {
  LtType type = LtType::kF32;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;
  int64_t batch_stride = 0;
};
struct LtProblem {
  LtCompute compute = LtCompute::kF32;
  LtType scale = LtType::kF32;  // of alpha and beta
  LtEpilogue epilogue = LtEpilogue::kDefault;
  LtOp transpose_a = LtOp::kNone;
  LtOp transpose_b = LtOp::kNone;
  LtMatrix a;  // our B
  LtMatrix b;  // our A
  LtMatrix c;
  LtMatrix d;
  int64_t batch = 1;
};
// `desc` is valid.
LtProblem ToLtProblem(const MatmulDesc& desc);
LtType ToLtType(MatmulType type);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_MATMUL_H_
