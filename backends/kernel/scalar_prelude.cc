// The helper functions that generated scalar code calls, as text. Three parts:
// what differs on the GPU, what differs on the host, and the rest.

#include <string>

#include "absl/strings/str_cat.h"
#include "backends/kernel/scalar_text.h"

namespace ridge {
namespace {

constexpr char kCudaPart[] = R"cuda(
// ---- Ridge scalar prelude (CUDA) ----
#pragma nv_diag_suppress 177  // helpers that a kernel does not call
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define RDG_FN static __device__ __forceinline__
template <typename To, typename From>
RDG_FN To rdg_bitcast(From x) {
  static_assert(sizeof(To) == sizeof(From), "widths differ");
  To y;
  memcpy(&y, &x, sizeof(To));
  return y;
}
RDG_FN float rdg_max(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
RDG_FN float rdg_min(float a, float b) {
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
// Within 2 ulp over the whole range.
RDG_FN float rdg_fast_div(float a, float b) {
  float r;
  asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
// Keeps what computes x where it stands, such as a load long before its use.
RDG_FN void rdg_pin(float x) { asm volatile("" ::"f"(x)); }
RDG_FN void rdg_pin(int32_t x) { asm volatile("" ::"r"(x)); }
RDG_FN void rdg_pin(uint32_t x) { asm volatile("" ::"r"(x)); }
RDG_FN void rdg_pin(int64_t x) { asm volatile("" ::"l"(x)); }
template <typename T>
RDG_FN void rdg_pin(const T&) {}
// Two instructions, for results that are rounded or summed up: the relative
// error grows with |x|, by about 2^-24 for each unit; denormals become 0.
RDG_FN float rdg_loose_exp(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x * 1.44269504f));
  return r;
}
// One instruction: converts to bf16 into the upper half of a register.
RDG_FN float rdg_round_bf16(float x) {
  uint32_t r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(x), "f"(0.0f));
  return __uint_as_float(r);
}
RDG_FN float rdg_load_f16(uint16_t x) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x));
  return r;
}
RDG_FN uint16_t rdg_store_f16(float x) {
  uint16_t r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
}
RDG_FN int rdg_clz64(uint64_t x) { return __clzll((long long)x); }
// Compare and swap of any width; narrow ones through the word around them.
RDG_FN uint64_t rdg_cas_bits(void* p, uint64_t seen, uint64_t next, int size) {
  if (size == 8) {
    return atomicCAS((unsigned long long*)p, (unsigned long long)seen,
                     (unsigned long long)next);
  }
  if (size == 4) {
    return atomicCAS((unsigned*)p, (unsigned)seen, (unsigned)next);
  }
  uint64_t at = (uint64_t)p;
  unsigned* word = (unsigned*)(at & ~(uint64_t)3);
  int shift = (int)(at & 3) * 8;
  unsigned mask = (size == 2 ? 0xffffu : 0xffu) << shift;
  unsigned old = *(volatile unsigned*)word;
  while (true) {
    if (((old & mask) >> shift) != (unsigned)seen) {
      return (old & mask) >> shift;
    }
    unsigned found =
        atomicCAS(word, old, (old & ~mask) | ((unsigned)next << shift));
    if (found == old) return seen;
    old = found;
  }
}
template <typename T>
RDG_FN T rdg_cas(T* p, T seen, T next) {
  static_assert(sizeof(T) <= 8, "no atomic update of 16-byte elements");
  uint64_t s = 0, n = 0;
  memcpy(&s, &seen, sizeof(T));
  memcpy(&n, &next, sizeof(T));
  uint64_t f = rdg_cas_bits(p, s, n, (int)sizeof(T));
  T found;
  memcpy(&found, &f, sizeof(T));
  return found;
}
template <typename T>
RDG_FN bool rdg_same(T a, T b) {
  uint64_t x = 0, y = 0;
  memcpy(&x, &a, sizeof(T));
  memcpy(&y, &b, sizeof(T));
  return x == y;
}
RDG_FN int rdg_popcnt64(uint64_t x) { return __popcll(x); }
RDG_FN float rdg_rsqrt(float x) { return rsqrtf(x); }
RDG_FN double rdg_rsqrt(double x) { return rsqrt(x); }
)cuda";

