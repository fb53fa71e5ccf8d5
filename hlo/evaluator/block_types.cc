// Lanes: loading, storing and rounding of every element type.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "hlo/evaluator/block.h"
#include "hlo/ir/small_float.h"

namespace ridge {

Lane LaneOf(ElementType type) {
  switch (Info(type).type_class) {
    case TypeClass::kPred:
      return Lane::kPred;
    case TypeClass::kSigned:
      return type == ElementType::kS64 ? Lane::kS64 : Lane::kS32;
    case TypeClass::kUnsigned:
      return type == ElementType::kU64 ? Lane::kU64 : Lane::kU32;
    case TypeClass::kFloat:
      return type == ElementType::kF64 ? Lane::kF64 : Lane::kF32;
    case TypeClass::kComplex:
      return type == ElementType::kC64 ? Lane::kC64 : Lane::kC128;
    case TypeClass::kOther:
      break;
  }
  return Lane::kPred;
}

int LaneBytes(Lane lane) {
  static constexpr int kBytes[kLaneCount] = {1, 4, 4, 8, 8, 4, 8, 8, 16};
  return kBytes[static_cast<int>(lane)];
}

namespace {

uint32_t BitsOf(float f) {
  uint32_t b;
  std::memcpy(&b, &f, 4);
  return b;
}
float FloatOf(uint32_t b) {
  float f;
  std::memcpy(&f, &b, 4);
  return f;
}

// ---- bf16 and f16, in integer arithmetic that vectorises ----

inline uint16_t ToBf16(uint32_t b) {
  uint32_t rounded = (b + 0x7fff + ((b >> 16) & 1)) >> 16;
  uint32_t nan = (b >> 16) | 0x40;
  return static_cast<uint16_t>((b & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

inline float FromF16(uint32_t h) {
  uint32_t magnitude = (h & 0x7fff) << 13;
  uint32_t exponent = magnitude & 0x0f800000;
  uint32_t normal = magnitude + ((127 - 15) << 23);
  uint32_t special = normal + ((128 - 16) << 23);
  // Subnormals: the mantissa under a known exponent, minus that exponent.
  float subnormal = FloatOf(normal + (1 << 23)) - FloatOf(113 << 23);
  uint32_t bits = exponent == 0x0f800000 ? special
                  : exponent == 0        ? BitsOf(subnormal)
                                         : normal;
  return FloatOf(bits | (h & 0x8000) << 16);
}

inline uint16_t ToF16(uint32_t b) {
  uint32_t sign = (b >> 16) & 0x8000;
  uint32_t m = b & 0x7fffffff;
  uint32_t nan_or_inf =
      m > 0x7f800000 ? 0x7e00 | ((m >> 13) & 0x3ff) : uint32_t{0x7c00};
  // Below 2^-14: adding 0.5 aligns the mantissa to units of 2^-24.
  uint32_t subnormal = BitsOf(FloatOf(m) + 0.5f) - BitsOf(0.5f);
  uint32_t odd = (m >> 13) & 1;
  uint32_t normal = (m - ((127u - 15u) << 23) + 0xfff + odd) >> 13;
  uint32_t r = m >= (143u << 23)  ? nan_or_inf
               : m < (113u << 23) ? subnormal
                                  : normal;
  return static_cast<uint16_t>(sign | r);
}

void LoadBf16(const void* src, void* dst, int64_t n) {
  const uint16_t* s = static_cast<const uint16_t*>(src);
  uint32_t* d = static_cast<uint32_t*>(dst);
  for (int64_t i = 0; i < n; ++i) d[i] = static_cast<uint32_t>(s[i]) << 16;
}
void StoreBf16(const void* src, void* dst, int64_t n) {
  const uint32_t* s = static_cast<const uint32_t*>(src);
  uint16_t* d = static_cast<uint16_t*>(dst);
  for (int64_t i = 0; i < n; ++i) d[i] = ToBf16(s[i]);
}
void RoundBf16(void* lanes, int64_t n) {
  uint32_t* d = static_cast<uint32_t*>(lanes);
  for (int64_t i = 0; i < n; ++i) {
    d[i] = static_cast<uint32_t>(ToBf16(d[i])) << 16;
  }
}
void LoadF16(const void* src, void* dst, int64_t n) {
  const uint16_t* s = static_cast<const uint16_t*>(src);
  float* d = static_cast<float*>(dst);
  for (int64_t i = 0; i < n; ++i) d[i] = FromF16(s[i]);
}
void StoreF16(const void* src, void* dst, int64_t n) {
  const float* s = static_cast<const float*>(src);
  uint16_t* d = static_cast<uint16_t*>(dst);
  for (int64_t i = 0; i < n; ++i) d[i] = ToF16(BitsOf(s[i]));
}
void RoundF16(void* lanes, int64_t n) {
  float* d = static_cast<float*>(lanes);
  for (int64_t i = 0; i < n; ++i) d[i] = FromF16(ToF16(BitsOf(d[i])));
}

// ---- 8 bits and fewer: tables made from hlo/ir/small_float ----

// A float rounds by its sign, exponent, eight mantissa bits and whether any
// bit below them is set: no type here keeps more than four mantissa bits.
struct TinyTables {
  std::array<float, 256> decode;
  std::vector<uint8_t> encode;  // index: top 17 bits, then the sticky bit
};

const TinyTables& Tiny(ElementType type) {
  static std::array<std::once_flag, 64> once;
  static std::array<std::unique_ptr<const TinyTables>, 64> tables;
  size_t k = static_cast<size_t>(type);
  std::call_once(once[k], [&] {
    auto t = std::make_unique<TinyTables>();
    for (uint32_t b = 0; b < 256; ++b) {
      t->decode[b] = static_cast<float>(DecodeFloat(type, b));
    }
    t->encode.resize(1 << 18);
    for (uint32_t i = 0; i < (1u << 18); ++i) {
      uint32_t bits = (i >> 1) << 15 | (i & 1);
      t->encode[i] = static_cast<uint8_t>(
          EncodeFloat(type, static_cast<double>(FloatOf(bits))));
    }
    tables[k] = std::move(t);
  });
  return *tables[k];
}

inline uint8_t EncodeTiny(const TinyTables& t, uint32_t bits) {
  return t.encode[(bits >> 15) << 1 | ((bits & 0x7fff) != 0)];
}

template <ElementType kType>
void LoadTiny(const void* src, void* dst, int64_t n) {
  const TinyTables& t = Tiny(kType);
  const uint8_t* s = static_cast<const uint8_t*>(src);
  float* d = static_cast<float*>(dst);
  for (int64_t i = 0; i < n; ++i) d[i] = t.decode[s[i]];
}
template <ElementType kType>
void StoreTiny(const void* src, void* dst, int64_t n) {
  const TinyTables& t = Tiny(kType);
  const uint32_t* s = static_cast<const uint32_t*>(src);
  uint8_t* d = static_cast<uint8_t*>(dst);
  for (int64_t i = 0; i < n; ++i) d[i] = EncodeTiny(t, s[i]);
}
template <ElementType kType>
void RoundTiny(void* lanes, int64_t n) {
  const TinyTables& t = Tiny(kType);
  float* d = static_cast<float*>(lanes);
  for (int64_t i = 0; i < n; ++i) {
    d[i] = t.decode[EncodeTiny(t, BitsOf(d[i]))];
  }
}

// ---- integers ----

template <typename Stored, typename LaneT>
void LoadInt(const void* src, void* dst, int64_t n) {
  const Stored* s = static_cast<const Stored*>(src);
  LaneT* d = static_cast<LaneT*>(dst);
  for (int64_t i = 0; i < n; ++i) d[i] = s[i];
}

template <int kBits>
int32_t WrapSigned(int32_t x) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) << (32 - kBits)) >>
         (32 - kBits);
}
template <int kBits>
uint32_t WrapUnsigned(uint32_t x) {
  return x & ((uint32_t{1} << kBits) - 1);
}

template <typename Stored, int kBits>
void StoreSigned(const void* src, void* dst, int64_t n) {
  const int32_t* s = static_cast<const int32_t*>(src);
  Stored* d = static_cast<Stored*>(dst);
  for (int64_t i = 0; i < n; ++i) {
    d[i] = static_cast<Stored>(WrapSigned<kBits>(s[i]));
  }
}
template <typename Stored, int kBits>
void StoreUnsigned(const void* src, void* dst, int64_t n) {
  const uint32_t* s = static_cast<const uint32_t*>(src);
  Stored* d = static_cast<Stored*>(dst);
  for (int64_t i = 0; i < n; ++i) {
    d[i] = static_cast<Stored>(WrapUnsigned<kBits>(s[i]));
  }
}
template <int kBits>
void RoundSigned(void* lanes, int64_t n) {
  int32_t* d = static_cast<int32_t*>(lanes);
  for (int64_t i = 0; i < n; ++i) d[i] = WrapSigned<kBits>(d[i]);
}
template <int kBits>
void RoundUnsigned(void* lanes, int64_t n) {
  uint32_t* d = static_cast<uint32_t*>(lanes);
  for (int64_t i = 0; i < n; ++i) d[i] = WrapUnsigned<kBits>(d[i]);
}

struct LaneFns {
  LaneFn load = nullptr;
  LaneFn store = nullptr;
  RoundFn round = nullptr;
};

template <ElementType kType>
constexpr LaneFns TinyFns() {
  return {LoadTiny<kType>, StoreTiny<kType>, RoundTiny<kType>};
}
template <typename Stored, int kBits>
constexpr LaneFns SignedFns() {
  return {LoadInt<Stored, int32_t>, StoreSigned<Stored, kBits>,
          RoundSigned<kBits>};
}
template <typename Stored, int kBits>
constexpr LaneFns UnsignedFns() {
  return {LoadInt<Stored, uint32_t>, StoreUnsigned<Stored, kBits>,
          RoundUnsigned<kBits>};
}

LaneFns FnsOf(ElementType type) {
  switch (type) {
    case ElementType::kS1:
      return SignedFns<int8_t, 1>();
    case ElementType::kS2:
      return SignedFns<int8_t, 2>();
    case ElementType::kS4:
      return SignedFns<int8_t, 4>();
    case ElementType::kS8:
      return SignedFns<int8_t, 8>();
    case ElementType::kS16:
      return SignedFns<int16_t, 16>();
    case ElementType::kU1:
      return UnsignedFns<uint8_t, 1>();
    case ElementType::kU2:
      return UnsignedFns<uint8_t, 2>();
    case ElementType::kU4:
      return UnsignedFns<uint8_t, 4>();
    case ElementType::kU8:
      return UnsignedFns<uint8_t, 8>();
    case ElementType::kU16:
      return UnsignedFns<uint16_t, 16>();
    case ElementType::kF4E2M1FN:
      return TinyFns<ElementType::kF4E2M1FN>();
    case ElementType::kF8E3M4:
      return TinyFns<ElementType::kF8E3M4>();
    case ElementType::kF8E4M3:
      return TinyFns<ElementType::kF8E4M3>();
    case ElementType::kF8E4M3FN:
      return TinyFns<ElementType::kF8E4M3FN>();
    case ElementType::kF8E4M3B11FNUZ:
      return TinyFns<ElementType::kF8E4M3B11FNUZ>();
    case ElementType::kF8E4M3FNUZ:
      return TinyFns<ElementType::kF8E4M3FNUZ>();
    case ElementType::kF8E5M2:
      return TinyFns<ElementType::kF8E5M2>();
    case ElementType::kF8E5M2FNUZ:
      return TinyFns<ElementType::kF8E5M2FNUZ>();
    case ElementType::kF8E8M0FNU:
      return TinyFns<ElementType::kF8E8M0FNU>();
    case ElementType::kF16:
      return {LoadF16, StoreF16, RoundF16};
    case ElementType::kBF16:
      return {LoadBf16, StoreBf16, RoundBf16};
    default:
      return {};  // pred, 32 and 64 bits, complex: stored as lanes
  }
}

}  // namespace

LaneFn LoadFn(ElementType type) { return FnsOf(type).load; }
LaneFn StoreFn(ElementType type) { return FnsOf(type).store; }
RoundFn RoundFnFor(ElementType type) { return FnsOf(type).round; }

// ---- convert ----

namespace {

template <Lane kLane>
struct LaneType;
template <>
struct LaneType<Lane::kPred> {
  using T = uint8_t;
};
template <>
struct LaneType<Lane::kS32> {
  using T = int32_t;
};
template <>
struct LaneType<Lane::kU32> {
  using T = uint32_t;
};
template <>
struct LaneType<Lane::kS64> {
  using T = int64_t;
};
template <>
struct LaneType<Lane::kU64> {
  using T = uint64_t;
};
template <>
struct LaneType<Lane::kF32> {
  using T = float;
};
template <>
struct LaneType<Lane::kF64> {
  using T = double;
};
template <>
struct LaneType<Lane::kC64> {
  using T = std::complex<float>;
};
template <>
struct LaneType<Lane::kC128> {
  using T = std::complex<double>;
};

// The range of the integer type `to`, as values of its lane type.
template <typename Int>
void IntRange(ElementType to, Int* lo, Int* hi) {
  int unused = 8 * static_cast<int>(sizeof(Int)) - Info(to).bits;
  *hi = std::numeric_limits<Int>::max() >> unused;
  *lo = std::is_signed_v<Int> ? static_cast<Int>(-*hi - 1) : Int{0};
}

template <typename Int, typename Float>
Int Saturate(Float x, Int lo, Int hi) {
  // The limits, rounded to Float, may lie outside the range by rounding only:
  // >= and <= make that safe.
  if (!(x > static_cast<Float>(lo))) return std::isnan(x) ? Int{0} : lo;
  if (x >= static_cast<Float>(hi)) return hi;
  return static_cast<Int>(x);
}

template <Lane kFrom, Lane kTo>
void ConvertLanes(const BlockParams& p, const void* const* in, void* out,
                  int64_t n) {
  using From = typename LaneType<kFrom>::T;
  using To = typename LaneType<kTo>::T;
  const From* s = static_cast<const From*>(in[0]);
  To* d = static_cast<To*>(out);
  constexpr bool kFromFloat = block::kIsFloat<From> || block::kIsComplex<From>;
  if constexpr (kTo == Lane::kPred) {
    for (int64_t i = 0; i < n; ++i) d[i] = s[i] != From(0);
  } else if constexpr (std::is_integral_v<To> && kFromFloat) {
    To lo;
    To hi;
    IntRange(p.to, &lo, &hi);
    for (int64_t i = 0; i < n; ++i)
      d[i] = Saturate<To>(std::real(s[i]), lo, hi);
  } else if constexpr (block::kIsComplex<To> && !block::kIsComplex<From>) {
    using Part = typename To::value_type;
    for (int64_t i = 0; i < n; ++i) d[i] = To(static_cast<Part>(s[i]), 0);
  } else if constexpr (block::kIsComplex<To>) {
    for (int64_t i = 0; i < n; ++i) d[i] = static_cast<To>(s[i]);
  } else if constexpr (block::kIsComplex<From>) {
    for (int64_t i = 0; i < n; ++i) d[i] = static_cast<To>(s[i].real());
  } else {
    for (int64_t i = 0; i < n; ++i) d[i] = static_cast<To>(s[i]);
  }
  RoundFn round = RoundFnFor(p.to);
  if (round != nullptr) round(out, n);
}

// The float nearest `x` but with the last bit set if that is not exact
// (round to odd): rounding it again to a narrower type is as rounding once.
inline float RoundToOdd(double x) {
  float f = static_cast<float>(x);
  double back = static_cast<double>(f);
  if (back == x || x != x) return f;
  uint32_t b = BitsOf(f);
  if (std::fabs(back) > std::fabs(x)) --b;
  return FloatOf(b | 1);
}

// A double that is the value, or (64-bit integers) odd and next to it.
template <typename T>
double OddDouble(T x) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    const bool negative = x < T{0};
    uint64_t m =
        negative ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
    double scale = 1;
    if (m >> 53) {
      m = (m >> 11) | static_cast<uint64_t>((m & 2047) != 0);
      scale = 2048;
    }
    const double d = static_cast<double>(m) * scale;
    return negative ? -d : d;
  } else {
    return static_cast<double>(std::real(x));
  }
}

