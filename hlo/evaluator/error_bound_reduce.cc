// Error rules of sums, products and selections over many elements.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "hlo/base/status_macros.h"
#include "hlo/evaluator/error_bound_context.h"
#include "hlo/evaluator/handlers.h"
#include "hlo/evaluator/reduce.h"
#include "hlo/evaluator/strided.h"
#include "hlo/evaluator/window.h"

namespace ridge {
namespace eval {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Literal Scalar(double x) {
  return FullLiteral(Shape::Scalar(ElementType::kF64), x);
}
Shape F64Of(const Shape& shape) {
  return Shape::Array(ElementType::kF64, shape.dims());
}

// How one reduction combines f64 arrays: over dimensions or over windows.
class Combine {
 public:
  virtual ~Combine() = default;
  // `in` has type f64 or c128 and so has the result.
  virtual Literal Run(Opcode opcode, const Literal& in, const Literal& init,
                      const Shape& shape) const = 0;
  virtual int64_t terms() const = 0;  // of one result, at most
};

class OverDimensions : public Combine {
 public:
  OverDimensions(const Interpreter& interpreter, const Shape& from, Ints dims)
      : interpreter_(interpreter), is_reduced_(from.rank(), false) {
    for (int64_t d : dims) {
      is_reduced_[d] = true;
      terms_ *= from.dim(d);
    }
  }
  Literal Run(Opcode opcode, const Literal& in, const Literal& init,
              const Shape& shape) const override {
    const Reducer* r = FindReducer(opcode, LaneOf(in.shape().type()));
    return ReduceArray(interpreter_, *r, in, init, is_reduced_, shape);
  }
  int64_t terms() const override { return terms_; }

 private:
  const Interpreter& interpreter_;
  std::vector<bool> is_reduced_;
  int64_t terms_ = 1;
};

class OverWindows : public Combine {
 public:
  OverWindows(const Interpreter& interpreter, const Window& window)
      : interpreter_(interpreter), window_(window) {
    for (const WindowDimension& w : window) terms_ *= w.size;
  }
  Literal Run(Opcode opcode, const Literal& in, const Literal& init,
              const Shape& shape) const override {
    const Reducer* r = FindReducer(opcode, LaneOf(in.shape().type()));
    return ReduceWindows(interpreter_, *r, window_, in, init, shape);
  }
  int64_t terms() const override { return terms_; }

