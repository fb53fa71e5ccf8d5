// Generated CUDA: which schedule serves what, and that the device's compiler
// takes the text without spilling. Results are checked on a GPU, by the tests
// of the tools.
#include "backends/cuda/emit/emit.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "backends/cuda/driver/nvrtc.h"
#include "backends/kernel/sequential.h"
#include "backends/kernel/sequential_cases.h"
#include "backends/kernel/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ridge::cuda {
namespace {

struct Case {
  const char* name;
  GroupPattern pattern;
  const char* schedule;
  const char* body;
};

// Odd sizes beside full ones: their tails, guards and narrow vectors are other
// text.
const Case kCases[] = {
    {"chain", GroupPattern::kLoop, "loop", R"(
  x = f32[1024,4096] parameter(0)
  y = f32[1024,4096] parameter(1)
  t = f32[1024,4096] tanh(x)
  ROOT o = f32[1024,4096] add(t, y))"},
    {"odd_chain", GroupPattern::kLoop, "loop", R"(
  x = bf16[1000003] parameter(0)
  e = bf16[1000003] exponential(x)
  ROOT o = f32[1000003] convert(e))"},
    {"gelu_of_halfs", GroupPattern::kLoop, "loop", R"(
  x = bf16[16385,8191] parameter(0)
  y = bf16[16385,8191] parameter(1)
  h = bf16[] constant(0.5)
  hb = bf16[16385,8191] broadcast(h), dimensions={}
  c = bf16[] constant(0.0447)
  cb = bf16[16385,8191] broadcast(c), dimensions={}
  q = bf16[16385,8191] multiply(x, x)
  q3 = bf16[16385,8191] multiply(q, x)
  s = bf16[16385,8191] multiply(q3, cb)
  i = bf16[16385,8191] add(x, s)
  t = bf16[16385,8191] tanh(i)
  u = bf16[16385,8191] multiply(t, hb)
  g = bf16[16385,8191] multiply(u, x)
  ROOT o = bf16[16385,8191] add(g, y))"},
    {"halves", GroupPattern::kLoop, "loop", R"(
  x = bf16[4096,128] parameter(0)
  a = bf16[4096,64] slice(x), slice={[0:4096], [0:64]}
  b = bf16[4096,64] slice(x), slice={[0:4096], [64:128]}
  n = bf16[4096,64] negate(b)
  c = bf16[4096,128] concatenate(n, a), dimensions={1}
  ROOT o = bf16[4096,128] add(c, x))"},
    {"rotary", GroupPattern::kLoop, "loop", R"(
  x = bf16[4,4096,32,128] parameter(0)
  c = f32[4096,64] parameter(1)
  f = f32[4,4096,32,128] convert(x)
  a = f32[4,4096,32,64] slice(f), slice={[0:4], [0:4096], [0:32], [0:64]}
  b = f32[4,4096,32,64] slice(f), slice={[0:4], [0:4096], [0:32], [64:128]}
  t = f32[4,4096,32,64] broadcast(c), dimensions={1,3}
  p = f32[4,4096,32,64] multiply(a, t)
  q = f32[4,4096,32,64] multiply(b, t)
  m = f32[4,4096,32,64] subtract(p, b)
  n = f32[4,4096,32,64] add(q, a)
  r = f32[4,4096,32,128] concatenate(m, n), dimensions={3}
  ROOT o = bf16[4,4096,32,128] convert(r))"},
    {"table_again_and_again", GroupPattern::kLoop, "loop", R"(
  x = bf16[32768,4096] parameter(0)
  p = bf16[4096,4096] parameter(1)
  b = bf16[8,4096,4096] broadcast(p), dimensions={1,2}
  r = bf16[32768,4096] reshape(b)
  ROOT o = bf16[32768,4096] add(x, r))"},
    {"pieces_of_transposes", GroupPattern::kLoop, "transpose", R"(
  x = f32[8192,1024]{0,1} parameter(0)
  n = f32[8192,1024]{1,0} negate(x)
  q = f32[8192,1024]{1,0} multiply(x, x)
  ROOT o = f32[8192,2048]{1,0} concatenate(n, q), dimensions={1})"},
    {"mixed_layouts", GroupPattern::kLoop, "transpose", R"(
  x = f32[8192,1024]{0,1} parameter(0)
  y = f32[8192,1024]{1,0} parameter(1)
  ROOT o = f32[8192,1024]{0,1} add(x, y))"},
    {"transpose", GroupPattern::kTranspose, "transpose", R"(
  x = bf16[1000,333] parameter(0)
  t = bf16[333,1000] transpose(x), dimensions={1,0}
  ROOT o = bf16[333,1000] negate(t))"},
    {"thin_transpose", GroupPattern::kTranspose, "loop", R"(
  x = f32[100000,3] parameter(0)
  ROOT t = f32[3,100000] transpose(x), dimensions={1,0})"},
    {"softmax", GroupPattern::kRowReduce, "row_reduce", R"(
  x = f32[4096,2048] parameter(0)
  low = f32[] constant(-inf)
  z = f32[] constant(0)
  m = f32[4096] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[4096,2048] broadcast(m), dimensions={0}
  d = f32[4096,2048] subtract(x, mb)
  e = f32[4096,2048] exponential(d)
  s = f32[4096] reduce(e, z), dimensions={1}, to_apply=add
  sb = f32[4096,2048] broadcast(s), dimensions={0}
  ROOT o = f32[4096,2048] divide(e, sb))"},
    {"odd_rows", GroupPattern::kRowReduce, "row_reduce", R"(
  x = f32[31,1027] parameter(0)
  z = f32[] constant(0)
  s = f32[31] reduce(x, z), dimensions={1}, to_apply=add
  sb = f32[31,1027] broadcast(s), dimensions={0}
  ROOT o = f32[31,1027] subtract(x, sb))"},
    {"rows_in_pieces", GroupPattern::kRowReduce, "row_reduce", R"(
  x = f32[16,4096,32,16] parameter(0)
  z = f32[] constant(0)
  s = f32[16,32] reduce(x, z), dimensions={1,3}, to_apply=add
  sb = f32[16,4096,32,16] broadcast(s), dimensions={0,2}
  d = f32[16,4096,32,16] subtract(x, sb)
  q = f32[16,4096,32,16] multiply(d, d)
  v = f32[16,32] reduce(q, z), dimensions={1,3}, to_apply=add
  vb = f32[16,4096,32,16] broadcast(v), dimensions={0,2}
  t = f32[16,4096,32,16] divide(d, vb)
  ROOT o = f32[16,4096,32,16] logistic(t))"},
    {"rows_in_odd_pieces", GroupPattern::kRowReduce, "row_reduce", R"(
  x = bf16[5,63,7,3] parameter(0)
  f = f32[5,63,7,3] convert(x)
  z = f32[] constant(0)
  s = f32[5,7] reduce(f, z), dimensions={1,3}, to_apply=add
  sb = f32[5,63,7,3] broadcast(s), dimensions={0,2}
  ROOT o = f32[5,63,7,3] subtract(f, sb))"},
    {"wide_rows", GroupPattern::kRowReduce, "row_reduce", R"(
  x = bf16[1024,131072] parameter(0)
  f = f32[1024,131072] convert(x)
  e = f32[1024,131072] exponential(f)
  z = f32[] constant(0)
  s = f32[1024] reduce(e, z), dimensions={1}, to_apply=add
  sb = f32[1024,131072] broadcast(s), dimensions={0}
  d = f32[1024,131072] divide(e, sb)
  ROOT o = bf16[1024,131072] convert(d))"},
    {"columns", GroupPattern::kColumnReduce, "column_reduce", R"(
  x = bf16[32768,2048] parameter(0)
  f = f32[32768,2048] convert(x)
  z = f32[] constant(0)
  ROOT s = f32[2048] reduce(f, z), dimensions={0}, to_apply=add)"},
    {"everything", GroupPattern::kColumnReduce, "row_reduce", R"(
  x = f32[33000] parameter(0)
  q = f32[33000] multiply(x, x)
  z = f32[] constant(0)
  ROOT s = f32[] reduce(q, z), dimensions={0}, to_apply=add)"},
    {"one_long_row", GroupPattern::kColumnReduce, "column_reduce", R"(
  x = f32[100000000] parameter(0)
  q = f32[100000000] multiply(x, x)
  z = f32[] constant(0)
  ROOT s = f32[] reduce(q, z), dimensions={0}, to_apply=add)"},
    {"three_sums", GroupPattern::kRowColumn, "multi_reduce", R"(
  x = f32[64,1024,1024] parameter(0)
  s = f32[64,1024,1024] sine(x)
  t = f32[64,1024,1024] tanh(x)
  m = f32[64,1024,1024] multiply(s, t)
  e = f32[64,1024,1024] exponential(m)
  l = f32[64,1024,1024] log-plus-one(e)
  z = f32[] constant(0)
  a = f32[1024,1024] reduce(e, z), dimensions={0}, to_apply=add
  b = f32[64,1024] reduce(e, z), dimensions={1}, to_apply=add
  c = f32[64,1024] reduce(e, z), dimensions={2}, to_apply=add
  ROOT o = (f32[1024,1024], f32[64,1024], f32[64,1024], f32[64,1024,1024])
    tuple(a, b, c, l))"},
    {"odd_sums", GroupPattern::kRowColumn, "multi_reduce", R"(
  x = bf16[3,33,127] parameter(0)
  w = f32[127] parameter(1)
  v = f32[3,33] parameter(2)
  f = f32[3,33,127] convert(x)
  wb = f32[3,33,127] broadcast(w), dimensions={2}
  vb = f32[3,33,127] broadcast(v), dimensions={0,1}
  p = f32[3,33,127] multiply(f, wb)
  q = f32[3,33,127] add(p, vb)
  z = f32[] constant(0)
  a = f32[33,127] reduce(q, z), dimensions={0}, to_apply=add
  b = f32[127] reduce(q, z), dimensions={0,1}, to_apply=add
  n = f32[127] negate(b)
  c = f32[3,33] reduce(q, z), dimensions={2}, to_apply=add
  ROOT o = (f32[33,127], f32[127], f32[3,33]) tuple(a, n, c))"},
    {"norm_backward", GroupPattern::kRowColumn, "row_column", R"(
  x = bf16[8192,4096] parameter(0)
  g = bf16[8192,4096] parameter(1)
  xf = f32[8192,4096] convert(x)
  gf = f32[8192,4096] convert(g)
  z = f32[] constant(0)
  s = f32[8192] reduce(xf, z), dimensions={1}, to_apply=add
  sb = f32[8192,4096] broadcast(s), dimensions={0}
  c = f32[8192,4096] subtract(xf, sb)
  p = f32[8192,4096] multiply(c, gf)
  t = f32[8192] reduce(p, z), dimensions={1}, to_apply=add
  tb = f32[8192,4096] broadcast(t), dimensions={0}
  d = f32[8192,4096] subtract(gf, tb)
  db = bf16[8192,4096] convert(d)
  dg = f32[4096] reduce(p, z), dimensions={0}, to_apply=add
  half = f32[] constant(0.5)
  hb = f32[4096] broadcast(half), dimensions={}
  dgh = f32[4096] multiply(dg, hb)
  dbeta = f32[4096] reduce(gf, z), dimensions={0}, to_apply=add
  ROOT o = (bf16[8192,4096], f32[4096], f32[4096]) tuple(db, dgh, dbeta))"},
    {"odd_rows_and_columns", GroupPattern::kRowColumn, "row_column", R"(
  x = f32[127,333] parameter(0)
  z = f32[] constant(0)
  s = f32[127] reduce(x, z), dimensions={1}, to_apply=add
  sb = f32[127,333] broadcast(s), dimensions={0}
  d = f32[127,333] subtract(x, sb)
  c = f32[333] reduce(d, z), dimensions={0}, to_apply=add
  ROOT o = (f32[127,333], f32[333]) tuple(d, c))"},
    // A fold inside a thread, guarded by a condition of its own variable.
    {"window_and_columns", GroupPattern::kRowColumn, "row_column", R"(
  x = f32[128,16] parameter(0)
  z = f32[] constant(0)
  w = f32[128,16] reduce-window(x, z), window={size=2x1 pad=1_0x0_0}, to_apply=add
  t = f32[128,16] tanh(w)
  c = f32[16] reduce(t, z), dimensions={0}, to_apply=add
  ROOT o = (f32[128,16], f32[16]) tuple(t, c))"},
};

class EmitTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    auto kernel = BuildEntry(GetParam().body, GetParam().pattern);
    ASSERT_EQ(kernel.status(), absl::OkStatus());
    auto emitted = EmitKernel(*kernel, ScheduleChoice(), DeviceLimits());
    ASSERT_EQ(emitted.status(), absl::OkStatus());
    emitted_ = *emitted;
  }
  EmittedKernel emitted_;
};

