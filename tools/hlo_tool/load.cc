#include "tools/hlo_tool/load.h"

#include <iostream>
#include <iterator>
#include <utility>

#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"
#include "hlo/proto/module_proto.h"

namespace ridge {

absl::StatusOr<std::vector<std::unique_ptr<Module>>> LoadModules(
    const std::string& path, const ParseOptions& options) {
  if (path == "-") {
    std::string text(std::istreambuf_iterator<char>(std::cin), {});
    ParseOptions named = options;
    named.file = "<stdin>";
    return ParseModules(text, named);
  }
  std::string resolved = ResolveUserPath(path);
  if (IsProtoFile(path)) {
    RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Module> module,
                           ModuleFromProtoFile(resolved));
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(module));
    return modules;
  }
  ParseOptions named = options;
  named.file = path;
  return ReadModules(resolved, named);
}

}  // namespace ridge
