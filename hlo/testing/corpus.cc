#include "hlo/testing/corpus.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"

namespace ridge {

absl::StatusOr<std::vector<CorpusEntry>> RunnableCorpus(
    const std::string& shared) {
  const std::string folder = absl::StrCat(shared, "/hlo/corpus");
  RIDGE_ASSIGN_OR_RETURN(std::string index,
                         ReadFile(absl::StrCat(folder, "/index.jsonl")));
  std::vector<CorpusEntry> result;
  for (absl::string_view line : absl::StrSplit(index, '\n')) {
    if (line.empty()) continue;
    nlohmann::json row = nlohmann::json::parse(
        line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
    if (row.is_discarded() || !row.is_object()) {
      return absl::InvalidArgumentError(
          absl::StrCat(folder, "/index.jsonl: not JSON: ", line));
    }
    if (!row.value("runnable", false)) continue;
    CorpusEntry entry;
    entry.file = row.value("file", "");
    entry.path = absl::StrCat(folder, "/modules/", entry.file);
    entry.instructions = row.value("instructions", 0);
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace ridge
