// What schedules say: who serves whom, with which geometry, moving how much.
#include <string>

#include "backends/kernel/schedule.h"
#include "backends/kernel/schedules/column_reduce.h"
#include "backends/kernel/schedules/loop.h"
#include "backends/kernel/schedules/multi_reduce.h"
#include "backends/kernel/schedules/row_column.h"
#include "backends/kernel/schedules/row_reduce.h"
#include "backends/kernel/schedules/table.h"
#include "backends/kernel/schedules/transpose.h"
#include "backends/kernel/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;

Kernel Built(const std::string& body, GroupPattern pattern) {
  auto kernel = BuildEntry(body, pattern);
  EXPECT_EQ(kernel.status(), absl::OkStatus());
  return kernel.ok() ? *kernel : Kernel();
}

constexpr char kRowNorm[] = R"(
  x = f32[16384,4096] parameter(0)
  z = f32[] constant(0)
  s = f32[16384] reduce(x, z), dimensions={1}, to_apply=add
  b = f32[16384,4096] broadcast(s), dimensions={0}
  ROOT o = f32[16384,4096] divide(x, b))";

constexpr char kWideRow[] = R"(
  x = bf16[1024,131072] parameter(0)
  f = f32[1024,131072] convert(x)
  z = f32[] constant(0)
  s = f32[1024] reduce(f, z), dimensions={1}, to_apply=add
  b = f32[1024,131072] broadcast(s), dimensions={0}
  d = f32[1024,131072] divide(f, b)
  ROOT o = bf16[1024,131072] convert(d))";

// GELU of bf16 and a residual: `g` depends on x alone.
constexpr char kSmallGelu[] = R"(
  x = bf16[16384,8192] parameter(0)
  y = bf16[16384,8192] parameter(1)
  h = bf16[] constant(0.5)
  hb = bf16[16384,8192] broadcast(h), dimensions={}
  c = bf16[] constant(0.0447)
  cb = bf16[16384,8192] broadcast(c), dimensions={}
  q = bf16[16384,8192] multiply(x, x)
  q3 = bf16[16384,8192] multiply(q, x)
  s = bf16[16384,8192] multiply(q3, cb)
  i = bf16[16384,8192] add(x, s)
  t = bf16[16384,8192] tanh(i)
  u = bf16[16384,8192] multiply(t, hb)
  g = bf16[16384,8192] multiply(u, x)
  ROOT o = bf16[16384,8192] add(g, y))";

constexpr char kColumns[] = R"(
  x = f32[32768,2048] parameter(0)
  z = f32[] constant(0)
  ROOT s = f32[2048] reduce(x, z), dimensions={0}, to_apply=add)";

constexpr char kRowsAndColumns[] = R"(
  x = f32[8192,2048] parameter(0)
  z = f32[] constant(0)
  s = f32[8192] reduce(x, z), dimensions={1}, to_apply=add
  b = f32[8192,2048] broadcast(s), dimensions={0}
  d = f32[8192,2048] subtract(x, b)
  c = f32[2048] reduce(d, z), dimensions={0}, to_apply=add
  ROOT o = (f32[8192,2048], f32[2048]) tuple(d, c))";

constexpr char kThreeSums[] = R"(
  x = f32[64,1024,1024] parameter(0)
  z = f32[] constant(0)
  e = f32[64,1024,1024] exponential(x)
  a = f32[1024,1024] reduce(e, z), dimensions={0}, to_apply=add
  b = f32[64,1024] reduce(e, z), dimensions={1}, to_apply=add
  c = f32[64,1024] reduce(e, z), dimensions={2}, to_apply=add
  ROOT o = (f32[1024,1024], f32[64,1024], f32[64,1024], f32[64,1024,1024])
    tuple(a, b, c, e))";

constexpr char kTransposed[] = R"(
  x = f32[4096,8192] parameter(0)
  y = f32[8192,4096] parameter(1)
  t = f32[8192,4096] transpose(x), dimensions={1,0}
  ROOT o = f32[8192,4096] add(t, y))";

constexpr char kChain[] = R"(
  x = f32[8192,8192] parameter(0)
  v = f32[8192] parameter(1)
  w = f32[8192,8192] broadcast(v), dimensions={1}
  ROOT o = f32[8192,8192] multiply(x, w))";

