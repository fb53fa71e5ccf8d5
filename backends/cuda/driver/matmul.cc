#include "backends/cuda/driver/matmul.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

using Use = EpilogueFacts::Use;
constexpr Use kNo = Use::kNone;
constexpr Use kIn = Use::kRead;
constexpr Use kOut = Use::kWritten;

// cuBLASLt's A is our B, hence the last two rows.
constexpr EpilogueFacts kEpilogues[] = {
    // epilogue, cuBLASLt's, name, bias, aux, aux is bits
    {MatmulEpilogue::kNone, LtEpilogue::kDefault, "none", kNo, kNo, false},
    {MatmulEpilogue::kBias, LtEpilogue::kBias, "bias", kIn, kNo, false},
    {MatmulEpilogue::kRelu, LtEpilogue::kRelu, "relu", kNo, kNo, false},
    {MatmulEpilogue::kBiasRelu, LtEpilogue::kReluBias, "bias_relu", kIn, kNo,
     false},
    {MatmulEpilogue::kGelu, LtEpilogue::kGelu, "gelu", kNo, kNo, false},
    {MatmulEpilogue::kBiasGelu, LtEpilogue::kGeluBias, "bias_gelu", kIn, kNo,
     false},
    {MatmulEpilogue::kReluAux, LtEpilogue::kReluAux, "relu_aux", kNo, kOut,
     true},
    {MatmulEpilogue::kBiasReluAux, LtEpilogue::kReluAuxBias, "bias_relu_aux",
     kIn, kOut, true},
    {MatmulEpilogue::kGeluAux, LtEpilogue::kGeluAux, "gelu_aux", kNo, kOut,
     false},
    {MatmulEpilogue::kBiasGeluAux, LtEpilogue::kGeluAuxBias, "bias_gelu_aux",
     kIn, kOut, false},
    {MatmulEpilogue::kDRelu, LtEpilogue::kDRelu, "drelu", kNo, kIn, true},
    {MatmulEpilogue::kDReluBgrad, LtEpilogue::kDReluBgrad, "drelu_bgrad", kOut,
     kIn, true},
    {MatmulEpilogue::kDGelu, LtEpilogue::kDGelu, "dgelu", kNo, kIn, false},
    {MatmulEpilogue::kDGeluBgrad, LtEpilogue::kDGeluBgrad, "dgelu_bgrad", kOut,
     kIn, false},
    {MatmulEpilogue::kBgradA, LtEpilogue::kBgradB, "bgrad_a", kOut, kNo, false},
    {MatmulEpilogue::kBgradB, LtEpilogue::kBgradA, "bgrad_b", kOut, kNo, false},
};

struct TypeFacts {
  MatmulType type;
  LtType lt;
  const char* name;
  int bytes;
};

constexpr TypeFacts kTypes[] = {
    {MatmulType::kF64, LtType::kF64, "f64", 8},
    {MatmulType::kF32, LtType::kF32, "f32", 4},
    {MatmulType::kF16, LtType::kF16, "f16", 2},
    {MatmulType::kBF16, LtType::kBF16, "bf16", 2},
    {MatmulType::kF8E4M3, LtType::kF8E4M3, "f8e4m3", 1},
    {MatmulType::kF8E5M2, LtType::kF8E5M2, "f8e5m2", 1},
    {MatmulType::kS8, LtType::kS8, "s8", 1},
    {MatmulType::kS32, LtType::kS32, "s32", 4},
};

const TypeFacts& TypeFactsOf(MatmulType type) {
  return kTypes[static_cast<int>(type)];
}

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Elements of the stored matrix, with the gaps between its rows.
int64_t Footprint(int64_t rows, int64_t ld) { return rows * ld; }

int64_t Stride(int64_t stride, int64_t packed) {
  return stride == MatmulDesc::kPacked ? packed : stride;
}

absl::Status CheckLd(const char* name, int64_t ld, int64_t row) {
  if (ld >= row) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      name, " ", ld, " is less than the row's ", row, " elements"));
}

