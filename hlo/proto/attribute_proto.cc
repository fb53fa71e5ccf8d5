#include "hlo/proto/attribute_proto.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"
#include "hlo/ir/opcode_rules.h"
#include "hlo/proto/attribute_codec.h"
#include "hlo/proto/shape_proto.h"
#include "hlo/proto/text_proto.h"

namespace ridge::proto_internal {
namespace {

// The text of an attribute that is kept as text.
absl::string_view TextOf(const AttrValue& value) {
  if (const auto* text = std::get_if<absl::string_view>(&value)) return *text;
  if (const auto* groups =
          std::get_if<std::shared_ptr<const ReplicaGroups>>(&value)) {
    return (*groups)->text;
  }
  return "";
}

// What XLA writes where the text says nothing.
void WriteDefaults(const Instruction& i, Message* m) {
  const int lhs_rhs = 2;
  int precisions = 0;
  switch (i.opcode()) {
    case Opcode::kTopK:
      if (!i.has(AttrId::kLargest)) m->set_largest(true);
      break;
    case Opcode::kCompare:
      if (!i.has(AttrId::kComparisonType) && i.operand_count() > 0) {
        const ElementType type = i.operand(0)->shape().type();
        m->set_comparison_type(IsFloat(type) || IsComplex(type) ? "FLOAT"
                               : IsSigned(type)                 ? "SIGNED"
                                                                : "UNSIGNED");
      }
      break;
    case Opcode::kConvolution:
    case Opcode::kCustomCall:
      if (!i.has(AttrId::kFeatureGroupCount)) m->set_feature_group_count(1);
      if (!i.has(AttrId::kBatchGroupCount)) m->set_batch_group_count(1);
      if (i.opcode() == Opcode::kCustomCall) {
        if (!i.has(AttrId::kApiVersion)) {
          m->set_custom_call_api_version(proto::API_VERSION_ORIGINAL);
        }
        precisions = static_cast<int>(i.operand_count());
      } else {
        m->mutable_window();
        precisions = lhs_rhs;
      }
      break;
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kScaledDot:
      m->mutable_dot_dimension_numbers();
      precisions = lhs_rhs;
      break;
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
      m->mutable_window();
      break;
    case Opcode::kOutfeed:
      if (!i.has(AttrId::kOutfeedShape) && i.operand_count() > 0) {
        ShapeToProto(i.operand(0)->shape(), m->mutable_outfeed_shape());
      }
      break;
    default:
      break;
  }
  if (precisions > 0 && !i.has(AttrId::kOperandPrecision)) {
    for (int k = 0; k < precisions; ++k) {
      m->mutable_precision_config()->add_operand_precision(
          proto::PrecisionConfig::DEFAULT);
    }
  }
  if (i.opcode() == Opcode::kRaggedDot) {
    *m->mutable_ragged_dot_dimension_numbers()
         ->mutable_dot_dimension_numbers() = m->dot_dimension_numbers();
    m->clear_dot_dimension_numbers();
  }
}

// A ragged-dot's numbers where those of a dot are, for reading.
void LiftRaggedDot(Message* m) {
  *m->mutable_dot_dimension_numbers() =
      m->ragged_dot_dimension_numbers().dot_dimension_numbers();
}

// The attributes that the fields alone give, in the order of the rules.
std::vector<AttrId> AttributesOf(const ReadContext& c) {
  std::vector<AttrId> ids;
  for (const AttrRule& rule : AttrRules(c.instruction->opcode())) {
    const Codec* codec = FindCodec(rule.id);
    if (codec != nullptr && codec->present(c)) ids.push_back(rule.id);
  }
  return ids;
}

// Whether `spelling` says what the fields say.
bool SpellingFits(const Codec* codec, const ReadContext& c,
                  absl::string_view spelling) {
  if (codec == nullptr) return true;  // there is no field to disagree with
  Message scratch;
  const ComputationIds none;
  const WriteContext w{*c.instruction, none};
  AttrValue value = spelling;
  if (codec->id == AttrId::kReplicaGroups) {
    value = std::make_shared<const ReplicaGroups>(ReplicaGroups{spelling, {}});
  }
  codec->write(w, value, &scratch);
  return codec->text(scratch) == codec->text(c.message);
}

const std::string* FindSpelling(const Message& m, absl::string_view name) {
  for (const proto::NamedText& s : m.ridge().spellings()) {
    if (absl::string_view(s.name()) == name) return &s.text();
  }
  return nullptr;
}

absl::Status ReadAttribute(AttrId id, const ReadContext& c) {
  const Codec* codec = FindCodec(id);
  Instruction* i = c.instruction;
  if (codec == nullptr || codec->text != nullptr) {
    const std::string* spelling = FindSpelling(c.message, Name(id));
    if (spelling != nullptr && SpellingFits(codec, c, *spelling)) {
      const absl::string_view text = i->module()->CopyText(*spelling);
      if (id != AttrId::kReplicaGroups) {
        i->SetAttr(id, text);
        return absl::OkStatus();
      }
      AttrValue value;
      RIDGE_RETURN_IF_ERROR(codec->read(c, &value));
      ReplicaGroups groups =
          *std::get<std::shared_ptr<const ReplicaGroups>>(value);
      groups.text = text;
      i->set_boxed(id, std::move(groups));
      return absl::OkStatus();
    }
    if (codec == nullptr) return absl::OkStatus();
  }
  AttrValue value;
  const absl::Status status = codec->read(c, &value);
  if (!status.ok()) return Annotate(status, Name(id));
  i->SetAttr(id, std::move(value));
  return absl::OkStatus();
}

}  // namespace

const Codec* FindCodec(AttrId id) {
  static const auto* const index = [] {
    auto* by_id = new std::array<const Codec*, kAttrCount>{};
    for (absl::Span<const Codec> codecs :
         {NumberCodecs(), StructureCodecs(), CallCodecs(), TextCodecs()}) {
      for (const Codec& codec : codecs) {
        (*by_id)[static_cast<size_t>(codec.id)] = &codec;
      }
    }
    return by_id;
  }();
  return (*index)[static_cast<size_t>(id)];
}

void WriteAttributes(const Instruction& i, const ComputationIds& ids,
                     bool exact, Message* out) {
  const WriteContext w{i, ids};
  std::vector<AttrId> written;
  for (const Attribute& a : i.attributes()) {
    written.push_back(a.id);
    if (const Codec* codec = FindCodec(a.id)) codec->write(w, a.value, out);
  }
  WriteDefaults(i, out);
  if (!exact) {
    out->clear_ridge();
    return;
  }

  // What a reader would make of this, and where that differs.
  Message lifted;
  const Message* seen = out;
  if (i.opcode() == Opcode::kRaggedDot) {
    lifted = *out;
    LiftRaggedDot(&lifted);
    seen = &lifted;
  }
  const ComputationsById none;
  // The reader only looks at opcode and operands.
  const ReadContext c{*seen, none, const_cast<Instruction*>(&i)};
  if (AttributesOf(c) != written) {
    out->mutable_ridge()->set_has_attributes(true);
    for (AttrId id : written) {
      out->mutable_ridge()->add_attributes(std::string(Name(id)));
    }
  }
  for (const Attribute& a : i.attributes()) {
    const Codec* codec = FindCodec(a.id);
    if (codec != nullptr && codec->text == nullptr) continue;
    const absl::string_view text = TextOf(a.value);
    if (codec != nullptr && codec->text(*out) == text) continue;
    proto::NamedText* spelling = out->mutable_ridge()->add_spellings();
    spelling->set_name(std::string(Name(a.id)));
    spelling->set_text(std::string(text));
  }
}

absl::StatusOr<Literal> ReadLiteral(const Message& in) {
  LiteralSpelling spelling;
  spelling.elided.assign(in.ridge().elided().begin(),
                         in.ridge().elided().end());
  spelling.abbreviated.assign(in.ridge().abbreviated().begin(),
                              in.ridge().abbreviated().end());
  return LiteralFromProto(in.literal(), spelling);
}

void WriteLiteral(const Literal& literal, Message* out) {
  LiteralSpelling spelling;
  LiteralToProto(literal, out->mutable_literal(), &spelling);
  for (int leaf : spelling.elided) out->mutable_ridge()->add_elided(leaf);
  for (int leaf : spelling.abbreviated) {
    out->mutable_ridge()->add_abbreviated(leaf);
  }
}

absl::Status ReadAttributes(const Message& in,
                            const ComputationsById& computations,
                            Instruction* i) {
  Message lifted;
  const Message* message = &in;
  if (i->opcode() == Opcode::kRaggedDot) {
    lifted = in;
    LiftRaggedDot(&lifted);
    message = &lifted;
  }
  const ReadContext c{*message, computations, i};
  if (!in.ridge().has_attributes()) {
    for (AttrId id : AttributesOf(c)) {
      RIDGE_RETURN_IF_ERROR(ReadAttribute(id, c));
    }
    return absl::OkStatus();
  }
  for (const std::string& name : in.ridge().attributes()) {
    const AttrRule* rule = FindAttrRule(i->opcode(), name);
    if (rule == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(Name(i->opcode()), " takes no attribute ", name));
    }
    if (i->has(rule->id)) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute ", name, " appears twice"));
    }
    RIDGE_RETURN_IF_ERROR(ReadAttribute(rule->id, c));
  }
  return absl::OkStatus();
}

}  // namespace ridge::proto_internal
