// Collectives: who takes part, and which channels they use.
#include <algorithm>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/verify/infer.h"
#include "hlo/verify/raw_fields.h"
#include "hlo/verify/rules.h"

namespace ridge::verify {
namespace {

// How the numbers in replica_groups are meant.
enum class GroupMode : uint8_t {
  kCrossReplica,
  kCrossPartition,
  kCrossReplicaAndPartition,
  kFlattenedId,
  kInvalid,
};

// Whether an opcode has use_global_device_ids; without it a channel means
// partitions.
bool HasGlobalIds(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kReduceScatter:
      return true;
    default:
      return false;
  }
}

GroupMode ModeOf(const Instruction& i) {
  const bool channel = i.has(AttrId::kChannelId);
  if (!HasGlobalIds(i.opcode())) {
    return channel ? GroupMode::kCrossPartition : GroupMode::kCrossReplica;
  }
  if (i.bool_attr(AttrId::kUseGlobalDeviceIds)) {
    return channel ? GroupMode::kFlattenedId : GroupMode::kInvalid;
  }
  return channel ? GroupMode::kCrossReplicaAndPartition
                 : GroupMode::kCrossReplica;
}

const std::vector<std::vector<int64_t>>& Groups(const Instruction& i) {
  static const auto* const none = new std::vector<std::vector<int64_t>>;
  const ReplicaGroups* groups = i.boxed<ReplicaGroups>(AttrId::kReplicaGroups);
  return groups == nullptr ? *none : groups->groups;
}

// How many ids the module's header allows; 1 where it does not say.
int64_t Participants(GroupMode mode, const Context& context) {
  switch (mode) {
    case GroupMode::kCrossReplica:
    case GroupMode::kCrossReplicaAndPartition:
      return context.replica_count();
    case GroupMode::kCrossPartition:
      return context.num_partitions();
    case GroupMode::kFlattenedId:
      return SaturatingMul(std::max<int64_t>(context.replica_count(), 0),
                           std::max<int64_t>(context.num_partitions(), 0));
    case GroupMode::kInvalid:
      break;
  }
  return 1;
}

bool CheckGroups(const Instruction& i, GroupMode mode, bool uniform,
                 Context* context) {
  const auto& groups = Groups(i);
  if (mode == GroupMode::kInvalid) {
    context->Fail(i, "replica-groups",
                  "use_global_device_ids needs a channel_id");
    return false;
  }
  if (groups.empty()) {
    if (mode != GroupMode::kFlattenedId) return true;
    context->Fail(i, "replica-groups",
                  "replica groups must be specified in flattened-id mode "
                  "(use_global_device_ids=true)");
    return false;
  }
  absl::flat_hash_set<int64_t> seen;
  for (const auto& group : groups) {
    if (group.empty()) {
      context->Fail(i, "replica-groups", "a replica group must not be empty");
      return false;
    }
    for (int64_t id : group) {
      if (!seen.insert(id).second) {
        context->Fail(i, "replica-groups", "replica ", id,
                      " is repeated in the replica groups");
        return false;
      }
    }
  }
  const int64_t count = static_cast<int64_t>(seen.size());
  for (int64_t id = 0; id < count; ++id) {
    if (seen.contains(id)) continue;
    context->Fail(i, "replica-groups", "replica ", id,
                  " is not named in the replica groups, which name ", count);
    return false;
  }
  const int64_t wanted = Participants(mode, *context);
  if (wanted != 1 && count != wanted) {
    context->Fail(i, "replica-groups", "replica groups should contain ", wanted,
                  " ids (the module's replicas and partitions), found ", count);
    return false;
  }
  if (!uniform) return true;
  for (const auto& group : groups) {
    if (group.size() == groups[0].size()) continue;
    context->Fail(i, "replica-groups",
                  "replica groups expected to be of uniform size, found ",
                  groups[0].size(), " and ", group.size());
    return false;
  }
  return true;
}

int64_t SubgroupSize(const Instruction& i, GroupMode mode,
                     const Context& context) {
  const auto& groups = Groups(i);
  const int64_t size = groups.empty() ? Participants(mode, context)
                                      : static_cast<int64_t>(groups[0].size());
  if (mode == GroupMode::kCrossReplicaAndPartition) {
    return SaturatingMul(size, std::max<int64_t>(context.num_partitions(), 0));
  }
  return size;
}

// Shards of an all-gather or reduce-scatter against its groups.
void CheckShards(const Instruction& i, const Shape& large, const Shape& small,
                 int64_t subgroup, Context* context) {
  const int64_t dim = i.dimensions()[0];
  const int64_t a = large.dim(dim);
  const int64_t b = small.dim(dim);
  if (a == Shape::kUnbounded || b == Shape::kUnbounded || b == 0) return;
  const int64_t shards = a / b;
  if (subgroup == 1 || shards == subgroup) return;
  context->Fail(i, "shard-count", "shard_count = ", shards,
                ", subgroup_size = ", subgroup, ": they must be equal");
}

const Shape& FirstLeaf(const Shape& shape) {
  const Shape* at = &shape;
  while (at->IsTuple() && !at->tuple_shapes().empty()) {
    at = &at->tuple_shape(0);
  }
  return *at;
}

// Offsets of an in-place collective-permute: a tuple of one index a dimension,
// or several such tuples.
bool OffsetsFit(const Shape& buffer, const Shape& offsets) {
  if (!offsets.IsTuple() || !buffer.IsArray()) return false;
  const auto parts = offsets.tuple_shapes();
  const bool arrays = std::all_of(parts.begin(), parts.end(),
                                  [](const Shape& s) { return s.IsArray(); });
  if (arrays) return static_cast<int64_t>(parts.size()) == buffer.rank();
  return std::all_of(parts.begin(), parts.end(), [&](const Shape& s) {
    return s.IsTuple() &&
           static_cast<int64_t>(s.tuple_shapes().size()) == buffer.rank();
  });
}

bool CheckInPlace(const Instruction& i, Context* context) {
  const Shape& input = i.operand(0)->shape();
  const Shape& output = i.operand(1)->shape();
  if (input.IsTuple() != output.IsTuple() ||
      input.tuple_shapes().size() != output.tuple_shapes().size()) {
    context->Fail(i, "permute-in-place",
                  "unmatching input buffers and output buffers, found ",
                  input.ToString(), " and ", output.ToString());
    return false;
  }
  for (int64_t k = 0; k < 2; ++k) {
    const Shape& buffer = i.operand(k)->shape();
    const Shape& offsets = i.operand(k + 2)->shape();
    const absl::string_view what = k == 0 ? "input" : "output";
    bool fits = true;
    if (!buffer.IsTuple()) {
      fits = OffsetsFit(buffer, offsets);
    } else if (!offsets.IsTuple() ||
               offsets.tuple_shapes().size() != buffer.tuple_shapes().size()) {
      fits = false;
    } else {
      for (size_t b = 0; fits && b < buffer.tuple_shapes().size(); ++b) {
        fits = OffsetsFit(buffer.tuple_shape(b), offsets.tuple_shape(b));
      }
    }
    if (!fits) {
      context->Fail(i, "permute-in-place", "unmatching ", what, " buffers and ",
                    what, " offset, found ", buffer.ToString(), " and ",
                    offsets.ToString());
      return false;
    }
  }
  return true;
}

void CheckPermute(const Instruction& i, Context* context) {
  const bool in_place =
      i.has(AttrId::kPermuteSliceSizes) && i.operand_count() == 4;
  int64_t allowed = 1;
  if (in_place) {
    if (!CheckInPlace(i, context)) return;
    const Shape* offsets = &i.operand(2)->shape();
    if (!i.operand(0)->shape().IsArray()) offsets = &offsets->tuple_shape(0);
    allowed = static_cast<int64_t>(offsets->tuple_shapes().size());
  }
  const IntLists* pairs = i.boxed<IntLists>(AttrId::kSourceTargetPairs);
  if (pairs == nullptr) return;
  const int64_t limit = Participants(ModeOf(i), *context);
  absl::flat_hash_map<int64_t, int64_t> seen[2];
  for (const auto& pair : *pairs) {
    if (pair.size() != 2) {
      context->Fail(i, "source-target-pairs",
                    "source_target_pairs must be pairs, found ",
                    infer::Braced(pair));
      return;
    }
    for (int side = 0; side < 2; ++side) {
      const int64_t id = pair[side];
      const absl::string_view what = side == 0 ? "Source " : "Target ";
      if (id < 0 || (limit != 1 && id >= limit)) {
        context->Fail(i, "source-target-pairs", what, id,
                      " in the source-target pairs must be ",
                      id < 0 ? ">= 0" : absl::StrCat("< ", limit));
        return;
      }
      if (++seen[side][id] > allowed) {
        context->Fail(i, "source-target-pairs", what, id, " appears more than ",
                      allowed == 1 ? "once" : absl::StrCat(allowed, " times"),
                      " in instruction's source-target pairs");
        return;
      }
    }
  }
}

bool IsSendRecv(Opcode op) {
  return op == Opcode::kSend || op == Opcode::kSendDone ||
         op == Opcode::kRecv || op == Opcode::kRecvDone;
}

void CheckTransferPair(const Instruction& i, Context* context) {
  const Opcode done =
      i.opcode() == Opcode::kSend ? Opcode::kSendDone : Opcode::kRecvDone;
  for (const Instruction* user : i.users()) {
    if (user->opcode() != done) continue;
    if (user->int_attr(AttrId::kChannelId, -1) !=
        i.int_attr(AttrId::kChannelId, -1)) {
      context->Fail(*user, "channel", "expected the channel_id of ", i.name(),
                    ", ", i.int_attr(AttrId::kChannelId, -1), ", found ",
                    user->int_attr(AttrId::kChannelId, -1));
    }
    if (user->bool_attr(AttrId::kIsHostTransfer) !=
        i.bool_attr(AttrId::kIsHostTransfer)) {
      context->Fail(*user, "channel", "expected the is_host_transfer of ",
                    i.name());
    }
  }
}

// Host transfers on one channel do the same thing each.
void CheckHostTransfers(absl::Span<const Instruction* const> users,
                        Context* context) {
  absl::btree_map<Opcode, const Instruction*> first;
  for (const Instruction* i : users) {
    if (!i->bool_attr(AttrId::kIsHostTransfer)) continue;
    auto [it, inserted] = first.insert({i->opcode(), i});
    if (inserted) continue;
    const absl::string_view a = it->second->text(AttrId::kFrontendAttributes);
    const absl::string_view b = i->text(AttrId::kFrontendAttributes);
    if (infer::Compatible(it->second->shape(), i->shape()) && a == b) continue;
    context->Fail(*i, "channel",
                  "host-transfer send/recv instructions that use the same "
                  "channel must be identical, but ",
                  it->second->name(),
                  " differs in shape or frontend "
                  "attributes");
    return;
  }
}

}  // namespace

