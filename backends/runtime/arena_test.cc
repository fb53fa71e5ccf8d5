#include "backends/runtime/arena.h"

#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace ridge {
namespace {

bool Together(const ArenaRequest& a, const ArenaRequest& b) {
  return a.first <= b.last && b.first <= a.last;
}

TEST(ArenaTest, BuffersThatNeverLiveTogetherShareMemory) {
  ArenaAssignment arena =
      AssignArenaOffsets({{1000, 0, 1}, {1000, 2, 3}, {1000, 4, 5}}, 256);
  EXPECT_EQ(arena.total_bytes, 1024);
}

TEST(ArenaTest, ABufferLivesThroughItsLastStep) {
  ArenaAssignment arena = AssignArenaOffsets({{256, 0, 2}, {256, 2, 3}}, 256);
  EXPECT_EQ(arena.total_bytes, 512);
}

TEST(ArenaTest, NoBuffersTakeNoMemory) {
  EXPECT_EQ(AssignArenaOffsets({}, 256).total_bytes, 0);
  EXPECT_EQ(AssignArenaOffsets({{0, 0, 9}}, 256).total_bytes, 0);
}

TEST(ArenaTest, RandomRequestsNeverOverlapAndAreAligned) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<ArenaRequest> requests(60);
    for (ArenaRequest& r : requests) {
      r.bytes = random() % 5000;
      r.first = random() % 40;
      r.last = r.first + random() % 12;
    }
    ArenaAssignment arena = AssignArenaOffsets(requests, 64);
    for (size_t a = 0; a < requests.size(); ++a) {
      EXPECT_EQ(arena.offsets[a] % 64, 0);
      EXPECT_LE(arena.offsets[a] + requests[a].bytes, arena.total_bytes);
      for (size_t b = 0; b < a; ++b) {
        if (!Together(requests[a], requests[b])) continue;
        EXPECT_TRUE(arena.offsets[a] + requests[a].bytes <= arena.offsets[b] ||
                    arena.offsets[b] + requests[b].bytes <= arena.offsets[a])
            << a << " and " << b;
      }
    }
  }
}

}  // namespace
}  // namespace ridge
