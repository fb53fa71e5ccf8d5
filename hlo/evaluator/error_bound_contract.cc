// Error rules of dots, convolutions, transforms and linear algebra, sorts.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <utility>

#include "hlo/base/status_macros.h"
#include "hlo/evaluator/error_bound_context.h"
#include "hlo/evaluator/handlers.h"
#include "hlo/evaluator/strided.h"

namespace ridge {
namespace eval {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Z = std::complex<double>;

// Products summed into one element of the result.
int64_t Terms(const BoundOp& op) {
  const Instruction& i = op.instruction;
  const Shape& lhs = op.in(0).value.shape();
  const Shape& rhs = op.in(1).value.shape();
  int64_t n = 1;
  if (i.opcode() == Opcode::kConvolution) {
    const auto* labels = i.boxed<ConvDimLabels>(AttrId::kDimLabels);
    n = rhs.ElementCount();
    const int64_t out = rhs.dim(labels->kernel_output_feature);
    return out == 0 ? 0 : n / out;
  }
  for (int64_t d : i.ints(AttrId::kLhsContractingDims)) n *= lhs.dim(d);
  return n;
}

}  // namespace

// |A| dB + dA |B| + dA dB and the rounding of the sum.
absl::StatusOr<Bounded> BoundContraction(const BoundOp& op) {
  if (op.count() < 2 || op.in(0).tuple || op.in(1).tuple) {
    return BoundExactOrUnbounded(op);
  }
  const ElementType type = op.shape.type();
  const bool is_float = IsFloat(type) || IsComplex(type);
  if (!is_float) return BoundExactOrUnbounded(op);
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  for (int64_t k = 2; k < op.count(); ++k) {
    if (!op.in(k).exact()) {
      op.context.Note(op.instruction, "no error rule for inexact scales");
      return Unbounded(std::move(value));
    }
  }
  RIDGE_ASSIGN_OR_RETURN(Literal center, RunWide(op, Values(op)));
  Literal magnitude[2] = {Magnitudes(op.in(0).value),
                          Magnitudes(op.in(1).value)};
  auto product = [&](Literal a, Literal b) {
    std::vector<Literal> operands = {std::move(a), std::move(b)};
    for (int64_t k = 2; k < op.count(); ++k) {
      operands.push_back(op.in(k).value);
    }
    std::vector<Literal*> pointers;
    for (Literal& l : operands) pointers.push_back(&l);
    // Scales and group sizes stay as they are.
    Shape shape = op.shape;
    shape.set_type(ElementType::kF64);
    Op plain{op.context.wide(), op.instruction, shape, pointers, 0};
    return op.handler(plain);
  };
  RIDGE_ASSIGN_OR_RETURN(Literal size, product(magnitude[0], magnitude[1]));
  const bool f32_products =
      type != ElementType::kF64 && type != ElementType::kC128;
  // Narrow operands' products are exact in f32; f32 ones may be taken in less.
  double spacing = SpacingOf(type);
  bool f32_operands = false;
  for (int k = 0; k < 2; ++k) {
    ElementType t = ComplexComponent(op.in(k).value.shape().type());
    f32_operands = f32_operands || t == ElementType::kF32;
  }
  if (!op.context.options().narrow_sums_in_f32) {
    // Half products kept in half; eight bits are computed in f16.
    for (int64_t k = 0; k < 2; ++k) {
      const ElementType t = op.in(k).value.shape().type();
      if (!IsFloat(t) || Info(t).bits >= 32) continue;
      spacing = std::max(
          spacing, std::ldexp(1.0, -std::max(Info(t).mantissa_bits,
                                             Info(t).bits == 8 ? 10 : 0)));
    }
  }
  const int64_t terms = Terms(op);
  Literal slack =
      Literal::Zeros(Shape::Array(ElementType::kF64, value.shape().dims()));
  AddScaled(spacing * SumGrowth(terms), size, &slack);
  if (f32_products && f32_operands &&
      op.context.options().f32_product_spacing > spacing) {
    AddScaled(op.context.options().f32_product_spacing, size, &slack);
  }
  if (!op.in(1).exact()) {
    RIDGE_ASSIGN_OR_RETURN(Literal part, product(magnitude[0], op.in(1).error));
    AddTo(part, &slack);
  }
  if (!op.in(0).exact()) {
    RIDGE_ASSIGN_OR_RETURN(Literal part, product(op.in(0).error, magnitude[1]));
    AddTo(part, &slack);
  }
  if (!op.in(0).exact() && !op.in(1).exact()) {
    RIDGE_ASSIGN_OR_RETURN(Literal part,
                           product(op.in(0).error, op.in(1).error));
    AddTo(part, &slack);
  }
  for (double& s : slack.mutable_data<double>()) {
    if (std::isnan(s)) s = kInfinity;
  }
  return ArrayValue(value, RoundedError(value, center, slack));
}

// Every output of a transform is a sum of all inputs of its line: errors add,
// and each of log2(N) levels rounds by u of the 2-norm.
absl::StatusOr<Bounded> BoundFft(const BoundOp& op) {
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  const Literal& x = op.in(0).value;
  Ints length = op.instruction.ints(AttrId::kFftLength);
  int64_t in_size = 1;
  int64_t out_size = 1;
  double points = 1;
  for (size_t k = 0; k < length.size(); ++k) {
    const int64_t d = x.shape().rank() - 1 - static_cast<int64_t>(k);
    in_size *= x.shape().dim(d);
    out_size *= value.shape().dim(d);
    points *= static_cast<double>(length[length.size() - 1 - k]);
  }
  Literal error =
      Literal::Zeros(Shape::Array(ElementType::kF64, value.shape().dims()));
  if (value.shape().ElementCount() == 0 || in_size == 0) {
    return ExactValue(std::move(value));
  }
  const FftType type =
      op.instruction.enum_attr(AttrId::kFftType, FftType::kFft);
  const bool inverse = type == FftType::kIfft || type == FftType::kIrfft;
  // Half a spectrum stands for all of it.
  const double fold = type == FftType::kIrfft ? 2 : 1;
  Literal size = Magnitudes(x);
  Literal e = ErrorsOf(op.in(0));
  const double u = SpacingOf(value.shape().type());
  const int64_t lines = x.shape().ElementCount() / in_size;
  for (int64_t l = 0; l < lines; ++l) {
    double errors = 0;
    double squares = 0;
    for (int64_t i = l * in_size; i < (l + 1) * in_size; ++i) {
      errors += e.data<double>()[i];
      squares += size.data<double>()[i] * size.data<double>()[i];
    }
    double bound = fold * errors +
                   4 * u * (1 + std::log2(points)) * std::sqrt(fold * squares);
    if (inverse) bound /= points;
    for (int64_t i = l * out_size; i < (l + 1) * out_size; ++i) {
      error.mutable_data<double>()[i] = std::isnan(bound) ? kInfinity : bound;
    }
  }
  return ArrayValue(std::move(value), std::move(error));
}

// By perturbing the inputs: each float element moves by its error, or by some
// roundings if it has none, with a random sign; the largest change of eight is
// taken four times. Normwise rounding of the algorithm itself on top.
absl::StatusOr<Bounded> BoundByProbing(const BoundOp& op) {
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  RIDGE_ASSIGN_OR_RETURN(Literal center, RunWide(op, Values(op)));
  std::vector<Literal> outs;
  std::vector<Literal> centers;
  if (value.shape().IsTuple()) {
    outs.assign(value.elements().begin(), value.elements().end());
    centers.assign(center.elements().begin(), center.elements().end());
  } else {
    outs.push_back(value);
    centers.push_back(center);
  }
  const Shape& first = op.in(0).value.shape();
  const OpClass op_class = Info(op.instruction.opcode()).op_class;
  int64_t terms = first.rank() == 0 ? 1 : first.dims().back();
  if (op_class == OpClass::kNorm) {
    const int64_t f = op.instruction.int_attr(AttrId::kFeatureIndex, 0);
    terms = first.dim(f) == 0 ? 1 : first.ElementCount() / first.dim(f);
  }
  const double u = SpacingOf(first.type()) * SumGrowth(terms);
  std::vector<Literal> errors;
  for (const Literal& o : outs) {
    errors.push_back(
        Literal::Zeros(Shape::Array(ElementType::kF64, o.shape().dims())));
  }
  uint64_t state = 0x9e3779b97f4a7c15ull;
  auto sign = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 40 & 1) != 0 ? 1.0 : -1.0;
  };
  for (int probe = 0; probe < 8; ++probe) {
    std::vector<Literal> moved;
    for (const Bounded* b : op.operands) {
      const ElementType t = b->value.shape().type();
      if (!IsFloat(t) && !IsComplex(t)) {
        moved.push_back(b->value);
        continue;
      }
      Literal m = Wide(b->value);
      Literal size = Magnitudes(b->value);
      Literal e = ErrorsOf(*b);
      const int64_t n = b->value.shape().ElementCount();
      for (int64_t i = 0; i < n; ++i) {
        const double d = e.data<double>()[i] + u * size.data<double>()[i];
        if (IsComplex(t)) {
          m.mutable_data<Z>()[i] += Z(sign() * d, sign() * d);
        } else {
          m.mutable_data<double>()[i] += sign() * d;
        }
      }
      moved.push_back(std::move(m));
    }
    RIDGE_ASSIGN_OR_RETURN(Literal result, RunWide(op, std::move(moved)));
    for (size_t k = 0; k < outs.size(); ++k) {
      const Literal& r =
          result.shape().IsTuple() ? result.elements()[k] : result;
      const int64_t n = outs[k].shape().ElementCount();
      absl::Span<double> e = errors[k].mutable_data<double>();
      for (int64_t i = 0; i < n; ++i) {
        double gap;
        if (IsComplex(outs[k].shape().type())) {
          gap = std::abs(r.data<Z>()[i] - centers[k].data<Z>()[i]);
        } else {
          gap = std::fabs(r.data<double>()[i] - centers[k].data<double>()[i]);
        }
        e[i] = std::max(e[i], std::isnan(gap) ? kInfinity : 4 * gap);
      }
    }
  }
  Bounded result;
  result.tuple = value.shape().IsTuple();
  for (size_t k = 0; k < outs.size(); ++k) {
    Literal size = Magnitudes(outs[k]);
    double largest = 0;
    for (double s : size.data<double>()) {
      if (std::isfinite(s)) largest = std::max(largest, s);
    }
    absl::Span<double> e = errors[k].mutable_data<double>();
    for (size_t i = 0; i < e.size(); ++i) {
      // NaN here is NaN everywhere.
      if (std::isnan(size.data<double>()[i])) {
        e[i] = 0;
      } else {
        e[i] += u * largest;
      }
    }
    Literal error = RoundedError(outs[k], centers[k], errors[k]);
    Bounded b = ArrayValue(std::move(outs[k]), std::move(error));
    if (!result.tuple) return b;
    result.elements.push_back(std::move(b));
  }
  return result;
}