struct Choice {
  const char* name;
  const char* body;
  GroupPattern pattern;
  const char* schedule;
};
class ChoiceTest : public ::testing::TestWithParam<Choice> {};

TEST_P(ChoiceTest, FirstScheduleThatServesIsChosen) {
  const Choice& c = GetParam();
  auto choice = ChooseSchedule(Built(c.body, c.pattern), DeviceLimits());
  ASSERT_EQ(choice.status(), absl::OkStatus());
  EXPECT_EQ(choice->name, c.schedule);
}
INSTANTIATE_TEST_SUITE_P(
    All, ChoiceTest,
    ::testing::Values(Choice{"RowNorm", kRowNorm, GroupPattern::kRowReduce,
                             "row_reduce"},
                      Choice{"Columns", kColumns, GroupPattern::kColumnReduce,
                             "column_reduce"},
                      Choice{"RowsAndColumns", kRowsAndColumns,
                             GroupPattern::kRowColumn, "row_column"},
                      Choice{"ThreeSums", kThreeSums, GroupPattern::kRowColumn,
                             "multi_reduce"},
                      Choice{"Transposed", kTransposed,
                             GroupPattern::kTranspose, "transpose"},
                      Choice{"Chain", kChain, GroupPattern::kLoop, "loop"}),
    [](const auto& i) { return i.param.name; });

TEST(SchedulesTest, EveryCombinationOfParametersCanBeUsed) {
  const DeviceLimits device;
  for (const char* body : {kRowNorm, kWideRow, kColumns, kRowsAndColumns,
                           kThreeSums, kTransposed, kChain}) {
    for (GroupPattern pattern : {GroupPattern::kLoop, GroupPattern::kRowReduce,
                                 GroupPattern::kRowColumn}) {
      auto module = KeepModule(
          std::string("HloModule m\nadd { a = f32[] parameter(0) b = f32[] "
                      "parameter(1)\n ROOT r = f32[] add(a, b) }\nENTRY e {") +
          body + "}\n");
      ASSERT_EQ(module.status(), absl::OkStatus());
      auto kernel = BuildKernel(WholeEntry(**module, pattern));
      if (!kernel.ok()) continue;  // a pattern that does not fit the body
      for (const Schedule* s : AllSchedules()) {
        if (!s->CanSchedule(*kernel, device).ok()) continue;
        const ParameterSpace space = s->Parameters(*kernel, device);
        // One axis away from the default each.
        ScheduleChoice first;
        first.name = std::string(s->name());
        for (const auto& axis : space.axes) {
          ASSERT_FALSE(axis.values.empty()) << axis.name;
          first.parameters[axis.name] = axis.values[0];
        }
        EXPECT_EQ(first, s->Default(*kernel, device)) << s->name();
        for (const auto& axis : space.axes) {
          for (int64_t value : axis.values) {
            ScheduleChoice choice = first;
            choice.parameters[axis.name] = value;
            auto used = s->Use(*kernel, choice, device);
            ASSERT_EQ(used.status(), absl::OkStatus());
            EXPECT_GT(used->blocks, 0);
            EXPECT_LE(used->threads_per_block, device.max_threads_per_block)
                << s->name() << " " << axis.name << "=" << value;
            EXPECT_LE(used->shared_bytes, device.shared_bytes_per_block);
          }
        }
      }
    }
  }
}

int64_t BytesOf(const Resources& r) {
  int64_t bytes = 0;
  for (int64_t b : r.bytes_per_buffer) bytes += b;
  return bytes;
}

Resources Default(const char* body, GroupPattern pattern,
                  const Schedule* schedule) {
  const DeviceLimits device;
  Kernel k = Built(body, pattern);
  auto r = schedule->Use(k, schedule->Default(k, device), device);
  EXPECT_EQ(r.status(), absl::OkStatus());
  return r.ok() ? *r : Resources();
}