TEST_P(EmitTest, TakesTheScheduleMadeForIt) {
  EXPECT_EQ(emitted_.choice.name, GetParam().schedule);
  EXPECT_FALSE(emitted_.plain);
}

TEST_P(EmitTest, CompilesWithoutSpills) {
  if (!NvrtcVersion().ok()) GTEST_SKIP() << "no NVRTC on this machine";
  CompileRequest request;
  request.name = GetParam().name;
  request.source = emitted_.source;
  request.arch = "sm_90a";
  auto compiled = Compile(request);
  ASSERT_EQ(compiled.status(), absl::OkStatus()) << emitted_.source;
  for (const Launch& l : emitted_.launches) {
    const KernelResources* r = compiled->Find(l.function);
    ASSERT_NE(r, nullptr) << l.function;
    EXPECT_EQ(r->spill_store_bytes, 0) << l.function;
    RecordProperty(l.function, r->registers);
  }
}

TEST(RingTest, LongRowsAreOnTheirWayBeforeTheirTurn) {
  auto kernel = BuildEntry(R"(  x = bf16[4096,131072] parameter(0)
  f = f32[4096,131072] convert(x)
  t = f32[4096,131072] tanh(f)
  z = f32[] constant(0)
  s = f32[4096] reduce(t, z), dimensions={1}, to_apply=add
  sb = f32[4096,131072] broadcast(s), dimensions={0}
  d = f32[4096,131072] subtract(t, sb)
  ROOT o = bf16[4096,131072] convert(d))",
                           GroupPattern::kRowReduce);
  ASSERT_EQ(kernel.status(), absl::OkStatus());
  auto emitted = EmitKernel(*kernel, ScheduleChoice(), DeviceLimits());
  ASSERT_EQ(emitted.status(), absl::OkStatus());
  ASSERT_EQ(emitted->launches.size(), 1u);
  const Launch& launch = emitted->launches[0];
  EXPECT_TRUE(launch.resident);
  EXPECT_EQ(launch.shared_bytes, 2 * 131072 * 2 / launch.cluster);
  EXPECT_TRUE(absl::StrContains(emitted->source, "rdg_copy_async(h"));
}

