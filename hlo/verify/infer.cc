#include "hlo/verify/infer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"

namespace ridge::infer {

std::string Braced(absl::Span<const int64_t> values) {
  return absl::StrCat("{", absl::StrJoin(values, ","), "}");
}

absl::Status ExpectArray(const Shape& shape, absl::string_view what) {
  if (shape.IsArray()) return absl::OkStatus();
  return Invalid(what, " must be an array, found ", Text(shape));
}

absl::Status ExpectScalar(const Shape& shape, absl::string_view what) {
  if (shape.IsScalar()) return absl::OkStatus();
  return Invalid(what, " must be a scalar, found ", Text(shape));
}

absl::Status ExpectToken(const Shape& shape, absl::string_view what) {
  if (shape.IsToken()) return absl::OkStatus();
  return Invalid(what, " must be token[], found ", Text(shape));
}

absl::Status ExpectOperands(const Instruction& i, int64_t count) {
  if (i.operand_count() == count) return absl::OkStatus();
  return Invalid(Name(i.opcode()), " takes ", count, " operands, found ",
                 i.operand_count());
}

absl::Status ExpectAtLeast(const Instruction& i, int64_t count) {
  if (i.operand_count() >= count) return absl::OkStatus();
  return Invalid(Name(i.opcode()), " takes at least ", count,
                 " operands, found ", i.operand_count());
}

absl::Status ExpectDimension(int64_t dim, int64_t rank,
                             absl::string_view what) {
  if (dim >= 0 && dim < rank) return absl::OkStatus();
  return Invalid(what, " ", dim, " is outside [0, ", rank, ")");
}

absl::Status ExpectDimensions(absl::Span<const int64_t> dims, int64_t rank,
                              absl::string_view what) {
  for (size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] < 0 || dims[k] >= rank) {
      return Invalid(what, " ", Braced(dims), ": ", dims[k], " is outside [0, ",
                     rank, ")");
    }
  }
  // At most 64 dimensions are representable, so a bit set finds repeats.
  uint64_t seen = 0;
  for (int64_t d : dims) {
    if (d < 64 && ((seen >> d) & 1) != 0) {
      return Invalid(what, " ", Braced(dims), ": ", d, " appears twice");
    }
    seen |= uint64_t{1} << (d & 63);
  }
  return absl::OkStatus();
}

absl::StatusOr<const Computation*> Callee(const Instruction& i, AttrId id) {
  const Computation* callee = i.computation(id);
  if (callee == nullptr) {
    return Invalid(Name(i.opcode()), " needs ", Name(id),
                   "=<computation>, found none");
  }
  if (callee->root() == nullptr) {
    return Invalid("computation ", callee->name(), " has no root");
  }
  for (const Instruction* parameter : callee->parameters()) {
    if (parameter == nullptr) {
      return Invalid("computation ", callee->name(),
                     " lacks one of its parameters");
    }
  }
  return callee;
}

absl::Status ExpectParameters(const Computation& callee, int64_t count,
                              absl::string_view what) {
  const int64_t found = static_cast<int64_t>(callee.parameters().size());
  if (found == count) return absl::OkStatus();
  return Invalid(what, " ", callee.name(), " must have ", count,
                 " parameters, found ", found);
}

absl::StatusOr<int64_t> OneDimension(const Instruction& i) {
  const Ints dims = i.dimensions();
  if (dims.size() != 1) {
    return Invalid(
        Name(i.opcode()),
        " needs exactly one dimension, found dimensions=", Braced(dims));
  }
  return dims[0];
}

bool SameTypeIgnoringPrecision(ElementType a, ElementType b) {
  return a == b || (IsFloat(a) && IsFloat(b));
}

namespace {

template <typename SameType>
bool Matches(const Shape& a, const Shape& b, SameType same_type) {
  if (&a == &b) return true;  // shapes are interned, so this is common
  if (!same_type(a.type(), b.type()) || a.dims() != b.dims() ||
      a.tuple_shapes().size() != b.tuple_shapes().size()) {
    return false;
  }
  for (size_t k = 0; k < a.tuple_shapes().size(); ++k) {
    if (!Matches(a.tuple_shape(k), b.tuple_shape(k), same_type)) return false;
  }
  return true;
}

}  // namespace

bool Compatible(const Shape& a, const Shape& b) {
  return Matches(a, b, [](ElementType x, ElementType y) { return x == y; });
}

bool CompatibleIgnoringPrecision(const Shape& a, const Shape& b) {
  return Matches(a, b, SameTypeIgnoringPrecision);
}

ElementType HigherPrecision(ElementType a, ElementType b) {
  if (!IsFloat(a) || !IsFloat(b)) return a;
  if (Info(a).bits != Info(b).bits) {
    return Info(a).bits > Info(b).bits ? a : b;
  }
  return Info(a).mantissa_bits >= Info(b).mantissa_bits ? a : b;
}

bool SameBounds(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (int64_t d = 0; d < a.rank(); ++d) {
    if (a.dim(d) != b.dim(d) && a.dim(d) != Shape::kUnbounded &&
        b.dim(d) != Shape::kUnbounded) {
      return false;
    }
  }
  return true;
}

Shape MergeDynamic(Shape a, const Shape& b) {
  for (int64_t d = 0; d < a.rank(); ++d) {
    if (a.dim(d) == Shape::kUnbounded && b.dim(d) != Shape::kUnbounded) {
      a.set_dim(d, b.dim(d));  // the known size wins
      a.set_dynamic_dim(d, b.IsDynamicDim(d));
    } else if (b.dim(d) != Shape::kUnbounded && b.IsDynamicDim(d)) {
      a.set_dynamic_dim(d, true);
    }
  }
  return a;
}

Shape MakeArray(ElementType type, absl::Span<const int64_t> dims,
                absl::Span<const bool> dynamic) {
  Shape shape = Shape::Array(type, dims);
  for (size_t d = 0; d < dims.size() && d < 64; ++d) {
    if (dynamic[d]) shape.set_dynamic_dim(static_cast<int64_t>(d), true);
  }
  return shape;
}

Shape TupleOrOne(std::vector<Shape> shapes) {
  if (shapes.size() == 1) return shapes[0];
  return Shape::Tuple(std::move(shapes));
}

Shape OperandsAsShape(const Instruction& i, int64_t first, int64_t count) {
  if (count == 1) return i.operand(first)->shape();
  std::vector<Shape> shapes;
  shapes.reserve(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) {
    shapes.push_back(i.operand(first + k)->shape());
  }
  return Shape::Tuple(std::move(shapes));
}

}  // namespace ridge::infer
