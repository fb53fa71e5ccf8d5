#include "backends/runtime/lifetimes.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/runtime/arena.h"

namespace ridge {
namespace {

constexpr int64_t kArenaAlignment = 256;

// When each temporary is first written and last touched, in steps counted
// through nested bodies.
struct Lifetime {
  int64_t first = -1;
  int64_t last = -1;
};

class Placer {
 public:
  explicit Placer(Program* program) : program_(program) {}

  void Place() {
    lifetimes_.assign(program_->buffers.size(), Lifetime());
    int64_t clock = 0;
    Count(program_->entry, &clock);
    for (BufferId b : program_->entry.results) Touch(b, clock);
    std::vector<ArenaRequest> requests;
    std::vector<BufferId> ids;
    for (BufferId b = 0; b < static_cast<BufferId>(program_->buffers.size());
         ++b) {
      if (program_->buffers[b].kind != BufferKind::kTemporary) continue;
      if (lifetimes_[b].first < 0) continue;  // touched by no step
      requests.push_back({program_->buffers[b].bytes, lifetimes_[b].first,
                          lifetimes_[b].last});
      ids.push_back(b);
    }
    ArenaAssignment arena = AssignArenaOffsets(requests, kArenaAlignment);
    for (size_t k = 0; k < ids.size(); ++k) {
      program_->buffers[ids[k]].offset = arena.offsets[k];
    }
    program_->arena_bytes = arena.total_bytes;
  }

 private:
  void Touch(BufferId b, int64_t when) {
    Lifetime& life = lifetimes_[b];
    if (life.first < 0) life.first = when;
    life.last = std::max(life.last, when);
  }

  void Count(const ProgramBody& body, int64_t* clock) {
    for (const Step& step : body.steps) {
      int64_t begin = (*clock)++;
      for (const auto& nested : step.bodies) Count(*nested, clock);
      int64_t end = (*clock)++;
      for (const auto* list :
           {&step.inputs, &step.group_inputs, &step.outputs}) {
        for (BufferId b : *list) {
          Touch(b, begin);
          Touch(b, end);
        }
      }
      // What a loop's bodies read from outside must outlive every round, and
      // what they write must not be shared between rounds' readers.
      if (step.kind == StepKind::kWhile) {
        for (const auto& nested : step.bodies) Extend(*nested, begin, end);
      }
    }
    for (BufferId b : body.results) Touch(b, *clock);
  }

  // Buffers that live before `begin` and are touched inside live until `end`.
  void Extend(const ProgramBody& body, int64_t begin, int64_t end) {
    for (const Step& step : body.steps) {
      for (const std::vector<BufferId>* list :
           {&step.inputs, &step.group_inputs, &step.outputs}) {
        for (BufferId b : *list) {
          if (lifetimes_[b].first <= begin) Touch(b, end);
        }
      }
      for (const auto& nested : step.bodies) Extend(*nested, begin, end);
    }
  }

  Program* program_;
  std::vector<Lifetime> lifetimes_;
};

}  // namespace

void PlaceTemporaries(Program* program) { Placer(program).Place(); }

}  // namespace ridge
