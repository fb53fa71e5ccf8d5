#include "hlo/evaluator/io.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status_macros.h"

namespace ridge {

absl::string_view SafeTensorDtype(ElementType type) {
  switch (type) {
    case ElementType::kPred:
      return "BOOL";
    case ElementType::kS1:
    case ElementType::kS2:
    case ElementType::kS4:
    case ElementType::kS8:
      return "I8";
    case ElementType::kS16:
      return "I16";
    case ElementType::kS32:
      return "I32";
    case ElementType::kS64:
      return "I64";
    case ElementType::kU16:
      return "U16";
    case ElementType::kU32:
      return "U32";
    case ElementType::kU64:
      return "U64";
    case ElementType::kF8E4M3FN:
      return "F8_E4M3";
    case ElementType::kF8E5M2:
      return "F8_E5M2";
    case ElementType::kF8E8M0FNU:
      return "F8_E8M0";
    case ElementType::kF16:
      return "F16";
    case ElementType::kBF16:
      return "BF16";
    case ElementType::kF32:
      return "F32";
    case ElementType::kF64:
      return "F64";
    case ElementType::kC64:
      return "C64";
    case ElementType::kC128:
      return "C128";
    default:
      return "U8";
  }
}

absl::StatusOr<Literal> LiteralFromTensor(absl::string_view name,
                                          const SafeTensor& tensor,
                                          const Shape& shape) {
  absl::string_view dtype = SafeTensorDtype(shape.type());
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  if (tensor.dtype != dtype || tensor.shape != dims) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor ", name, ": expected ", shape.ToString(), " (", dtype, " [",
        absl::StrJoin(dims, ","), "]), found ", tensor.dtype, " [",
        absl::StrJoin(tensor.shape, ","), "]"));
  }
  const size_t bytes =
      static_cast<size_t>(shape.ElementCount()) * StorageBytes(shape.type());
  if (tensor.data.size() != bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor ", name, ": expected ", bytes, " bytes, found ",
                     tensor.data.size()));
  }
  return Literal::FromBytes(
      shape, std::vector<uint8_t>(tensor.data.begin(), tensor.data.end()));
}

SafeTensor TensorFromLiteral(const Literal& literal) {
  SafeTensor tensor;
  const Shape& shape = literal.shape();
  tensor.dtype = std::string(SafeTensorDtype(shape.type()));
  tensor.shape.assign(shape.dims().begin(), shape.dims().end());
  tensor.data.assign(reinterpret_cast<const char*>(literal.bytes()),
                     literal.byte_size());
  return tensor;
}

namespace {

absl::StatusOr<Literal> ReadTree(const SafeTensors& tensors,
                                 absl::string_view prefix, const Shape& shape,
                                 int64_t* next) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& t : shape.tuple_shapes()) {
      RIDGE_ASSIGN_OR_RETURN(Literal e, ReadTree(tensors, prefix, t, next));
      elements.push_back(std::move(e));
    }
    Literal out = Literal::Tuple(std::move(elements));
    *out.mutable_shape() = shape;
    return out;
  }
  if (!shape.IsArray()) return Literal::Zeros(shape);  // a token: no tensor
  if (!shape.IsStatic()) {
    return absl::UnimplementedError(absl::StrCat(
        "values of dynamic shape ", shape.ToString(), " are not stored"));
  }
  std::string name = absl::StrCat(prefix, ".", (*next)++);
  auto it = tensors.tensors.find(name);
  if (it == tensors.tensors.end()) {
    return absl::NotFoundError(absl::StrCat("tensor ", name, ": expected ",
                                            shape.ToString(),
                                            ", found no such tensor"));
  }
  return LiteralFromTensor(name, it->second, shape);
}

void AddTree(absl::string_view prefix, const Literal& value, int64_t* next,
             SafeTensors* tensors) {
  if (value.shape().IsTuple()) {
    for (const Literal& e : value.elements()) AddTree(prefix, e, next, tensors);
  } else if (value.shape().IsArray()) {
    tensors->tensors[absl::StrCat(prefix, ".", (*next)++)] =
        TensorFromLiteral(value);
  }
}

}  // namespace

absl::StatusOr<std::vector<Literal>> LiteralsFromTensors(
    const SafeTensors& tensors, absl::string_view prefix,
    absl::Span<const Shape> shapes) {
  std::vector<Literal> values;
  int64_t next = 0;
  for (const Shape& shape : shapes) {
    RIDGE_ASSIGN_OR_RETURN(Literal v, ReadTree(tensors, prefix, shape, &next));
    values.push_back(std::move(v));
  }
  std::string beyond = absl::StrCat(prefix, ".", next);
  if (tensors.tensors.count(beyond) > 0) {
    return absl::InvalidArgumentError(absl::StrCat("tensor ", beyond,
                                                   ": expected only ", next,
                                                   " tensors ", prefix, ".*"));
  }
  return values;
}

absl::StatusOr<std::vector<Literal>> ReadArguments(const Module& module,
                                                   const SafeTensors& tensors) {
  if (module.entry() == nullptr) {
    return absl::InvalidArgumentError("the module has no entry computation");
  }
  std::vector<Shape> shapes;
  for (const Instruction* p : module.entry()->parameters()) {
    if (p == nullptr) {
      return absl::InvalidArgumentError("the entry's parameters have gaps");
    }
    shapes.push_back(p->shape());
  }
  return LiteralsFromTensors(tensors, "in", shapes);
}

absl::StatusOr<Literal> ReadResult(const Module& module,
                                   const SafeTensors& tensors) {
  if (module.entry() == nullptr || module.entry()->root() == nullptr) {
    return absl::InvalidArgumentError("the module has no entry computation");
  }
  const Shape& shape = module.entry()->root()->shape();
  RIDGE_ASSIGN_OR_RETURN(
      std::vector<Literal> values,
      LiteralsFromTensors(tensors, "out", absl::MakeConstSpan(&shape, 1)));
  return std::move(values[0]);
}

void AddTensors(absl::string_view prefix, absl::Span<const Literal> values,
                SafeTensors* tensors) {
  int64_t next = 0;
  for (const Literal& v : values) AddTree(prefix, v, &next, tensors);
}

}  // namespace ridge
