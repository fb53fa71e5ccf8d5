// Arithmetic of windows that slide over a dilated, padded array.
#ifndef RIDGE_HLO_EVALUATOR_WINDOW_H_
#define RIDGE_HLO_EVALUATOR_WINDOW_H_

#include <algorithm>
#include <cstdint>

#include "hlo/ir/attribute.h"

namespace ridge {
namespace eval {

// Where window element `w` of output position `out` falls in the array along
// one dimension; -1 on padding and in the holes of a dilated array.
inline int64_t WindowPosition(const WindowDimension& d, int64_t size,
                              int64_t out, int64_t w) {
  int64_t at = out * d.stride - d.padding_low + w * d.window_dilation;
  if (at < 0) return -1;
  if (d.base_dilation > 1) {
    if (at % d.base_dilation != 0) return -1;
    at /= d.base_dilation;
  }
  return at < size ? at : -1;
}

// The window elements [first, last) that can fall inside the array; those in
// the holes of a dilated array are among them.
inline void WindowRange(const WindowDimension& d, int64_t size, int64_t out,
                        int64_t* first, int64_t* last) {
  const int64_t start = out * d.stride - d.padding_low;
  const int64_t end = size == 0 ? 0 : (size - 1) * d.base_dilation + 1;
  *first =
      start >= 0 ? 0 : (-start + d.window_dilation - 1) / d.window_dilation;
  *last = start >= end
              ? 0
              : std::min(d.size, (end - 1 - start) / d.window_dilation + 1);
}

// Windows visited element by element: more are refused, not waited for.
inline constexpr int64_t kMostWindowSteps = int64_t{1} << 38;

// The size of the output along one dimension, -1 for a window that makes no
// sense.
inline int64_t WindowedSize(const WindowDimension& d, int64_t size) {
  if (d.size < 1 || d.stride < 1 || d.window_dilation < 1 ||
      d.base_dilation < 1) {
    return -1;
  }
  const int64_t dilated = size == 0 ? 0 : (size - 1) * d.base_dilation + 1;
  const int64_t padded = dilated + d.padding_low + d.padding_high;
  const int64_t window = (d.size - 1) * d.window_dilation + 1;
  return padded < window ? 0 : (padded - window) / d.stride + 1;
}

}  // namespace eval
}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_WINDOW_H_
