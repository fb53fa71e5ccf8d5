#include "hlo/evaluator/compare.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status_macros.h"
#include "hlo/ir/small_float.h"

namespace ridge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void Leaves(const Literal& literal, std::vector<const Literal*>* leaves) {
  if (literal.shape().IsTuple()) {
    for (const Literal& e : literal.elements()) Leaves(e, leaves);
  } else if (literal.shape().IsArray()) {
    leaves->push_back(&literal);
  }
}

// Real and imaginary part of element i.
std::complex<double> At(const Literal& l, int64_t i) {
  switch (l.shape().type()) {
    case ElementType::kC64:
      return {l.data<float>()[2 * i], l.data<float>()[2 * i + 1]};
    case ElementType::kC128:
      return {l.data<double>()[2 * i], l.data<double>()[2 * i + 1]};
    default:
      return GetDouble(l, i);
  }
}

// A number that counts the values of a float type in order.
int64_t Rank(ElementType type, double x) {
  if (type == ElementType::kF64) {
    int64_t b;
    std::memcpy(&b, &x, 8);
    return b < 0 ? std::numeric_limits<int64_t>::min() - b : b;
  }
  const int64_t bits = static_cast<int64_t>(EncodeFloat(type, std::fabs(x)));
  return x < 0 ? -bits : bits;
}

int64_t UlpDistance(ElementType type, double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) {
    return a == b || (std::isnan(a) && std::isnan(b))
               ? 0
               : std::numeric_limits<int64_t>::max();
  }
  int64_t difference;
  if (__builtin_sub_overflow(Rank(type, a), Rank(type, b), &difference) ||
      difference == std::numeric_limits<int64_t>::min()) {
    return std::numeric_limits<int64_t>::max();
  }
  return std::abs(difference);
}

bool Same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

OutputComparison CompareLeaf(const Tolerance& tolerance, const Literal& got,
                             const Literal& expected) {
  OutputComparison c;
  c.shape = got.shape();
  const ElementType type = ComplexComponent(got.shape().type());
  const bool exact_integers = !IsFloat(type);
  const int64_t n = got.shape().ElementCount();
  double scale = 1;
  if (tolerance.scaled) {
    scale = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double m = std::abs(At(expected, i));
      if (std::isfinite(m)) scale = std::max(scale, m);
    }
  }
  double worst = -1;
  int64_t worst_at = -1;
  for (int64_t i = 0; i < n; ++i) {
    const std::complex<double> g = At(got, i);
    const std::complex<double> e = At(expected, i);
    const double allowed =
        tolerance.bound.shape().IsArray()
            ? tolerance.bound.data<double>()[i]
            : tolerance.absolute * scale + tolerance.relative * std::abs(e);
    if (std::isinf(allowed)) ++c.unbounded;
    if (exact_integers && Info(got.shape().type()).bits == 64 && allowed == 0) {
      // 64-bit integers beyond 2^53 are not told apart by doubles.
      if (GetInt(got, i) == GetInt(expected, i)) continue;
    } else if (Same(g.real(), e.real()) && Same(g.imag(), e.imag())) {
      continue;
    }
    ++c.differ;
    double gap = std::abs(g - e);
    const bool finite = std::isfinite(gap);
    if (finite) {
      c.max_abs = std::max(c.max_abs, gap);
      if (std::abs(e) > 0) c.max_rel = std::max(c.max_rel, gap / std::abs(e));
    } else {
      gap = kInfinity;
    }
    int64_t ulp;
    if (exact_integers) {
      ulp = gap < 9e18 ? static_cast<int64_t>(gap)
                       : std::numeric_limits<int64_t>::max();
    } else {
      ulp = std::max(UlpDistance(type, g.real(), e.real()),
                     UlpDistance(type, g.imag(), e.imag()));
    }
    c.max_ulp = std::max(c.max_ulp, ulp);
    const bool inside =
        std::isinf(allowed) || (finite && gap <= allowed * (1 + 1e-9));
    if (!inside) {
      ++c.outside;
      if (!finite) ++c.nan_or_inf_disagree;
    }
    const double badness = std::isinf(allowed) ? 0
                           : allowed == 0      ? kInfinity
                                               : gap / allowed;
    if (badness > worst) {
      worst = badness;
      worst_at = i;
      c.got = g.real();
      c.expected = e.real();
      if (IsComplex(got.shape().type()) && g.real() == e.real()) {
        c.got = g.imag();
        c.expected = e.imag();
      }
      c.tolerance = allowed;
    }
  }
  if (worst_at >= 0) {
    c.index.assign(got.shape().rank(), 0);
    for (int64_t d = got.shape().rank() - 1; d >= 0; --d) {
      c.index[d] = worst_at % got.shape().dim(d);
      worst_at /= got.shape().dim(d);
    }
  }
  c.ok = c.outside == 0;
  return c;
}

}  // namespace