TEST(FinishTest, SeveralColumnsOfABlockKeepTheirWarpsApart) {
  auto kernel = BuildEntry(R"(  x = f32[392,16] parameter(0)
  z = f32[] constant(0)
  t = f32[392,16] tanh(x)
  c = f32[16] reduce(t, z), dimensions={0}, to_apply=add
  ROOT o = (f32[392,16], f32[16]) tuple(t, c))",
                           GroupPattern::kRowColumn);
  ASSERT_EQ(kernel.status(), absl::OkStatus());
  auto emitted = EmitKernel(*kernel, ScheduleChoice(), DeviceLimits());
  ASSERT_EQ(emitted.status(), absl::OkStatus());
  // 64 threads a column, two warps each of the block's eight.
  EXPECT_TRUE(absl::StrContains(emitted->source, "__shared__ float w0_0[8];"))
      << emitted->source;
  EXPECT_TRUE(absl::StrContains(
      emitted->source, "w0_0[threadIdx.x / 64 * 2 + threadIdx.x % 2]"));
}

TEST(VectorTest, PiecesThatEndBetweenVectorsAreReadAsVectors) {
  auto source = [](int64_t half) {
    auto module = KeepModule(
        absl::StrCat("HloModule m\nENTRY e {\n  x = f32[4096,", half,
                     "] parameter(0)\n  y = f32[4096,", half,
                     "] parameter(1)\n  ROOT c = f32[4096,", 2 * half,
                     "] concatenate(x, y), dimensions={1}\n}\n"));
    EXPECT_EQ(module.status(), absl::OkStatus());
    auto kernel = BuildKernel(WholeEntry(**module, GroupPattern::kLoop));
    EXPECT_EQ(kernel.status(), absl::OkStatus());
    auto emitted = EmitKernel(*kernel, ScheduleChoice(), DeviceLimits());
    EXPECT_EQ(emitted.status(), absl::OkStatus());
    return emitted.ok() ? emitted->source : std::string();
  };
  EXPECT_TRUE(absl::StrContains(source(64), "= rdg_load_vec<float, 4>"));
  EXPECT_FALSE(absl::StrContains(source(66), "= rdg_load_vec<float, 4>"));
}

