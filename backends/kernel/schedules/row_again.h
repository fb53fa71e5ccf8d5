// What a row's element costs, and what computing it anew in a later pass does.
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_ROW_AGAIN_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_ROW_AGAIN_H_

#include <cstdint>

#include "backends/kernel/kernel.h"

namespace ridge {

// Machine instructions of a node, roughly (H200). `is_loose`: it is computed
// by ValuePrecision::loose.
int64_t InstructionsOf(const Node& node, bool is_loose);

// Instructions for each element of the last space variable that passes after
// the first one that needs a value spend on computing it again, where nothing
// but the row's inputs is kept between passes.
int64_t InstructionsAgain(const Kernel& kernel);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_ROW_AGAIN_H_