std::string OutputComparison::ToString() const {
  std::string text = absl::StrCat(
      "out.", number, " ", shape.ToString(), ": ",
      ok ? (differ == 0 ? "equal" : "within tolerance") : "DIFFERENT");
  if (differ > 0) {
    absl::StrAppendFormat(
        &text,
        ", %d of %d elements differ, max abs %.3g, max rel %.3g, max ulp %d",
        differ, shape.ElementCount(), max_abs, max_rel, max_ulp);
    absl::StrAppendFormat(&text,
                          "; at [%s] got %.9g, expected %.9g, tolerance %.3g",
                          absl::StrJoin(index, ","), got, expected, tolerance);
  }
  if (outside > 0) absl::StrAppend(&text, "; ", outside, " outside");
  if (nan_or_inf_disagree > 0) {
    absl::StrAppend(&text, ", ", nan_or_inf_disagree,
                    " of them finite in one and not in the other");
  }
  if (unbounded > 0) absl::StrAppend(&text, "; ", unbounded, " unbounded");
  return text;
}

std::string Comparison::ToString() const {
  std::string text;
  for (const OutputComparison& o : outputs) {
    absl::StrAppend(&text, o.ToString(), "\n");
  }
  for (const std::string& n : notes) absl::StrAppend(&text, "note: ", n, "\n");
  return text;
}

Tolerances TolerancesOf(const BoundedValue& value) {
  Tolerances t;
  std::vector<const Literal*> leaves;
  Leaves(value.bound, &leaves);
  for (const Literal* l : leaves) {
    t.outputs.emplace_back();
    t.outputs.back().bound = *l;
  }
  t.notes = value.notes;
  return t;
}

absl::StatusOr<Comparison> CompareWith(const Tolerances& tolerances,
                                       const Literal& got,
                                       const Literal& expected) {
  std::vector<const Literal*> g;
  std::vector<const Literal*> e;
  Leaves(got, &g);
  Leaves(expected, &e);
  if (g.size() != e.size() || g.size() != tolerances.outputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("compares ", g.size(), " outputs with ", e.size(),
                     ", tolerances for ", tolerances.outputs.size()));
  }
  Comparison c;
  c.notes = tolerances.notes;
  for (size_t k = 0; k < g.size(); ++k) {
    const Shape& gs = g[k]->shape();
    const Shape& es = e[k]->shape();
    const bool types_agree =
        gs.type() == es.type() ||
        (IsFloat(gs.type()) && es.type() == ElementType::kF64) ||
        (IsComplex(gs.type()) && es.type() == ElementType::kC128);
    const Literal& bound = tolerances.outputs[k].bound;
    if (!types_agree || !gs.SameDims(es) ||
        (bound.shape().IsArray() && !bound.shape().SameDims(gs))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "output ", k, ": got ", gs.ToString(), ", expected ", es.ToString()));
    }
    c.outputs.push_back(CompareLeaf(tolerances.outputs[k], *g[k], *e[k]));
    c.outputs.back().number = static_cast<int64_t>(k);
    c.ok = c.ok && c.outputs.back().ok;
  }
  return c;
}

absl::StatusOr<Comparison> CompareOutputs(const Module& module,
                                          const Literal& got,
                                          const Literal& expected) {
  return CompareWith(StaticTolerances(module), got, expected);
}

absl::StatusOr<Comparison> CompareWithEvaluator(
    const Module& module, absl::Span<const Literal> arguments,
    const Literal& got, const BoundOptions& options) {
  RIDGE_ASSIGN_OR_RETURN(BoundedValue bounded,
                         EvaluateWithBounds(module, arguments, options));
  return CompareWith(TolerancesOf(bounded), got, bounded.value);
}

}  // namespace ridge
