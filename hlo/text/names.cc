#include "hlo/text/names.h"

#include "absl/container/flat_hash_set.h"
#include "hlo/ir/element_type.h"

namespace ridge {

bool IsReservedWord(absl::string_view name) {
  static const auto& words = *new absl::flat_hash_set<absl::string_view>{
      "true",
      "false",
      "inf",
      "nan",
      "HloModule",
      "ENTRY",
      "ROOT",
      "maximal",
      "replicated",
      "manual",
      "unknown",
      "unreduced",
      "last_tile_dim_replicate",
      "shard_as",
      "shard_like",
      "FileNames",
      "FunctionNames",
      "FileLocations",
      "StackFrames",
  };
  return words.contains(name) || ElementTypeFromName(name).has_value();
}

}  // namespace ridge