// Source of the loop schedule with these parameters.
std::string LoopSource(
    absl::string_view body,
    const absl::flat_hash_map<std::string, int64_t>& parameters) {
  auto module = KeepModule(absl::StrCat("HloModule m\nENTRY e {", body, "}"));
  EXPECT_EQ(module.status(), absl::OkStatus());
  auto kernel = BuildKernel(WholeEntry(**module, GroupPattern::kLoop));
  EXPECT_EQ(kernel.status(), absl::OkStatus());
  ScheduleChoice choice = {"loop", {}};
  for (const auto& [name, value] : parameters) choice.parameters[name] = value;
  auto emitted = EmitKernel(*kernel, choice, DeviceLimits());
  EXPECT_EQ(emitted.status(), absl::OkStatus());
  return emitted.ok() ? emitted->source : std::string();
}

TEST(MeetingTest, BlocksOfAllRepetitionsAreNeighbours) {
  constexpr char kTiled[] = R"(
  x = bf16[32768,4096] parameter(0)
  p = bf16[4096,4096] parameter(1)
  b = bf16[8,4096,4096] broadcast(p), dimensions={1,2}
  r = bf16[32768,4096] reshape(b)
  ROOT o = bf16[32768,4096] add(x, r)
)";
  EXPECT_TRUE(absl::StrContains(
      LoopSource(kTiled, {}), "met = blockIdx.x % 8 * 4096 + blockIdx.x / 8;"));
  EXPECT_TRUE(
      absl::StrContains(LoopSource(kTiled, {{"unroll", 1}}),
                        "met = blockIdx.x % 8 * 8192 + blockIdx.x / 8;"));
  EXPECT_FALSE(absl::StrContains(LoopSource(kTiled, {{"meet", 0}}), "met ="));
  // Within each of four runs, that are apart as before.
  EXPECT_TRUE(absl::StrContains(LoopSource(R"(
  x = f32[4,16,4194304] parameter(0)
  b = f32[4,4194304] parameter(1)
  c = f32[4,16,4194304] broadcast(b), dimensions={0,2}
  ROOT o = f32[4,16,4194304] add(x, c)
)",
                                           {}),
                                "met = blockIdx.x % 16 * 2048 + blockIdx.x % "
                                "32768 / 16 + blockIdx.x / 32768 * 32768;"));
}

