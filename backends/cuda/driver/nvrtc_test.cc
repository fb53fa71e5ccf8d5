#include "backends/cuda/driver/nvrtc.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/cuda/driver/library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/file.h"
#include "hlo/base/status_matchers.h"

namespace ridge::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kVectorAdd[] = R"(
extern "C" __global__ void vector_add(const float* a, const float* b,
                                      float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
})";

// 128 values live at once in a block of 1,024 threads, which leaves each 64
// registers.
constexpr char kSpill[] = R"(
extern "C" __global__ void __launch_bounds__(1024) spill(float* p, int n) {
  float v[128];
#pragma unroll
  for (int i = 0; i < 128; ++i) v[i] = p[i * 1024 + threadIdx.x];
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < 128; ++i) v[i] = v[i] * v[(i + 1) % 128] + 1.0f;
  }
#pragma unroll
  for (int i = 0; i < 128; ++i) p[i * 1024 + threadIdx.x] = v[i];
})";

CompileRequest Request(std::string name, std::string source) {
  CompileRequest request;
  request.name = std::move(name);
  request.source = std::move(source);
  request.arch = "sm_90a";
  return request;
}

// Needs NVRTC, but no device.
class NvrtcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::StatusOr<const NvrtcApi*> api = Nvrtc();
    if (!api.ok()) GTEST_SKIP() << api.status();
    std::string folder = ::testing::TempDir() + "/nvrtc.XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  std::string folder_;
};

TEST_F(NvrtcTest, CompilesForHopperWithoutADevice) {
  RIDGE_ASSERT_OK_AND_ASSIGN(CompiledKernel kernel,
                             Compile(Request("vector_add", kVectorAdd)));
  EXPECT_THAT(kernel.cubin, StartsWith("\x7f"
                                       "ELF"));
  EXPECT_THAT(kernel.ptx, IsEmpty());
  EXPECT_GT(kernel.compile_ms, 0);
  EXPECT_FALSE(kernel.from_cache);
  const KernelResources* resources = kernel.Find("vector_add");
  ASSERT_NE(resources, nullptr) << kernel.log;
  EXPECT_GT(resources->registers, 4);
  EXPECT_LT(resources->registers, 64);
  EXPECT_FALSE(resources->Spills());
  EXPECT_EQ(kernel.Find("other"), nullptr);
}

TEST_F(NvrtcTest, ReportsSpillsStackAndSharedMemory) {
  RIDGE_ASSERT_OK_AND_ASSIGN(CompiledKernel kernel,
                             Compile(Request("spill", kSpill)));
  const KernelResources* spill = kernel.Find("spill");
  ASSERT_NE(spill, nullptr) << kernel.log;
  EXPECT_TRUE(spill->Spills()) << kernel.log;
  EXPECT_GT(spill->stack_bytes, 0);
  EXPECT_LE(spill->registers, 64);

  RIDGE_ASSERT_OK_AND_ASSIGN(kernel, Compile(Request("shared", R"(
extern "C" __global__ void shared(float* p) {
  __shared__ float s[128];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[127 - threadIdx.x];
})")));
  ASSERT_NE(kernel.Find("shared"), nullptr) << kernel.log;
  EXPECT_EQ(kernel.Find("shared")->static_shared_bytes, 512);
  EXPECT_EQ(kernel.Find("shared")->barriers, 1);
}

TEST_F(NvrtcTest, OneSourceMayHoldSeveralKernels) {
  RIDGE_ASSERT_OK_AND_ASSIGN(
      CompiledKernel kernel,
      Compile(Request("both", absl::StrCat(kVectorAdd, kSpill))));
  EXPECT_THAT(kernel.kernels, SizeIs(2));
  EXPECT_FALSE(kernel.Find("vector_add")->Spills());
  EXPECT_TRUE(kernel.Find("spill")->Spills());
}

TEST_F(NvrtcTest, HopperInstructionsNeedTheArchitectureSpecificTarget) {
  CompileRequest request = Request("setmaxnreg", R"(
extern "C" __global__ void __launch_bounds__(128) setmaxnreg(float* p) {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
  p[threadIdx.x] = 1.0f;
})");
  RIDGE_EXPECT_OK(Compile(request));
  request.arch = "sm_90";
  EXPECT_THAT(Compile(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("setmaxnreg")));
}

TEST_F(NvrtcTest, CompileErrorNamesKernelPlaceAndSourceLine) {
  EXPECT_THAT(
      Compile(Request("softmax_7",
                      "extern \"C\" __global__ void k(float* p) {\n"
                      "  p[0] = zz;\n"
                      "  p[1] = yy;\n"
                      "}\n")),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("kernel 'softmax_7' for sm_90a"),
                     HasSubstr("softmax_7(2): error: identifier \"zz\" is "
                               "undefined: p[0] = zz;"),
                     Not(HasSubstr("yy")))));
}

