// Which computations a pass rewrites.
#ifndef RIDGE_HLO_PASSES_SCOPE_H_
#define RIDGE_HLO_PASSES_SCOPE_H_

#include <vector>

#include "hlo/passes/pass.h"

namespace ridge {

// Callees before callers; without bodies of fusions unless
// options.inside_fusions.
std::vector<Computation*> ComputationsInScope(Module* module,
                                              const PassOptions& options);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_SCOPE_H_