TEST(StreamTest, OnlyWhatIsTouchedOnceMakesWay) {
  constexpr char kTiled[] = R"(
  x = bf16[32768,4096] parameter(0)
  p = bf16[4096,4096] parameter(1)
  b = bf16[8,4096,4096] broadcast(p), dimensions={1,2}
  r = bf16[32768,4096] reshape(b)
  ROOT o = bf16[32768,4096] add(x, r)
)";
  const std::string source = LoopSource(kTiled, {{"stream", 1}});
  EXPECT_TRUE(
      absl::StrContains(source, "= rdg_stream_load<uint16_t, 8>(in1 +"));
  EXPECT_TRUE(absl::StrContains(source, "= rdg_load_vec<uint16_t, 8>(in0 +"));
  EXPECT_TRUE(absl::StrContains(source, "rdg_stream_store(out0 +"));
  if (NvrtcVersion().ok()) {
    CompileRequest request;
    request.name = "stream";
    request.source = source;
    request.arch = "sm_90a";
    EXPECT_EQ(Compile(request).status(), absl::OkStatus());
  }
}

TEST(GatherTest, RowsAreComputedForTheLoadsAlone) {
  const std::string source = LoopSource(R"(
  t = f32[1000,4096] parameter(0)
  i = s32[8192] parameter(1)
  j = s32[8192,1] reshape(i)
  g = f32[8192,4096] gather(t, j), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,4096}
  ROOT o = f32[8192,4096] negate(g)
)",
                                        {});
  size_t loads = 0;
  for (size_t at = source.find("= in1["); at != std::string::npos;
       at = source.find("= in1[", at + 1)) {
    ++loads;
  }
  for (size_t at = source.find("= in0["); at != std::string::npos;
       at = source.find("= in0[", at + 1)) {
    ++loads;
  }
  EXPECT_EQ(loads, 1u) << source;
}

