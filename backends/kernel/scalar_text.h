// Scalar code: one kernel node as a C++ expression, in two dialects that share
// everything but a short prelude: CUDA C++ (NVRTC, no headers) and host C++.
//
// How values are carried. An element type has a storage type, which lies in
// memory, and a carry type, in which variables of the generated code hold it:
//
//   type             storage     carry
//   pred             uint8_t     bool
//   s1..s8, u1..u8   (u)int8_t   same, kept wrapped to the type's width
//   s16..u64         own         own
//   f4, f8*          uint8_t     float, always a value of the small type
//   f16, bf16        uint16_t    float, always a value of the small type
//   f32, f64         own         own
//   c64, c128        rdg_c64/128 same
//
// Every operation on a small float type rounds its result to the type (nearest
// even), so there is no excess precision; float and double are left to the
// compiler, which contracts a*b+c only if told to.
//
// Semantics are HLO's: x/0 = -1 and x rem 0 = x for integers, INT_MIN/-1 =
// INT_MIN, shifts past the width give 0 (or the sign), float to integer
// saturates and NaN gives 0, minimum and maximum propagate NaN.
#ifndef RIDGE_BACKENDS_KERNEL_SCALAR_TEXT_H_
#define RIDGE_BACKENDS_KERNEL_SCALAR_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/kernel/kernel.h"

namespace ridge {

enum class Dialect : uint8_t { kCuda, kHost };

// Helper functions that the text below calls. Self-contained for NVRTC; the
// host form includes the standard library.
std::string ScalarPrelude(Dialect dialect);

absl::string_view StorageType(ElementType type);
absl::string_view CarryType(ElementType type);
// Of a carried value: small floats are carried as f32.
int64_t CarryBytes(ElementType type);
// A storage expression as a carried value, and back.
std::string LoadText(ElementType type, absl::string_view storage);
std::string StoreText(ElementType type, absl::string_view carried);
// The zero of a type, carried.
std::string ZeroText(ElementType type);
// A constant from its storage bits (Node::bits, bits_high), carried.
std::string ConstText(ElementType type, uint64_t bits, uint64_t bits_high = 0);
// A kOp node. `operands` are the texts of its operands (names or literals;
// they may be repeated in the result), `types` their element types.
// Unimplemented, naming opcode and type, where there is no scalar form.
absl::StatusOr<std::string> OpText(const Node& node,
                                   absl::Span<const ElementType> types,
                                   absl::Span<const std::string> operands);
// The common reducers as a binary operation: `opcode` on carried values.
absl::StatusOr<std::string> CombineText(Opcode opcode, ElementType type,
                                        absl::string_view a,
                                        absl::string_view b);
// A scalar function as a C++ function: carried parameters in, results through
// references `r0`, `r1` ... after them:
//   RDG_FN void NAME(T0 a0, T1 a1, ..., R0& r0, ...) { ... }
absl::StatusOr<std::string> FunctionText(const ScalarFunction& function,
                                         absl::string_view name);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCALAR_TEXT_H_
