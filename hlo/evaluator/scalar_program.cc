#include "hlo/evaluator/scalar_program.h"

#include <cstring>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace ridge {
namespace {

// Calls inside a scalar computation are inlined; deeper nesting than this is
// left to the interpreter.
constexpr int kMaxInlineDepth = 32;
constexpr int64_t kMaxSteps = 20000;

ElementType EvalType(ElementType type, bool f64) {
  if (!f64) return type;
  if (IsFloat(type)) return ElementType::kF64;
  if (IsComplex(type)) return ElementType::kC128;
  return type;
}

bool IsIdentity(Opcode op) {
  switch (op) {
    case Opcode::kCopy:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kTranspose:
    case Opcode::kOptimizationBarrier:
      return true;
    default:
      return false;
  }
}

void BitcastLanes(const BlockParams& p, const void* const* in, void* out,
                  int64_t n) {
  uint8_t from[kBlockElements * 8];
  uint8_t to[kBlockElements * 8];
  const int width = StorageBytes(p.from);
  LaneFn store = StoreFn(p.from);
  LaneFn load = LoadFn(p.to);
  const uint8_t* src = static_cast<const uint8_t*>(in[0]);
  if (store != nullptr) {
    store(in[0], from, n);
    src = from;
  }
  if (load == nullptr) {
    std::memcpy(out, src, n * width);
    return;
  }
  std::memcpy(to, src, n * width);
  load(to, out, n);
}

}  // namespace

// Walks the computation once, in order; a value is a list of registers (more
// than one for a tuple).
class ScalarCompiler {
 public:
  ScalarCompiler(ScalarProgram* program, bool f64)
      : program_(*program), f64_(f64) {}

  using Value = absl::InlinedVector<int32_t, 2>;

  bool Inline(const Computation& computation, absl::Span<const Value> arguments,
              int depth, Value* result) {
    if (depth > kMaxInlineDepth || computation.root() == nullptr) return false;
    absl::flat_hash_map<const Instruction*, Value> values;
    for (const Instruction* i : computation.instructions()) {
      if (static_cast<int64_t>(program_.steps_.size()) > kMaxSteps) {
        return false;
      }
      Value value;
      if (i->opcode() == Opcode::kParameter) {
        int64_t k = i->parameter_number();
        if (k < 0 || k >= static_cast<int64_t>(arguments.size())) return false;
        value = arguments[k];
      } else {
        std::vector<Value> operands;
        for (const Instruction* o : i->operands()) {
          auto it = values.find(o);
          if (it == values.end()) return false;
          operands.push_back(it->second);
        }
        if (!Emit(*i, operands, depth, &value)) return false;
      }
      values[i] = std::move(value);
    }
    auto it = values.find(computation.root());
    if (it == values.end()) return false;
    *result = it->second;
    return true;
  }

  int32_t AddRegister(ElementType type) {
    ScalarProgram::Register r;
    r.lane = LaneOf(type);
    program_.registers_.push_back(r);
    return static_cast<int32_t>(program_.registers_.size() - 1);
  }

 private:
  bool Emit(const Instruction& i, absl::Span<const Value> operands, int depth,
            Value* value) {
    switch (i.opcode()) {
      case Opcode::kTuple:
        for (const Value& o : operands) {
          if (o.size() != 1) return false;
          value->push_back(o[0]);
        }
        return true;
      case Opcode::kGetTupleElement: {
        int64_t k = i.tuple_index();
        if (operands.size() != 1 || k < 0 ||
            k >= static_cast<int64_t>(operands[0].size()) ||
            !i.shape().IsArray()) {
          return false;
        }
        value->push_back(operands[0][k]);
        return true;
      }
      case Opcode::kCall:
        return i.to_apply() != nullptr &&
               Inline(*i.to_apply(), operands, depth + 1, value);
      case Opcode::kFusion:
        return i.calls() != nullptr &&
               Inline(*i.calls(), operands, depth + 1, value);
      default:
        break;
    }
    if (!i.shape().IsScalar()) return false;
    for (const Value& o : operands) {
      if (o.size() != 1) return false;
    }
    for (const Instruction* o : i.operands()) {
      if (!o->shape().IsScalar()) return false;
    }
    if (i.opcode() == Opcode::kConstant) {
      value->push_back(AddConstant(i.literal()));
      return true;
    }
    if (IsIdentity(i.opcode())) {
      if (operands.size() != 1 ||
          i.shape().type() != i.operand(0)->shape().type()) {
        return false;
      }
      *value = operands[0];
      return true;
    }
    return EmitKernel(i, operands, value);
  }

