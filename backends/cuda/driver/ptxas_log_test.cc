#include "backends/cuda/driver/ptxas_log.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ridge::cuda {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Written by NVRTC 13.0 for sm_90a.
constexpr char kLog[] =
    R"(kern(2): warning #177-D: variable "unused" was declared but never referenced
   int unused=3;
       ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

ptxas info    : 24 bytes gmem
ptxas info    : Compiling entry function 'caller' for 'sm_90a'
ptxas info    : Function properties for caller
ptxas         .     32 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 18 registers, used 0 barriers, 40 bytes cumulative stack size
ptxas info    : Compile time = 13.161 ms
ptxas info    : Function properties for _Z2fxf
ptxas         .     8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function 'spill' for 'sm_90a'
ptxas info    : Function properties for spill
ptxas         .     3120 bytes stack frame, 4312 bytes spill stores, 5172 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 3120 bytes cumulative stack size, 308 bytes smem
ptxas info    : Compile time = 1143.289 ms
)";

TEST(PtxasLogTest, ReadsEveryKernel) {
  const std::vector<KernelResources> kernels = ParsePtxasLog(kLog);
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[1].name, "spill");
  EXPECT_EQ(kernels[1].registers, 32);
  EXPECT_EQ(kernels[1].stack_bytes, 3120);
  EXPECT_EQ(kernels[1].cumulative_stack_bytes, 3120);
  EXPECT_EQ(kernels[1].spill_store_bytes, 4312);
  EXPECT_EQ(kernels[1].spill_load_bytes, 5172);
  EXPECT_EQ(kernels[1].static_shared_bytes, 308);
  EXPECT_EQ(kernels[1].barriers, 1);
  EXPECT_DOUBLE_EQ(kernels[1].ptxas_ms, 1143.289);
  EXPECT_TRUE(kernels[1].Spills());
}

TEST(PtxasLogTest, DeviceFunctionsDoNotChangeTheirCallersNumbers) {
  const std::vector<KernelResources> kernels = ParsePtxasLog(kLog);
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0].name, "caller");
  EXPECT_EQ(kernels[0].registers, 18);
  EXPECT_EQ(kernels[0].stack_bytes, 32);
  EXPECT_EQ(kernels[0].cumulative_stack_bytes, 40);
  EXPECT_FALSE(kernels[0].Spills());
}

TEST(PtxasLogTest, ReadsTheFormatOfNvccAndOlderVersions) {
  const std::vector<KernelResources> kernels = ParsePtxasLog(
      R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 28 registers, 2048 bytes smem, 380 bytes cmem[0]
)");
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(kernels[0].registers, 28);
  EXPECT_EQ(kernels[0].static_shared_bytes, 2048);
}

TEST(PtxasLogTest, EmptyLogHasNoKernels) {
  EXPECT_THAT(ParsePtxasLog(""), IsEmpty());
}

TEST(FirstErrorTest, ShowsTheSourceLineAndSkipsWarnings) {
  EXPECT_EQ(FirstError(R"(kern(2): warning #177-D: "error: x" is unused
   int unused=3;
       ^
kern(3): error: identifier "zz" is undefined
   p[0]=zz;
        ^
kern(4): error: identifier "yy" is undefined
   p[1]=yy;}
2 errors detected in the compilation of "kern".
)"),
            "kern(3): error: identifier \"zz\" is undefined: p[0]=zz;");
}

TEST(FirstErrorTest, KnowsEveryStageOfTheCompiler) {
  EXPECT_EQ(FirstError("k(1): catastrophic error: could not open source file "
                       "\"x.h\" (no directories in search list)\n"
                       "  #include <x.h>\n"),
            "k(1): catastrophic error: could not open source file \"x.h\" (no "
            "directories in search list): #include <x.h>");
  EXPECT_EQ(FirstError("ptxas application ptx input, line 23; error   : "
                       "Unknown modifier '.bar'\n"
                       "ptxas fatal   : Ptx assembly aborted due to errors\n"),
            "ptxas application ptx input, line 23; error   : Unknown modifier "
            "'.bar'");
  EXPECT_EQ(FirstError("nvrtc: error: unrecognized option --bogus found\n"),
            "nvrtc: error: unrecognized option --bogus found");
}

TEST(FirstErrorTest, AKernelNamedErrorIsNoError) {
  EXPECT_EQ(FirstError("ptxas info    : Compiling entry function 'error_rate' "
                       "for 'sm_90a'\n"),
            "");
  EXPECT_EQ(FirstError("mean_error(3): error: expected a \";\"\n"),
            "mean_error(3): error: expected a \";\"");
}

}  // namespace
}  // namespace ridge::cuda
