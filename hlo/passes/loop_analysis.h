// What can be known about a while loop without running it.
#ifndef RIDGE_HLO_PASSES_LOOP_ANALYSIS_H_
#define RIDGE_HLO_PASSES_LOOP_ANALYSIS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ir/module.h"

namespace ridge {

// A loop that counts: element `index` of its state starts at `start`, grows by
// `step` (which may be negative) and the loop goes on while it compares with
// `limit`.
struct CountedLoop {
  int64_t index = 0;
  int64_t start = 0;
  int64_t step = 0;
  int64_t limit = 0;
  int64_t trip_count = 0;
};

// Nothing where the loop does not have that form, or where the counter would
// overflow its type.
std::optional<CountedLoop> AnalyzeCountedLoop(const Instruction& loop);

// Times the body runs, where known.
std::optional<int64_t> TripCount(const Instruction& loop);

// The plain form of a loop's state: initial value and result of the body are
// `tuple` instructions, and condition and body take the state apart with
// get-tuple-element only.
struct LoopState {
  Instruction* init;       // tuple, in the caller
  Instruction* parameter;  // of the body
  Instruction* root;       // tuple, of the body
  Instruction* condition_parameter;
  int64_t size() const { return init->operand_count(); }
};
std::optional<LoopState> PlainLoopState(const Instruction& loop);

// Elements that every iteration passes on as they are.
std::vector<bool> InvariantElements(const LoopState& state);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_LOOP_ANALYSIS_H_
