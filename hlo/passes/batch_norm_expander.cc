#include "hlo/passes/batch_norm_expander.h"

#include <vector>

#include "hlo/passes/rewriter.h"
#include "hlo/passes/scope.h"

namespace ridge {
namespace {

// A computation that adds two scalars, placed before `caller`.
Computation* Adder(ElementType type, Computation* caller) {
  Module* module = caller->module();
  Computation* c = module->AddComputation("add");
  Shape scalar = Shape::Scalar(type);
  Instruction* x = c->AddParameter(0, scalar, "x");
  Instruction* y = c->AddParameter(1, scalar, "y");
  c->set_root(c->Add(Opcode::kAdd, scalar, {x, y}, "sum"));
  module->MoveComputationBefore(c, caller);
  return c;
}

// Builds the formulas for one batch norm.
class Expansion {
 public:
  Expansion(Instruction* norm, Rewriter& r) : norm_(norm), r_(r) {
    const Shape& x = norm->operand(0)->shape();
    feature_ = norm->int_attr(AttrId::kFeatureIndex);
    type_ = Info(x.type()).bits < 32 ? ElementType::kF32 : x.type();
    dims_.assign(x.dims().begin(), x.dims().end());
    features_ = {x.dim(feature_)};
    per_feature_ = static_cast<double>(x.ElementCount()) /
                   static_cast<double>(x.dim(feature_));
    for (int64_t d = 0; d < x.rank(); ++d) {
      if (d != feature_) reduced_.push_back(d);
    }
  }

  Instruction* Expand() {
    switch (norm_->opcode()) {
      case Opcode::kBatchNormTraining:
        return Training();
      case Opcode::kBatchNormInference:
        return Inference();
      default:
        return Gradient();
    }
  }

 private:
  Instruction* Training() {
    Instruction* x = Operand(0);
    Instruction* mean = Mean(x);
    Instruction* centred = r_.Binary(Opcode::kSubtract, x, Spread(mean));
    Instruction* variance =
        Mean(r_.Binary(Opcode::kMultiply, centred, centred));
    Instruction* y = Normalized(centred, variance, Operand(1), Operand(2));
    return r_.Add(Opcode::kTuple, norm_->shape(),
                  {Result(y, 0), Result(mean, 1), Result(variance, 2)});
  }

  Instruction* Inference() {
    Instruction* x = Operand(0);
    Instruction* centred = r_.Binary(Opcode::kSubtract, x, Spread(Operand(3)));
    Instruction* y = Normalized(centred, Operand(4), Operand(1), Operand(2));
    return r_.Convert(y, norm_->shape().type());
  }

  Instruction* Gradient() {
    Instruction* x = Operand(0);
    Instruction* scale = Operand(1);
    Instruction* dy = Operand(4);
    Instruction* centred = r_.Binary(Opcode::kSubtract, x, Spread(Operand(2)));
    Instruction* t = InverseDeviation(Operand(3));
    Instruction* s = Sum(r_.Binary(Opcode::kMultiply, dy, centred));
    Instruction* d = Sum(dy);
    Instruction* n = r_.Splat(type_, features_, per_feature_);
    Instruction* t_squared = r_.Binary(Opcode::kMultiply, t, t);
    Instruction* slope = r_.Binary(
        Opcode::kDivide, r_.Binary(Opcode::kMultiply, t_squared, s), n);
    Instruction* level = r_.Binary(Opcode::kDivide, d, n);
    Instruction* inner = r_.Binary(
        Opcode::kSubtract, r_.Binary(Opcode::kSubtract, dy, Spread(level)),
        r_.Binary(Opcode::kMultiply, centred, Spread(slope)));
    Instruction* dx = r_.Binary(Opcode::kMultiply, inner,
                                Spread(r_.Binary(Opcode::kMultiply, scale, t)));
    Instruction* dscale = r_.Binary(Opcode::kMultiply, s, t);
    return r_.Add(Opcode::kTuple, norm_->shape(),
                  {Result(dx, 0), Result(dscale, 1), Result(d, 2)});
  }

  Instruction* Operand(int64_t k) {
    return r_.Convert(norm_->operand(k), type_);
  }

  // Over all dimensions but that of the features.
  Instruction* Sum(Instruction* x) {
    if (adder_ == nullptr) adder_ = Adder(type_, norm_->parent());
    Instruction* sum = r_.Add(Opcode::kReduce, r_.ArrayShape(type_, features_),
                              {x, r_.Scalar(type_, 0)});
    sum->set_ints(AttrId::kDimensions, reduced_);
    sum->SetAttr(AttrId::kToApply, adder_);
    return sum;
  }

  Instruction* Mean(Instruction* x) {
    return r_.Binary(Opcode::kDivide, Sum(x),
                     r_.Splat(type_, features_, per_feature_));
  }

  Instruction* Spread(Instruction* by_feature) {
    return r_.Broadcast(by_feature, {feature_}, dims_);
  }

  Instruction* InverseDeviation(Instruction* variance) {
    Instruction* epsilon =
        r_.Splat(type_, features_, norm_->float_attr(AttrId::kEpsilon));
    return r_.Unary(Opcode::kRsqrt, r_.Binary(Opcode::kAdd, variance, epsilon));
  }

  Instruction* Normalized(Instruction* centred, Instruction* variance,
                          Instruction* scale, Instruction* offset) {
    Instruction* normal = r_.Binary(Opcode::kMultiply, centred,
                                    Spread(InverseDeviation(variance)));
    return r_.Binary(Opcode::kAdd,
                     r_.Binary(Opcode::kMultiply, normal, Spread(scale)),
                     Spread(offset));
  }

  Instruction* Result(Instruction* x, int64_t k) {
    return r_.Convert(x, norm_->shape().tuple_shape(k).type());
  }

  Instruction* norm_;
  Rewriter& r_;
  int64_t feature_;
  ElementType type_;  // of the arithmetic
  DimVector dims_;
  DimVector features_;
  DimVector reduced_;
  double per_feature_;
  Computation* adder_ = nullptr;
};

bool MayExpand(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kBatchNormTraining:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormGrad:
      break;
    default:
      return false;
  }
  if (i.has_control_successors() || !i.control_predecessors().empty()) {
    return false;
  }
  for (const Instruction* o : i.operands()) {
    const Shape& s = o->shape();
    if (!s.IsArray() || !IsFloat(s.type()) || !s.IsStatic() ||
        !s.HasDefaultLayout() || s.ElementCount() == 0) {
      return false;
    }
  }
  int64_t feature = i.int_attr(AttrId::kFeatureIndex, -1);
  return i.shape().HasDefaultLayout() && feature >= 0 &&
         feature < i.operand(0)->shape().rank();
}

}  // namespace

absl::StatusOr<bool> ExpandBatchNorms(Module* module,
                                      const PassOptions& options) {
  bool changed = false;
  Rewriter r(options);
  for (Computation* computation : ComputationsInScope(module, options)) {
    for (Instruction* i : computation->instructions()) {
      if (!MayExpand(*i)) continue;
      r.set_target(i);
      Rewriter::Replace(i, Expansion(i, r).Expand(), /*takes_name=*/true);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ridge
