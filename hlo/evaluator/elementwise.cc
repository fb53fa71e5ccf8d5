#include "hlo/evaluator/elementwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "hlo/base/status_macros.h"
#include "hlo/evaluator/handlers.h"
#include "hlo/ir/small_float.h"

namespace ridge {
namespace eval {
namespace {

// Elements per task: some 10 to 100 us of work.
constexpr int64_t kGrain = 32 * kBlockElements;

// The dying operand whose storage the result can take, or -1.
int64_t ReusableOperand(const Op& op) {
  const int width = StorageBytes(op.shape.type());
  for (int64_t i = 0; i < op.count(); ++i) {
    const Literal& in = op.in(i);
    if (op.owns(i) && in.unique() && in.shape().SameDims(op.shape) &&
        StorageBytes(in.shape().type()) == width) {
      return i;
    }
  }
  return -1;
}

BlockParams ParamsOf(const Op& op) {
  BlockParams p;
  p.from = op.in(0).shape().type();
  p.to = op.shape.type();
  p.bits = Info(p.from).bits;
  p.exponent_bits =
      static_cast<int>(op.instruction.int_attr(AttrId::kExponentBits, 8));
  p.mantissa_bits =
      static_cast<int>(op.instruction.int_attr(AttrId::kMantissaBits, 23));
  return p;
}

// Operands match the result's dimensions; those from `scalars_from` on may be
// scalars.
absl::Status CheckOperands(const Op& op, int64_t n, uint64_t may_be_scalar) {
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, n));
  for (int64_t i = 0; i < n; ++i) {
    const Shape& s = op.in(i).shape();
    if (((may_be_scalar >> i) & 1) != 0 && s.IsScalar()) continue;
    if (!s.SameDims(op.shape)) {
      return Invalid("operand ", i, " has shape ", s.ToString(),
                     "; the result has ", op.shape.ToString());
    }
  }
  return op.interpreter.CheckFits(op.shape);
}

}  // namespace

const void* LoadBlock(const Literal& literal, int64_t begin, int64_t n,
                      void* buffer) {
  ElementType type = literal.shape().type();
  const uint8_t* src = literal.bytes() + begin * StorageBytes(type);
  LaneFn load = LoadFn(type);
  if (load == nullptr) return src;
  load(src, buffer, n);
  return buffer;
}

namespace {

// An operand as RunBlocks reads it.
struct Source {
  const uint8_t* bytes;
  int width;
  LaneFn load;
  bool splat;
};

void RunSources(const Interpreter& interpreter, BlockFn fn,
                const BlockParams& params, absl::Span<const Source> in,
                ElementType out_type, uint8_t* out, int64_t n) {
  const int out_width = StorageBytes(out_type);
  LaneFn store = StoreFn(out_type);
  // Kernels are vectorised for spans that do not overlap.
  bool in_place = false;
  for (const Source& s : in) in_place = in_place || s.bytes == out;
  interpreter.Parallel(0, n, kGrain, [&](int64_t begin, int64_t end) {
    alignas(64) uint8_t buffers[4][kBlockBytes];
    const void* lanes[3];
    for (size_t k = 0; k < in.size(); ++k) {
      if (!in[k].splat) continue;
      uint8_t one[16];
      const uint8_t* value = in[k].bytes;
      int width = in[k].width;
      if (in[k].load != nullptr) {
        in[k].load(value, one, 1);
        value = one;
        width = 4;  // every converted lane is 32 bits wide
      }
      int64_t count = std::min(kBlockElements, end - begin);
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(buffers[k] + i * width, value, width);
      }
      lanes[k] = buffers[k];
    }
    for (int64_t b = begin; b < end; b += kBlockElements) {
      const int64_t m = std::min(kBlockElements, end - b);
      for (size_t k = 0; k < in.size(); ++k) {
        if (in[k].splat) continue;
        const uint8_t* src = in[k].bytes + b * in[k].width;
        if (in[k].load != nullptr) {
          in[k].load(src, buffers[k], m);
          lanes[k] = buffers[k];
        } else {
          lanes[k] = src;
        }
      }
      uint8_t* dst = out + b * out_width;
      if (store == nullptr && !in_place) {
        fn(params, lanes, dst, m);
      } else {
        fn(params, lanes, buffers[3], m);
        if (store != nullptr) {
          store(buffers[3], dst, m);
        } else {
          std::memcpy(dst, buffers[3], m * out_width);
        }
      }
    }
  });
}

