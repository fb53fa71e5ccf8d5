// Shardings and replica groups.
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/ir/shape.h"
#include "hlo/proto/text_cursor.h"
#include "hlo/proto/text_proto.h"

namespace ridge {
namespace {

using proto::OpSharding;

struct TypeName {
  OpSharding::Type type;
  absl::string_view name;
};

constexpr TypeName kTypeNames[] = {
    {OpSharding::REPLICATED, "replicated"}, {OpSharding::MAXIMAL, "maximal"},
    {OpSharding::MANUAL, "manual"},         {OpSharding::UNKNOWN, "unknown"},
    {OpSharding::UNREDUCED, "unreduced"},
};

const TypeName* FindType(absl::string_view name) {
  for (const TypeName& t : kTypeNames) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

absl::string_view NameOf(int type) {
  for (const TypeName& t : kTypeNames) {
    if (t.type == type) return t.name;
  }
  return "";
}

// <=[2,64]T(1,0)
template <typename Proto>
bool ParseIota(TextCursor* c, Proto* out) {
  if (!c->Eat("<=") || !c->BracketedInts('[', ']', [&](int64_t d) {
        out->add_iota_reshape_dims(d);
      })) {
    return false;
  }
  if (c->Eat("T(")) {
    return c->Ints([&](int64_t d) {
      out->add_iota_transpose_perm(static_cast<int32_t>(d));
    }) && c->Eat(')') &&
           out->iota_transpose_perm_size() == out->iota_reshape_dims_size();
  }
  // Without a transposition the shape of the iota says nothing.
  int64_t total = 1;
  for (int64_t d : out->iota_reshape_dims()) {
    if (d < 0) return false;
    total = SaturatingMul(total, d);
  }
  out->clear_iota_reshape_dims();
  out->add_iota_reshape_dims(total);
  out->add_iota_transpose_perm(0);
  return true;
}

template <typename Proto>
std::string IotaText(const Proto& in) {
  std::string text =
      absl::StrCat("<=[", absl::StrJoin(in.iota_reshape_dims(), ","), "]");
  if (in.iota_reshape_dims_size() > 1) {
    absl::StrAppend(&text, "T(", absl::StrJoin(in.iota_transpose_perm(), ","),
                    ")");
  }
  return text;
}

bool ParseMetadataList(TextCursor* c, OpSharding* out) {
  absl::string_view all;
  if (!c->Braced(&all)) return false;
  TextCursor inner(all);
  inner.Eat('{');
  if (inner.Peek() != '{') return ParseMetadata(all, out->add_metadata());
  do {
    absl::string_view one;
    if (!inner.Braced(&one) || !ParseMetadata(one, out->add_metadata())) {
      return false;
    }
  } while (inner.Eat(','));
  return inner.Eat('}');
}

bool ParseLastTileDims(TextCursor* c, OpSharding* out) {
  if (!c->Eat('{')) return false;
  if (c->Eat('}')) return true;
  do {
    const TypeName* type = FindType(c->Word());
    if (type == nullptr) return false;
    out->add_last_tile_dims(type->type);
  } while (c->Eat(','));
  return c->Eat('}');
}

bool ParseSingle(TextCursor* c, OpSharding* out) {
  if (!c->Eat('{')) return false;
  bool known = false;
  while (!c->Eat('}')) {
    const absl::string_view word = c->Word();
    if (const TypeName* type = FindType(word)) {
      out->set_type(type->type);
      known = true;
    } else if (word == "device" && c->Eat('=')) {
      int64_t device = 0;
      if (!c->Int(&device)) return false;
      out->add_tile_assignment_dimensions(1);
      out->add_tile_assignment_devices(device);
    } else if (word == "devices" && c->Eat('=')) {
      known = true;
      out->set_type(OpSharding::OTHER);
      if (!c->BracketedInts('[', ']', [&](int64_t d) {
            out->add_tile_assignment_dimensions(d);
          })) {
        return false;
      }
      if (c->Peek() == '<') {
        if (!ParseIota(c, out)) return false;
      } else if (!c->Ints(
                     [&](int64_t d) { out->add_tile_assignment_devices(d); })) {
        return false;
      }
    } else if (word == "last_tile_dim_replicate") {
      out->set_replicate_on_last_tile_dim(true);
    } else if (word == "last_tile_dims" && c->Eat('=')) {
      if (!ParseLastTileDims(c, out)) return false;
    } else if (word == "shard_as" || word == "shard_like") {
      int64_t group = 0;
      if (!c->Int(&group)) return false;
      out->set_is_shard_group(true);
      out->set_shard_group_id(group);
      out->set_shard_group_type(word == "shard_as" ? OpSharding::AS
                                                   : OpSharding::LIKE);
    } else if (word == "metadata" && c->Eat('=')) {
      if (!ParseMetadataList(c, out)) return false;
    } else {
      return false;
    }
  }
  return known;
}

std::string SingleText(const OpSharding& in) {
  std::string text = "{";
  if (in.type() == OpSharding::OTHER) {
    absl::StrAppend(&text, "devices=[",
                    absl::StrJoin(in.tile_assignment_dimensions(), ","), "]");
    absl::StrAppend(&text,
                    in.iota_reshape_dims_size() > 0
                        ? IotaText(in)
                        : absl::StrJoin(in.tile_assignment_devices(), ","));
    if (in.replicate_on_last_tile_dim()) {
      absl::StrAppend(&text, " last_tile_dim_replicate");
    }
    if (in.last_tile_dims_size() > 0) {
      absl::StrAppend(&text, " last_tile_dims={",
                      absl::StrJoin(in.last_tile_dims(), ", ",
                                    [](std::string* s, int type) {
                                      absl::StrAppend(s, NameOf(type));
                                    }),
                      "}");
    }
  } else {
    absl::StrAppend(&text, NameOf(in.type()));
    if (in.type() == OpSharding::MAXIMAL &&
        in.tile_assignment_devices_size() > 0) {
      absl::StrAppend(&text, " device=", in.tile_assignment_devices(0));
    }
  }
  if (in.is_shard_group()) {
    absl::StrAppend(
        &text,
        in.shard_group_type() == OpSharding::AS ? " shard_as " : " shard_like ",
        in.shard_group_id());
  }
  if (in.metadata_size() == 1) {
    absl::StrAppend(&text, " metadata=", MetadataText(in.metadata(0)));
  } else if (in.metadata_size() > 1) {
    absl::StrAppend(
        &text, " metadata={",
        absl::StrJoin(in.metadata(), ", ",
                      [](std::string* s, const proto::OpMetadata& metadata) {
                        absl::StrAppend(s, MetadataText(metadata));
                      }),
        "}");
  }
  return text + "}";
}

}  // namespace

bool ParseSharding(absl::string_view text, OpSharding* out) {
  TextCursor c(text);
  TextCursor ahead(text);
  if (!ahead.Eat('{')) return false;
  if (ahead.Peek() != '{' && ahead.Peek() != '}') {
    return ParseSingle(&c, out) && c.AtEnd();
  }
  out->set_type(OpSharding::TUPLE);
  if (ahead.Eat('}')) return ahead.AtEnd();
  do {
    if (!ParseSingle(&ahead, out->add_tuple_shardings())) return false;
  } while (ahead.Eat(','));
  return ahead.Eat('}') && ahead.AtEnd();
}

std::string ShardingText(const OpSharding& in) {
  if (in.type() != OpSharding::TUPLE) return SingleText(in);
  return absl::StrCat("{",
                      absl::StrJoin(in.tuple_shardings(), ", ",
                                    [](std::string* s, const OpSharding& one) {
                                      absl::StrAppend(s, SingleText(one));
                                    }),
                      "}");
}

bool ParseReplicaGroups(absl::string_view text,
                        proto::HloInstructionProto* out) {
  TextCursor c(text);
  if (c.Peek() == '[') {
    proto::IotaReplicaGroupListProto* iota =
        out->mutable_iota_collective_device_list();
    std::vector<int64_t> dims;
    if (!c.BracketedInts('[', ']', [&](int64_t d) { dims.push_back(d); }) ||
        dims.size() != 2 || !ParseIota(&c, iota) || !c.AtEnd()) {
      return false;
    }
    iota->set_num_replica_groups(dims[0]);
    iota->set_num_devices_per_group(dims[1]);
    return true;
  }
  if (!c.Eat('{')) return false;
  if (c.Eat('}')) return c.AtEnd();
  do {
    proto::ReplicaGroup* group =
        out->mutable_collective_device_list()->add_replica_groups();
    if (!c.BracketedInts('{', '}',
                         [&](int64_t id) { group->add_replica_ids(id); })) {
      return false;
    }
  } while (c.Eat(','));
  return c.Eat('}') && c.AtEnd();
}

std::string ReplicaGroupsText(const proto::HloInstructionProto& in) {
  const proto::IotaReplicaGroupListProto* iota = nullptr;
  if (in.has_iota_collective_device_list()) {
    iota = &in.iota_collective_device_list();
  } else if (in.collective_device_list().has_iota_replica_group_list()) {
    iota = &in.collective_device_list().iota_replica_group_list();
  }
  if (iota != nullptr) {
    return absl::StrCat("[", iota->num_replica_groups(), ",",
                        iota->num_devices_per_group(), "]", IotaText(*iota));
  }
  const auto& groups = in.collective_device_list().replica_groups_size() > 0
                           ? in.collective_device_list().replica_groups()
                           : in.replica_groups();
  return absl::StrCat(
      "{",
      absl::StrJoin(groups, ",",
                    [](std::string* s, const proto::ReplicaGroup& group) {
                      absl::StrAppend(
                          s, "{", absl::StrJoin(group.replica_ids(), ","), "}");
                    }),
      "}");
}

bool ExpandIotaGroups(const proto::IotaReplicaGroupListProto& in, int64_t limit,
                      std::vector<std::vector<int64_t>>* groups) {
  const int rank = in.iota_reshape_dims_size();
  if (rank < 1 || rank > 64 || in.iota_transpose_perm_size() != rank ||
      in.num_replica_groups() < 0 || in.num_devices_per_group() < 0) {
    return false;
  }
  int64_t total = 1;
  uint64_t seen = 0;
  for (int k = 0; k < rank; ++k) {
    const int64_t p = in.iota_transpose_perm(k);
    if (in.iota_reshape_dims(k) < 0 || p < 0 || p >= rank ||
        ((seen >> p) & 1) != 0) {
      return false;
    }
    seen |= uint64_t{1} << p;
    total = SaturatingMul(total, in.iota_reshape_dims(k));
  }
  if (total > limit || SaturatingMul(in.num_replica_groups(),
                                     in.num_devices_per_group()) != total) {
    return false;
  }
  std::vector<int64_t> strides(static_cast<size_t>(rank), 1);
  for (int k = rank - 2; k >= 0; --k) {
    strides[k] = strides[k + 1] * in.iota_reshape_dims(k + 1);
  }
  // Walks the transposed dimensions; the devices appear in that order.
  std::vector<int64_t> index(static_cast<size_t>(rank), 0);
  groups->assign(static_cast<size_t>(in.num_replica_groups()), {});
  for (int64_t n = 0; n < total; ++n) {
    int64_t device = 0;
    for (int k = 0; k < rank; ++k) {
      device += index[k] * strides[in.iota_transpose_perm(k)];
    }
    (*groups)[n / in.num_devices_per_group()].push_back(device);
    for (int k = rank - 1; k >= 0; --k) {
      if (++index[k] < in.iota_reshape_dims(in.iota_transpose_perm(k))) break;
      index[k] = 0;
    }
  }
  return true;
}

}  // namespace ridge
