#include "hlo/ir/shape.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ridge {

bool LayoutExtras::operator==(const LayoutExtras& o) const {
  bool same_physical = physical_shape == o.physical_shape ||
                       (physical_shape && o.physical_shape &&
                        *physical_shape == *o.physical_shape);
  return dim_level_types == o.dim_level_types && tiles == o.tiles &&
         tail_padding_alignment == o.tail_padding_alignment &&
         index_type == o.index_type && pointer_type == o.pointer_type &&
         element_size_in_bits == o.element_size_in_bits &&
         memory_space == o.memory_space && split_configs == o.split_configs &&
         same_physical &&
         dynamic_shape_metadata_prefix_bytes ==
             o.dynamic_shape_metadata_prefix_bytes;
}

bool Layout::operator==(const Layout& o) const {
  if (minor_to_major != o.minor_to_major) return false;
  if (extras == o.extras) return true;
  static const LayoutExtras kNone;
  return (extras ? *extras : kNone) == (o.extras ? *o.extras : kNone);
}

std::string Layout::ToString() const {
  std::string out = absl::StrCat("{", absl::StrJoin(minor_to_major, ","));
  if (extras != nullptr) {
    const LayoutExtras& x = *extras;
    std::string tail;
    if (!x.dim_level_types.empty()) {
      absl::StrAppend(&tail, "D(", x.dim_level_types, ")");
    }
    if (!x.tiles.empty()) {
      absl::StrAppend(&tail, "T");
      for (const std::vector<int64_t>& tile : x.tiles) {
        absl::StrAppend(&tail, "(",
                        absl::StrJoin(tile, ",",
                                      [](std::string* s, int64_t d) {
                                        if (d == LayoutExtras::kCombine) {
                                          absl::StrAppend(s, "*");
                                        } else {
                                          absl::StrAppend(s, d);
                                        }
                                      }),
                        ")");
      }
    }
    if (x.tail_padding_alignment != 1) {
      absl::StrAppend(&tail, "L(", x.tail_padding_alignment, ")");
    }
    if (x.index_type != ElementType::kOpaque) {
      absl::StrAppend(&tail, "#(", Name(x.index_type), ")");
    }
    if (x.pointer_type != ElementType::kOpaque) {
      absl::StrAppend(&tail, "*(", Name(x.pointer_type), ")");
    }
    if (x.element_size_in_bits != 0) {
      absl::StrAppend(&tail, "E(", x.element_size_in_bits, ")");
    }
    if (x.memory_space != 0) absl::StrAppend(&tail, "S(", x.memory_space, ")");
    for (const LayoutExtras::SplitConfig& split : x.split_configs) {
      absl::StrAppend(&tail, "SC(", split.dimension, ":",
                      absl::StrJoin(split.split_indices, ","), ")");
    }
    if (x.physical_shape != nullptr) {
      absl::StrAppend(&tail, "P(", x.physical_shape->ToString(true), ")");
    }
    if (x.dynamic_shape_metadata_prefix_bytes != 0) {
      absl::StrAppend(&tail, "M(", x.dynamic_shape_metadata_prefix_bytes, ")");
    }
    if (!tail.empty()) absl::StrAppend(&out, ":", tail);
  }
  out.push_back('}');
  return out;
}

Shape Shape::Array(ElementType type, absl::Span<const int64_t> dims) {
  Shape s;
  s.type_ = type;
  s.dims_.assign(dims.begin(), dims.end());
  return s;
}

Shape Shape::Tuple(std::vector<Shape> elements) {
  Shape s;
  s.type_ = ElementType::kTuple;
  s.tuple_ = std::move(elements);
  return s;
}

Shape Shape::Token() {
  Shape s;
  s.type_ = ElementType::kToken;
  return s;
}

Shape Shape::Opaque() {
  Shape s;
  s.type_ = ElementType::kOpaque;
  return s;
}

Shape Shape::Buffer(Shape content) {
  Shape s;
  s.type_ = ElementType::kBuffer;
  s.tuple_.push_back(std::move(content));
  return s;
}

void Shape::set_dynamic_dim(int64_t i, bool dynamic) {
  if (i >= 64 || dims_[i] == kUnbounded) return;
  uint64_t bit = uint64_t{1} << i;
  dynamic_mask_ = dynamic ? (dynamic_mask_ | bit) : (dynamic_mask_ & ~bit);
}

