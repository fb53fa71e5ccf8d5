// Small steps that share a launch: which do, what is between them, and that the
// device's compiler takes the text. Results are checked on a GPU.
#include "backends/cuda/chains.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/cuda/driver/nvrtc.h"
#include "backends/cuda/emit/chain.h"
#include "fusion/strategies.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status_macros.h"
#include "hlo/base/status_matchers.h"
#include "hlo/passes/pipeline.h"
#include "hlo/text/parser.h"

namespace ridge::cuda {
namespace {

using ::testing::SizeIs;

struct Formed {
  std::unique_ptr<ridge::Module> module;
  Plan plan;
  Program program;
  absl::flat_hash_map<std::string, EmittedKernel> chains;

  const EmittedKernel& Chain() const { return chains.at("chain_0"); }
};

absl::StatusOr<Formed> Form(const std::string& text,
                            int max_cluster_blocks = 8) {
  Formed f;
  RIDGE_ASSIGN_OR_RETURN(f.module, ParseModule(text));
  RIDGE_RETURN_IF_ERROR(Canonicalize(f.module.get()));
  RIDGE_ASSIGN_OR_RETURN(f.plan, MakePlan(*f.module, "greedy"));
  RIDGE_ASSIGN_OR_RETURN(f.program, BuildProgram(*f.module, f.plan));
  DeviceLimits device;
  device.is_gpu = true;
  device.max_cluster_blocks = max_cluster_blocks;
  RIDGE_ASSIGN_OR_RETURN(f.chains, FormChains(device, &f.program));
  return f;
}

int Count(absl::string_view text, absl::string_view what) {
  int n = 0;
  for (size_t at = text.find(what); at != absl::string_view::npos;
       at = text.find(what, at + 1)) {
    ++n;
  }
  return n;
}

void ExpectCompiles(const EmittedKernel& kernel,
                    const std::string& arch = "sm_90a") {
  if (!NvrtcVersion().ok()) GTEST_SKIP() << "no NVRTC on this machine";
  CompileRequest request;
  request.name = "chain";
  request.source = kernel.source;
  request.arch = arch;
  auto compiled = Compile(request);
  ASSERT_EQ(compiled.status(), absl::OkStatus()) << kernel.source;
  const KernelResources* r = compiled->Find(kernel.launches[0].function);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->spill_store_bytes, 0);
}

// A layer of a network: product, softmax, residual.
std::string Layers(int64_t width) {
  return absl::StrReplaceAll(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[4,SIZE] parameter(0)
  w = f32[SIZE,SIZE] parameter(1)
  u = f32[SIZE,SIZE] parameter(2)
  zero = f32[] constant(0)
  d = f32[4,SIZE] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  n = f32[4,SIZE] exponential(d)
  s = f32[4] reduce(n, zero), dimensions={1}, to_apply=add
  sb = f32[4,SIZE] broadcast(s), dimensions={0}
  q = f32[4,SIZE] divide(n, sb)
  y = f32[4,SIZE] add(q, x)
  ROOT z = f32[4,SIZE] dot(y, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                             {{"SIZE", absl::StrCat(width)}});
}

TEST(ChainsTest, SmallStepsShareALaunch) {
  RIDGE_ASSERT_OK_AND_ASSIGN(Formed f, Form(Layers(64)));
  ASSERT_THAT(f.program.entry.steps, SizeIs(1));
  const Step& step = f.program.entry.steps[0];
  EXPECT_EQ(step.kind, StepKind::kChain);
  EXPECT_THAT(step.bodies[0]->steps, SizeIs(3));
  const EmittedKernel& chain = f.Chain();
  ASSERT_THAT(chain.launches, SizeIs(1));
  EXPECT_EQ(chain.launches[0].grid, 1);
  // Each step reads what the one before wrote.
  const std::string body =
      chain.source.substr(chain.source.find("void __launch_bounds__"));
  EXPECT_EQ(Count(body, "__syncthreads();"), 1 + 2) << body;
  // What nobody else sees stays in the block: the result leaves.
  EXPECT_EQ(Count(body, "char local[2048];"), 1) << body;
  EXPECT_EQ(chain.launches[0].arguments.size(), 4);
  // The weights are asked for at the start.
  EXPECT_EQ(Count(body, "rdg_fetch("), 3) << body;
  EXPECT_EQ(chain.launches[0].shared_bytes, 2 * 64 * 64 * 4 + 4 * 64 * 4);
  // What a step wrote may not come from the read-only cache.
  EXPECT_FALSE(absl::StrContains(
      chain.source.substr(chain.source.find("namespace part_0")),
      "__restrict__"));
  ExpectCompiles(chain);
}

TEST(ChainsTest, LargerOnesTakeACluster) {
  RIDGE_ASSERT_OK_AND_ASSIGN(Formed f, Form(Layers(160)));
  ASSERT_THAT(f.program.entry.steps, SizeIs(1));
  EXPECT_EQ(f.Chain().launches[0].grid, 4);
  EXPECT_EQ(f.Chain().launches[0].cluster, 4);
  ExpectCompiles(f.Chain());
}

TEST(ChainsTest, DevicesWithoutClustersChainWhatOneBlockDoes) {
  RIDGE_ASSERT_OK_AND_ASSIGN(Formed small, Form(Layers(64), 1));
  ASSERT_EQ(small.chains.size(), 1);
  ExpectCompiles(small.Chain(), "sm_75");
  RIDGE_ASSERT_OK_AND_ASSIGN(Formed large, Form(Layers(160), 1));
  EXPECT_TRUE(large.chains.empty());
}

TEST(ChainsTest, LargeStepsStayAlone) {
  RIDGE_ASSERT_OK_AND_ASSIGN(Formed f, Form(Layers(1024)));
  EXPECT_TRUE(f.chains.empty());
  EXPECT_THAT(f.program.entry.steps, SizeIs(3));
}

TEST(ChainsTest, IndependentStepsNeedNoBarrier) {
  RIDGE_ASSERT_OK_AND_ASSIGN(Formed f, Form(R"(HloModule m
ENTRY e {
  x = f32[3,5] parameter(0)
  y = f32[7,31] parameter(1)
  a = f32[5,3] transpose(x), dimensions={1,0}
  b = f32[31,7] transpose(y), dimensions={1,0}
  ROOT t = (f32[5,3], f32[31,7]) tuple(a, b)
})"));
  ASSERT_EQ(f.chains.size(), 1);
  const std::string& source = f.Chain().source;
  EXPECT_EQ(Count(source.substr(source.find("void __launch_bounds__")),
                  "__syncthreads();"),
            1);  // for what was fetched
}

TEST(ChainsTest, ManyIndependentStepsRunSideBySide) {
  std::string body, roots, types;
  for (int k = 0; k < 5; ++k) {
    absl::StrAppend(&body, "x", k, " = f32[", 7 + k, ",5] parameter(", k,
                    ")\ny", k, " = f32[5,", 7 + k, "] transpose(x", k,
                    "), dimensions={1,0}\n");
    absl::StrAppend(&roots, k == 0 ? "" : ", ", "y", k);
    absl::StrAppend(&types, k == 0 ? "" : ", ", "f32[5,", 7 + k, "]");
  }
  RIDGE_ASSERT_OK_AND_ASSIGN(
      Formed f,
      Form(absl::StrCat("HloModule m\nENTRY e {\n", body, "ROOT t = (", types,
                        ") tuple(", roots, ")\n}")));
  EXPECT_TRUE(f.chains.empty());
  EXPECT_THAT(f.program.entry.steps, SizeIs(5));
}

TEST(ChainsTest, KernelsOfTwoLaunchesMeetBeforeAndAfter) {
  // Sums of columns, then what depends on them, twice.
  RIDGE_ASSERT_OK_AND_ASSIGN(Formed f, Form(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[63,24] parameter(0)
  zero = f32[] constant(0)
  s = f32[24] reduce(x, zero), dimensions={0}, to_apply=add
  sb = f32[63,24] broadcast(s), dimensions={1}
  d = f32[63,24] subtract(x, sb)
  q = f32[63,24] multiply(d, d)
  v = f32[24] reduce(q, zero), dimensions={0}, to_apply=add
  vb = f32[63,24] broadcast(v), dimensions={1}
  ROOT r = f32[63,24] divide(d, vb)
})"));
  ASSERT_EQ(f.chains.size(), 1);
  const std::string& source = f.Chain().source;
  const std::string body = source.substr(source.find("void __launch_bounds__"));
  EXPECT_EQ(Count(body, "::f1("), 3);  // the quotients too
  EXPECT_EQ(Count(body, "::f2("), 2);
  EXPECT_EQ(Count(body, "__syncthreads();"), 1 + 4) << body;
}

TEST(ChainsTest, SameKernelsShareTheirText) {
  RIDGE_ASSERT_OK_AND_ASSIGN(Formed f, Form(Layers(64)));
  const std::string& source = f.Chain().source;
  EXPECT_EQ(Count(source, "RDG_PART void"), 2) << source;
  EXPECT_EQ(Count(source, "__noinline__"), 1);
}

TEST(ChainsTest, LayersAreALoop) {
  std::string body;
  for (int layer = 0; layer < 6; ++layer) {
    absl::StrAppend(&body, "w", layer, " = f32[32,32] parameter(", layer + 1,
                    ")\nd", layer, " = f32[1,32] dot(x", layer, ", w", layer,
                    "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\nt",
                    layer, " = f32[1,32] tanh(d", layer, ")\n",
                    layer < 5 ? "" : "ROOT ", "x", layer + 1,
                    " = f32[1,32] add(t", layer, ", x", layer, ")\n");
  }
  RIDGE_ASSERT_OK_AND_ASSIGN(
      Formed f, Form(absl::StrCat("HloModule m\nENTRY e {\n",
                                  "x0 = f32[1,32] parameter(0)\n", body, "}")));
  ASSERT_EQ(f.chains.size(), 1);
  const std::string& source = f.Chain().source;
  const std::string kernel = source.substr(source.find("rdg_arrays array)"));
  // The first layer reads a parameter and the last writes the result.
  EXPECT_EQ(Count(kernel, "for (int k = 0; k < 4; ++k) {"), 1) << kernel;
  EXPECT_EQ(Count(kernel, "rdg_any{fetched + 4224 + k * 4096}"), 1) << kernel;
  ExpectCompiles(f.Chain());
}

TEST(ChainsTest, LoopsAndBranchesInside) {
  RIDGE_ASSERT_OK_AND_ASSIGN(Formed f, Form(R"(HloModule m
double { p = f32[17] parameter(0)
  ROOT r = f32[17] add(p, p) }
sine { p = f32[17] parameter(0)
  ROOT r = f32[17] sine(p) }
condition { s = (s32[], f32[17], f32[17,17]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[17] get-tuple-element(s), index=1
  first = f32[1] slice(x), slice={[0:1]}
  f = f32[] reshape(first)
  big = f32[] constant(100)
  small = pred[] compare(f, big), direction=LT
  n = s32[] constant(9)
  few = pred[] compare(i, n), direction=LT
  ROOT go = pred[] and(few, small) }
body { s = (s32[], f32[17], f32[17,17]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[17] get-tuple-element(s), index=1
  w = f32[17,17] get-tuple-element(s), index=2
  y = f32[17] dot(w, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[17] conditional(i, y, y, y), branch_computations={double, sine, double}
  ROOT t = (s32[], f32[17], f32[17,17]) tuple(next, z, w) }
ENTRY e {
  x = f32[17] parameter(0)
  w = f32[17,17] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[17], f32[17,17]) tuple(zero, x, w)
  l = (s32[], f32[17], f32[17,17]) while(t), condition=condition, body=body
  ROOT r = f32[17] get-tuple-element(l), index=1
})"));
  ASSERT_THAT(f.program.entry.steps, SizeIs(1));
  EXPECT_EQ(f.program.entry.steps[0].kind, StepKind::kChain);
  const std::string& source = f.Chain().source;
  EXPECT_EQ(Count(source, "for (;;) {"), 1);
  EXPECT_EQ(Count(source, "if (!goes_on) break;"), 1);
  EXPECT_EQ(Count(source, "if (branch == "), 3);
  ExpectCompiles(f.Chain());
}

TEST(ChainsTest, LoopsTakeNoMoreBlocksThanTheyWant) {
  // The largest part of the state is copied by others.
  RIDGE_ASSERT_OK_AND_ASSIGN(Formed f, Form(R"(HloModule m
condition { s = (s32[], f32[32], f32[256,32]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(256)
  ROOT go = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[32], f32[256,32]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  zero = s32[] constant(0)
  next = s32[] add(i, one)
  x = f32[32] get-tuple-element(s), index=1
  a = f32[256,32] get-tuple-element(s), index=2
  y = f32[32] add(x, x)
  v = f32[32] reverse(y), dimensions={0}
  n = f32[1,32] reshape(v)
  c = f32[256,32] dynamic-update-slice(a, n, i, zero)
  ROOT t = (s32[], f32[32], f32[256,32]) tuple(next, v, c) }
ENTRY e {
  x = f32[32] parameter(0)
  a = f32[256,32] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[32], f32[256,32]) tuple(zero, x, a)
  l = (s32[], f32[32], f32[256,32]) while(t), condition=condition, body=body
  v = f32[32] get-tuple-element(l), index=1
  c = f32[256,32] get-tuple-element(l), index=2
  ROOT r = (f32[32], f32[256,32]) tuple(v, c)
})"));
  ASSERT_THAT(f.program.entry.steps, SizeIs(2));
  EXPECT_EQ(f.program.entry.steps[0].kind, StepKind::kCopy);
  ASSERT_EQ(f.chains.size(), 1);
  EXPECT_EQ(f.Chain().launches[0].grid, 1);
  // The state stays in the block.
  EXPECT_EQ(Count(f.Chain().source, "char local["), 1);
  ExpectCompiles(f.Chain());
}

TEST(ChainsTest, SharedBytesOfDeclarations) {
  EXPECT_EQ(StaticSharedBytes("__shared__ float a[4][2];\n"
                              "__shared__ uint16_t b[3];\n  x[7];"),
            32 + 6);
  EXPECT_EQ(StaticSharedBytes("float a[4];"), 0);
}

}  // namespace
}  // namespace ridge::cuda
