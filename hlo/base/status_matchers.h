// GoogleTest matchers for absl::Status and absl::StatusOr<T>.
//
//   RIDGE_ASSERT_OK(WriteFile(path));
//   RIDGE_ASSERT_OK_AND_ASSIGN(std::string text, ReadFile(path));
//   EXPECT_THAT(ReadFile("x"), StatusIs(absl::StatusCode::kNotFound,
//                                       HasSubstr("no such file")));
//   EXPECT_THAT(Count(), IsOkAndHolds(3));

#ifndef RIDGE_HLO_BASE_STATUS_MATCHERS_H_
#define RIDGE_HLO_BASE_STATUS_MATCHERS_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ridge {
namespace status_internal {

inline const absl::Status& GetStatus(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& GetStatus(const absl::StatusOr<T>& value) {
  return value.status();
}

}  // namespace status_internal

MATCHER(IsOk, "is OK") {
  const absl::Status& status = status_internal::GetStatus(arg);
  *result_listener << status;
  return status.ok();
}

MATCHER_P(StatusIs, code, "has status " + absl::StatusCodeToString(code)) {
  const absl::Status& status = status_internal::GetStatus(arg);
  *result_listener << status;
  return status.code() == code;
}

MATCHER_P2(StatusIs, code, message,
           "has status " + absl::StatusCodeToString(code) +
               " with a message that " +
               ::testing::DescribeMatcher<std::string>(message)) {
  const absl::Status& status = status_internal::GetStatus(arg);
  *result_listener << status;
  return status.code() == code &&
         ::testing::Matches(message)(std::string(status.message()));
}

MATCHER_P(IsOkAndHolds, value, "is OK and holds a matching value") {
  if (!arg.ok()) {
    *result_listener << arg.status();
    return false;
  }
  return ::testing::ExplainMatchResult(value, *arg, result_listener);
}

}  // namespace ridge

#define RIDGE_ASSERT_OK(expr) ASSERT_THAT(expr, ::ridge::IsOk())
#define RIDGE_EXPECT_OK(expr) EXPECT_THAT(expr, ::ridge::IsOk())

#define RIDGE_ASSERT_OK_CONCAT_IMPL(a, b) a##b
#define RIDGE_ASSERT_OK_CONCAT(a, b) RIDGE_ASSERT_OK_CONCAT_IMPL(a, b)
#define RIDGE_ASSERT_OK_AND_ASSIGN(lhs, ...) \
  RIDGE_ASSERT_OK_AND_ASSIGN_IMPL(           \
      RIDGE_ASSERT_OK_CONCAT(ridge_test_value, __LINE__), lhs, (__VA_ARGS__))
#define RIDGE_ASSERT_OK_AND_ASSIGN_IMPL(value, lhs, expr) \
  auto value = expr;                                      \
  ASSERT_THAT(value, ::ridge::IsOk());                    \
  lhs = *std::move(value)

#endif  // RIDGE_HLO_BASE_STATUS_MATCHERS_H_
