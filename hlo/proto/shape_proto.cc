#include "hlo/proto/shape_proto.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

constexpr int kMaxRank = 64;

absl::StatusOr<ElementType> TypeFromProto(int number) {
  const std::optional<ElementType> type = ElementTypeFromProto(number);
  if (type.has_value()) return *type;
  return absl::InvalidArgumentError(
      absl::StrCat("unknown element type number ", number));
}

proto::PrimitiveType TypeToProto(ElementType type) {
  return static_cast<proto::PrimitiveType>(Info(type).proto_number);
}

// ---- Layouts ---------------------------------------------------------------

// The letters of D(D,C,...): how one dimension is stored, with + where its
// elements are not unique and ~ where they are not ordered.
constexpr char kDimLevelLetters[] = {'D', 'C', 'S', 'H'};

absl::Status DimLevelsToProto(absl::string_view text, proto::LayoutProto* out) {
  bool plain = true;
  for (absl::string_view piece : absl::StrSplit(text, ',')) {
    piece = absl::StripAsciiWhitespace(piece);
    if (piece.empty()) return absl::InvalidArgumentError("dimension levels");
    int type = -1;
    for (int k = 0; k < 4; ++k) {
      if (piece[0] == kDimLevelLetters[k]) type = k;
    }
    if (type < 0) return absl::InvalidArgumentError("dimension levels");
    out->add_dim_level_types(static_cast<proto::DimLevelType>(type));
    const bool unique = piece.find('+') == absl::string_view::npos;
    const bool ordered = piece.find('~') == absl::string_view::npos;
    out->add_dim_unique(unique);
    out->add_dim_ordered(ordered);
    plain = plain && unique && ordered;
  }
  if (plain) {
    out->clear_dim_unique();
    out->clear_dim_ordered();
  }
  return absl::OkStatus();
}

std::string DimLevelsFromProto(const proto::LayoutProto& in) {
  std::string text;
  for (int k = 0; k < in.dim_level_types_size(); ++k) {
    if (k > 0) text += ',';
    const int type = in.dim_level_types(k);
    text += type >= 0 && type < 4 ? kDimLevelLetters[type] : 'D';
    if (k < in.dim_unique_size() && !in.dim_unique(k)) text += '+';
    if (k < in.dim_ordered_size() && !in.dim_ordered(k)) text += '~';
  }
  return text;
}

void LayoutToProto(const Layout& layout, proto::LayoutProto* out) {
  for (int64_t d : layout.minor_to_major) out->add_minor_to_major(d);
  out->set_tail_padding_alignment_in_elements(1);
  if (layout.extras == nullptr) return;
  const LayoutExtras& e = *layout.extras;
  if (!e.dim_level_types.empty()) {
    DimLevelsToProto(e.dim_level_types, out).IgnoreError();
  }
  for (const auto& tile : e.tiles) {
    proto::TileProto* t = out->add_tiles();
    for (int64_t d : tile) t->add_dimensions(d);
  }
  out->set_tail_padding_alignment_in_elements(e.tail_padding_alignment);
  if (e.index_type != ElementType::kOpaque) {
    out->set_index_primitive_type(TypeToProto(e.index_type));
  }
  if (e.pointer_type != ElementType::kOpaque) {
    out->set_pointer_primitive_type(TypeToProto(e.pointer_type));
  }
  out->set_element_size_in_bits(e.element_size_in_bits);
  out->set_memory_space(e.memory_space);
  for (const LayoutExtras::SplitConfig& split : e.split_configs) {
    proto::SplitConfigProto* s = out->add_split_configs();
    s->set_dimension(split.dimension);
    for (int64_t index : split.split_indices) s->add_split_indices(index);
  }
  if (e.physical_shape != nullptr) {
    ShapeToProto(*e.physical_shape, out->mutable_physical_shape());
  }
  out->set_dynamic_shape_metadata_prefix_bytes(
      e.dynamic_shape_metadata_prefix_bytes);
}

