// A module's arguments and results as safetensors files: in.0, in.1 ... are
// the entry's parameters and out.0 ... the result, tuples flattened in order.
//
// Element types without a dtype of their own: sub-byte integers are I8 or U8
// (one a byte, extended), float types of eight bits and fewer other than
// f8e4m3fn (F8_E4M3), f8e5m2 (F8_E5M2) and f8e8m0fnu (F8_E8M0) are U8 bits.
#ifndef RIDGE_HLO_EVALUATOR_IO_H_
#define RIDGE_HLO_EVALUATOR_IO_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/base/safetensors.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace ridge {

// The dtype that literals of this type are stored as.
absl::string_view SafeTensorDtype(ElementType type);

// The tensor as a literal of this array shape. kInvalidArgument, naming the
// tensor, what was expected and what was found, if dtype or shape differ.
absl::StatusOr<Literal> LiteralFromTensor(absl::string_view name,
                                          const SafeTensor& tensor,
                                          const Shape& shape);
SafeTensor TensorFromLiteral(const Literal& literal);  // an array

// Literals of the given shapes from tensors PREFIX.0, PREFIX.1 ...: each leaf
// takes the next number. kNotFound names the tensor that is missing;
// kInvalidArgument if there are more than the shapes need.
absl::StatusOr<std::vector<Literal>> LiteralsFromTensors(
    const SafeTensors& tensors, absl::string_view prefix,
    absl::Span<const Shape> shapes);

// The entry's parameters, from in.N.
absl::StatusOr<std::vector<Literal>> ReadArguments(const Module& module,
                                                   const SafeTensors& tensors);
// The entry's result, from out.N.
absl::StatusOr<Literal> ReadResult(const Module& module,
                                   const SafeTensors& tensors);

// Adds the leaves of `values` as PREFIX.0, PREFIX.1 ...
void AddTensors(absl::string_view prefix, absl::Span<const Literal> values,
                SafeTensors* tensors);

}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_IO_H_