void CheckCollective(const Instruction& i, Context* context) {
  if (IsSendRecv(i.opcode())) {
    if (i.opcode() == Opcode::kSend || i.opcode() == Opcode::kRecv) {
      CheckTransferPair(i, context);
    }
    return;
  }
  if (!IsCollective(i.opcode())) return;
  const GroupMode mode = ModeOf(i);
  switch (i.opcode()) {
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
      CheckGroups(i, mode, /*uniform=*/false, context);
      break;
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart: {
      if (!CheckGroups(i, mode, /*uniform=*/true, context)) break;
      const Shape& out = i.opcode() == Opcode::kAllGather
                             ? i.shape()
                             : i.shape().tuple_shape(1);
      CheckShards(i, FirstLeaf(out), i.operand(0)->shape(),
                  SubgroupSize(i, mode, *context), context);
      break;
    }
    case Opcode::kReduceScatter:
      if (!CheckGroups(i, mode, /*uniform=*/true, context)) break;
      CheckShards(i, i.operand(0)->shape(), FirstLeaf(i.shape()),
                  SubgroupSize(i, mode, *context), context);
      break;
    case Opcode::kAllToAll: {
      if (!CheckGroups(i, mode, /*uniform=*/true, context)) break;
      const int64_t count = SubgroupSize(i, mode, *context);
      if (i.has(AttrId::kDimensions)) {
        const int64_t size = i.shape().dim(i.dimensions()[0]);
        if (size != Shape::kUnbounded && count > 0 && size % count != 0) {
          context->Fail(i, "split-count", "the split dimension has size ", size,
                        ", no multiple of the ", count, " participants");
        }
      } else if (!Groups(i).empty() && i.operand_count() != count) {
        context->Fail(i, "split-count",
                      "expected hlo->operand_count() == split_count, one "
                      "operand for each of ",
                      count, " participants, found ", i.operand_count());
      }
      break;
    }
    case Opcode::kRaggedAllToAll:
    case Opcode::kCollectiveBroadcast:
      CheckGroups(i, mode, /*uniform=*/i.opcode() == Opcode::kRaggedAllToAll,
                  context);
      break;
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
      CheckPermute(i, context);
      break;
    default:
      break;
  }
}

