// What reads generated text as text.
#ifndef RIDGE_BACKENDS_CUDA_EMIT_SOURCE_TEXT_H_
#define RIDGE_BACKENDS_CUDA_EMIT_SOURCE_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ridge::cuda {

bool IsIdentifierChar(char c);

// Text without its comments, which take whole lines or end them, and without
// the blanks before them. Lines stay lines.
std::string WithoutComments(absl::string_view text);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_EMIT_SOURCE_TEXT_H_
