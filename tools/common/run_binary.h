// Runs a program from a test and keeps what it printed.
//
//   const RunResult result = RunBinary("tools/fuse/fuse", {"--help"});
//   EXPECT_EQ(result.exit_code, 0) << result.err;
//
// The program is one of the test's `data`, named from the root of the
// repository.

#ifndef RIDGE_TOOLS_COMMON_RUN_BINARY_H_
#define RIDGE_TOOLS_COMMON_RUN_BINARY_H_

#include <map>
#include <string>
#include <vector>

namespace ridge {

struct RunResult {
  int exit_code = -1;  // 128 + the signal's number if a signal ended it.
  std::string out;
  std::string err;
};

// `environment` is added to the test's own; stdin is empty. Does not go
// through a shell: arguments arrive as they are.
RunResult RunBinary(const std::string& path,
                    const std::vector<std::string>& arguments,
                    const std::map<std::string, std::string>& environment = {});

}  // namespace ridge

#endif  // RIDGE_TOOLS_COMMON_RUN_BINARY_H_
