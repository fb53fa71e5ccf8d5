// What is wrong with a text, said so that it can be put right: place, rule,
// what was found and what is allowed.
#ifndef RIDGE_HLO_TEXT_DIAGNOSTIC_H_
#define RIDGE_HLO_TEXT_DIAGNOSTIC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ridge {

struct Diagnostic {
  int32_t line = 0;    // 1-based; 0: the text as a whole
  int32_t column = 0;  // 1-based, in bytes
  std::string rule;    // a short, stable name: "unknown-opcode"
  std::string message;
  std::string source_line;  // the line it points into, shortened when long
  int32_t caret = 0;        // 0-based position of `column` in source_line

  bool operator==(const Diagnostic& o) const {
    return line == o.line && column == o.column && rule == o.rule &&
           message == o.message;
  }
};

// file:3:19: error: message [rule]
//   ENTRY %blabla (x: g32[]) -> g32[] {
//                     ^
std::string ToString(const Diagnostic& diagnostic, absl::string_view file);
// One after the other.
std::string ToString(absl::Span<const Diagnostic> diagnostics,
                     absl::string_view file);

// Puts `line`, without its end, into d->source_line, and the caret under
// d->column. A line longer than 100 bytes is cut around the caret.
void ShowSourceLine(absl::string_view line, Diagnostic* d);

// `message` with every word of more than 80 letters cut short: what a message
// quotes may be of any length.
std::string ShortenLongWords(absl::string_view message);

// The candidate nearest to `word` in edit distance (insertions, deletions,
// substitutions, swaps of neighbours), or "" when none is near enough to be a
// likely slip (more than a third of the letters differ). One that differs only
// in case is nearest of all; other ties go to the earlier candidate.
absl::string_view NearestSpelling(
    absl::string_view word, absl::Span<const absl::string_view> candidates);
// "; did you mean `x`?" or "".
std::string DidYouMean(absl::string_view word,
                       absl::Span<const absl::string_view> candidates);

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_DIAGNOSTIC_H_
