#include "hlo/text/scanner.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ridge {
namespace {

constexpr std::array<uint8_t, 256> MakeClasses() {
  std::array<uint8_t, 256> t{};
  for (int c : {' ', '\t', '\n', '\r', '\f', '\v'}) t[c] = kSpaceChar;
  for (int c = 'a'; c <= 'z'; ++c) t[c] = kNameStartChar | kNameChar;
  for (int c = 'A'; c <= 'Z'; ++c) t[c] = kNameStartChar | kNameChar;
  t['_'] = kNameStartChar | kNameChar;
  for (int c = '0'; c <= '9'; ++c) t[c] = kNameChar | kDigitChar;
  t['.'] = kNameChar;
  t['-'] = kNameChar;
  return t;
}

}  // namespace

const std::array<uint8_t, 256> kCharClasses = MakeClasses();

void Scanner::SkipComments() {
  while (*p_ == '/') {
    if (p_[1] == '/') {
      const void* newline = std::memchr(p_, '\n', end_ - p_);
      p_ = newline == nullptr ? end_ : static_cast<const char*>(newline) + 1;
    } else if (p_[1] == '*') {
      size_t close = absl::string_view(p_ + 2, end_ - p_ - 2).find("*/");
      if (close == absl::string_view::npos) return;
      p_ += close + 4;
    } else {
      return;
    }
    while (IsClass(*p_, kSpaceChar)) ++p_;
  }
}

bool Scanner::EatWord(absl::string_view word) {
  SkipSpace();
  if (!EatText(word)) return false;
  if (IsClass(*p_, kNameChar)) {
    p_ -= word.size();
    return false;
  }
  return true;
}

bool Scanner::EatText(absl::string_view text) {
  SkipSpace();
  size_t left = end_ - p_;
  if (left < text.size() || std::memcmp(p_, text.data(), text.size()) != 0) {
    return false;
  }
  p_ += text.size();
  return true;
}

bool Scanner::Expect(char c, absl::string_view rule, absl::string_view where) {
  if (Eat(c)) return true;
  return FailHere(rule, absl::StrCat("expected `", absl::string_view(&c, 1),
                                     "` ", where, ", found ", Found()));
}

bool Scanner::Int(int64_t* value, absl::string_view rule,
                  absl::string_view what) {
  SkipSpace();
  const char* q = p_;
  bool negative = *q == '-';
  if (negative) ++q;
  if (!IsClass(*q, kDigitChar)) {
    return FailHere(rule, absl::StrCat("expected ", what, ", found ", Found()));
  }
  uint64_t v = 0;
  bool overflow = false;
  for (; IsClass(*q, kDigitChar); ++q) {
    uint64_t digit = *q - '0';
    overflow |= __builtin_mul_overflow(v, uint64_t{10}, &v) ||
                __builtin_add_overflow(v, digit, &v);
  }
  uint64_t limit = (uint64_t{1} << 63) - (negative ? 0 : 1);
  if (overflow || v > limit) {
    return Fail(p_, rule,
                absl::StrCat(what, " ", absl::string_view(p_, q - p_),
                             " does not fit 64 bits"));
  }
  *value = static_cast<int64_t>(negative ? uint64_t{0} - v : v);
  p_ = q;
  return true;
}

bool Scanner::QuotedRaw(absl::string_view* inside, absl::string_view rule) {
  SkipSpace();
  const char* start = p_;
  if (*p_ != '"') {
    return FailHere(rule,
                    absl::StrCat("expected a quoted string, found ", Found()));
  }
  const char* q = p_ + 1;
  while (true) {
    const void* quote = std::memchr(q, '"', end_ - q);
    if (quote == nullptr) {
      return Fail(start, rule, "the string that begins here has no end");
    }
    // A quote ends the string unless an odd number of backslashes precedes.
    q = static_cast<const char*>(quote);
    const char* b = q;
    while (b > start + 1 && b[-1] == '\\') --b;
    if ((q - b) % 2 == 0) break;
    ++q;
  }
  *inside = absl::string_view(start + 1, q - start - 1);
  p_ = q + 1;
  return true;
}

bool Scanner::Balanced(absl::string_view* all, absl::string_view rule) {
  SkipSpace();
  const char* start = p_;
  if (*p_ != '{') {
    return FailHere(rule, absl::StrCat("expected `{`, found ", Found()));
  }
  int64_t depth = 0;
  do {
    // Everything but braces, quotes and the end is passed over.
    p_ += std::strcspn(p_, "{}\"");
    if (*p_ == '"') {
      absl::string_view ignored;
      if (!QuotedRaw(&ignored, rule)) return false;
      continue;
    }
    if (*p_ == '\0') {
      return Fail(start, rule, "the `{` here is never closed");
    }
    depth += *p_ == '{' ? 1 : -1;
    ++p_;
  } while (depth > 0);
  *all = TextFrom(start);
  return true;
}

SourceLocation Scanner::Locate(const char* at) {
  if (at < located_) {
    located_ = begin_;
    located_line_ = first_line_;
    located_line_start_ = begin_;
  }
  while (true) {
    const void* newline = std::memchr(located_, '\n', at - located_);
    if (newline == nullptr) break;
    located_ = static_cast<const char*>(newline) + 1;
    located_line_start_ = located_;
    ++located_line_;
  }
  located_ = at;
  int64_t column = std::min<int64_t>(at - located_line_start_ + 1, INT32_MAX);
  return SourceLocation{located_line_, static_cast<int32_t>(column)};
}

bool Scanner::Fail(const char* at, absl::string_view rule,
                   std::string message) {
  if (at + 1 < end_ && at[0] == '/' && at[1] == '*') {
    rule = "comment";
    message = "the comment that begins here has no end";
  }
  // An error in the last word of a text may well mean that the rest is missing.
  const char* rest = at;
  while (IsClass(*rest, kNameChar)) ++rest;
  while (IsClass(*rest, kSpaceChar)) ++rest;
  if (rest == end_ && at < end_) {
    message += "; the text ends here, is it cut off?";
  }
  Diagnostic d;
  SourceLocation location = Locate(at);
  d.line = location.line;
  d.column = location.column;
  d.rule = std::string(rule);
  d.message = ShortenLongWords(message);
  const char* line = at - (location.column - 1);
  const void* newline = std::memchr(at, '\n', end_ - at);
  const char* line_end =
      newline == nullptr ? end_ : static_cast<const char*>(newline);
  ShowSourceLine(absl::string_view(line, line_end - line), &d);
  errors_.push_back(std::move(d));
  return false;
}

std::string Scanner::Found() {
  SkipSpace();
  if (p_ >= end_) return "the end of the text";
  const char* q = p_;
  if (*q == '%') ++q;
  while (IsClass(*q, kNameChar) && q - p_ < 40) ++q;
  if (q == p_) ++q;
  return absl::StrCat("`", absl::CHexEscape(absl::string_view(p_, q - p_)),
                      "`");
}

bool Scanner::Depth::ok() const {
  if (s_->depth_ <= kMaxDepth) return true;
  return s_->FailHere(
      "nesting", absl::StrCat("nested deeper than ", kMaxDepth, " levels"));
}

}  // namespace ridge