namespace {

// Error of sorted values: the errors move along; positions that may change
// places with a neighbour take on the spread of the values over them.
// `swappable(l, i)`: sorted positions i and i + 1 of line l may be exchanged.
template <typename Swappable>
std::vector<Literal> SortedErrors(const BoundOp& op,
                                  const std::vector<Literal>& sorted,
                                  const SortLines& lines,
                                  const std::vector<int64_t>& orders,
                                  const Swappable& swappable) {
  std::vector<Literal> errors;
  for (size_t k = 0; k < sorted.size(); ++k) {
    Literal e = Literal::Zeros(
        Shape::Array(ElementType::kF64, sorted[k].shape().dims()));
    if (k < op.operands.size() && !op.in(k).exact()) {
      for (int64_t l = 0; l < lines.lines; ++l) {
        for (int64_t i = 0; i < lines.length; ++i) {
          e.mutable_data<double>()[lines.at(l, i)] =
              op.in(k).error.data<double>()[lines.at(
                  l, orders[l * lines.length + i])];
        }
      }
    }
    errors.push_back(std::move(e));
  }
  for (int64_t l = 0; l < lines.lines; ++l) {
    for (int64_t b = 0; b < lines.length;) {
      int64_t e = b + 1;
      while (e < lines.length && swappable(l, e - 1)) ++e;
      for (size_t k = 0; e - b > 1 && k < sorted.size(); ++k) {
        double lo = kInfinity;
        double hi = -kInfinity;
        double most = 0;
        for (int64_t i = b; i < e; ++i) {
          const double x = GetDouble(sorted[k], lines.at(l, i));
          lo = std::min(lo, x);
          hi = std::max(hi, x);
          most = std::max(most, errors[k].data<double>()[lines.at(l, i)]);
        }
        const double spread = hi > lo ? hi - lo : 0;
        for (int64_t i = b; i < e; ++i) {
          errors[k].mutable_data<double>()[lines.at(l, i)] =
              std::max(most, spread + most);
        }
      }
      b = e;
    }
  }
  return errors;
}

}  // namespace

