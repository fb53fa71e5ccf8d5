// A cursor over a short text. Internal to hlo/proto.
#ifndef RIDGE_HLO_PROTO_TEXT_CURSOR_H_
#define RIDGE_HLO_PROTO_TEXT_CURSOR_H_

#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace ridge {

class TextCursor {
 public:
  explicit TextCursor(absl::string_view text) : text_(text) {}

  // Comments too: /*index=5*/ stands in long lists.
  void SkipSpace() {
    while (true) {
      while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
      const absl::string_view start = text_.substr(at_, 2);
      const bool block = start == "/*";
      if (!block && start != "//") return;
      const size_t end = text_.find(block ? "*/" : "\n", at_ + 2);
      if (end == absl::string_view::npos) return;
      at_ = end + (block ? 2 : 1);
    }
  }
  char Peek() {
    SkipSpace();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool AtEnd() { return Peek() == '\0'; }
  bool Eat(char c) {
    if (Peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  bool Eat(absl::string_view word) {
    SkipSpace();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  // Letters, digits and _ .
  absl::string_view Word() {
    SkipSpace();
    const size_t start = at_;
    while (at_ < text_.size() &&
           (absl::ascii_isalnum(text_[at_]) || text_[at_] == '_')) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }
  bool Int(int64_t* value) {
    SkipSpace();
    const size_t start = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && absl::ascii_isdigit(text_[at_])) ++at_;
    return absl::SimpleAtoi(text_.substr(start, at_ - start), value);
  }
  // 1,2,3 up to something that is no comma; appends through `add`.
  template <typename Add>
  bool Ints(Add add) {
    do {
      int64_t value = 0;
      if (!Int(&value)) return false;
      add(value);
    } while (Eat(','));
    return true;
  }
  // open, Ints or nothing, close.
  template <typename Add>
  bool BracketedInts(char open, char close, Add add) {
    if (!Eat(open)) return false;
    if (Eat(close)) return true;
    return Ints(add) && Eat(close);
  }
  // "..." unescaped by the caller.
  bool Quoted(absl::string_view* inside) {
    if (!Eat('"')) return false;
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    if (at_ >= text_.size()) return false;
    *inside = text_.substr(start, at_ - start);
    ++at_;
    return true;
  }
  // {...} with its braces, quotes respected.
  bool Braced(absl::string_view* all) {
    if (Peek() != '{') return false;
    const size_t start = at_;
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        absl::string_view ignored;
        if (!Quoted(&ignored)) return false;
        continue;
      }
      ++at_;
      if (c == '{') ++depth;
      if (c == '}' && --depth == 0) {
        *all = text_.substr(start, at_ - start);
        return true;
      }
    }
    return false;
  }

 private:
  absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace ridge

#endif  // RIDGE_HLO_PROTO_TEXT_CURSOR_H_
