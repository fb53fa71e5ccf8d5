// Single-precision functions of generated host code. They have no branches and
// call nothing, so that loops around them run in vector lanes; the C library's
// are calls, one element each.
//
// Coefficients are minimax fits (Lawson's method on Chebyshev nodes, in double)
// of what the text says. Largest errors in units in the last place of the true
// value: over all 2^32 arguments, and without fused multiply-add over every
// 257th:
//
//   exp    0.98  0.92    log    0.85  0.91    tanh  2.42  2.36    sin  1.58
//   expm1  1.45  1.40    log1p  1.60  1.56    erf   1.16  1.18    cos  1.58
//
// and of pow 0.501 over 2^26 pairs. NaN, infinities, signs of zeros, overflow
// and subnormal numbers are the C library's.
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/cpu/emit.h"

namespace ridge {
namespace {

constexpr char kText[] = R"host(
// ---- Ridge host prelude: functions of floats ----
#include <math.h>
#include <stdint.h>
#include <string.h>
#define RDG_V static inline __attribute__((always_inline))
RDG_V float rdg_v_float(int32_t bits) {
  float x;
  memcpy(&x, &bits, 4);
  return x;
}
RDG_V int32_t rdg_v_bits(float x) {
  int32_t bits;
  memcpy(&bits, &x, 4);
  return bits;
}
RDG_V float rdg_v_fma(float a, float b, float c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
// lo <= x <= hi, or NaN.
RDG_V float rdg_v_clamp(float lo, float x, float hi) {
  const float y = lo > x ? lo : x;
  return hi < y ? hi : y;
}
RDG_V float rdg_v_power2(int32_t n) { return rdg_v_float((n + 127) << 23); }
#define RDG_V_LN2_HIGH 0x1.62e4p-1f  // 15 bits: times an exponent it is exact
#define RDG_V_LN2_LOW 0x1.7f7d1cp-20f
// x = n ln2 + r with |r| <= ln2 / 2; returns expm1(r).
RDG_V float rdg_v_reduced_expm1(float x, int32_t* n) {
  const float magic = 0x1.8p23f;  // added, it leaves no fraction
  const float shifted = rdg_v_fma(x, 0x1.715476p+0f, magic);
  const float k = shifted - magic;
  *n = rdg_v_bits(shifted) - rdg_v_bits(magic);
  float r = rdg_v_fma(k, -RDG_V_LN2_HIGH, x);
  r = rdg_v_fma(k, -RDG_V_LN2_LOW, r);
  float p = 0x1.a032c2p-13f;
  p = rdg_v_fma(p, r, 0x1.6d7226p-10f);
  p = rdg_v_fma(p, r, 0x1.11118ap-7f);
  p = rdg_v_fma(p, r, 0x1.5554b2p-5f);
  p = rdg_v_fma(p, r, 0x1.555554p-3f);
  p = rdg_v_fma(p, r, 0.5f);
  return rdg_v_fma(r * r, p, r);
}
RDG_V float rdg_v_exp(float x) {
  int32_t n;
  const float q = rdg_v_reduced_expm1(rdg_v_clamp(-104.0f, x, 89.0f), &n);
  // In two steps, since 2^n may be no float though the result is.
  const int32_t half = n >> 1;
  return (1.0f + q) * rdg_v_power2(half) * rdg_v_power2(n - half);
}
// For results that are rounded or summed up: within 4 units in the last place;
// subnormal ones become 0.
RDG_V float rdg_v_loose_exp(float x) {
  const float magic = 0x1.8p23f;
  const float shifted = rdg_v_fma(x, 0x1.715476p+0f, magic);
  const float k = shifted - magic;
  const float r =
      rdg_v_fma(k, -RDG_V_LN2_LOW, rdg_v_fma(k, -RDG_V_LN2_HIGH, x));
  float p = 0x1.1138d8p-7f;
  p = rdg_v_fma(p, r, 0x1.570574p-5f);
  p = rdg_v_fma(p, r, 0x1.555632p-3f);
  p = rdg_v_fma(p, r, 0x1.fffe6ep-2f);
  const float y = rdg_v_fma(r * r, p, r) + 1.0f;
  // The last bits of `shifted` are the exponent.
  float scaled = rdg_v_float(rdg_v_bits(y) +
                             (int32_t)((uint32_t)rdg_v_bits(shifted) << 23));
  scaled = x < -0x1.5d589ep+6f ? 0.0f : scaled;
  scaled = x > 0x1.62e42ep+6f ? INFINITY : scaled;
  return x == x ? scaled : x;
}
#define RDG_LOOSE_EXP rdg_v_loose_exp
RDG_V float rdg_v_expm1(float x) {
  int32_t n;
  const float q = rdg_v_reduced_expm1(rdg_v_clamp(-20.0f, x, 89.0f), &n);
  const float s = rdg_v_power2(n - 1);
  const float y = rdg_v_fma(s, q, s - 0.5f);
  return fabsf(x) < 0x1p-26f ? x : y + y;
}
// log(2^n (1 + f)) with -1/3 <= f <= 1/3.
RDG_V float rdg_v_log_sum(float n, float f) {
  float p = 0x1.ebd01cp-4f;
  p = rdg_v_fma(p, f, -0x1.071126p-3f);
  p = rdg_v_fma(p, f, 0x1.b87e56p-4f);
  p = rdg_v_fma(p, f, -0x1.f389fcp-4f);
  p = rdg_v_fma(p, f, 0x1.24f48cp-3f);
  p = rdg_v_fma(p, f, -0x1.559908p-3f);
  p = rdg_v_fma(p, f, 0x1.99977ep-3f);
  p = rdg_v_fma(p, f, -0x1.ffff0ep-3f);
  p = rdg_v_fma(p, f, 0x1.555556p-2f);
  p = rdg_v_fma(p, f, -0.5f);
  const float low = rdg_v_fma(f * f, p, n * RDG_V_LN2_LOW);
  return rdg_v_fma(n, RDG_V_LN2_HIGH, f + low);
}
#define RDG_V_TWO_THIRDS 0x3f2aaaab
RDG_V float rdg_v_log(float x) {
  const bool tiny = x < 0x1p-126f;
  const int32_t bits = rdg_v_bits(tiny ? x * 0x1p23f : x);
  const int32_t n = (bits - RDG_V_TWO_THIRDS) >> 23;
  const float m = rdg_v_float(bits - (int32_t)((uint32_t)n << 23));
  const float y = rdg_v_log_sum((float)(tiny ? n - 23 : n), m - 1.0f);
  const float edge = x == 0.0f ? -INFINITY : x < 0.0f ? NAN : x;
  return (x > 0.0f) & (x < INFINITY) ? y : edge;
}
RDG_V float rdg_v_log1p(float x) {
  const float u = 1.0f + x;
  const int32_t bits = rdg_v_bits(u);
  const int32_t n = (bits - RDG_V_TWO_THIRDS) >> 23;
  const float m = rdg_v_float(bits - (int32_t)((uint32_t)n << 23));
  // (1 + x) / 2^n - 1 without the rounding of 1 + x.
  const float s = rdg_v_power2(-(n < 64 ? n : 64));
  const float f = n < 64 ? rdg_v_fma(x, s, s - 1.0f) : m - 1.0f;
  const float y = rdg_v_log_sum((float)n, f);
  const float edge = x == -1.0f ? -INFINITY : x < -1.0f ? NAN : x;
  return (fabsf(x) > 0x1p-26f) & (u > 0.0f) & (x < INFINITY) ? y : edge;
}
// tanh(a) = t / (t + 2) with t = expm1(2 a), which at 20 rounds to 1.
RDG_V float rdg_v_tanh(float x) {
  const float a = fabsf(x);
  int32_t n;
  const float q = rdg_v_reduced_expm1(20.0f < 2.0f * a ? 20.0f : 2.0f * a, &n);
  const float s = rdg_v_power2(n);
  const float t = rdg_v_fma(s, q, s - 1.0f);
  return x == x ? copysignf(t / (t + 2.0f), x) : x;
}
// Below 0.9 x + x P(x^2), from there 1 - exp(R(|x|)), which at 3.95 rounds to 1.
RDG_V float rdg_v_erf(float x) {
  const float z = x * x;
  float p = -0x1.3f4f9ap-11f;
  p = rdg_v_fma(p, z, 0x1.4876d4p-8f);
  p = rdg_v_fma(p, z, -0x1.b6bee4p-6f);
  p = rdg_v_fma(p, z, 0x1.ce1dd2p-4f);
  p = rdg_v_fma(p, z, -0x1.8126fap-2f);
  p = rdg_v_fma(p, z, 0x1.06eba6p-3f);
  const float near = rdg_v_fma(x, p, x);
  const float size = fabsf(x), a = 3.95f < size ? 3.95f : size;
  float r = 0x1.9d850ep-13f;
  r = rdg_v_fma(r, a, -0x1.908122p-9f);
  r = rdg_v_fma(r, a, 0x1.6cfcdap-6f);
  r = rdg_v_fma(r, a, -0x1.aa2312p-4f);
  r = rdg_v_fma(r, a, -0x1.462cb2p-1f);
  r = rdg_v_fma(r, a, -0x1.20b432p+0f);
  r = rdg_v_fma(r, a, -0x1.743c82p-13f);
  int32_t n;
  const float q = rdg_v_reduced_expm1(r, &n), s = rdg_v_power2(n);
  const float far = (1.0f - s) - s * q;
  return size < 0.9f ? near : x == x ? copysignf(far, x) : x;
}
// Quarter turns in |x| and the rest as an angle (after Payne and Hanek): x is
// a number of 24 bits times 2^e, and of 2^e * 2/pi only the 84 bits below 4
// matter, so that every product here is exact.
RDG_V float rdg_v_quarter_turns(float x, int32_t* turns) {
  const int32_t e = (rdg_v_bits(x) >> 23) & 255;
  const int32_t at = e < 126 ? 0 : e - 126;
  const double m = (double)(x * rdg_v_power2(24 - at));
  double high = m * ((double)rdg_turns_high[at] * 0x1p-27);
  const double middle = m * ((double)rdg_turns_middle[at] * 0x1p-55);
  const double low = m * ((double)rdg_turns_low[at] * 0x1p-83);
  const double magic = 0x1.8p52;
  high -= ((high * 0.25 + magic) - magic) * 4.0;
  const double k = ((high + middle) + magic) - magic;
  *turns = (int32_t)(k == k ? k : 0.0);
  return (float)((((high - k) + middle) + low) * 0x1.921fb54442d18p+0);
}
// The sine of r plus some quarter turns, |r| <= pi / 4.
RDG_V float rdg_v_sine(float r, int32_t turns) {
  const float z = r * r;
  float s = -0x1.994062p-13f;
  s = rdg_v_fma(s, z, 0x1.110730p-7f);
  s = rdg_v_fma(s, z, -0x1.555546p-3f);
  s = rdg_v_fma(s * z, r, r);
  float c = 0x1.99e86ap-16f;
  c = rdg_v_fma(c, z, -0x1.6c0c28p-10f);
  c = rdg_v_fma(c, z, 0x1.55554ap-5f);
  c = rdg_v_fma(c * z, z, rdg_v_fma(z, -0.5f, 1.0f));
  const float y = (turns & 1) != 0 ? c : s;
  return rdg_v_float(rdg_v_bits(y) ^ (int32_t)((uint32_t)(turns & 2) << 30));
}
RDG_V float rdg_v_sin(float x) {
  int32_t turns;
  const float r = rdg_v_quarter_turns(x, &turns);
  return fabsf(x) < 0x1p-13f ? x : rdg_v_sine(r, turns);
}
RDG_V float rdg_v_cos(float x) {
  int32_t turns;
  const float r = rdg_v_quarter_turns(x, &turns);
  return rdg_v_sine(r, turns + 1);
}
RDG_V double rdg_v_double(uint64_t bits) {
  double x;
  memcpy(&x, &bits, 8);
  return x;
}
RDG_V uint64_t rdg_v_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, 8);
  return bits;
}
// 2^(y log2 |x|) in double, then what the signs say.
RDG_V float rdg_v_pow(float x, float y) {
  const float size = fabsf(x);
  const bool tiny = size < 0x1p-126f;
  const int32_t bits = rdg_v_bits(tiny ? size * 0x1p23f : size);
  const int32_t e = (bits - RDG_V_TWO_THIRDS) >> 23;
  const float m = rdg_v_float(bits - (int32_t)((uint32_t)e << 23));
  const double f = (double)(m - 1.0f);
  const double s = f / (2.0 + f), z = s * s;
  double g = 0x1.29cee23975430p-2;
  g = g * z + 0x1.46f2baa7a9fbap-2;
  g = g * z + 0x1.a61e9da256babp-2;
  g = g * z + 0x1.2776bc4feefd7p-1;
  g = g * z + 0x1.ec709dcb59695p-1;
  g = g * z + 0x1.71547652b7e93p+1;
  double log2 = (double)(tiny ? e - 23 : e) + g * s;
  log2 = size == 0.0f ? -INFINITY : size < INFINITY ? log2 : (double)size;
  double t = (double)y * log2;
  t = -160.0 > t ? -160.0 : t;
  t = 160.0 < t ? 160.0 : t;
  const double shifted = t + 0x1.8p52, r = t - (shifted - 0x1.8p52);
  double p = 0x1.fe17815f15c87p-17;
  p = p * r + 0x1.446a1fd6f00ecp-13;
  p = p * r + 0x1.5d8a708a75b3dp-10;
  p = p * r + 0x1.3b29dc40db348p-7;
  p = p * r + 0x1.c6b08aaf2cbf0p-5;
  p = p * r + 0x1.ebfbe0a4be7b1p-3;
  p = p * r + 0x1.62e42ff11629dp-1;
  p = p * r + 0x1.ffffffffabbcdp-1;
  const double scaled = rdg_v_double(rdg_v_bits(p) + (rdg_v_bits(shifted) << 52));
  float result = (float)(t == t ? scaled : t);
  result = (size == 1.0f) & (y == y) ? 1.0f : result;
  // Odd powers keep the sign; fractional ones of negative numbers are none.
  const float steps = fabsf(y);
  const bool even = steps >= 0x1p24f;
  const int32_t whole = (int32_t)(steps < 0x1p24f ? steps : 0.0f);
  const bool integer = even | ((float)whole == steps);
  const bool odd = !even & integer & ((whole & 1) != 0);
  const int32_t sign = odd ? rdg_v_bits(x) & (int32_t)0x80000000 : 0;
  result = rdg_v_float(rdg_v_bits(result) ^ sign);
  result = (x < 0.0f) & (x > -INFINITY) & !integer ? NAN : result;
  return (x == 1.0f) | (y == 0.0f) ? 1.0f : result;
}
// Halves away from zero.
RDG_V float rdg_v_round(float x) {
  return truncf(x + copysignf(0x1.fffffep-2f, x));
}
// What follows means these.
#define expf rdg_v_exp
#define expm1f rdg_v_expm1
#define logf rdg_v_log
#define log1pf rdg_v_log1p
#define tanhf rdg_v_tanh
#define erff rdg_v_erf
#define sinf rdg_v_sin
#define cosf rdg_v_cos
#define powf rdg_v_pow
#define roundf rdg_v_round
)host";

