// Tolerances from the graph alone: see compare.h for the derivation.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "hlo/evaluator/compare.h"

namespace ridge {
namespace {

// Iterations assumed of a loop whose trip count is not known, and most that
// are counted.
constexpr double kUnknownTrips = 32;
constexpr double kMostTrips = 1 << 20;
constexpr int kMaxDepth = 100;

// A relative error for each leaf of an instruction's value; scalars of
// booleans and integers have 0 unless they come from floats (discrete ties are
// not foreseen without values).
using Errors = std::vector<double>;

int64_t LeafCount(const Shape& shape) {
  int64_t n = 0;
  ForEachLeaf(shape, [&](const Shape&, const ShapeIndex&) { ++n; });
  return n;
}

double Spacing(ElementType type) {
  return type == ElementType::kF64 || type == ElementType::kC128 ? 0x1p-52
                                                                 : 0x1p-23;
}

double Growth(double n) { return 1 + std::sqrt(std::max(n, 0.0)) / 2; }

bool Rounds(ElementType type) { return IsFloat(type) || IsComplex(type); }

// Rounding of the opcode itself, in units of the spacing.
double OwnUnits(Opcode opcode) {
  switch (Info(opcode).op_class) {
    case OpClass::kElementwise:
      break;
    case OpClass::kLinalg:
    case OpClass::kNorm:
      return 64;
    default:
      return 0;
  }
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
      return 1;
    case Opcode::kDivide:
    case Opcode::kSqrt:
      return 2;
    case Opcode::kAbs:
    case Opcode::kCeil:
    case Opcode::kClamp:
    case Opcode::kCompare:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kFloor:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kNegate:
    case Opcode::kSelect:
    case Opcode::kSign:
    case Opcode::kReal:
    case Opcode::kImag:
    case Opcode::kComplex:
      return 0;
    default:
      return 8;
  }
}

double Amplification(Opcode opcode) {
  switch (opcode) {
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kPower:
    case Opcode::kCosh:
    case Opcode::kSinh:
      return 8;
    default:
      return 1;
  }
}

class Walk {
 public:
  Errors Run(const Computation& computation, std::vector<Errors> arguments,
             int depth) {
    absl::flat_hash_map<const Instruction*, Errors> errors;
    if (computation.root() == nullptr || depth > kMaxDepth) return {};
    for (const Instruction* i : computation.instructions()) {
      std::vector<const Errors*> in;
      for (const Instruction* o : i->operands()) in.push_back(&errors[o]);
      Errors out = Step(*i, in, arguments, depth);
      out.resize(LeafCount(i->shape()), Worst(out));
      errors[i] = std::move(out);
    }
    return errors[computation.root()];
  }

 private:
  static double Worst(const Errors& e) {
    double worst = 0;
    for (double x : e) worst = std::max(worst, x);
    return worst;
  }

  Errors Step(const Instruction& i, const std::vector<const Errors*>& in,
              const std::vector<Errors>& arguments, int depth) {
    switch (i.opcode()) {
      case Opcode::kParameter: {
        const size_t k = static_cast<size_t>(i.parameter_number());
        return k < arguments.size() ? arguments[k] : Errors();
      }
      case Opcode::kTuple:
      case Opcode::kOptimizationBarrier: {
        Errors all;
        for (const Errors* e : in) all.insert(all.end(), e->begin(), e->end());
        return all;
      }
      case Opcode::kGetTupleElement:
        return Element(i, in);
      case Opcode::kCall:
        return Call(i.to_apply(), in, depth);
      case Opcode::kFusion:
        return Call(i.calls(), in, depth);
      case Opcode::kConditional: {
        Errors worst;
        std::vector<Computation*> branches = i.branches();
        for (size_t b = 0; b < branches.size() && b + 1 < in.size(); ++b) {
          Errors e = Run(*branches[b], {*in[b + 1]}, depth + 1);
          worst.resize(std::max(worst.size(), e.size()), 0);
          for (size_t k = 0; k < e.size(); ++k) {
            worst[k] = std::max(worst[k], e[k]);
          }
        }
        return worst;
      }
      case Opcode::kWhile:
        return Loop(i, in, depth);
      default:
        return {Arithmetic(i, in)};
    }
  }

  Errors Element(const Instruction& i, const std::vector<const Errors*>& in) {
    const Shape& from = i.operand(0)->shape();
    int64_t first = 0;
    const int64_t k = i.tuple_index();
    if (k < 0 || k >= static_cast<int64_t>(from.tuple_shapes().size())) {
      return {};
    }
    for (int64_t e = 0; e < k; ++e) first += LeafCount(from.tuple_shape(e));
    const int64_t n = LeafCount(from.tuple_shape(k));
    Errors out;
    for (int64_t e = first; e < first + n; ++e) {
      out.push_back(e < static_cast<int64_t>(in[0]->size()) ? (*in[0])[e] : 0);
    }
    return out;
  }

  Errors Call(const Computation* callee, const std::vector<const Errors*>& in,
              int depth) {
    if (callee == nullptr) return {};
    std::vector<Errors> arguments;
    for (const Errors* e : in) arguments.push_back(*e);
    return Run(*callee, std::move(arguments), depth + 1);
  }