TEST(ChoiceCheckTest, OnlyValuesThatAScheduleHasForTheKernel) {
  const DeviceLimits device;
  const Kernel k = Built(kRowNorm, GroupPattern::kRowReduce);
  for (const Schedule* s : AllSchedules()) {
    if (!s->CanSchedule(k, device).ok() || s == LoopSchedule()) continue;
    EXPECT_EQ(CheckChoice(k, s->Default(k, device), device), absl::OkStatus());
    for (const ParameterSpace::Axis& axis : s->Parameters(k, device).axes) {
      for (int64_t value : axis.values) {
        EXPECT_EQ(CheckChoice(k, {std::string(s->name()), {{axis.name, value}}},
                              device),
                  absl::OkStatus());
      }
      for (int64_t value : {int64_t{-1}, int64_t{1000}, int64_t{1} << 62}) {
        EXPECT_THAT(
            std::string(
                CheckChoice(k, {std::string(s->name()), {{axis.name, value}}},
                            device)
                    .message()),
            HasSubstr(axis.name + " is " + std::to_string(value)));
      }
    }
  }
  EXPECT_THAT(
      std::string(
          CheckChoice(k, {"row_reduce", {{"bogus", 1}}}, device).message()),
      HasSubstr("has no parameter bogus; it has vector, threads"));
  EXPECT_THAT(
      std::string(CheckChoice(k, {"", {{"threads", 128}}}, device).message()),
      HasSubstr("parameters of no schedule"));
  EXPECT_THAT(std::string(CheckChoice(k, {"loop", {}}, device).message()),
              HasSubstr("row_reduce serves this one"));
  // A CPU has none.
  DeviceLimits cpu;
  cpu.is_gpu = false;
  EXPECT_EQ(CheckChoice(k, {"row_reduce", {{"bogus", 1}}}, cpu),
            absl::OkStatus());
}

TEST(RowReduceTest, RowIsReadOnceAndWrittenOnce) {
  Resources r =
      Default(kRowNorm, GroupPattern::kRowReduce, RowReduceSchedule());
  EXPECT_EQ(BytesOf(r), 2 * int64_t{16384} * 4096 * 4);
}

TEST(RowReduceTest, RowsOf256KilobytesTakeACluster) {
  Kernel k = Built(kWideRow, GroupPattern::kRowReduce);
  RowGeometry g = RowGeometryOf(k, {}, DeviceLimits());
  EXPECT_EQ(g.cluster, 8);
  EXPECT_EQ(g.row_threads, 256);
  EXPECT_EQ(g.chunks, 8);
  EXPECT_TRUE(g.cached);
  DeviceLimits no_clusters;
  no_clusters.max_cluster_blocks = 1;
  EXPECT_FALSE(RowGeometryOf(k, {}, no_clusters).cached);
}

TEST(RowReduceTest, ManyLongRowsAreWalkedWithStages) {
  Kernel few = Built(kWideRow, GroupPattern::kRowReduce);
  EXPECT_EQ(RowGeometryOf(few, {}, DeviceLimits()).stages, 1);
  EXPECT_GT(RowGeometryOf(few, {}, DeviceLimits()).resident, 1);
  DeviceLimits large;
  large.multiprocessors = 2048;
  EXPECT_EQ(RowGeometryOf(few, {}, large).stages, 0);
}

TEST(RowReduceTest, BlocksOfAClusterHaveWholeWarpsOfOneRow) {
  Kernel k = Built(kRowNorm, GroupPattern::kRowReduce);
  RowGeometry g = RowGeometryOf(
      k, {"row_reduce", {{"threads", 16}, {"cluster", 4}}}, DeviceLimits());
  EXPECT_EQ(g.row_threads, 32);
  EXPECT_EQ(g.block_rows, 1);
}

TEST(RowReduceTest, ShortRowsShareABlock) {
  Kernel k = Built(R"(
  x = f32[65536,64] parameter(0)
  z = f32[] constant(0)
  ROOT s = f32[65536] reduce(x, z), dimensions={1}, to_apply=add)",
                   GroupPattern::kRowReduce);
  RowGeometry g = RowGeometryOf(k, {}, DeviceLimits());
  EXPECT_EQ(g.vector, 4);
  EXPECT_EQ(g.row_threads, 16);
  EXPECT_EQ(g.BlockThreads(), 256);
}

TEST(RowReduceTest, OddRowsTakeNarrowVectors) {
  Kernel k = Built(R"(
  x = f32[64,1002] parameter(0)
  z = f32[] constant(0)
  ROOT s = f32[64] reduce(x, z), dimensions={1}, to_apply=add)",
                   GroupPattern::kRowReduce);
  EXPECT_EQ(RowGeometryOf(k, {}, DeviceLimits()).vector, 2);
}

