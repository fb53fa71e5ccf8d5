#include "fusion/axis_links.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ridge {

const Shape& ArrayShapeOf(const Instruction& i) {
  const Shape& shape = i.shape();
  return shape.IsTuple() && !shape.tuple_shapes().empty() ? shape.tuple_shape(0)
                                                          : shape;
}

DimVector PhysicalDims(const Shape& shape) {
  DimVector order = shape.has_layout() ? shape.layout().minor_to_major
                                       : DescendingLayout(shape.rank());
  DimVector dims;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (*it >= 0 && *it < shape.rank() && shape.dim(*it) != 1) {
      dims.push_back(*it);
    }
  }
  return dims;
}

namespace {

void Link(int64_t from, int64_t to, const Shape& operand, const Shape& user,
          EdgeLinks* e) {
  if (from >= operand.rank() || to >= user.rank()) return;
  if (operand.dim(from) != user.dim(to) || operand.dim(from) == 1) return;
  DimLink link;
  link.operand.push_back(from);
  link.user.push_back(to);
  e->links.push_back(std::move(link));
}

bool Contains(Ints list, int64_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

DimVector WideDims(const Shape& shape) {
  DimVector dims;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) != 1) dims.push_back(d);
  }
  return dims;
}

// Smallest runs of both lists with equal products, in order.
void LinkRuns(const DimVector& from, const DimVector& to, const Shape& operand,
              const Shape& user, EdgeLinks* e) {
  size_t a = 0;
  size_t b = 0;
  while (a < from.size() && b < to.size()) {
    DimLink link;
    int64_t x = operand.dim(from[a]);
    int64_t y = user.dim(to[b]);
    link.operand.push_back(from[a++]);
    link.user.push_back(to[b++]);
    while (x != y) {
      if (x < y) {
        if (a == from.size()) return;
        x = SaturatingMul(x, operand.dim(from[a]));
        link.operand.push_back(from[a++]);
      } else {
        if (b == to.size()) return;
        y = SaturatingMul(y, user.dim(to[b]));
        link.user.push_back(to[b++]);
      }
      if (x == 0 || y == 0) return;
    }
    e->links.push_back(std::move(link));
  }
}

void LinkSameDims(const Shape& operand, const Shape& user, EdgeLinks* e) {
  if (operand.rank() != user.rank()) return;
  for (int64_t d = 0; d < user.rank(); ++d) Link(d, d, operand, user, e);
}

void LinkGather(const Instruction& gather, int64_t k, const Shape& operand,
                EdgeLinks* e) {
  const Shape& user = gather.shape();
  Ints offset = gather.ints(AttrId::kOffsetDims);
  Ints batching = gather.ints(AttrId::kStartIndicesBatchingDims);
  const int64_t vector_dim = gather.int_attr(AttrId::kIndexVectorDim);
  e->disturbs = true;
  e->carries = false;
  // Result dimensions that are no offset follow the dimensions of the indices
  // but the index vector's.
  std::vector<int64_t> batch;
  for (int64_t d = 0; d < user.rank(); ++d) {
    if (!Contains(offset, d)) batch.push_back(d);
  }
  auto result_of_index_dim = [&](int64_t dim) -> int64_t {
    const int64_t at = dim - (dim > vector_dim ? 1 : 0);
    return at >= 0 && at < static_cast<int64_t>(batch.size()) ? batch[at] : -1;
  };
  if (k == 1) {
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (d == vector_dim) continue;
      const int64_t to = result_of_index_dim(d);
      if (to >= 0) Link(d, to, operand, user, e);
    }
    return;
  }
  Ints collapsed = gather.ints(AttrId::kCollapsedSliceDims);
  Ints operand_batching = gather.ints(AttrId::kOperandBatchingDims);
  Ints sizes = gather.ints(AttrId::kSliceSizes);
  size_t next = 0;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    auto at = std::find(operand_batching.begin(), operand_batching.end(), d);
    if (at != operand_batching.end()) {
      const int64_t number = at - operand_batching.begin();
      if (number >= static_cast<int64_t>(batching.size())) continue;
      const int64_t to = result_of_index_dim(batching[number]);
      if (to >= 0) Link(d, to, operand, user, e);
      continue;
    }
    if (Contains(collapsed, d)) continue;
    if (next >= offset.size()) break;
    const int64_t to = offset[next++];
    const bool whole = d < static_cast<int64_t>(sizes.size()) &&
                       sizes[d] == operand.dim(d) && to < user.rank();
    if (whole) Link(d, to, operand, user, e);
  }
}

}  // namespace

