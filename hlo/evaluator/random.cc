// rng-bit-generator (ThreeFry 2x32 and Philox 4x32 after Salmon et al., SC
// 2011, with the counters, state and element order that XLA gives them), rng
// (whose values HLO leaves open) and its state.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "hlo/base/status_macros.h"
#include "hlo/evaluator/handlers.h"
#include "hlo/evaluator/strided.h"

namespace ridge {
namespace eval {
namespace {

using Words2 = std::array<uint32_t, 2>;
using Words4 = std::array<uint32_t, 4>;

Words2 Split(uint64_t x) {
  return {static_cast<uint32_t>(x), static_cast<uint32_t>(x >> 32)};
}
uint64_t Join(uint32_t low, uint32_t high) {
  return low | static_cast<uint64_t>(high) << 32;
}

// Twenty rounds: five groups of four, a key word pair injected after each.
Words2 ThreeFry(Words2 x, Words2 key) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t ks[3] = {key[0], key[1], 0x1BD11BDA ^ key[0] ^ key[1]};
  x[0] += ks[0];
  x[1] += ks[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (int rotation : kRotations[group % 2]) {
      x[0] += x[1];
      x[1] = x[0] ^ (x[1] << rotation | x[1] >> (32 - rotation));
    }
    x[0] += ks[(group + 1) % 3];
    x[1] += ks[(group + 2) % 3] + group + 1;
  }
  return x;
}

Words4 Philox(Words4 x, Words2 key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * x[0];
    uint64_t b = uint64_t{0xCD9E8D57} * x[2];
    x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ key[0],
         static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ x[3] ^ key[1],
         static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return x;
}

// Four words for 128-bit counter (low, high) + i.
Words4 PhiloxAt(uint64_t low, uint64_t high, uint64_t i, Words2 key) {
  uint64_t sum = low + i;
  if (sum < low) ++high;
  Words2 l = Split(sum);
  Words2 h = Split(high);
  return Philox({l[0], l[1], h[0], h[1]}, key);
}

void StoreBits(uint8_t* out, int64_t i, int bits, uint64_t value) {
  const int width = (bits + 7) / 8;
  if (bits < 8) value &= (1u << bits) - 1;
  std::memcpy(out + i * width, &value, width);
}

// 32-bit words come in pairs from one counter; the pair is laid along one
// dimension: the first even one, else the longest.
void ThreeFryBits(uint64_t key64, uint64_t* counter, const Shape& shape,
                  uint8_t* out) {
  const Words2 key = Split(key64);
  const int bits = Info(shape.type()).bits;
  const int64_t n = shape.ElementCount();
  if (bits == 64) {
    for (int64_t i = 0; i < n; ++i) {
      Words2 x = ThreeFry(Split(*counter + i), key);
      StoreBits(out, i, 64, Join(x[0], x[1]));
    }
    *counter += n;
    return;
  }
  if (shape.rank() == 0) {
    StoreBits(out, 0, bits, ThreeFry(Split(*counter), key)[0]);
    *counter += 1;
    return;
  }
  int64_t split = -1;
  for (int64_t d = 0; d < shape.rank() && split < 0; ++d) {
    if (shape.dim(d) % 2 == 0) split = d;
  }
  if (split < 0) {
    split = 0;
    for (int64_t d = 1; d < shape.rank(); ++d) {
      if (shape.dim(d) > shape.dim(split)) split = d;
    }
  }
  DimVector half(shape.dims().begin(), shape.dims().end());
  half[split] = (half[split] + 1) / 2;
  DimVector strides = RowMajorStrides(half);
  if (n > 0) {
    Odometer at(shape.dims());
    for (int64_t i = 0; i < n; ++i, at.Next()) {
      uint64_t position = 0;
      for (int64_t d = 0; d < shape.rank(); ++d) {
        int64_t k = d == split ? at.index()[d] / 2 : at.index()[d];
        position += k * strides[d];
      }
      Words2 x = ThreeFry(Split(*counter + position), key);
      StoreBits(out, i, bits, x[at.index()[split] % 2]);
    }
  }
  *counter += Product(half);
}

// Four words a counter, in order.
void PhiloxBits(uint64_t key64, uint64_t* low, uint64_t* high,
                const Shape& shape, uint8_t* out) {
  const Words2 key = Split(key64);
  const int bits = Info(shape.type()).bits;
  const int64_t n = shape.ElementCount();
  const int64_t words = bits == 64 ? 2 * n : n;
  const int64_t counters = (words + 3) / 4;
  for (int64_t c = 0; c < counters; ++c) {
    Words4 x = PhiloxAt(*low, *high, c, key);
    if (bits == 64) {
      for (int64_t j = 0; j < 2 && 2 * c + j < n; ++j) {
        StoreBits(out, 2 * c + j, 64, Join(x[2 * j], x[2 * j + 1]));
      }
    } else {
      for (int64_t j = 0; j < 4 && 4 * c + j < n; ++j) {
        StoreBits(out, 4 * c + j, bits, x[j]);
      }
    }
  }
  uint64_t sum = *low + counters;
  if (sum < *low) ++*high;
  *low = sum;
}

}  // namespace

// State: key, then the counter (two words for Philox where there is room).
// The default algorithm is Philox, as on XLA's CPU and GPU.
absl::StatusOr<Literal> EvalRngBitGenerator(const Op& op) {
  if (op.count() != 1 || !op.shape.IsTuple() ||
      op.shape.tuple_shapes().size() != 2) {
    return Invalid("takes a state and gives (state, bits)");
  }
  const Shape& state_shape = op.in(0).shape();
  const Shape& bits = op.shape.tuple_shape(1);
  if (!bits.IsArray() || !IsInteger(bits.type())) {
    return Unsupported("random bits of type ", Name(bits.type()));
  }
  if (!state_shape.IsArray() || !IsInteger(state_shape.type()) ||
      op.in(0).byte_size() % 8 != 0 || op.in(0).byte_size() < 16) {
    return Unsupported("a state of shape ", state_shape.ToString());
  }
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(bits));
  Literal state = op.in(0);
  Literal out = Literal::Zeros(bits);
  std::vector<uint64_t> words(state.byte_size() / 8);
  std::memcpy(words.data(), state.bytes(), state.byte_size());
  auto algorithm = op.instruction.enum_attr(AttrId::kRngAlgorithm,
                                            RandomAlgorithm::kDefault);
  if (algorithm == RandomAlgorithm::kThreeFry) {
    ThreeFryBits(words[0], &words[1], bits, out.mutable_bytes());
  } else if (words.size() >= 3) {
    PhiloxBits(words[0], &words[1], &words[2], bits, out.mutable_bytes());
  } else {
    uint64_t high = words[0];
    PhiloxBits(words[0], &words[1], &high, bits, out.mutable_bytes());
  }
  std::memcpy(state.mutable_bytes(), words.data(), state.byte_size());
  if (IsSigned(bits.type()) && Info(bits.type()).bits < 8) {
    const int unused = 8 - Info(bits.type()).bits;
    for (int8_t& x : out.mutable_data<int8_t>()) {
      x = static_cast<int8_t>(static_cast<int8_t>(x << unused) >> unused);
    }
  }
  return Literal::Tuple({std::move(state), std::move(out)});
}

