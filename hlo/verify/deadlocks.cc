// Sends and receives that would wait for each other for ever. They run in the
// order of the schedule, so that each must be matched before another
// collective begins, and the pairs of devices must form no cycle.
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "hlo/verify/raw_fields.h"
#include "hlo/verify/rules.h"

namespace ridge::verify {
namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

constexpr absl::string_view kPairsKey = "_xla_send_recv_source_target_pairs";

// {{0,1},{1,2}} as pairs; false where the instruction has none.
bool SourceTargetPairs(const Instruction& i, Pairs* pairs) {
  const std::string text =
      RawFieldText(i.text(AttrId::kFrontendAttributes), kPairsKey);
  const auto outer = SplitBraced(text);
  if (!outer.ok()) return false;
  for (absl::string_view piece : *outer) {
    const auto inner = SplitBraced(piece);
    std::pair<int64_t, int64_t> pair;
    if (!inner.ok() || inner->size() != 2 ||
        !absl::SimpleAtoi((*inner)[0], &pair.first) ||
        !absl::SimpleAtoi((*inner)[1], &pair.second)) {
      return false;
    }
    pairs->push_back(pair);
  }
  return !pairs->empty();
}

bool HasCycle(const Pairs& pairs) {
  // Sources are unique, so that each device has at most one successor.
  absl::flat_hash_map<int64_t, int64_t> next;
  for (const auto& [source, target] : pairs) next[source] = target;
  absl::flat_hash_set<int64_t> finished;
  for (const auto& [source, target] : pairs) {
    absl::flat_hash_set<int64_t> path;
    int64_t at = source;
    while (!finished.contains(at)) {
      if (!path.insert(at).second) return true;
      auto it = next.find(at);
      if (it == next.end()) break;
      at = it->second;
    }
    finished.insert(path.begin(), path.end());
  }
  return false;
}

class DeadlockCheck {
 public:
  explicit DeadlockCheck(Context* context) : context_(context) {}

  // Visits what runs, in order; loops once.
  void Visit(const Computation& c, int depth) {
    // A schedule of calls deeper than this is not followed further.
    if (depth > kMaxDepth || failed_) return;
    for (const Instruction* i : c.instructions()) {
      if (failed_) return;
      if (i->opcode() == Opcode::kSend || i->opcode() == Opcode::kRecv) {
        VisitTransfer(*i);
      } else if (i->opcode() == Opcode::kWhile) {
        Visit(*i->computation(AttrId::kBody), depth + 1);
      } else if (i->opcode() == Opcode::kCall && i->to_apply() != nullptr) {
        Visit(*i->to_apply(), depth + 1);
      } else if (IsCollective(i->opcode()) && StartsCollective(i->opcode()) &&
                 open_ != nullptr) {
        Fail(*i,
             "introducing the following instruction will cause a deadlock: "
             "before ",
             i->name(), " begins, ", open_->name(),
             " must be matched by its counterpart");
      }
    }
  }

 private:
  static constexpr int kMaxDepth = 64;

  static bool StartsCollective(Opcode op) {
    return op != Opcode::kPartitionId && op != Opcode::kReplicaId &&
           op != Opcode::kAllGatherDone && op != Opcode::kAllReduceDone &&
           op != Opcode::kCollectivePermuteDone;
  }

  template <typename... Args>
  void Fail(const Instruction& i, const Args&... args) {
    context_->Fail(i, "collective-deadlock", args...);
    failed_ = true;
  }

  void VisitTransfer(const Instruction& i) {
    if (i.bool_attr(AttrId::kIsHostTransfer)) return;
    Pairs pairs;
    if (!SourceTargetPairs(i, &pairs)) return;
    absl::flat_hash_set<int64_t> sources;
    absl::flat_hash_set<int64_t> targets;
    for (const auto& [source, target] : pairs) {
      if (!sources.insert(source).second || !targets.insert(target).second) {
        Fail(i,
             "expected send and recv instructions to have unique source and "
             "target pairs");
        return;
      }
    }
    if (HasCycle(pairs)) {
      Fail(i,
           "expected send and recv instructions to have non-cyclical "
           "source-target pairs");
      return;
    }
    if (open_ == nullptr) {
      open_ = &i;
      open_pairs_ = std::move(pairs);
      return;
    }
    if (open_->opcode() == i.opcode()) {
      Fail(i, "introducing the following instruction will cause a deadlock: ",
           i.name(), " follows ", open_->name(),
           ", which is not yet matched by its counterpart");
      return;
    }
    if (open_pairs_ != pairs) {
      Fail(i,
           "expected send and recv instructions to have the same "
           "source-target pairs, but those of ",
           open_->name(), " and ", i.name(), " differ");
      return;
    }
    open_ = nullptr;
  }

  Context* context_;
  const Instruction* open_ = nullptr;
  Pairs open_pairs_;
  bool failed_ = false;
};

}  // namespace

void CheckCollectiveDeadlocks(Context* context) {
  // Asynchronous groups of sends and receives start as one and are not
  // visited.
  DeadlockCheck(context).Visit(*context->module().entry(), 0);
}

}  // namespace ridge::verify
