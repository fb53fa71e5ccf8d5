// Where a program's temporaries lie in its arena: two share memory only where
// no step needs both.
#ifndef RIDGE_BACKENDS_RUNTIME_LIFETIMES_H_
#define RIDGE_BACKENDS_RUNTIME_LIFETIMES_H_

#include "backends/runtime/program.h"

namespace ridge {

// Sets the offset of every temporary, and arena_bytes, from the order of the
// steps; loops keep what their rounds share.
void PlaceTemporaries(Program* program);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_RUNTIME_LIFETIMES_H_
