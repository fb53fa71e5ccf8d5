// Each pass on a module that shows what it is for, and on one that it must
// leave alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/passes/bitcast_normalization.h"
#include "hlo/passes/expression.h"
#include "hlo/passes/loop_analysis.h"
#include "hlo/passes/pipeline.h"
#include "hlo/passes/registry.h"
#include "hlo/testing/differential.h"
#include "hlo/text/parser.h"
#include "hlo/verify/verify.h"

namespace ridge {
namespace {

std::unique_ptr<Module> Parse(absl::string_view text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

// Runs the pass alone; checks that the result is valid and computes the same.
bool RunPass(absl::string_view name, Module* module) {
  absl::StatusOr<const Pass*> pass = FindPass(name);
  EXPECT_TRUE(pass.ok()) << pass.status();
  absl::StatusOr<DifferentialCase> test = DifferentialCase::Make(*module);
  EXPECT_TRUE(test.ok()) << test.status();
  if (test.ok()) {
    EXPECT_TRUE(test->Check(**pass).ok()) << test->Check(**pass);
  }
  absl::StatusOr<bool> changed = (*pass)->Run(module);
  EXPECT_TRUE(changed.ok()) << changed.status();
  EXPECT_TRUE(VerifyStatus(*module).ok()) << VerifyStatus(*module);
  return changed.ok() && *changed;
}

std::string Root(const Module& module) {
  return Expression(module.entry()->root());
}

int64_t Count(const Module& module, Opcode opcode) {
  int64_t n = 0;
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) n += i->opcode() == opcode;
  }
  return n;
}

TEST(DceTest, DropsWhatNothingUses) {
  auto m = Parse(R"(HloModule m
unused {
  ROOT x = f32[] parameter(0)
}
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] negate(p)
  b = f32[4] exponential(a)
  ROOT r = f32[4] abs(p)
})");
  EXPECT_TRUE(RunPass("dce", m.get()));
  EXPECT_EQ(m->instruction_count(), 2);
  EXPECT_EQ(m->computations().size(), 1);
  EXPECT_FALSE(RunPass("dce", m.get()));
}

TEST(DceTest, KeepsEffectsAndParameters) {
  auto m = Parse(R"(HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  c = f32[4] custom-call(p), custom_call_target="log", custom_call_has_side_effect=true
  ROOT r = f32[4] abs(p)
})");
  EXPECT_FALSE(*(*FindPass("dce"))->Run(m.get()));
  EXPECT_EQ(m->instruction_count(), 4);
}

TEST(CseTest, MergesEqualInstructionsAndConstants) {
  auto m = Parse(R"(HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  c = f32[] constant(2)
  d = f32[] constant(2)
  b = f32[4] broadcast(c), dimensions={}
  a = f32[4] broadcast(d), dimensions={}
  x = f32[4] add(p, b), metadata={op_name="x"}
  y = f32[4] add(p, a), metadata={op_name="y"}
  ROOT r = f32[4] multiply(x, y)
})");
  EXPECT_TRUE(RunPass("cse", m.get()));
  EXPECT_EQ(m->instruction_count(), 5);
  EXPECT_EQ(m->entry()->root()->operand(0), m->entry()->root()->operand(1));
}

