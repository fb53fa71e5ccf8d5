// The --numerics flag: whether a matrix library may round once, after its
// epilogue.

#ifndef RIDGE_TOOLS_COMMON_NUMERICS_FLAG_H_
#define RIDGE_TOOLS_COMMON_NUMERICS_FLAG_H_

#include <gflags/gflags_declare.h>

#include "fusion/legality.h"

// "as_written" or "fused_epilogue"; another value is refused when flags are
// parsed. A tool that links this library has the flag.
DECLARE_string(numerics);

namespace ridge {

// What --numerics asks for.
Numerics NumericsFromFlag();

}  // namespace ridge

#endif  // RIDGE_TOOLS_COMMON_NUMERICS_FLAG_H_
