// Modules to and from XLA's message itself, for messages that hold modules.
// Internal to hlo/proto.
#ifndef RIDGE_HLO_PROTO_MODULE_MESSAGE_H_
#define RIDGE_HLO_PROTO_MODULE_MESSAGE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "hlo/proto/hlo.pb.h"

namespace ridge::proto_internal {

// `exact`: as in ProtoOptions.
proto::HloModuleProto WriteModule(const Module& module, bool exact);

absl::StatusOr<std::unique_ptr<Module>> ReadModule(
    const proto::HloModuleProto& in);

}  // namespace ridge::proto_internal

#endif  // RIDGE_HLO_PROTO_MODULE_MESSAGE_H_