absl::StatusOr<Layout> LayoutFromProto(const proto::LayoutProto& in,
                                       int64_t rank) {
  Layout layout;
  uint64_t seen = 0;
  for (int64_t d : in.minor_to_major()) {
    if (d < 0 || d >= rank || ((seen >> d) & 1) != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a layout must order the dimensions 0 to ", rank - 1, ", found ", d));
    }
    seen |= uint64_t{1} << d;
    layout.minor_to_major.push_back(d);
  }
  if (in.minor_to_major_size() != rank) {
    return absl::InvalidArgumentError(absl::StrCat("a layout must order all ",
                                                   rank, " dimensions, found ",
                                                   in.minor_to_major_size()));
  }
  LayoutExtras e;
  e.dim_level_types = DimLevelsFromProto(in);
  for (const proto::TileProto& tile : in.tiles()) {
    e.tiles.emplace_back(tile.dimensions().begin(), tile.dimensions().end());
  }
  if (in.tail_padding_alignment_in_elements() > 0) {
    e.tail_padding_alignment = in.tail_padding_alignment_in_elements();
  }
  if (in.index_primitive_type() != 0) {
    RIDGE_ASSIGN_OR_RETURN(e.index_type,
                           TypeFromProto(in.index_primitive_type()));
  }
  if (in.pointer_primitive_type() != 0) {
    RIDGE_ASSIGN_OR_RETURN(e.pointer_type,
                           TypeFromProto(in.pointer_primitive_type()));
  }
  e.element_size_in_bits = in.element_size_in_bits();
  e.memory_space = in.memory_space();
  for (const proto::SplitConfigProto& split : in.split_configs()) {
    e.split_configs.push_back(
        {split.dimension(),
         {split.split_indices().begin(), split.split_indices().end()}});
  }
  if (in.has_physical_shape()) {
    RIDGE_ASSIGN_OR_RETURN(Shape physical, ShapeFromProto(in.physical_shape()));
    e.physical_shape = std::make_shared<const Shape>(std::move(physical));
  }
  e.dynamic_shape_metadata_prefix_bytes =
      in.dynamic_shape_metadata_prefix_bytes();
  if (!(e == LayoutExtras())) {
    layout.extras = std::make_shared<const LayoutExtras>(std::move(e));
  }
  return layout;
}

// ---- Literals --------------------------------------------------------------

// For each element in row-major order, its position in the layout's order.
// Empty where the two are the same.
std::vector<int64_t> PhysicalPositions(const Shape& shape) {
  if (shape.rank() < 2 || !shape.has_layout()) return {};
  const DimVector& order = shape.layout().minor_to_major;
  if (order == DescendingLayout(shape.rank())) return {};
  const int64_t count = shape.ElementCount();
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()), 1);
  int64_t stride = 1;
  for (int64_t d : order) {
    strides[d] = stride;
    stride *= shape.dim(d);
  }
  std::vector<int64_t> positions(static_cast<size_t>(count));
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()), 0);
  int64_t at = 0;
  for (int64_t k = 0; k < count; ++k) {
    positions[k] = at;
    for (int64_t d = shape.rank() - 1; d >= 0; --d) {
      at += strides[d];
      if (++index[d] < shape.dim(d)) break;
      at -= strides[d] * shape.dim(d);
      index[d] = 0;
    }
  }
  return positions;
}

// Bits of a sub-byte element that are stored; XLA clears the others.
uint8_t StoredMask(ElementType type) {
  const int bits = Info(type).bits;
  return bits >= 8 ? 0xff : static_cast<uint8_t>((1 << bits) - 1);
}

// Row-major elements in the order of the layout.
std::vector<uint8_t> ToPhysical(const Literal& literal) {
  const Shape& shape = literal.shape();
  const size_t size = static_cast<size_t>(StorageBytes(shape.type()));
  std::vector<uint8_t> data(literal.bytes(),
                            literal.bytes() + literal.byte_size());
  const std::vector<int64_t> positions = PhysicalPositions(shape);
  for (size_t k = 0; k < positions.size() && size * k < data.size(); ++k) {
    std::memcpy(&data[positions[k] * size], literal.bytes() + k * size, size);
  }
  const uint8_t mask = StoredMask(shape.type());
  if (mask != 0xff) {
    for (uint8_t& byte : data) byte &= mask;
  }
  return data;
}

