#include "hlo/evaluator/strided.h"

#include <algorithm>
#include <complex>
#include <cstring>

namespace ridge {
namespace eval {

DimVector RowMajorStrides(absl::Span<const int64_t> dims) {
  DimVector strides(dims.size());
  int64_t stride = 1;
  for (int64_t d = static_cast<int64_t>(dims.size()) - 1; d >= 0; --d) {
    strides[d] = stride;
    stride = SaturatingMul(stride, dims[d]);
  }
  return strides;
}

int64_t Product(absl::Span<const int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims) n = SaturatingMul(n, d);
  return n;
}

namespace {

struct Dim {
  int64_t size;
  int64_t src;
  int64_t dst;
};

// One row of the innermost dimension.
template <typename T>
void CopyRow(const T* src, int64_t src_stride, T* dst, int64_t dst_stride,
             int64_t n) {
  if (src_stride == 1 && dst_stride == 1) {
    std::memcpy(dst, src, n * sizeof(T));
  } else if (src_stride == 0 && dst_stride == 1) {
    std::fill(dst, dst + n, *src);
  } else if (dst_stride == 1) {
    for (int64_t i = 0; i < n; ++i) dst[i] = src[i * src_stride];
  } else {
    for (int64_t i = 0; i < n; ++i) dst[i * dst_stride] = src[i * src_stride];
  }
}

// The two inner dimensions where the source is contiguous along the outer of
// them (a transpose): in tiles that stay in the cache.
template <typename T>
void CopyTiled(const T* src, const Dim& outer, const Dim& inner, T* dst) {
  constexpr int64_t kTile = 32;
  for (int64_t i0 = 0; i0 < outer.size; i0 += kTile) {
    const int64_t i1 = std::min(outer.size, i0 + kTile);
    for (int64_t j0 = 0; j0 < inner.size; j0 += kTile) {
      const int64_t j1 = std::min(inner.size, j0 + kTile);
      for (int64_t i = i0; i < i1; ++i) {
        const T* s = src + i * outer.src;
        T* d = dst + i * outer.dst;
        for (int64_t j = j0; j < j1; ++j) {
          d[j * inner.dst] = s[j * inner.src];
        }
      }
    }
  }
}

template <typename T>
void CopyTyped(const Interpreter& interpreter, absl::Span<const Dim> dims,
               const T* src, T* dst) {
  const size_t rank = dims.size();
  if (rank == 0) {
    *dst = *src;
    return;
  }
  const Dim inner = dims[rank - 1];
  const bool tiled = rank >= 2 && inner.src != 1 && inner.src != 0 &&
                     dims[rank - 2].src == 1 && dims[rank - 2].size > 1;
  const size_t outer_rank = tiled ? rank - 2 : rank - 1;
  DimVector sizes;
  int64_t outer = 1;
  for (size_t d = 0; d < outer_rank; ++d) {
    sizes.push_back(dims[d].size);
    outer *= dims[d].size;
  }
  const int64_t row = tiled ? inner.size * dims[rank - 2].size : inner.size;
  const int64_t kElementsPerTask = 1 << 16;
  auto offsets = [&](absl::Span<const int64_t> index, int64_t* s, int64_t* d) {
    *s = 0;
    *d = 0;
    for (size_t k = 0; k < outer_rank; ++k) {
      *s += index[k] * dims[k].src;
      *d += index[k] * dims[k].dst;
    }
  };
  if (outer == 1 && row > 2 * kElementsPerTask) {
    // One long row or one big tile plane: split that.
    const Dim split = tiled ? dims[rank - 2] : inner;
    const int64_t grain = std::max<int64_t>(
        1, kElementsPerTask / std::max<int64_t>(1, row / split.size));
    interpreter.Parallel(0, split.size, grain, [&](int64_t b, int64_t e) {
      const T* s = src + b * split.src;
      T* d = dst + b * split.dst;
      if (tiled) {
        CopyTiled(s, Dim{e - b, split.src, split.dst}, inner, d);
      } else {
        CopyRow(s, split.src, d, split.dst, e - b);
      }
    });
    return;
  }
  const int64_t grain =
      std::max<int64_t>(1, kElementsPerTask / std::max<int64_t>(1, row));
  interpreter.Parallel(0, outer, grain, [&](int64_t b, int64_t e) {
    Odometer at(sizes);
    at.Set(b);
    for (int64_t i = b; i < e; ++i, at.Next()) {
      int64_t s;
      int64_t d;
      offsets(at.index(), &s, &d);
      if (tiled) {
        CopyTiled(src + s, dims[rank - 2], inner, dst + d);
      } else {
        CopyRow(src + s, inner.src, dst + d, inner.dst, inner.size);
      }
    }
  });
}

}  // namespace

void StridedCopy(const Interpreter& interpreter,
                 absl::Span<const int64_t> sizes, int width, const uint8_t* src,
                 absl::Span<const int64_t> src_strides, uint8_t* dst,
                 absl::Span<const int64_t> dst_strides) {
  absl::InlinedVector<Dim, 6> dims;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return;
    if (sizes[d] == 1) continue;
    Dim dim{sizes[d], src_strides[d], dst_strides[d]};
    // Merge with the dimension outside it where both step evenly.
    if (!dims.empty() && dims.back().src == dim.size * dim.src &&
        dims.back().dst == dim.size * dim.dst) {
      dims.back() = {dims.back().size * dim.size, dim.src, dim.dst};
    } else {
      dims.push_back(dim);
    }
  }
  switch (width) {
    case 1:
      CopyTyped(interpreter, dims, src, dst);
      return;
    case 2:
      CopyTyped(interpreter, dims, reinterpret_cast<const uint16_t*>(src),
                reinterpret_cast<uint16_t*>(dst));
      return;
    case 4:
      CopyTyped(interpreter, dims, reinterpret_cast<const uint32_t*>(src),
                reinterpret_cast<uint32_t*>(dst));
      return;
    case 8:
      CopyTyped(interpreter, dims, reinterpret_cast<const uint64_t*>(src),
                reinterpret_cast<uint64_t*>(dst));
      return;
    default:
      CopyTyped(interpreter, dims,
                reinterpret_cast<const std::complex<double>*>(src),
                reinterpret_cast<std::complex<double>*>(dst));
      return;
  }
}

}  // namespace eval
}  // namespace ridge
