#include "backends/runtime/registry.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ridge {

absl::StatusOr<std::unique_ptr<Backend>> MakeBackend(
    absl::string_view name, absl::Span<const BackendEntry> table) {
  std::vector<std::string> known;
  for (const BackendEntry& entry : table) {
    if (name == entry.name) return entry.make();
    known.push_back(entry.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no back end \"", std::string(name),
                   "\"; known: ", absl::StrJoin(known, ", ")));
}

}  // namespace ridge
