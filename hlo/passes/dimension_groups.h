// How the dimensions of the two sides of a reshape correspond.
#ifndef RIDGE_HLO_PASSES_DIMENSION_GROUPS_H_
#define RIDGE_HLO_PASSES_DIMENSION_GROUPS_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/shape.h"

namespace ridge {

// A smallest run of `from` dimensions that holds the same elements, in the
// same order, as a run of `to` dimensions. [6,1,4] -> [2,3,4] has the groups
// {0} -> {0,1} and {2} -> {2}. Dimensions of size 1 belong to no group.
struct DimensionGroup {
  DimVector from;
  DimVector to;
};

// Nothing for shapes without elements, where every order is the same.
std::optional<std::vector<DimensionGroup>> GroupDimensions(
    absl::Span<const int64_t> from, absl::Span<const int64_t> to);

// `dims` without those of size 1.
DimVector WithoutUnits(absl::Span<const int64_t> dims);
bool HasUnits(absl::Span<const int64_t> dims);
// Both have the same dimensions, those of size 1 left out.
bool SameButForUnits(absl::Span<const int64_t> a, absl::Span<const int64_t> b);
bool Ascends(absl::Span<const int64_t> values);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_DIMENSION_GROUPS_H_