  bool EmitKernel(const Instruction& i, absl::Span<const Value> operands,
                  Value* value) {
    if (operands.empty() || operands.size() > 3) return false;
    ElementType to = EvalType(i.shape().type(), f64_);
    ElementType from = EvalType(i.operand(0)->shape().type(), f64_);
    ScalarProgram::Step step = {};
    step.params.from = from;
    step.params.to = to;
    step.params.bits = Info(from).bits;
    step.params.exponent_bits =
        static_cast<int>(i.int_attr(AttrId::kExponentBits, 8));
    step.params.mantissa_bits =
        static_cast<int>(i.int_attr(AttrId::kMantissaBits, 23));
    Lane lane = LaneOf(from);
    Lane result = ResultLane(i.opcode(), lane);
    switch (i.opcode()) {
      case Opcode::kCompare: {
        if (operands.size() != 2) return false;
        bool total =
            i.enum_attr(AttrId::kComparisonType, ComparisonOrder::kFloat) ==
            ComparisonOrder::kTotalOrder;
        step.fn = FindCompareFn(
            i.enum_attr(AttrId::kDirection, ComparisonDirection::kEq), total,
            lane);
        break;
      }
      case Opcode::kConvert:
        step.fn = FindConvertFn(from, to);
        result = LaneOf(to);
        break;
      case Opcode::kSelect:
        if (operands.size() != 3 || lane != Lane::kPred) return false;
        result = LaneOf(to);
        step.fn = FindSelectFn(result);
        break;
      case Opcode::kBitcastConvert:
        if (f64_ || Info(from).bits != Info(to).bits || IsComplex(from)) {
          return false;
        }
        step.fn = BitcastLanes;
        result = LaneOf(to);
        break;
      default:
        if (Info(i.opcode()).arity != static_cast<int>(operands.size())) {
          return false;
        }
        step.fn = FindBlockFn(i.opcode(), lane);
        break;
    }
    if (step.fn == nullptr || result != LaneOf(to)) return false;
    // Operands of one lane, but for select's predicate.
    for (size_t k = 0; k < operands.size(); ++k) {
      step.in[k] = operands[k][0];
      Lane got = program_.registers_[step.in[k]].lane;
      bool data = i.opcode() == Opcode::kSelect && k > 0;
      if (got != (data ? result : lane)) return false;
    }
    step.round = RoundFnFor(to);
    step.out = AddRegister(to);
    if (IsFloat(to) || IsComplex(to)) ++program_.float_steps_;
    program_.steps_.push_back(step);
    value->push_back(step.out);
    return true;
  }

  int32_t AddConstant(const Literal& literal) {
    ElementType from = literal.shape().type();
    ElementType to = EvalType(from, f64_);
    int32_t r = AddRegister(to);
    ScalarProgram::Register& reg = program_.registers_[r];
    uint8_t lanes[16];
    LaneFn load = LoadFn(from);
    if (load != nullptr) {
      load(literal.bytes(), lanes, 1);
    } else {
      std::memcpy(lanes, literal.bytes(), StorageBytes(from));
    }
    if (from != to) {
      BlockParams p;
      p.from = from;
      p.to = to;
      const void* in[1] = {lanes};
      FindConvertFn(from, to)(p, in, reg.constant, 1);
    } else {
      std::memcpy(reg.constant, lanes, 16);
    }
    reg.is_constant = true;
    return r;
  }

  ScalarProgram& program_;
  bool f64_;
};

namespace {

// Strips conversions between float types (or integers) around `i`.
const Instruction* StripConverts(const Instruction* i) {
  while (i->opcode() == Opcode::kConvert || i->opcode() == Opcode::kCopy ||
         i->opcode() == Opcode::kBitcast || i->opcode() == Opcode::kReshape) {
    const Instruction* o = i->operand(0);
    if (Info(i->shape().type()).type_class !=
        Info(o->shape().type()).type_class) {
      break;
    }
    // Narrowing on the way in would round the operands: not the same sum.
    i = o;
  }
  return i;
}

bool OnlyWidens(const Instruction* i) {
  while (i->opcode() == Opcode::kConvert) {
    const Instruction* o = i->operand(0);
    if (Info(i->shape().type()).mantissa_bits <
        Info(o->shape().type()).mantissa_bits) {
      return false;
    }
    i = o;
  }
  return true;
}

// The opcode if `root` is op(parameter k, parameter k + half), either order.
bool MatchSimple(const Instruction* root, int64_t k, int64_t half,
                 Opcode* opcode) {
  const Instruction* i = StripConverts(root);
  switch (i->opcode()) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      break;
    default:
      return false;
  }
  if (i->operand_count() != 2) return false;
  const Instruction* a = StripConverts(i->operand(0));
  const Instruction* b = StripConverts(i->operand(1));
  if (a->opcode() != Opcode::kParameter || b->opcode() != Opcode::kParameter ||
      !OnlyWidens(i->operand(0)) || !OnlyWidens(i->operand(1))) {
    return false;
  }
  int64_t x = a->parameter_number();
  int64_t y = b->parameter_number();
  if (!((x == k && y == k + half) || (y == k && x == k + half))) return false;
  *opcode = i->opcode();
  return true;
}

}  // namespace

