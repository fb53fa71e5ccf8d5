// Epilogues of matrix products that libraries take: what follows a dot, read
// as D = act(alpha * A*B + beta * C + bias).
//
// Order matters: bias and C are added after alpha and before the activation,
// and a scale after a bias is no alpha. The bias is a vector over the result's
// minor dimension in memory. GELU is the tanh form with its constants 0.5,
// sqrt(2/pi) and 0.044715, however the module spells it; the erf form differs
// from it by up to 4e-4 and is never matched. Source of the forms: cuBLASLt's
// epilogues (cublasLt.h, CUDA 13), and OpenXLA's gemm_rewriter for how modules
// spell them.
#ifndef RIDGE_FUSION_GEMM_EPILOGUE_H_
#define RIDGE_FUSION_GEMM_EPILOGUE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "fusion/legality.h"
#include "hlo/ir/module.h"

namespace ridge {

enum class GemmActivation : uint8_t { kNone, kRelu, kGeluTanh };

struct GemmEpilogueMatch {
  Decision decision;                // allowed, or which condition failed
  const Instruction* at = nullptr;  // the instruction it failed at
  double alpha = 1;
  double beta = 0;
  const Instruction* c = nullptr;     // D's shape; null where beta is 0
  const Instruction* bias = nullptr;  // a vector; null: none
  GemmActivation activation = GemmActivation::kNone;
  const Instruction* root = nullptr;  // D
  // What it takes: the dot, the epilogue, and the constants and broadcasts
  // they read, by id. C and bias are not among them.
  std::vector<const Instruction*> members;
};

// The longest epilogue of `dot` that a library can take. Always matches at
// least the bare dot (root == dot); `decision` and `at` then say why nothing
// more was taken, or are `allowed` where nothing follows that could be.
GemmEpilogueMatch MatchGemmEpilogue(const Instruction& dot, Numerics numerics);

// Whether a group around `dot` is one of the forms: its root is an epilogue of
// the dot, and its members are what that takes.
GemmEpilogueMatch MatchGemmGroup(const Instruction& dot,
                                 absl::Span<const Instruction* const> members,
                                 absl::Span<const Instruction* const> roots,
                                 Numerics numerics);

}  // namespace ridge

#endif  // RIDGE_FUSION_GEMM_EPILOGUE_H_
