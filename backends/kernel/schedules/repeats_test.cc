// Operands that are read again: which, how far apart, in which order they are
// read once.
#include "backends/kernel/schedules/repeats.h"

#include <string>

#include "absl/strings/substitute.h"
#include "backends/kernel/schedules/loop.h"
#include "backends/kernel/testing.h"
#include "gtest/gtest.h"

namespace ridge {
namespace {

Kernel Built(const std::string& body) {
  auto kernel = BuildEntry(body, GroupPattern::kLoop);
  EXPECT_EQ(kernel.status(), absl::OkStatus());
  return kernel.ok() ? *kernel : Kernel();
}

// x[reps * rows, columns] and a table of [rows, columns] for each repetition.
std::string Tiled(int64_t reps, int64_t rows, int64_t columns) {
  return absl::Substitute(R"(
  x = bf16[$3,$2] parameter(0)
  p = bf16[$1,$2] parameter(1)
  b = bf16[$0,$1,$2] broadcast(p), dimensions={1,2}
  r = bf16[$3,$2] reshape(b)
  ROOT o = bf16[$3,$2] add(x, r)
)",
                          reps, rows, columns, reps * rows);
}

// An operand of [4,4194304] under every one of 16 middle values.
constexpr char kMiddle[] = R"(
  x = f32[4,16,4194304] parameter(0)
  b = f32[4,4194304] parameter(1)
  c = f32[4,16,4194304] broadcast(b), dimensions={0,2}
  ROOT o = f32[4,16,4194304] add(x, c))";

LoopGeometry Geometry(const Kernel& k, const ScheduleChoice& choice = {},
                      const DeviceLimits& device = DeviceLimits()) {
  return LoopGeometryOf(k, SpaceMask(k), choice, device);
}

// Bytes fetched of the kernel's smallest operand.
int64_t BytesAgain(const Kernel& k, const ScheduleChoice& choice = {}) {
  const DeviceLimits device;
  auto used = LoopSchedule()->Use(k, choice, device);
  EXPECT_EQ(used.status(), absl::OkStatus());
  size_t smallest = 0;
  for (size_t b = 0; b < k.buffers.size(); ++b) {
    if (k.buffers[b].shape.ElementCount() <
        k.buffers[smallest].shape.ElementCount()) {
      smallest = b;
    }
  }
  return used.ok() ? used->bytes_per_buffer[smallest] : 0;
}

TEST(RepeatsTest, TableThatRepeatsByARemainder) {
  const Kernel k = Built(Tiled(8, 4096, 4096));
  const std::vector<Repeat> repeats = FindRepeats(k, SpaceMask(k));
  ASSERT_EQ(repeats.size(), 1u);
  EXPECT_EQ(repeats[0].points, 4096 * 4096);
  EXPECT_EQ(repeats[0].count, 8);
  EXPECT_EQ(repeats[0].bytes, 4096 * 4096 * 2);
}

TEST(RepeatsTest, OperandWithoutAMiddleVariable) {
  const Kernel k = Built(kMiddle);
  const std::vector<Repeat> repeats = FindRepeats(k, SpaceMask(k));
  ASSERT_EQ(repeats.size(), 1u);
  EXPECT_EQ(repeats[0].points, 4194304);
  EXPECT_EQ(repeats[0].count, 16);
  EXPECT_EQ(repeats[0].bytes, 4194304 * 4);
}

TEST(RepeatsTest, GatheredRowsAndWholeOperandsDoNotRepeat) {
  const Kernel k = Built(R"(
  t = f32[1000,4096] parameter(0)
  i = s32[8192] parameter(1)
  x = f32[8192,4096] parameter(2)
  j = s32[8192,1] reshape(i)
  g = f32[8192,4096] gather(t, j), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,4096}
  ROOT o = f32[8192,4096] add(g, x))");
  EXPECT_TRUE(FindRepeats(k, SpaceMask(k)).empty());
  for (NodeId n = 0; n < static_cast<NodeId>(k.nodes.size()); ++n) {
    if (k.nodes[n].kind != NodeKind::kLoad) continue;
    EXPECT_EQ(IsReadOnce(k, SpaceMask(k), n), k.nodes[n].buffer == 2) << n;
  }
}

