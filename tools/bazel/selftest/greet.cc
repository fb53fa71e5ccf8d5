#include "tools/bazel/selftest/greet.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace ridge::selftest {

Greeting MakeGreeting(absl::string_view name) {
  Greeting greeting;
  greeting.set_word("Hello");
  greeting.mutable_name()->set_first(std::string(name));
  return greeting;
}

std::string GreetingText(const Greeting& greeting) {
  return absl::StrCat(greeting.word(), ", ", greeting.name().first());
}

}  // namespace ridge::selftest
