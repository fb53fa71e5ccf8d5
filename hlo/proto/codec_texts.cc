// Attributes that the IR keeps as text.
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/proto/attribute_codec.h"
#include "hlo/proto/text_proto.h"

namespace ridge::proto_internal {
namespace {

using W = WriteContext;
using R = ReadContext;
using V = AttrValue;

// More devices than this in one iota list are an error, not a request for
// memory.
constexpr int64_t kMaxDevices = int64_t{1} << 22;

absl::string_view View(const V& v) { return std::get<absl::string_view>(v); }

// What read and present have in common for raw texts.
template <std::string (*text)(const Message&)>
bool HasText(const R& c) {
  return !text(c.message).empty();
}

template <std::string (*text)(const Message&)>
absl::Status ReadText(const R& c, V* v) {
  *v = c.instruction->module()->AdoptText(text(c.message));
  return absl::OkStatus();
}

std::string GetSharding(const Message& m) {
  return m.has_sharding() ? ShardingText(m.sharding()) : "";
}
std::string GetMetadata(const Message& m) { return MetadataText(m.metadata()); }
std::string GetFrontendAttributes(const Message& m) {
  return FrontendAttributesText(m.frontend_attributes());
}
std::string GetBackendConfig(const Message& m) {
  return ConfigText(m.backend_config());
}
std::string GetStatistics(const Message& m) {
  return StatisticsText(m.statistics_viz());
}
std::string GetParameterReplication(const Message& m) {
  return ParameterReplicationText(m.parameter_replication());
}
std::string GetOrigin(const Message& m) {
  return m.has_original_value() ? OriginText(m.original_value()) : "";
}
std::string GetResultAccuracy(const Message& m) {
  return ResultAccuracyText(m.result_accuracy());
}
std::string GetDomain(const Message& m) { return DomainText(m); }

bool HasReplicaGroups(const R& c) {
  return c.message.has_iota_collective_device_list() ||
         c.message.has_collective_device_list() ||
         c.message.replica_groups_size() > 0;
}

absl::Status ReadReplicaGroups(const R& c, V* v) {
  ReplicaGroups groups;
  groups.text =
      c.instruction->module()->AdoptText(ReplicaGroupsText(c.message));
  const Message& m = c.message;
  const bool newer = m.has_iota_collective_device_list();
  if (newer || m.collective_device_list().has_iota_replica_group_list()) {
    if (!ExpandIotaGroups(
            newer ? m.iota_collective_device_list()
                  : m.collective_device_list().iota_replica_group_list(),
            kMaxDevices, &groups.groups)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "replica groups ", groups.text,
          " are no permutation of as many devices, at most ", kMaxDevices));
    }
  } else {
    const auto& lists = m.collective_device_list().replica_groups_size() > 0
                            ? m.collective_device_list().replica_groups()
                            : m.replica_groups();
    for (const proto::ReplicaGroup& group : lists) {
      groups.groups.emplace_back(group.replica_ids().begin(),
                                 group.replica_ids().end());
    }
  }
  *v = std::make_shared<const ReplicaGroups>(std::move(groups));
  return absl::OkStatus();
}

void WriteReplicaGroups(const W&, const V& v, Message* m) {
  const ReplicaGroups& groups =
      *std::get<std::shared_ptr<const ReplicaGroups>>(v);
  if (ParseReplicaGroups(groups.text, m)) return;
  m->clear_iota_collective_device_list();
  m->clear_collective_device_list();
  for (const auto& ids : groups.groups) {
    proto::ReplicaGroup* group =
        m->mutable_collective_device_list()->add_replica_groups();
    for (int64_t id : ids) group->add_replica_ids(id);
  }
}

// A text that its message cannot say leaves the field as it was; the spelling
// then carries it alone.
#define RIDGE_TEXT(attr, field, parse, get)                              \
  {                                                                      \
    AttrId::attr,                                                        \
        [](const W&, const V& v, Message* m) {                           \
          if (!parse(View(v), m->mutable_##field())) m->clear_##field(); \
        },                                                               \
        HasText<get>, ReadText<get>, get                                 \
  }

const Codec kCodecs[] = {
    RIDGE_TEXT(kSharding, sharding, ParseSharding, GetSharding),
    RIDGE_TEXT(kMetadata, metadata, ParseMetadata, GetMetadata),
    RIDGE_TEXT(kFrontendAttributes, frontend_attributes,
               ParseFrontendAttributes, GetFrontendAttributes),
    RIDGE_TEXT(kBackendConfig, backend_config, ParseConfig, GetBackendConfig),
    RIDGE_TEXT(kStatistics, statistics_viz, ParseStatistics, GetStatistics),
    RIDGE_TEXT(kParameterReplication, parameter_replication,
               ParseParameterReplication, GetParameterReplication),
    RIDGE_TEXT(kOrigin, original_value, ParseOrigin, GetOrigin),
    RIDGE_TEXT(kResultAccuracy, result_accuracy, ParseResultAccuracy,
               GetResultAccuracy),
    {AttrId::kDomain,
     [](const W&, const V& v, Message* m) {
       if (ParseDomain(View(v), m)) return;
       m->clear_domain_entry_sharding();
       m->clear_domain_exit_sharding();
     },
     [](const R&) { return true; }, ReadText<GetDomain>, GetDomain},
    {AttrId::kReplicaGroups, WriteReplicaGroups, HasReplicaGroups,
     ReadReplicaGroups, ReplicaGroupsText},
};

#undef RIDGE_TEXT

}  // namespace

absl::Span<const Codec> TextCodecs() { return kCodecs; }

}  // namespace ridge::proto_internal
