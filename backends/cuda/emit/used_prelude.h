// Cuts the prelude of a generated file down to what the file uses: the
// compiler's front end reads all of the text for every kernel.
#ifndef RIDGE_BACKENDS_CUDA_EMIT_USED_PRELUDE_H_
#define RIDGE_BACKENDS_CUDA_EMIT_USED_PRELUDE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ridge::cuda {

// A declaration at the top level of a prelude, with the comment before it: a
// function, a type, a macro, or a call of a macro that defines functions.
struct PreludePart {
  std::string text;
  // What it defines; empty: it is always needed (typedefs of the language's
  // types, pragmas).
  std::vector<std::string> names;
  std::vector<std::string> uses;  // identifiers in the text, each once
};

// Parts in order; their texts together are the prelude, blank lines aside. The
// prelude is in the style of scalar_prelude.cc: declarations start in the first
// column and end their last line; functions are named rdg_... or floor_....
std::vector<PreludePart> SplitPrelude(absl::string_view prelude);

// The parts that `rest` uses, directly or through others, in order.
std::string UsedParts(const std::vector<PreludePart>& parts,
                      absl::string_view rest);

// A file that starts with FilePrelude(), with the used parts in its place.
std::string WithUsedPrelude(absl::string_view file);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_EMIT_USED_PRELUDE_H_