  // `counter < constant` from zero in steps of one.
  static double Trips(const Instruction& i) {
    const Computation* condition = i.computation(AttrId::kCondition);
    if (condition == nullptr || condition->root() == nullptr) return 1;
    const Instruction* root = condition->root();
    if (root->opcode() == Opcode::kCompare && root->operand_count() == 2) {
      for (const Instruction* o : root->operands()) {
        while (o->opcode() == Opcode::kCopy ||
               o->opcode() == Opcode::kConvert) {
          o = o->operand(0);
        }
        if (o->opcode() == Opcode::kConstant && o->shape().IsScalar()) {
          return std::min(kMostTrips,
                          std::max(1.0, std::fabs(GetDouble(o->literal(), 0))));
        }
      }
    }
    return kUnknownTrips;
  }

  // What one iteration adds to its state, counted once a trip.
  Errors Loop(const Instruction& i, const std::vector<const Errors*>& in,
              int depth) {
    const Computation* body = i.computation(AttrId::kBody);
    if (body == nullptr || in.empty()) return {};
    Errors state = *in[0];
    // Twice, so that what an iteration adds to one element reaches others.
    Errors once = Run(*body, {state}, depth + 1);
    Errors twice = Run(*body, {once}, depth + 1);
    const double trips = Trips(i);
    for (size_t k = 0; k < twice.size() && k < once.size(); ++k) {
      const double step = std::max(0.0, twice[k] - once[k]);
      twice[k] = std::max(once[k], twice[k]) + step * trips;
    }
    return twice;
  }

  double Arithmetic(const Instruction& i,
                    const std::vector<const Errors*>& in) {
    double sum = 0;
    double most = 0;
    for (const Errors* e : in) {
      sum += Worst(*e);
      most = std::max(most, Worst(*e));
    }
    ElementType type = i.shape().type();
    if (i.shape().IsTuple() && !i.shape().tuple_shapes().empty()) {
      type = i.shape().tuple_shape(0).type();
    }
    const double u = Spacing(type);
    double r = most;
    if (!Rounds(type)) return most;
    switch (Info(i.opcode()).op_class) {
      case OpClass::kElementwise:
        r = Amplification(i.opcode()) *
                (OwnUnits(i.opcode()) > 0 ? sum : most) +
            OwnUnits(i.opcode()) * u;
        break;
      case OpClass::kReduce: {
        const double n =
            i.opcode() == Opcode::kReduce
                ? static_cast<double>(i.operand(0)->shape().ElementCount()) /
                      std::max<double>(
                          1, static_cast<double>(
                                 i.shape().IsTuple()
                                     ? i.shape().tuple_shape(0).ElementCount()
                                     : i.shape().ElementCount()))
                : WindowSize(i);
        r = most + Growth(n) * u;
        break;
      }
      case OpClass::kContraction:
        r = sum + Growth(Products(i)) * u;
        break;
      case OpClass::kLinalg:
      case OpClass::kNorm:
        r = 64 * (sum + Growth(static_cast<double>(
                            i.operand(0)->shape().ElementCount())) *
                            u);
        break;
      case OpClass::kIndexed:
        if (i.opcode() == Opcode::kScatter) r = most + 8 * u;
        break;
      default:
        break;
    }
    // A difference may push a rounding the other way.
    if (r > 0 && Info(ComplexComponent(type)).bits < 32) {
      r += std::ldexp(1.0, -Info(type).mantissa_bits);
    }
    return r;
  }

  static double WindowSize(const Instruction& i) {
    double n = 1;
    if (i.window() != nullptr) {
      for (const WindowDimension& w : *i.window()) {
        n *= static_cast<double>(w.size);
      }
    }
    return n;
  }

  static double Products(const Instruction& i) {
    double n = 1;
    if (i.opcode() == Opcode::kConvolution) {
      return WindowSize(i) *
             static_cast<double>(i.operand(1)->shape().ElementCount());
    }
    const Shape& lhs = i.operand(0)->shape();
    for (int64_t d : i.ints(AttrId::kLhsContractingDims)) {
      if (d >= 0 && d < lhs.rank()) n *= static_cast<double>(lhs.dim(d));
    }
    return n;
  }
};

}  // namespace

Tolerances StaticTolerances(const Module& module) {
  Tolerances t;
  if (module.entry() == nullptr || module.entry()->root() == nullptr) return t;
  std::vector<Errors> arguments(module.entry()->parameters().size());
  Errors errors = Walk().Run(*module.entry(), std::move(arguments), 0);
  size_t k = 0;
  ForEachLeaf(module.entry()->root()->shape(),
              [&](const Shape& leaf, const ShapeIndex&) {
                const double r = k < errors.size() ? errors[k] : 0;
                ++k;
                if (!leaf.IsArray()) return;
                t.outputs.emplace_back();
                Tolerance& one = t.outputs.back();
                if (Rounds(leaf.type())) {
                  one.relative = r;
                  one.absolute = r;
                  one.scaled = true;
                }
              });
  return t;
}

}  // namespace ridge
