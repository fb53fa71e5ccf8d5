#include "cost_model/statistics.h"

#include <cmath>

#include "gtest/gtest.h"

namespace ridge {
namespace {

TEST(StatisticsTest, MeanAbsolutePercentageErrorByHand) {
  // |8-10|/10 = 0.2, |30-20|/20 = 0.5; the pair without a measurement drops.
  EXPECT_DOUBLE_EQ(MeanAbsolutePercentageError({8, 30, 5}, {10, 20, 0}), 0.35);
  EXPECT_EQ(MeanAbsolutePercentageError({}, {}), 0);
}

TEST(StatisticsTest, TauOfEqualAndOppositeOrders) {
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3}, {10, 20, 30}), 1);
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3}, {3, 2, 1}), -1);
}

TEST(StatisticsTest, TauByHandWithOneSwapAndWithTies) {
  // Six pairs, one of them swapped: (5 - 1) / 6.
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3, 4}, {1, 3, 2, 4}), 4.0 / 6);
  // Pairs: (1,2) tied in a; the other two agree: 2 / sqrt(2 * 3).
  EXPECT_NEAR(KendallTau({1, 1, 2}, {1, 2, 3}), 2 / std::sqrt(6.0), 1e-12);
  EXPECT_EQ(KendallTau({1, 1}, {1, 2}), 0);
}

}  // namespace
}  // namespace ridge
