// Command-line flags, defined with gflags (DEFINE_int32 and so on) and parsed
// here: gflags' own parser exits by itself and brings flags of its own.

#ifndef RIDGE_TOOLS_COMMON_FLAG_PARSER_H_
#define RIDGE_TOOLS_COMMON_FLAG_PARSER_H_

#include <gflags/gflags.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ridge {

struct CommandLine {
  bool help = false;              // --help or -h was given.
  std::vector<std::string> args;  // What is not a flag, in order.
};

// Sets the flags that `arguments` (without the program's name) gives:
//   --name=value  --name value  --bool_flag  --nobool_flag
// One dash or two; "-" within a name counts as "_"; flags and arguments may be
// mixed; "--" ends the flags and a lone "-" is an argument. An unknown flag, a
// missing or a bad value is kInvalidArgument.
absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<std::string>& arguments);

// The flags that Ridge's code defines, sorted by name; gflags' own are not
// among them, nor are they accepted.
std::vector<gflags::CommandLineFlagInfo> RidgeFlags();

}  // namespace ridge

#endif  // RIDGE_TOOLS_COMMON_FLAG_PARSER_H_
