#include "tools/common/output.h"

#include <gflags/gflags.h>

#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hlo/base/file.h"

DEFINE_string(format, "table",
              "Form of the output: table (for people) or json (for programs).");

namespace {

bool IsFormat(const char* flag, const std::string& value) {
  return value == "table" || value == "json";
}

}  // namespace

DEFINE_validator(format, &IsFormat);

namespace ridge {

OutputFormat OutputFormatFromFlag() {
  return FLAGS_format == "json" ? OutputFormat::kJson : OutputFormat::kTable;
}

absl::Status WriteOutput(absl::string_view path, absl::string_view text) {
  if (path.empty() || path == "-") {
    // Whether it arrived is checked once, when the tool ends.
    std::cout << text;
    return absl::OkStatus();
  }
  return WriteFileAtomic(ResolveUserPath(path), text);
}

}  // namespace ridge