constexpr char kHostPart[] = R"host(
// ---- Ridge scalar prelude (host) ----
#include <math.h>
#include <stdint.h>
#include <string.h>
#define RDG_FN static inline __attribute__((always_inline))
template <typename To, typename From>
RDG_FN To rdg_bitcast(From x) {
  static_assert(sizeof(To) == sizeof(From), "widths differ");
  To y;
  memcpy(&y, &x, sizeof(To));
  return y;
}
RDG_FN float rdg_max(float a, float b) { return (a >= b) | (a != a) ? a : b; }
RDG_FN float rdg_min(float a, float b) { return (a <= b) | (a != a) ? a : b; }
RDG_FN float rdg_fast_div(float a, float b) { return a / b; }
#ifndef RDG_LOOSE_EXP
#define RDG_LOOSE_EXP expf
#endif
RDG_FN float rdg_loose_exp(float x) { return RDG_LOOSE_EXP(x); }
RDG_FN float rdg_round_bf16(float x) {
  uint32_t u = rdg_bitcast<uint32_t>(x);
  uint32_t r = (u + 0x7fffu + ((u >> 16) & 1u)) & 0xffff0000u;
  return rdg_bitcast<float>(x != x ? (u | 0x400000u) & 0xffff0000u : r);
}
// By integers, since not every compiler has the type, and few have vectors of
// it.
RDG_FN float rdg_load_f16(uint16_t x) {
  const uint32_t sign = (uint32_t)(x & 0x8000u) << 16;
  const uint32_t a = (uint32_t)(x & 0x7fffu) << 13;
  const float value = rdg_bitcast<float>(a) * 0x1p112f;
  const uint32_t quiet = a > 0x0f800000u ? 0x7fc00000u : 0x7f800000u;
  const uint32_t bits =
      a >= 0x0f800000u ? a | quiet : rdg_bitcast<uint32_t>(value);
  return rdg_bitcast<float>(bits | sign);
}
RDG_FN uint16_t rdg_store_f16(float x) {
  const uint32_t u = rdg_bitcast<uint32_t>(x), a = u & 0x7fffffffu;
  const uint32_t normal =
      ((a + 0xfffu + ((a >> 13) & 1u)) >> 13) - (112u << 10);
  // Added to 1/2, what is below 2^-14 is rounded to multiples of 2^-24.
  const float half = rdg_bitcast<float>(a) + 0.5f;
  const uint32_t tiny = rdg_bitcast<uint32_t>(half) - 0x3f000000u;
  uint32_t r = a < 0x38800000u ? tiny : normal;
  r = a >= 0x477ff000u ? 0x7c00u : r;
  r = a > 0x7f800000u ? 0x7e00u | ((a >> 13) & 0x3ffu) : r;
  return (uint16_t)(r | ((u >> 16) & 0x8000u));
}
RDG_FN int rdg_clz64(uint64_t x) { return x == 0 ? 64 : __builtin_clzll(x); }
RDG_FN int rdg_popcnt64(uint64_t x) { return __builtin_popcountll(x); }
RDG_FN float rdg_rsqrt(float x) { return 1.0f / sqrtf(x); }
RDG_FN double rdg_rsqrt(double x) { return 1.0 / sqrt(x); }
)host";

constexpr char kCommonPart[] = R"common(
RDG_FN float rdg_f32(uint32_t bits) { return rdg_bitcast<float>(bits); }
RDG_FN double rdg_f64(uint64_t bits) { return rdg_bitcast<double>(bits); }
RDG_FN int64_t rdg_floor_div(int64_t a, int64_t c) {
  return a >= 0 ? a / c : -((c - 1 - a) / c);
}
RDG_FN int64_t rdg_floor_mod(int64_t a, int64_t c) {
  return a - rdg_floor_div(a, c) * c;
}
RDG_FN int64_t floor_div(int64_t a, int64_t c) { return rdg_floor_div(a, c); }
RDG_FN int64_t floor_mod(int64_t a, int64_t c) { return rdg_floor_mod(a, c); }

