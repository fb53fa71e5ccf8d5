// A tool with every kind of ending, for main_test.

#include <gflags/gflags.h>
#include <signal.h>

#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"
#include "tools/common/interrupt.h"
#include "tools/common/main.h"
#include "tools/common/output.h"

DEFINE_int32(count, 1, "How often to print.");
DEFINE_bool(loud, false, "Prints in capitals.");
DEFINE_string(end, "",
              "How to end: check, internal, throw, terminate, memory, "
              "interrupt or interrupt_twice. Any other text is the user's "
              "error.");
DEFINE_string(output, "", "The file to write; stdout if empty.");

namespace ridge {
namespace {

absl::StatusOr<ToolOutcome> End() {
  if (FLAGS_end.empty()) return ToolOutcome::kDone;
  if (FLAGS_end == "check") return ToolOutcome::kCheckFailed;
  if (FLAGS_end == "internal") return absl::InternalError("lost count");
  if (FLAGS_end == "throw") throw std::runtime_error("two\nlines");
  if (FLAGS_end == "memory") throw std::bad_alloc();
  if (FLAGS_end == "terminate") {
    std::thread([] { throw std::runtime_error("on a thread"); }).join();
  }
  if (FLAGS_end == "interrupt") {
    InterruptScope interrupt;
    raise(SIGINT);
    if (interrupt.Requested()) std::cout << ", stopped in good order";
    return ToolOutcome::kDone;
  }
  if (FLAGS_end == "interrupt_twice") {
    InterruptScope interrupt;
    raise(SIGINT);
    raise(SIGINT);
  }
  return absl::InvalidArgumentError("cannot end with " + FLAGS_end);
}

absl::StatusOr<ToolOutcome> Run(const std::vector<std::string>& args) {
  RIDGE_ASSIGN_OR_RETURN(const std::string text,
                         ReadFile(ResolveUserPath(args[0])));
  std::string output;
  if (OutputFormatFromFlag() == OutputFormat::kJson) {
    output = nlohmann::json({{"text", text}, {"count", FLAGS_count}}).dump();
  } else {
    for (int i = 0; i < FLAGS_count; ++i) output += text;
    if (FLAGS_loud) output += "!";
  }
  RIDGE_RETURN_IF_ERROR(WriteOutput(FLAGS_output, output));
  return End();
}

}  // namespace
}  // namespace ridge

int main(int argc, char** argv) {
  ridge::ToolInfo info;
  info.name = "example";
  info.summary = "Prints a file.";
  info.arguments = "FILE";
  info.examples = {"example --count=2 notes.txt"};
  info.source_file = __FILE__;
  info.min_args = info.max_args = 1;
  return ridge::RunTool(argc, argv, info, ridge::Run);
}