std::vector<uint8_t> FromPhysical(const Shape& shape,
                                  std::vector<uint8_t> data) {
  const size_t size = static_cast<size_t>(StorageBytes(shape.type()));
  const std::vector<int64_t> positions = PhysicalPositions(shape);
  if (!positions.empty()) {
    std::vector<uint8_t> logical(data.size());
    for (size_t k = 0; k < positions.size(); ++k) {
      std::memcpy(&logical[k * size], &data[positions[k] * size], size);
    }
    data = std::move(logical);
  }
  const int bits = Info(shape.type()).bits;
  if (bits < 8) {
    const int shift = 8 - bits;
    for (uint8_t& byte : data) {
      byte = static_cast<uint8_t>(byte << shift);
      byte = IsSigned(shape.type())
                 ? static_cast<uint8_t>(static_cast<int8_t>(byte) >> shift)
                 : static_cast<uint8_t>(byte >> shift);
    }
  }
  return data;
}

template <typename T, typename Field>
void AddNumbers(const std::vector<uint8_t>& data, Field* field) {
  const size_t count = data.size() / sizeof(T);
  field->Reserve(static_cast<int>(count));
  for (size_t k = 0; k < count; ++k) {
    T value;
    std::memcpy(&value, &data[k * sizeof(T)], sizeof(T));
    field->AddAlreadyReserved(value);
  }
}

template <typename T, typename Field>
std::vector<uint8_t> NumberBytes(const Field& field) {
  std::vector<uint8_t> data(static_cast<size_t>(field.size()) * sizeof(T));
  for (int k = 0; k < field.size(); ++k) {
    const T value = static_cast<T>(field[k]);
    std::memcpy(&data[static_cast<size_t>(k) * sizeof(T)], &value, sizeof(T));
  }
  return data;
}

// RIDGE_BYTE_FIELDS(V): V(type, field) for types held as bytes,
// RIDGE_NUMBER_FIELDS(V): V(type, C++ type, field) for those held as numbers.
#define RIDGE_BYTE_FIELDS(V)        \
  V(kS1, s1s)                       \
  V(kS2, s2s)                       \
  V(kS4, s4s)                       \
  V(kS8, s8s)                       \
  V(kS16, s16s)                     \
  V(kU1, u1s)                       \
  V(kU2, u2s)                       \
  V(kU4, u4s)                       \
  V(kU8, u8s)                       \
  V(kU16, u16s)                     \
  V(kF4E2M1FN, f4e2m1fns)           \
  V(kF8E3M4, f8e3m4s)               \
  V(kF8E4M3, f8e4m3s)               \
  V(kF8E4M3FN, f8e4m3fns)           \
  V(kF8E4M3B11FNUZ, f8e4m3b11fnuzs) \
  V(kF8E4M3FNUZ, f8e4m3fnuzs)       \
  V(kF8E5M2, f8e5m2s)               \
  V(kF8E5M2FNUZ, f8e5m2fnuzs)       \
  V(kF8E8M0FNU, f8e8m0fnus)         \
  V(kF16, f16s)                     \
  V(kBF16, bf16s)
#define RIDGE_NUMBER_FIELDS(V) \
  V(kPred, uint8_t, preds)     \
  V(kS32, int32_t, s32s)       \
  V(kS64, int64_t, s64s)       \
  V(kU32, uint32_t, u32s)      \
  V(kU64, uint64_t, u64s)      \
  V(kF32, float, f32s)         \
  V(kF64, double, f64s)        \
  V(kC64, float, c64s)         \
  V(kC128, double, c128s)

void DataToProto(ElementType type, std::vector<uint8_t> data,
                 proto::LiteralProto* out) {
  switch (type) {
#define V(type, field)                                                         \
  case ElementType::type:                                                      \
    out->mutable_##field()->assign(reinterpret_cast<const char*>(data.data()), \
                                   data.size());                               \
    break;
    RIDGE_BYTE_FIELDS(V)
#undef V
#define V(type, number, field)                        \
  case ElementType::type:                             \
    AddNumbers<number>(data, out->mutable_##field()); \
    break;
    RIDGE_NUMBER_FIELDS(V)
#undef V
    default:
      break;
  }
}

