// Windows that do not lie inside as a whole: of scatters, which leave them out,
// and of reductions, whose outside counts for nothing.
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/kernel/testing.h"
#include "gtest/gtest.h"

namespace ridge {
namespace {

constexpr char kReducers[] = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
mul { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT r = bf16[] multiply(a, b) }
max { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] maximum(a, b) }
min { a = f16[] parameter(0)
  b = f16[] parameter(1)
  ROOT r = f16[] minimum(a, b) }
and { a = u8[] parameter(0)
  b = u8[] parameter(1)
  ROOT r = u8[] and(a, b) }
)";

absl::Status Check(absl::string_view body, GroupPattern pattern) {
  return CheckKernel(absl::StrCat(kReducers, "ENTRY e {", body, "\n}\n"),
                     pattern);
}

TEST(ScatterWindowTest, WhatLiesOutsideInPartIsLeftOutAsAWhole) {
  // Starts from -3 to 12 in ten rows: windows of two rows, of five columns all
  // or three at the left.
  EXPECT_EQ(Check(R"(
  x = f32[10,5] parameter(0)
  i = s32[24,1] parameter(1)
  u = f32[24,2,3] parameter(2)
  ROOT s = f32[10,5] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)",
                  GroupPattern::kScatter),
            absl::OkStatus());
  // Two scattered dimensions of which one has a window.
  EXPECT_EQ(Check(R"(
  x = f32[10,7] parameter(0)
  i = s32[9,2] parameter(1)
  u = f32[9,4] parameter(2)
  ROOT s = f32[10,7] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add)",
                  GroupPattern::kScatter),
            absl::OkStatus());
}

TEST(ReduceWindowTest, PaddingAndHolesCountForNothing) {
  // A start that is not neutral counts once.
  const std::string window =
      "window={size=1x5 stride=1x2 pad=0_0x3_4 lhs_dilate=1x3}";
  for (const auto& [type, reducer] :
       {std::pair<const char*, const char*>{"f32", "add"},
        {"bf16", "mul"},
        {"s32", "max"},
        {"f16", "min"},
        {"u8", "and"}}) {
    EXPECT_EQ(Check(absl::StrCat("\n  x = ", type, "[3,9] parameter(0)\n  z = ",
                                 type, "[] parameter(1)\n  ROOT r = ", type,
                                 "[3,14] reduce-window(x, z), ", window,
                                 ", to_apply=", reducer),
                    GroupPattern::kLoop),
              absl::OkStatus())
        << type;
  }
}

}  // namespace
}  // namespace ridge
