// Dots as kernels: the form that matrix libraries take, and how a dot group
// comes to it.
#ifndef RIDGE_BACKENDS_KERNEL_GEMM_H_
#define RIDGE_BACKENDS_KERNEL_GEMM_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "fusion/gemm_epilogue.h"
#include "fusion/plan.h"

namespace ridge {

// A dot in the form libraries take: for each batch, D[m,n] = A[m,k] B[k,n],
// with an epilogue. Operands are physical matrices; `transpose_*` says that
// the stored matrix is [k,m] (or [n,k]).
struct GemmStep {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  ElementType a_type, b_type, d_type;
  using Activation = GemmActivation;
  Activation activation = Activation::kNone;
  double alpha = 1;
  double beta = 0;        // times matrix C, which then is an input
  bool has_bias = false;  // vector over n
  Precision precision = Precision::kDefault;
};

struct GemmLowering {
  GemmStep step;
  // Which values the step reads: A, B, then C where beta is not 0, then the
  // bias where there is one. All are inputs of the group.
  std::vector<const Instruction*> operands;
};

// The bare matrix product of `dot`. Unimplemented, with the reason, where its
// operands are not (batched) matrices in memory order: batch dimensions first
// and in one order, free and contracting dimensions each together.
absl::StatusOr<GemmLowering> LowerDot(const Instruction& dot);

// A kGemm group: the dot and an epilogue that is one of the libraries' forms,
// D = act(alpha*A*B + beta*C + bias). A library computes all of it before it
// rounds to D's type; whether that is wanted is decided where groups are
// formed (Numerics in fusion/legality.h).
absl::StatusOr<GemmLowering> LowerGemm(const Group& group);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_GEMM_H_