TEST(CseTest, SharesEqualReducersSoThatReductionsMerge) {
  auto m = Parse(R"(HloModule m
sum1 {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
s2 {
  u = f32[] parameter(0)
  v = f32[] parameter(1)
  ROOT w = f32[] add(u, v)
}
ENTRY e {
  p = f32[4,8] parameter(0)
  z = f32[] constant(0)
  x = f32[4] reduce(p, z), dimensions={1}, to_apply=sum1
  y = f32[4] reduce(p, z), dimensions={1}, to_apply=s2
  ROOT r = f32[4] multiply(x, y)
})");
  EXPECT_TRUE(RunPass("cse", m.get()));
  EXPECT_EQ(Count(*m, Opcode::kReduce), 1);
  EXPECT_EQ(m->computations().size(), 2);
}

TEST(CseTest, RandomNumbersAndDifferentAttributesStayApart) {
  auto m = Parse(R"(HloModule m
ENTRY e {
  p = f32[4,4] parameter(0)
  l = f32[] constant(0)
  h = f32[] constant(1)
  a = f32[4,4] rng(l, h), distribution=rng_uniform
  b = f32[4,4] rng(l, h), distribution=rng_uniform
  s = f32[4,4] transpose(p), dimensions={0,1}
  t = f32[4,4] transpose(p), dimensions={1,0}
  ROOT r = (f32[4,4], f32[4,4], f32[4,4], f32[4,4]) tuple(a, b, s, t)
})");
  EXPECT_FALSE(*(*FindPass("cse"))->Run(m.get()));
}

TEST(CallInlinerTest, OpensCallsAndDropsAnnotations) {
  auto m = Parse(R"(HloModule m
inner {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}
outer {
  x = f32[4] parameter(0)
  y = f32[4] call(x), to_apply=inner
  ROOT z = f32[4] abs(y)
}
ENTRY e {
  p = f32[4] parameter(0)
  s = f32[4] custom-call(p), custom_call_target="Sharding", sharding={replicated}
  ROOT r = f32[4] call(s), to_apply=outer
})");
  EXPECT_TRUE(RunPass("call_inliner", m.get()));
  EXPECT_EQ(Root(*m), "f32[4] abs(f32[4] negate(p0))");
  EXPECT_EQ(m->computations().size(), 1);
}

TEST(CallInlinerTest, OptimizationBarrierStays) {
  auto m = Parse(R"(HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  b = f32[4] opt-barrier(p)
  ROOT r = f32[4] negate(b)
})");
  ASSERT_TRUE(Canonicalize(m.get()).ok());
  EXPECT_EQ(Root(*m), "f32[4] negate(f32[4] opt-barrier(p0))");
}

TEST(MapInlinerTest, ElementwiseMapWorksOnArrays) {
  auto m = Parse(R"(HloModule m
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] constant(3)
  d = f32[] multiply(a, c)
  ROOT e = f32[] maximum(d, b)
}
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT r = f32[4] map(p, q), dimensions={0}, to_apply=f
})");
  EXPECT_TRUE(RunPass("map_inliner", m.get()));
  EXPECT_EQ(Root(*m),
            "f32[4] maximum(f32[4] multiply(p0, f32[4] broadcast(3)), p1)");
}

TEST(FusionInlinerTest, OpensFusions) {
  auto m = Parse(R"(HloModule m
f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}
ENTRY e {
  p = f32[4] parameter(0)
  ROOT r = f32[4] fusion(p), kind=kLoop, calls=f
})");
  EXPECT_TRUE(RunPass("fusion_inliner", m.get()));
  EXPECT_EQ(Root(*m), "f32[4] negate(p0)");
}

TEST(ScopeTest, FusedComputationsStayUnlessAskedFor) {
  constexpr char kText[] = R"(HloModule m
f {
  a = f32[4] parameter(0)
  b = f32[4] negate(a)
  ROOT c = f32[4] negate(b)
}
ENTRY e {
  p = f32[4] parameter(0)
  ROOT r = f32[4] fusion(p), kind=kLoop, calls=f
})";
  auto m = Parse(kText);
  ASSERT_TRUE(Canonicalize(m.get()).ok());
  EXPECT_EQ(Count(*m, Opcode::kNegate), 2);
  CanonicalizeOptions options;
  options.pass_options.inside_fusions = true;
  ASSERT_TRUE(Canonicalize(m.get(), options).ok());
  EXPECT_EQ(Count(*m, Opcode::kNegate), 0);
}

TEST(ConstantFoldingTest, FoldsWhatIsSmallAndKnown) {
  auto m = Parse(R"(HloModule m
ENTRY e {
  c = f32[2,3] constant({{1, 2, 3}, {4, 5, 6}})
  t = f32[3,2] transpose(c), dimensions={1,0}
  ROOT r = f32[3,2] negate(t)
})");
  EXPECT_TRUE(RunPass("constant_folding", m.get()));
  const Instruction* root = m->entry()->root();
  ASSERT_EQ(root->opcode(), Opcode::kConstant);
  EXPECT_EQ(GetDouble(root->literal(), 1), -4);
}

