#include "backends/cuda/driver/selftest_kernels.h"

#include "backends/cuda/driver/library.h"
#include "backends/cuda/driver/nvrtc.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"

namespace ridge::cuda {
namespace {

void ExpectNoWarning(const char* source, const char* arch) {
  CompileRequest request;
  request.name = "selftest";
  request.source = source;
  request.arch = arch;
  RIDGE_ASSERT_OK_AND_ASSIGN(CompiledKernel kernel, Compile(request));
  EXPECT_THAT(kernel.log, ::testing::Not(::testing::HasSubstr("warning")));
}

TEST(SelftestKernelsTest, CompileWithoutAWarning) {
  const absl::StatusOr<const NvrtcApi*> nvrtc = Nvrtc();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status();
  for (const char* arch : {"sm_90a", "sm_80"}) {
    ExpectNoWarning(kBasicKernels, arch);
    ExpectNoWarning(kMatmulKernels, arch);
  }
  ExpectNoWarning(kBigStaticShared, "sm_90a");
}

}  // namespace
}  // namespace ridge::cuda
