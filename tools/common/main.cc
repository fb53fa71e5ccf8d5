#include "tools/common/main.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tools/common/flag_parser.h"

namespace ridge {
namespace {

// For the terminate handler, which gets no argument.
std::string* tool_name = nullptr;

void Report(absl::string_view name, absl::string_view message) {
  // What was printed so far comes before the error, if both go to one place.
  std::cout.flush();
  std::fflush(stdout);
  const std::string line = absl::StrCat(name, ": ", message, "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::string OneLine(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\n", " "}});
}

int ReportStatus(absl::string_view name, const absl::Status& status) {
  const int exit_code = ExitCodeOf(status);
  absl::string_view message = status.message();
  const std::string code = absl::StatusCodeToString(status.code());
  if (message.empty()) message = code;
  Report(name, exit_code == kExitInternalError
                   ? absl::StrCat("internal error: ", message)
                   : std::string(message));
  return exit_code;
}

int ReportInternalError(absl::string_view name, absl::string_view what) {
  Report(name, absl::StrCat("internal error: ", OneLine(what)));
  return kExitInternalError;
}

// An exception on another thread, or out of a function that must not throw.
[[noreturn]] void OnTerminate() {
  std::string what = "terminated without an exception";
  if (std::exception_ptr exception = std::current_exception()) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::bad_alloc&) {
      Report(*tool_name, "out of memory");
      std::_Exit(kExitUserError);
    } catch (const std::exception& e) {
      what = e.what();
    } catch (...) {
      what = "unknown exception";
    }
  }
  std::_Exit(ReportInternalError(*tool_name, what));
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// "--top=10" with its description below, wrapped at 80 columns.
std::string DescribeFlag(const gflags::CommandLineFlagInfo& flag) {
  std::string text = absl::StrCat("  --", flag.name);
  if (flag.type == "bool") {
    if (flag.default_value == "true") {
      absl::StrAppend(&text, " (on; --no", flag.name, " turns it off)");
    }
  } else {
    absl::StrAppend(&text, "=",
                    flag.default_value.empty() ? "..." : flag.default_value);
  }
  constexpr size_t kWidth = 80;
  const std::string indent(6, ' ');
  std::string line;
  for (absl::string_view word :
       absl::StrSplit(flag.description, ' ', absl::SkipEmpty())) {
    if (!line.empty() &&
        indent.size() + line.size() + 1 + word.size() > kWidth) {
      absl::StrAppend(&text, "\n", indent, line);
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  return absl::StrCat(text, "\n", indent, line, "\n");
}

absl::Status CheckArgumentCount(const ToolInfo& info, int count) {
  if (count < info.min_args) {
    return absl::InvalidArgumentError(
        absl::StrCat(count == 0 ? "no argument given" : "too few arguments",
                     "; usage: ", info.name, " [flags] ", info.arguments));
  }
  if (info.max_args >= 0 && count > info.max_args) {
    return absl::InvalidArgumentError(absl::StrCat(
        "too many arguments; usage: ", info.name, " [flags] ", info.arguments));
  }
  return absl::OkStatus();
}

// What the tool printed may still be in a buffer, and a full disk shows only
// when that is written.
int FlushOutput(absl::string_view name, int exit_code) {
  errno = 0;
  std::cout.flush();
  const bool failed =
      std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout.good();
  if (!failed) return exit_code;
  const int error = errno;
  Report(name, absl::StrCat(
                   "cannot write the output", error != 0 ? ": " : "",
                   error != 0 ? std::generic_category().message(error) : ""));
  return exit_code == kExitDone ? kExitUserError : exit_code;
}

absl::StatusOr<ToolOutcome> ParseAndRun(
    const std::vector<std::string>& arguments, const ToolInfo& info,
    ToolFunction run) {
  absl::StatusOr<CommandLine> command_line = ParseCommandLine(arguments);
  if (!command_line.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(command_line.status().message(), " (", info.name,
                     " --help lists the flags)"));
  }
  if (command_line->help) {
    std::cout << UsageText(info);
    return ToolOutcome::kDone;
  }
  absl::Status status =
      CheckArgumentCount(info, static_cast<int>(command_line->args.size()));
  if (!status.ok()) return status;
  return run(command_line->args);
}

}  // namespace

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitDone;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDataLoss:
      return kExitInternalError;
    default:
      return kExitUserError;
  }
}

std::string UsageText(const ToolInfo& info) {
  std::string text = absl::StrCat(info.summary, "\n\nUsage: ", info.name,
                                  " [flags] ", info.arguments, "\n");
  if (!info.examples.empty()) {
    absl::StrAppend(&text, "\n",
                    info.examples.size() == 1 ? "Example:" : "Examples:", "\n");
    for (const std::string& example : info.examples) {
      absl::StrAppend(&text, "  ", example, "\n");
    }
  }
  const std::string folder = FolderOf(info.source_file);
  std::string flags;
  for (const gflags::CommandLineFlagInfo& flag : RidgeFlags()) {
    const std::string flag_folder = FolderOf(flag.filename);
    if (flag_folder == folder || absl::EndsWith(flag_folder, "tools/common/")) {
      absl::StrAppend(&flags, DescribeFlag(flag));
    }
  }
  if (!flags.empty()) absl::StrAppend(&text, "\nFlags:\n", flags);
  return text;
}

int RunTool(int argc, char** argv, const ToolInfo& info, ToolFunction run) {
  if (tool_name == nullptr) tool_name = new std::string;
  *tool_name = info.name;
  std::set_terminate(OnTerminate);

  int exit_code;
  try {
    absl::StatusOr<ToolOutcome> outcome =
        ParseAndRun(std::vector<std::string>(argv + 1, argv + argc), info, run);
    exit_code = outcome.ok() ? static_cast<int>(*outcome)
                             : ReportStatus(info.name, outcome.status());
  } catch (const std::bad_alloc&) {
    Report(info.name, "out of memory");
    exit_code = kExitUserError;
  } catch (const std::exception& e) {
    exit_code = ReportInternalError(info.name, e.what());
  } catch (...) {
    exit_code = ReportInternalError(info.name, "unknown exception");
  }
  return FlushOutput(info.name, exit_code);
}

}  // namespace ridge
