#include "tools/common/numerics_flag.h"

#include <gflags/gflags.h>

#include <string>

DEFINE_string(numerics, "as_written",
              "as_written: every instruction rounds to its type, in whatever "
              "kernel it is; fused_epilogue: a matrix library may compute "
              "bias, ReLU and GELU on the unrounded product and round once.");

namespace {

bool IsNumerics(const char* flag, const std::string& value) {
  return ridge::ParseNumerics(value).ok();
}

}  // namespace

DEFINE_validator(numerics, &IsNumerics);

namespace ridge {

Numerics NumericsFromFlag() { return *ParseNumerics(FLAGS_numerics); }

}  // namespace ridge