// A float between which and x lies no other, with the last bit set unless it is
// x: rounding it once more, to fewer bits, gives x rounded once.
RDG_FN float rdg_odd(double x) {
  const float near = (float)x;
  if ((double)near == x || x != x) return near;
  uint32_t bits = rdg_bitcast<uint32_t>(near);
  if (fabs((double)near) > fabs(x)) --bits;
  return rdg_f32(bits | 1u);
}
RDG_FN float rdg_odd(float x) { return x; }
RDG_FN float rdg_odd(uint64_t m) {
  float scale = 1.0f;
  while (m >> 24) {
    m = (m >> 8) | (uint64_t)((m & 255) != 0);
    scale *= 256.0f;
  }
  return (float)(int32_t)m * scale;
}
RDG_FN float rdg_odd(int64_t x) {
  return x < 0 ? -rdg_odd(0 - (uint64_t)x) : rdg_odd((uint64_t)x);
}
RDG_FN float rdg_odd(uint32_t m) {
  const uint32_t high = (m >> 8) | (uint32_t)((m & 255u) != 0);
  return m >> 24 ? (float)(int32_t)high * 256.0f : (float)(int32_t)m;
}
RDG_FN float rdg_odd(int32_t x) {
  return x < 0 ? -rdg_odd(0 - (uint32_t)x) : rdg_odd((uint32_t)x);
}

// Small floats.
RDG_FN float rdg_load_bf16(uint16_t x) {
  return rdg_bitcast<float>((uint32_t)x << 16);
}
RDG_FN uint16_t rdg_store_bf16(float x) {
  return (uint16_t)(rdg_bitcast<uint32_t>(x) >> 16);
}
RDG_FN float rdg_round_f16(float x) { return rdg_load_f16(rdg_store_f16(x)); }
// A format with E exponent bits, M mantissa bits and bias B. N: where NaN
// lies (0 as in IEEE, 1 all ones only, 2 negative zero, 3 nowhere).
template <int E, int M, int B, int N>
RDG_FN float rdg_decode(uint32_t x) {
  uint32_t m = x & ((1u << M) - 1), e = (x >> M) & ((1u << E) - 1);
  uint32_t top = (1u << E) - 1, sign = (x >> (E + M)) & 1u;
  if (N == 0 && e == top) {
    return rdg_f32((sign << 31) | (m != 0 ? 0x7fc00000u : 0x7f800000u));
  }
  if (N == 1 && e == top && m == (1u << M) - 1) {
    return rdg_f32((sign << 31) | 0x7fc00000u);
  }
  if (N == 2 && sign && e == 0 && m == 0) return rdg_f32(0x7fc00000u);
  float v = e == 0 ? (float)m * rdg_f32((uint32_t)(1 - B - M + 127) << 23)
                   : rdg_f32(((e + 127 - B) << 23) | (m << (23 - M)));
  return sign ? -v : v;
}
template <int E, int M, int B, int N>
RDG_FN uint32_t rdg_encode(float x) {
  uint32_t u = rdg_bitcast<uint32_t>(x), sign = u >> 31, a = u & 0x7fffffffu;
  uint32_t all = (1u << (E + M)) - 1;
  uint32_t nan = N == 0   ? ((((1u << E) - 1) << M) | (1u << (M - 1)))
                 : N == 1 ? all
                          : 1u << (E + M);
  uint32_t top = N == 0 ? (((1u << E) - 1) << M) - 1 : N == 1 ? all - 1 : all;
  uint32_t over = N == 0 ? top + 1 : N == 3 ? top : nan;
  uint32_t s = sign << (E + M);
  if (a > 0x7f800000u) return N == 2 || N == 3 ? nan : s | nan;
  int e = (int)(a >> 23) - 127;
  uint32_t r;
  if (e < 1 - B) {
    // Subnormal: units of the last place, exactly scaled, nearest even.
    float scaled = rdg_f32(a) * rdg_f32((uint32_t)(B + M - 1 + 127) << 23);
    r = (uint32_t)rintf(scaled);
  } else {
    uint32_t rounded = a + ((1u << (22 - M)) - 1) + ((a >> (23 - M)) & 1u);
    r = (rounded >> (23 - M)) - ((uint32_t)(127 - B) << M);
    if (a == 0x7f800000u) r = top + 1;
  }
  if (r > top) return N == 2 ? nan : s | over;
  if (r == 0 && N == 2) return 0;
  return s | r;
}
#define RDG_SMALL(NAME, E, M, B, N)                                        \
  RDG_FN float rdg_load_##NAME(uint8_t x) {                                \
    return rdg_decode<E, M, B, N>(x);                                      \
  }                                                                        \
  RDG_FN uint8_t rdg_store_##NAME(float x) {                               \
    return (uint8_t)rdg_encode<E, M, B, N>(x);                             \
  }                                                                        \
  RDG_FN float rdg_round_##NAME(float x) {                                 \
    return rdg_decode<E, M, B, N>(rdg_encode<E, M, B, N>(x));              \
  }
