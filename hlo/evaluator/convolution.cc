// convolution: patches of the input as rows of a matrix, times the kernel.
#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

#include "hlo/base/matrix_block.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/dot.h"
#include "hlo/evaluator/handlers.h"
#include "hlo/evaluator/strided.h"
#include "hlo/evaluator/window.h"

namespace ridge {
namespace eval {
namespace {

// Everything in canonical order: input [batch, spatial..., feature], kernel
// [spatial..., input feature, output feature], output [batch, spatial...,
// feature].
struct Problem {
  Window window;
  DimVector input_spatial, kernel_spatial, output_spatial;
  int64_t input_batch, input_features;
  int64_t kernel_features;  // input features of one group
  int64_t output_batch, output_features;
  int64_t feature_groups, batch_groups;
};

DimVector Order(int64_t first, absl::Span<const int64_t> spatial,
                int64_t last) {
  DimVector order;
  if (first >= 0) order.push_back(first);
  order.insert(order.end(), spatial.begin(), spatial.end());
  order.push_back(last);
  return order;
}

bool IsPermutationOf(absl::Span<const int64_t> order, int64_t rank) {
  if (static_cast<int64_t>(order.size()) != rank) return false;
  std::vector<bool> seen(rank, false);
  for (int64_t d : order) {
    if (d < 0 || d >= rank || seen[d]) return false;
    seen[d] = true;
  }
  return true;
}

// The literal with dimension k of the result dimension order[k] of `in`.
Literal Reordered(const Interpreter& interpreter, const Literal& in,
                  absl::Span<const int64_t> order) {
  DimVector strides = RowMajorStrides(in.shape().dims());
  DimVector sizes;
  DimVector src;
  for (int64_t d : order) {
    sizes.push_back(in.shape().dim(d));
    src.push_back(strides[d]);
  }
  Literal out = Literal::Zeros(Shape::Array(in.shape().type(), sizes));
  StridedCopy(interpreter, sizes, StorageBytes(in.shape().type()), in.bytes(),
              src, out.mutable_bytes(), RowMajorStrides(sizes));
  return out;
}

template <typename T>
void Convolve(const Interpreter& interpreter, const Problem& p, const T* input,
              const T* kernel, T* output) {
  const int64_t spatial_rank = static_cast<int64_t>(p.window.size());
  const int64_t taps = Product(p.kernel_spatial);
  const int64_t columns = taps * p.kernel_features;
  const int64_t positions = Product(p.output_spatial);
  const int64_t rows = p.output_batch * positions;
  const int64_t groups = p.feature_groups * p.batch_groups;
  const int64_t group_out = p.output_features / groups;
  if (rows == 0 || columns == 0 || group_out == 0) return;
  const DimVector input_strides = RowMajorStrides(p.input_spatial);
  const int64_t input_size = Product(p.input_spatial);
  // Patches of some 2 MB at a time.
  const int64_t chunk = std::min(
      rows,
      std::max<int64_t>(1, (int64_t{1} << 18) / std::max<int64_t>(1, columns)));
  const int64_t chunks = (rows + chunk - 1) / chunk;
  interpreter.Parallel(0, groups * chunks, 1, [&](int64_t b, int64_t e) {
    std::vector<T> patches(chunk * columns);
    for (int64_t t = b; t < e; ++t) {
      const int64_t group = t / chunks;
      const int64_t feature_group = group % p.feature_groups;
      const int64_t batch_group = group / p.feature_groups;
      const int64_t first = t % chunks * chunk;
      const int64_t n = std::min(chunk, rows - first);
      Odometer out(p.output_spatial);
      out.Set(first % positions);
      for (int64_t r = 0; r < n; ++r, out.Next()) {
        const int64_t batch =
            batch_group * p.output_batch + (first + r) / positions;
        T* row = patches.data() + r * columns;
        Odometer tap(p.kernel_spatial);
        do {
          int64_t offset = 0;
          for (int64_t d = 0; d < spatial_rank && offset >= 0; ++d) {
            const WindowDimension& w = p.window[d];
            const int64_t k = w.window_reversal
                                  ? p.kernel_spatial[d] - 1 - tap.index()[d]
                                  : tap.index()[d];
            // The patch follows the kernel's own order of taps.
            int64_t at =
                WindowPosition(w, p.input_spatial[d], out.index()[d], k);
            offset = at < 0 ? -1 : offset + at * input_strides[d];
          }
          if (offset < 0) {
            std::fill_n(row, p.kernel_features, T(0));
          } else {
            std::copy_n(input +
                            (batch * input_size + offset) * p.input_features +
                            feature_group * p.kernel_features,
                        p.kernel_features, row);
          }
          row += p.kernel_features;
        } while (tap.Next());
      }
      MatrixBlock<T> product;
      product.m = n;
      product.n = group_out;
      product.k = columns;
      product.a = patches.data();
      product.lda = columns;
      product.transpose_a = false;
      product.b = kernel + group * group_out;
      product.ldb = p.output_features;
      product.transpose_b = false;
      product.d = output + first * p.output_features + group * group_out;
      product.ldd = p.output_features;
      MultiplyBlock(product);
    }
  });
}

}  // namespace

absl::StatusOr<Literal> EvalConvolution(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, 2));
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  const Instruction& i = op.instruction;
  const ConvDimLabels* labels = i.boxed<ConvDimLabels>(AttrId::kDimLabels);
  const Shape& input = op.in(0).shape();
  const Shape& kernel = op.in(1).shape();
  if (labels == nullptr) return Invalid("has no dim_labels");
  const DimVector input_order =
      Order(labels->input_batch, labels->input_spatial, labels->input_feature);
  DimVector kernel_order(labels->kernel_spatial.begin(),
                         labels->kernel_spatial.end());
  kernel_order.push_back(labels->kernel_input_feature);
  kernel_order.push_back(labels->kernel_output_feature);
  const DimVector output_order = Order(
      labels->output_batch, labels->output_spatial, labels->output_feature);
  const int64_t rank = static_cast<int64_t>(labels->input_spatial.size());
  if (!IsPermutationOf(input_order, input.rank()) ||
      !IsPermutationOf(kernel_order, kernel.rank()) ||
      !IsPermutationOf(output_order, op.shape.rank()) ||
      static_cast<int64_t>(labels->kernel_spatial.size()) != rank ||
      static_cast<int64_t>(labels->output_spatial.size()) != rank) {
    return Invalid("dim_labels do not fit the operands");
  }
  Problem p;
  if (i.window() != nullptr) p.window = *i.window();
  if (static_cast<int64_t>(p.window.size()) != rank) {
    return Invalid("the window does not have ", rank, " dimensions");
  }
  p.feature_groups = i.int_attr(AttrId::kFeatureGroupCount, 1);
  p.batch_groups = i.int_attr(AttrId::kBatchGroupCount, 1);
  p.input_batch = input.dim(labels->input_batch);
  p.input_features = input.dim(labels->input_feature);
  p.kernel_features = kernel.dim(labels->kernel_input_feature);
  p.output_features = kernel.dim(labels->kernel_output_feature);
  if (p.feature_groups < 1 || p.batch_groups < 1 ||
      p.input_features != p.kernel_features * p.feature_groups ||
      p.input_batch % p.batch_groups != 0 ||
      p.output_features % (p.feature_groups * p.batch_groups) != 0) {
    return Invalid("group counts do not divide the features or the batch");
  }
  p.output_batch = p.input_batch / p.batch_groups;
  DimVector expected(op.shape.rank());
  expected[labels->output_batch] = p.output_batch;
  expected[labels->output_feature] = p.output_features;
  for (int64_t d = 0; d < rank; ++d) {
    p.input_spatial.push_back(input.dim(labels->input_spatial[d]));
    p.kernel_spatial.push_back(kernel.dim(labels->kernel_spatial[d]));
    if (p.window[d].size != p.kernel_spatial[d]) {
      return Invalid("window size ", p.window[d].size, " for a kernel of ",
                     p.kernel_spatial[d]);
    }
    int64_t size = p.window[d].size == 0
                       ? 0
                       : WindowedSize(p.window[d], p.input_spatial[d]);
    if (size < 0) return Invalid("window dimension ", d, " is empty");
    p.output_spatial.push_back(size);
    expected[labels->output_spatial[d]] = size;
  }
  RIDGE_RETURN_IF_ERROR(CheckDims("the result", op.shape, expected));