Source SourceOf(const Literal& l, int64_t n) {
  ElementType t = l.shape().type();
  return {l.bytes(), StorageBytes(t), LoadFn(t),
          n > 1 && l.shape().ElementCount() == 1};
}

absl::StatusOr<Literal> RunOp(const Op& op, BlockFn fn,
                              const BlockParams& params) {
  const int64_t n = op.shape.ElementCount();
  absl::InlinedVector<Source, 3> sources;
  for (int64_t i = 0; i < op.count(); ++i) {
    sources.push_back(SourceOf(op.in(i), n));
  }
  // Taken after the sources are: the bytes stay where they are.
  const int64_t reuse = ReusableOperand(op);
  Literal out = reuse >= 0 ? op.Take(reuse) : Literal::Zeros(op.shape);
  *out.mutable_shape() = op.shape;
  if (n > 0) {
    RunSources(op.interpreter, fn, params, sources, op.shape.type(),
               out.mutable_bytes(), n);
  }
  return out;
}

}  // namespace

void RunBlocks(const Interpreter& interpreter, BlockFn fn,
               const BlockParams& params, absl::Span<const Literal* const> in,
               Literal* out) {
  const int64_t n = out->shape().ElementCount();
  if (n == 0) return;
  absl::InlinedVector<Source, 3> sources;
  for (const Literal* l : in) sources.push_back(SourceOf(*l, n));
  RunSources(interpreter, fn, params, sources, out->shape().type(),
             out->mutable_bytes(), n);
}

Literal ConvertTo(const Literal& literal, const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (size_t i = 0; i < literal.elements().size(); ++i) {
      elements.push_back(
          ConvertTo(literal.elements()[i], shape.tuple_shape(i)));
    }
    Literal out = Literal::Tuple(std::move(elements));
    *out.mutable_shape() = shape;
    return out;
  }
  ElementType from = literal.shape().type();
  if (!shape.IsArray() || from == shape.type()) {
    Literal out = literal;
    *out.mutable_shape() = shape;
    return out;
  }
  Literal out = Literal::Zeros(shape);
  BlockParams p;
  p.from = from;
  p.to = shape.type();
  Source source{literal.bytes(), StorageBytes(from), LoadFn(from), false};
  if (shape.ElementCount() > 0) {
    static const EvalOptions& options = *new EvalOptions();
    RunSources(Interpreter(options), FindConvertFn(from, shape.type()), p,
               absl::MakeConstSpan(&source, 1), shape.type(),
               out.mutable_bytes(), shape.ElementCount());
  }
  return out;
}

absl::StatusOr<Literal> EvalElementwise(const Op& op) {
  const Opcode opcode = op.instruction.opcode();
  const int64_t arity = Info(opcode).arity;
  // clamp's limits may be scalars.
  RIDGE_RETURN_IF_ERROR(
      CheckOperands(op, arity, opcode == Opcode::kClamp ? 0b101 : 0));
  Lane lane = LaneOf(op.in(0).shape().type());
  BlockFn fn = FindBlockFn(opcode, lane);
  if (fn == nullptr) {
    return Unsupported(Name(opcode), " is not defined for ",
                       Name(op.in(0).shape().type()));
  }
  for (int64_t i = 1; i < arity; ++i) {
    if (LaneOf(op.in(i).shape().type()) != lane) {
      return Invalid("operands of types ", Name(op.in(0).shape().type()),
                     " and ", Name(op.in(i).shape().type()));
    }
  }
  if (LaneOf(op.shape.type()) != ResultLane(opcode, lane)) {
    return Invalid("a result of type ", Name(op.shape.type()), " from ",
                   Name(op.in(0).shape().type()));
  }
  return RunOp(op, fn, ParamsOf(op));
}

