// Shrinking a module that shows a failure to a few lines that still show it.
#ifndef RIDGE_HLO_TESTING_REDUCER_H_
#define RIDGE_HLO_TESTING_REDUCER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "hlo/ir/module.h"

namespace ridge {

// True while the module still fails in the way looked for.
using FailurePredicate = std::function<bool(const Module&)>;

struct ReducerOptions {
  // Calls of the predicate, at most.
  int64_t max_attempts = 3000;
};

// The smallest module found for which `fails` holds, starting from `module`
// (for which it must). Tried, over and over, largest cuts first:
//   fewer outputs; an earlier instruction as the output
//   an instruction replaced by a new parameter, by a zero or one splat, or by
//   an operand of its shape
//   calls opened, loops replaced by one step of their bodies
//   bodies and branches shrunk like the entry
//   dimensions of one size, everywhere, made 1 or 2
// Every candidate is verified before `fails` sees it. The header (aliasing,
// entry layout) is dropped, since signatures change.
std::unique_ptr<Module> ReduceModule(const Module& module,
                                     const FailurePredicate& fails,
                                     const ReducerOptions& options = {});

}  // namespace ridge

#endif  // RIDGE_HLO_TESTING_REDUCER_H_