absl::Status CheckAlignment(const char* name, int alignment, int element) {
  if (alignment >= element && (alignment & (alignment - 1)) == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("alignment of ", name, " is ", alignment,
                   " B, not a power of two that holds an element"));
}

absl::Status CheckShape(const MatmulDesc& desc) {
  if (desc.m <= 0 || desc.n <= 0 || desc.k <= 0 || desc.batch <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("sizes must be positive: m ", desc.m, ", n ", desc.n,
                     ", k ", desc.k, ", batch ", desc.batch));
  }
  RIDGE_RETURN_IF_ERROR(
      CheckLd("lda", desc.Lda(), desc.transpose_a ? desc.m : desc.k));
  RIDGE_RETURN_IF_ERROR(
      CheckLd("ldb", desc.Ldb(), desc.transpose_b ? desc.k : desc.n));
  RIDGE_RETURN_IF_ERROR(CheckLd("ldc", desc.Ldc(), desc.n));
  RIDGE_RETURN_IF_ERROR(CheckLd("ldd", desc.Ldd(), desc.n));
  RIDGE_RETURN_IF_ERROR(CheckAlignment("A", desc.align_a, BytesOf(desc.a)));
  RIDGE_RETURN_IF_ERROR(CheckAlignment("B", desc.align_b, BytesOf(desc.b)));
  RIDGE_RETURN_IF_ERROR(
      CheckAlignment("C", desc.align_c, BytesOf(desc.CType())));
  RIDGE_RETURN_IF_ERROR(CheckAlignment("D", desc.align_d, BytesOf(desc.d)));
  if (desc.batch > 1 && desc.StrideD() == 0) {
    return absl::InvalidArgumentError("batches of D lie on each other");
  }
  return absl::OkStatus();
}

absl::Status CheckTypes(const MatmulDesc& desc) {
  auto refuse = [&](absl::string_view why) {
    return absl::UnimplementedError(
        absl::StrCat("cuBLASLt: ", ToString(desc.a), " x ", ToString(desc.b),
                     " -> ", ToString(desc.d), " with ", ToString(desc.compute),
                     " arithmetic: ", why));
  };
  const bool f8 = IsF8(desc.a) || IsF8(desc.b);
  if (desc.a != desc.b && !(IsF8(desc.a) && IsF8(desc.b))) {
    return refuse("A and B must have one type");
  }
  switch (desc.compute) {
    case MatmulCompute::kF64:
      if (desc.a != MatmulType::kF64 || desc.d != MatmulType::kF64) {
        return refuse("f64 arithmetic is for f64 alone");
      }
      break;
    case MatmulCompute::kTF32:
      if (desc.a != MatmulType::kF32 || desc.d != MatmulType::kF32) {
        return refuse("TF32 is for f32 operands and results");
      }
      break;
    case MatmulCompute::kS32:
      if (desc.a != MatmulType::kS8 ||
          (desc.d != MatmulType::kS32 && desc.d != MatmulType::kS8)) {
        return refuse("s32 arithmetic is for s8 operands, s32 or s8 results");
      }
      if (desc.d == MatmulType::kS32 && (desc.alpha != std::floor(desc.alpha) ||
                                         desc.beta != std::floor(desc.beta))) {
        return refuse("alpha and beta must be whole numbers");
      }
      break;
    case MatmulCompute::kF32:
      if (desc.a == MatmulType::kF64 || desc.a == MatmulType::kS8 ||
          desc.a == MatmulType::kS32 || desc.d == MatmulType::kF64 ||
          desc.d == MatmulType::kS32 || desc.d == MatmulType::kS8) {
        return refuse("f32 arithmetic is for floats of 32 bits or less");
      }
      if (desc.a == MatmulType::kF32 && desc.d != MatmulType::kF32) {
        return refuse("f32 operands give an f32 result");
      }
      break;
  }
  if (!f8) {
    return IsF8(desc.d) ? refuse("an f8 result needs f8 operands")
                        : absl::OkStatus();
  }
  if (desc.a == MatmulType::kF8E5M2 && desc.b == MatmulType::kF8E5M2) {
    return refuse("A and B cannot both be f8e5m2");
  }
  // Hopper. Later devices take every layout, but none that Ridge can see.
  if (desc.transpose_a || !desc.transpose_b) {
    return refuse("f8 needs A stored as [m, k] and B as [n, k]");
  }
  if (desc.m % 16 != 0 || desc.n % 16 != 0 || desc.k % 16 != 0) {
    return refuse(absl::StrCat("f8 needs m, n and k in multiples of 16, not ",
                               desc.m, ", ", desc.n, ", ", desc.k));
  }
  return absl::OkStatus();
}

