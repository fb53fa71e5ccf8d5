// Every registered pass by itself, as `hlo --passes=NAME` runs it: a module
// that it changes, which computes the same afterwards.
#include <gtest/gtest.h>

#include <iterator>
#include <ostream>
#include <string>

#include "hlo/passes/registry.h"
#include "hlo/testing/differential.h"
#include "hlo/text/parser.h"

namespace ridge {
namespace {

struct Row {
  const char* pass;
  const char* text;
};

constexpr char kNegatedTwice[] = R"(ENTRY e { x = f32[4] parameter(0)
  y = f32[4] negate(x) ROOT z = f32[4] negate(y) })";

constexpr char kCall[] = R"(
  f { a = f32[4] parameter(0) ROOT b = f32[4] exponential(a) }
  ENTRY e { x = f32[4] parameter(0)
    ROOT y = f32[4] call(x), to_apply=f })";

// Three steps, each adding the cosine of what never changes.
constexpr char kLoop[] = R"(
  less { s = (s32[], f32[4], f32[4]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    n = s32[] constant(3) ROOT r = pred[] compare(i, n), direction=LT }
  step { s = (s32[], f32[4], f32[4]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    a = f32[4] get-tuple-element(s), index=1
    b = f32[4] get-tuple-element(s), index=2
    o = s32[] constant(1) j = s32[] add(i, o)
    c = f32[4] cosine(b) d = f32[4] add(a, c)
    ROOT t = (s32[], f32[4], f32[4]) tuple(j, d, b) }
  ENTRY e { z = s32[] constant(0) x = f32[4] parameter(0)
    t = (s32[], f32[4], f32[4]) tuple(z, x, x)
    w = (s32[], f32[4], f32[4]) while(t), condition=less, body=step
    ROOT r = f32[4] get-tuple-element(w), index=1 })";

// One step, which is its body.
constexpr char kStep[] = R"(
  less { s = (s32[], f32[4]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    n = s32[] constant(1) ROOT r = pred[] compare(i, n), direction=LT }
  step { s = (s32[], f32[4]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    a = f32[4] get-tuple-element(s), index=1
    o = s32[] constant(1) j = s32[] add(i, o) b = f32[4] cosine(a)
    ROOT t = (s32[], f32[4]) tuple(j, b) }
  ENTRY e { z = s32[] constant(0) x = f32[4] parameter(0)
    t = (s32[], f32[4]) tuple(z, x)
    w = (s32[], f32[4]) while(t), condition=less, body=step
    ROOT r = f32[4] get-tuple-element(w), index=1 })";

constexpr Row kRows[] = {
    {"algebraic_simplifier", kNegatedTwice},
    {"all_rules", kNegatedTwice},
    {"batch_norm_expander", R"(ENTRY e { x = f32[4,2] parameter(0)
       s = f32[2] constant({1, 2}) o = f32[2] constant({3, 4})
       ROOT r = (f32[4,2], f32[2], f32[2]) batch-norm-training(x, s, o),
         epsilon=0.001, feature_index=1 })"},
    {"bitcast_to_reshape", R"(ENTRY e { x = f32[4,2]{1,0} parameter(0)
       ROOT r = f32[8]{0} bitcast(x) })"},
    {"boundary_layouts", R"(
       f { a = f32[4,5] parameter(0) ROOT t = f32[5,4]{0,1} transpose(a),
             dimensions={1,0} }
       g { a = f32[5,4] parameter(0) ROOT b = f32[5,4] sine(a) }
       ENTRY e { p = pred[] parameter(0) x = f32[4,5] parameter(1)
         y = f32[5,4]{0,1} parameter(2)
         ROOT c = f32[5,4] conditional(p, x, y), true_computation=f,
           false_computation=g })"},
    {"broadcast_sinking", R"(ENTRY e { x = f32[4] parameter(0)
       b = f32[4,8] broadcast(x), dimensions={0}
       ROOT y = f32[4,8] exponential(b) })"},
    {"call_inliner", kCall},
    {"canonicalize", kCall},
    {"constant_folding", R"(ENTRY e { x = f32[] constant(2)
       y = f32[] constant(3) ROOT s = f32[] add(x, y) })"},
    {"convert_mover", R"(ENTRY e { x = f16[4] parameter(0)
       c = f32[4] convert(x)
       ROOT r = f32[4] reverse(c), dimensions={0} })"},
    {"cse", R"(ENTRY e { x = f32[4] parameter(0) a = f32[4] cosine(x)
       b = f32[4] cosine(x) ROOT s = f32[4] add(a, b) })"},
    {"dce", R"(ENTRY e { x = f32[4] parameter(0) dead = f32[4] cosine(x)
       ROOT s = f32[4] sine(x) })"},
    {"dot_canonicalizer", R"(ENTRY e { x = f32[3,4] parameter(0)
       y = f32[4,5] parameter(1) t = f32[4,3] transpose(x), dimensions={1,0}
       ROOT d = f32[3,5] dot(t, y), lhs_contracting_dims={0},
         rhs_contracting_dims={0} })"},
    {"dot_operand_layouts", R"(ENTRY e {
       x = f32[2,3,4,5]{3,1,2,0} parameter(0)
       y = f32[2,3,6,5]{3,2,1,0} parameter(1)
       ROOT d = f32[2,3,4,6]{3,1,2,0} dot(x, y), lhs_batch_dims={0,1},
         lhs_contracting_dims={3}, rhs_batch_dims={0,1},
         rhs_contracting_dims={3} })"},
    {"fusion_inliner", R"(
       f { a = f32[4] parameter(0) ROOT b = f32[4] exponential(a) }
       ENTRY e { x = f32[4] parameter(0)
         ROOT y = f32[4] fusion(x), kind=kLoop, calls=f })"},
    {"gather_simplifier", R"(ENTRY e { x = f32[5,3] parameter(0)
       i = s32[1,1] parameter(1)
       ROOT g = f32[1,3] gather(x, i), offset_dims={1},
         collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
         slice_sizes={1,3} })"},
    {"map_inliner", R"(
       f { a = f32[] parameter(0) ROOT b = f32[] exponential(a) }
       ENTRY e { x = f32[4] parameter(0)
         ROOT y = f32[4] map(x), dimensions={0}, to_apply=f })"},
    {"merge_moments", R"(
       add { a = f32[] parameter(0) b = f32[] parameter(1)
         ROOT s = f32[] add(a, b) }
       ENTRY e { x = f32[8192,33] parameter(0) z = f32[] constant(0)
         s = f32[33] reduce(x, z), dimensions={0}, to_apply=add
         n = f32[] constant(8192) nb = f32[33] broadcast(n), dimensions={}
         m = f32[33] divide(s, nb)
         mb = f32[8192,33] broadcast(m), dimensions={1}
         d = f32[8192,33] subtract(x, mb) q = f32[8192,33] multiply(d, d)
         ROOT v = f32[33] reduce(q, z), dimensions={0}, to_apply=add })"},
    {"reshape_to_bitcast", R"(ENTRY e { x = f32[4,2]{1,0} parameter(0)
       ROOT r = f32[8]{0} reshape(x) })"},
    {"unit_dimension_squeezer", R"(ENTRY e { x = f32[4,2] parameter(0)
       y = f32[4,1,2] reshape(x)
       ROOT s = f32[4,1,2] cosine(y) })"},
    {"while_invariant_motion", kLoop},
    {"while_simplifier", kStep},
};

void PrintTo(const Row& row, std::ostream* os) { *os << row.pass; }

class EachPassTest : public testing::TestWithParam<Row> {};

TEST_P(EachPassTest, ChangesItsModuleAndComputesTheSame) {
  absl::StatusOr<const Pass*> pass = FindPass(GetParam().pass);
  ASSERT_TRUE(pass.ok()) << pass.status();
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(GetParam().text);
  ASSERT_TRUE(module.ok()) << module.status();
  absl::StatusOr<DifferentialCase> test = DifferentialCase::Make(**module);
  ASSERT_TRUE(test.ok()) << test.status();
  bool changed = false;
  absl::Status status = test->Check(**pass, &changed);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(changed);
}

INSTANTIATE_TEST_SUITE_P(Alone, EachPassTest, testing::ValuesIn(kRows),
                         [](const testing::TestParamInfo<Row>& info) {
                           return std::string(info.param.pass);
                         });

TEST(EachPassRegistry, EveryPassHasARow) {
  ASSERT_EQ(AllPasses().size(), std::size(kRows));
  for (size_t k = 0; k < AllPasses().size(); ++k) {
    EXPECT_EQ(AllPasses()[k].name(), kRows[k].pass);
  }
}

}  // namespace
}  // namespace ridge
