// hlo --extract=NAME: a part of a module as a module of its own.
#ifndef RIDGE_TOOLS_HLO_TOOL_EXTRACT_H_
#define RIDGE_TOOLS_HLO_TOOL_EXTRACT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"

namespace ridge {

// By name (with or without `%`):
//   an instruction   it with everything it needs: its operands' cone, the
//                    computations these call, control predecessors
//   a fusion         a fusion instruction alone, its operands as parameters:
//                    with `alone`, for any instruction
//   a computation    it with the computations it calls
// Parameters that the part does not read are dropped and the others numbered
// anew. `computation/instruction` chooses among instructions of one name.
// Header attributes that speak of the old entry are left out. NotFound, with
// the nearest name, if there is nothing of that name.
absl::StatusOr<std::unique_ptr<Module>> Extract(const Module& module,
                                                absl::string_view name,
                                                bool alone);

}  // namespace ridge

#endif  // RIDGE_TOOLS_HLO_TOOL_EXTRACT_H_