std::vector<uint8_t> DataFromProto(ElementType type,
                                   const proto::LiteralProto& in) {
  switch (type) {
#define V(type, field)    \
  case ElementType::type: \
    return std::vector<uint8_t>(in.field().begin(), in.field().end());
    RIDGE_BYTE_FIELDS(V)
#undef V
#define V(type, number, field) \
  case ElementType::type:      \
    return NumberBytes<number>(in.field());
    RIDGE_NUMBER_FIELDS(V)
#undef V
    default:
      return {};
  }
}

}  // namespace

void ShapeToProto(const Shape& shape, proto::ShapeProto* out) {
  out->set_element_type(TypeToProto(shape.type()));
  for (int64_t d = 0; d < shape.rank(); ++d) {
    out->add_dimensions(shape.dim(d));
    out->add_is_dynamic_dimension(shape.IsDynamicDim(d));
  }
  for (const Shape& element : shape.tuple_shapes()) {
    ShapeToProto(element, out->add_tuple_shapes());
  }
  if (!shape.IsArray()) return;
  // XLA wants layouts everywhere, and its text parser gives them.
  if (!shape.has_layout()) {
    for (int64_t d = shape.rank() - 1; d >= 0; --d) {
      out->mutable_layout()->add_minor_to_major(d);
    }
    out->mutable_layout()->set_tail_padding_alignment_in_elements(1);
    out->mutable_layout()->set_ridge_implied(true);
    return;
  }
  LayoutToProto(shape.layout(), out->mutable_layout());
}

absl::StatusOr<Shape> ShapeFromProto(const proto::ShapeProto& in) {
  RIDGE_ASSIGN_OR_RETURN(const ElementType type,
                         TypeFromProto(in.element_type()));
  if (type == ElementType::kToken) return Shape::Token();
  if (type == ElementType::kOpaque) return Shape::Opaque();
  if (type == ElementType::kTuple || type == ElementType::kBuffer) {
    std::vector<Shape> elements;
    elements.reserve(static_cast<size_t>(in.tuple_shapes_size()));
    for (const proto::ShapeProto& element : in.tuple_shapes()) {
      RIDGE_ASSIGN_OR_RETURN(Shape shape, ShapeFromProto(element));
      elements.push_back(std::move(shape));
    }
    if (type == ElementType::kTuple) return Shape::Tuple(std::move(elements));
    if (elements.size() != 1 || !elements[0].IsArray()) {
      return absl::InvalidArgumentError(
          "a buffer holds exactly one array shape");
    }
    return Shape::Buffer(std::move(elements[0]));
  }
  if (in.dimensions_size() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("a shape has at most ", kMaxRank, " dimensions, found ",
                     in.dimensions_size()));
  }
  if (in.is_dynamic_dimension_size() != 0 &&
      in.is_dynamic_dimension_size() != in.dimensions_size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "is_dynamic_dimension must have ", in.dimensions_size(),
        " entries, one a dimension; found ", in.is_dynamic_dimension_size()));
  }
  std::vector<int64_t> dims(in.dimensions().begin(), in.dimensions().end());
  for (int64_t d : dims) {
    if (d < 0 && d != Shape::kUnbounded) {
      return absl::InvalidArgumentError(
          absl::StrCat("a dimension must not be negative, found ", d));
    }
  }
  Shape shape = Shape::Array(type, dims);
  for (int k = 0; k < in.is_dynamic_dimension_size(); ++k) {
    if (in.is_dynamic_dimension(k)) shape.set_dynamic_dim(k, true);
  }
  if (in.has_layout()) {
    RIDGE_ASSIGN_OR_RETURN(Layout layout,
                           LayoutFromProto(in.layout(), shape.rank()));
    const bool implied =
        in.layout().ridge_implied() && layout.extras == nullptr &&
        layout.minor_to_major == DescendingLayout(shape.rank());
    if (!implied) shape.set_layout(std::move(layout));
  }
  return shape;
}

