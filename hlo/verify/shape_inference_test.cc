// Shape inference: instructions in, the shape of the root out.
#include "hlo/verify/shape_inference.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/text/parser.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;

// Callees that the cases below name.
constexpr char kCallees[] = R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
ENTRY e {
)";

// The shape that the last instruction of `body` is inferred to have, or the
// error.
std::string Inferred(const std::string& body) {
  const absl::StatusOr<std::unique_ptr<Module>> module =
      ParseModule(absl::StrCat("HloModule m\n", kCallees, body, "\n}"));
  if (!module.ok()) return std::string(module.status().message());
  const absl::StatusOr<Shape> shape = InferShape(*(*module)->entry()->root());
  return shape.ok() ? shape->ToString() : std::string(shape.status().message());
}

TEST(ShapeInferenceTest, ElementwiseKeepsTheShape) {
  EXPECT_EQ(Inferred("x = f32[2,3] parameter(0)\n y = f32[2,3] negate(x)"),
            "f32[2,3]");
  EXPECT_EQ(Inferred("x = c64[4] parameter(0)\n y = f32[4] abs(x)"), "f32[4]");
  EXPECT_EQ(Inferred("x = f32[4] parameter(0)\n y = pred[4] is-finite(x)"),
            "pred[4]");
  EXPECT_EQ(Inferred("x = f32[4] parameter(0)\n"
                     "y = pred[4] compare(x, x), direction=LT"),
            "pred[4]");
}

TEST(ShapeInferenceTest, ElementwiseRejectsOtherTypesAndShapes) {
  EXPECT_THAT(Inferred("x = s32[4] parameter(0)\n y = s32[4] exponential(x)"),
              HasSubstr("float, complex"));
  EXPECT_THAT(Inferred("x = pred[4] parameter(0)\n y = pred[4] subtract(x, x)"),
              HasSubstr("found pred[4]"));
  EXPECT_THAT(Inferred("x = f32[4] parameter(0)\n z = f32[5] parameter(1)\n"
                       "y = f32[4] add(x, z)"),
              HasSubstr("f32[4] and f32[5]"));
}

TEST(ShapeInferenceTest, ConcatenateAddsSizes) {
  EXPECT_EQ(Inferred("x = f32[2,3] parameter(0)\n z = f32[2,5] parameter(1)\n"
                     "y = f32[2,8] concatenate(x, z), dimensions={1}"),
            "f32[2,8]");
}

TEST(ShapeInferenceTest, SliceRoundsUp) {
  EXPECT_EQ(Inferred("x = f32[10] parameter(0)\n"
                     "y = f32[3] slice(x), slice={[1:8:3]}"),
            "f32[3]");
  EXPECT_THAT(Inferred("x = f32[10] parameter(0)\n"
                       "y = f32[3] slice(x), slice={[1:11]}"),
              HasSubstr("slice limit 11 of dimension 0 exceeds its size 10"));
}

TEST(ShapeInferenceTest, PadCountsInteriorPadding) {
  EXPECT_EQ(Inferred("x = f32[4] parameter(0)\n z = f32[] parameter(1)\n"
                     "y = f32[9] pad(x, z), padding=1_-2_2"),
            "f32[9]");
}

TEST(ShapeInferenceTest, ReduceDropsDimensions) {
  EXPECT_EQ(Inferred("x = f32[2,3,4] parameter(0)\n z = f32[] parameter(1)\n"
                     "y = f32[3] reduce(x, z), dimensions={0,2}, to_apply=add"),
            "f32[3]");
}

TEST(ShapeInferenceTest, WindowsCountPaddingAndDilation) {
  // Base 5 dilated by 2 is 9, padded 1 and 0 is 10; window 3 dilated by 2 is
  // 5; (10 - 5) / 2 + 1 = 3.
  EXPECT_EQ(Inferred("x = f32[5] parameter(0)\n z = f32[] parameter(1)\n"
                     "y = f32[3] reduce-window(x, z), to_apply=add, "
                     "window={size=3 stride=2 pad=1_0 lhs_dilate=2 "
                     "rhs_dilate=2}"),
            "f32[3]");
}

