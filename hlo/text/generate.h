// HLO text of any size, for benchmarks and scaling tests.
#ifndef RIDGE_HLO_TEXT_GENERATE_H_
#define RIDGE_HLO_TEXT_GENERATE_H_

#include <cstdint>
#include <string>

namespace ridge {

// A module of about `instructions` instructions (at least 8) that looks like a
// dump of a training step: computations of about `per_computation`
// instructions each (elementwise chains, broadcasts, reduces, transposes, dots
// with metadata), long-form operands, all called from the entry. Names and
// shapes repeat as they do in real dumps. The same arguments give the same
// text.
std::string GenerateModuleText(int64_t instructions,
                               int64_t per_computation = 1000);

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_GENERATE_H_