class LoopKernelTest : public ::testing::TestWithParam<SequentialCase> {};

TEST_P(LoopKernelTest, CompilesWithoutSpills) {
  auto module = KeepModule(GetParam().hlo);
  ASSERT_EQ(module.status(), absl::OkStatus());
  auto built = BuildSequentialKernel(*(*module)->entry()->root());
  ASSERT_EQ(built.status(), absl::OkStatus());
  auto emitted = EmitKernel(built->kernel, ScheduleChoice(), DeviceLimits());
  ASSERT_EQ(emitted.status(), absl::OkStatus());
  EXPECT_EQ(emitted->choice.name, "sequential");
  EXPECT_EQ(emitted->launches.size(), 1u);
  if (!NvrtcVersion().ok()) GTEST_SKIP() << "no NVRTC on this machine";
  CompileRequest request;
  request.name = GetParam().name;
  request.source = emitted->source;
  request.arch = "sm_90a";
  auto compiled = Compile(request);
  ASSERT_EQ(compiled.status(), absl::OkStatus()) << emitted->source;
  const KernelResources* r = compiled->Find(emitted->launches[0].function);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->spill_store_bytes, 0) << emitted->source;
}

INSTANTIATE_TEST_SUITE_P(Cases, LoopKernelTest,
                         ::testing::ValuesIn(kSequentialCases),
                         [](const ::testing::TestParamInfo<SequentialCase>& i) {
                           return i.param.name;
                         });

INSTANTIATE_TEST_SUITE_P(Cases, EmitTest, ::testing::ValuesIn(kCases),
                         [](const ::testing::TestParamInfo<Case>& i) {
                           return i.param.name;
                         });

}  // namespace
}  // namespace ridge::cuda
