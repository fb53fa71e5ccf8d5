// Where a tool's result goes, and in which form: the --format flag.

#ifndef RIDGE_TOOLS_COMMON_OUTPUT_H_
#define RIDGE_TOOLS_COMMON_OUTPUT_H_

#include <gflags/gflags_declare.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

// "table" for people or "json" for programs. A tool that links this library
// has the flag; another value is refused when flags are parsed.
DECLARE_string(format);

namespace ridge {

enum class OutputFormat { kTable, kJson };

// What --format asks for.
OutputFormat OutputFormatFromFlag();

// Writes a result to the file that the user named (replaced as a whole or not
// at all), or to stdout if `path` is empty or "-".
// What programs read: indented, a line break at the end. Bytes that are no
// UTF-8 become U+FFFD.
template <typename Json>
std::string JsonText(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::Status WriteOutput(absl::string_view path, absl::string_view text);

// Whether the file that the user named can be written, as far as one can tell
// without writing: asked before long work. Errors name the path. OK if empty.
absl::Status CheckWritable(absl::string_view path);

}  // namespace ridge

#endif  // RIDGE_TOOLS_COMMON_OUTPUT_H_
