// Moving elements between row-major arrays of any element width.
#ifndef RIDGE_HLO_EVALUATOR_STRIDED_H_
#define RIDGE_HLO_EVALUATOR_STRIDED_H_

#include <cstdint>

#include "absl/types/span.h"
#include "hlo/evaluator/context.h"
#include "hlo/ir/shape.h"

namespace ridge {
namespace eval {

// Element strides of a row-major array.
DimVector RowMajorStrides(absl::Span<const int64_t> dims);
int64_t Product(absl::Span<const int64_t> dims);

// Copies an index space of `sizes` from `src` to `dst`, elements of `width`
// bytes, where element (i0, i1, ...) lies at src + sum(i*src_strides) and dst +
// sum(i*dst_strides); strides are in elements, may be 0 (broadcast, source
// only) or negative. Threads share the work.
void StridedCopy(const Interpreter& interpreter,
                 absl::Span<const int64_t> sizes, int width, const uint8_t* src,
                 absl::Span<const int64_t> src_strides, uint8_t* dst,
                 absl::Span<const int64_t> dst_strides);

// Counts through an index space, last dimension fastest.
class Odometer {
 public:
  explicit Odometer(absl::Span<const int64_t> sizes)
      : sizes_(sizes.begin(), sizes.end()), index_(sizes.size(), 0) {}
  absl::Span<const int64_t> index() const { return index_; }
  void Set(int64_t linear) {
    for (int64_t d = static_cast<int64_t>(sizes_.size()) - 1; d >= 0; --d) {
      index_[d] = linear % sizes_[d];
      linear /= sizes_[d];
    }
  }
  // False after the last one (and back at the first).
  bool Next() {
    for (int64_t d = static_cast<int64_t>(sizes_.size()) - 1; d >= 0; --d) {
      if (++index_[d] < sizes_[d]) return true;
      index_[d] = 0;
    }
    return false;
  }

 private:
  DimVector sizes_;
  DimVector index_;
};

}  // namespace eval
}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_STRIDED_H_