std::unique_ptr<ScalarProgram> ScalarProgram::Compile(
    const Computation& computation, bool f64) {
  auto program = std::make_unique<ScalarProgram>();
  ScalarCompiler compiler(program.get(), f64);
  std::vector<ScalarCompiler::Value> arguments;
  for (const Instruction* p : computation.parameters()) {
    if (p == nullptr || !p->shape().IsScalar()) return nullptr;
    ElementType type = EvalType(p->shape().type(), f64);
    program->parameters_.push_back(type);
    int32_t r = compiler.AddRegister(type);
    program->registers_[r].parameter = static_cast<int32_t>(arguments.size());
    arguments.push_back({r});
  }
  ScalarCompiler::Value result;
  if (!compiler.Inline(computation, arguments, 0, &result)) return nullptr;
  const Instruction* root = computation.root();
  const Shape& shape = root->shape();
  if (shape.IsTuple()) {
    if (shape.tuple_shapes().size() != result.size()) return nullptr;
    for (const Shape& t : shape.tuple_shapes()) {
      if (!t.IsScalar()) return nullptr;
      program->results_.push_back(EvalType(t.type(), f64));
    }
  } else {
    if (result.size() != 1) return nullptr;
    program->results_.push_back(EvalType(shape.type(), f64));
  }
  program->outputs_.assign(result.begin(), result.end());

  // What the fast paths know.
  int64_t half = static_cast<int64_t>(program->results_.size());
  if (2 * half == static_cast<int64_t>(program->parameters_.size())) {
    for (int64_t k = 0; k < half; ++k) {
      const Instruction* r = root;
      if (shape.IsTuple()) {
        if (root->opcode() != Opcode::kTuple) break;
        r = root->operand(k);
      }
      Opcode opcode;
      if (!MatchSimple(r, k, half, &opcode)) break;
      program->simple_.push_back(opcode);
    }
    if (static_cast<int64_t>(program->simple_.size()) != half) {
      program->simple_.clear();
    }
  }
  if (root->opcode() == Opcode::kCompare) {
    const Instruction* a = root->operand(0);
    const Instruction* b = root->operand(1);
    auto direction =
        root->enum_attr(AttrId::kDirection, ComparisonDirection::kEq);
    bool less = direction == ComparisonDirection::kLt ||
                direction == ComparisonDirection::kGt;
    if (less && a->opcode() == Opcode::kParameter &&
        b->opcode() == Opcode::kParameter && a->parameter_number() % 2 == 0 &&
        b->parameter_number() == a->parameter_number() + 1) {
      SimpleCompare c;
      c.operand = a->parameter_number() / 2;
      c.direction = direction;
      c.total_order =
          root->enum_attr(AttrId::kComparisonType, ComparisonOrder::kFloat) ==
          ComparisonOrder::kTotalOrder;
      program->simple_compare_ = c;
    }
  }
  return program;
}

ScalarProgram::Workspace::Workspace(const ScalarProgram& program,
                                    int64_t capacity) {
  int64_t bytes = 0;
  for (const Register& r : program.registers_) {
    if (r.parameter < 0) bytes += (capacity * LaneBytes(r.lane) + 15) / 16 * 16;
  }
  storage_.resize(bytes + 16);
  uint8_t* at = storage_.data();
  at += (16 - reinterpret_cast<uintptr_t>(at) % 16) % 16;
  registers_.resize(program.registers_.size(), nullptr);
  values_.resize(program.registers_.size(), nullptr);
  for (size_t i = 0; i < program.registers_.size(); ++i) {
    const Register& r = program.registers_[i];
    if (r.parameter >= 0) continue;
    const int width = LaneBytes(r.lane);
    registers_[i] = at;
    values_[i] = at;
    if (r.is_constant) {
      for (int64_t k = 0; k < capacity; ++k) {
        std::memcpy(at + k * width, r.constant, width);
      }
    }
    at += (capacity * width + 15) / 16 * 16;
  }
}

void ScalarProgram::Run(Workspace* w, absl::Span<const void* const> in,
                        int64_t n, absl::Span<const void*> out) const {
  for (size_t i = 0; i < parameters_.size(); ++i) w->values_[i] = in[i];
  for (const Step& step : steps_) {
    const void* operands[3] = {w->values_[step.in[0]], w->values_[step.in[1]],
                               w->values_[step.in[2]]};
    step.fn(step.params, operands, w->registers_[step.out], n);
    if (step.round != nullptr) step.round(w->registers_[step.out], n);
  }
  for (size_t k = 0; k < outputs_.size(); ++k) out[k] = w->values_[outputs_[k]];
}

}  // namespace ridge