RDG_SMALL(f4e2m1fn, 2, 1, 1, 3)
RDG_SMALL(f8e3m4, 3, 4, 3, 0)
RDG_SMALL(f8e4m3, 4, 3, 7, 0)
RDG_SMALL(f8e4m3fn, 4, 3, 7, 1)
RDG_SMALL(f8e4m3b11fnuz, 4, 3, 11, 2)
RDG_SMALL(f8e4m3fnuz, 4, 3, 8, 2)
RDG_SMALL(f8e5m2, 5, 2, 15, 0)
RDG_SMALL(f8e5m2fnuz, 5, 2, 16, 2)
// Powers of two only; the even exponent wins a tie.
RDG_FN float rdg_load_f8e8m0fnu(uint8_t x) {
  if (x == 255) return rdg_f32(0x7fc00000u);
  return x == 0 ? rdg_f32(0x00400000u) : rdg_f32((uint32_t)x << 23);
}
RDG_FN uint8_t rdg_store_f8e8m0fnu(float x) {
  uint32_t a = rdg_bitcast<uint32_t>(x);
  if (!(x > 0) || a >= 0x7f800000u) return 255;
  uint32_t m = a & 0x7fffffu, e = a >> 23;
  if (e == 0) return m > 0x600000u ? 1 : 0;
  if (m > 0x400000u || (m == 0x400000u && (e & 1u))) ++e;
  return e >= 255 ? 255 : (uint8_t)e;
}
RDG_FN float rdg_round_f8e8m0fnu(float x) {
  return rdg_load_f8e8m0fnu(rdg_store_f8e8m0fnu(x));
}

// Integers.
template <typename T>
RDG_FN T rdg_imax(T a, T b) { return a > b ? a : b; }
template <typename T>
RDG_FN T rdg_imin(T a, T b) { return a < b ? a : b; }
template <typename T>
RDG_FN int8_t rdg_sext(T x, int bits) {
  int s = 32 - bits;
  return (int8_t)((int32_t)((uint32_t)x << s) >> s);
}
template <typename T>
RDG_FN uint8_t rdg_zext(T x, int bits) {
  return (uint8_t)((uint32_t)x & ((1u << bits) - 1));
}
template <typename T>
RDG_FN T rdg_sdiv(T a, T b) {
  if (b == 0) return (T)-1;
  if (b == (T)-1) return (T)(0 - (uint64_t)a);
  return (T)(a / b);
}
template <typename T>
RDG_FN T rdg_udiv(T a, T b) { return b == 0 ? (T)~(T)0 : (T)(a / b); }
template <typename T>
RDG_FN T rdg_srem(T a, T b) {
  if (b == 0) return a;
  if (b == (T)-1) return 0;
  return (T)(a % b);
}
template <typename T>
RDG_FN T rdg_urem(T a, T b) { return b == 0 ? a : (T)(a % b); }
template <typename T>
RDG_FN T rdg_ipow(T a, T b) {
  if (b < (T)0) {
    if (a == (T)1) return 1;
    // (A select on the low bit: ptxas 13.0 takes the wrong side for ~0.)
    if (a == (T)-1) return (T)(1 - 2 * (T)(b & 1));
    return 0;
  }
  uint64_t r = 1, x = (uint64_t)a;
  for (uint64_t n = (uint64_t)b; n != 0; n >>= 1) {
    if (n & 1) r *= x;
    x *= x;
  }
  return (T)r;
}
template <typename U>
RDG_FN U rdg_low(U x, int bits) {
  return bits >= (int)(8 * sizeof(U)) ? x : (U)(x & (((U)1 << bits) - 1));
}
template <typename U>
RDG_FN U rdg_shl(U x, U n, int bits) {
  return rdg_low(n, bits) >= (U)bits ? (U)0 : (U)(x << rdg_low(n, bits));
}
template <typename U>
RDG_FN U rdg_shr(U x, U n, int bits) {
  return rdg_low(n, bits) >= (U)bits ? (U)0 : (U)(x >> rdg_low(n, bits));
}
template <typename T>
RDG_FN T rdg_sra(T x, T n, int bits) {
  uint64_t m = rdg_low((uint64_t)n, bits);
  return m >= (uint64_t)bits ? (T)(x < 0 ? -1 : 0) : (T)(x >> m);
}
// Arithmetic shift of an unsigned type: by its own top bit.
template <typename T>
RDG_FN T rdg_usra(T x, T n, int bits) {
  uint64_t m = rdg_low((uint64_t)n, bits);
  bool top = (x >> (bits - 1)) & 1;
  if (m >= (uint64_t)bits) return top ? (T)rdg_low(~(uint64_t)0, bits) : (T)0;
  uint64_t fill = top ? rdg_low(~(uint64_t)0 << (bits - m), bits) : 0;
  return (T)(((uint64_t)x >> m) | (m == 0 ? 0 : fill));
}
template <typename U>
RDG_FN int rdg_clz(U x, int bits) {
  return rdg_clz64(rdg_low((uint64_t)x, bits)) - (64 - bits);
}
template <typename U>
RDG_FN int rdg_popcnt(U x, int bits) {
  return rdg_popcnt64(rdg_low((uint64_t)x, bits));
}
// Float to integer: toward zero, saturating, NaN to 0.
template <typename T, typename F>
RDG_FN T rdg_f2i(F x, T lo, T hi) {
  if (x != x) return 0;
  if (x <= (F)lo) return lo;
  if (x >= (F)hi) return hi;
  return (T)x;
}

