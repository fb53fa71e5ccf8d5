// batch-norm-training, -inference and -grad, in double.
//
// With N elements a feature, r = 1/sqrt(variance + epsilon), c = x - mean:
//   training:  mean = sum(x)/N, variance = sum(c^2)/N, y = c r scale + offset
//   grad:      d_offset = sum(g), d_scale = r sum(g c),
//              d_x = scale r (g - sum(g)/N - c r^2 sum(g c)/N)
#include <cmath>
#include <utility>
#include <vector>

#include "hlo/base/status_macros.h"
#include "hlo/evaluator/handlers.h"
#include "hlo/evaluator/strided.h"

namespace ridge {
namespace eval {
namespace {

struct Features {
  int64_t count;  // features
  int64_t inner;  // elements between one feature and the next
  int64_t size;   // elements of all
  double per_feature() const {
    return static_cast<double>(size) / static_cast<double>(count);
  }
  int64_t of(int64_t i) const { return i / inner % count; }
};

absl::StatusOr<Features> FeaturesOf(const Op& op, int64_t operands) {
  if (op.count() != operands) {
    return Invalid("takes ", operands, " operands, has ", op.count());
  }
  const Shape& x = op.in(0).shape();
  const int64_t feature = op.instruction.int_attr(AttrId::kFeatureIndex, 0);
  if (!x.IsArray() || !IsFloat(x.type()) || feature < 0 ||
      feature >= x.rank()) {
    return Invalid("feature_index ", feature, " of ", x.ToString());
  }
  Features f{x.dim(feature), RowMajorStrides(x.dims())[feature],
             x.ElementCount()};
  for (int64_t i = 1; i < operands; ++i) {
    const bool like_x = operands == 5 && i == 4 &&
                        op.instruction.opcode() == Opcode::kBatchNormGrad;
    if (like_x) {
      RIDGE_RETURN_IF_ERROR(CheckDims("operand 4", op.in(i).shape(), x.dims()));
    } else {
      RIDGE_RETURN_IF_ERROR(
          CheckDims(absl::StrCat("operand ", i), op.in(i).shape(), {f.count}));
    }
  }
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  return f;
}

std::vector<double> Doubles(const Literal& in) {
  Literal wide = ConvertTo(in, ToF64(in.shape()));
  absl::Span<const double> data = wide.data<double>();
  return std::vector<double>(data.begin(), data.end());
}

absl::StatusOr<Literal> Rounded(const std::vector<double>& values,
                                const Shape& shape) {
  if (!shape.IsArray() ||
      shape.ElementCount() != static_cast<int64_t>(values.size())) {
    return Invalid("a result has shape ", shape.ToString());
  }
  Literal wide = Literal::Zeros(ToF64(shape));
  std::copy(values.begin(), values.end(), wide.mutable_data<double>().begin());
  return ConvertTo(wide, shape);
}

absl::StatusOr<Literal> ThreeResults(
    const Op& op, const std::vector<std::vector<double>>& values) {
  if (!op.shape.IsTuple() || op.shape.tuple_shapes().size() != 3) {
    return Invalid("the result has shape ", op.shape.ToString());
  }
  std::vector<Literal> results;
  for (size_t k = 0; k < 3; ++k) {
    RIDGE_ASSIGN_OR_RETURN(Literal r,
                           Rounded(values[k], op.shape.tuple_shape(k)));
    results.push_back(std::move(r));
  }
  return Literal::Tuple(std::move(results));
}

double Epsilon(const Op& op) {
  return op.instruction.float_attr(AttrId::kEpsilon, 0);
}

}  // namespace

absl::StatusOr<Literal> EvalBatchNormTraining(const Op& op) {
  RIDGE_ASSIGN_OR_RETURN(Features f, FeaturesOf(op, 3));
  std::vector<double> x = Doubles(op.in(0));
  std::vector<double> scale = Doubles(op.in(1));
  std::vector<double> offset = Doubles(op.in(2));
  std::vector<double> mean(f.count, 0);
  std::vector<double> variance(f.count, 0);
  const double n = f.per_feature();
  for (int64_t i = 0; i < f.size; ++i) mean[f.of(i)] += x[i];
  for (double& m : mean) m /= n;
  for (int64_t i = 0; i < f.size; ++i) {
    double c = x[i] - mean[f.of(i)];
    variance[f.of(i)] += c * c;
  }
  for (double& v : variance) v /= n;
  for (int64_t i = 0; i < f.size; ++i) {
    const int64_t k = f.of(i);
    x[i] = (x[i] - mean[k]) / std::sqrt(variance[k] + Epsilon(op)) * scale[k] +
           offset[k];
  }
  return ThreeResults(op, {x, mean, variance});
}

absl::StatusOr<Literal> EvalBatchNormInference(const Op& op) {
  RIDGE_ASSIGN_OR_RETURN(Features f, FeaturesOf(op, 5));
  std::vector<double> x = Doubles(op.in(0));
  std::vector<double> scale = Doubles(op.in(1));
  std::vector<double> offset = Doubles(op.in(2));
  std::vector<double> mean = Doubles(op.in(3));
  std::vector<double> variance = Doubles(op.in(4));
  for (int64_t i = 0; i < f.size; ++i) {
    const int64_t k = f.of(i);
    x[i] = (x[i] - mean[k]) / std::sqrt(variance[k] + Epsilon(op)) * scale[k] +
           offset[k];
  }
  return Rounded(x, op.shape);
}

absl::StatusOr<Literal> EvalBatchNormGrad(const Op& op) {
  RIDGE_ASSIGN_OR_RETURN(Features f, FeaturesOf(op, 5));
  std::vector<double> x = Doubles(op.in(0));
  std::vector<double> scale = Doubles(op.in(1));
  std::vector<double> mean = Doubles(op.in(2));
  std::vector<double> variance = Doubles(op.in(3));
  std::vector<double> g = Doubles(op.in(4));
  std::vector<double> sum(f.count, 0);
  std::vector<double> sum_centred(f.count, 0);
  for (int64_t i = 0; i < f.size; ++i) {
    const int64_t k = f.of(i);
    sum[k] += g[i];
    sum_centred[k] += g[i] * (x[i] - mean[k]);
  }
  std::vector<double> d_scale(f.count);
  const double n = f.per_feature();
  for (int64_t k = 0; k < f.count; ++k) {
    d_scale[k] = sum_centred[k] / std::sqrt(variance[k] + Epsilon(op));
  }
  for (int64_t i = 0; i < f.size; ++i) {
    const int64_t k = f.of(i);
    const double v = variance[k] + Epsilon(op);
    x[i] = scale[k] / std::sqrt(v) *
           (g[i] - sum[k] / n - (x[i] - mean[k]) / v * sum_centred[k] / n);
  }
  return ThreeResults(op, {x, d_scale, sum});
}

}  // namespace eval
}  // namespace ridge