absl::StatusOr<Bounded> BoundSort(const BoundOp& op) {
  std::vector<Literal> operands = Values(op);
  std::vector<Literal*> pointers;
  for (Literal& l : operands) pointers.push_back(&l);
  Op plain{op.context.typed(), op.instruction, op.shape, pointers, 0};
  RIDGE_ASSIGN_OR_RETURN(SortLines lines, SortLinesOf(plain));
  RIDGE_ASSIGN_OR_RETURN(std::vector<int64_t> orders, SortOrder(plain));
  RIDGE_ASSIGN_OR_RETURN(Literal value, EvalSort(plain));
  const bool stable = op.instruction.bool_attr(AttrId::kIsStable, false);
  if (op.exact() && stable && !op.open_zeros()) {
    return ExactValue(std::move(value));
  }
  std::vector<Literal> sorted;
  if (value.shape().IsTuple()) {
    sorted.assign(value.elements().begin(), value.elements().end());
  } else {
    sorted.push_back(value);
  }
  // Neighbours that the comparator finds equal, for sorts that are not stable.
  const ScalarProgram* program =
      op.context.typed().Program(*op.instruction.to_apply());
  std::unique_ptr<ScalarProgram::Workspace> workspace;
  if (program != nullptr) {
    workspace = std::make_unique<ScalarProgram::Workspace>(*program, 1);
  }
  std::vector<std::array<uint8_t, 16>> lanes(2 * sorted.size());
  std::vector<const void*> in;
  for (const auto& lane : lanes) in.push_back(lane.data());
  auto equal = [&](int64_t l, int64_t i) {
    if (stable) return false;
    if (program == nullptr) return true;
    for (int way = 0; way < 2; ++way) {
      for (size_t k = 0; k < sorted.size(); ++k) {
        const ElementType t = sorted[k].shape().type();
        LaneFn load = LoadFn(t);
        for (int side = 0; side < 2; ++side) {
          const uint8_t* p = sorted[k].bytes() +
                             lines.at(l, i + (side ^ way)) * StorageBytes(t);
          uint8_t* lane = lanes[2 * k + side].data();
          if (load != nullptr) {
            load(p, lane, 1);
          } else {
            std::copy_n(p, StorageBytes(t), lane);
          }
        }
      }
      const void* out[1];
      program->Run(workspace.get(), in, 1, out);
      if (*static_cast<const uint8_t*>(out[0]) != 0) return false;
    }
    return true;
  };
  auto close = [&](int64_t l, int64_t i) {
    for (size_t k = 0; k < sorted.size(); ++k) {
      if (op.in(k).exact() && !op.in(k).open_zeros) continue;
      const double a = GetDouble(sorted[k], lines.at(l, i));
      const double b = GetDouble(sorted[k], lines.at(l, i + 1));
      if (op.in(k).open_zeros && a == 0 && b == 0) return true;
      if (op.in(k).exact()) continue;
      const double* e = op.in(k).error.data<double>().data();
      const double slack = e[lines.at(l, orders[l * lines.length + i])] +
                           e[lines.at(l, orders[l * lines.length + i + 1])];
      if (slack > 0 && std::fabs(a - b) <= slack) return true;
    }
    return false;
  };
  bool tied = false;
  std::vector<Literal> errors =
      SortedErrors(op, sorted, lines, orders, [&](int64_t l, int64_t i) {
        const bool swap = close(l, i) || (sorted.size() > 1 && equal(l, i));
        tied = tied || swap;
        return swap;
      });
  if (tied) {
    op.context.Note(op.instruction,
                    "sorts keys that are equal or closer than their error");
  }
  if (!op.shape.IsTuple()) {
    return ArrayValue(std::move(sorted[0]), std::move(errors[0]));
  }
  Bounded b;
  b.tuple = true;
  for (size_t k = 0; k < sorted.size(); ++k) {
    b.elements.push_back(
        ArrayValue(std::move(sorted[k]), std::move(errors[k])));
  }
  return b;
}

