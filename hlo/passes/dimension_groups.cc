#include "hlo/passes/dimension_groups.h"

#include <algorithm>

namespace ridge {

std::optional<std::vector<DimensionGroup>> GroupDimensions(
    absl::Span<const int64_t> from, absl::Span<const int64_t> to) {
  for (int64_t d : from) {
    if (d == 0) return std::nullopt;
  }
  std::vector<DimensionGroup> groups;
  size_t f = 0;
  size_t t = 0;
  auto skip_units = [&] {
    while (f < from.size() && from[f] == 1) ++f;
    while (t < to.size() && to[t] == 1) ++t;
  };
  skip_units();
  while (f < from.size() && t < to.size()) {
    DimensionGroup group;
    int64_t from_size = from[f];
    int64_t to_size = to[t];
    group.from.push_back(f++);
    group.to.push_back(t++);
    while (from_size != to_size) {
      skip_units();
      if (from_size < to_size) {
        if (f == from.size()) return std::nullopt;
        from_size *= from[f];
        group.from.push_back(f++);
      } else {
        if (t == to.size()) return std::nullopt;
        to_size *= to[t];
        group.to.push_back(t++);
      }
    }
    groups.push_back(std::move(group));
    skip_units();
  }
  if (f != from.size() || t != to.size()) return std::nullopt;
  return groups;
}

DimVector WithoutUnits(absl::Span<const int64_t> dims) {
  DimVector result;
  for (int64_t d : dims) {
    if (d != 1) result.push_back(d);
  }
  return result;
}

bool HasUnits(absl::Span<const int64_t> dims) {
  return std::find(dims.begin(), dims.end(), 1) != dims.end();
}

bool SameButForUnits(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  return WithoutUnits(a) == WithoutUnits(b);
}

bool Ascends(absl::Span<const int64_t> values) {
  for (size_t k = 1; k < values.size(); ++k) {
    if (values[k] <= values[k - 1]) return false;
  }
  return true;
}

}  // namespace ridge