TEST(ConstantFoldingTest, ElidedConstantsHaveNoValue) {
  auto m = Parse(R"(HloModule m
ENTRY e {
  c = f32[2,3] constant({...})
  ROOT r = f32[2,3] negate(c)
})");
  EXPECT_FALSE(*(*FindPass("constant_folding"))->Run(m.get()));
}

TEST(BatchNormExpanderTest, AllThreeBecomePlainInstructions) {
  auto m = Parse(R"(HloModule m
ENTRY e {
  x = f32[3,5,4] parameter(0)
  g = f32[4] parameter(1)
  b = f32[4] parameter(2)
  d = f32[3,5,4] parameter(3)
  t = (f32[3,5,4], f32[4], f32[4]) batch-norm-training(x, g, b), epsilon=0.1, feature_index=2
  u = f32[4] get-tuple-element(t), index=1
  v = f32[4] get-tuple-element(t), index=2
  i = f32[3,5,4] batch-norm-inference(x, g, b, u, v), epsilon=0.1, feature_index=2
  w = (f32[3,5,4], f32[4], f32[4]) batch-norm-grad(x, g, u, v, d), epsilon=0.1, feature_index=2
  ROOT r = ((f32[3,5,4], f32[4], f32[4]), f32[3,5,4], (f32[3,5,4], f32[4], f32[4])) tuple(t, i, w)
})");
  EXPECT_TRUE(RunPass("batch_norm_expander", m.get()));
  for (Opcode op : {Opcode::kBatchNormTraining, Opcode::kBatchNormInference,
                    Opcode::kBatchNormGrad}) {
    EXPECT_EQ(Count(*m, op), 0);
  }
}

TEST(BitcastTest, BitcastBetweenLayoutsIsATranspose) {
  auto m = Parse(R"(HloModule m
ENTRY e {
  p = f32[2,3]{1,0} parameter(0)
  ROOT r = f32[3,2]{0,1} bitcast(p)
})");
  EXPECT_TRUE(RunPass("bitcast_to_reshape", m.get()));
  EXPECT_EQ(Root(*m), "f32[3,2] transpose{1,0}(p0)");
}

TEST(BitcastTest, OnlySharedBuffersBecomeBitcasts) {
  auto m = Parse(R"(HloModule m
ENTRY e {
  p = f32[2,3]{1,0} parameter(0)
  a = f32[6]{0} reshape(p)
  b = f32[3,2]{0,1} transpose(p), dimensions={1,0}
  c = f32[3,2]{1,0} transpose(p), dimensions={1,0}
  d = f32[3,2]{0,1} reshape(p)
  ROOT r = (f32[6]{0}, f32[3,2]{0,1}, f32[3,2]{1,0}, f32[3,2]{0,1}) tuple(a, b, c, d)
})");
  EXPECT_TRUE(RunPass("reshape_to_bitcast", m.get()));
  const Instruction* root = m->entry()->root();
  EXPECT_EQ(root->operand(0)->opcode(), Opcode::kBitcast);
  EXPECT_EQ(root->operand(1)->opcode(), Opcode::kBitcast);
  EXPECT_EQ(root->operand(2)->opcode(), Opcode::kTranspose);
  EXPECT_EQ(root->operand(3)->opcode(), Opcode::kReshape);
}

// ---- Loops ----

std::string Loop(absl::string_view start, absl::string_view step,
                 absl::string_view compare, absl::string_view limit) {
  return absl::StrCat(R"(HloModule m
condition {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant()",
                      limit, R"()
  ROOT c = pred[] compare(i, n), direction=)",
                      compare, R"(
}
body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  d = s32[] constant()",
                      step, R"()
  j = s32[] add(i, d)
  y = f32[4] negate(x)
  ROOT t = (s32[], f32[4]) tuple(j, y)
}
ENTRY e {
  p = f32[4] parameter(0)
  z = s32[] constant()",
                      start, R"()
  t = (s32[], f32[4]) tuple(z, p)
  w = (s32[], f32[4]) while(t), condition=condition, body=body
  ROOT r = f32[4] get-tuple-element(w), index=1
})");
}