// Floats.
RDG_FN double rdg_max(double a, double b) { return a >= b || a != a ? a : b; }
RDG_FN double rdg_min(double a, double b) { return a <= b || a != a ? a : b; }
#define RDG_MATH1(NAME, F32, F64)                   \
  RDG_FN float NAME(float x) { return F32(x); }     \
  RDG_FN double NAME(double x) { return F64(x); }
#define RDG_MATH2(NAME, F32, F64)                                 \
  RDG_FN float NAME(float x, float y) { return F32(x, y); }       \
  RDG_FN double NAME(double x, double y) { return F64(x, y); }
RDG_MATH1(rdg_abs, fabsf, fabs)
RDG_MATH1(rdg_acos, acosf, acos)
RDG_MATH1(rdg_acosh, acoshf, acosh)
RDG_MATH1(rdg_asin, asinf, asin)
RDG_MATH1(rdg_asinh, asinhf, asinh)
RDG_MATH1(rdg_atanh, atanhf, atanh)
RDG_MATH1(rdg_cbrt, cbrtf, cbrt)
RDG_MATH1(rdg_ceil, ceilf, ceil)
RDG_MATH1(rdg_cos, cosf, cos)
RDG_MATH1(rdg_cosh, coshf, cosh)
RDG_MATH1(rdg_erf, erff, erf)
RDG_MATH1(rdg_exp, expf, exp)
RDG_MATH1(rdg_expm1, expm1f, expm1)
RDG_MATH1(rdg_floor, floorf, floor)
RDG_MATH1(rdg_log, logf, log)
RDG_MATH1(rdg_log1p, log1pf, log1p)
RDG_MATH1(rdg_rint, rintf, rint)
RDG_MATH1(rdg_round, roundf, round)
RDG_MATH1(rdg_sin, sinf, sin)
RDG_MATH1(rdg_sinh, sinhf, sinh)
RDG_MATH1(rdg_sqrt, sqrtf, sqrt)
RDG_MATH1(rdg_tan, tanf, tan)
RDG_MATH1(rdg_tanh, tanhf, tanh)
RDG_MATH2(rdg_atan2, atan2f, atan2)
RDG_MATH2(rdg_fmod, fmodf, fmod)
RDG_FN float rdg_pow(float x, float y) {
  return y == 2.0f ? x * x : y == 0.5f && x >= 0.0f ? sqrtf(x) : powf(x, y);
}
RDG_FN double rdg_pow(double x, double y) { return pow(x, y); }
RDG_FN float rdg_logistic(float x) {
  return rdg_fast_div(1.0f, 1.0f + expf(-x));
}
RDG_FN float rdg_loose_logistic(float x) {
  return rdg_fast_div(1.0f, 1.0f + rdg_loose_exp(-x));
}
// A divisor of many quotients: those are within 1.5 units in the last place.
// Tiny ones are scaled, so that their reciprocals are finite.
struct rdg_divisor {
  float scale, factor;
};
RDG_FN rdg_divisor rdg_invert(float b) {
  const float scale = fabsf(b) < 0x1p-100f ? 0x1p64f : 1.0f;
  return {scale, 1.0f / (b * scale)};
}
RDG_FN float rdg_quotient(float a, const rdg_divisor& d) {
  return (a * d.scale) * d.factor;
}
RDG_FN double rdg_logistic(double x) { return 1.0 / (1.0 + exp(-x)); }
template <typename F>
RDG_FN F rdg_sign(F x) { return x > 0 ? (F)1 : x < 0 ? (F)-1 : x; }
RDG_FN bool rdg_isfinite(float x) {
  return (rdg_bitcast<uint32_t>(x) & 0x7f800000u) != 0x7f800000u;
}
RDG_FN bool rdg_isfinite(double x) {
  return ((rdg_bitcast<uint64_t>(x) >> 52) & 0x7ffu) != 0x7ffu;
}
// Order of the bits as sign and magnitude: -NaN < -inf < ... < -0 < 0 < ...
RDG_FN int32_t rdg_total(float x) {
  int32_t i = rdg_bitcast<int32_t>(x);
  return i < 0 ? (int32_t)(0x7fffffff ^ i) : i;
}
RDG_FN int64_t rdg_total(double x) {
  int64_t i = rdg_bitcast<int64_t>(x);
  return i < 0 ? (int64_t)(0x7fffffffffffffffLL ^ i) : i;
}
RDG_FN float rdg_reduce_precision(float x, int e, int m) {
  uint32_t u = rdg_bitcast<uint32_t>(x);
  if (x != x) return x;
  if (m < 23) {
    uint32_t last = (u >> (23 - m)) & 1u;
    u = (u + ((1u << (22 - m)) - 1) + last) & ~((1u << (23 - m)) - 1);
  }
  if (e < 8) {
    uint32_t sign = u & 0x80000000u, exponent = u & 0x7f800000u;
    uint32_t bias = (1u << (e - 1)) - 1;
    if (exponent > ((127 + bias) << 23)) return rdg_f32(sign | 0x7f800000u);
    if (exponent <= ((127 - bias) << 23)) return rdg_f32(sign);
  }
  return rdg_f32(u);
}
RDG_FN double rdg_reduce_precision(double x, int e, int m) {
  uint64_t u = rdg_bitcast<uint64_t>(x);
  if (x != x) return x;
  if (m < 52) {
    uint64_t last = (u >> (52 - m)) & 1u;
    u = (u + (((uint64_t)1 << (51 - m)) - 1) + last) &
        ~(((uint64_t)1 << (52 - m)) - 1);
  }
  if (e < 11) {
    uint64_t sign = u & 0x8000000000000000ULL;
    uint64_t exponent = (u >> 52) & 0x7ffu, bias = ((uint64_t)1 << (e - 1)) - 1;
    if (exponent > 1023 + bias) return rdg_f64(sign | 0x7ff0000000000000ULL);
    if (exponent <= 1023 - bias) return rdg_f64(sign);
  }
  return rdg_f64(u);
}

