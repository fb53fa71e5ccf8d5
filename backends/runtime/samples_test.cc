#include "backends/runtime/samples.h"

#include "gtest/gtest.h"

namespace ridge {
namespace {

TEST(SamplesTest, MedianOfAnEvenNumberIsTheMiddle) {
  EXPECT_DOUBLE_EQ(MakeSamples({4, 1, 2, 3}, true).median_us(), 2.5);
}

TEST(SamplesTest, SpreadIsTheTenthToNinetiethPercentileOverTheMedian) {
  std::vector<double> us;
  for (int k = 0; k <= 10; ++k) us.push_back(10 + k);
  // p10 = 11, p90 = 19, median = 15.
  EXPECT_DOUBLE_EQ(MakeSamples(us, false).spread(), 8.0 / 15.0);
}

TEST(SamplesTest, OneOutlierDoesNotMoveTheMedian) {
  EXPECT_DOUBLE_EQ(MakeSamples({5, 5, 5, 5, 900}, true).median_us(), 5);
}

TEST(SamplesTest, NoSamplesHaveNoSpread) {
  EXPECT_EQ(MakeSamples({}, true).spread(), 0);
  EXPECT_EQ(MakeSamples({}, true).median_us(), 0);
}

}  // namespace
}  // namespace ridge
