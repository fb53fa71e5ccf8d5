// hlo --to=dot: a module as a Graphviz graph.
#ifndef RIDGE_TOOLS_HLO_TOOL_DOT_GRAPH_H_
#define RIDGE_TOOLS_HLO_TOOL_DOT_GRAPH_H_

#include <string>

#include "hlo/ir/module.h"

namespace ridge {

// One cluster for each computation, one node for each instruction, edges from
// operands to users (with the operand's number where there are several),
// dashed edges to called computations, dotted ones for control predecessors.
std::string DotGraph(const Module& module);

}  // namespace ridge

#endif  // RIDGE_TOOLS_HLO_TOOL_DOT_GRAPH_H_
