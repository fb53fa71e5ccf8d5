// hlo --to=json: a module as JSON, for scripts.
#ifndef RIDGE_TOOLS_HLO_TOOL_JSON_MODULE_H_
#define RIDGE_TOOLS_HLO_TOOL_JSON_MODULE_H_

#include <nlohmann/json_fwd.hpp>

#include "hlo/ir/module.h"

namespace ridge {

// {"name", "header": {name: text}, "entry", "computations": [{"name",
//  "root", "instructions": [{"name", "opcode", "shape", "operands": [names],
//  "attributes": {name: text}, "line", and where they apply
//  "parameter_number", "literal", "control_predecessors"}]}]}.
// Shapes, literals and attribute values are HLO text.
nlohmann::json ModuleJson(const Module& module);

}  // namespace ridge

#endif  // RIDGE_TOOLS_HLO_TOOL_JSON_MODULE_H_
