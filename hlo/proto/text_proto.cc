#include "hlo/proto/text_proto.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/proto/text_cursor.h"
#include "hlo/verify/raw_fields.h"

namespace ridge {
namespace {

// ---- Metadata --------------------------------------------------------------

using proto::OpMetadata;

struct MetadataText32 {
  absl::string_view key;
  int32_t (OpMetadata::*get)() const;
  void (OpMetadata::*set)(int32_t);
};

constexpr MetadataText32 kMetadataInts[] = {
    {"source_line", &OpMetadata::source_line, &OpMetadata::set_source_line},
    {"source_end_line", &OpMetadata::source_end_line,
     &OpMetadata::set_source_end_line},
    {"source_column", &OpMetadata::source_column,
     &OpMetadata::set_source_column},
    {"source_end_column", &OpMetadata::source_end_column,
     &OpMetadata::set_source_end_column},
    {"stack_frame_id", &OpMetadata::stack_frame_id,
     &OpMetadata::set_stack_frame_id},
};

struct MetadataString {
  absl::string_view key;
  const std::string& (OpMetadata::*get)() const;
  std::string* (OpMetadata::*mutable_get)();
};

constexpr MetadataString kMetadataStrings[] = {
    {"op_type", &OpMetadata::op_type, &OpMetadata::mutable_op_type},
    {"op_name", &OpMetadata::op_name, &OpMetadata::mutable_op_name},
    {"source_file", &OpMetadata::source_file, &OpMetadata::mutable_source_file},
    {"deduplicated_name", &OpMetadata::deduplicated_name,
     &OpMetadata::mutable_deduplicated_name},
    {"scheduling_name", &OpMetadata::scheduling_name,
     &OpMetadata::mutable_scheduling_name},
};

bool SetMetadata(const RawField& field, OpMetadata* out) {
  for (const MetadataString& row : kMetadataStrings) {
    if (row.key != field.key) continue;
    *(out->*row.mutable_get)() = UnescapeText(field.value);
    return field.quoted;
  }
  int32_t number = 0;
  for (const MetadataText32& row : kMetadataInts) {
    if (row.key != field.key) continue;
    if (!absl::SimpleAtoi(field.value, &number)) return false;
    (out->*row.set)(number);
    return true;
  }
  if (field.key == "profile_type") {
    TextCursor c(field.value);
    return c.BracketedInts('{', '}', [&](int64_t type) {
      out->add_profile_type(static_cast<proto::ProfileType>(type));
    }) && c.AtEnd();
  }
  int64_t size = 0;
  if (!absl::SimpleAtoi(field.value, &size)) return false;
  if (field.key == "size_of_generated_code_in_bytes") {
    out->set_size_of_generated_code_in_bytes(size);
  } else if (field.key == "size_of_memory_working_set_in_bytes") {
    out->set_size_of_memory_working_set_in_bytes(size);
  } else {
    return false;
  }
  return true;
}

// ---- JSON ------------------------------------------------------------------

// Whether `text` is `{...}` in balanced braces, which HLO text may write
// without quotes.
bool LooksLikeJson(absl::string_view text) {
  if (text.empty() || text.front() != '{' || text.back() != '}') return false;
  TextCursor c(text);
  absl::string_view all;
  return c.Braced(&all) && c.AtEnd() && all.size() == text.size();
}

std::string Quote(absl::string_view text) {
  return absl::StrCat("\"", EscapeText(text), "\"");
}

// The shortest decimal that reads back as the same double.
std::string NumberText(double value) {
  if (value == static_cast<int64_t>(value) && value < 1e15 && value > -1e15) {
    return absl::StrCat(static_cast<int64_t>(value));
  }
  for (int digits = 1; digits < 17; ++digits) {
    char buffer[40];
    std::snprintf(buffer, sizeof(buffer), "%.*g", digits, value);
    double back = 0;
    if (absl::SimpleAtod(buffer, &back) && back == value) return buffer;
  }
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.17g", value);
  return buffer;
}

}  // namespace

bool ParseMetadata(absl::string_view text, OpMetadata* out) {
  const auto fields = ParseRawFields(text);
  if (!fields.ok()) return false;
  for (const RawField& field : *fields) {
    if (!SetMetadata(field, out)) return false;
  }
  return true;
}

std::string MetadataText(const OpMetadata& in) {
  std::vector<std::string> parts;
  const auto add_string = [&](const MetadataString& row) {
    const std::string& value = (in.*row.get)();
    if (!value.empty())
      parts.push_back(absl::StrCat(row.key, "=", Quote(value)));
  };
  for (int k = 0; k < 3; ++k) add_string(kMetadataStrings[k]);
  for (const MetadataText32& row : kMetadataInts) {
    const int32_t value = (in.*row.get)();
    if (value != 0) parts.push_back(absl::StrCat(row.key, "=", value));
  }
  if (in.profile_type_size() > 0) {
    parts.push_back(absl::StrCat("profile_type={",
                                 absl::StrJoin(in.profile_type(), ","), "}"));
  }
  for (int k = 3; k < 5; ++k) add_string(kMetadataStrings[k]);
  if (in.size_of_generated_code_in_bytes() != 0) {
    parts.push_back(absl::StrCat("size_of_generated_code_in_bytes=",
                                 in.size_of_generated_code_in_bytes()));
  }
  if (in.size_of_memory_working_set_in_bytes() != 0) {
    parts.push_back(absl::StrCat("size_of_memory_working_set_in_bytes=",
                                 in.size_of_memory_working_set_in_bytes()));
  }
  if (parts.empty()) return "";
  return absl::StrCat("{", absl::StrJoin(parts, " "), "}");
}

bool ParseFrontendAttributes(absl::string_view text,
                             proto::FrontendAttributes* out) {
  const auto fields = ParseRawFields(text);
  if (!fields.ok()) return false;
  for (const RawField& field : *fields) {
    if (!field.quoted && !LooksLikeJson(field.value)) return false;
    (*out->mutable_map())[std::string(field.key)] =
        field.quoted ? UnescapeText(field.value) : std::string(field.value);
  }
  return true;
}

std::string FrontendAttributesText(const proto::FrontendAttributes& in) {
  if (in.map().empty()) return "";
  const std::map<std::string, std::string> sorted(in.map().begin(),
                                                  in.map().end());
  return absl::StrCat("{",
                      absl::StrJoin(sorted, ",",
                                    [](std::string* s, const auto& entry) {
                                      absl::StrAppend(
                                          s, entry.first, "=",
                                          LooksLikeJson(entry.second)
                                              ? entry.second
                                              : Quote(entry.second));
                                    }),
                      "}");
}

bool ParseConfig(absl::string_view text, std::string* out) {
  if (LooksLikeJson(text)) {
    *out = std::string(text);
    return true;
  }
  TextCursor c(text);
  absl::string_view inside;
  if (!c.Quoted(&inside) || !c.AtEnd()) return false;
  *out = UnescapeText(inside);
  return true;
}

std::string ConfigText(absl::string_view bytes) {
  if (bytes.empty()) return "";
  return LooksLikeJson(bytes) ? std::string(bytes) : Quote(bytes);
}

bool ParseStatistics(absl::string_view text, proto::StatisticsViz* out) {
  const auto fields = ParseRawFields(text);
  if (!fields.ok()) return false;
  for (const RawField& field : *fields) {
    if (field.key == "visualizing_index") {
      int64_t index = 0;
      if (!absl::SimpleAtoi(field.value, &index)) return false;
      out->set_stat_index_to_visualize(index);
      continue;
    }
    double value = 0;
    if (!absl::SimpleAtod(field.value, &value)) return false;
    proto::Statistic* statistic = out->add_statistics();
    statistic->set_stat_name(std::string(field.key));
    statistic->set_stat_val(value);
  }
  return true;
}

std::string StatisticsText(const proto::StatisticsViz& in) {
  if (in.statistics_size() == 0) return "";
  std::string text =
      absl::StrCat("{visualizing_index=", in.stat_index_to_visualize());
  for (const proto::Statistic& statistic : in.statistics()) {
    absl::StrAppend(&text, ",", statistic.stat_name(), "=",
                    NumberText(statistic.stat_val()));
  }
  return text + "}";
}

bool ParseParameterReplication(absl::string_view text,
                               proto::ParameterReplication* out) {
  TextCursor c(text);
  if (!c.Eat('{')) return false;
  if (c.Eat('}')) return c.AtEnd();
  do {
    const absl::string_view word = c.Word();
    if (word != "true" && word != "false") return false;
    out->add_replicated_at_leaf_buffers(word == "true");
  } while (c.Eat(','));
  return c.Eat('}') && c.AtEnd();
}

std::string ParameterReplicationText(const proto::ParameterReplication& in) {
  if (in.replicated_at_leaf_buffers_size() == 0) return "";
  return absl::StrCat("{",
                      absl::StrJoin(in.replicated_at_leaf_buffers(), ",",
                                    [](std::string* s, bool replicated) {
                                      absl::StrAppend(
                                          s, replicated ? "true" : "false");
                                    }),
                      "}");
}

bool ParseResultAccuracy(absl::string_view text, proto::ResultAccuracy* out) {
  const auto fields = ParseRawFields(text);
  if (!fields.ok() || fields->size() != 1) return false;
  const RawField& field = (*fields)[0];
  if (field.key == "mode") {
    const bool highest = field.value == "highest" || field.value == "HIGHEST";
    const bool standard = field.value == "default" || field.value == "DEFAULT";
    out->set_mode(highest ? proto::ResultAccuracy::HIGHEST
                          : proto::ResultAccuracy::DEFAULT);
    return highest || standard;
  }
  if (field.key != "tolerance") return false;
  const auto inner = ParseRawFields(field.value);
  if (!inner.ok()) return false;
  proto::ResultAccuracy::Tolerance* tolerance = out->mutable_tolerance();
  for (const RawField& f : *inner) {
    double value = 0;
    int64_t ulps = 0;
    if (f.key == "ulps" && absl::SimpleAtoi(f.value, &ulps)) {
      tolerance->set_ulps(ulps);
    } else if (f.key == "atol" && absl::SimpleAtod(f.value, &value)) {
      tolerance->set_atol(value);
    } else if (f.key == "rtol" && absl::SimpleAtod(f.value, &value)) {
      tolerance->set_rtol(value);
    } else {
      return false;
    }
  }
  return true;
}

std::string ResultAccuracyText(const proto::ResultAccuracy& in) {
  if (in.has_tolerance()) {
    return absl::StrCat("{tolerance={atol=", NumberText(in.tolerance().atol()),
                        ",rtol=", NumberText(in.tolerance().rtol()),
                        ",ulps=", in.tolerance().ulps(), "}}");
  }
  if (in.mode() == proto::ResultAccuracy::HIGHEST) return "{mode=highest}";
  return "";
}

// The message's entry is the side of the operand, which the text calls exit.
bool ParseDomain(absl::string_view text, proto::HloInstructionProto* out) {
  const auto fields = ParseRawFields(text);
  if (!fields.ok()) return false;
  for (const RawField& field : *fields) {
    if (field.key == "kind") {
      if (field.value != "sharding") return false;
    } else if (field.key == "entry" || field.key == "exit") {
      if (field.value == "{}") continue;
      if (!ParseSharding(field.value,
                         field.key == "entry"
                             ? out->mutable_domain_exit_sharding()
                             : out->mutable_domain_entry_sharding())) {
        return false;
      }
    } else {
      return false;
    }
  }
  return true;
}

std::string DomainText(const proto::HloInstructionProto& in) {
  return absl::StrCat(
      "{kind=\"sharding\", entry=",
      in.has_domain_exit_sharding() ? ShardingText(in.domain_exit_sharding())
                                    : "{}",
      ", exit=",
      in.has_domain_entry_sharding() ? ShardingText(in.domain_entry_sharding())
                                     : "{}",
      "}");
}

}  // namespace ridge
