#include "backends/runtime/physical.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hlo/base/thread_pool.h"

namespace ridge {
namespace {

// One dimension of a copy: how far apart neighbours lie on each side, in
// elements.
struct Axis {
  int64_t extent;
  int64_t from;
  int64_t to;
};
using Axes = absl::InlinedVector<Axis, 6>;

// Axes in row-major order with unit ones dropped and those merged that lie
// together on both sides.
Axes CopyAxes(const Shape& shape, bool to_physical) {
  DimVector physical = ElementStrides(shape);
  DimVector logical(shape.rank(), 1);
  for (int64_t d = shape.rank() - 2; d >= 0; --d) {
    logical[d] = logical[d + 1] * shape.dim(d + 1);
  }
  Axes axes;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) == 1) continue;
    Axis a{shape.dim(d), logical[d], physical[d]};
    if (!to_physical) std::swap(a.from, a.to);
    if (!axes.empty()) {
      Axis& last = axes.back();
      if (last.from == a.from * a.extent && last.to == a.to * a.extent) {
        last = {last.extent * a.extent, a.from, a.to};
        continue;
      }
    }
    axes.push_back(a);
  }
  return axes;
}

// Copies the plane of axes `x` (unit stride at the source) and `y` (unit
// stride at the destination) in tiles that keep both sides' cache lines.
template <typename T>
void CopyPlane(const T* from, T* to, const Axis& x, const Axis& y) {
  constexpr int64_t kTile = 32;
  for (int64_t y0 = 0; y0 < y.extent; y0 += kTile) {
    int64_t y1 = std::min(y.extent, y0 + kTile);
    for (int64_t x0 = 0; x0 < x.extent; x0 += kTile) {
      int64_t x1 = std::min(x.extent, x0 + kTile);
      for (int64_t i = x0; i < x1; ++i) {
        const T* source = from + i * x.from;
        T* target = to + i * x.to;
        for (int64_t j = y0; j < y1; ++j) target[j * y.to] = source[j * y.from];
      }
    }
  }
}

template <typename T>
void CopyAll(const uint8_t* from_bytes, uint8_t* to_bytes, const Axes& axes) {
  const T* from = reinterpret_cast<const T*>(from_bytes);
  T* to = reinterpret_cast<T*>(to_bytes);
  auto unit = [&](int64_t Axis::*side) {
    size_t best = 0;
    for (size_t k = 1; k < axes.size(); ++k) {
      if (axes[k].*side < axes[best].*side) best = k;
    }
    return best;
  };
  size_t x = unit(&Axis::from);
  size_t y = unit(&Axis::to);
  // Where one axis is minor on both sides, any other can be the second.
  if (x == y) y = x == 0 ? 1 : x - 1;
  Axes outer;
  int64_t planes = 1;
  for (size_t k = 0; k < axes.size(); ++k) {
    if (k == x || k == y) continue;
    outer.push_back(axes[k]);
    planes *= axes[k].extent;
  }
  int64_t plane = axes[x].extent * axes[y].extent;
  ParallelFor(0, planes, std::max<int64_t>(1, 65536 / plane),
              [&](int64_t begin, int64_t end) {
                for (int64_t p = begin; p < end; ++p) {
                  const T* f = from;
                  T* t = to;
                  int64_t rest = p;
                  for (size_t k = outer.size(); k-- > 0;) {
                    int64_t i = rest % outer[k].extent;
                    rest /= outer[k].extent;
                    f += i * outer[k].from;
                    t += i * outer[k].to;
                  }
                  CopyPlane<T>(f, t, axes[x], axes[y]);
                }
              });
}

struct Wide {
  uint64_t parts[2];
};

void Permute(const Shape& shape, const uint8_t* from, uint8_t* to,
             bool to_physical) {
  int64_t bytes = PhysicalBytes(shape);
  if (bytes == 0) return;
  Axes axes = CopyAxes(shape, to_physical);
  if (axes.size() < 2) {
    std::memcpy(to, from, bytes);
    return;
  }
  switch (StorageBytes(shape.type())) {
    case 1:
      return CopyAll<uint8_t>(from, to, axes);
    case 2:
      return CopyAll<uint16_t>(from, to, axes);
    case 4:
      return CopyAll<uint32_t>(from, to, axes);
    case 8:
      return CopyAll<uint64_t>(from, to, axes);
    default:
      return CopyAll<Wide>(from, to, axes);
  }
}

}  // namespace

int64_t PhysicalBytes(const Shape& shape) {
  if (!shape.IsArray()) return 0;
  return SaturatingMul(shape.ElementCount(), StorageBytes(shape.type()));
}

bool IsRowMajor(const Shape& shape) {
  if (!shape.IsArray() || !shape.has_layout()) return true;
  return CopyAxes(shape, true).size() < 2;
}

void ToPhysical(const Shape& shape, const uint8_t* row_major,
                uint8_t* physical) {
  Permute(shape, row_major, physical, true);
}

void FromPhysical(const Shape& shape, const uint8_t* physical,
                  uint8_t* row_major) {
  Permute(shape, physical, row_major, false);
}

Literal LiteralFromPhysical(const Shape& shape, const uint8_t* physical) {
  std::vector<uint8_t> data(PhysicalBytes(shape));
  if (!data.empty()) FromPhysical(shape, physical, data.data());
  if (!shape.IsArray()) return Literal::Zeros(shape);
  return Literal::FromBytes(shape, std::move(data));
}

std::vector<Literal> FlattenLiterals(absl::Span<const Literal> values) {
  std::vector<Literal> leaves;
  // Depth-first with an explicit stack: nesting is the input's choice.
  std::vector<const Literal*> stack;
  for (size_t v = values.size(); v-- > 0;) stack.push_back(&values[v]);
  while (!stack.empty()) {
    const Literal* top = stack.back();
    stack.pop_back();
    if (!top->shape().IsTuple()) {
      leaves.push_back(*top);
      continue;
    }
    absl::Span<const Literal> elements = top->elements();
    for (size_t e = elements.size(); e-- > 0;) stack.push_back(&elements[e]);
  }
  return leaves;
}

Literal UnflattenLiteral(const Shape& shape, absl::Span<const Literal> leaves,
                         size_t* next) {
  if (!shape.IsTuple()) return leaves[(*next)++];
  std::vector<Literal> elements;
  for (const Shape& element : shape.tuple_shapes()) {
    elements.push_back(UnflattenLiteral(element, leaves, next));
  }
  return Literal::Tuple(std::move(elements));
}

}  // namespace ridge
