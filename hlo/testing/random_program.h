// Seeded random HLO modules for differential tests.
//
// The same seed and options give the same module everywhere. Every module is
// verified. Values stay tame (magnitudes are tracked as intervals while the
// program is made, and clamped where an operation would leave them), so that
// comparing two evaluations means something.
//
// Shapes are small and odd: ranks 0 to max_rank, sizes with many ones, primes
// and, now and then, zeros. Patterns that real programs have are more likely
// than chance would make them: broadcast reductions, chains of reshapes and
// transposes, constants 0 and 1, converts there and back.
#ifndef RIDGE_HLO_TESTING_RANDOM_PROGRAM_H_
#define RIDGE_HLO_TESTING_RANDOM_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"

namespace ridge {

struct RandomProgramOptions {
  enum class Subset : uint8_t {
    kAll,
    // Elementwise, data movement and reductions: what one memory-bound kernel
    // may hold.
    kFusible,
  };
  Subset subset = Subset::kAll;
  // Draws of operations; an operation may take several instructions.
  int operations = 16;
  int max_parameters = 4;
  int max_rank = 4;
  int64_t max_elements = 256;  // of one array
  bool zero_sizes = true;
  // Types to use; empty means all that arrays may have.
  std::vector<ElementType> types;
};

absl::StatusOr<std::unique_ptr<Module>> RandomProgram(
    uint64_t seed, const RandomProgramOptions& options = {});

// Options that vary with the seed: deep and narrow, wide, one type, all.
RandomProgramOptions VariedOptions(uint64_t seed);

// The opcodes that the generator can make, for coverage reports.
std::vector<Opcode> RandomProgramOpcodes(
    RandomProgramOptions::Subset subset = RandomProgramOptions::Subset::kAll);

}  // namespace ridge

#endif  // RIDGE_HLO_TESTING_RANDOM_PROGRAM_H_
