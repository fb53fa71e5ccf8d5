// Axes: which dimensions of the values of a group run together.
//
// Every value of a group gets, for each of its dimensions, a list of axes
// (major to minor; none for a dimension of size one). Values that one loop
// nest can compute side by side share axes: an elementwise instruction has its
// operands' axes, a broadcast adds some, a reduce drops some, a transpose
// permutes them, a reshape regroups them (axes are split where that takes a
// finer view: [6] against [2,3]). Where an instruction reads its operand at
// other positions (slice, pad, concatenate, reverse, gather), or where a value
// is read in two arrangements (x + transpose(x)), the axes concerned are
// "disturbed" on that edge: the operand is computed again at other indices.
//
// Example, softmax over f32[R,C]: x (r c), max (r), broadcast (r c),
// subtract (r c), sum (r), divide (r c).
#ifndef RIDGE_FUSION_AXES_H_
#define RIDGE_FUSION_AXES_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "fusion/axis_links.h"
#include "fusion/axis_table.h"
#include "hlo/ir/module.h"

namespace ridge {

struct GroupAxes {
  AxisTable table;
  absl::flat_hash_map<const Instruction*, ValueAxes> values;
  // Values that the iteration space of the seed reaches (see
  // EdgeLinks::carries).
  absl::flat_hash_set<const Instruction*> homed;
  // Edges that read their operand at other indices than its axes say.
  struct Disturbance {
    const Instruction* user;
    const Instruction* operand;
    AxisMask axes;  // of the operand
  };
  std::vector<Disturbance> disturbances;
  bool overflow = false;  // more than AxisTable::kMaxAxes

  AxisMask MaskOf(const Instruction* i) const;
};

// Axes of `members` (in list order) and of what they read, starting at `seed`
// (a member or an input). Linear in the members' operands.
GroupAxes FindAxes(absl::Span<const Instruction* const> members,
                   const Instruction* seed);

}  // namespace ridge

#endif  // RIDGE_FUSION_AXES_H_
