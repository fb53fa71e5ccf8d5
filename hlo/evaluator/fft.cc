// fft in double: radix 2 for powers of two, Bluestein's chirp for the rest.
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "hlo/base/status_macros.h"
#include "hlo/evaluator/handlers.h"
#include "hlo/evaluator/strided.h"

namespace ridge {
namespace eval {
namespace {

using Z = std::complex<double>;

Z Times(Z a, Z b) {
  return {a.real() * b.real() - a.imag() * b.imag(),
          a.real() * b.imag() + a.imag() * b.real()};
}

// exp(sign * i * 2 pi k / n), k reduced first so that the angle is exact.
Z Root(int64_t k, int64_t n, double sign) {
  double angle =
      sign * 2 * M_PI * static_cast<double>(k % n) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

class Transform {
 public:
  // sign -1 forward, +1 backward (not scaled).
  Transform(int64_t n, double sign) : n_(n), sign_(sign) {
    if (n < 2) return;
    if ((n & (n - 1)) == 0) {
      roots_.resize(n / 2);
      for (int64_t k = 0; k < n / 2; ++k) roots_[k] = Root(k, n, sign);
      return;
    }
    int64_t m = 1;
    while (m < 2 * n - 1) m *= 2;
    forward_ = std::make_unique<Transform>(m, -1);
    backward_ = std::make_unique<Transform>(m, 1);
    chirp_.resize(n);
    // k^2 mod 2n, without overflow.
    int64_t square = 0;
    for (int64_t k = 0; k < n; ++k) {
      chirp_[k] = Root(square, 2 * n, sign);
      square = (square + 2 * k + 1) % (2 * n);
    }
    kernel_.assign(m, Z(0));
    for (int64_t k = 0; k < n; ++k) {
      kernel_[k] = std::conj(chirp_[k]);
      if (k > 0) kernel_[m - k] = std::conj(chirp_[k]);
    }
    forward_->Run(kernel_.data());
  }

  void Run(Z* x) const {
    if (n_ < 2) return;
    if (forward_ == nullptr) {
      RunRadix2(x);
      return;
    }
    const int64_t m = static_cast<int64_t>(kernel_.size());
    std::vector<Z> work(m, Z(0));
    for (int64_t k = 0; k < n_; ++k) work[k] = Times(x[k], chirp_[k]);
    forward_->Run(work.data());
    for (int64_t k = 0; k < m; ++k) work[k] = Times(work[k], kernel_[k]);
    backward_->Run(work.data());
    for (int64_t k = 0; k < n_; ++k) {
      x[k] = Times(work[k], chirp_[k]) / static_cast<double>(m);
    }
  }

 private:
  void RunRadix2(Z* x) const {
    for (int64_t i = 1, j = 0; i < n_; ++i) {
      int64_t bit = n_ >> 1;
      for (; (j & bit) != 0; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) std::swap(x[i], x[j]);
    }
    for (int64_t half = 1; half < n_; half *= 2) {
      const int64_t step = n_ / (2 * half);
      for (int64_t b = 0; b < n_; b += 2 * half) {
        for (int64_t k = 0; k < half; ++k) {
          Z t = Times(x[b + k + half], roots_[k * step]);
          x[b + k + half] = x[b + k] - t;
          x[b + k] += t;
        }
      }
    }
  }

  int64_t n_;
  double sign_;
  std::vector<Z> roots_;
  std::unique_ptr<Transform> forward_;
  std::unique_ptr<Transform> backward_;
  std::vector<Z> chirp_;
  std::vector<Z> kernel_;
};

// Transforms every line of `data` (row-major `dims`) along dimension d.
void TransformLines(const Interpreter& interpreter,
                    absl::Span<const int64_t> dims, int64_t d, double sign,
                    double scale, Z* data) {
  const int64_t n = dims[d];
  const int64_t stride = RowMajorStrides(dims)[d];
  const int64_t lines = Product(dims) / n;
  const Transform transform(n, sign);
  const int64_t grain = std::max<int64_t>(1, 4096 / n);
  interpreter.Parallel(0, lines, grain, [&](int64_t b, int64_t e) {
    std::vector<Z> line(n);
    for (int64_t l = b; l < e; ++l) {
      Z* base = data + l / stride * stride * n + l % stride;
      for (int64_t k = 0; k < n; ++k) line[k] = base[k * stride];
      transform.Run(line.data());
      for (int64_t k = 0; k < n; ++k) base[k * stride] = line[k] * scale;
    }
  });
}

}  // namespace

absl::StatusOr<Literal> EvalFft(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, 1));
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  const FftType type =
      op.instruction.enum_attr(AttrId::kFftType, FftType::kFft);
  Ints length = op.instruction.ints(AttrId::kFftLength);
  const Shape& from = op.in(0).shape();
  const int64_t rank = from.rank();
  const int64_t fft_rank = static_cast<int64_t>(length.size());
  if (fft_rank < 1 || fft_rank > 3 || fft_rank > rank) {
    return Invalid("fft_length has ", fft_rank, " entries for ",
                   from.ToString());
  }
  const bool real_in = type == FftType::kRfft;
  const bool real_out = type == FftType::kIrfft;
  if (real_in ? !IsFloat(from.type()) : !IsComplex(from.type())) {
    return Invalid("of type ", Name(from.type()));
  }
  if (real_out ? !IsFloat(op.shape.type()) : !IsComplex(op.shape.type())) {
    return Invalid("gives type ", Name(op.shape.type()));
  }
  DimVector in_dims(from.dims().begin(), from.dims().end());
  DimVector full = in_dims;  // of the transform
  for (int64_t k = 0; k < fft_rank; ++k) {
    full[rank - fft_rank + k] = length[k];
  }
  DimVector out_dims = full;
  const int64_t last = full[rank - 1];
  if (real_in) out_dims[rank - 1] = last / 2 + 1;
  DimVector expected = full;
  if (real_out) expected[rank - 1] = last / 2 + 1;
  // A transform of no points, or of nothing, gives zeros.
  bool no_points = op.shape.ElementCount() == 0 && from.ElementCount() == 0;
  for (int64_t n : length) no_points = no_points || n == 0;
  if (no_points) return Literal::Zeros(op.shape);
  RIDGE_RETURN_IF_ERROR(CheckDims("the operand", from, expected));
  RIDGE_RETURN_IF_ERROR(CheckDims("the result", op.shape, out_dims));
  if (op.shape.ElementCount() == 0 || from.ElementCount() == 0) {
    return Literal::Zeros(op.shape);
  }
  Shape wide = from;
  wide.set_type(ElementType::kC128);
  Literal in = ConvertTo(op.in(0), wide);
  const Z* src = in.data<Z>().data();
  const int64_t n = Product(full);
  RIDGE_RETURN_IF_ERROR(
      op.interpreter.CheckFits(Shape::Array(ElementType::kC128, full)));
  std::vector<Z> data(n);
  if (!real_out) {
    std::copy_n(src, n, data.begin());
  } else {
    // Lines of the last dimension hold half a spectrum; the other half is its
    // conjugate, mirrored in the dimensions transformed (all but the last
    // have been transformed back by then, so only the last mirrors).
    std::vector<Z> half(src, src + from.ElementCount());
    for (int64_t k = 0; k + 1 < fft_rank; ++k) {
      const int64_t d = rank - fft_rank + k;
      TransformLines(op.interpreter, from.dims(), d, 1,
                     1.0 / static_cast<double>(full[d]), half.data());
    }
    const int64_t stored = last / 2 + 1;
    const int64_t lines = n / last;
    for (int64_t l = 0; l < lines; ++l) {
      for (int64_t k = 0; k < last; ++k) {
        data[l * last + k] = k < stored
                                 ? half[l * stored + k]
                                 : std::conj(half[l * stored + last - k]);
      }
      // The ends of a real signal's spectrum are real.
      data[l * last].imag(0);
      if (last % 2 == 0) data[l * last + last / 2].imag(0);
    }
    TransformLines(op.interpreter, full, rank - 1, 1,
                   1.0 / static_cast<double>(last), data.data());
  }
  if (!real_out) {
    const double sign = type == FftType::kIfft ? 1 : -1;
    for (int64_t k = 0; k < fft_rank; ++k) {
      const int64_t d = rank - fft_rank + k;
      TransformLines(
          op.interpreter, full, d, sign,
          type == FftType::kIfft ? 1.0 / static_cast<double>(full[d]) : 1.0,
          data.data());
    }
  }
  Shape out_wide = op.shape;
  out_wide.set_type(ElementType::kC128);
  Literal out = Literal::Zeros(out_wide);
  absl::Span<Z> dst = out.mutable_data<Z>();
  if (real_in) {
    const int64_t kept = last / 2 + 1;
    for (int64_t l = 0; l < n / last; ++l) {
      std::copy_n(data.begin() + l * last, kept, dst.begin() + l * kept);
    }
  } else {
    std::copy_n(data.begin(), n, dst.begin());
  }
  return ConvertTo(out, op.shape);
}

}  // namespace eval
}  // namespace ridge
