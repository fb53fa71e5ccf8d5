#include "fusion/axis_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo/ir/shape.h"

namespace ridge {

AxisId AxisTable::New(int64_t extent) {
  if (static_cast<int>(nodes_.size()) >= kMaxAxes) {
    full_ = true;
    return -1;
  }
  Node node;
  node.extent = extent;
  nodes_.push_back(node);
  return static_cast<AxisId>(nodes_.size() - 1);
}

AxisId AxisTable::Root(AxisId a) const {
  while (nodes_[a].parent >= 0) a = nodes_[a].parent;
  return a;
}

DimAxes AxisTable::Leaves(const DimAxes& axes) const {
  DimAxes leaves;
  // Reversed, so that the major one is on top.
  DimAxes stack(axes.rbegin(), axes.rend());
  while (!stack.empty()) {
    AxisId a = Root(stack.back());
    stack.pop_back();
    if (nodes_[a].major >= 0) {
      stack.push_back(nodes_[a].minor);
      stack.push_back(nodes_[a].major);
    } else {
      leaves.push_back(a);
    }
  }
  return leaves;
}

AxisMask AxisTable::Mask(const DimAxes& axes) const {
  AxisMask mask = 0;
  for (AxisId a : Leaves(axes)) mask |= AxisMask{1} << a;
  return mask;
}

AxisMask AxisTable::Mask(const ValueAxes& value) const {
  AxisMask mask = 0;
  for (const DimAxes& axes : value) mask |= Mask(axes);
  return mask;
}

int64_t AxisTable::Points(AxisMask mask) const {
  int64_t points = 1;
  for (size_t a = 0; a < nodes_.size(); ++a) {
    if ((mask >> a) & 1) points = SaturatingMul(points, nodes_[a].extent);
  }
  return points;
}

void AxisTable::MarkTogether(const ValueAxes& value) {
  const AxisMask mask = Mask(value);
  for (size_t a = 0; a < nodes_.size(); ++a) {
    if ((mask >> a) & 1) nodes_[a].apart |= mask & ~(AxisMask{1} << a);
  }
}

bool AxisTable::Split(AxisId leaf, int64_t minor_extent) {
  if (static_cast<int>(nodes_.size()) + 2 > kMaxAxes) {
    full_ = true;
    return false;
  }
  const AxisId major = New(nodes_[leaf].extent / minor_extent);
  const AxisId minor = New(minor_extent);
  const AxisMask both = AxisMask{1} << major | AxisMask{1} << minor;
  const AxisMask apart = nodes_[leaf].apart;
  nodes_[leaf].major = major;
  nodes_[leaf].minor = minor;
  nodes_[major].apart = apart | AxisMask{1} << minor;
  nodes_[minor].apart = apart | AxisMask{1} << major;
  for (size_t a = 0; a < nodes_.size(); ++a) {
    if ((apart >> a) & 1) nodes_[a].apart |= both;
  }
  return true;
}

bool AxisTable::Same(const DimAxes& a, const DimAxes& b) const {
  return Leaves(a) == Leaves(b);
}

bool AxisTable::Unify(const DimAxes& a, const DimAxes& b) {
  std::vector<std::pair<AxisId, AxisId>> pairs;
  DimAxes x = Leaves(a);
  DimAxes y = Leaves(b);
  while (!x.empty() && !y.empty()) {
    AxisId p = x.back();
    AxisId q = y.back();
    const int64_t pe = nodes_[p].extent;
    const int64_t qe = nodes_[q].extent;
    if (pe == qe) {
      pairs.push_back({p, q});
      x.pop_back();
      y.pop_back();
      continue;
    }
    DimAxes& larger = pe > qe ? x : y;
    const int64_t small = std::min(pe, qe);
    if (small <= 0 || std::max(pe, qe) % small != 0) return false;
    const AxisId leaf = larger.back();
    if (!Split(leaf, small)) return false;
    // Splitting an axis that both lists hold changes the other one, too.
    x = Leaves(x);
    y = Leaves(y);
  }
  if (!x.empty() || !y.empty()) return false;
  for (const auto& [p, q] : pairs) {
    if (p != q &&
        (((nodes_[p].apart >> q) & 1) || ((nodes_[q].apart >> p) & 1))) {
      return false;
    }
  }
  for (const auto& [p0, q0] : pairs) {
    const AxisId p = Root(p0);
    const AxisId q = Root(q0);
    if (p == q) continue;
    nodes_[q].parent = p;
    const AxisMask apart = nodes_[p].apart | nodes_[q].apart;
    nodes_[p].apart = apart;
    for (size_t k = 0; k < nodes_.size(); ++k) {
      if ((apart >> k) & 1) nodes_[k].apart |= AxisMask{1} << p;
    }
  }
  return true;
}

}  // namespace ridge
