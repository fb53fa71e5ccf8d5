// A few random programs on the cpu back end, each a case of its own.
#include "gtest/gtest.h"
#include "tests/random/check_program.h"
#include "tools/common/execute.h"

namespace ridge {
namespace {

class CpuRandomTest : public ::testing::TestWithParam<int> {};

TEST_P(CpuRandomTest, AgreesWithTheEvaluator) {
  auto backend = MakeNamedBackend("cpu");
  ASSERT_EQ(backend.status(), absl::OkStatus());
  EXPECT_EQ(CheckRandomProgram(backend->get(), GetParam()).status(),
            absl::OkStatus());
}

INSTANTIATE_TEST_SUITE_P(Seeds, CpuRandomTest, ::testing::Range(0, 24));

}  // namespace
}  // namespace ridge