EdgeLinks LinksOf(const Instruction& i, int64_t k) {
  EdgeLinks e;
  const Shape& operand = ArrayShapeOf(*i.operand(k));
  const Shape& user = ArrayShapeOf(i);
  if (!operand.IsArray() || !user.IsArray()) return e;
  switch (i.opcode()) {
    case Opcode::kReduce: {
      if (k >= i.operand_count() / 2) return e;
      Ints folded = i.dimensions();
      int64_t to = 0;
      for (int64_t d = 0; d < operand.rank(); ++d) {
        if (Contains(folded, d)) continue;
        if (to < user.rank()) Link(d, to, operand, user, &e);
        ++to;
      }
      return e;
    }
    case Opcode::kBroadcast: {
      Ints dims = i.dimensions();
      for (int64_t d = 0; d < operand.rank(); ++d) {
        if (d < static_cast<int64_t>(dims.size())) {
          Link(d, dims[d], operand, user, &e);
        }
      }
      return e;
    }
    case Opcode::kTranspose: {
      Ints dims = i.dimensions();
      for (int64_t d = 0; d < user.rank(); ++d) {
        Link(dims[d], d, operand, user, &e);
      }
      return e;
    }
    case Opcode::kReshape:
      LinkRuns(WideDims(operand), WideDims(user), operand, user, &e);
      e.disturbs = true;  // what has no link has another order
      return e;
    case Opcode::kBitcast:
      LinkRuns(PhysicalDims(operand), PhysicalDims(user), operand, user, &e);
      e.disturbs = true;
      return e;
    case Opcode::kSlice: {
      e.disturbs = true;
      e.carries = false;
      const SliceRanges* ranges = i.boxed<SliceRanges>(AttrId::kSlice);
      for (int64_t d = 0; ranges != nullptr && d < user.rank(); ++d) {
        if ((*ranges)[d].stride == 1) Link(d, d, operand, user, &e);
      }
      return e;
    }
    case Opcode::kDynamicSlice:
      e.carries = false;
      if (k > 0) return e;
      e.disturbs = true;
      LinkSameDims(operand, user, &e);
      return e;
    case Opcode::kPad: {
      e.carries = false;
      if (k > 0) return e;
      e.disturbs = true;
      const PaddingConfig* padding = i.boxed<PaddingConfig>(AttrId::kPadding);
      for (int64_t d = 0; padding != nullptr && d < user.rank(); ++d) {
        if ((*padding)[d] == PaddingDimension()) {
          Link(d, d, operand, user, &e);
        }
      }
      return e;
    }
    case Opcode::kConcatenate:
    case Opcode::kReverse: {
      e.disturbs = true;
      e.carries = false;
      Ints dims = i.dimensions();
      for (int64_t d = 0; d < user.rank(); ++d) {
        if (!Contains(dims, d)) Link(d, d, operand, user, &e);
      }
      return e;
    }
    case Opcode::kReduceWindow: {
      e.carries = false;
      if (k >= i.operand_count() / 2) return e;  // an initial value
      e.disturbs = true;
      const Window* window = i.window();
      for (int64_t d = 0; window != nullptr && d < user.rank(); ++d) {
        if (d < static_cast<int64_t>(window->size()) &&
            (*window)[d] == WindowDimension()) {
          Link(d, d, operand, user, &e);
        }
      }
      return e;
    }
    case Opcode::kGather:
      LinkGather(i, k, operand, &e);
      return e;
    default:
      // Elementwise, map, get-tuple-element of a reduce, bitcast-convert.
      LinkSameDims(operand, user, &e);
      return e;
  }
}

}  // namespace ridge
