// The header of a module, and its sections, to and from XLA's message.
// Internal to hlo/proto.
#ifndef RIDGE_HLO_PROTO_HEADER_PROTO_H_
#define RIDGE_HLO_PROTO_HEADER_PROTO_H_

#include "absl/status/status.h"
#include "hlo/ir/module.h"
#include "hlo/proto/hlo.pb.h"

namespace ridge::proto_internal {

// Everything but the schedule, which needs the ids of instructions.
void WriteHeader(const Module& module, bool exact, proto::HloModuleProto* out);

absl::Status ReadHeader(const proto::HloModuleProto& in, Module* module);

// The entry's parameters and result: what host_program_shape and
// program_shape hold.
void WriteProgramShape(const Computation& computation,
                       proto::ProgramShapeProto* out);

}  // namespace ridge::proto_internal

#endif  // RIDGE_HLO_PROTO_HEADER_PROTO_H_