absl::StatusOr<Literal> EvalCompare(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckOperands(op, 2, 0));
  Lane lane = LaneOf(op.in(0).shape().type());
  if (LaneOf(op.in(1).shape().type()) != lane || !IsPred(op.shape.type())) {
    return Invalid("compares ", Name(op.in(0).shape().type()), " with ",
                   Name(op.in(1).shape().type()), " into ",
                   Name(op.shape.type()));
  }
  bool total = op.instruction.enum_attr(AttrId::kComparisonType,
                                        ComparisonOrder::kFloat) ==
               ComparisonOrder::kTotalOrder;
  BlockFn fn = FindCompareFn(
      op.instruction.enum_attr(AttrId::kDirection, ComparisonDirection::kEq),
      total, lane);
  if (fn == nullptr) {
    return Unsupported("this comparison is not defined for ",
                       Name(op.in(0).shape().type()));
  }
  return RunOp(op, fn, ParamsOf(op));
}

absl::StatusOr<Literal> EvalConvert(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckOperands(op, 1, 0));
  ElementType from = op.in(0).shape().type();
  if (from == op.shape.type()) return EvalIdentity(op);
  return RunOp(op, FindConvertFn(from, op.shape.type()), ParamsOf(op));
}

absl::StatusOr<Literal> EvalSelect(const Op& op) {
  // Old modules select whole tuples by a scalar predicate.
  if (op.count() == 3 && op.shape.IsTuple() && op.in(0).shape().IsScalar() &&
      IsPred(op.in(0).shape().type())) {
    return op.Take(op.in(0).data<uint8_t>()[0] != 0 ? 1 : 2);
  }
  RIDGE_RETURN_IF_ERROR(CheckOperands(op, 3, 0b001));
  Lane lane = LaneOf(op.shape.type());
  if (!IsPred(op.in(0).shape().type()) ||
      LaneOf(op.in(1).shape().type()) != lane ||
      LaneOf(op.in(2).shape().type()) != lane) {
    return Invalid("selects between ", Name(op.in(1).shape().type()), " and ",
                   Name(op.in(2).shape().type()), " by ",
                   Name(op.in(0).shape().type()));
  }
  return RunOp(op, FindSelectFn(lane), ParamsOf(op));
}

namespace {

// The value of `to` next to `x` towards zero, and the one after it away from
// zero: for a float target through its bits, for an integer floor of |x|.
struct Neighbours {
  double low;  // nearer zero
  double high;
};

Neighbours Around(ElementType to, double magnitude) {
  if (!IsFloat(to)) {
    double t = std::trunc(magnitude);
    return {t, t + 1};
  }
  double nearest = DecodeFloat(to, EncodeFloat(to, magnitude));
  if (nearest == magnitude || !std::isfinite(nearest)) {
    return {nearest, nearest};
  }
  uint64_t bits = EncodeFloat(to, magnitude);
  if (nearest < magnitude) return {nearest, DecodeFloat(to, bits + 1)};
  return {DecodeFloat(to, bits - 1), nearest};
}

}  // namespace

// Rounds away from zero with the probability that the random operand, read as
// a fraction of 2^bits, falls below the part cut off.
absl::StatusOr<Literal> EvalStochasticConvert(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckOperands(op, 2, 0));
  ElementType from = op.in(0).shape().type();
  ElementType to = op.instruction.shape().type();
  ElementType random = op.in(1).shape().type();
  if (!IsFloat(from) || !IsUnsigned(random)) {
    return Invalid("operands of types ", Name(from), " and ", Name(random));
  }
  Literal out = Literal::Zeros(op.shape);
  const int64_t n = op.shape.ElementCount();
  const double scale = std::ldexp(1.0, -Info(random).bits);
  const double top = IsFloat(to)
                         ? INFINITY
                         : std::ldexp(1.0, Info(to).bits - IsSigned(to)) - 1;
  for (int64_t i = 0; i < n; ++i) {
    double x = GetDouble(op.in(0), i);
    double magnitude = std::fabs(x);
    if (std::isfinite(x) && magnitude <= top) {
      Neighbours around = Around(to, magnitude);
      double gap = around.high - around.low;
      double part = gap > 0 ? (magnitude - around.low) / gap : 0;
      double u =
          static_cast<double>(static_cast<uint64_t>(GetInt(op.in(1), i))) *
          scale;
      x = std::copysign(u < part ? around.high : around.low, x);
    }
    SetDouble(&out, i, x);
  }
  return out;
}

}  // namespace eval
}  // namespace ridge