TEST(RepeatsTest, HalvesOfAnOperandAreReadOnceEach) {
  const std::string halves = R"(
  x = f32[64,64] parameter(0)
  a = f32[64,32] slice(x), slice={[0:64], [0:32]}
  b = f32[64,32] slice(x), slice={[0:64], [32:64]}
)";
  auto once = [](const Kernel& k) {
    int64_t count = 0;
    for (NodeId n = 0; n < static_cast<NodeId>(k.nodes.size()); ++n) {
      count +=
          k.nodes[n].kind == NodeKind::kLoad && IsReadOnce(k, SpaceMask(k), n);
    }
    return count;
  };
  EXPECT_EQ(once(Built(halves + "  ROOT o = f32[64,32] add(a, b)\n")), 2);
  // A third load of as many points cannot be of other elements.
  EXPECT_EQ(once(Built(halves + R"(
  c = f32[64,32] slice(x), slice={[0:64], [16:48]}
  s = f32[64,32] add(a, b)
  ROOT o = f32[64,32] add(s, c)
)")),
            0);
}

TEST(MeetingTest, RepetitionsBeyondTheCacheMeet) {
  const Kernel k = Built(Tiled(8, 4096, 4096));
  const LoopGeometry g = Geometry(k);
  EXPECT_EQ(g.meeting.points, 4096 * 4096);
  EXPECT_EQ(g.meeting.count, 8);
  EXPECT_EQ(g.tail_blocks, 0);
  EXPECT_EQ(BytesAgain(k), 4096 * 4096 * 2);
}

TEST(MeetingTest, OtherwiseEachRepetitionIsFetched) {
  const Kernel k = Built(Tiled(8, 4096, 4096));
  EXPECT_EQ(Geometry(k, {"loop", {{"meet", 0}}}).meeting.count, 1);
  EXPECT_EQ(BytesAgain(k, {"loop", {{"meet", 0}}}), 8 * 4096 * 4096 * 2);
}

TEST(MeetingTest, RunsOfAnOuterVariableMeetEachByItself) {
  const Kernel k = Built(kMiddle);
  const LoopGeometry g = Geometry(k);
  EXPECT_EQ(g.meeting.points, 4194304);
  EXPECT_EQ(g.meeting.count, 16);
  EXPECT_EQ(BytesAgain(k), int64_t{4} * 4194304 * 4);
}

TEST(MeetingTest, UnrollGivesWayWhereItsBlocksWouldCrossRepetitions) {
  // 2048 points a vector step of all threads: an odd number of them.
  const Kernel k = Built(Tiled(16, 4097, 2048));
  const LoopGeometry g = Geometry(k);
  EXPECT_EQ(g.meeting.count, 16);
  EXPECT_EQ(g.unroll, 1);
}

TEST(MeetingTest, RepetitionsBetweenBlocksAreFetchedAgain) {
  const Kernel k = Built(Tiled(8, 4099, 4097));
  EXPECT_EQ(Geometry(k).meeting.count, 1);
  EXPECT_EQ(BytesAgain(k), int64_t{8} * 4099 * 4097 * 2);
}

TEST(MeetingTest, TablesThatStayInTheCacheNeedNone) {
  // 2 MiB under 512 MiB.
  const Kernel k = Built(Tiled(256, 256, 4096));
  EXPECT_EQ(FindRepeats(k, SpaceMask(k)).size(), 1u);
  EXPECT_EQ(Geometry(k).meeting.count, 1);
  EXPECT_EQ(BytesAgain(k), 256 * 4096 * 2);
}

TEST(MeetingTest, SoDoRepetitionsThatFollowSoon) {
  // A row of 4 MiB, again after 4 MiB more.
  const Kernel k = Built(R"(
  x = f32[2,8,1048576] parameter(0)
  b = f32[2,1048576] parameter(1)
  c = f32[2,8,1048576] broadcast(b), dimensions={0,2}
  ROOT o = f32[2,8,1048576] add(x, c))");
  EXPECT_EQ(Geometry(k).meeting.count, 1);
}

TEST(MeetingTest, SmallerCachesMeetEarlier) {
  DeviceLimits small;
  small.l2_bytes = 4 << 20;
  const Kernel k = Built(Tiled(256, 256, 4096));
  EXPECT_EQ(Geometry(k, {}, small).meeting.count, 256);
  small.is_gpu = false;
  EXPECT_EQ(Geometry(k, {}, small).meeting.count, 1);
}

TEST(StreamTest, StreamsMakeWayForWhatWouldStay) {
  // 20 MB, again after 120 MB, between blocks.
  const Kernel k = Built(Tiled(8, 4093, 2500));
  const LoopGeometry g = Geometry(k);
  EXPECT_EQ(g.meeting.count, 1);
  EXPECT_TRUE(g.stream);
  EXPECT_EQ(BytesAgain(k), 4093 * 2500 * 2);
  EXPECT_EQ(BytesAgain(k, {"loop", {{"stream", 0}}}), 8 * 4093 * 2500 * 2);
  // What meets needs no help.
  EXPECT_FALSE(Geometry(Built(Tiled(8, 4096, 4096))).stream);
}

}  // namespace
}  // namespace ridge
