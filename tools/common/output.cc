#include "tools/common/output.h"

#include <gflags/gflags.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
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

absl::Status CheckWritable(absl::string_view path) {
  namespace fs = std::filesystem;
  if (path.empty() || path == "-") return absl::OkStatus();
  const fs::path file = ResolveUserPath(path);
  auto error = [&](int code) {
    return absl::ErrnoToStatus(
        code, absl::StrCat("cannot write '", file.string(), "'"));
  };
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) return error(EISDIR);
  if (fs::exists(file, ignored)) {
    return access(file.c_str(), W_OK) == 0 ? absl::OkStatus() : error(errno);
  }
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  return access(folder.c_str(), W_OK | X_OK) == 0 ? absl::OkStatus()
                                                  : error(errno);
}

}  // namespace ridge
