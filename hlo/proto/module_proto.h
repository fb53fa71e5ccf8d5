// Modules to and from XLA's protobuf messages: binary (.hlo.pb) and text
// (.pbtxt).
//
// What XLA's messages hold is written as XLA writes it. What only HLO text
// holds (order and spelling of attributes, header attributes that XLA keeps in
// its configuration) goes into fields of Ridge's own, which XLA skips, so that
// text, protobuf, text is the identity.
#ifndef RIDGE_HLO_PROTO_MODULE_PROTO_H_
#define RIDGE_HLO_PROTO_MODULE_PROTO_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"

namespace ridge {

struct ProtoOptions {
  // Wraps the module in an HloProto, as XLA's dumps are; else a bare
  // HloModuleProto, which is what JAX takes.
  bool wrap = false;
  // Adds Ridge's own fields. XLA's binary reader skips them; its text reader
  // does not know them, so that files for it leave them out.
  bool exact = true;
};

// Serialised bytes; deterministic.
std::string ModuleToProto(const Module& module,
                          const ProtoOptions& options = {});
// The same as protobuf text. Without Ridge's own fields unless asked for, so
// that XLA reads it; what only those hold (replica_count, the order of
// attributes) is then lost.
std::string ModuleToProtoText(const Module& module,
                              const ProtoOptions& options = {/*wrap=*/false,
                                                             /*exact=*/false});

// Reads an HloProto or an HloModuleProto, whichever it is. InvalidArgument,
// naming computation and instruction, for what is no module: unknown opcodes
// and enumerators, missing operands, cycles, sizes that cannot be. Takes memory
// in proportion to the bytes.
absl::StatusOr<std::unique_ptr<Module>> ModuleFromProto(
    absl::string_view bytes);
absl::StatusOr<std::unique_ptr<Module>> ModuleFromProtoText(
    absl::string_view text);

// By the name's ending: `.pb` is binary, `.pbtxt` and `.txtpb` are text.
bool IsProtoFile(absl::string_view path);
absl::StatusOr<std::unique_ptr<Module>> ModuleFromProtoFile(
    const std::string& path);

}  // namespace ridge

#endif  // RIDGE_HLO_PROTO_MODULE_PROTO_H_