 private:
  const Interpreter& interpreter_;
  const Window& window_;
  int64_t terms_ = 1;
};

// Spacing of the running sums of a type.
double SumSpacing(const BoundOptions& options, ElementType type) {
  if (!options.narrow_sums_in_f32 && IsFloat(type) && Info(type).bits < 32) {
    return std::ldexp(1.0, -Info(type).mantissa_bits);
  }
  return SpacingOf(type);
}

// The rounding of a sum of exact terms, one copy of them in double at a time.
Literal ExactSumError(const BoundOp& op, const Combine& combine,
                      const Literal& in, const Literal& init,
                      const Literal& value) {
  // The first addition to a neutral start does not round.
  if (combine.terms() <= 1 && GetDouble(init, 0) == 0) {
    return Literal::Zeros(F64Of(value.shape()));
  }
  const ElementType type = value.shape().type();
  Literal center =
      combine.Run(Opcode::kAdd, Wide(in), Wide(init), ToF64(value.shape()));
  Literal size = combine.Run(Opcode::kAdd, Magnitudes(in), Magnitudes(init),
                             F64Of(value.shape()));
  Literal slack = Literal::Zeros(F64Of(value.shape()));
  AddScaled(SumSpacing(op.context.options(), type) * SumGrowth(combine.terms()),
            size, &slack);
  return RoundedError(value, center, slack);
}

// One array reduced by one of the simple opcodes.
Literal SimpleError(const BoundOp& op, const Combine& combine, Opcode opcode,
                    const Bounded& in, const Bounded& init,
                    const Literal& value) {
  const ElementType type = value.shape().type();
  const Shape f64 = F64Of(value.shape());
  const bool inexact = !in.exact() || !init.exact();
  const bool is_float = IsFloat(type) || IsComplex(type);
  const bool rounds = is_float &&
                      (opcode == Opcode::kAdd || opcode == Opcode::kMultiply) &&
                      combine.terms() > 0;
  if (!inexact && !rounds) return Literal::Zeros(f64);
  if (!inexact && opcode == Opcode::kAdd) {
    return ExactSumError(op, combine, in.value, init.value, value);
  }
  Literal errors = ErrorsOf(in);
  Literal init_error = ErrorsOf(init);
  const double u = SumSpacing(op.context.options(), type);
  switch (opcode) {
    case Opcode::kAdd: {
      if (IsPred(type)) break;
      Shape wide = ToF64(value.shape());
      if (!is_float) wide = f64;
      Literal center =
          combine.Run(Opcode::kAdd, Wide(in.value), Wide(init.value), wide);
      Literal slack = combine.Run(Opcode::kAdd, errors, init_error, f64);
      if (rounds) {
        // The first addition to a neutral start does not round.
        const bool neutral = GetDouble(init.value, 0) == 0;
        if (combine.terms() > 1 || !neutral) {
          Literal size = combine.Run(Opcode::kAdd, Magnitudes(in.value),
                                     Magnitudes(init.value), f64);
          AddScaled(u * SumGrowth(combine.terms()), size, &slack);
        }
      }
      return RoundedError(value, center, slack);
    }
    case Opcode::kMultiply: {
      if (IsPred(type)) break;
      Literal size = Magnitudes(in.value);
      Literal relative = errors;
      absl::Span<double> r = relative.mutable_data<double>();
      for (size_t i = 0; i < r.size(); ++i) {
        if (r[i] != 0) r[i] /= size.data<double>()[i];
        if (is_float) r[i] += u;
      }
      const double start = std::fabs(GetDouble(init.value, 0));
      Literal total = combine.Run(
          Opcode::kAdd, relative,
          Scalar(init.exact() ? 0 : init_error.data<double>()[0] / start), f64);
      Literal v = Magnitudes(value);
      absl::Span<double> e = total.mutable_data<double>();
      for (size_t i = 0; i < e.size(); ++i) {
        e[i] = std::expm1(e[i]) * v.data<double>()[i];
        if (std::isnan(e[i])) e[i] = kInfinity;
      }
      if (!is_float || IsComplex(type)) {
        return RoundedError(value, Wide(value), total);
      }
      // The product before it is rounded: it may lie between two values.
      return RoundedError(
          value,
          combine.Run(Opcode::kMultiply, Wide(in.value), Wide(init.value), f64),
          total);
    }
    case Opcode::kMaximum:
    case Opcode::kMinimum: {
      if (IsComplex(type)) break;
      Literal error = Literal::Zeros(f64);
      absl::Span<double> e = error.mutable_data<double>();
      Literal v = Wide(value);
      for (double sign : {-1.0, 1.0}) {
        Literal moved = Wide(in.value);
        AddScaled(sign, errors, &moved);
        Literal start = Wide(init.value);
        AddScaled(sign, init_error, &start);
        Literal side = combine.Run(opcode, moved, start, f64);
        for (size_t i = 0; i < e.size(); ++i) {
          const double s = side.data<double>()[i];
          const double w = v.data<double>()[i];
          if (s == w || (std::isnan(s) && std::isnan(w))) continue;
          const double gap = std::fabs(s - w);
          e[i] = std::max(e[i], std::isnan(gap) ? kInfinity : gap);
        }
      }
      return error;
    }
    default:
      break;
  }
  // Logic on bits: doubt in any term is doubt in the result.
  for (double& x : errors.mutable_data<double>()) {
    if (x != 0) x = IsPred(type) ? 1 : kInfinity;
  }
  return combine.Run(Opcode::kMaximum, errors, init_error, f64);
}

// A reducer that is none of the simple ones. One that only compares and
// selects (argmax): the other results it could have chosen are those of
// elements whose key lies within its error of the chosen one's. One that
// computes: the change of its results when all operands move by their errors,
// and the rounding of its instructions at every step.
absl::StatusOr<std::vector<Literal>> GeneralErrors(
    const BoundOp& op, const Combine& combine,
    const std::vector<Literal>& values) {
  const int64_t count = static_cast<int64_t>(values.size());
  const ScalarProgram* program =
      op.context.typed().Program(*op.instruction.to_apply());
  const int64_t steps = program == nullptr ? 8 : program->float_steps();
  std::vector<Literal> errors;
  for (const Literal& v : values)
    errors.push_back(Literal::Zeros(F64Of(v.shape())));
  if (op.exact() && steps == 0) return errors;
  // What moves when all values do.
  Literal sides[2];
  for (int side = 0; side < 2 && !op.exact(); ++side) {
    std::vector<Literal> moved;
    for (const Bounded* b : op.operands) {
      Literal m = b->value;
      if (!b->exact() && IsFloat(m.shape().type())) {
        m = Wide(m);
        AddScaled(side == 0 ? -1 : 1, b->error, &m);
      }
      moved.push_back(std::move(m));
    }
    RIDGE_ASSIGN_OR_RETURN(sides[side], RunWide(op, std::move(moved)));
  }
  for (int64_t k = 0; k < count; ++k) {
    const ElementType type = values[k].shape().type();
    absl::Span<double> e = errors[k].mutable_data<double>();
    Literal v = Magnitudes(values[k]);
    for (int side = 0; side < 2 && !op.exact(); ++side) {
      const Literal& s = sides[side].shape().IsTuple()
                             ? sides[side].elements()[k]
                             : sides[side];
      for (size_t i = 0; i < e.size(); ++i) {
        const double a = GetDouble(s, static_cast<int64_t>(i));
        const double b = GetDouble(values[k], static_cast<int64_t>(i));
        if (a == b || (std::isnan(a) && std::isnan(b))) continue;
        const double gap = std::fabs(a - b);
        e[i] = std::max(e[i], std::isnan(gap) ? kInfinity : gap);
      }
    }
    if (steps > 0 && (IsFloat(type) || IsComplex(type))) {
      Literal size = combine.Run(Opcode::kAdd, Magnitudes(op.in(k).value),
                                 Magnitudes(op.in(count + k).value),
                                 F64Of(values[k].shape()));
      const double u = SumSpacing(op.context.options(), type) *
                       static_cast<double>(steps) * SumGrowth(combine.terms());
      for (size_t i = 0; i < e.size(); ++i) {
        e[i] += u * std::max(size.data<double>()[i], v.data<double>()[i]);
      }
    }
  }
  return errors;
}

// Adds what a selection among near ties could give instead: `members(i, fn)`
// calls fn with each input position of output i.
template <typename Members>
void AddNearTies(const BoundOp& op, const std::vector<Literal>& values,
                 const Members& members, std::vector<Literal>* errors) {
  const int64_t count = static_cast<int64_t>(values.size());
  for (int64_t key = 0; key < count; ++key) {
    if (op.in(key).exact() || !IsFloat(values[key].shape().type())) continue;
    Literal x = Wide(op.in(key).value);
    const double* xs = x.data<double>().data();
    const double* es = op.in(key).error.data<double>().data();
    Literal chosen = Wide(values[key]);
    const int64_t n = values[key].shape().ElementCount();
    for (int64_t i = 0; i < n; ++i) {
      const double c = chosen.data<double>()[i];
      // The chosen element's own error: the largest among equals.
      double own = 0;
      members(i, [&](int64_t at) {
        if (xs[at] == c) own = std::max(own, es[at]);
      });
      members(i, [&](int64_t at) {
        if (!(std::fabs(xs[at] - c) <= es[at] + own)) return;
        for (int64_t k = 0; k < count; ++k) {
          const double a = GetDouble(op.in(k).value, at);
          const double b = GetDouble(values[k], i);
          double gap = a == b ? 0 : std::fabs(a - b);
          if (!op.in(k).exact()) gap += op.in(k).error.data<double>()[at];
          double& e = (*errors)[k].mutable_data<double>()[i];
          e = std::max(e, std::isnan(gap) ? kInfinity : gap);
        }
      });
    }
  }
}

absl::StatusOr<Bounded> Finish(const BoundOp& op, std::vector<Literal> values,
                               std::vector<Literal> errors) {
  if (!op.shape.IsTuple()) {
    return ArrayValue(std::move(values[0]), std::move(errors[0]));
  }
  Bounded b;
  b.tuple = true;
  for (size_t k = 0; k < values.size(); ++k) {
    b.elements.push_back(
        ArrayValue(std::move(values[k]), std::move(errors[k])));
  }
  return b;
}

std::vector<Literal> Parts(const Literal& value) {
  if (!value.shape().IsTuple()) return {value};
  return {value.elements().begin(), value.elements().end()};
}

// Errors by closed form if the reducer has one; false if it has not.
bool SimpleErrors(const BoundOp& op, const Combine& combine,
                  const std::vector<Literal>& values,
                  std::vector<Literal>* errors) {
  const int64_t count = static_cast<int64_t>(values.size());
  const ScalarProgram* program =
      op.context.typed().Program(*op.instruction.to_apply());
  if (program == nullptr ||
      static_cast<int64_t>(program->simple_reducers().size()) != count) {
    return false;
  }
  for (int64_t k = 0; k < count; ++k) {
    if (FindReducer(program->simple_reducers()[k],
                    LaneOf(values[k].shape().type())) == nullptr) {
      return false;
    }
  }
  for (int64_t k = 0; k < count; ++k) {
    errors->push_back(SimpleError(op, combine, program->simple_reducers()[k],
                                  op.in(k), op.in(count + k), values[k]));
  }
  return true;
}

}  // namespace

absl::StatusOr<Bounded> BoundReduce(const BoundOp& op) {
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  std::vector<Literal> values = Parts(value);
  const Shape& from = op.in(0).value.shape();
  Ints dims = op.instruction.dimensions();
  OverDimensions combine(op.context.typed(), from, dims);
  std::vector<Literal> errors;
  if (SimpleErrors(op, combine, values, &errors)) {
    return Finish(op, std::move(values), std::move(errors));
  }
  RIDGE_ASSIGN_OR_RETURN(errors, GeneralErrors(op, combine, values));
  if (!op.exact()) {
    DimVector kept_strides;
    DimVector kept_sizes;
    DimVector sizes;
    DimVector strides;
    DimVector all = RowMajorStrides(from.dims());
    for (int64_t d = 0; d < from.rank(); ++d) {
      const bool reduced = std::find(dims.begin(), dims.end(), d) != dims.end();
      (reduced ? sizes : kept_sizes).push_back(from.dim(d));
      (reduced ? strides : kept_strides).push_back(all[d]);
    }
    AddNearTies(
        op, values,
        [&](int64_t i, auto&& fn) {
          if (Product(sizes) == 0) return;
          Odometer kept(kept_sizes);
          kept.Set(i);
          int64_t base = 0;
          for (size_t d = 0; d < kept_sizes.size(); ++d) {
            base += kept.index()[d] * kept_strides[d];
          }
          Odometer at(sizes);
          do {
            int64_t offset = base;
            for (size_t d = 0; d < sizes.size(); ++d) {
              offset += at.index()[d] * strides[d];
            }
            fn(offset);
          } while (at.Next());
        },
        &errors);
  }
  return Finish(op, std::move(values), std::move(errors));
}

absl::StatusOr<Bounded> BoundReduceWindow(const BoundOp& op) {
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  std::vector<Literal> values = Parts(value);
  const Window none(op.in(0).value.shape().rank());
  const Window& window =
      op.instruction.window() == nullptr ? none : *op.instruction.window();
  OverWindows combine(op.context.typed(), window);
  std::vector<Literal> errors;
  if (!SimpleErrors(op, combine, values, &errors)) {
    RIDGE_ASSIGN_OR_RETURN(errors, GeneralErrors(op, combine, values));
  }
  return Finish(op, std::move(values), std::move(errors));
}

namespace {

// f64 combiners for counting and adding errors.
const Computation& F64Combiner(Opcode opcode) {
  static const auto& kModules = *[] {
    auto* modules = new std::vector<std::unique_ptr<Module>>();
    for (Opcode op : {Opcode::kAdd, Opcode::kMaximum}) {
      auto module = std::make_unique<Module>("combiner");
      Computation* c = module->AddComputation("combine");
      const Shape f64 = Shape::Scalar(ElementType::kF64);
      Instruction* a = c->AddParameter(0, f64, "a");
      Instruction* b = c->AddParameter(1, f64, "b");
      c->set_root(c->Add(op, f64, {a, b}, "combined"));
      module->set_entry(c);
      modules->push_back(std::move(module));
    }
    return modules;
  }();
  return *kModules[opcode == Opcode::kAdd ? 0 : 1]->entry();
}

absl::StatusOr<Literal> ScatterF64(const BoundOp& op, Opcode combiner,
                                   Literal operand, const Literal& indices,
                                   Literal updates) {
  Shape shape = operand.shape();
  Literal copy = indices;
  Literal* pointers[3] = {&operand, &copy, &updates};
  Op plain{op.context.typed(), op.instruction, shape, pointers, 0};
  return ScatterWith(plain, F64Combiner(combiner));
}

}  // namespace

// Added updates are sums; updates that overwrite move their errors, and where
// several write one place any of them may be last; the others are bounded by
// the operands' errors where no arithmetic is done.
absl::StatusOr<Bounded> BoundScatter(const BoundOp& op) {
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  const Computation* combiner = op.instruction.to_apply();
  const int64_t count = (op.count() - 1) / 2;
  if (!op.in(count).exact()) {
    op.context.Note(op.instruction, "an index lies within its error");
    return Unbounded(std::move(value));
  }
  const ScalarProgram* program = op.context.typed().Program(*combiner);
  const bool overwrites = combiner->root() != nullptr &&
                          combiner->root()->opcode() == Opcode::kParameter &&
                          combiner->root()->parameter_number() == 1;
  const bool simple = program != nullptr && count == 1 &&
                      program->simple_reducers().size() == 1;
  if (count != 1 || (!overwrites && !simple)) {
    if (op.exact() && program != nullptr && program->float_steps() == 0) {
      return ExactValue(std::move(value));
    }
    op.context.Note(op.instruction, "no error rule for its combiner");
    return Unbounded(std::move(value));
  }
  const ElementType type = value.shape().type();
  const bool is_float = IsFloat(type) || IsComplex(type);
  const Shape f64 = F64Of(value.shape());
  const Literal& indices = op.in(1).value;
  const Bounded& updates = op.in(2);
  const Literal ones = FullLiteral(F64Of(updates.value.shape()), 1.0);
  RIDGE_ASSIGN_OR_RETURN(
      Literal hits,
      ScatterF64(op, Opcode::kAdd, Literal::Zeros(f64), indices, ones));
  const int64_t n = value.shape().ElementCount();
  if (overwrites) {
    RIDGE_ASSIGN_OR_RETURN(Literal error, [&]() -> absl::StatusOr<Literal> {
      if (op.exact()) return Literal::Zeros(f64);
      // The instruction's own combiner passes errors on as it does values.
      Literal o = ErrorsOf(op.in(0));
      Literal i = indices;
      Literal u = ErrorsOf(updates);
      Literal* pointers[3] = {&o, &i, &u};
      Op plain{op.context.wide(), op.instruction, f64, pointers, 0};
      return ScatterWith(plain, *combiner);
    }());
    // The largest distance of any update of a place from the value there.
    bool repeated = false;
    for (double h : hits.data<double>()) repeated = repeated || h > 1;
    if (repeated && !IsComplex(type)) {
      const Literal low =
          FullLiteral(f64, -std::numeric_limits<double>::infinity());
      Literal negative = Wide(updates.value);
      for (double& x : negative.mutable_data<double>()) x = -x;
      RIDGE_ASSIGN_OR_RETURN(
          Literal most,
          ScatterF64(op, Opcode::kMaximum, low, indices, Wide(updates.value)));
      RIDGE_ASSIGN_OR_RETURN(Literal least, ScatterF64(op, Opcode::kMaximum,
                                                       low, indices, negative));
      Literal v = Wide(value);
      for (int64_t i = 0; i < n; ++i) {
        if (hits.data<double>()[i] <= 1) continue;
        const double w = v.data<double>()[i];
        double gap =
            std::max(most.data<double>()[i] - w, w + least.data<double>()[i]);
        error.mutable_data<double>()[i] += std::isnan(gap) ? kInfinity : gap;
      }
      op.context.Note(op.instruction,
                      "several updates write one place; any may be last");
    }
    return ArrayValue(std::move(value), std::move(error));
  }
  const Opcode opcode = program->simple_reducers()[0];
  if (!is_float && op.exact()) return ExactValue(std::move(value));
  if (opcode == Opcode::kAdd && !IsPred(type)) {
    RIDGE_ASSIGN_OR_RETURN(
        Literal slack, ScatterF64(op, Opcode::kAdd, ErrorsOf(op.in(0)), indices,
                                  ErrorsOf(updates)));
    if (is_float) {
      RIDGE_ASSIGN_OR_RETURN(
          Literal size, ScatterF64(op, Opcode::kAdd, Magnitudes(op.in(0).value),
                                   indices, Magnitudes(updates.value)));
      // Each addition rounds to the type: that is what scatter says.
      const double u =
          std::ldexp(1.0, -Info(ComplexComponent(type)).mantissa_bits);
      for (int64_t i = 0; i < n; ++i) {
        const double h = hits.data<double>()[i];
        if (h == 0) continue;
        slack.mutable_data<double>()[i] +=
            u * SumGrowth(static_cast<int64_t>(h)) * size.data<double>()[i];
      }
    }
    Literal center = Wide(value);
    return ArrayValue(value, RoundedError(value, center, slack));
  }
  // Maximum, minimum: 1-Lipschitz in the largest of their operands' changes.
  // Products: relative errors add up.
  RIDGE_ASSIGN_OR_RETURN(Literal error,
                         ScatterF64(op, Opcode::kMaximum, ErrorsOf(op.in(0)),
                                    indices, ErrorsOf(updates)));
  if (opcode == Opcode::kMultiply && is_float) {
    if (!op.exact()) {
      op.context.Note(op.instruction, "no error rule for inexact products");
      return Unbounded(std::move(value));
    }
    Literal size = Magnitudes(value);
    for (int64_t i = 0; i < n; ++i) {
      error.mutable_data<double>()[i] =
          hits.data<double>()[i] * SpacingOf(type) * size.data<double>()[i];
    }
    return ArrayValue(value, RoundedError(value, Wide(value), error));
  }
  if (opcode != Opcode::kMaximum && opcode != Opcode::kMinimum) {
    for (double& e : error.mutable_data<double>()) {
      if (e != 0) e = IsPred(type) ? 1 : kInfinity;
    }
  }
  return ArrayValue(std::move(value), std::move(error));
}

// The sources' errors arrive where their values do. A window whose choice lies
// within the operand's error is not followed to the other element.
absl::StatusOr<Bounded> BoundSelectAndScatter(const BoundOp& op) {
  RIDGE_ASSIGN_OR_RETURN(Literal value, RunTyped(op, Values(op)));
  if (!op.in(0).exact()) {
    op.context.Note(op.instruction,
                    "which element a window selects lies within its error");
    return Unbounded(std::move(value));
  }
  const ElementType type = value.shape().type();
  if (!IsFloat(type)) {
    return op.exact() ? ExactValue(std::move(value))
                      : Unbounded(std::move(value));
  }
  const ScalarProgram* combines =
      op.context.typed().Program(*op.instruction.computation(AttrId::kScatter));
  if (combines == nullptr || combines->simple_reducers().size() != 1 ||
      combines->simple_reducers()[0] != Opcode::kAdd) {
    op.context.Note(op.instruction, "no error rule for its combiner");
    return Unbounded(std::move(value));
  }
  RIDGE_ASSIGN_OR_RETURN(
      Literal slack,
      RunWide(op, {op.in(0).value, ErrorsOf(op.in(1)), ErrorsOf(op.in(2))}));
  RIDGE_ASSIGN_OR_RETURN(
      Literal size, RunWide(op, {op.in(0).value, Magnitudes(op.in(1).value),
                                 Magnitudes(op.in(2).value)}));
  RIDGE_ASSIGN_OR_RETURN(Literal center, RunWide(op, Values(op)));
  int64_t overlap = 1;
  if (op.instruction.window() != nullptr) {
    for (const WindowDimension& w : *op.instruction.window()) {
      overlap *= w.size;
    }
  }
  const double u = std::ldexp(1.0, -Info(type).mantissa_bits);
  AddScaled(u * SumGrowth(overlap), size, &slack);
  return ArrayValue(value, RoundedError(value, center, slack));
}

}  // namespace eval
}  // namespace ridge