bool Shape::IsStatic() const {
  for (const Shape& t : tuple_) {
    if (!t.IsStatic()) return false;
  }
  if (dynamic_mask_ != 0) return false;
  for (int64_t d : dims_) {
    if (d == kUnbounded) return false;
  }
  return true;
}

void Shape::set_layout(Layout layout) {
  layout_ = std::move(layout);
  has_layout_ = true;
}

void Shape::clear_layout() {
  layout_ = Layout();
  has_layout_ = false;
  for (Shape& t : tuple_) t.clear_layout();
}

bool Shape::HasDefaultLayout() const {
  for (const Shape& t : tuple_) {
    if (!t.HasDefaultLayout()) return false;
  }
  if (!has_layout_) return true;
  if (layout_.extras != nullptr && !layout_.extras->tiles.empty()) {
    return false;
  }
  return layout_.minor_to_major == DescendingLayout(rank());
}

void Shape::SetDefaultLayout() {
  for (Shape& t : tuple_) t.SetDefaultLayout();
  if (IsArray()) set_layout(Layout{DescendingLayout(rank()), nullptr});
}

int64_t SaturatingMul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) {
    return std::numeric_limits<int64_t>::max();
  }
  return r;
}

int64_t Shape::ElementCount() const {
  if (!IsArray()) return 0;
  int64_t n = 1;
  bool zero = false;
  for (int64_t d : dims_) {
    if (d == 0) zero = true;
    if (d > 0) n = SaturatingMul(n, d);
  }
  return zero ? 0 : n;
}

int64_t Shape::ByteSize() const {
  if (IsArray()) {
    int64_t n = ElementCount();
    int bits = Info(type_).bits;
    if (bits >= 8) return SaturatingMul(n, bits / 8);
    return n / (8 / bits) + (n % (8 / bits) != 0 ? 1 : 0);
  }
  int64_t total = 0;
  for (const Shape& t : tuple_) {
    int64_t b = t.ByteSize();
    if (__builtin_add_overflow(total, b, &total)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return total;
}

bool Shape::Compatible(const Shape& o) const {
  if (type_ != o.type_ || dims_ != o.dims_ ||
      dynamic_mask_ != o.dynamic_mask_ || tuple_.size() != o.tuple_.size()) {
    return false;
  }
  for (size_t i = 0; i < tuple_.size(); ++i) {
    if (!tuple_[i].Compatible(o.tuple_[i])) return false;
  }
  return true;
}

bool Shape::operator==(const Shape& o) const {
  return type_ == o.type_ && dims_ == o.dims_ &&
         dynamic_mask_ == o.dynamic_mask_ && has_layout_ == o.has_layout_ &&
         (!has_layout_ || layout_ == o.layout_) && tuple_ == o.tuple_;
}

std::string Shape::ToString(bool with_layout) const {
  if (IsTuple()) {
    return absl::StrCat("(",
                        absl::StrJoin(tuple_, ", ",
                                      [&](std::string* s, const Shape& t) {
                                        absl::StrAppend(
                                            s, t.ToString(with_layout));
                                      }),
                        ")");
  }
  if (IsBuffer()) {
    return absl::StrCat("b(", tuple_[0].ToString(with_layout), ")");
  }
  std::string out = absl::StrCat(Name(type_), "[");
  for (int64_t i = 0; i < rank(); ++i) {
    if (i != 0) out.push_back(',');
    if (dims_[i] == kUnbounded) {
      out.push_back('?');
    } else {
      absl::StrAppend(&out, IsDynamicDim(i) ? "<=" : "", dims_[i]);
    }
  }
  out.push_back(']');
  bool prints = has_layout_ && (rank() > 0 || layout_.extras != nullptr);
  if (with_layout && prints) absl::StrAppend(&out, layout_.ToString());
  return out;
}

DimVector DescendingLayout(int64_t rank) {
  DimVector order(rank);
  for (int64_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  return order;
}

DimVector ElementStrides(const Shape& shape) {
  DimVector order = shape.has_layout() ? shape.layout().minor_to_major
                                       : DescendingLayout(shape.rank());
  DimVector strides(shape.rank(), 0);
  int64_t stride = 1;
  for (int64_t d : order) {
    strides[d] = stride;
    stride = SaturatingMul(stride, shape.dim(d));
  }
  return strides;
}

}  // namespace ridge
