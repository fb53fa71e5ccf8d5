// Arguments made up, stored and read back.
#include "hlo/evaluator/inputs.h"

#include <algorithm>

#include "hlo/base/status_matchers.h"
#include "hlo/evaluator/io.h"
#include "hlo/text/parser.h"

namespace ridge {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

std::vector<double> Elements(const Literal& l) {
  std::vector<double> v;
  for (int64_t i = 0; i < l.shape().ElementCount(); ++i) {
    v.push_back(GetDouble(l, i));
  }
  return v;
}

absl::StatusOr<std::vector<Literal>> InputsOf(absl::string_view text,
                                              uint64_t seed = 0) {
  auto module = ParseModule(text);
  if (!module.ok()) return module.status();
  return MakeInputs(**module, {seed});
}

TEST(Inputs, TheSameSeedGivesTheSameValuesAndAnotherDoesNot) {
  constexpr char kText[] = "ENTRY e { ROOT x = f32[100] parameter(0) }";
  RIDGE_ASSERT_OK_AND_ASSIGN(auto a, InputsOf(kText, 7));
  RIDGE_ASSERT_OK_AND_ASSIGN(auto b, InputsOf(kText, 7));
  RIDGE_ASSERT_OK_AND_ASSIGN(auto c, InputsOf(kText, 8));
  EXPECT_TRUE(a[0] == b[0]);
  EXPECT_FALSE(a[0] == c[0]);
}

TEST(Inputs, FloatsAreStandardNormal) {
  RIDGE_ASSERT_OK_AND_ASSIGN(
      auto in, InputsOf("ENTRY e { ROOT x = f32[100000] parameter(0) }"));
  double sum = 0;
  double squares = 0;
  for (double x : Elements(in[0])) {
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
}

TEST(Inputs, IndicesOfAGatherAreInRangeAlsoThroughCallsAndReshapes) {
  RIDGE_ASSERT_OK_AND_ASSIGN(auto in, InputsOf(R"(
  f { i = s32[50] parameter(0) ROOT r = s32[50,1] reshape(i) }
  ENTRY e {
    x = f32[1000,4] parameter(0)
    i = s32[50] parameter(1)
    j = s32[50,1] call(i), to_apply=f
    ROOT g = f32[50,2] gather(x, j), offset_dims={1}, collapsed_slice_dims={0},
      start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}
  })"));
  EXPECT_THAT(Elements(in[1]), Each(AllOf(Ge(0), Le(999))));
  std::vector<double> v = Elements(in[1]);
  EXPECT_GT(*std::max_element(v.begin(), v.end()), 500);
}

TEST(Inputs, StartsOfASliceKeepItInside) {
  RIDGE_ASSERT_OK_AND_ASSIGN(auto in, InputsOf(R"(ENTRY e {
    x = f32[8] parameter(0)
    i = s32[] parameter(1)
    ROOT d = f32[7] dynamic-slice(x, i), dynamic_slice_sizes={7} })"));
  EXPECT_THAT(Elements(in[1]), Each(AllOf(Ge(0), Le(1))));
}

TEST(Inputs, TooLargeIsAnError) {
  EXPECT_THAT(
      InputsOf("ENTRY e { ROOT x = f32[1000000,1000000] parameter(0) }"),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("parameters")));
}

TEST(Io, TuplesAreFlattenedInOrderAndReadBackAsTheyWere) {
  RIDGE_ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(ENTRY e {
    t = (f32[2], (bf16[3], s4[2])) parameter(0)
    c = c64[1] parameter(1)
    ROOT r = ((f32[2], (bf16[3], s4[2])), c64[1]) tuple(t, c) })"));
  RIDGE_ASSERT_OK_AND_ASSIGN(auto in, MakeInputs(*module));
  SafeTensors tensors;
  AddTensors("in", in, &tensors);
  EXPECT_EQ(tensors.tensors.size(), 4);
  EXPECT_EQ(tensors.tensors["in.2"].dtype, "I8");
  RIDGE_ASSERT_OK_AND_ASSIGN(auto back, ReadArguments(*module, tensors));
  ASSERT_EQ(back.size(), 2);
  EXPECT_TRUE(back[0] == in[0]);
  EXPECT_TRUE(back[1] == in[1]);
}

TEST(Io, NamesTheTensorThatDoesNotMatch) {
  RIDGE_ASSERT_OK_AND_ASSIGN(
      auto module, ParseModule("ENTRY e { ROOT x = f32[2,3] parameter(0) }"));
  SafeTensors tensors;
  EXPECT_THAT(ReadArguments(*module, tensors),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("in.0: expected f32[2,3]")));
  tensors.tensors["in.0"] = {"F64", {2, 3}, std::string(48, '\0')};
  EXPECT_THAT(ReadArguments(*module, tensors),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("in.0: expected f32[2,3] (F32 [2,3]), found "
                                 "F64 [2,3]")));
  tensors.tensors["in.0"] = {"F32", {2, 3}, std::string(24, '\0')};
  tensors.tensors["in.1"] = {"F32", {1}, std::string(4, '\0')};
  EXPECT_THAT(ReadArguments(*module, tensors),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("in.1")));
}

}  // namespace
}  // namespace ridge
