// The rows of the attribute table. Internal to hlo/proto.
#ifndef RIDGE_HLO_PROTO_ATTRIBUTE_CODEC_H_
#define RIDGE_HLO_PROTO_ATTRIBUTE_CODEC_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"
#include "hlo/proto/attribute_proto.h"

namespace ridge::proto_internal {

using Message = proto::HloInstructionProto;

struct WriteContext {
  const Instruction& instruction;
  const ComputationIds& ids;
};

struct ReadContext {
  const Message& message;
  const ComputationsById& computations;
  Instruction* instruction;
};

// One attribute.
//   write   puts the value into the message.
//   present whether a message of this opcode has the attribute (as XLA prints
//           it: fields at their default mostly mean no attribute).
//   read    gives the value, which it may copy into the module.
//   text    for attributes kept as text: the message's value in XLA's
//           spelling; null for others.
struct Codec {
  AttrId id;
  void (*write)(const WriteContext&, const AttrValue&, Message*);
  bool (*present)(const ReadContext&);
  absl::Status (*read)(const ReadContext&, AttrValue*);
  std::string (*text)(const Message&) = nullptr;
};

// The tables, by kind of attribute.
absl::Span<const Codec> NumberCodecs();
absl::Span<const Codec> StructureCodecs();
absl::Span<const Codec> CallCodecs();
absl::Span<const Codec> TextCodecs();

// The codec of an attribute; null for those that travel only as spellings.
const Codec* FindCodec(AttrId id);

// Numbers of a repeated field as arena values.
template <typename Field>
Ints CopyNumbers(const ReadContext& c, const Field& field) {
  const std::vector<int64_t> values(field.begin(), field.end());
  return c.instruction->module()->CopyInts(values);
}

// An enumerator that has a name.
absl::Status CheckEnum(EnumId id, int64_t value);

}  // namespace ridge::proto_internal

#endif  // RIDGE_HLO_PROTO_ATTRIBUTE_CODEC_H_
