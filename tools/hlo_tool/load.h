// Modules from the files that the hlo tool is given.
#ifndef RIDGE_TOOLS_HLO_TOOL_LOAD_H_
#define RIDGE_TOOLS_HLO_TOOL_LOAD_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "hlo/text/parser.h"

namespace ridge {

// The modules of a file: HLO text, which may hold several, or protobuf by its
// ending (.pb, .pbtxt). `-` is standard input.
absl::StatusOr<std::vector<std::unique_ptr<Module>>> LoadModules(
    const std::string& path, const ParseOptions& options = {});

}  // namespace ridge

#endif  // RIDGE_TOOLS_HLO_TOOL_LOAD_H_