// 2/pi, from the bit of weight 1/2 on.
constexpr uint32_t kTwoOverPi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                   0xf534ddc0, 0xdb629599, 0x3c439041,
                                   0xfe5163ab};

// The bit of weight 2^-(at + 1).
uint32_t BitOfTwoOverPi(int at) {
  return at < 0 ? 0 : (kTwoOverPi[at / 32] >> (31 - at % 32)) & 1;
}

// For x with the exponent k - 1, thus a whole number times 2^(k - 24): `count`
// bits of 2^(k - 24) * 2/pi, the first of weight 2^weight.
std::string TurnsText(const char* name, int weight, int count) {
  constexpr int kExponents = 130;  // of 1/2 to 2^127, and of infinity
  std::string text = absl::StrCat("static const int32_t rdg_turns_", name, "[",
                                  kExponents, "] = {");
  for (int k = 0; k < kExponents; ++k) {
    uint32_t bits = 0;
    for (int b = 0; b < count; ++b) {
      bits = 2 * bits + BitOfTwoOverPi(k - 24 - weight - 1 + b);
    }
    absl::StrAppend(&text, k % 10 == 0 ? "\n  " : " ", bits, ",");
  }
  return absl::StrCat(text, "};\n");
}

}  // namespace

std::string HostMath() {
  return absl::StrCat("#include <stdint.h>\n", TurnsText("high", 1, 29),
                      TurnsText("middle", -28, 28), TurnsText("low", -56, 28),
                      kText);
}

}  // namespace ridge