// Complex.
template <typename F>
struct rdg_complex { F re, im; };
typedef rdg_complex<float> rdg_c64;
typedef rdg_complex<double> rdg_c128;
#define RDG_C template <typename F> RDG_FN rdg_complex<F>
RDG_C rdg_cadd(rdg_complex<F> a, rdg_complex<F> b) {
  return {a.re + b.re, a.im + b.im};
}
RDG_C rdg_csub(rdg_complex<F> a, rdg_complex<F> b) {
  return {a.re - b.re, a.im - b.im};
}
RDG_C rdg_cneg(rdg_complex<F> a) { return {-a.re, -a.im}; }
RDG_C rdg_cmul(rdg_complex<F> a, rdg_complex<F> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
RDG_C rdg_cdiv(rdg_complex<F> a, rdg_complex<F> b) {
  // Smith's method: no overflow in between.
  if (rdg_abs(b.re) >= rdg_abs(b.im)) {
    F r = b.im / b.re, d = b.re + r * b.im;
    return {(a.re + a.im * r) / d, (a.im - a.re * r) / d};
  }
  F r = b.re / b.im, d = b.re * r + b.im;
  return {(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}
RDG_FN float rdg_cabs(rdg_c64 a) { return hypotf(a.re, a.im); }
RDG_FN double rdg_cabs(rdg_c128 a) { return hypot(a.re, a.im); }
// Functions that grow like exp: in double for c64 too, where a product is
// finite although exp(x) by itself is not.
RDG_FN rdg_c64 rdg_narrow(rdg_c128 a) { return {(float)a.re, (float)a.im}; }
RDG_FN rdg_c128 rdg_wide(rdg_c64 a) { return {a.re, a.im}; }
#define RDG_C64_IN_DOUBLE(NAME) \
  RDG_FN rdg_c64 NAME(rdg_c64 a) { return rdg_narrow(NAME(rdg_wide(a))); }
// s * exp(x) * (re, im). A part that is 0 stays so.
RDG_FN rdg_c128 rdg_cscale(double s, double x, double re, double im) {
  double h = exp(x / 2);
  return {re == 0 ? re : s * h * re * h, im == 0 ? im : s * h * im * h};
}
RDG_FN rdg_c128 rdg_cexp(rdg_c128 a) {
  return rdg_cscale(1, a.re, cos(a.im), sin(a.im));
}
RDG_C64_IN_DOUBLE(rdg_cexp)
RDG_FN rdg_c128 rdg_cexpm1(rdg_c128 a) {
  if (a.re > 40) return rdg_cexp(a);
  double s = sin(a.im / 2), e = expm1(a.re);
  return {e * cos(a.im) - 2 * s * s, (e + 1) * sin(a.im)};
}
RDG_C64_IN_DOUBLE(rdg_cexpm1)
// In double the square of a float's magnitude neither overflows nor cancels.
RDG_FN rdg_c64 rdg_clog(rdg_c64 a) {
  double x = a.re, y = a.im;
  return {(float)(log(x * x + y * y) / 2), atan2f(a.im, a.re)};
}
RDG_FN rdg_c128 rdg_clog(rdg_c128 a) {
  double m = rdg_cabs(a);
  if (m > 0.5 && m < 2) {
    double x = rdg_max(fabs(a.re), fabs(a.im));
    double y = rdg_min(fabs(a.re), fabs(a.im));
    return {log1p((x - 1) * (x + 1) + y * y) / 2, atan2(a.im, a.re)};
  }
  return {log(m), atan2(a.im, a.re)};
}
RDG_FN rdg_c64 rdg_clog1p(rdg_c64 a) {
  double x = a.re, y = a.im;
  return {(float)(log1p(x * (x + 2) + y * y) / 2), atan2f(a.im, a.re + 1)};
}
RDG_FN rdg_c128 rdg_clog1p(rdg_c128 a) {
  double x = a.re, y = a.im;
  if (fabs(x) > 1e100 || fabs(y) > 1e100) return rdg_clog(rdg_c128{x + 1, y});
  return {log1p(x * (x + 2) + y * y) / 2, atan2(y, x + 1)};
}
RDG_C rdg_csqrt(rdg_complex<F> a) {
  F m = rdg_cabs(a);
  if (m == 0) return {0, a.im};
  F t = rdg_sqrt((rdg_abs(a.re) + m) / 2);
  F u = rdg_abs(a.im) / (2 * t);
  // On the cut the sign of zero tells the side.
  const bool below = rdg_total(a.im) < 0;
  if (a.re >= 0) return {t, below ? -u : u};
  return {u, below ? -t : t};
}
RDG_C rdg_crsqrt(rdg_complex<F> a) {
  return rdg_cdiv(rdg_complex<F>{1, 0}, rdg_csqrt(a));
}
RDG_C rdg_csin(rdg_complex<F> a) {
  return {rdg_sin(a.re) * rdg_cosh(a.im), rdg_cos(a.re) * rdg_sinh(a.im)};
}
RDG_C rdg_ccos(rdg_complex<F> a) {
  return {rdg_cos(a.re) * rdg_cosh(a.im), -rdg_sin(a.re) * rdg_sinh(a.im)};
}
RDG_FN rdg_c128 rdg_csinh(rdg_c128 a) {
  double c = cos(a.im), s = sin(a.im);
  if (a.re > 40) return rdg_cscale(0.5, a.re, c, s);
  if (a.re < -40) return rdg_cscale(0.5, -a.re, -c, s);
  return {sinh(a.re) * c, cosh(a.re) * s};
}
RDG_C64_IN_DOUBLE(rdg_csinh)
RDG_FN rdg_c128 rdg_ccosh(rdg_c128 a) {
  double c = cos(a.im), s = sin(a.im);
  if (a.re > 40) return rdg_cscale(0.5, a.re, c, s);
  if (a.re < -40) return rdg_cscale(0.5, -a.re, c, -s);
  return {cosh(a.re) * c, sinh(a.re) * s};
}
RDG_C64_IN_DOUBLE(rdg_ccosh)
RDG_C rdg_ctanh(rdg_complex<F> a) {
  F x = rdg_abs(a.re);
  if (x > 22) {
    F small = 4 * rdg_sin(a.im) * rdg_cos(a.im) * rdg_exp(-2 * x);
    return {rdg_sign(a.re), small};
  }
  return rdg_cdiv(rdg_csinh(a), rdg_ccosh(a));
}
RDG_C rdg_ctan(rdg_complex<F> a) {
  rdg_complex<F> t = rdg_ctanh(rdg_complex<F>{-a.im, a.re});
  return {t.im, -t.re};
}
// Inverse functions after Kahan, "Branch cuts for complex elementary
// functions": through square roots, so that nothing cancels.
RDG_C rdg_casin(rdg_complex<F> a) {
  rdg_complex<F> m = rdg_csqrt(rdg_complex<F>{1 - a.re, -a.im});
  rdg_complex<F> p = rdg_csqrt(rdg_complex<F>{1 + a.re, a.im});
  return {rdg_atan2(a.re, m.re * p.re - m.im * p.im),
          rdg_asinh(m.re * p.im - m.im * p.re)};
}
RDG_C rdg_cacos(rdg_complex<F> a) {
  rdg_complex<F> m = rdg_csqrt(rdg_complex<F>{1 - a.re, -a.im});
  rdg_complex<F> p = rdg_csqrt(rdg_complex<F>{1 + a.re, a.im});
  return {2 * rdg_atan2(m.re, p.re), rdg_asinh(p.re * m.im - p.im * m.re)};
}
RDG_C rdg_cacosh(rdg_complex<F> a) {
  rdg_complex<F> m = rdg_csqrt(rdg_complex<F>{a.re - 1, a.im});
  rdg_complex<F> p = rdg_csqrt(rdg_complex<F>{a.re + 1, a.im});
  return {rdg_asinh(m.re * p.re + m.im * p.im), 2 * rdg_atan2(m.im, p.re)};
}
RDG_C rdg_casinh(rdg_complex<F> a) {
  rdg_complex<F> w = rdg_casin(rdg_complex<F>{-a.im, a.re});
  return {w.im, -w.re};
}
RDG_C rdg_catanh(rdg_complex<F> a) {
  F x = a.re, y = a.im;
  return {rdg_log1p(4 * x / ((1 - x) * (1 - x) + y * y)) / 4,
          rdg_atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2};
}
RDG_C rdg_ccbrt(rdg_complex<F> a) {
  F r = rdg_cbrt(rdg_cabs(a)), t = rdg_atan2(a.im, a.re) / 3;
  return {r * rdg_cos(t), r * rdg_sin(t)};
}
RDG_C rdg_clogistic(rdg_complex<F> a) {
  const rdg_complex<F> one = {1, 0};
  if (a.re < 0) {
    rdg_complex<F> e = rdg_cexp(a);
    return rdg_cdiv(e, rdg_cadd(one, e));
  }
  return rdg_cdiv(one, rdg_cadd(one, rdg_cexp(rdg_cneg(a))));
}
RDG_C rdg_csign(rdg_complex<F> a) {
  F m = rdg_cabs(a);
  if (m == 0) return a;
  return {a.re / m, a.im / m};
}
RDG_FN rdg_c128 rdg_cpow(rdg_c128 a, rdg_c128 b) {
  if (a.re == 0 && a.im == 0) {
    return b.re == 0 && b.im == 0 ? rdg_c128{1, 0} : rdg_c128{0, 0};
  }
  return rdg_cexp(rdg_cmul(b, rdg_clog(a)));
}
RDG_FN rdg_c64 rdg_cpow(rdg_c64 a, rdg_c64 b) {
  return rdg_narrow(rdg_cpow(rdg_wide(a), rdg_wide(b)));
}
// ---- end of prelude ----
)common";

}  // namespace

std::string ScalarPrelude(Dialect dialect) {
  return absl::StrCat(dialect == Dialect::kCuda ? kCudaPart : kHostPart,
                      kCommonPart);
}

}  // namespace ridge