// A group norm's like: `pieces` of `length` to a row, 16 x 32 rows, and a scale
// for each channel.
Kernel Groups(int64_t pieces, int64_t length) {
  const std::string all = "f32[16," + std::to_string(pieces) + ",32," +
                          std::to_string(length) + "]";
  const std::string body = "  x = " + all + R"( parameter(0)
  z = f32[] constant(0)
  s = f32[16,32] reduce(x, z), dimensions={1,3}, to_apply=add
  sb = )" + all + R"( broadcast(s), dimensions={0,2}
  d = )" + all + R"( subtract(x, sb)
  g = f32[32,)" + std::to_string(length) +
                           R"(] parameter(1)
  gb = )" + all + R"( broadcast(g), dimensions={2,3}
  ROOT o = )" + all + " multiply(d, gb)";
  return Built(body.c_str(), GroupPattern::kRowReduce);
}

TEST(RowReduceTest, RowsInPiecesAreReadOnceByVectorsThatDivideThem) {
  const Kernel k = Groups(4096, 16);
  const RowGeometry g = RowGeometryOf(k, {}, DeviceLimits());
  EXPECT_EQ(g.rows, 512);
  EXPECT_EQ(g.columns, 65536);
  EXPECT_EQ(g.vector, 4);
  EXPECT_EQ(g.cluster, 8);
  EXPECT_TRUE(g.cached);
  EXPECT_EQ(g.stages, 1);
  EXPECT_EQ(g.resident, 3);
  auto r = RowReduceSchedule()->Use(k, ChoiceOf(g), DeviceLimits());
  ASSERT_EQ(r.status(), absl::OkStatus());
  // The scales are not held.
  EXPECT_EQ(BytesOf(*r), 2 * int64_t{512} * 65536 * 4 + 512 * 4);
  EXPECT_EQ(RowGeometryOf(Groups(64, 6), {}, DeviceLimits()).vector, 2);
  EXPECT_EQ(RowGeometryOf(Groups(64, 5), {}, DeviceLimits()).vector, 1);
}

TEST(RowReduceTest, PartsOfSectorsAreCounted) {
  const DeviceLimits device;
  auto efficiency = [&](int64_t length) {
    const Kernel k = Groups(64, length);
    auto r = RowReduceSchedule()->Use(
        k, RowReduceSchedule()->Default(k, device), device);
    EXPECT_EQ(r.status(), absl::OkStatus());
    return r.ok() ? r->sector_efficiency[0] : 0;
  };
  EXPECT_EQ(efficiency(16), 1);
  EXPECT_EQ(efficiency(12), 0.75);
}

TEST(RowReduceTest, RowsInPiecesThatNoClusterHoldsAreRefused) {
  absl::Status s =
      RowReduceSchedule()->CanSchedule(Groups(16384, 16), DeviceLimits());
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("row_reduce: rows in pieces that no cluster holds"));
}

TEST(RowReduceTest, RefusesColumnsWithTheRule) {
  absl::Status s = RowReduceSchedule()->CanSchedule(
      Built(kColumns, GroupPattern::kColumnReduce), DeviceLimits());
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("row_reduce: a reduction over other than the last"));
}

TEST(ColumnReduceTest, PartialsAreSmallBesideTheInput) {
  Resources r =
      Default(kColumns, GroupPattern::kColumnReduce, ColumnReduceSchedule());
  EXPECT_EQ(r.launches, 2);
  EXPECT_GE(r.blocks, 132);
  EXPECT_LT(r.extra_bytes_written, BytesOf(r) / 16);
}

TEST(RowColumnTest, SpaceIsReadOnceForBothKindsOfSums) {
  Resources r =
      Default(kRowsAndColumns, GroupPattern::kRowColumn, RowColumnSchedule());
  EXPECT_EQ(BytesOf(r), 2 * int64_t{8192} * 2048 * 4 + 2048 * 4);
  EXPECT_EQ(r.blocks, 264);
}

MultiReduceGeometry BoxesOf(const Kernel& k) {
  auto boxes = FindBoxes(k);
  EXPECT_EQ(boxes.status(), absl::OkStatus());
  return MultiReduceGeometryOf(k, boxes.value_or(Boxes()), {}, DeviceLimits());
}