TEST(ShapeInferenceTest, DotPutsBatchFirst) {
  EXPECT_EQ(Inferred("x = f32[2,3,4] parameter(0)\n"
                     "z = f32[2,4,5] parameter(1)\n"
                     "y = f32[2,3,5] dot(x, z), lhs_batch_dims={0}, "
                     "rhs_batch_dims={0}, lhs_contracting_dims={2}, "
                     "rhs_contracting_dims={1}"),
            "f32[2,3,5]");
}

TEST(ShapeInferenceTest, ConvolutionFollowsItsLabels) {
  EXPECT_EQ(Inferred("x = f32[8,16,16,6] parameter(0)\n"
                     "k = f32[3,3,3,4] parameter(1)\n"
                     "y = f32[8,4,14,14] convolution(x, k), "
                     "window={size=3x3}, dim_labels=b01f_01io->bf01, "
                     "feature_group_count=2"),
            "f32[8,4,14,14]");
}

TEST(ShapeInferenceTest, GatherMergesOffsetAndBatchDimensions) {
  EXPECT_EQ(Inferred("x = f32[5,7] parameter(0)\n i = s32[2,3] parameter(1)\n"
                     "y = f32[2,7,3] gather(x, i), offset_dims={1}, "
                     "collapsed_slice_dims={0}, start_index_map={0}, "
                     "index_vector_dim=2, slice_sizes={1,7}"),
            "f32[2,7,3]");
}

TEST(ShapeInferenceTest, FftHalvesTheLastDimension) {
  EXPECT_EQ(Inferred("x = f32[3,8] parameter(0)\n"
                     "y = c64[3,5] fft(x), fft_type=RFFT, fft_length={8}"),
            "c64[3,5]");
}

TEST(ShapeInferenceTest, SortOfSeveralOperandsIsATuple) {
  EXPECT_EQ(Inferred("x = f32[4] parameter(0)\n"
                     "y = f32[4] sort(x), dimensions={0}, to_apply=less"),
            "f32[4]");
}

TEST(ShapeInferenceTest, WithoutAShapeBroadcastTakesSizes) {
  EXPECT_EQ(Inferred("x = f32[3] parameter(0)\n"
                     "y = broadcast(x), dimensions={2,4}"),
            "f32[2,4,3]");
}

TEST(ShapeInferenceTest, NothingCannotBeScatteredToSomething) {
  const auto scatter = [](const char* from, const char* to) {
    return Inferred(absl::StrCat("x = ", from, " parameter(0)\n y = ", to,
                                 " reduce-scatter(x), dimensions={0}, "
                                 "replica_groups={{0,1}}, to_apply=add"));
  };
  EXPECT_EQ(scatter("f32[8]", "f32[4]"), "f32[4]");
  EXPECT_EQ(scatter("f32[0]", "f32[0]"), "f32[0]");
  EXPECT_THAT(scatter("f32[0]", "f32[4]"), HasSubstr("no multiple of 4"));
}

TEST(ShapeInferenceTest, DynamicDimensionsStayDynamic) {
  EXPECT_EQ(Inferred("x = f32[<=8,3] parameter(0)\n"
                     "y = f32[3,<=8] transpose(x), dimensions={1,0}"),
            "f32[3,<=8]");
}

TEST(ShapeInferenceTest, BitcastConvertSplitsAndJoins) {
  EXPECT_EQ(
      Inferred("x = f32[4] parameter(0)\n y = u8[4,4] bitcast-convert(x)"),
      "u8[4,4]");
  EXPECT_EQ(
      Inferred("x = u8[5,4] parameter(0)\n y = f32[5] bitcast-convert(x)"),
      "f32[5]");
}

}  // namespace
}  // namespace ridge
