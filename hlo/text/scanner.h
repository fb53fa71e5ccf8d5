// Reads HLO text character by character. There are no token objects: the
// grammar never needs more than a glance at the next character, and most of
// the text (names, shapes, quoted strings) is passed on as views.
#ifndef RIDGE_HLO_TEXT_SCANNER_H_
#define RIDGE_HLO_TEXT_SCANNER_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"
#include "hlo/text/diagnostic.h"

namespace ridge {

enum CharClass : uint8_t {
  kSpaceChar = 1,      // blank, tab, newline, carriage return, form feed
  kNameStartChar = 2,  // letter or _
  kNameChar = 4,       // also digit . -
  kDigitChar = 8,
};

extern const std::array<uint8_t, 256> kCharClasses;

inline bool IsClass(char c, uint8_t classes) {
  return (kCharClasses[static_cast<uint8_t>(c)] & classes) != 0;
}

class Scanner {
 public:
  // How deep shapes, literals, braces and instructions may nest.
  static constexpr int kMaxDepth = 200;

  // text.data()[text.size()] must be readable and '\0' (as in std::string).
  // `first_line` numbers the first line of the text.
  explicit Scanner(absl::string_view text, int32_t first_line = 1)
      : begin_(text.data()),
        end_(text.data() + text.size()),
        p_(begin_),
        first_line_(first_line),
        located_(begin_),
        located_line_(first_line),
        located_line_start_(begin_) {}

  const char* position() const { return p_; }
  void set_position(const char* p) { p_ = p; }
  const char* begin() const { return begin_; }
  const char* end() const { return end_; }
  // From `start` to the position, without blanks at the end.
  absl::string_view TextFrom(const char* start) const {
    const char* end = p_;
    while (end > start && IsClass(end[-1], kSpaceChar)) --end;
    return absl::string_view(start, end - start);
  }

  // Spaces and comments. An unterminated comment is left in place.
  void SkipSpace() {
    while (IsClass(*p_, kSpaceChar)) ++p_;
    if (*p_ == '/') SkipComments();
  }
  // The next character after spaces; '\0' at the end.
  char Peek() {
    SkipSpace();
    return *p_;
  }
  bool AtEnd() { return Peek() == '\0'; }
  bool Eat(char c) {
    if (Peek() != c) return false;
    ++p_;
    return true;
  }
  bool EatWord(absl::string_view word);  // a whole name that equals `word`
  bool EatText(absl::string_view text);  // these characters, whatever follows

  // A name without `%`, or "" (nothing read). Skips spaces first.
  absl::string_view Name() {
    SkipSpace();
    const char* start = p_;
    if (!IsClass(*p_, kNameStartChar)) return {};
    ++p_;
    while (IsClass(*p_, kNameChar)) ++p_;
    return absl::string_view(start, p_ - start);
  }
  // A name that may have a `%`, which is then not part of it.
  absl::string_view PrefixedName() {
    SkipSpace();
    if (*p_ != '%') return Name();
    const char* start = p_ + 1;
    if (!IsClass(*start, kNameStartChar)) return {};
    const char* q = start + 1;
    while (IsClass(*q, kNameChar)) ++q;
    p_ = q;
    return absl::string_view(start, q - start);
  }

  // ---- Failing readers: they record an error and return false ----
  bool Expect(char c, absl::string_view rule, absl::string_view where);
  bool Int(int64_t* value, absl::string_view rule, absl::string_view what);
  // "..." with its escapes; *inside is the text between the quotes as
  // written.
  bool QuotedRaw(absl::string_view* inside, absl::string_view rule);
  // Text in balanced braces, quoted strings skipped; leaves the position
  // after the closing brace and *all the text with braces.
  bool Balanced(absl::string_view* all, absl::string_view rule);

  // ---- Places and errors ----
  // Fastest when asked for growing positions.
  SourceLocation Locate(const char* at);
  // Records an error and returns false.
  bool Fail(const char* at, absl::string_view rule, std::string message);
  bool FailHere(absl::string_view rule, std::string message) {
    SkipSpace();
    return Fail(p_, rule, std::move(message));
  }
  // What stands at the position, for messages: "`)`", "name `foo`", "the end
  // of the text".
  std::string Found();
  const std::vector<Diagnostic>& errors() const { return errors_; }
  std::vector<Diagnostic>* mutable_errors() { return &errors_; }

  // Counts nesting; a frame that fails to enter has recorded the error.
  class Depth {
   public:
    explicit Depth(Scanner* s) : s_(s) { ++s_->depth_; }
    ~Depth() { --s_->depth_; }
    bool ok() const;

   private:
    Scanner* s_;
  };

 private:
  void SkipComments();

  const char* begin_;
  const char* end_;
  const char* p_;
  int32_t first_line_;
  int depth_ = 0;
  // Line counting goes on from the last place asked for.
  const char* located_;
  int32_t located_line_;
  const char* located_line_start_;
  std::vector<Diagnostic> errors_;
};

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_SCANNER_H_