TEST(MultiReduceTest, SpaceIsReadOnceForSumsOverEachAxis) {
  Resources r =
      Default(kThreeSums, GroupPattern::kRowColumn, MultiReduceSchedule());
  const int64_t space = int64_t{64} * 1024 * 1024;
  EXPECT_EQ(BytesOf(r), (2 * space + 1024 * 1024 + 2 * 64 * 1024) * 4);
  EXPECT_LT(r.extra_bytes_written, space * 4 / 5);
}

TEST(MultiReduceTest, BoxesFillTheDeviceOnce) {
  const MultiReduceGeometry g =
      BoxesOf(Built(kThreeSums, GroupPattern::kRowColumn));
  EXPECT_EQ(g.boxes.outer_points, 64);
  EXPECT_EQ(g.boxes.middle_points, 1024);
  EXPECT_EQ(g.pieces, 1);
  EXPECT_EQ(g.tile, 8);
  EXPECT_EQ(g.shares, 4);
  // A partial result a box: by tile and point, by share and row of a tile.
  EXPECT_EQ(g.PartialBytes(),
            (128 * 64 * 1024 + 4 * 1024 * 1024 + 64 * 1024) * 4);
  EXPECT_LE(g.Blocks(), 132 * g.resident);
}

TEST(MultiReduceTest, WithoutAMiddleSumTilesAreSmaller) {
  const MultiReduceGeometry g = BoxesOf(Built(R"(
  x = f32[64,1024,1024] parameter(0)
  z = f32[] constant(0)
  a = f32[1024,1024] reduce(x, z), dimensions={0}, to_apply=add
  c = f32[64,1024] reduce(x, z), dimensions={2}, to_apply=add
  ROOT o = (f32[1024,1024], f32[64,1024]) tuple(a, c))",
                                              GroupPattern::kRowColumn));
  EXPECT_EQ(g.tile, 4);
  EXPECT_EQ(g.shares, 2);
}

TEST(MultiReduceTest, LongRowsAreCutInPieces) {
  const MultiReduceGeometry g = BoxesOf(Built(R"(
  x = f32[512,1048576] parameter(0)
  z = f32[] constant(0)
  e = f32[512,1048576] exponential(x)
  a = f32[1048576] reduce(e, z), dimensions={0}, to_apply=add
  ROOT o = (f32[1048576], f32[512,1048576]) tuple(a, e))",
                                              GroupPattern::kRowColumn));
  EXPECT_EQ(g.pieces, 1024);
  EXPECT_EQ(g.boxes.outer_points, 1);
  EXPECT_EQ(g.boxes.middle_points, 512);
}

TEST(MultiReduceTest, RefusesWithTheRule) {
  const auto rule = [](const char* body) {
    return std::string(
        MultiReduceSchedule()
            ->CanSchedule(Built(body, GroupPattern::kRowColumn), DeviceLimits())
            .message());
  };
  EXPECT_THAT(rule(R"(
  x = f32[8,8,64] parameter(0)
  z = f32[] constant(0)
  s = f32[8,8] reduce(x, z), dimensions={2}, to_apply=add
  b = f32[8,8,64] broadcast(s), dimensions={0,1}
  d = f32[8,8,64] subtract(x, b)
  a = f32[8,64] reduce(x, z), dimensions={0}, to_apply=add
  ROOT o = (f32[8,8,64], f32[8,64]) tuple(d, a))"),
              HasSubstr("multi_reduce: an output of other points"));
  EXPECT_THAT(rule(R"(
  x = f32[8,6,4,64] parameter(0)
  z = f32[] constant(0)
  a = f32[6,4,64] reduce(x, z), dimensions={0}, to_apply=add
  b = f32[8,4,64] reduce(x, z), dimensions={1}, to_apply=add
  c = f32[8,6,64] reduce(x, z), dimensions={2}, to_apply=add
  ROOT o = (f32[6,4,64], f32[8,4,64], f32[8,6,64]) tuple(a, b, c))"),
              HasSubstr("more than two sets of axes"));
}

TEST(TransposeTest, TilesUseWholeSectorsBothWays) {
  Resources r =
      Default(kTransposed, GroupPattern::kTranspose, TransposeSchedule());
  for (double e : r.sector_efficiency) EXPECT_EQ(e, 1);
  EXPECT_EQ(r.shared_bytes, 4 * 64 * 68);
}

