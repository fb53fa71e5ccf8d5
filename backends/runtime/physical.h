// Row-major values and buffers in memory order: a Literal keeps elements
// row-major whatever its layout says, a back end's buffer keeps them in the
// order of the layout. Bytes are the same in number (StorageBytes an element).
#ifndef RIDGE_BACKENDS_RUNTIME_PHYSICAL_H_
#define RIDGE_BACKENDS_RUNTIME_PHYSICAL_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/shape.h"

namespace ridge {

// Bytes of a buffer that holds an array of this shape; 0 for tokens and other
// shapes without elements. Saturates.
int64_t PhysicalBytes(const Shape& shape);

// True where both orders are the same and the bytes can be used as they are.
// Dimensions of extent 1 may lie anywhere.
bool IsRowMajor(const Shape& shape);

// Copies PhysicalBytes(shape) bytes from one order to the other. The buffers
// must not overlap. Blocked, and shared among threads where it is worth it.
void ToPhysical(const Shape& shape, const uint8_t* row_major,
                uint8_t* physical);
void FromPhysical(const Shape& shape, const uint8_t* physical,
                  uint8_t* row_major);

// A literal (row-major) of an array shape from a physical buffer.
Literal LiteralFromPhysical(const Shape& shape, const uint8_t* physical);

// The leaves of a value in order; tuples are flattened. Copies share data.
std::vector<Literal> FlattenLiterals(absl::Span<const Literal> values);
// The reverse: `leaves` starts at *next, which moves on.
Literal UnflattenLiteral(const Shape& shape, absl::Span<const Literal> leaves,
                         size_t* next);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_RUNTIME_PHYSICAL_H_
