#include "hlo/proto/fuzz_check.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "hlo/proto/module_proto.h"
#include "hlo/text/printer.h"
#include "hlo/verify/verify.h"

namespace ridge {

std::string ProtoProblem(absl::string_view bytes) {
  const absl::StatusOr<std::unique_ptr<Module>> module = ModuleFromProto(bytes);
  if (!module.ok()) {
    return module.status().message().empty() ? "an error without a message"
                                             : "";
  }
  for (const VerifyError& error : Verify(**module)) {
    if (error.message.empty() || error.rule.empty()) {
      return "a verifier error without rule or message";
    }
  }
  const std::string text = Print(**module);
  const std::string message = ModuleToProto(**module);
  const absl::StatusOr<std::unique_ptr<Module>> again =
      ModuleFromProto(message);
  if (!again.ok()) {
    return absl::StrCat("its own message is not read: ",
                        again.status().message());
  }
  if (Print(**again) != text) return "its own message gives another text";
  if (ModuleToProto(**again) != message) {
    return "its own message gives another message";
  }
  return "";
}

}  // namespace ridge