// Columns of 8192 rows' sectors fit the cache many times over; of 2^24 they do
// not.
TEST(LoopTest, StridedReadsWasteSectorsOnlyBeyondTheCache) {
  Resources r = Default(kTransposed, GroupPattern::kLoop, LoopSchedule());
  EXPECT_EQ(r.sector_efficiency[0], 1);
  Resources wide = Default(R"(
  x = f32[16777216,16] parameter(0)
  t = f32[16,16777216] transpose(x), dimensions={1,0}
  ROOT o = f32[16,16777216] negate(t))",
                           GroupPattern::kLoop, LoopSchedule());
  EXPECT_EQ(wide.sector_efficiency[0], 1.0 / 8);
}

TEST(LoopTest, BroadcastVectorIsReadOnce) {
  Resources r = Default(kChain, GroupPattern::kLoop, LoopSchedule());
  EXPECT_EQ(BytesOf(r), 2 * int64_t{8192} * 8192 * 4 + 8192 * 4);
}

TEST(LoopTest, ReductionsAreComputedAgainForEachPoint) {
  Resources row =
      Default(kRowNorm, GroupPattern::kRowReduce, RowReduceSchedule());
  Resources loop = Default(kRowNorm, GroupPattern::kRowReduce, LoopSchedule());
  EXPECT_GT(loop.fma_ops, 100 * row.fma_ops);
}

TEST(TableTest, HoldsWhatDependsOnOneSmallValue) {
  Kernel k = Built(kSmallGelu, GroupPattern::kLoop);
  Table table = FindTable(k, DeviceLimits());
  ASSERT_GE(table.value, 0);
  EXPECT_EQ(k.nodes[table.from].kind, NodeKind::kLoad);
  EXPECT_EQ(table.entries, 65536);
  EXPECT_EQ(table.bytes, 131072);
  // All but the last addition.
  EXPECT_EQ(k.nodes[table.value].opcode, Opcode::kMultiply);
  EXPECT_TRUE(LoopGeometryOf(k, SpaceMask(k), {}, DeviceLimits()).table);
}

TEST(TableTest, FewPointsAreComputed) {
  Kernel k = Built(R"(
  x = bf16[1024,1024] parameter(0)
  t = bf16[1024,1024] tanh(x)
  u = bf16[1024,1024] tanh(t)
  ROOT v = bf16[1024,1024] tanh(u))",
                   GroupPattern::kLoop);
  EXPECT_GE(FindTable(k, DeviceLimits()).value, 0);
  EXPECT_FALSE(LoopGeometryOf(k, SpaceMask(k), {}, DeviceLimits()).table);
}

TEST(TableTest, WideValuesHaveNone) {
  Kernel k = Built(R"(
  x = f32[16384,8192] parameter(0)
  t = f32[16384,8192] tanh(x)
  ROOT u = bf16[16384,8192] convert(t))",
                   GroupPattern::kLoop);
  EXPECT_LT(FindTable(k, DeviceLimits()).value, 0);
}

// Each of a window's elements has an argument of its own, inside of the fold.
TEST(TableTest, ValuesInsideOfFoldsHaveNone) {
  EXPECT_LT(FindTable(Built(R"(
  x = bf16[16384,8192] parameter(0)
  t = bf16[16384,8192] tanh(x)
  u = bf16[16384,8192] tanh(t)
  f = f32[16384,8192] convert(u)
  z = f32[] constant(0)
  ROOT w = f32[16384,8192] reduce-window(f, z), window={size=1x3 pad=0_0x1_1},
    to_apply=add)",
                            GroupPattern::kLoop),
                      DeviceLimits())
                .value,
            0);
  EXPECT_LT(FindTable(Built(R"(
  x = bf16[16384,8192] parameter(0)
  t = bf16[16384,8192] tanh(x)
  f = f32[16384,8192] convert(t)
  z = f32[] constant(0)
  ROOT s = f32[16384] reduce(f, z), dimensions={1}, to_apply=add)",
                            GroupPattern::kRowReduce),
                      DeviceLimits())
                .value,
            0);
}

TEST(SchedulesTest, UnknownNameListsTheKnown) {
  EXPECT_THAT(std::string(FindSchedule("rows").status().message()),
              HasSubstr("row_reduce, column_reduce"));
}

}  // namespace
}  // namespace ridge
