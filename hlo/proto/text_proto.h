// Attributes that the IR keeps as text, to and from XLA's messages. Each pair
// reads a text into a message (false where the message cannot say it, or the
// text is malformed) and writes a message in XLA's spelling ("" where it is
// empty).
#ifndef RIDGE_HLO_PROTO_TEXT_PROTO_H_
#define RIDGE_HLO_PROTO_TEXT_PROTO_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/proto/hlo.pb.h"

namespace ridge {

// {devices=[2,1]<=[2] metadata={...}}, {{replicated}, {maximal device=0}}
bool ParseSharding(absl::string_view text, proto::OpSharding* out);
std::string ShardingText(const proto::OpSharding& in);

// {op_name="f" source_file="a.py" source_line=3}
bool ParseMetadata(absl::string_view text, proto::OpMetadata* out);
std::string MetadataText(const proto::OpMetadata& in);

// {a="text",b={"json":1}}
bool ParseFrontendAttributes(absl::string_view text,
                             proto::FrontendAttributes* out);
std::string FrontendAttributesText(const proto::FrontendAttributes& in);

// "text" or {"json":1}; the message holds bytes.
bool ParseConfig(absl::string_view text, std::string* out);
std::string ConfigText(absl::string_view bytes);

// {visualizing_index=1,stat-1=33}
bool ParseStatistics(absl::string_view text, proto::StatisticsViz* out);
std::string StatisticsText(const proto::StatisticsViz& in);

// {true,false}
bool ParseParameterReplication(absl::string_view text,
                               proto::ParameterReplication* out);
std::string ParameterReplicationText(const proto::ParameterReplication& in);

// {({"p" {0}}, {"q"})}
bool ParseOrigin(absl::string_view text, proto::OriginalValueProto* out);
std::string OriginText(const proto::OriginalValueProto& in);

// { {"old" {0}} : {"new"}, "HloModule ..." {"old2"} : ... }; what XLA's message
// holds besides, recovery tables of recovery modules, is refused.
bool ParseRecoveryTable(absl::string_view text,
                        proto::OriginalValueRecoveryTableProto* out);
absl::StatusOr<std::string> RecoveryTableText(
    const proto::OriginalValueRecoveryTableProto& in);

// {mode=highest}, {tolerance={atol=1,rtol=0,ulps=2}}
bool ParseResultAccuracy(absl::string_view text, proto::ResultAccuracy* out);
std::string ResultAccuracyText(const proto::ResultAccuracy& in);

// {kind="sharding", entry={...}, exit={...}}
bool ParseDomain(absl::string_view text, proto::HloInstructionProto* out);
std::string DomainText(const proto::HloInstructionProto& in);

// {{0,1},{2,3}} or [2,4]<=[8]T(1,0)
bool ParseReplicaGroups(absl::string_view text,
                        proto::HloInstructionProto* out);
std::string ReplicaGroupsText(const proto::HloInstructionProto& in);

// Expands an iota form into its groups. False where it is malformed, or names
// more devices than `limit`.
bool ExpandIotaGroups(const proto::IotaReplicaGroupListProto& in, int64_t limit,
                      std::vector<std::vector<int64_t>>* groups);

}  // namespace ridge

#endif  // RIDGE_HLO_PROTO_TEXT_PROTO_H_
