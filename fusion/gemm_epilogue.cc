#include "fusion/gemm_epilogue.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "fusion/axis_links.h"
#include "fusion/instruction_traits.h"
#include "fusion/plan.h"

namespace ridge {
namespace {

// Instructions of a GELU, with the constants and broadcasts it reads.
constexpr int kMaxGelu = 40;

// The value of a constant that was broadcast, or of a constant of one element.
std::optional<double> SplatValue(const Instruction* i) {
  while (i->opcode() == Opcode::kBroadcast || i->opcode() == Opcode::kConvert ||
         AliasesOperand(*i)) {
    i = i->operand(0);
  }
  if (i->opcode() != Opcode::kConstant || !i->shape().IsArray() ||
      IsComplex(i->shape().type()) || i->literal().elided() ||
      i->shape().ElementCount() == 0) {
    return std::nullopt;
  }
  if (i->shape().ElementCount() != 1 && !IsSplat(i->literal())) {
    return std::nullopt;
  }
  return GetDouble(i->literal(), 0);
}

double GeluTanh(double x) {
  constexpr double kSqrt2OverPi = 0.79788456080286535588;
  return 0.5 * x * (1 + std::tanh(kSqrt2OverPi * (x + 0.044715 * x * x * x)));
}

// The instructions between `from` and `to`: those that need `from` and that
// `to` needs. Empty where there are more than kMaxGelu, or where a value that
// depends on `from` is read outside.
std::vector<const Instruction*> Between(const Instruction* from,
                                        const Instruction* to) {
  absl::flat_hash_set<const Instruction*> seen = {from};
  std::vector<const Instruction*> stack = {from};
  std::vector<const Instruction*> found;
  while (!stack.empty()) {
    const Instruction* i = stack.back();
    stack.pop_back();
    if (i == to) continue;
    for (const Use& use : i->uses()) {
      if (!seen.insert(use.user).second) continue;
      found.push_back(use.user);
      if (static_cast<int>(found.size()) > kMaxGelu) return {};
      stack.push_back(use.user);
    }
    if (i->IsRoot()) return {};
  }
  if (!seen.contains(to)) return {};
  std::sort(found.begin(), found.end(),
            [](const Instruction* a, const Instruction* b) {
              return a->id() < b->id();
            });
  return found;
}

// Evaluates `members` (operands first) at h = `x`; nothing where one of them
// is no part of a tanh GELU.
std::optional<double> EvaluateAt(
    double x, const Instruction* h, const Instruction* to,
    const std::vector<const Instruction*>& members) {
  absl::flat_hash_map<const Instruction*, double> values = {{h, x}};
  auto value = [&](const Instruction* i) -> std::optional<double> {
    auto it = values.find(i);
    if (it != values.end()) return it->second;
    return SplatValue(i);
  };
  // List order is not id order after rewriting: go round until all are known.
  std::vector<const Instruction*> left = members;
  while (!left.empty()) {
    std::vector<const Instruction*> later;
    for (const Instruction* m : left) {
      std::optional<double> a = value(m->operand(0));
      std::optional<double> b =
          m->operand_count() > 1 ? value(m->operand(1)) : a;
      if (!a.has_value() || !b.has_value()) {
        later.push_back(m);
        continue;
      }
      switch (m->opcode()) {
        case Opcode::kAdd:
          values[m] = *a + *b;
          break;
        case Opcode::kSubtract:
          values[m] = *a - *b;
          break;
        case Opcode::kMultiply:
          values[m] = *a * *b;
          break;
        case Opcode::kDivide:
          values[m] = *a / *b;
          break;
        case Opcode::kPower:
          values[m] = std::pow(*a, *b);
          break;
        case Opcode::kNegate:
          values[m] = -*a;
          break;
        case Opcode::kTanh:
          values[m] = std::tanh(*a);
          break;
        default:
          return std::nullopt;
      }
    }
    if (later.size() == left.size()) return std::nullopt;
    left = std::move(later);
  }
  return value(to);
}

// Whether `to` is tanh-GELU of `h`. By value, not by spelling: modules write
// it in many ways. Constants may be off by the rounding of the element type;
// a tanh must be there, which tells it from the erf form in narrow types.
bool IsGeluTanh(const Instruction* h, const Instruction* to,
                const std::vector<const Instruction*>& members) {
  const Instruction* tanh = nullptr;
  for (const Instruction* m : members) {
    if (m->opcode() == Opcode::kTanh) {
      if (tanh != nullptr) return false;
      tanh = m;
    }
    if (!m->shape().SameDims(h->shape()) ||
        m->shape().type() != h->shape().type()) {
      return false;
    }
  }
  if (tanh == nullptr) return false;
  const double eps = std::ldexp(1.0, -Info(h->shape().type()).mantissa_bits);
  for (double x :
       {-5.5, -3.1, -1.7, -0.9, -0.31, 0.0, 0.2, 0.77, 1.3, 2.9, 4.6, 9.0}) {
    std::optional<double> y = EvaluateAt(x, h, to, members);
    if (!y.has_value() ||
        std::abs(*y - GeluTanh(x)) > 8 * eps * (std::abs(x) + 0.1)) {
      return false;
    }
  }
  return true;
}

// A vector over the minor dimension in memory of `shape`, broadcast to it; the
// vector, as it is stored.
const Instruction* BiasOf(const Instruction* i, const Shape& shape) {
  if (i->opcode() != Opcode::kBroadcast) return nullptr;
  const Instruction* vector = i->operand(0);
  const DimVector order = PhysicalDims(shape);
  if (order.empty() || vector->shape().ElementCount() <= 1) return nullptr;
  int64_t wide = -1;
  for (int64_t d = 0; d < vector->shape().rank(); ++d) {
    if (vector->shape().dim(d) == 1) continue;
    if (wide >= 0) return nullptr;
    wide = d;
  }
  if (wide < 0 || i->dimensions()[wide] != order.back()) return nullptr;
  return vector;
}

class Matcher {
 public:
  Matcher(const Instruction& dot, Numerics numerics,
          const absl::flat_hash_set<const Instruction*>* allowed)
      : dot_(dot), numerics_(numerics), allowed_(allowed) {}