// Uniform in [a, b), or normal with mean a and deviation b; from Philox with a
// seed of the evaluation's.
absl::StatusOr<Literal> EvalRng(const Op& op) {
  if (op.count() < 2 || !op.shape.IsArray()) {
    return Invalid("takes two parameters of the distribution");
  }
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  if (!op.in(0).shape().IsScalar() || !op.in(1).shape().IsScalar()) {
    return Invalid("the parameters are not scalars");
  }
  if (IsComplex(op.shape.type())) {
    return Unsupported("rng of type ", Name(op.shape.type()));
  }
  const double a = GetDouble(op.in(0), 0);
  const double b = GetDouble(op.in(1), 0);
  const bool normal = op.instruction.enum_attr(AttrId::kDistribution,
                                               RandomDistribution::kUniform) ==
                      RandomDistribution::kNormal;
  const Words2 key = Split(op.interpreter.NextRngSeed());
  Literal out = Literal::Zeros(op.shape);
  const int64_t n = op.shape.ElementCount();
  const bool integer = !IsFloat(op.shape.type());
  auto unit = [](uint32_t low, uint32_t high) {
    return static_cast<double>(Join(low, high) >> 11) * 0x1p-53;
  };
  for (int64_t i = 0; i < n; ++i) {
    Words4 x = PhiloxAt(0, 0, i, key);
    double u = unit(x[0], x[1]);
    double value;
    if (normal) {
      double v = unit(x[2], x[3]);
      value = a + b * std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * M_PI * v);
    } else {
      value = a + (b - a) * u;
      if (integer) value = std::floor(value);
    }
    SetDouble(&out, i, value);
    // Rounding may reach the excluded end.
    if (!normal && b > a && GetDouble(out, i) >= b) SetDouble(&out, i, a);
  }
  return out;
}

absl::StatusOr<Literal> EvalRngGetAndUpdateState(const Op& op) {
  if (!op.shape.IsArray() || op.shape.type() != ElementType::kU64) {
    return Invalid("the state is ", op.shape.ToString(), ", not u64");
  }
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  Literal out = Literal::Zeros(op.shape);
  absl::Span<uint64_t> words = out.mutable_data<uint64_t>();
  if (!words.empty()) {
    words[0] = op.interpreter.options().rng_seed + op.interpreter.rng_state;
  }
  op.interpreter.rng_state += op.instruction.int_attr(AttrId::kDelta, 1);
  return out;
}

}  // namespace eval
}  // namespace ridge
