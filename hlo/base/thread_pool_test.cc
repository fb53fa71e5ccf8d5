#include "hlo/base/thread_pool.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace ridge {
namespace {

TEST(ThreadPoolTest, HonoursRidgeThreads) {
  EXPECT_EQ(NumThreads(), 4);  // The test target sets RIDGE_THREADS=4.
}

TEST(ThreadPoolTest, CoversEachElementOnce) {
  for (int64_t size : {0, 1, 7, 64, 1000}) {
    for (int64_t grain : {0, 1, 3, 64, 5000}) {
      std::vector<std::atomic<int>> seen(size);
      ParallelFor(0, size, grain, [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; ++i) ++seen[i];
      });
      for (const std::atomic<int>& count : seen) ASSERT_EQ(count, 1);
    }
  }
}

TEST(ThreadPoolTest, RangesFollowFromTheGrainAlone) {
  std::mutex mutex;
  std::set<std::pair<int64_t, int64_t>> ranges;
  ParallelFor(10, 35, 10, [&](int64_t b, int64_t e) {
    std::lock_guard<std::mutex> lock(mutex);
    ranges.insert({b, e});
  });
  EXPECT_EQ(ranges, (std::set<std::pair<int64_t, int64_t>>{
                        {10, 20}, {20, 30}, {30, 35}}));
}

TEST(ThreadPoolTest, NestedLoopsFinish) {
  std::atomic<int64_t> sum{0};
  ParallelFor(0, 16, 1, [&](int64_t b, int64_t e) {
    ParallelFor(0, 100, 7, [&](int64_t b2, int64_t e2) { sum += e2 - b2; });
  });
  EXPECT_EQ(sum, 1600);
}

TEST(ThreadPoolTest, LoopsFromSeveralThreadsFinish) {
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int j = 0; j < 200; ++j) {
        ParallelFor(0, 10, 1, [&](int64_t b, int64_t e) { sum += e - b; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 200 * 10);
}

TEST(ThreadPoolTest, ResultsAreVisibleToTheCaller) {
  std::vector<int64_t> squares(5000);
  ParallelFor(0, 5000, 16, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) squares[i] = i * i;
  });
  for (int64_t i = 0; i < 5000; ++i) ASSERT_EQ(squares[i], i * i);
}

TEST(ThreadPoolTest, RethrowsAnException) {
  EXPECT_THROW(ParallelFor(0, 100, 1,
                           [](int64_t b, int64_t e) {
                             if (b == 50) throw std::runtime_error("50");
                           }),
               std::runtime_error);
}

}  // namespace
}  // namespace ridge