absl::Status CheckEpilogue(const MatmulDesc& desc) {
  const EpilogueFacts& facts = FactsOf(desc.epilogue);
  if (facts.aux != Use::kNone) {
    const int64_t multiple = facts.aux_is_bits ? 128 : 8;
    RIDGE_RETURN_IF_ERROR(CheckLd("aux_ld", desc.AuxLd(), desc.n));
    if (desc.AuxLd() % multiple != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "aux_ld ", desc.AuxLd(), " is not a multiple of ", multiple));
    }
  }
  if (facts.epilogue != MatmulEpilogue::kNone &&
      desc.compute == MatmulCompute::kF64) {
    return absl::UnimplementedError(
        absl::StrCat("cuBLASLt has no ", facts.name, " epilogue for f64"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const EpilogueFacts> AllEpilogues() { return kEpilogues; }

const EpilogueFacts& FactsOf(MatmulEpilogue epilogue) {
  return kEpilogues[static_cast<int>(epilogue)];
}

absl::string_view ToString(MatmulType type) { return TypeFactsOf(type).name; }

absl::string_view ToString(MatmulCompute compute) {
  constexpr const char* kNames[] = {"f32", "tf32", "f64", "s32"};
  return kNames[static_cast<int>(compute)];
}

int BytesOf(MatmulType type) { return TypeFactsOf(type).bytes; }

bool IsF8(MatmulType type) {
  return type == MatmulType::kF8E4M3 || type == MatmulType::kF8E5M2;
}

LtType ToLtType(MatmulType type) { return TypeFactsOf(type).lt; }

// ---- MatmulDesc -----------------------------------------------------------

int64_t MatmulDesc::StrideA() const {
  return Stride(stride_a, Footprint(transpose_a ? k : m, Lda()));
}
int64_t MatmulDesc::StrideB() const {
  return Stride(stride_b, Footprint(transpose_b ? n : k, Ldb()));
}
int64_t MatmulDesc::StrideC() const {
  return Stride(stride_c, Footprint(m, Ldc()));
}
int64_t MatmulDesc::StrideD() const {
  return Stride(stride_d, Footprint(m, Ldd()));
}

int64_t MatmulDesc::AuxLd() const {
  if (aux_ld > 0) return aux_ld;
  return RoundUp(n, FactsOf(epilogue).aux_is_bits ? 128 : 8);
}

MatmulType MatmulDesc::CType() const {
  if (c.has_value()) return *c;
  return IsF8(d) ? MatmulType::kBF16 : d;
}

MatmulType MatmulDesc::BiasType() const {
  if (bias.has_value()) return *bias;
  // The scale type for s8 results; f8 products take bf16 (or f16) where the
  // result is f8 or f32. From the cublasLtMatmulDescAttributes_t reference.
  if (d == MatmulType::kS8) return MatmulType::kF32;
  if (IsF8(a) && (IsF8(d) || d == MatmulType::kF32)) return MatmulType::kBF16;
  return d;
}

int64_t MatmulDesc::BiasSize() const {
  if (FactsOf(epilogue).bias == Use::kNone) return 0;
  return epilogue == MatmulEpilogue::kBgradA ? m : n;
}

int64_t MatmulDesc::AuxBytes() const {
  const EpilogueFacts& facts = FactsOf(epilogue);
  if (facts.aux == Use::kNone) return 0;
  const int64_t elements = batch * AuxStride();
  return facts.aux_is_bits ? elements / 8 : elements * BytesOf(d);
}

std::string MatmulDesc::ToString() const {
  using cuda::ToString;
  std::string text = absl::StrCat(m, "x", n, "x", k);
  if (batch > 1) absl::StrAppend(&text, " batch ", batch);
  absl::StrAppend(&text, " ", ToString(a), ",", ToString(b), "->", ToString(d),
                  transpose_a ? " A^T" : "", transpose_b ? " B^T" : "", " ",
                  ToString(compute), " ", FactsOf(epilogue).name);
  auto append_unless = [&](const char* name, double value, double usual) {
    if (value != usual) absl::StrAppend(&text, " ", name, " ", value);
  };
  append_unless("alpha", alpha, 1);
  append_unless("beta", beta, 0);
  append_unless("lda", Lda(), transpose_a ? m : k);
  append_unless("ldb", Ldb(), transpose_b ? k : n);
  append_unless("ldc", Ldc(), n);
  append_unless("ldd", Ldd(), n);
  if (batch > 1) {
    append_unless("stride_a", StrideA(), (transpose_a ? k : m) * Lda());
    append_unless("stride_b", StrideB(), (transpose_b ? n : k) * Ldb());
    append_unless("stride_c", StrideC(), m * Ldc());
    append_unless("stride_d", StrideD(), m * Ldd());
    append_unless("bias_stride", bias_stride, 0);
  }
  if (CType() != d) absl::StrAppend(&text, " C ", ToString(CType()));
  if (BiasSize() > 0 && BiasType() != d) {
    absl::StrAppend(&text, " bias ", ToString(BiasType()));
  }
  append_unless("align_a", align_a, 256);
  append_unless("align_b", align_b, 256);
  append_unless("align_c", align_c, 256);
  append_unless("align_d", align_d, 256);
  append_unless("align_bias", align_bias, 256);
  append_unless("align_aux", align_aux, 256);
  append_unless("aux_ld", aux_ld, 0);
  if (fast_accumulation) absl::StrAppend(&text, " fast_accumulation");
  return text;
}

absl::Status ValidateMatmul(const MatmulDesc& desc) {
  RIDGE_RETURN_IF_ERROR(CheckShape(desc));
  RIDGE_RETURN_IF_ERROR(CheckTypes(desc));
  return CheckEpilogue(desc);
}

LtProblem ToLtProblem(const MatmulDesc& desc) {
  LtProblem lt;
  lt.batch = desc.batch;
  lt.epilogue = FactsOf(desc.epilogue).lt;
  switch (desc.compute) {
    case MatmulCompute::kF32:
      break;
    case MatmulCompute::kTF32:
      lt.compute = LtCompute::kF32FastTF32;
      break;
    case MatmulCompute::kF64:
      lt.compute = LtCompute::kF64;
      lt.scale = LtType::kF64;
      break;
    case MatmulCompute::kS32:
      lt.compute = LtCompute::kS32;
      // An s8 result is scaled as f32 before it is rounded.
      lt.scale = desc.d == MatmulType::kS8 ? LtType::kF32 : LtType::kS32;
      break;
  }
  // A row-major matrix of r x c is a column-major one of c x r. B is stored as
  // k x n: seen by columns n x k, the transpose that is wanted. If B is stored
  // as n x k, it is seen as k x n and has to be transposed.
  lt.transpose_a = desc.transpose_b ? LtOp::kTranspose : LtOp::kNone;
  lt.a = {ToLtType(desc.b), desc.transpose_b ? desc.k : desc.n,
          desc.transpose_b ? desc.n : desc.k, desc.Ldb(), desc.StrideB()};
  lt.transpose_b = desc.transpose_a ? LtOp::kTranspose : LtOp::kNone;
  lt.b = {ToLtType(desc.a), desc.transpose_a ? desc.m : desc.k,
          desc.transpose_a ? desc.k : desc.m, desc.Lda(), desc.StrideA()};
  lt.c = {ToLtType(desc.CType()), desc.n, desc.m, desc.Ldc(), desc.StrideC()};
  lt.d = {ToLtType(desc.d), desc.n, desc.m, desc.Ldd(), desc.StrideD()};
  return lt;
}

}  // namespace ridge::cuda
