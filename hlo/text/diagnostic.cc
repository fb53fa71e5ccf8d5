#include "hlo/text/diagnostic.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ridge {
namespace {

// Lines are shown up to this many bytes, cut around the caret.
constexpr size_t kShownBytes = 100;
// Words of messages are shown up to this many.
constexpr size_t kShownWord = 80;

// Optimal string alignment distance, given up (as limit + 1) once it must
// exceed `limit`.
size_t EditDistance(absl::string_view a, absl::string_view b, size_t limit) {
  size_t difference =
      a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > limit) return limit + 1;
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1),
      row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    size_t best = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
      best = std::min(best, row[j]);
    }
    if (best > limit) return limit + 1;
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string ToString(const Diagnostic& d, absl::string_view file) {
  std::string out;
  if (!file.empty()) absl::StrAppend(&out, file, ":");
  if (d.line > 0) absl::StrAppend(&out, d.line, ":", d.column, ":");
  if (!out.empty()) out.push_back(' ');
  absl::StrAppend(&out, "error: ", d.message, " [", d.rule, "]");
  if (!d.source_line.empty()) {
    absl::StrAppend(&out, "\n  ", d.source_line, "\n  ",
                    std::string(d.caret, ' '), "^");
  }
  return out;
}

std::string ToString(absl::Span<const Diagnostic> diagnostics,
                     absl::string_view file) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    if (!out.empty()) out.push_back('\n');
    out += ToString(d, file);
  }
  return out;
}

void ShowSourceLine(absl::string_view line, Diagnostic* d) {
  const size_t at = static_cast<size_t>(std::max(d->column, 1)) - 1;
  if (line.size() > kShownBytes) {
    const size_t from = at > kShownBytes / 2 ? at - kShownBytes / 2 : 0;
    line = line.substr(std::min(from, line.size()), kShownBytes);
    d->caret = static_cast<int32_t>(std::min(at - from, line.size()));
  } else {
    d->caret = static_cast<int32_t>(std::min(at, line.size()));
  }
  d->source_line.clear();
  for (const char c : line) {
    // Tabs and other control characters would move the caret.
    d->source_line.push_back(static_cast<uint8_t>(c) < ' ' ? ' ' : c);
  }
}

std::string ShortenLongWords(absl::string_view message) {
  std::string out;
  size_t word = 0;  // letters of the word so far
  for (const char c : message) {
    word = c == ' ' || c == '`' ? 0 : word + 1;
    if (word <= kShownWord) out.push_back(c);
    if (word == kShownWord + 1) out += "...";
  }
  return out;
}

absl::string_view NearestSpelling(
    absl::string_view word, absl::Span<const absl::string_view> candidates) {
  // Long garbage is nobody's slip; and the distance is quadratic.
  if (word.empty() || word.size() > 64) return "";
  size_t limit = std::max<size_t>(1, word.size() / 3);
  absl::string_view best;
  for (absl::string_view candidate : candidates) {
    if (absl::EqualsIgnoreCase(word, candidate)) return candidate;
  }
  for (absl::string_view candidate : candidates) {
    size_t distance = EditDistance(word, candidate, limit);
    if (distance > limit) continue;
    best = candidate;
    if (distance == 0) break;
    limit = distance - 1;
  }
  return best;
}

std::string DidYouMean(absl::string_view word,
                       absl::Span<const absl::string_view> candidates) {
  absl::string_view nearest = NearestSpelling(word, candidates);
  return nearest.empty() ? "" : absl::StrCat("; did you mean `", nearest, "`?");
}

}  // namespace ridge