// Before Hopper ptxas refuses more than 48 KiB of static shared memory.
TEST_F(NvrtcTest, AnErrorOfPtxasIsReportedLikeAnyOther) {
  CompileRequest request = Request("shared", R"(
extern "C" __global__ void shared(float* p) {
  __shared__ float s[20000];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
})");
  request.arch = "sm_80";
  const absl::Status status = Compile(request).status();
  EXPECT_THAT(
      status,
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("kernel 'shared' for sm_80: ptxas error"),
                     HasSubstr("too much shared data"))));
  // NVRTC 13.0 puts a zero before this message.
  EXPECT_EQ(status.message().find('\0'), absl::string_view::npos);
}

TEST_F(NvrtcTest, WrongOptionIsNamed) {
  CompileRequest request = Request("k", kVectorAdd);
  request.options = {"--bogus"};
  EXPECT_THAT(Compile(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("--bogus")));
  request.options = {};
  request.arch = "sm_12345";
  EXPECT_THAT(Compile(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("sm_12345")));
}

TEST_F(NvrtcTest, KnowsWhichArchitecturesItSupports) {
  EXPECT_THAT(NvrtcSupports("sm_90a"), IsOkAndHolds(true));
  EXPECT_THAT(NvrtcSupports("sm_10"), IsOkAndHolds(false));
  EXPECT_THAT(NvrtcSupports("gfx90a"), IsOkAndHolds(false));
}

TEST_F(NvrtcTest, ToolkitHeadersCompileWhereTheyAreInstalled) {
  const absl::StatusOr<std::string> include = CudaIncludeFolder();
  if (!include.ok()) GTEST_SKIP() << include.status();
  CompileRequest request = Request("half", R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void half_sum(__half* h, __nv_bfloat16* b) {
  h[0] = h[1] + h[2];
  b[0] = b[1] + b[2];
})");
  request.options = {"-I" + *include};
  RIDGE_EXPECT_OK(Compile(request));
}

TEST_F(NvrtcTest, CacheReturnsTheSameKernel) {
  DiskCache cache(folder_);
  CompileRequest request = Request("vector_add", kVectorAdd);
  request.want_ptx = true;
  RIDGE_ASSERT_OK_AND_ASSIGN(CompiledKernel first, Compile(request, &cache));
  RIDGE_ASSERT_OK_AND_ASSIGN(CompiledKernel second, Compile(request, &cache));
  EXPECT_FALSE(first.from_cache);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(first.cubin, second.cubin);
  EXPECT_EQ(first.ptx, second.ptx);
  EXPECT_THAT(second.ptx, HasSubstr(".target sm_90a"));
  EXPECT_EQ(first.log, second.log);
  EXPECT_EQ(first.Find("vector_add")->registers,
            second.Find("vector_add")->registers);
}

