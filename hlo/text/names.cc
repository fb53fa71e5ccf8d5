#include "hlo/text/names.h"

#include "absl/container/flat_hash_set.h"
#include "hlo/ir/element_type.h"

namespace ridge {

bool IsReservedWord(absl::string_view name) {
  static const auto& words = *new absl::flat_hash_set<absl::string_view>{
#define V(e, text, ...) text,
      RIDGE_ELEMENT_TYPES(V)
#undef V
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
  return words.contains(name);
}

}  // namespace ridge
