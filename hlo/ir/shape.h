// Shapes and layouts: what an instruction produces. Plain values.
#ifndef RIDGE_HLO_IR_SHAPE_H_
#define RIDGE_HLO_IR_SHAPE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "hlo/ir/element_type.h"

namespace ridge {

using DimVector = absl::InlinedVector<int64_t, 6>;
// A path into a nested tuple; empty for the whole value.
using ShapeIndex = absl::InlinedVector<int64_t, 2>;

class Shape;

// Everything a layout may say besides its dimension order. Ridge keeps and
// prints it; buffers of Ridge's own back ends use only the order.
struct LayoutExtras {
  // A tile dimension of kCombine is the `*` of the text format.
  static constexpr int64_t kCombine = std::numeric_limits<int64_t>::min();
  struct SplitConfig {
    int64_t dimension = 0;
    std::vector<int64_t> split_indices;
    bool operator==(const SplitConfig& o) const {
      return dimension == o.dimension && split_indices == o.split_indices;
    }
  };
  std::string dim_level_types;  // as written inside D(...)
  std::vector<std::vector<int64_t>> tiles;
  int64_t tail_padding_alignment = 1;
  ElementType index_type = ElementType::kOpaque;    // kOpaque: not given
  ElementType pointer_type = ElementType::kOpaque;  // kOpaque: not given
  int64_t element_size_in_bits = 0;
  int64_t memory_space = 0;
  std::vector<SplitConfig> split_configs;
  std::shared_ptr<const Shape> physical_shape;
  int64_t dynamic_shape_metadata_prefix_bytes = 0;

  bool operator==(const LayoutExtras& o) const;
};

struct Layout {
  DimVector minor_to_major;
  std::shared_ptr<const LayoutExtras> extras;  // null: nothing extra

  bool operator==(const Layout& o) const;
  bool operator!=(const Layout& o) const { return !(*this == o); }
  // The text inside and including the braces: {1,0:T(8,128)S(1)}.
  std::string ToString() const;
};

class Shape {
 public:
  // A dimension of unknown, unbounded size (`?`) has this value.
  static constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::min();

  Shape() = default;  // token-like empty tuple; assign before use
  static Shape Array(ElementType type, absl::Span<const int64_t> dims);
  static Shape Scalar(ElementType type) { return Array(type, {}); }
  static Shape Tuple(std::vector<Shape> elements);
  static Shape Token();
  static Shape Opaque();
  static Shape Buffer(Shape content);

  ElementType type() const { return type_; }
  bool IsArray() const { return IsArrayType(type_); }
  bool IsTuple() const { return type_ == ElementType::kTuple; }
  bool IsToken() const { return type_ == ElementType::kToken; }
  bool IsOpaque() const { return type_ == ElementType::kOpaque; }
  bool IsBuffer() const { return type_ == ElementType::kBuffer; }
  bool IsScalar() const { return IsArray() && dims_.empty(); }

  int64_t rank() const { return static_cast<int64_t>(dims_.size()); }
  absl::Span<const int64_t> dims() const { return dims_; }
  int64_t dim(int64_t i) const { return dims_[i]; }
  // An unbounded dimension is dynamic by its size; it has no mask bit.
  void set_dim(int64_t i, int64_t size) {
    if (size == kUnbounded) set_dynamic_dim(i, false);
    dims_[i] = size;
  }
  void set_type(ElementType type) { type_ = type; }
  // Bounded (`<=8`) or unbounded (`?`).
  bool IsDynamicDim(int64_t i) const {
    return dims_[i] == kUnbounded ||
           (i < 64 && ((dynamic_mask_ >> i) & 1) != 0);
  }
  // Bounded dynamic; ignored for unbounded dimensions and beyond rank 64.
  void set_dynamic_dim(int64_t i, bool dynamic);
  bool IsStatic() const;  // recursively: no dynamic dimension

  bool has_layout() const { return has_layout_; }
  const Layout& layout() const { return layout_; }
  void set_layout(Layout layout);
  void clear_layout();
  // True when there is no layout, or its order is descending (row-major) and
  // it has no tiles; recursively for tuples.
  bool HasDefaultLayout() const;
  void SetDefaultLayout();  // recursively

  absl::Span<const Shape> tuple_shapes() const { return tuple_; }
  const Shape& tuple_shape(int64_t i) const { return tuple_[i]; }
  Shape* mutable_tuple_shape(int64_t i) { return &tuple_[i]; }

  // Number of elements of an array (1 for a scalar; bounded dimensions count
  // with their bound); saturates at INT64_MAX. 0 for non-arrays.
  int64_t ElementCount() const;
  // Bytes of data, tuples summed: arrays at their logical width, sub-byte
  // types packed; tokens and opaque 0. Saturates at INT64_MAX.
  int64_t ByteSize() const;

  // Same type and dimensions (and dynamic-ness), layouts ignored.
  bool Compatible(const Shape& o) const;
  // Compatible but for the element type.
  bool SameDims(const Shape& o) const { return dims_ == o.dims_; }
  bool operator==(const Shape& o) const;
  bool operator!=(const Shape& o) const { return !(*this == o); }

  // HLO text; layouts only when asked for.
  std::string ToString(bool with_layout = false) const;

  template <typename H>
  friend H AbslHashValue(H h, const Shape& s) {
    h = H::combine(std::move(h), s.type_, s.dims_, s.dynamic_mask_,
                   s.has_layout_, s.layout_.minor_to_major);
    for (const Shape& t : s.tuple_) h = H::combine(std::move(h), t);
    return h;
  }

 private:
  ElementType type_ = ElementType::kTuple;
  bool has_layout_ = false;
  uint64_t dynamic_mask_ = 0;
  DimVector dims_;
  Layout layout_;
  std::vector<Shape> tuple_;
};

// {rank-1, ..., 1, 0}.
DimVector DescendingLayout(int64_t rank);
// Element strides of each logical dimension under the shape's layout
// (row-major when it has none).
DimVector ElementStrides(const Shape& shape);
// a*b, saturating at INT64_MAX; both must be >= 0.
int64_t SaturatingMul(int64_t a, int64_t b);

// Calls fn(const Shape& leaf, const ShapeIndex&) for each non-tuple leaf of
// `shape` in order.
template <typename Fn>
void ForEachLeaf(const Shape& shape, Fn&& fn, ShapeIndex index = {}) {
  if (!shape.IsTuple()) {
    fn(shape, index);
    return;
  }
  for (int64_t i = 0; i < static_cast<int64_t>(shape.tuple_shapes().size());
       ++i) {
    ShapeIndex child = index;
    child.push_back(i);
    ForEachLeaf(shape.tuple_shape(i), fn, child);
  }
}

}  // namespace ridge

#endif  // RIDGE_HLO_IR_SHAPE_H_
