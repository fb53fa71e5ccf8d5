#include "hlo/ir/opcode.h"

#include <array>

#include "absl/container/flat_hash_map.h"

namespace ridge {
namespace {

constexpr std::array<OpcodeInfo, kOpcodeCount> kTable = {{
#define V(e, text, arity, op_class) {Opcode::e, text, arity, OpClass::op_class},
    RIDGE_OPCODES(V)
#undef V
}};

}  // namespace

const OpcodeInfo& Info(Opcode opcode) {
  return kTable[static_cast<size_t>(opcode)];
}

std::optional<Opcode> OpcodeFromName(absl::string_view name) {
  static const auto& index = *[] {
    auto* map = new absl::flat_hash_map<absl::string_view, Opcode>();
    for (const OpcodeInfo& info : kTable) map->emplace(info.name, info.opcode);
    return map;
  }();
  auto it = index.find(name);
  if (it == index.end()) return std::nullopt;
  return it->second;
}

}  // namespace ridge
