// Random programs through a whole back end: canonical form, greedy plan,
// kernels, and the result against the evaluator's on the program as written.
#ifndef RIDGE_TESTS_RANDOM_CHECK_PROGRAM_H_
#define RIDGE_TESTS_RANDOM_CHECK_PROGRAM_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/runtime/backend.h"

namespace ridge {

struct ProgramTally {
  // The program talks to other devices or to a host: nothing was run.
  bool left_out = false;
  int64_t kernels = 0;    // steps that run generated code or a library
  int64_t fallbacks = 0;  // of those, plain forms and the evaluator
};

// DataLoss where an output is beyond its bound: the comparison, and the
// program. Any other error is the back end's or the planner's.
absl::StatusOr<ProgramTally> CheckRandomProgram(Backend* backend,
                                                uint64_t seed);

}  // namespace ridge

#endif  // RIDGE_TESTS_RANDOM_CHECK_PROGRAM_H_
