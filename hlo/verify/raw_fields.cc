#include "hlo/verify/raw_fields.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ridge {
namespace {

bool IsOpen(char c) { return c == '{' || c == '(' || c == '['; }
bool IsClose(char c) { return c == '}' || c == ')' || c == ']'; }

absl::Status Malformed(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("not a braced list: ", text.substr(0, 80)));
}

// Past the quoted string at `at`; npos when it does not end.
size_t SkipQuoted(absl::string_view text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return absl::string_view::npos;
}

// Past the value at `at`: up to a comma, space or close at its own depth.
size_t SkipValue(absl::string_view text, size_t at, bool space_ends) {
  int depth = 0;
  size_t i = at;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '"') {
      i = SkipQuoted(text, i);
      if (i == absl::string_view::npos) return i;
      continue;
    }
    if (depth == 0 &&
        (c == ',' || IsClose(c) || (space_ends && absl::ascii_isspace(c)))) {
      return i;
    }
    if (IsOpen(c)) ++depth;
    if (IsClose(c)) --depth;
    ++i;
  }
  return i;
}

// The inside of outer braces, or nothing.
bool Inside(absl::string_view text, absl::string_view* inside) {
  text = absl::StripAsciiWhitespace(text);
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') {
    return false;
  }
  *inside = text.substr(1, text.size() - 2);
  return true;
}

}  // namespace

absl::StatusOr<std::vector<RawField>> ParseRawFields(absl::string_view text) {
  absl::string_view rest;
  if (!Inside(text, &rest)) return Malformed(text);
  std::vector<RawField> fields;
  size_t i = 0;
  while (true) {
    while (i < rest.size() &&
           (absl::ascii_isspace(rest[i]) || rest[i] == ',')) {
      ++i;
    }
    if (i == rest.size()) return fields;
    RawField field;
    const size_t equals = rest.find('=', i);
    if (equals == absl::string_view::npos) return Malformed(text);
    field.key = absl::StripAsciiWhitespace(rest.substr(i, equals - i));
    i = equals + 1;
    while (i < rest.size() && absl::ascii_isspace(rest[i])) ++i;
    if (i < rest.size() && rest[i] == '"') {
      const size_t end = SkipQuoted(rest, i);
      if (end == absl::string_view::npos) return Malformed(text);
      field.value = rest.substr(i + 1, end - i - 2);
      field.quoted = true;
      i = end;
    } else {
      const size_t end = SkipValue(rest, i, /*space_ends=*/true);
      if (end == absl::string_view::npos ||
          (end < rest.size() && IsClose(rest[end]))) {
        return Malformed(text);
      }
      field.value = rest.substr(i, end - i);
      i = end;
    }
    fields.push_back(field);
  }
}

std::string RawFieldText(absl::string_view text, absl::string_view key) {
  // Most texts do not name the key at all.
  if (text.find(key) == absl::string_view::npos) return "";
  absl::StatusOr<std::vector<RawField>> fields = ParseRawFields(text);
  if (!fields.ok()) return "";
  for (const RawField& field : *fields) {
    if (field.key != key) continue;
    return field.quoted ? UnescapeText(field.value) : std::string(field.value);
  }
  return "";
}

absl::StatusOr<std::vector<absl::string_view>> SplitBraced(
    absl::string_view text) {
  absl::string_view rest;
  if (!Inside(text, &rest)) return Malformed(text);
  std::vector<absl::string_view> pieces;
  if (absl::StripAsciiWhitespace(rest).empty()) return pieces;
  size_t i = 0;
  while (true) {
    const size_t end = SkipValue(rest, i, /*space_ends=*/false);
    if (end == absl::string_view::npos ||
        (end < rest.size() && IsClose(rest[end]))) {
      return Malformed(text);
    }
    pieces.push_back(absl::StripAsciiWhitespace(rest.substr(i, end - i)));
    if (end == rest.size()) return pieces;
    i = end + 1;
  }
}

std::string EscapeText(absl::string_view text) { return absl::CEscape(text); }

std::string UnescapeText(absl::string_view text) {
  if (text.find('\\') == absl::string_view::npos) return std::string(text);
  std::string result;
  // What is no valid escape stands for itself.
  if (!absl::CUnescape(text, &result)) return std::string(text);
  return result;
}

}  // namespace ridge
