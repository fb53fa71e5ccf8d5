// The "greedy" strategy; see fusion/strategies.h.
#ifndef RIDGE_FUSION_GREEDY_H_
#define RIDGE_FUSION_GREEDY_H_

#include <vector>

#include "fusion/assemble.h"
#include "fusion/strategies.h"

namespace ridge {

// What each group of the computation answers for. Every decision goes into
// options.log. Time: a bounded number of looks at each edge of the graph, each
// of them linear in the two groups; groups of one elementwise shape merge
// without a look.
std::vector<PlanPiece> GreedyPieces(const Computation& computation,
                                    const StrategyOptions& options);

}  // namespace ridge

#endif  // RIDGE_FUSION_GREEDY_H_