// To a float type narrower than f32 from values that a float cannot hold.
template <Lane kFrom>
void ConvertWideToNarrow(const BlockParams& p, const void* const* in, void* out,
                         int64_t n) {
  using From = typename LaneType<kFrom>::T;
  const From* s = static_cast<const From*>(in[0]);
  float* d = static_cast<float*>(out);
  for (int64_t i = 0; i < n; ++i) {
    d[i] = RoundToOdd(OddDouble(s[i]));
  }
  RoundFnFor(p.to)(out, n);
}

using ConvertRow = std::array<BlockFn, kLaneCount>;

template <Lane kFrom>
constexpr ConvertRow MakeConvertRow() {
  return {ConvertLanes<kFrom, Lane::kPred>, ConvertLanes<kFrom, Lane::kS32>,
          ConvertLanes<kFrom, Lane::kU32>,  ConvertLanes<kFrom, Lane::kS64>,
          ConvertLanes<kFrom, Lane::kU64>,  ConvertLanes<kFrom, Lane::kF32>,
          ConvertLanes<kFrom, Lane::kF64>,  ConvertLanes<kFrom, Lane::kC64>,
          ConvertLanes<kFrom, Lane::kC128>};
}

constexpr std::array<ConvertRow, kLaneCount> kConvert = {
    MakeConvertRow<Lane::kPred>(), MakeConvertRow<Lane::kS32>(),
    MakeConvertRow<Lane::kU32>(),  MakeConvertRow<Lane::kS64>(),
    MakeConvertRow<Lane::kU64>(),  MakeConvertRow<Lane::kF32>(),
    MakeConvertRow<Lane::kF64>(),  MakeConvertRow<Lane::kC64>(),
    MakeConvertRow<Lane::kC128>()};

}  // namespace

BlockFn FindConvertFn(ElementType from, ElementType to) {
  Lane from_lane = LaneOf(from);
  Lane to_lane = LaneOf(to);
  if (IsFloat(to) && Info(to).bits < 32) {
    switch (from_lane) {
      case Lane::kF64:
        return ConvertWideToNarrow<Lane::kF64>;
      case Lane::kC128:
        return ConvertWideToNarrow<Lane::kC128>;
      case Lane::kS64:
        return ConvertWideToNarrow<Lane::kS64>;
      case Lane::kU64:
        return ConvertWideToNarrow<Lane::kU64>;
      case Lane::kS32:
        if (Info(from).bits == 32) return ConvertWideToNarrow<Lane::kS32>;
        break;
      case Lane::kU32:
        if (Info(from).bits == 32) return ConvertWideToNarrow<Lane::kU32>;
        break;
      default:
        break;
    }
  }
  return kConvert[static_cast<int>(from_lane)][static_cast<int>(to_lane)];
}

}  // namespace ridge
