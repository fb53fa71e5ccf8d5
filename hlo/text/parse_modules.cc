// Texts and files to modules: what a text must be, the parts of a file.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"
#include "hlo/text/parser.h"
#include "hlo/text/parser_impl.h"

namespace ridge {
namespace {

Diagnostic AboutText(absl::string_view text, size_t at, int32_t first_line,
                     std::string message) {
  Diagnostic d;
  d.rule = "text";
  d.message = std::move(message);
  d.line = first_line + static_cast<int32_t>(
                            std::count(text.begin(), text.begin() + at, '\n'));
  size_t line = text.rfind('\n', at == 0 ? 0 : at - 1);
  d.column = static_cast<int32_t>(
      at == 0 || line == absl::string_view::npos ? at + 1 : at - line);
  return d;
}

// Length of the UTF-8 sequence at `p`, 0 if there is none.
int Utf8Length(const uint8_t* p, const uint8_t* end) {
  int length = *p < 0xc2   ? 0
               : *p < 0xe0 ? 2
               : *p < 0xf0 ? 3
               : *p < 0xf5 ? 4
                           : 0;
  if (length == 0 || end - p < length) return 0;
  for (int i = 1; i < length; ++i) {
    if ((p[i] & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond U+10FFFF.
  if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
      (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) {
    return 0;
  }
  return length;
}

// What makes a text no text: too long, zero bytes, not UTF-8. Empty message
// if there is nothing.
Diagnostic CheckText(absl::string_view text, int32_t first_line) {
  if (text.size() >= size_t{1} << 31) {
    return AboutText("", 0, 0,
                     absl::StrCat("the text has ", text.size(),
                                  " bytes; the limit is 2 GiB"));
  }
  const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
  const uint8_t* end = begin + text.size();
  if (const void* zero = std::memchr(begin, 0, text.size())) {
    return AboutText(text, static_cast<const uint8_t*>(zero) - begin,
                     first_line,
                     "a zero byte: this is a binary file, not HLO text (a "
                     "serialized module would be an .hlo.pb)");
  }
  for (const uint8_t* p = begin; p < end;) {
    uint64_t word;
    if (end - p >= 8) {
      std::memcpy(&word, p, 8);
      if ((word & 0x8080808080808080u) == 0) {
        p += 8;
        continue;
      }
    }
    if (*p < 0x80) {
      ++p;
      continue;
    }
    int length = Utf8Length(p, end);
    if (length == 0) {
      return AboutText(text, p - begin, first_line,
                       absl::StrCat("byte 0x", absl::Hex(*p),
                                    " is not part of valid UTF-8"));
    }
    p += length;
  }
  return Diagnostic();
}

absl::Status ErrorsToStatus(const std::vector<Diagnostic>& errors,
                            const ParseOptions& options) {
  return absl::InvalidArgumentError(ToString(errors, options.file));
}

// The module takes the text over.
absl::StatusOr<std::unique_ptr<Module>> ParseOwned(
    std::string owned, const ParseOptions& options) {
  std::vector<Diagnostic> errors;
  auto module = std::make_unique<Module>("");
  Diagnostic about = CheckText(owned, options.first_line);
  if (!about.message.empty()) {
    errors.push_back(std::move(about));
  } else {
    module->set_source_file(options.file);
    absl::string_view text = module->AdoptText(std::move(owned));
    absl::ConsumePrefix(&text, "\xef\xbb\xbf");  // a byte order mark
    Parser parser(text, options, module.get());
    if (parser.Run()) return module;
    errors = parser.errors();
    if (static_cast<int64_t>(errors.size()) > options.max_errors) {
      errors.resize(options.max_errors);
    }
  }
  std::stable_sort(errors.begin(), errors.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return std::make_pair(a.line, a.column) <
                            std::make_pair(b.line, b.column);
                   });
  if (options.diagnostics != nullptr) {
    options.diagnostics->insert(options.diagnostics->end(), errors.begin(),
                                errors.end());
  }
  return ErrorsToStatus(errors, options);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> ParseModule(
    absl::string_view text, const ParseOptions& options) {
  return ParseOwned(std::string(text), options);
}

absl::StatusOr<std::vector<std::unique_ptr<Module>>> ParseModules(
    absl::string_view text, const ParseOptions& options) {
  std::vector<std::unique_ptr<Module>> modules;
  std::vector<Diagnostic> errors;
  ParseOptions part_options = options;
  part_options.diagnostics = &errors;
  bool any = false;
  auto parse = [&](absl::string_view part) {
    // Only comments and blanks? The scanner knows; it wants an end mark.
    std::string copy(part);
    if (CheckText(copy, 1).message.empty() && Scanner(copy).AtEnd()) return;
    any = true;
    absl::StatusOr<std::unique_ptr<Module>> module =
        ParseModule(part, part_options);
    if (module.ok()) modules.push_back(*std::move(module));
  };
  size_t part_start = 0;
  size_t line_start = 0;
  while (line_start < text.size()) {
    size_t line_end = text.find('\n', line_start);
    if (line_end == absl::string_view::npos) line_end = text.size();
    absl::string_view line = text.substr(line_start, line_end - line_start);
    if (absl::StripTrailingAsciiWhitespace(line) == kModuleSeparator) {
      absl::string_view part = text.substr(part_start, line_start - part_start);
      parse(part);
      part_options.first_line +=
          static_cast<int32_t>(std::count(part.begin(), part.end(), '\n')) + 1;
      part_start = std::min(line_end + 1, text.size());
    }
    line_start = line_end + 1;
  }
  absl::string_view last = text.substr(part_start);
  if (!any) {
    RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Module> only, ParseModule(last, [&] {
                             ParseOptions o = options;
                             o.first_line = part_options.first_line;
                             return o;
                           }()));
    modules.push_back(std::move(only));
    return modules;
  }
  parse(last);
  if (options.diagnostics != nullptr) {
    options.diagnostics->insert(options.diagnostics->end(), errors.begin(),
                                errors.end());
  }
  if (!errors.empty()) return ErrorsToStatus(errors, options);
  return modules;
}

absl::StatusOr<std::unique_ptr<Module>> ReadModule(
    const std::string& path, const ParseOptions& options) {
  RIDGE_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  ParseOptions with_file = options;
  if (with_file.file.empty()) with_file.file = path;
  return ParseOwned(std::move(text), with_file);
}

absl::StatusOr<std::vector<std::unique_ptr<Module>>> ReadModules(
    const std::string& path, const ParseOptions& options) {
  RIDGE_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  ParseOptions with_file = options;
  if (with_file.file.empty()) with_file.file = path;
  if (absl::StartsWith(text, kModuleSeparator) ||
      absl::StrContains(text, absl::StrCat("\n", kModuleSeparator))) {
    return ParseModules(text, with_file);
  }
  // One module, as usual, takes the text over without a copy.
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Module> only,
                         ParseOwned(std::move(text), with_file));
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(std::move(only));
  return modules;
}

}  // namespace ridge
