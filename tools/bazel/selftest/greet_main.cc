#include <cstdio>

#include "tools/bazel/selftest/greet.h"

int main() {
  std::puts(
      ridge::selftest::GreetingText(ridge::selftest::MakeGreeting("Ridge"))
          .c_str());
  return 0;
}
