// HLO text to Module.
//
// Everything XLA's own parser reads is read: modules with and without a
// header, a lone instruction, all shapes, literals and attributes, the sugar
// for asynchronous operations, nested instructions and computations, sections
// of source locations. What Ridge does not interpret is kept as written.
// Parsing checks form; whether the instructions make sense is the verifier's
// question (hlo/verify).
//
// The module owns a copy of the text, and its names and raw attributes are
// views into that copy.
//
// Limits (all are errors, never crashes): shapes of rank 64, nesting of 200
// levels, 2 GiB of text. Time and memory grow linearly with the text; nothing
// is allocated for sizes that the text merely names.
#ifndef RIDGE_HLO_TEXT_PARSER_H_
#define RIDGE_HLO_TEXT_PARSER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"
#include "hlo/text/diagnostic.h"

namespace ridge {

struct ParseOptions {
  // For messages, and Module::source_file.
  std::string file;
  // Number of the text's first line, where it is a part of a file.
  int32_t first_line = 1;
  // After an instruction that cannot be read, reading goes on with the next
  // one, until this many errors are found.
  int32_t max_errors = 20;
  // If not null, receives every error found, in text order (appended).
  std::vector<Diagnostic>* diagnostics = nullptr;
};

// InvalidArgument with all errors found (see ToString(Diagnostic)) if the text
// is not HLO.
absl::StatusOr<std::unique_ptr<Module>> ParseModule(
    absl::string_view text, const ParseOptions& options = {});

// A line of its own between modules.
inline constexpr absl::string_view kModuleSeparator = "// -----";

// The modules of a text in which lines `// -----` (five dashes, no more)
// separate them; parts without anything but comments are passed over. Errors of
// all parts are reported together.
absl::StatusOr<std::vector<std::unique_ptr<Module>>> ParseModules(
    absl::string_view text, const ParseOptions& options = {});

// Reads a file; options.file is set to `path` if empty. NotFound and other
// errors of the file system as they come.
absl::StatusOr<std::unique_ptr<Module>> ReadModule(
    const std::string& path, const ParseOptions& options = {});
absl::StatusOr<std::vector<std::unique_ptr<Module>>> ReadModules(
    const std::string& path, const ParseOptions& options = {});

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_PARSER_H_
