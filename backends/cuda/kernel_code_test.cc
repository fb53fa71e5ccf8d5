// Plans compiled without a GPU. Needs NVRTC; skipped where there is none.
#include "backends/cuda/kernel_code.h"

#include <memory>
#include <vector>

#include "backends/cuda/driver/nvrtc.h"
#include "fusion/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"

namespace ridge::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class KernelCodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NvrtcVersion().ok()) GTEST_SKIP() << NvrtcVersion().status();
  }

  // Of an entry's body; the plan stays, for names.
  std::vector<BuiltKernel> Build(const char* body, const char* strategy) {
    auto module = EntryModule(body);
    EXPECT_THAT(module, IsOk());
    module_ = *std::move(module);
    auto plan = MakePlan(*module_, strategy);
    EXPECT_THAT(plan, IsOk());
    plan_ = *std::move(plan);
    CompileOptions options;
    options.use_cache = false;
    auto built =
        BuildPlanKernels(*module_, plan_, DeviceLimits(), "sm_90a", options);
    EXPECT_THAT(built, IsOk());
    return built.ok() ? *built : std::vector<BuiltKernel>();
  }

  std::unique_ptr<ridge::Module> module_;
  Plan plan_;
};

TEST_F(KernelCodeTest, SaysWhatAKernelTakes) {
  const std::vector<BuiltKernel> built = Build(R"(
  x = f32[4096,4096] parameter(0)
  t = f32[4096,4096] tanh(x)
  ROOT c = f32[4096,4096] transpose(t), dimensions={1,0})",
                                               "greedy");
  ASSERT_EQ(built.size(), 1u);
  EXPECT_EQ(built[0].kernel, plan_.computations[0].groups[0].name);
  EXPECT_EQ(built[0].target, "sm_90a");
  EXPECT_THAT(built[0].compiler, StartsWith("NVRTC "));
  EXPECT_GT(built[0].code_bytes, 1000);
  EXPECT_GT(built[0].compile_ms, 0);
  EXPECT_FALSE(built[0].from_cache);
  ASSERT_EQ(built[0].functions.size(), 1u);
  const BuiltFunction& f = built[0].functions[0];
  EXPECT_THAT(f.name, HasSubstr(built[0].kernel));
  EXPECT_GE(f.threads, 32);
  EXPECT_GT(f.registers, 8);
  EXPECT_EQ(f.spill_store_bytes, 0);
  // A tile of the transpose.
  EXPECT_GT(f.static_shared_bytes + f.dynamic_shared_bytes, 1024);
}

TEST_F(KernelCodeTest, KernelsThatDifferInNameAloneAreCompiledOnce) {
  const std::vector<BuiltKernel> built = Build(R"(
  x = f32[512] parameter(0)
  y = f32[512] parameter(1)
  z = f32[512] parameter(2)
  a = f32[512] exponential(x)
  b = f32[512] exponential(y)
  c = f32[512] cosine(z)
  ROOT t = (f32[512], f32[512], f32[512]) tuple(a, b, c))",
                                               "none");
  ASSERT_EQ(built.size(), 3u);
  std::vector<bool> compiled;
  for (const BuiltKernel& b : built) compiled.push_back(!b.from_cache);
  EXPECT_THAT(compiled, ElementsAre(true, false, true));
  EXPECT_EQ(built[1].compile_ms, 0);
  ASSERT_EQ(built[1].functions.size(), 1u);
  EXPECT_EQ(built[1].functions[0].registers, built[0].functions[0].registers);
  EXPECT_THAT(built[1].functions[0].name, HasSubstr(built[1].kernel));
  EXPECT_NE(built[1].code_bytes, 0);
}

}  // namespace
}  // namespace ridge::cuda