  const ElementType type = ProductType(input.type(), kernel.type());
  auto prepare = [&](const Literal& in, const DimVector& order) {
    Shape shape = in.shape();
    shape.set_type(type);
    return Reordered(op.interpreter, ConvertTo(in, shape), order);
  };
  Literal x = prepare(op.in(0), input_order);
  Literal k = prepare(op.in(1), kernel_order);
  DimVector sizes;
  for (int64_t d : output_order) sizes.push_back(op.shape.dim(d));
  Literal y = Literal::Zeros(Shape::Array(type, sizes));
  if (op.shape.ElementCount() == 0) return Literal::Zeros(op.shape);
  switch (type) {
    case ElementType::kF64:
      Convolve(op.interpreter, p, x.data<double>().data(),
               k.data<double>().data(), y.mutable_data<double>().data());
      break;
    case ElementType::kC128:
      using Z = std::complex<double>;
      Convolve(op.interpreter, p, x.data<Z>().data(), k.data<Z>().data(),
               y.mutable_data<Z>().data());
      break;
    default:
      Convolve(op.interpreter, p, x.data<uint64_t>().data(),
               k.data<uint64_t>().data(), y.mutable_data<uint64_t>().data());
      break;
  }
  DimVector inverse(op.shape.rank());
  for (size_t d = 0; d < output_order.size(); ++d) {
    inverse[output_order[d]] = static_cast<int64_t>(d);
  }
  return FromProduct(Reordered(op.interpreter, y, inverse), op.shape);
}

}  // namespace eval
}  // namespace ridge
