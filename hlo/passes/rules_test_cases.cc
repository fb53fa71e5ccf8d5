#include "hlo/passes/rules_test_cases.h"

namespace ridge {

const absl::string_view kRuleCaseComputations = R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
sum16 {
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT c = bf16[] add(a, b)
}
largest {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}
sum_and_smallest {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  s = f32[] add(a, c)
  m = s32[] minimum(d, b)
  ROOT t = (f32[], s32[]) tuple(s, m)
}
never {
  t = (f32[4]) parameter(0)
  ROOT n = pred[] constant(false)
}
step {
  t = (f32[4]) parameter(0)
  x = f32[4] get-tuple-element(t), index=0
  y = f32[4] negate(x)
  ROOT n = (f32[4]) tuple(y)
}
same {
  ROOT x = f32[4] parameter(0)
}
twice {
  x = f32[4] parameter(0)
  ROOT y = f32[4] add(x, x)
}
)";

namespace {

constexpr RuleCase kCases[] = {
    {"add-constant-right",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(2)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] add(c, p)",
     "f32[4] add(p0, f32[4] broadcast(2))"},
    {"add-zero",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(0)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] add(p, c)",
     "p0"},
    {"add-zero",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(-0.0)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] add(p, c)",
     "p0"},
    {"add-zero",
     "p = f32[4] parameter(0)\n"
     "e = f32[4] exponential(p)\n"
     "c0 = f32[] constant(0)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] add(e, c)",
     "f32[4] exponential(p0)"},
    {"add-negated",
     "p = f32[4] parameter(0)\n"
     "q = f32[4] parameter(1)\n"
     "n = f32[4] negate(q)\n"
     "ROOT r = f32[4] add(p, n)",
     "f32[4] subtract(p0, p1)"},
    {"add-integers",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(2)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "d0 = s32[] constant(3)\n"
     "d = s32[4] broadcast(d0), dimensions={}\n"
     "a = s32[4] add(p, c)\n"
     "ROOT r = s32[4] add(a, d)",
     "s32[4] add(p0, s32[4] add(s32[4] broadcast(2), s32[4] broadcast(3)))"},
    {"subtract-zero",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(0)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] subtract(p, c)",
     "p0"},
    {"zero-minus",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(-0.0)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] subtract(c, p)",
     "f32[4] negate(p0)"},
    {"subtract-self",
     "p = s32[4] parameter(0)\n"
     "ROOT r = s32[4] subtract(p, p)",
     "s32[4] broadcast(0)"},
    {"subtract-negated",
     "p = f32[4] parameter(0)\n"
     "q = f32[4] parameter(1)\n"
     "n = f32[4] negate(q)\n"
     "ROOT r = f32[4] subtract(p, n)",
     "f32[4] add(p0, p1)"},
    {"multiply-constant-right",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(2)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] multiply(c, p)",
     "f32[4] multiply(p0, f32[4] broadcast(2))"},
    {"multiply-one",
     "p = bf16[4] parameter(0)\n"
     "c0 = bf16[] constant(1)\n"
     "c = bf16[4] broadcast(c0), dimensions={}\n"
     "ROOT r = bf16[4] multiply(p, c)",
     "p0"},
    {"multiply-zero",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(0)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] multiply(p, c)",
     "s32[4] broadcast(0)"},
    {"multiply-minus-one",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(-1)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] multiply(p, c)",
     "f32[4] negate(p0)"},
    {"multiply-both-negated",
     "p = f32[4] parameter(0)\n"
     "q = f32[4] parameter(1)\n"
     "m = f32[4] negate(p)\n"
     "n = f32[4] negate(q)\n"
     "ROOT r = f32[4] multiply(m, n)",
     "f32[4] multiply(p0, p1)"},
    {"multiply-negated-constant",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(3)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "n = f32[4] negate(p)\n"
     "ROOT r = f32[4] multiply(n, c)",
     "f32[4] multiply(p0, f32[4] broadcast(-3))"},
    {"multiply-integers",
     "p = u8[4] parameter(0)\n"
     "c0 = u8[] constant(20)\n"
     "c = u8[4] broadcast(c0), dimensions={}\n"
     "d0 = u8[] constant(30)\n"
     "d = u8[4] broadcast(d0), dimensions={}\n"
     "a = u8[4] multiply(p, c)\n"
     "ROOT r = u8[4] multiply(a, d)",
     "u8[4] multiply(p0, u8[4] multiply(u8[4] broadcast(20), u8[4] "
     "broadcast(30)))"},
    {"square-of-abs",
     "p = f32[4] parameter(0)\n"
     "a = f32[4] abs(p)\n"
     "ROOT r = f32[4] multiply(a, a)",
     "f32[4] multiply(p0, p0)"},
    {"divide-one",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(1)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] divide(p, c)",
     "p0"},
    {"divide-by-power-of-two",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(-8)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] divide(p, c)",
     "f32[4] multiply(p0, f32[4] broadcast(-0.125))"},
    {"divide-unsigned",
     "p = u32[4] parameter(0)\n"
     "c0 = u32[] constant(8)\n"
     "c = u32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = u32[4] divide(p, c)",
     "u32[4] shift-right-logical(p0, u32[4] broadcast(3))"},
    {"divide-both-negated",
     "p = f32[4] parameter(0)\n"
     "q = f32[4] parameter(1)\n"
     "m = f32[4] negate(p)\n"
     "n = f32[4] negate(q)\n"
     "ROOT r = f32[4] divide(m, n)",
     "f32[4] divide(p0, p1)"},
    {"remainder-unsigned",
     "p = u32[4] parameter(0)\n"
     "c0 = u32[] constant(8)\n"
     "c = u32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = u32[4] remainder(p, c)",
     "u32[4] and(p0, u32[4] broadcast(7))"},
    {"small-power",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(2)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] power(p, c)",
     "f32[4] multiply(p0, p0)"},
    {"small-power",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(0)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] power(p, c)",
     "f32[4] broadcast(1)"},
    {"small-power",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(1)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] power(p, c)",
     "p0"},
    {"small-power",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(-1)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] power(p, c)",
     "f32[4] divide(f32[4] broadcast(1), p0)"},
    {"small-power",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(0.5)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "e = f32[4] abs(p)\n"
     "ROOT r = f32[4] power(e, c)",
     "f32[4] sqrt(f32[4] abs(p0))"},
    {"small-power",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(-0.5)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "e = f32[4] exponential(p)\n"
     "ROOT r = f32[4] power(e, c)",
     "f32[4] rsqrt(f32[4] exponential(p0))"},
    {"small-power",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(3)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] power(p, c)",
     "s32[4] multiply(s32[4] multiply(p0, p0), p0)"},
    {"negate-negate",
     "p = f32[4] parameter(0)\n"
     "n = f32[4] negate(p)\n"
     "ROOT r = f32[4] negate(n)",
     "p0"},
    {"negate-difference",
     "p = s32[4] parameter(0)\n"
     "q = s32[4] parameter(1)\n"
     "d = s32[4] subtract(p, q)\n"
     "ROOT r = s32[4] negate(d)",
     "s32[4] subtract(p1, p0)"},
    {"not-not",
     "p = pred[4] parameter(0)\n"
     "n = pred[4] not(p)\n"
     "ROOT r = pred[4] not(n)",
     "p0"},
    {"abs-abs",
     "p = f32[4] parameter(0)\n"
     "a = f32[4] abs(p)\n"
     "ROOT r = f32[4] abs(a)",
     "f32[4] abs(p0)"},
    {"abs-negate",
     "p = f32[4] parameter(0)\n"
     "a = f32[4] negate(p)\n"
     "ROOT r = f32[4] abs(a)",
     "f32[4] abs(p0)"},
    {"abs-non-negative",
     "p = f32[4] parameter(0)\n"
     "a = f32[4] exponential(p)\n"
     "ROOT r = f32[4] abs(a)",
     "f32[4] exponential(p0)"},
    {"real-of-complex",
     "p = f32[4] parameter(0)\n"
     "q = f32[4] parameter(1)\n"
     "z = c64[4] complex(p, q)\n"
     "ROOT r = f32[4] real(z)",
     "p0"},
    {"imag-of-complex",
     "p = f32[4] parameter(0)\n"
     "q = f32[4] parameter(1)\n"
     "z = c64[4] complex(p, q)\n"
     "ROOT r = f32[4] imag(z)",
     "p1"},
    {"real-of-real",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4] real(p)",
     "p0"},
    {"imag-of-real",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4] imag(p)",
     "f32[4] broadcast(0)"},
    {"complex-of-parts",
     "p = c64[4] parameter(0)\n"
     "a = f32[4] real(p)\n"
     "b = f32[4] imag(p)\n"
     "ROOT r = c64[4] complex(a, b)",
     "p0"},
    {"maximum-constant-right",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(2)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] maximum(c, p)",
     "f32[4] maximum(p0, f32[4] broadcast(2))"},
    {"minimum-constant-right",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(2)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] minimum(c, p)",
     "f32[4] minimum(p0, f32[4] broadcast(2))"},
    {"maximum-self",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4] maximum(p, p)",
     "p0"},
    {"minimum-self",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4] minimum(p, p)",
     "p0"},
    {"maximum-lowest",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(-inf)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] maximum(p, c)",
     "p0"},
    {"minimum-highest",
     "p = s8[4] parameter(0)\n"
     "c0 = s8[] constant(127)\n"
     "c = s8[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s8[4] minimum(p, c)",
     "p0"},
    {"maximum-nested",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(2)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "d0 = f32[] constant(3)\n"
     "d = f32[4] broadcast(d0), dimensions={}\n"
     "a = f32[4] maximum(p, c)\n"
     "ROOT r = f32[4] maximum(a, d)",
     "f32[4] maximum(p0, f32[4] maximum(f32[4] broadcast(2), f32[4] "
     "broadcast(3)))"},
    {"minimum-nested",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(2)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "d0 = f32[] constant(3)\n"
     "d = f32[4] broadcast(d0), dimensions={}\n"
     "a = f32[4] minimum(p, c)\n"
     "ROOT r = f32[4] minimum(a, d)",
     "f32[4] minimum(p0, f32[4] minimum(f32[4] broadcast(2), f32[4] "
     "broadcast(3)))"},
    {"clamp-unbounded",
     "p = f32[4] parameter(0)\n"
     "l = f32[] constant(-inf)\n"
     "h = f32[] constant(inf)\n"
     "ROOT r = f32[4] clamp(l, p, h)",
     "p0"},
    {"clamp-twice",
     "p = f32[4] parameter(0)\n"
     "l = f32[] constant(0)\n"
     "h = f32[] constant(1)\n"
     "a = f32[4] clamp(l, p, h)\n"
     "ROOT r = f32[4] clamp(l, a, h)",
     "f32[4] clamp(0, p0, 1)"},
    {"floor-of-integer",
     "p = s32[4] parameter(0)\n"
     "x = f32[4] convert(p)\n"
     "ROOT r = f32[4] floor(x)",
     "f32[4] convert(p0)"},
    {"ceil-of-integer",
     "p = s32[4] parameter(0)\n"
     "x = f32[4] convert(p)\n"
     "ROOT r = f32[4] ceil(x)",
     "f32[4] convert(p0)"},
    {"round-afz-of-integer",
     "p = s32[4] parameter(0)\n"
     "x = f32[4] convert(p)\n"
     "ROOT r = f32[4] round-nearest-afz(x)",
     "f32[4] convert(p0)"},
    {"round-even-of-integer",
     "p = s32[4] parameter(0)\n"
     "x = f32[4] convert(p)\n"
     "ROOT r = f32[4] round-nearest-even(x)",
     "f32[4] convert(p0)"},
    {"compare-constant-right",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(2)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = pred[4] compare(c, p), direction=LT",
     "pred[4] compare(p0, f32[4] broadcast(2))"},
    {"compare-self",
     "p = s32[4] parameter(0)\n"
     "ROOT r = pred[4] compare(p, p), direction=LE",
     "pred[4] broadcast(1)"},
    {"compare-unsigned-zero",
     "p = u32[4] parameter(0)\n"
     "c0 = u32[] constant(0)\n"
     "c = u32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = pred[4] compare(p, c), direction=LT",
     "pred[4] broadcast(0)"},
    {"compare-pred-constant",
     "p = pred[4] parameter(0)\n"
     "c0 = pred[] constant(false)\n"
     "c = pred[4] broadcast(c0), dimensions={}\n"
     "ROOT r = pred[4] compare(p, c), direction=EQ",
     "pred[4] not(p0)"},
    {"not-of-compare",
     "p = f32[4] parameter(0)\n"
     "q = f32[4] parameter(1)\n"
     "a = pred[4] compare(p, q), direction=EQ\n"
     "ROOT r = pred[4] not(a)",
     "pred[4] compare(p0, p1)"},
    {"select-constant",
     "p = f32[4] parameter(0)\n"
     "q = f32[4] parameter(1)\n"
     "c0 = pred[] constant(true)\n"
     "c = pred[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] select(c, p, q)",
     "p0"},
    {"select-same",
     "p = f32[4] parameter(0)\n"
     "q = pred[4] parameter(1)\n"
     "ROOT r = f32[4] select(q, p, p)",
     "p0"},
    {"select-of-not",
     "p = f32[4] parameter(0)\n"
     "q = f32[4] parameter(1)\n"
     "t = pred[4] parameter(2)\n"
     "n = pred[4] not(t)\n"
     "ROOT r = f32[4] select(n, p, q)",
     "f32[4] select(p2, p1, p0)"},
    {"select-of-booleans",
     "p = pred[4] parameter(0)\n"
     "c0 = pred[] constant(true)\n"
     "c = pred[4] broadcast(c0), dimensions={}\n"
     "d0 = pred[] constant(false)\n"
     "d = pred[4] broadcast(d0), dimensions={}\n"
     "ROOT r = pred[4] select(p, c, d)",
     "p0"},
    {"select-of-select",
     "p = f32[4] parameter(0)\n"
     "q = f32[4] parameter(1)\n"
     "s = f32[4] parameter(2)\n"
     "t = pred[4] parameter(3)\n"
     "a = f32[4] select(t, p, q)\n"
     "ROOT r = f32[4] select(t, a, s)",
     "f32[4] select(p3, p0, p2)"},
    {"and-constant-right",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(2)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] and(c, p)",
     "s32[4] and(p0, s32[4] broadcast(2))"},
    {"or-constant-right",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(2)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] or(c, p)",
     "s32[4] or(p0, s32[4] broadcast(2))"},
    {"xor-constant-right",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(2)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] xor(c, p)",
     "s32[4] xor(p0, s32[4] broadcast(2))"},
    {"and-ones",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(-1)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] and(p, c)",
     "p0"},
    {"or-zero",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(0)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] or(p, c)",
     "p0"},
    {"xor-zero",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(0)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] xor(p, c)",
     "p0"},
    {"and-zero",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(0)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] and(p, c)",
     "s32[4] broadcast(0)"},
    {"or-ones",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(-1)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] or(p, c)",
     "s32[4] broadcast(-1)"},
    {"and-self",
     "p = s32[4] parameter(0)\n"
     "ROOT r = s32[4] and(p, p)",
     "p0"},
    {"or-self",
     "p = s32[4] parameter(0)\n"
     "ROOT r = s32[4] or(p, p)",
     "p0"},
    {"xor-self",
     "p = s32[4] parameter(0)\n"
     "ROOT r = s32[4] xor(p, p)",
     "s32[4] broadcast(0)"},
    {"xor-ones",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(-1)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] xor(p, c)",
     "s32[4] not(p0)"},
    {"shift-left-zero",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(0)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] shift-left(p, c)",
     "p0"},
    {"shift-right-logical-zero",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(0)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] shift-right-logical(p, c)",
     "p0"},
    {"shift-right-arithmetic-zero",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(0)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] shift-right-arithmetic(p, c)",
     "p0"},
    {"shift-left-past-width",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(32)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] shift-left(p, c)",
     "s32[4] broadcast(0)"},
    {"shift-right-past-width",
     "p = s32[4] parameter(0)\n"
     "c0 = s32[] constant(32)\n"
     "c = s32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = s32[4] shift-right-logical(p, c)",
     "s32[4] broadcast(0)"},
    {"convert-identity",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4] convert(p)",
     "p0"},
    {"convert-of-convert",
     "p = bf16[4] parameter(0)\n"
     "a = f32[4] convert(p)\n"
     "ROOT r = bf16[4] convert(a)",
     "p0"},
    {"convert-of-convert",
     "p = f8e4m3fn[4] parameter(0)\n"
     "a = f16[4] convert(p)\n"
     "ROOT r = f32[4] convert(a)",
     "f32[4] convert(p0)"},
    {"convert-of-convert",
     "p = s8[4] parameter(0)\n"
     "a = s32[4] convert(p)\n"
     "ROOT r = s16[4] convert(a)",
     "s16[4] convert(p0)"},
    {"bitcast-convert-identity",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4] bitcast-convert(p)",
     "p0"},
    {"bitcast-convert-twice",
     "p = f32[4] parameter(0)\n"
     "a = u32[4] bitcast-convert(p)\n"
     "ROOT r = f32[4] bitcast-convert(a)",
     "p0"},
    {"copy",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4] copy(p)",
     "p0"},
    {"reduce-precision-twice",
     "p = f32[4] parameter(0)\n"
     "a = f32[4] reduce-precision(p), exponent_bits=8, mantissa_bits=7\n"
     "ROOT r = f32[4] reduce-precision(a), exponent_bits=8, mantissa_bits=7",
     "f32[4] reduce-precision(p0)"},
};

}  // namespace

absl::Span<const RuleCase> ValueRuleCases() { return kCases; }

}  // namespace ridge