namespace {

// XLA's literals are never packed, and it refuses those that say they are.
void ClearElementSizes(proto::ShapeProto* shape) {
  if (shape->has_layout()) {
    shape->mutable_layout()->clear_element_size_in_bits();
  }
  for (proto::ShapeProto& element : *shape->mutable_tuple_shapes()) {
    ClearElementSizes(&element);
  }
}

void WriteLiteral(const Literal& literal, int* leaf, proto::LiteralProto* out,
                  LiteralSpelling* spelling) {
  const Shape& shape = literal.shape();
  ShapeToProto(shape, out->mutable_shape());
  ClearElementSizes(out->mutable_shape());
  if (shape.IsTuple()) {
    for (const Literal& element : literal.elements()) {
      WriteLiteral(element, leaf, out->add_tuple_literals(), spelling);
    }
    return;
  }
  if (spelling != nullptr) {
    if (literal.elided()) spelling->elided.push_back(*leaf);
    if (literal.abbreviated()) spelling->abbreviated.push_back(*leaf);
  }
  ++*leaf;
  if (shape.IsArray() && literal.byte_size() > 0) {
    DataToProto(shape.type(), ToPhysical(literal), out);
  }
}

bool Contains(const std::vector<int>& leaves, int leaf) {
  return std::find(leaves.begin(), leaves.end(), leaf) != leaves.end();
}

absl::StatusOr<Literal> ReadArray(Shape shape, const proto::LiteralProto& in,
                                  bool elided) {
  for (int64_t d : shape.dims()) {
    if (d == Shape::kUnbounded) {
      return absl::InvalidArgumentError("a literal cannot be unbounded");
    }
  }
  std::vector<uint8_t> data = DataFromProto(shape.type(), in);
  const int64_t wanted =
      SaturatingMul(shape.ElementCount(), StorageBytes(shape.type()));
  if (elided && data.empty() && wanted > 0) {
    Literal literal;
    *literal.mutable_shape() = std::move(shape);
    return literal;
  }
  if (static_cast<int64_t>(data.size()) != wanted) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a literal of shape ", shape.ToString(), " needs ",
        shape.ElementCount(), " elements, found ",
        data.size() / static_cast<size_t>(StorageBytes(shape.type()))));
  }
  data = FromPhysical(shape, std::move(data));
  return Literal::FromBytes(std::move(shape), std::move(data));
}

absl::StatusOr<Literal> ReadLiteral(const proto::LiteralProto& in,
                                    const LiteralSpelling& spelling,
                                    int* leaf) {
  if (!in.has_shape()) {
    return absl::InvalidArgumentError("a literal needs a shape");
  }
  RIDGE_ASSIGN_OR_RETURN(Shape shape, ShapeFromProto(in.shape()));
  if (shape.IsTuple()) {
    if (static_cast<size_t>(in.tuple_literals_size()) !=
        shape.tuple_shapes().size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a tuple literal of shape ", shape.ToString(), " has ",
                       in.tuple_literals_size(), " elements"));
    }
    std::vector<Literal> elements;
    for (const proto::LiteralProto& element : in.tuple_literals()) {
      RIDGE_ASSIGN_OR_RETURN(Literal literal,
                             ReadLiteral(element, spelling, leaf));
      elements.push_back(std::move(literal));
    }
    Literal tuple = Literal::Tuple(std::move(elements));
    *tuple.mutable_shape() = std::move(shape);
    return tuple;
  }
  const int number = (*leaf)++;
  if (shape.IsToken()) {
    Literal token;
    *token.mutable_shape() = std::move(shape);
    return token;
  }
  if (!shape.IsArray()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a literal cannot have the shape ", shape.ToString()));
  }
  const bool elided = Contains(spelling.elided, number);
  RIDGE_ASSIGN_OR_RETURN(Literal literal,
                         ReadArray(std::move(shape), in, elided));
  literal.set_elided(elided);
  literal.set_abbreviated(Contains(spelling.abbreviated, number));
  return literal;
}

}  // namespace

void LiteralToProto(const Literal& literal, proto::LiteralProto* out,
                    LiteralSpelling* spelling) {
  int leaf = 0;
  WriteLiteral(literal, &leaf, out, spelling);
}

absl::StatusOr<Literal> LiteralFromProto(const proto::LiteralProto& in,
                                         const LiteralSpelling& spelling) {
  int leaf = 0;
  return ReadLiteral(in, spelling, &leaf);
}

}  // namespace ridge
