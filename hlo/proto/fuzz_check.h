// What must hold for any bytes given to the protobuf reader. Shared by the
// fuzz target and the test that replays mutations.
#ifndef RIDGE_HLO_PROTO_FUZZ_CHECK_H_
#define RIDGE_HLO_PROTO_FUZZ_CHECK_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ridge {

// Bytes give a module or an error. A module can be verified and printed, and
// comes back from its own message, which is then the same. "" if all that
// holds, else what does not.
std::string ProtoProblem(absl::string_view bytes);

}  // namespace ridge

#endif  // RIDGE_HLO_PROTO_FUZZ_CHECK_H_
