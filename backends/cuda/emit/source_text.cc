#include "backends/cuda/emit/source_text.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace ridge::cuda {

bool IsIdentifierChar(char c) { return absl::ascii_isalnum(c) || c == '_'; }

std::string WithoutComments(absl::string_view text) {
  std::vector<absl::string_view> lines;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    lines.push_back(
        absl::StripTrailingAsciiWhitespace(line.substr(0, line.find("//"))));
  }
  return absl::StrJoin(lines, "\n");
}

}  // namespace ridge::cuda
