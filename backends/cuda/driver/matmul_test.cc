#include "backends/cuda/driver/matmul.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/cuda/driver/cublaslt.h"
#include "backends/cuda/driver/library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"

namespace ridge::cuda {
namespace {

using ::testing::HasSubstr;

MatmulDesc Desc(int64_t m, int64_t n, int64_t k,
                MatmulType type = MatmulType::kF32) {
  MatmulDesc desc;
  desc.m = m;
  desc.n = n;
  desc.k = k;
  desc.a = desc.b = desc.d = type;
  return desc;
}

// A column-major matrix as cuBLASLt reads it.
int64_t At(const std::vector<int64_t>& data, const LtMatrix& matrix,
           int64_t batch, int64_t row, int64_t col) {
  return data.at(batch * matrix.batch_stride + col * matrix.ld + row);
}

// What cuBLASLt does, in whole numbers: D = op(A) op(B), column-major.
std::vector<int64_t> RunAsCublasLt(const LtProblem& lt,
                                   const std::vector<int64_t>& a,
                                   const std::vector<int64_t>& b,
                                   size_t d_size) {
  std::vector<int64_t> d(d_size, -1);
  const bool ta = lt.transpose_a == LtOp::kTranspose;
  const bool tb = lt.transpose_b == LtOp::kTranspose;
  const int64_t k = ta ? lt.a.rows : lt.a.cols;
  EXPECT_EQ(ta ? lt.a.cols : lt.a.rows, lt.d.rows);
  EXPECT_EQ(tb ? lt.b.rows : lt.b.cols, lt.d.cols);
  EXPECT_EQ(tb ? lt.b.cols : lt.b.rows, k);
  EXPECT_GE(lt.a.ld, lt.a.rows);
  EXPECT_GE(lt.b.ld, lt.b.rows);
  EXPECT_GE(lt.d.ld, lt.d.rows);
  for (int64_t i = 0; i < lt.batch; ++i) {
    for (int64_t row = 0; row < lt.d.rows; ++row) {
      for (int64_t col = 0; col < lt.d.cols; ++col) {
        int64_t sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          sum += (ta ? At(a, lt.a, i, l, row) : At(a, lt.a, i, row, l)) *
                 (tb ? At(b, lt.b, i, col, l) : At(b, lt.b, i, l, col));
        }
        d.at(i * lt.d.batch_stride + col * lt.d.ld + row) = sum;
      }
    }
  }
  return d;
}

std::vector<int64_t> Numbers(size_t size, int64_t seed) {
  std::vector<int64_t> numbers(size);
  for (int64_t& number : numbers) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    number = seed % 17 - 8;
  }
  return numbers;
}

TEST(MatmulTest, SwappedOperandsGiveTheRowMajorProduct) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const int64_t gap : {0, 3}) {
        MatmulDesc desc = Desc(5, 7, 4);
        desc.batch = 2;
        desc.transpose_a = transpose_a;
        desc.transpose_b = transpose_b;
        desc.lda = gap == 0 ? 0 : 5 + gap;
        desc.ldb = gap == 0 ? 0 : 7 + gap;
        desc.ldd = gap == 0 ? 0 : 7 + gap;
        desc.stride_b = gap == 0 ? 0 : MatmulDesc::kPacked;  // shared
        RIDGE_ASSERT_OK(ValidateMatmul(desc));
        const std::vector<int64_t> a = Numbers(500, 1);
        const std::vector<int64_t> b = Numbers(500, 2);
        const std::vector<int64_t> d =
            RunAsCublasLt(ToLtProblem(desc), b, a, 500);
        for (int64_t i = 0; i < desc.batch; ++i) {
          for (int64_t row = 0; row < desc.m; ++row) {
            for (int64_t col = 0; col < desc.n; ++col) {
              int64_t sum = 0;
              for (int64_t l = 0; l < desc.k; ++l) {
                sum += a[i * desc.StrideA() + (transpose_a
                                                   ? l * desc.Lda() + row
                                                   : row * desc.Lda() + l)] *
                       b[i * desc.StrideB() + (transpose_b
                                                   ? col * desc.Ldb() + l
                                                   : l * desc.Ldb() + col)];
              }
              EXPECT_EQ(d[i * desc.StrideD() + row * desc.Ldd() + col], sum)
                  << desc.ToString();
            }
          }
        }
      }
    }
  }
}