TEST(LoopAnalysisTest, CountsTrips) {
  struct Row {
    absl::string_view start, step, compare, limit;
    std::optional<int64_t> trips;
  };
  for (const Row& row : std::vector<Row>{
           {"0", "1", "LT", "10", 10},
           {"0", "3", "LT", "10", 4},
           {"0", "3", "LE", "9", 4},
           {"10", "-1", "GT", "0", 10},
           {"10", "-2", "GE", "0", 6},
           {"0", "2", "NE", "10", 5},
           {"0", "3", "NE", "10", std::nullopt},  // steps over its end
           {"5", "1", "LT", "5", 0},
           {"0", "-1", "LT", "5", std::nullopt},  // runs away
           {"0", "1", "LT", "2147483647", 2147483647},
       }) {
    auto m = Parse(Loop(row.start, row.step, row.compare, row.limit));
    const Instruction* loop = m->entry()->root()->operand(0);
    EXPECT_EQ(TripCount(*loop), row.trips)
        << row.start << " " << row.step << " " << row.compare << " "
        << row.limit;
  }
}

TEST(WhileSimplifierTest, OneStepIsTheBody) {
  auto m = Parse(Loop("0", "1", "LT", "1"));
  EXPECT_TRUE(RunPass("while_simplifier", m.get()));
  EXPECT_EQ(Count(*m, Opcode::kWhile), 0);
  ASSERT_TRUE(Canonicalize(m.get()).ok());
  EXPECT_EQ(Root(*m), "f32[4] negate(p0)");
}

constexpr char kLoopWithMore[] = R"(HloModule m
condition {
  s = (s32[], f32[4], f32[4], s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=3
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[4], f32[4], s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  w = f32[4] get-tuple-element(s), index=2
  n = s32[] get-tuple-element(s), index=3
  u = f32[8] get-tuple-element(s), index=4
  d = s32[] constant(1)
  j = s32[] add(i, d)
  e = f32[4] exponential(w)
  y = f32[4] add(x, e)
  v = f32[8] negate(u)
  ROOT t = (s32[], f32[4], f32[4], s32[], f32[8]) tuple(j, y, w, n, v)
}
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  o = f32[8] parameter(2)
  z = s32[] constant(0)
  k = s32[] constant(5)
  t = (s32[], f32[4], f32[4], s32[], f32[8]) tuple(z, p, q, k, o)
  l = (s32[], f32[4], f32[4], s32[], f32[8]) while(t), condition=condition, body=body
  a = f32[4] get-tuple-element(l), index=1
  b = f32[4] get-tuple-element(l), index=2
  ROOT r = f32[4] add(a, b)
})";

TEST(WhileSimplifierTest, DropsIdleState) {
  auto m = Parse(kLoopWithMore);
  EXPECT_TRUE(RunPass("while_simplifier", m.get()));
  ASSERT_TRUE(Canonicalize(m.get()).ok());
  for (const Instruction* i : m->entry()->instructions()) {
    if (i->opcode() != Opcode::kWhile) continue;
    // The counter, x and exp(w): the limit is a constant, u nobody's.
    EXPECT_EQ(i->shape().ToString(), "(s32[], f32[4], f32[4])");
    EXPECT_EQ(TripCount(*i), 5);
  }
  EXPECT_EQ(m->entry()->root()->operand(1)->opcode(), Opcode::kParameter);
}

TEST(WhileInvariantMotionTest, RepeatedWorkRunsOnce) {
  auto m = Parse(kLoopWithMore);
  EXPECT_TRUE(RunPass("while_invariant_motion", m.get()));
  int64_t in_entry = 0;
  for (const Instruction* i : m->entry()->instructions()) {
    in_entry += i->opcode() == Opcode::kExp;
  }
  EXPECT_EQ(in_entry, 1);
  EXPECT_EQ(Count(*m, Opcode::kExp), 1);
}

