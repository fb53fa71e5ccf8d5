// libFuzzer target: any bytes must give a module or an error, and a module
// must survive its own message.
//
//   hlo/proto/fuzz.sh [seconds]   builds it with clang++ and runs it
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "hlo/proto/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string problem = ridge::ProtoProblem(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!problem.empty()) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    std::abort();
  }
  return 0;
}
