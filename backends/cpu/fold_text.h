// The text of folds by one operation (add, maximum, ...).
//
// Accumulators: sums and products of floats are kept in double, everything
// else in the carry type; integers wrap.
#ifndef RIDGE_BACKENDS_CPU_FOLD_TEXT_H_
#define RIDGE_BACKENDS_CPU_FOLD_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/element_type.h"
#include "hlo/ir/opcode.h"

namespace ridge {

// The accumulator's type.
std::string FoldType(Opcode op, ElementType type);
// The value that changes nothing, as an accumulator.
std::string FoldIdentity(Opcode op, ElementType type);
// acc with a carried value `x` folded in.
absl::StatusOr<std::string> FoldCombineText(Opcode op, ElementType type,
                                            absl::string_view acc,
                                            absl::string_view x);
// acc with another accumulator folded in.
absl::StatusOr<std::string> FoldPartialText(Opcode op, ElementType type,
                                            absl::string_view acc,
                                            absl::string_view other);
// A statement that folds x[0..n) of the carry type into acc.
absl::StatusOr<std::string> FoldBlockText(Opcode op, ElementType type,
                                          absl::string_view acc,
                                          absl::string_view x,
                                          absl::string_view n);
// The fold's result, carried: init and acc, rounded to the type.
absl::StatusOr<std::string> FoldResultText(Opcode op, ElementType type,
                                           absl::string_view acc,
                                           absl::string_view init);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_CPU_FOLD_TEXT_H_