TEST(WhileInvariantMotionTest, SharedBodiesAreCopiedNotChanged) {
  std::string text = kLoopWithMore;
  size_t at = text.find("  a = f32[4] get-tuple-element(l)");
  text.insert(at,
              "  l2 = (s32[], f32[4], f32[4], s32[], f32[8]) while(l), "
              "condition=condition, body=body\n");
  auto m = Parse(text);
  EXPECT_TRUE(RunPass("while_invariant_motion", m.get()));
}

// ---- The whole ----

TEST(PipelineTest, NormLosesItsUnitDimensions) {
  auto m = Parse(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = bf16[32,64] parameter(0)
  y = f32[32,64] convert(x)
  z = f32[] constant(0)
  s = f32[32] reduce(y, z), dimensions={1}, to_apply=sum
  total = f32[32,1] reshape(s)
  n = f32[] constant(64)
  n1 = f32[32,1] broadcast(n), dimensions={}
  m = f32[32,1] divide(total, n1)
  m1 = f32[32,1] broadcast(m), dimensions={0,1}
  m2 = f32[32] reshape(m1)
  m3 = f32[32,64] broadcast(m2), dimensions={0}
  ROOT d = f32[32,64] subtract(y, m3)
})");
  ASSERT_TRUE(Canonicalize(m.get()).ok());
  EXPECT_EQ(Root(*m),
            "f32[32,64] subtract(f32[32,64] convert(p0), f32[32,64] "
            "broadcast{0}(f32[32] multiply(f32[32] "
            "reduce{1}(f32[32,64] convert(p0), 0), f32[32] "
            "broadcast(0.015625))))");
}

TEST(PipelineTest, SecondRunChangesNothing) {
  auto m = Parse(kLoopWithMore);
  ASSERT_TRUE(Canonicalize(m.get()).ok());
  CanonicalizeStats stats;
  CanonicalizeOptions options;
  options.stats = &stats;
  ASSERT_TRUE(Canonicalize(m.get(), options).ok());
  EXPECT_TRUE(stats.converged);
  EXPECT_EQ(stats.rounds, 1);
  EXPECT_TRUE(stats.rewrites.rule_counts.empty());
}

TEST(PipelineTest, TheVerifierRunsBetweenPassesWhereAsked) {
  // Not valid; that `unused` goes does not mend it.
  constexpr char kText[] = R"(ENTRY e {
    x = f32[4] parameter(0)
    y = f32[5] parameter(1)
    unused = f32[4] negate(x)
    ROOT r = f32[4] add(x, y)
  })";
  for (bool verify : {false, true}) {
    auto module = ParseModule(kText);
    ASSERT_TRUE(module.ok()) << module.status();
    CanonicalizeOptions options;
    options.verify_between_passes = verify;
    const absl::Status status = Canonicalize(module->get(), options);
    EXPECT_EQ(status.ok(), !verify) << status;
    EXPECT_EQ(absl::StrContains(status.message(), "after pass"), verify);
  }
}

TEST(PipelineTest, ModuleWithoutEntryIsAnError) {
  Module m("empty");
  EXPECT_EQ(Canonicalize(&m).code(), absl::StatusCode::kInvalidArgument);
}

TEST(RegistryTest, NamesAreSortedAndFound) {
  absl::Span<const Pass> passes = AllPasses();
  EXPECT_TRUE(std::is_sorted(
      passes.begin(), passes.end(),
      [](const Pass& a, const Pass& b) { return a.name() < b.name(); }));
  for (const Pass& pass : passes) {
    EXPECT_FALSE(pass.description().empty());
    ASSERT_TRUE(FindPass(pass.name()).ok());
    EXPECT_EQ(*FindPass(pass.name()), &pass);
  }
  for (absl::string_view name : ExpandingPasses()) {
    EXPECT_TRUE(FindPass(name).ok()) << name;
  }
  for (absl::string_view name : SimplifyingPasses()) {
    EXPECT_TRUE(FindPass(name).ok()) << name;
  }
}

TEST(RegistryTest, UnknownNameListsTheKnown) {
  absl::Status status = FindPass("csee").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("cse"), absl::string_view::npos);
  EXPECT_EQ(ParsePassList("cse, dce")->size(), 2);
  EXPECT_EQ(ParsePassList("all")->size(), AllPasses().size());
}

}  // namespace
}  // namespace ridge
