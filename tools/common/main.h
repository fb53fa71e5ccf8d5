// The frame of every command-line tool.
//
//   DEFINE_int32(top, 10, "How many kernels to print.");
//
//   absl::StatusOr<ridge::ToolOutcome> Run(
//       const std::vector<std::string>& args) {
//     RIDGE_ASSIGN_OR_RETURN(std::string text,
//                            ridge::ReadFile(ridge::ResolveUserPath(args[0])));
//     ...
//     return all_fit ? ridge::ToolOutcome::kDone
//                    : ridge::ToolOutcome::kCheckFailed;
//   }
//
//   int main(int argc, char** argv) {
//     ridge::ToolInfo info;
//     info.name = "fuse";
//     info.summary = "Decides which instructions of a module share a kernel.";
//     info.arguments = "MODULE.hlo";
//     info.examples = {"fuse --top=5 softmax.hlo"};
//     info.source_file = __FILE__;
//     info.min_args = info.max_args = 1;
//     return ridge::RunTool(argc, argv, info, Run);
//   }
//
// What went wrong is one line on stderr, "fuse: ...", and an exit code:
//   0  done
//   1  the user's input or environment is at fault
//   2  the work is done, but a check that was asked for failed
//   3  Ridge itself is at fault

#ifndef RIDGE_TOOLS_COMMON_MAIN_H_
#define RIDGE_TOOLS_COMMON_MAIN_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ridge {

inline constexpr int kExitDone = 0;
inline constexpr int kExitUserError = 1;
inline constexpr int kExitCheckFailed = 2;
inline constexpr int kExitInternalError = 3;

enum class ToolOutcome {
  kDone = kExitDone,
  kCheckFailed = kExitCheckFailed,
};

struct ToolInfo {
  std::string name;
  // What the tool does; one sentence, or paragraphs.
  std::string summary;
  // As in the usage line, after the flags: "MODULE.hlo [PLAN]".
  std::string arguments;
  // Command lines that work; --help prints them.
  std::vector<std::string> examples;
  // __FILE__ of the file with main(): --help lists the flags that are defined
  // in its folder and in tools/common. Those of other folders work, unlisted.
  std::string source_file;
  int min_args = 0;
  int max_args = -1;  // -1: any number.
};

using ToolFunction = absl::FunctionRef<absl::StatusOr<ToolOutcome>(
    const std::vector<std::string>& args)>;

// Parses the flags, answers --help (and -h), runs the tool with what is not a
// flag, reports its error and returns the exit code for main(). Exceptions
// count as the tool's errors; an output that could not be written (a full
// disk) counts as one too.
int RunTool(int argc, char** argv, const ToolInfo& info, ToolFunction run);

// kExitDone for OK; kExitInternalError for kInternal, kUnknown and kDataLoss;
// kExitUserError for the rest.
int ExitCodeOf(const absl::Status& status);

// The text that --help prints.
std::string UsageText(const ToolInfo& info);

}  // namespace ridge

#endif  // RIDGE_TOOLS_COMMON_MAIN_H_
