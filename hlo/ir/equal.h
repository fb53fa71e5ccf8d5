// Structural equality of modules: the same graph, whatever it is called.
#ifndef RIDGE_HLO_IR_EQUAL_H_
#define RIDGE_HLO_IR_EQUAL_H_

#include <string>

#include "hlo/ir/module.h"

namespace ridge {

struct EqualOptions {
  bool metadata = true;        // compare metadata and origins
  bool header = true;          // compare header attributes
  bool backend_config = true;  // compare backend configurations
  bool layouts = true;         // compare layouts of instruction shapes
};

// True if the entries, and the computations that they call, have the same
// instructions in the same order: opcodes, shapes, operands (by position),
// attributes (in any order), literals, control predecessors, roots and
// threads; and as many computations are not called. Names, text locations,
// source sections and the order of computations are not compared.
// If they differ, *difference (if not null) says where first, naming the
// instructions of both.
bool StructurallyEqual(const Module& a, const Module& b,
                       std::string* difference = nullptr,
                       const EqualOptions& options = {});

}  // namespace ridge

#endif  // RIDGE_HLO_IR_EQUAL_H_
