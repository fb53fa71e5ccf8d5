// Which names may stand in text without a `%`.
#ifndef RIDGE_HLO_TEXT_NAMES_H_
#define RIDGE_HLO_TEXT_NAMES_H_

#include "absl/strings/string_view.h"

namespace ridge {

// True for words that XLA's lexer reads as something else than a name when no
// `%` precedes: element types, true, inf, replicated, ROOT, ...
bool IsReservedWord(absl::string_view name);

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_NAMES_H_