  GemmEpilogueMatch Run() {
    m_.root = &dot_;
    taken_.push_back(&dot_);
    const ElementType type = dot_.shape().type();
    if (!IsFloat(type)) return Finish();
    while (Step()) {
    }
    return Finish();
  }

 private:
  bool Stop(Rule rule, std::string value, const Instruction* at) {
    m_.decision = Decision::No(rule, std::move(value));
    m_.at = at;
    return false;
  }

  // What the library computes in f32 and rounds once is as written only where
  // the values between are f32 and one operation follows the product.
  bool Rounds(const Instruction* op) {
    if (numerics_ == Numerics::kFusedEpilogue) return true;
    if (dot_.shape().type() != ElementType::kF32) {
      return Stop(Rule::kRounding, std::string(Name(dot_.shape().type())), op);
    }
    if (steps_ > 0) {
      // alpha*AB + bias in one go may contract to a fused multiply-add.
      return Stop(Rule::kRounding, absl::StrCat(steps_ + 1, " operations"), op);
    }
    return true;
  }

  bool Take(const Instruction* op) {
    if (allowed_ != nullptr && !allowed_->contains(op)) return false;
    taken_.push_back(op);
    m_.root = op;
    ++steps_;
    return true;
  }

  static const Instruction* Stored(const Instruction* i) {
    while (AliasesOperand(*i)) i = i->operand(0);
    return i;
  }

  // Takes the aliases through which a stored value is read; the value.
  const Instruction* TakeBuffer(const Instruction* i) {
    for (; AliasesOperand(*i); i = i->operand(0)) taken_.push_back(i);
    return i;
  }

  // One more instruction (or a whole GELU) after the root so far.
  bool Step() {
    const Instruction* cur = m_.root;
    if (cur->IsRoot() || cur->use_count() == 0) return false;
    if (m_.activation != GemmActivation::kNone) return false;
    std::vector<Instruction*> users = cur->users();
    if (users.size() > 1) return Gelu(cur);
    const Instruction* user = users[0];
    if (user->parent() != cur->parent()) return false;
    if (cur->use_count() > 1 && user->opcode() != Opcode::kMultiply) {
      return false;
    }
    if (user->shape().IsArray() == false ||
        !user->shape().SameDims(cur->shape()) ||
        user->shape().type() != cur->shape().type()) {
      return false;
    }
    const Shape& shape = cur->shape();
    // Another memory order would transpose the result.
    if (PhysicalDims(user->shape()) != PhysicalDims(shape)) return false;
    switch (user->opcode()) {
      case Opcode::kMultiply: {
        if (user->operand(0) == user->operand(1)) return false;
        const Instruction* other = Other(user, cur);
        std::optional<double> factor = SplatValue(other);
        if (!factor.has_value()) return false;
        if (m_.beta != 0 || m_.bias != nullptr) {
          return Stop(Rule::kEpilogue, "a scale after a sum", user);
        }
        if (!Rounds(user)) return false;
        if (!Take(user)) return false;
        m_.alpha *= *factor;
        return true;
      }
      case Opcode::kAdd: {
        if (user->operand(0) == user->operand(1)) return false;
        const Instruction* other = Other(user, cur);
        if (SplatValue(other).has_value()) return false;
        const Instruction* bias = BiasOf(other, shape);
        if (bias != nullptr && m_.bias == nullptr) {
          if (RidesAlong(*Stored(bias))) {
            return Stop(Rule::kEpilogue, "a bias that is computed", user);
          }
          if (!Rounds(user)) return false;
          if (!Take(user)) return false;
          taken_.push_back(other);
          m_.bias = TakeBuffer(bias);
          return true;
        }
        // C is read as it lies: a broadcast would be stored first.
        if (m_.beta != 0 || m_.bias != nullptr ||
            other->opcode() == Opcode::kBroadcast ||
            PhysicalDims(other->shape()) != PhysicalDims(shape)) {
          return Stop(Rule::kEpilogue, "a second sum", user);
        }
        if (RidesAlong(*Stored(other))) {
          return Stop(Rule::kEpilogue, "a sum with what is computed", user);
        }
        // The sum being the only reader of what was taken so far, `other`
        // does not wait for the product.
        if (!Rounds(user)) return false;
        if (!Take(user)) return false;
        m_.beta = 1;
        m_.c = TakeBuffer(other);
        return true;
      }
      case Opcode::kMaximum: {
        std::optional<double> zero = SplatValue(Other(user, cur));
        if (!zero.has_value() || *zero != 0) return false;
        // A library's ReLU gives 0 for NaN, HLO's maximum gives NaN.
        if (numerics_ != Numerics::kFusedEpilogue) {
          return Stop(Rule::kRounding, "NaN", user);
        }
        if (!Take(user)) return false;
        m_.activation = GemmActivation::kRelu;
        return true;
      }
      default:
        return Stop(Rule::kEpilogue, std::string(Name(user->opcode())), user);
    }
  }

