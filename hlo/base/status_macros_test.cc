#include "hlo/base/status_macros.h"

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"

namespace ridge {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

absl::Status Passes(const absl::Status& status, bool* went_on) {
  RIDGE_RETURN_IF_ERROR(status);
  *went_on = true;
  return absl::OkStatus();
}

TEST(StatusMacrosTest, ReturnIfErrorReturnsTheErrorAtOnce) {
  bool went_on = false;
  EXPECT_THAT(Passes(absl::NotFoundError("gone"), &went_on),
              StatusIs(absl::StatusCode::kNotFound, "gone"));
  EXPECT_FALSE(went_on);
  RIDGE_EXPECT_OK(Passes(absl::OkStatus(), &went_on));
  EXPECT_TRUE(went_on);
}

absl::StatusOr<std::unique_ptr<int>> Make(int value) {
  if (value < 0) return absl::OutOfRangeError("negative");
  return std::make_unique<int>(value);
}

absl::StatusOr<int> Sum(int a, int b) {
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<int> x, Make(a));
  std::unique_ptr<int> y;
  RIDGE_ASSIGN_OR_RETURN(y, Make(b));
  return *x + *y;
}

TEST(StatusMacrosTest, AssignOrReturnMovesTheValueOrReturnsTheError) {
  EXPECT_THAT(Sum(1, 2), IsOkAndHolds(3));
  EXPECT_THAT(Sum(1, -2), StatusIs(absl::StatusCode::kOutOfRange));
}

absl::Status CheckStatus(int value) {
  RIDGE_RET_CHECK(value < 3);
  return absl::OkStatus();
}

absl::StatusOr<std::string> CheckStatusOr(int value) {
  RIDGE_RET_CHECK(value < 3) << "value is " << value;
  return "fine";
}

TEST(StatusMacrosTest, RetCheckNamesPlaceAndCondition) {
  RIDGE_EXPECT_OK(CheckStatus(2));
  EXPECT_THAT(CheckStatus(3),
              StatusIs(absl::StatusCode::kInternal,
                       AllOf(HasSubstr("hlo/base/status_macros_test.cc:"),
                             HasSubstr("not true: value < 3"))));
  EXPECT_THAT(CheckStatusOr(2), IsOkAndHolds(std::string("fine")));
  EXPECT_THAT(CheckStatusOr(3), StatusIs(absl::StatusCode::kInternal,
                                         HasSubstr("< 3: value is 3")));
}

TEST(StatusMacrosTest, AnnotateKeepsTheCode) {
  EXPECT_THAT(Annotate(absl::NotFoundError("gone"), "plan"),
              StatusIs(absl::StatusCode::kNotFound, "plan: gone"));
  RIDGE_EXPECT_OK(Annotate(absl::OkStatus(), "plan"));
}

}  // namespace
}  // namespace ridge
