// Back ends by name. A tool hands in the table of those it was linked with;
// nothing registers itself.
#ifndef RIDGE_BACKENDS_RUNTIME_REGISTRY_H_
#define RIDGE_BACKENDS_RUNTIME_REGISTRY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/runtime/backend.h"

namespace ridge {

struct BackendEntry {
  const char* name;
  absl::StatusOr<std::unique_ptr<Backend>> (*make)();
};

// InvalidArgument, listing the table's names, where there is none of that
// name; else what the entry's function returns.
absl::StatusOr<std::unique_ptr<Backend>> MakeBackend(
    absl::string_view name, absl::Span<const BackendEntry> table);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_RUNTIME_REGISTRY_H_
