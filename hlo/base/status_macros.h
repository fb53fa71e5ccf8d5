// Early return for functions that return absl::Status or absl::StatusOr<T>.
//
//   absl::StatusOr<Plan> Load(absl::string_view path) {
//     RIDGE_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
//     RIDGE_RETURN_IF_ERROR(CheckHeader(text));
//     Plan plan = Parse(text);
//     RIDGE_RET_CHECK(plan.ok()) << "after " << plan.size() << " groups";
//     return plan;
//   }

#ifndef RIDGE_HLO_BASE_STATUS_MACROS_H_
#define RIDGE_HLO_BASE_STATUS_MACROS_H_

#include <sstream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ridge {

// `status` with "context: " before its message. OK stays OK.
inline absl::Status Annotate(const absl::Status& status,
                             absl::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(context, ": ", status.message()));
}

namespace status_internal {

// The status of a failed RIDGE_RET_CHECK; what is streamed in follows it.
class RetCheckFailure {
 public:
  RetCheckFailure(const char* file, int line, const char* condition) {
    stream_ << file << ":" << line << ": not true: " << condition;
  }

  template <typename T>
  RetCheckFailure&& operator<<(const T& value) && {
    if (!has_message_) stream_ << ": ";
    has_message_ = true;
    stream_ << value;
    return std::move(*this);
  }

  // Implicit, so that `return RetCheckFailure(...)` works in both kinds of
  // function.
  operator absl::Status() const {  // NOLINT(google-explicit-constructor)
    return absl::InternalError(stream_.str());
  }
  template <typename T>
  operator absl::StatusOr<T>() const {  // NOLINT(google-explicit-constructor)
    return absl::InternalError(stream_.str());
  }

 private:
  std::ostringstream stream_;
  bool has_message_ = false;
};

}  // namespace status_internal
}  // namespace ridge

// Returns the status of `expr` if it is not OK. `expr` is an absl::Status.
#define RIDGE_RETURN_IF_ERROR(expr)             \
  do {                                          \
    ::absl::Status ridge_status_or_ok = (expr); \
    if (!ridge_status_or_ok.ok()) {             \
      return ridge_status_or_ok;                \
    }                                           \
  } while (false)

#define RIDGE_STATUS_CONCAT_IMPL(a, b) a##b
#define RIDGE_STATUS_CONCAT(a, b) RIDGE_STATUS_CONCAT_IMPL(a, b)

// Assigns the value of `expr`, an absl::StatusOr<T>, to `lhs`, or returns its
// status. `lhs` may declare a variable; one with a comma outside parentheses
// needs a type alias.
#define RIDGE_ASSIGN_OR_RETURN(lhs, ...)                         \
  RIDGE_ASSIGN_OR_RETURN_IMPL(                                   \
      RIDGE_STATUS_CONCAT(ridge_status_or_value, __LINE__), lhs, \
      (__VA_ARGS__))
#define RIDGE_ASSIGN_OR_RETURN_IMPL(value, lhs, expr) \
  auto value = expr;                                  \
  if (!value.ok()) {                                  \
    return std::move(value).status();                 \
  }                                                   \
  lhs = *std::move(value)

// Returns absl::InternalError with file, line and condition unless `condition`
// holds: for what only a fault of Ridge itself can break. More can be
// streamed in.
#define RIDGE_RET_CHECK(condition)                                     \
  while (__builtin_expect(!(condition), 0))                            \
  return ::ridge::status_internal::RetCheckFailure(__FILE__, __LINE__, \
                                                   #condition)

#endif  // RIDGE_HLO_BASE_STATUS_MACROS_H_
