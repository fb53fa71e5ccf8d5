// Iteration spaces: over what an instruction, or a group, computes.
#ifndef RIDGE_FUSION_SPACE_H_
#define RIDGE_FUSION_SPACE_H_

#include <cstdint>
#include <vector>

#include "fusion/plan.h"

namespace ridge {

enum class SpaceKind : uint8_t {
  kMap,     // no reduction: points are independent
  kRow,     // folds contiguous stretches: rows x columns -> rows
  kColumn,  // any other fold
  kWall,    // not fusible: dot, sort, convolution, ...
};

struct Space {
  SpaceKind kind = SpaceKind::kMap;
  int64_t points = 1;  // elements of the whole space
  // kRow: points = rows * columns. kColumn: rows is the result's size.
  int64_t rows = 0;
  int64_t columns = 0;
  // Runs of the reduced value's dimensions in memory order: positive sizes
  // are kept, negative ones folded. Equal signatures fold alike.
  std::vector<int64_t> signature;
  // Rough cost of a point, in add-like operations.
  double ops = 0;
};

// The space of one instruction by itself.
Space SpaceOf(const Instruction& instruction);

// Cost of one element of an elementwise instruction, in add-like operations.
double OpsPerElement(const Instruction& instruction);

// True for instructions that ride along with whoever reads them, being cheaper
// to compute again than to store: scalar constants, iota, broadcast, widening
// conversions, and what aliases its operand.
bool RidesAlong(const Instruction& instruction);

// True where no generated elementwise or reduction kernel covers it.
bool IsWall(const Instruction& instruction);

}  // namespace ridge

#endif  // RIDGE_FUSION_SPACE_H_
