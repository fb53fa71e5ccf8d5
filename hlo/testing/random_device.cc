// What means little on one device, but has to survive passes: collectives over
// one replica, asynchronous pairs, tokens, sizes that are the static ones.
#include <utility>

#include "hlo/testing/random_builder.h"

namespace ridge::testing {
namespace {

bool Sums(const Value& v) {
  return v.type() == ElementType::kF32 || v.type() == ElementType::kS32;
}
bool HasDimensions(const Value& v) { return v.shape().rank() > 0; }

void SetOnlyReplica(Instruction* i) {
  i->set_boxed(AttrId::kReplicaGroups, ReplicaGroups{"{}", {}});
}

bool MakeAllReduce(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(Sums);
  if (!x.has_value()) return false;
  const bool start = b.random().Chance(0.4);
  Instruction* i = b.Add(start ? Opcode::kAllReduceStart : Opcode::kAllReduce,
                         x->shape(), {x->i});
  SetOnlyReplica(i);
  i->SetAttr(AttrId::kToApply, b.Reducer(Opcode::kAdd, x->type()));
  if (start) i = b.Add(Opcode::kAllReduceDone, x->shape(), {i});
  b.Push(i, *x);
  return true;
}

bool MakeAllGather(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(HasDimensions);
  if (!x.has_value()) return false;
  const bool start = b.random().Chance(0.4);
  Instruction* i = b.Add(
      start ? Opcode::kAllGatherStart : Opcode::kAllGather,
      start ? Shape::Tuple({x->shape(), x->shape()}) : x->shape(), {x->i});
  SetOnlyReplica(i);
  i->set_ints(AttrId::kDimensions, {b.random().Below(x->shape().rank())});
  if (start) i = b.Add(Opcode::kAllGatherDone, x->shape(), {i});
  b.Push(i, *x);
  return true;
}

bool MakeReduceScatter(RandomBuilder& b) {
  std::optional<Value> x =
      b.Pick([](const Value& v) { return Sums(v) && HasDimensions(v); });
  if (!x.has_value()) return false;
  Instruction* i = b.Add(Opcode::kReduceScatter, x->shape(), {x->i});
  SetOnlyReplica(i);
  i->set_ints(AttrId::kDimensions, {b.random().Below(x->shape().rank())});
  i->SetAttr(AttrId::kToApply, b.Reducer(Opcode::kAdd, x->type()));
  b.Push(i, *x);
  return true;
}

bool MakeAllToAll(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(HasDimensions);
  if (!x.has_value()) return false;
  Instruction* i = b.Add(Opcode::kAllToAll, x->shape(), {x->i});
  i->set_boxed(AttrId::kReplicaGroups, ReplicaGroups{"{{0}}", {{0}}});
  i->set_ints(AttrId::kDimensions, {b.random().Below(x->shape().rank())});
  b.Push(i, *x);
  return true;
}

bool MakeCollectiveBroadcast(RandomBuilder& b) {
  std::optional<Value> x = b.Pick();
  if (!x.has_value()) return false;
  Instruction* i = b.Add(Opcode::kCollectiveBroadcast, x->shape(), {x->i});
  i->set_boxed(AttrId::kReplicaGroups, ReplicaGroups{"{{0}}", {{0}}});
  b.Push(i, *x);
  return true;
}

bool MakeCollectivePermute(RandomBuilder& b) {
  std::optional<Value> x = b.Pick();
  if (!x.has_value()) return false;
  const bool start = b.random().Chance(0.4);
  const Shape context = Shape::Scalar(ElementType::kU32);
  Instruction* i = b.Add(
      start ? Opcode::kCollectivePermuteStart : Opcode::kCollectivePermute,
      start ? Shape::Tuple({x->shape(), x->shape(), context, context})
            : x->shape(),
      {x->i});
  // To itself, or from nobody, which gives zeros.
  const bool receives = start || b.random().Chance(0.8);
  i->set_boxed(AttrId::kSourceTargetPairs,
               receives ? IntLists{{0, 0}} : IntLists{});
  if (start) i = b.Add(Opcode::kCollectivePermuteDone, x->shape(), {i});
  if (receives) {
    b.Push(i, *x);
  } else {
    b.Push(i, 0, 0);
  }
  return true;
}

bool MakeDeviceId(RandomBuilder& b) {
  if (!b.Uses(ElementType::kU32)) return false;
  b.Push(
      b.Add(b.random().Chance(0.5) ? Opcode::kReplicaId : Opcode::kPartitionId,
            Shape::Scalar(ElementType::kU32), {}),
      0, 0);
  return true;
}

bool MakeAsyncCopy(RandomBuilder& b) {
  std::optional<Value> x = b.Pick();
  if (!x.has_value()) return false;
  Instruction* i = b.Add(
      Opcode::kCopyStart,
      Shape::Tuple({x->shape(), x->shape(), Shape::Scalar(ElementType::kU32)}),
      {x->i});
  b.Push(b.Add(Opcode::kCopyDone, x->shape(), {i}), *x);
  return true;
}

bool MakeAsyncCall(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(Sums);
  if (!x.has_value()) return false;
  Computation* c = b.NewComputation("async");
  c->set_root(
      c->Add(Opcode::kNegate, x->shape(), {c->AddParameter(0, x->shape())}));
  const Shape state = Shape::Tuple({Shape::Tuple({x->shape()}), x->shape(),
                                    Shape::Scalar(ElementType::kU32)});
  Instruction* i = b.Add(Opcode::kAsyncStart, state, {x->i});
  i->SetAttr(AttrId::kCalls, c);
  if (b.random().Chance(0.5)) i = b.Add(Opcode::kAsyncUpdate, state, {i});
  b.Push(b.Add(Opcode::kAsyncDone, x->shape(), {i}), -x->high, -x->low);
  return true;
}

// A value that waits for a token.
bool MakeToken(RandomBuilder& b) {
  std::optional<Value> x = b.Pick();
  if (!x.has_value()) return false;
  const Shape token = Shape::Token();
  Instruction* before = b.Add(Opcode::kAfterAll, token, {});
  if (b.random().Chance(0.5)) {
    before = b.Add(Opcode::kAfterAll, token, {before});
  }
  b.Push(b.Add(Opcode::kAddDependency, x->shape(), {x->i, before}), *x);
  return true;
}

bool MakeDomain(RandomBuilder& b) {
  std::optional<Value> x = b.Pick();
  if (!x.has_value()) return false;
  Instruction* i = b.Add(Opcode::kDomain, x->shape(), {x->i});
  i->set_text(AttrId::kDomain,
              "{kind=\"sharding\", entry={maximal device=0}, "
              "exit={maximal device=0}}");
  b.Push(i, *x);
  return true;
}

bool MakeSetDimensionSize(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(HasDimensions);
  if (!x.has_value()) return false;
  const int64_t d = b.random().Below(x->shape().rank());
  Instruction* size =
      b.Scalar(ElementType::kS32, static_cast<double>(x->shape().dim(d))).i;
  Instruction* i = b.Add(Opcode::kSetDimensionSize, x->shape(), {x->i, size});
  i->set_ints(AttrId::kDimensions, {d});
  b.Push(i, *x);
  return true;
}

bool MakeDynamicReshape(RandomBuilder& b) {
  std::optional<Value> x = b.Pick();
  if (!x.has_value()) return false;
  const Shape line = Shape::Array(x->type(), {x->shape().ElementCount()});
  Instruction* size =
      b.Scalar(ElementType::kS32, static_cast<double>(line.dim(0))).i;
  b.Push(b.Add(Opcode::kDynamicReshape, line, {x->i, size}), *x);
  return true;
}

constexpr RandomOperation kOperations[] = {
    {"all-reduce", 1, false, MakeAllReduce},
    {"all-gather", 1, false, MakeAllGather},
    {"reduce-scatter", 1, false, MakeReduceScatter},
    {"all-to-all", 1, false, MakeAllToAll},
    {"collective-broadcast", 1, false, MakeCollectiveBroadcast},
    {"collective-permute", 1, false, MakeCollectivePermute},
    {"device-id", 1, false, MakeDeviceId},
    {"async-copy", 1, false, MakeAsyncCopy},
    {"async-call", 1, false, MakeAsyncCall},
    {"token", 1, false, MakeToken},
    {"domain", 1, false, MakeDomain},
    {"set-dimension-size", 1, false, MakeSetDimensionSize},
    {"dynamic-reshape", 1, false, MakeDynamicReshape},
};

}  // namespace

absl::Span<const RandomOperation> DeviceOperations() { return kOperations; }

}  // namespace ridge::testing