  bool Gelu(const Instruction* cur) {
    // The end is the first user-most instruction that everything flows into:
    // try what the tanh feeds, a few steps on.
    const Instruction* at = nullptr;
    for (const Instruction* u : cur->users()) {
      at = at == nullptr || u->id() > at->id() ? u : at;
    }
    const Instruction* end = at;
    for (int step = 0; end != nullptr && step < 8; ++step) {
      std::vector<const Instruction*> between = Between(cur, end);
      if (!between.empty() && Closed(cur, end, between) &&
          IsGeluTanh(cur, end, between)) {
        if (numerics_ != Numerics::kFusedEpilogue) {
          return Stop(Rule::kRounding, "tanh", end);
        }
        if (allowed_ != nullptr && !allowed_->contains(end)) return false;
        taken_.insert(taken_.end(), between.begin(), between.end());
        m_.root = end;
        m_.activation = GemmActivation::kGeluTanh;
        return true;
      }
      end = end->users().size() == 1 ? end->users()[0] : nullptr;
    }
    return Stop(Rule::kEpilogue, "the sum has several readers", at);
  }

  // Nothing but `end` leaves `between`.
  static bool Closed(const Instruction* from, const Instruction* end,
                     const std::vector<const Instruction*>& between) {
    absl::flat_hash_set<const Instruction*> inside(between.begin(),
                                                   between.end());
    inside.insert(from);
    for (const Instruction* i : inside) {
      if (i == end) continue;
      if (i->IsRoot()) return false;
      for (const Use& use : i->uses()) {
        if (!inside.contains(use.user)) return false;
      }
    }
    return true;
  }

  static const Instruction* Other(const Instruction* op,
                                  const Instruction* one) {
    return op->operand(0) == one ? op->operand(1) : op->operand(0);
  }

  GemmEpilogueMatch Finish() {
    // Constants and broadcasts that the epilogue reads.
    absl::flat_hash_set<const Instruction*> members(taken_.begin(),
                                                    taken_.end());
    std::vector<const Instruction*> stack = taken_;
    while (!stack.empty()) {
      const Instruction* i = stack.back();
      stack.pop_back();
      if (i == &dot_) continue;
      for (const Instruction* o : i->operands()) {
        if (o == m_.c || o == m_.bias) continue;
        if (SplatValue(o).has_value() && members.insert(o).second) {
          stack.push_back(o);
        }
      }
    }
    m_.members.assign(members.begin(), members.end());
    std::sort(m_.members.begin(), m_.members.end(),
              [](const Instruction* a, const Instruction* b) {
                return a->id() < b->id();
              });
    return std::move(m_);
  }

  const Instruction& dot_;
  Numerics numerics_;
  const absl::flat_hash_set<const Instruction*>* allowed_;
  GemmEpilogueMatch m_;
  std::vector<const Instruction*> taken_;
  int steps_ = 0;
};

}  // namespace

GemmEpilogueMatch MatchGemmEpilogue(const Instruction& dot, Numerics numerics) {
  return Matcher(dot, numerics, nullptr).Run();
}

GemmEpilogueMatch MatchGemmGroup(const Instruction& dot,
                                 absl::Span<const Instruction* const> members,
                                 absl::Span<const Instruction* const> roots,
                                 Numerics numerics) {
  absl::flat_hash_set<const Instruction*> allowed(members.begin(),
                                                  members.end());
  GemmEpilogueMatch m = Matcher(dot, numerics, &allowed).Run();
  if (roots.size() != 1 || roots[0] != m.root) {
    if (m.decision.allowed()) {
      m.decision =
          Decision::No(Rule::kEpilogue, absl::StrCat(roots.size(), " results"));
      m.at = roots.empty() ? &dot : roots[0];
    }
    return m;
  }
  absl::flat_hash_set<const Instruction*> taken(m.members.begin(),
                                                m.members.end());
  for (const Instruction* i : members) {
    if (!taken.contains(i)) {
      m.decision = Decision::No(Rule::kEpilogue, std::string(i->name()));
      m.at = i;
      return m;
    }
  }
  m.decision = Decision();
  m.at = nullptr;
  return m;
}

}  // namespace ridge
