// What must hold for every input; shared by the fuzz target and the test that
// replays what it found.
#ifndef RIDGE_HLO_TEXT_FUZZ_CHECK_H_
#define RIDGE_HLO_TEXT_FUZZ_CHECK_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ridge {

// "" if `text` is handled as it must be: it is rejected with at least one
// message, or it gives a module that prints, in each form, as a text that
// parses to an equal module and prints the same again.
std::string TextProblem(absl::string_view text);

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_FUZZ_CHECK_H_
