// ragged-dot in XLA's three modes, with group sizes for all and for each
// batch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "hlo/base/status_matchers.h"
#include "hlo/evaluator/testing.h"

namespace ridge {
namespace {

using ::testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(RaggedDot, EachGroupOfRowsHasItsOwnMatrix) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[3,1] constant({{1},{2},{3}})
    y = f32[2,1,1] constant({{{10}},{{100}}})
    g = s32[2] constant({1, 2})
    ROOT d = f32[3,1] ragged-dot(x, y, g), lhs_contracting_dims={1},
      rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
  })"),
              IsOkAndHolds(ElementsAre(10, 200, 300)));
}

TEST(RaggedDot, GroupsMayDifferBetweenBatches) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[2,3,1] constant({{{1},{2},{3}},{{4},{5},{6}}})
    y = f32[2,2,1,1] constant({{{{10}},{{20}}},{{{100}},{{200}}}})
    g = s32[2,2] constant({{1, 2}, {3, 0}})
    ROOT d = f32[2,3,1] ragged-dot(x, y, g), lhs_batch_dims={0},
      rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2},
      lhs_ragged_dims={1}, rhs_group_dims={0}
  })"),
              IsOkAndHolds(ElementsAre(10, 200, 300, 80, 100, 120)));
}

TEST(RaggedDot, GroupsMayDifferBetweenRowsOfAnEarlierFreeDimension) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[2,1,2] constant({{{1, 2}}, {{3, 4}}})
    y = f32[2,1] constant({{10}, {100}})
    g = s64[2,2] constant({{0, 2}, {1, 1}})
    ROOT d = f32[2,2] ragged-dot(x, y, g), lhs_contracting_dims={1},
      rhs_contracting_dims={1}, lhs_ragged_dims={2}, rhs_group_dims={0}
  })"),
              IsOkAndHolds(ElementsAre(100, 200, 30, 400)));
}

TEST(RaggedDot, RowsOfNoGroupAreZero) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = s32[4,1] constant({{1},{2},{3},{4}})
    y = s32[3,1,1] constant({{{10}},{{100}},{{1000}}})
    g = s32[3] constant({1, -5, 1})
    ROOT d = s32[4,1] ragged-dot(x, y, g), lhs_contracting_dims={1},
      rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
  })"),
              IsOkAndHolds(ElementsAre(10, 2000, 0, 0)));
}

TEST(RaggedDot, GroupsEndWhereTheRowsDo) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[2,1] constant({{1},{2}})
    y = f32[2,1,1] constant({{{10}},{{100}}})
    g = s64[2] constant({9223372036854775807, 9223372036854775807})
    ROOT d = f32[2,1] ragged-dot(x, y, g), lhs_contracting_dims={1},
      rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
  })"),
              IsOkAndHolds(ElementsAre(10, 20)));
}

TEST(RaggedDot, ContractingModeHasOneProductAGroup) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[1,4] constant({{1, 2, 3, 4}})
    y = f32[4,1] constant({{1},{10},{100},{1000}})
    g = s32[2] constant({1, 2})
    ROOT d = f32[2,1,1] ragged-dot(x, y, g), lhs_contracting_dims={1},
      rhs_contracting_dims={0}, lhs_ragged_dims={1}
  })"),
              IsOkAndHolds(ElementsAre(1, 320)));
}

TEST(RaggedDot, ContractedGroupsMayDifferBetweenBatches) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[2,2] constant({{1, 2}, {3, 4}})
    y = f32[2,2] constant({{10, 100}, {1000, 10000}})
    g = s32[2,2] constant({{1, 1}, {2, 0}})
    ROOT d = f32[2,2] ragged-dot(x, y, g), lhs_batch_dims={0},
      rhs_batch_dims={1}, lhs_contracting_dims={1}, rhs_contracting_dims={0},
      lhs_ragged_dims={1}
  })"),
              IsOkAndHolds(ElementsAre(10, 40300, 2000, 0)));
}

TEST(RaggedDot, BatchModeIsADot) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[2,1] constant({{2},{3}})
    y = f32[2,1] constant({{10},{100}})
    g = s32[2] constant({1, 1})
    ROOT d = f32[2] ragged-dot(x, y, g), lhs_batch_dims={0},
      rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1},
      lhs_ragged_dims={0}
  })"),
              IsOkAndHolds(ElementsAre(20, 300)));
}

TEST(RaggedDot, AnInfinityStaysInItsGroup) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[1,2] constant({{1, 2}})
    y = f32[2,1] constant({{3},{inf}})
    g = s32[2] constant({1, 1})
    ROOT d = f32[2,1,1] ragged-dot(x, y, g), lhs_contracting_dims={1},
      rhs_contracting_dims={0}, lhs_ragged_dims={1}
  })"),
              IsOkAndHolds(ElementsAre(3, kInfinity)));
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[2,1] constant({{5},{7}})
    y = f32[2,1,1] constant({{{3}},{{inf}}})
    g = s32[2] constant({1, 1})
    ROOT d = f32[2,1] ragged-dot(x, y, g), lhs_contracting_dims={1},
      rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
  })"),
              IsOkAndHolds(ElementsAre(15, kInfinity)));
}

TEST(RaggedDot, IllFormedNumbersAreErrors) {
  for (const char* numbers :
       {"lhs_contracting_dims={1}, rhs_contracting_dims={7}, "
        "lhs_ragged_dims={1}",
        "lhs_contracting_dims={1}, rhs_contracting_dims={0,1}, "
        "lhs_ragged_dims={1}",
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
        "lhs_ragged_dims={9}",
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
        "lhs_ragged_dims={0}, rhs_group_dims={3}",
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
        "lhs_batch_dims={5}, rhs_batch_dims={1}, lhs_ragged_dims={1}"}) {
    EXPECT_THAT(Values(absl::StrCat(R"(ENTRY e {
      x = f32[1,4] constant({{1, 2, 3, 4}})
      y = f32[4,1] constant({{1},{10},{100},{1000}})
      g = s32[2] constant({1, 2})
      ROOT d = f32[2,1,1] ragged-dot(x, y, g), )",
                                    numbers, "\n}"))
                    .status(),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << numbers;
  }
}

}  // namespace
}  // namespace ridge
