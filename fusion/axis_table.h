// Axes: the loops that the dimensions of a group's values run along. A table of
// them that learns: two axes may turn out to be one, one to be two.
#ifndef RIDGE_FUSION_AXIS_TABLE_H_
#define RIDGE_FUSION_AXIS_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"

namespace ridge {

using AxisId = int32_t;
using AxisMask = uint64_t;                          // bit per axis
using DimAxes = absl::InlinedVector<AxisId, 2>;     // major to minor
using ValueAxes = absl::InlinedVector<DimAxes, 5>;  // by dimension

// Axes with a union-find over those that turned out to be one, and splits.
class AxisTable {
 public:
  static constexpr int kMaxAxes = 64;

  // -1 where the table is full.
  AxisId New(int64_t extent);
  // The unsplit, unmerged axes that `axes` stands for, major to minor.
  DimAxes Leaves(const DimAxes& axes) const;
  AxisMask Mask(const DimAxes& axes) const;
  AxisMask Mask(const ValueAxes& value) const;
  int64_t extent(AxisId axis) const { return nodes_[axis].extent; }
  // Product of extents, saturating.
  int64_t Points(AxisMask mask) const;
  // The axes of one value: none of them may become another of them.
  void MarkTogether(const ValueAxes& value);
  // Splits axes so that both lists have equal extents, then makes them one.
  // False (lists stay apart) where the extents have no common refinement or
  // two axes of one value would coincide.
  bool Unify(const DimAxes& a, const DimAxes& b);
  bool Same(const DimAxes& a, const DimAxes& b) const;
  bool full() const { return full_; }

 private:
  struct Node {
    int64_t extent = 1;
    AxisId parent = -1;             // merged into
    AxisId major = -1, minor = -1;  // split into
    AxisMask apart = 0;             // axes it must not become
  };
  AxisId Root(AxisId a) const;
  bool Split(AxisId leaf, int64_t minor_extent);
  std::vector<Node> nodes_;
  bool full_ = false;
};

}  // namespace ridge

#endif  // RIDGE_FUSION_AXIS_TABLE_H_
