// The table of back ends that tools are linked with.
#include <memory>
#include <string>

#include "backends/runtime/registry.h"
#include "tools/common/execute.h"

namespace ridge {
namespace {

constexpr BackendEntry kBackends[] = {
    {"reference", MakeReferenceBackend},
    {"cpu", MakeCpuBackend},
    {"cuda", MakeCudaBackend},
};

}  // namespace

absl::StatusOr<std::unique_ptr<Backend>> MakeNamedBackend(
    absl::string_view name) {
  return MakeBackend(name, kBackends);
}

}  // namespace ridge
