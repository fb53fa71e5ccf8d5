// Reads attributes that the IR keeps as text (metadata, frontend_attributes,
// statistics, ...): `{key="text", other=7 nested={...}}`.
#ifndef RIDGE_HLO_VERIFY_RAW_FIELDS_H_
#define RIDGE_HLO_VERIFY_RAW_FIELDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ridge {

struct RawField {
  absl::string_view key;
  // As written, without the quotes if it is quoted and with the braces if it
  // is braced.
  absl::string_view value;
  bool quoted = false;
};

// The fields of `{...}`, in order; separated by commas or spaces. The views
// point into `text`. Errors: InvalidArgument.
absl::StatusOr<std::vector<RawField>> ParseRawFields(absl::string_view text);

// The value of `key`, unescaped; "" where it is absent or `text` is malformed.
std::string RawFieldText(absl::string_view text, absl::string_view key);

// Pieces of the inside of `{a, b, {c, d}}` at depth 1, spaces trimmed; quotes,
// braces, brackets and parentheses are respected. Empty for `{}`.
absl::StatusOr<std::vector<absl::string_view>> SplitBraced(
    absl::string_view text);

// The escapes of HLO strings, both ways.
std::string EscapeText(absl::string_view text);
std::string UnescapeText(absl::string_view text);

}  // namespace ridge

#endif  // RIDGE_HLO_VERIFY_RAW_FIELDS_H_
