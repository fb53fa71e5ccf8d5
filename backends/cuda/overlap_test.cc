// What may run beside what.
#include "backends/cuda/overlap.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ridge::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

StepMemory Step(std::vector<MemoryRange> reads,
                std::vector<MemoryRange> writes) {
  return {std::move(reads), std::move(writes)};
}

TEST(OverlapTest, StepsThatShareNothingTakeLanesOfTheirOwn) {
  auto p = PlaceSteps({Step({{0, 8}}, {{8, 16}}), Step({{0, 8}}, {{16, 24}}),
                       Step({{0, 8}}, {{24, 32}})},
                      4);
  EXPECT_EQ(p[0].lane, 0);
  EXPECT_EQ(p[1].lane, 1);
  EXPECT_EQ(p[2].lane, 2);
  for (const Placement& x : p) EXPECT_THAT(x.waits, IsEmpty());
}

TEST(OverlapTest, AReaderFollowsItsWriter) {
  auto p = PlaceSteps({Step({}, {{0, 8}}), Step({{4, 5}}, {{8, 16}})}, 4);
  EXPECT_EQ(p[1].lane, p[0].lane);
}

TEST(OverlapTest, ManyReadersOfOneWriterSpread) {
  auto p = PlaceSteps({Step({}, {{0, 8}}), Step({{0, 8}}, {{8, 16}}),
                       Step({{0, 8}}, {{16, 24}}), Step({{0, 8}}, {{24, 32}})},
                      4);
  EXPECT_EQ(p[1].lane, p[0].lane);
  EXPECT_NE(p[2].lane, p[1].lane);
  EXPECT_NE(p[3].lane, p[2].lane);
  EXPECT_NE(p[3].lane, p[1].lane);
  EXPECT_THAT(p[3].waits, ElementsAre(0));
}

TEST(OverlapTest, AWriterWaitsForReadersOfWhatItOverwrites) {
  auto p = PlaceSteps({Step({{0, 8}}, {{8, 16}}), Step({{0, 8}}, {{16, 24}}),
                       Step({}, {{0, 4}})},
                      4);
  EXPECT_EQ(p[2].lane, 1);
  EXPECT_THAT(p[2].waits, ElementsAre(0));
}

TEST(OverlapTest, NeighboursInMemoryDoNotConflict) {
  auto p = PlaceSteps({Step({}, {{0, 8}}), Step({}, {{8, 16}})}, 2);
  EXPECT_NE(p[0].lane, p[1].lane);
}

TEST(OverlapTest, EveryConflictIsOrdered) {
  // A pseudo-random program over a few cells; each pair that conflicts must be
  // ordered by lanes, waits and meetings together.
  std::vector<StepMemory> steps;
  uint64_t state = 1;
  auto next = [&](uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
  };
  for (int k = 0; k < 400; ++k) {
    uint64_t r = next(12), w = next(12);
    steps.push_back(Step({{r, r + 2}}, {{w, w + 1}}));
  }
  auto p = PlaceSteps(steps, 3);
  // before[k]: steps known to be over when k starts.
  std::vector<std::vector<bool>> before(steps.size(),
                                        std::vector<bool>(steps.size()));
  size_t meeting = 0;
  for (size_t k = 0; k < steps.size(); ++k) {
    if (p[k].joins) meeting = k;
    for (size_t e = 0; e < k; ++e) {
      const bool waited = std::find(p[k].waits.begin(), p[k].waits.end(), e) !=
                          p[k].waits.end();
      if (e >= meeting && p[e].lane != p[k].lane && !waited) continue;
      before[k][e] = true;
      for (size_t d = 0; d < e; ++d) {
        if (before[e][d]) before[k][d] = true;
      }
    }
    for (size_t e = 0; e < k; ++e) {
      auto overlap = [](const MemoryRange& a, const MemoryRange& b) {
        return a.begin < b.end && b.begin < a.end;
      };
      const bool conflict = overlap(steps[e].writes[0], steps[k].writes[0]) ||
                            overlap(steps[e].writes[0], steps[k].reads[0]) ||
                            overlap(steps[e].reads[0], steps[k].writes[0]);
      if (conflict) {
        EXPECT_TRUE(before[k][e]) << e << " and " << k;
      }
    }
  }
}

}  // namespace
}  // namespace ridge::cuda