// As a sort of the values with their positions, cut after k.
absl::StatusOr<Bounded> BoundTopK(const BoundOp& op) {
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  if (op.exact() && !op.open_zeros()) return ExactValue(std::move(value));
  if (op.count() != 1 || op.in(0).tuple || !value.shape().IsTuple() ||
      value.elements().size() != 2) {
    return Unbounded(std::move(value));
  }
  const Shape& from = op.in(0).value.shape();
  const int64_t n = from.dims().back();
  const int64_t k = value.elements()[0].shape().dims().back();
  const bool largest = op.instruction.bool_attr(AttrId::kLargest, true);
  Literal x = Wide(op.in(0).value);
  const double* xs = x.data<double>().data();
  Literal own_errors = ErrorsOf(op.in(0));
  const double* es = own_errors.data<double>().data();
  Literal errors[2];
  for (int part = 0; part < 2; ++part) {
    errors[part] = Literal::Zeros(
        Shape::Array(ElementType::kF64, value.elements()[part].shape().dims()));
  }
  const int64_t lines = n == 0 ? 0 : from.ElementCount() / n;
  std::vector<int64_t> order(n);
  for (int64_t l = 0; l < lines; ++l) {
    for (int64_t i = 0; i < n; ++i) order[i] = i;
    const double* line = xs + l * n;
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      // NaN cannot be compared: it goes where it is.
      if (std::isnan(line[a]) || std::isnan(line[b])) return false;
      return largest ? line[a] > line[b] : line[a] < line[b];
    });
    for (int64_t i = 0; i < k; ++i) {
      // Everything that could take place i.
      double value_error = es[l * n + order[i]];
      double index_error = 0;
      for (int64_t j = 0; j < n; ++j) {
        const double slack = es[l * n + order[i]] + es[l * n + order[j]];
        const double gap = std::fabs(line[order[i]] - line[order[j]]);
        const bool zeros =
            op.in(0).open_zeros && line[order[i]] == 0 && line[order[j]] == 0;
        if (j == i || !(zeros || (slack > 0 && gap <= slack))) continue;
        value_error = std::max(value_error, gap + es[l * n + order[j]]);
        index_error = std::max(
            index_error, std::fabs(static_cast<double>(order[i] - order[j])));
      }
      errors[0].mutable_data<double>()[l * k + i] = value_error;
      errors[1].mutable_data<double>()[l * k + i] = index_error;
    }
  }
  Bounded b;
  b.tuple = true;
  for (int part = 0; part < 2; ++part) {
    b.elements.push_back(
        ArrayValue(value.elements()[part], std::move(errors[part])));
  }
  return b;
}

}  // namespace eval
}  // namespace ridge
