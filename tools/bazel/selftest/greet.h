#ifndef RIDGE_TOOLS_BAZEL_SELFTEST_GREET_H_
#define RIDGE_TOOLS_BAZEL_SELFTEST_GREET_H_

#include <string>

#include "absl/strings/string_view.h"
#include "tools/bazel/selftest/greeting.pb.h"

namespace ridge::selftest {

// "Hello, NAME" as a message and as text.
Greeting MakeGreeting(absl::string_view name);
std::string GreetingText(const Greeting& greeting);

}  // namespace ridge::selftest

#endif  // RIDGE_TOOLS_BAZEL_SELFTEST_GREET_H_