void CheckChannels(Context* context) {
  // In order of the channel, so that messages are deterministic.
  absl::btree_map<int64_t, std::vector<const Instruction*>> channels;
  const Instruction* all_reduce = nullptr;
  for (const Instruction* i : context->communicating()) {
    if (i->opcode() == Opcode::kAllReduce ||
        i->opcode() == Opcode::kAllReduceStart) {
      if (all_reduce == nullptr) all_reduce = i;
      if (all_reduce->bool_attr(AttrId::kConstrainLayout) !=
          i->bool_attr(AttrId::kConstrainLayout)) {
        context->Fail(*i, "constrain-layout",
                      "the module has a mix of layout constrained and "
                      "unconstrained AllReduce instructions: ",
                      all_reduce->name(), " and ", i->name());
      }
    }
    if (i->has(AttrId::kChannelId)) {
      channels[i->int_attr(AttrId::kChannelId)].push_back(i);
    }
  }
  for (const auto& [id, users] : channels) {
    if (IsSendRecv(users[0]->opcode())) {
      for (const Instruction* i : users) {
        if (IsSendRecv(i->opcode())) continue;
        context->Fail(*i, "channel", "channel ", id, " is used for ",
                      Name(users[0]->opcode()), " and for ", Name(i->opcode()));
        break;
      }
      CheckHostTransfers(users, context);
    }
  }
}

}  // namespace ridge::verify
