#include "backends/cuda/emit/used_prelude.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/cuda/emit/common.h"
#include "backends/cuda/emit/source_text.h"

namespace ridge::cuda {
namespace {

// Calls visit(begin, end) for every identifier, numbers and their suffixes
// left out.
template <typename Visit>
void ForEachIdentifier(absl::string_view text, Visit visit) {
  for (size_t at = 0; at < text.size();) {
    if (!IsIdentifierChar(text[at])) {
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && IsIdentifierChar(text[at])) ++at;
    if (!absl::ascii_isdigit(text[begin])) visit(begin, at);
  }
}

std::vector<std::string> Identifiers(absl::string_view text) {
  std::vector<std::string> all;
  absl::flat_hash_set<absl::string_view> seen;
  ForEachIdentifier(text, [&](size_t begin, size_t end) {
    const absl::string_view word = text.substr(begin, end - begin);
    if (seen.insert(word).second) all.emplace_back(word);
  });
  return all;
}

bool IsHelperName(absl::string_view name) {
  return absl::StartsWith(name, "rdg_") || absl::StartsWith(name, "floor_");
}

std::string FirstIdentifier(absl::string_view text) {
  const std::vector<std::string> all = Identifiers(text);
  return all.empty() ? "" : all[0];
}

// "RDG_MATH1(rdg_exp, expf, exp)": the macro is named at the start, and its
// argument list follows at once.
bool IsMacroCall(absl::string_view code) {
  const std::string name = FirstIdentifier(code);
  return absl::StartsWith(name, "RDG_") &&
         absl::StartsWith(code, absl::StrCat(name, "("));
}

// What a function, a struct or a typedef declares.
std::string DeclaredName(absl::string_view code) {
  std::string name;
  size_t stop = code.find_first_of("{;");
  const absl::string_view head = code.substr(0, stop);
  bool called = false;
  ForEachIdentifier(head, [&](size_t begin, size_t end) {
    const absl::string_view word = head.substr(begin, end - begin);
    if (called || !IsHelperName(word)) return;
    name = std::string(word);
    called = end < head.size() && head[end] == '(';
  });
  return name;
}

// A macro that defines functions: its first parameter and its body.
struct Macro {
  std::string parameter;
  std::string body;
};

// Functions that a call of the macro defines: the first argument, if that is a
// name, and names that are pasted together with it.
std::vector<std::string> DefinedBy(const Macro& macro, absl::string_view call) {
  const std::vector<std::string> words = Identifiers(call);
  std::vector<std::string> names;
  if (words.size() < 2) return names;
  const std::string& argument = words[1];
  if (IsHelperName(argument)) names.push_back(argument);
  const std::string pasted = absl::StrCat("##", macro.parameter);
  ForEachIdentifier(macro.body, [&](size_t begin, size_t end) {
    const absl::string_view word =
        absl::string_view(macro.body).substr(begin, end - begin);
    if (absl::StartsWith(absl::string_view(macro.body).substr(end), pasted)) {
      names.push_back(absl::StrCat(word, argument));
    }
  });
  return names;
}

class Splitter {
 public:
  std::vector<PreludePart> Split(absl::string_view prelude) {
    for (absl::string_view line : absl::StrSplit(prelude, '\n')) {
      if (text_.empty() && line.empty()) continue;
      absl::StrAppend(&text_, line, "\n");
      if (absl::StartsWith(line, "//")) continue;
      for (char c : line) depth_ += (c == '{' || c == '(') ? 1 : 0;
      for (char c : line) depth_ -= (c == '}' || c == ')') ? 1 : 0;
      if (Ends(line)) Finish();
    }
    if (!text_.empty()) Finish();
    return std::move(parts_);
  }

 private:
  bool Ends(absl::string_view line) {
    const std::string code = WithoutComments(text_);
    const absl::string_view start = absl::StripLeadingAsciiWhitespace(code);
    if (absl::StartsWith(start, "#")) return !absl::EndsWith(line, "\\");
    if (depth_ != 0) return false;
    return absl::EndsWith(line, ";") || absl::EndsWith(line, "}") ||
           (absl::EndsWith(line, ")") && IsMacroCall(start));
  }

  void Finish() {
    PreludePart part;
    const std::string code(
        absl::StripLeadingAsciiWhitespace(WithoutComments(text_)));
    part.uses = Identifiers(code);
    constexpr absl::string_view kDefine = "#define ";
    if (absl::StartsWith(code, kDefine)) {
      const absl::string_view rest =
          absl::string_view(code).substr(kDefine.size());
      const std::vector<std::string> words = Identifiers(rest);
      part.names.push_back(words[0]);
      if (words.size() > 1) macros_[words[0]] = {words[1], std::string(rest)};
    } else if (IsMacroCall(code)) {
      part.names = DefinedBy(macros_[FirstIdentifier(code)], code);
    } else if (!absl::StartsWith(code, "#")) {
      const std::string name = DeclaredName(code);
      if (!name.empty()) part.names.push_back(name);
    }
    part.text = std::move(text_);
    text_.clear();
    depth_ = 0;
    parts_.push_back(std::move(part));
  }

  std::string text_;
  int depth_ = 0;
  absl::flat_hash_map<std::string, Macro> macros_;
  std::vector<PreludePart> parts_;
};

}  // namespace

std::vector<PreludePart> SplitPrelude(absl::string_view prelude) {
  return Splitter().Split(prelude);
}

std::string UsedParts(const std::vector<PreludePart>& parts,
                      absl::string_view rest) {
  absl::flat_hash_map<absl::string_view, std::vector<size_t>> definers;
  for (size_t k = 0; k < parts.size(); ++k) {
    for (const std::string& name : parts[k].names) definers[name].push_back(k);
  }
  std::vector<bool> used(parts.size(), false);
  std::vector<size_t> fresh;
  auto use = [&](absl::string_view name) {
    auto it = definers.find(name);
    if (it == definers.end()) return;
    for (size_t k : it->second) {
      if (!used[k]) fresh.push_back(k);
      used[k] = true;
    }
  };
  for (size_t k = 0; k < parts.size(); ++k) {
    if (!parts[k].names.empty()) continue;
    used[k] = true;
    fresh.push_back(k);
  }
  ForEachIdentifier(rest, [&](size_t begin, size_t end) {
    use(rest.substr(begin, end - begin));
  });
  while (!fresh.empty()) {
    const size_t k = fresh.back();
    fresh.pop_back();
    for (const std::string& name : parts[k].uses) use(name);
  }
  std::string text;
  for (size_t k = 0; k < parts.size(); ++k) {
    if (used[k]) text += parts[k].text;
  }
  return text;
}

std::string WithUsedPrelude(absl::string_view file) {
  static const std::string& prelude = *new std::string(FilePrelude());
  static const std::vector<PreludePart>& parts =
      *new std::vector<PreludePart>(SplitPrelude(prelude));
  absl::string_view rest = file;
  if (!absl::ConsumePrefix(&rest, prelude)) return std::string(file);
  return absl::StrCat(UsedParts(parts, rest), rest);
}

}  // namespace ridge::cuda
