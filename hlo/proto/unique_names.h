// Names of instructions that are unique in the whole module. In HLO text they
// are unique in their computation alone; XLA makes them so as it parses, and
// refuses a message in which they are not. Internal to hlo/proto.
#ifndef RIDGE_HLO_PROTO_UNIQUE_NAMES_H_
#define RIDGE_HLO_PROTO_UNIQUE_NAMES_H_

#include <string>
#include <vector>

#include "hlo/ir/module.h"

namespace ridge::proto_internal {

// By Instruction::id(). The first of several equal names keeps it, as far as
// XLA would let it (x.05 becomes x.5); the others get the next free number:
// x, x.1, x.2. The same names as XLA's parser gives (xla/service/name_uniquer).
std::vector<std::string> UniqueNames(const Module& module);

}  // namespace ridge::proto_internal

#endif  // RIDGE_HLO_PROTO_UNIQUE_NAMES_H_
