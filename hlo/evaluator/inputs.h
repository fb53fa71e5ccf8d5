// Seeded random arguments for a module's entry computation.
//
// The same module and seed give the same arguments on every machine. Every
// leaf of every parameter has a stream of its own, so that a change to one
// parameter does not change the others.
//   floats, complex  standard normal, rounded to the type
//   pred             even odds
//   integers         uniform in [0, 10); where the module uses the parameter
//                    as start indices (gather, scatter, dynamic-slice,
//                    dynamic-update-slice), uniform over the indices that are
//                    in range. That is found by following the parameter
//                    through opcodes that only move elements, convert, and
//                    through calls, fusions and loops.
#ifndef RIDGE_HLO_EVALUATOR_INPUTS_H_
#define RIDGE_HLO_EVALUATOR_INPUTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace ridge {

struct InputOptions {
  uint64_t seed = 0;
  // All parameters together; more is kResourceExhausted.
  int64_t max_bytes = int64_t{16} << 30;
};

// One literal a parameter, in order. Errors: kInvalidArgument (no entry),
// kUnimplemented (a parameter of dynamic or opaque shape), kResourceExhausted.
absl::StatusOr<std::vector<Literal>> MakeInputs(
    const Module& module, const InputOptions& options = {});

// A literal of a (static) shape with such values; integers in [0, bound).
Literal RandomLiteral(const Shape& shape, uint64_t seed, int64_t bound = 10);

}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_INPUTS_H_