TEST_F(NvrtcTest, RequestsOfOneContentShareTheCode) {
  DiskCache cache(folder_);
  CompileRequest first = Request("one", R"(
extern "C" __global__ void one(float* p) { p[0] = 1; }  // of a
)");
  first.content = "extern \"C\" __global__ void @(float* p) { p[0] = 1; }";
  CompileRequest second = first;
  second.name = "other";
  second.source = R"(
extern "C" __global__ void other(float* p) { p[0] = 1; }  // of b
)";
  RIDGE_ASSERT_OK(Compile(first, &cache));
  RIDGE_ASSERT_OK_AND_ASSIGN(CompiledKernel shared, Compile(second, &cache));
  EXPECT_TRUE(shared.from_cache);
  EXPECT_EQ(shared.name, "one");
  EXPECT_NE(shared.Find("one"), nullptr);

  second.content += " ";
  RIDGE_ASSERT_OK_AND_ASSIGN(CompiledKernel own, Compile(second, &cache));
  EXPECT_FALSE(own.from_cache);
  EXPECT_EQ(own.name, "other");
}

TEST_F(NvrtcTest, AnyChangeOfTheRequestIsAMiss) {
  DiskCache cache(folder_);
  const CompileRequest base = Request("vector_add", kVectorAdd);
  RIDGE_ASSERT_OK(Compile(base, &cache));
  std::vector<CompileRequest> changed(4, base);
  changed[0].source += "\n// a comment";
  changed[1].options = {"--fmad=false"};
  changed[2].arch = "sm_90";
  changed[3].want_ptx = true;
  for (const CompileRequest& request : changed) {
    RIDGE_ASSERT_OK_AND_ASSIGN(CompiledKernel kernel, Compile(request, &cache));
    EXPECT_FALSE(kernel.from_cache);
  }
}

TEST_F(NvrtcTest, DamagedCacheEntryIsCompiledAgain) {
  DiskCache cache(folder_);
  const CompileRequest request = Request("vector_add", kVectorAdd);
  RIDGE_ASSERT_OK_AND_ASSIGN(CompiledKernel first, Compile(request, &cache));
  // The one entry, found through the stored file rather than the key.
  std::string path;
  {
    FILE* list = popen(absl::StrCat("ls ", folder_, "/*").c_str(), "r");
    char line[4096] = {};
    ASSERT_NE(fgets(line, sizeof(line), list), nullptr);
    pclose(list);
    path = line;
    path.pop_back();
  }
  RIDGE_ASSERT_OK_AND_ASSIGN(std::string file, ReadFile(path));
  file[file.size() / 2] ^= 1;
  RIDGE_ASSERT_OK(WriteFileAtomic(path, file));
  RIDGE_ASSERT_OK_AND_ASSIGN(CompiledKernel again, Compile(request, &cache));
  EXPECT_FALSE(again.from_cache);
  EXPECT_EQ(again.cubin, first.cubin);
  EXPECT_EQ(cache.stats().corrupt, 1);
  RIDGE_ASSERT_OK_AND_ASSIGN(again, Compile(request, &cache));
  EXPECT_TRUE(again.from_cache);
}

TEST_F(NvrtcTest, CompileAllKeepsOrderAndIsolatesFailures) {
  std::vector<CompileRequest> requests;
  for (int i = 0; i < 6; ++i) {
    const std::string name = absl::StrCat("k", i);
    requests.push_back(Request(
        name,
        absl::StrCat("extern \"C\" __global__ void ", name,
                     "(float* p) { p[0] = ", i == 3 ? "oops" : "1", "; }")));
  }
  DiskCache cache(folder_);
  const std::vector<absl::StatusOr<CompiledKernel>> results =
      CompileAll(requests, &cache);
  ASSERT_THAT(results, SizeIs(6));
  for (int i = 0; i < 6; ++i) {
    if (i == 3) {
      EXPECT_THAT(results[i], StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("kernel 'k3'")));
    } else {
      ASSERT_THAT(results[i], IsOk());
      EXPECT_NE(results[i]->Find(absl::StrCat("k", i)), nullptr);
    }
  }
  EXPECT_EQ(cache.stats().stored, 5);
}

}  // namespace
}  // namespace ridge::cuda