TEST(MatmulTest, EpilogueTableIsInTheOrderOfItsEnum) {
  std::set<std::string> names;
  std::set<LtEpilogue> lt;
  int i = 0;
  for (const EpilogueFacts& facts : AllEpilogues()) {
    EXPECT_EQ(static_cast<int>(facts.epilogue), i++);
    EXPECT_EQ(&FactsOf(facts.epilogue), &facts);
    EXPECT_TRUE(names.insert(facts.name).second) << facts.name;
    EXPECT_TRUE(lt.insert(facts.lt).second) << facts.name;
  }
  EXPECT_EQ(i, 16);  // all that cuBLASLt has
}

TEST(MatmulTest, OperandGradientsSwapWithTheOperands) {
  EXPECT_EQ(FactsOf(MatmulEpilogue::kBgradA).lt, LtEpilogue::kBgradB);
  MatmulDesc desc = Desc(3, 5, 7);
  desc.epilogue = MatmulEpilogue::kBgradA;
  EXPECT_EQ(desc.BiasSize(), 3);
  desc.epilogue = MatmulEpilogue::kBgradB;
  EXPECT_EQ(desc.BiasSize(), 5);
  desc.epilogue = MatmulEpilogue::kDGeluBgrad;
  EXPECT_EQ(desc.BiasSize(), 5);
}

TEST(MatmulTest, AuxBuffersFollowCublasLtsRowLengths) {
  MatmulDesc desc = Desc(10, 130, 7, MatmulType::kBF16);
  desc.epilogue = MatmulEpilogue::kReluAux;
  EXPECT_EQ(desc.AuxLd(), 256);  // bits, in multiples of 128
  EXPECT_EQ(desc.AuxBytes(), 10 * 256 / 8);
  desc.epilogue = MatmulEpilogue::kBiasGeluAux;
  EXPECT_EQ(desc.AuxLd(), 136);  // elements, in multiples of 8
  EXPECT_EQ(desc.AuxBytes(), 10 * 136 * 2);
  desc.aux_ld = 132;
  EXPECT_THAT(ValidateMatmul(desc), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr("not a multiple of 8")));
  desc.epilogue = MatmulEpilogue::kBias;
  EXPECT_EQ(desc.AuxBytes(), 0);
}

struct Refusal {
  const char* name;
  std::function<void(MatmulDesc*)> change;
  absl::StatusCode code;
  const char* reason;
};

TEST(MatmulTest, RefusalsGiveTheirReason) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
  const Refusal refusals[] = {
      {"size", [](MatmulDesc* d) { d->k = 0; }, kInvalid, "positive"},
      {"lda", [](MatmulDesc* d) { d->lda = 15; }, kInvalid, "lda 15"},
      {"ldb", [](MatmulDesc* d) { d->ldb = 31; }, kInvalid, "ldb 31"},
      {"alignment", [](MatmulDesc* d) { d->align_b = 24; }, kInvalid,
       "alignment of B is 24"},
      {"overlap", [](MatmulDesc* d) { d->batch = 2, d->stride_d = 0; },
       kInvalid, "lie on each other"},
      {"mixed", [](MatmulDesc* d) { d->a = MatmulType::kBF16; }, kUnimplemented,
       "one type"},
      {"tf32",
       [](MatmulDesc* d) {
         d->a = d->b = MatmulType::kBF16;
         d->compute = MatmulCompute::kTF32;
       },
       kUnimplemented, "TF32 is for f32"},
      {"f64 epilogue",
       [](MatmulDesc* d) {
         d->a = d->b = d->d = MatmulType::kF64;
         d->compute = MatmulCompute::kF64;
         d->epilogue = MatmulEpilogue::kBias;
       },
       kUnimplemented, "no bias epilogue for f64"},
      {"s8 alpha",
       [](MatmulDesc* d) {
         d->a = d->b = MatmulType::kS8;
         d->d = MatmulType::kS32;
         d->compute = MatmulCompute::kS32;
         d->alpha = 0.5;
       },
       kUnimplemented, "whole numbers"},
      {"f8 layout",
       [](MatmulDesc* d) {
         d->a = d->b = MatmulType::kF8E4M3;
         d->d = MatmulType::kBF16;
       },
       kUnimplemented, "B as [n, k]"},
      {"f8 size",
       [](MatmulDesc* d) {
         d->a = d->b = MatmulType::kF8E4M3;
         d->d = MatmulType::kBF16;
         d->transpose_b = true;
         d->n = 40;
       },
       kUnimplemented, "multiples of 16"},
  };
  for (const Refusal& refusal : refusals) {
    MatmulDesc desc = Desc(64, 32, 16);
    RIDGE_ASSERT_OK(ValidateMatmul(desc));
    refusal.change(&desc);
    EXPECT_THAT(ValidateMatmul(desc),
                StatusIs(refusal.code, HasSubstr(refusal.reason)))
        << refusal.name;
  }
}

TEST(MatmulTest, TextNamesAllThatIsNotUsual) {
  MatmulDesc desc = Desc(64, 32, 16, MatmulType::kBF16);
  EXPECT_EQ(desc.ToString(), "64x32x16 bf16,bf16->bf16 f32 none");
  desc.d = MatmulType::kF32;
  desc.transpose_b = true;
  desc.epilogue = MatmulEpilogue::kBiasGelu;
  desc.beta = 0.5;
  desc.align_a = 16;
  EXPECT_EQ(desc.ToString(),
            "64x32x16 bf16,bf16->f32 B^T f32 bias_gelu beta 0.5 align_a 16");
}

TEST(MatmulAlgoTest, HexRoundTrip) {
  MatmulAlgo algo;
  for (int i = 0; i < 8; ++i) algo.algo.data[i] = 0x0123456789abcdefull << i;
  RIDGE_ASSERT_OK_AND_ASSIGN(LtAlgo back, MatmulAlgo::FromHex(algo.ToHex()));
  for (int i = 0; i < 8; ++i) EXPECT_EQ(back.data[i], algo.algo.data[i]);
  EXPECT_THAT(MatmulAlgo::FromHex("12"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(MatmulLibraryTest, WorkspaceFollowsNvidiasRecommendation) {
  DeviceFacts facts;
  facts.cc_major = 9;
  EXPECT_EQ(MatmulWorkspaceBytes(facts), size_t{32} << 20);
  facts.cc_major = 8;
  EXPECT_EQ(MatmulWorkspaceBytes(facts), size_t{4} << 20);
}

// Descriptors need no device: every attribute that a plan sets is accepted.
TEST(MatmulLibraryTest, CublasLtAcceptsEveryDescriptorAttribute) {
  const absl::StatusOr<const CublasLtApi*> opened = CublasLt();
  if (!opened.ok()) GTEST_SKIP() << opened.status();
  const CublasLtApi& api = **opened;
  LtMatmulDesc desc = nullptr;
  ASSERT_EQ(api.DescCreate(&desc, LtCompute::kF32, LtType::kF32), kLtSuccess);
  auto set = [&](LtDescAttribute attribute, auto value) {
    EXPECT_EQ(api.DescSet(desc, attribute, &value, sizeof(value)), kLtSuccess)
        << static_cast<int>(attribute);
  };
  set(LtDescAttribute::kTransA, LtOp::kTranspose);
  set(LtDescAttribute::kEpilogue, LtEpilogue::kGeluAuxBias);
  set(LtDescAttribute::kBiasPointer, DevicePtr{256});
  set(LtDescAttribute::kBiasDataType, LtType::kBF16);
  set(LtDescAttribute::kBiasBatchStride, int64_t{0});
  set(LtDescAttribute::kAuxPointer, DevicePtr{256});
  set(LtDescAttribute::kAuxLd, int64_t{128});
  set(LtDescAttribute::kAuxBatchStride, int64_t{1024});
  set(LtDescAttribute::kAScalePointer, DevicePtr{0});
  set(LtDescAttribute::kDScalePointer, DevicePtr{0});
  set(LtDescAttribute::kFastAccumulation, int8_t{1});
  set(LtDescAttribute::kSmCountTarget, int32_t{64});
  api.DescDestroy(desc);
}

}  // namespace
}  // namespace ridge::cuda
