// Rewrites that have to be asked for, and those that would be wrong.
#include "hlo/passes/rules_test_cases.h"

namespace ridge {
namespace {

constexpr RuleCase kUnsafe[] = {
    {"divide-self",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4] divide(p, p)",
     "f32[4] broadcast(1)"},
    {"subtract-self",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4] subtract(p, p)",
     "f32[4] broadcast(0)"},
    {"multiply-zero",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(0)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] multiply(p, c)",
     "f32[4] broadcast(0)"},
    {"compare-self",
     "p = f32[4] parameter(0)\n"
     "ROOT r = pred[4] compare(p, p), direction=EQ",
     "pred[4] broadcast(1)"},
    {"add-zero",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(0)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] add(p, c)",
     "p0"},
};

constexpr RuleCase kKept[] = {
    {"add-zero",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(0)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] add(p, c)",
     "f32[4] add(p0, f32[4] broadcast(0))"},
    {"multiply-zero",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(0)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] multiply(p, c)",
     "f32[4] multiply(p0, f32[4] broadcast(0))"},
    {"subtract-self",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4] subtract(p, p)",
     "f32[4] subtract(p0, p0)"},
    {"divide-self",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4] divide(p, p)",
     "f32[4] divide(p0, p0)"},
    {"divide-by-power-of-two",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(3)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] divide(p, c)",
     "f32[4] divide(p0, f32[4] broadcast(3))"},
    {"small-power",
     "p = f32[4] parameter(0)\n"
     "c0 = f32[] constant(0.5)\n"
     "c = f32[4] broadcast(c0), dimensions={}\n"
     "ROOT r = f32[4] power(p, c)",
     "f32[4] power(p0, f32[4] broadcast(0.5))"},
    {"compare-self",
     "p = f32[4] parameter(0)\n"
     "ROOT r = pred[4] compare(p, p), direction=EQ",
     "pred[4] compare(p0, p0)"},
    {"not-of-compare",
     "p = f32[4] parameter(0)\n"
     "q = f32[4] parameter(1)\n"
     "a = pred[4] compare(p, q), direction=LT\n"
     "ROOT r = pred[4] not(a)",
     "pred[4] not(pred[4] compare(p0, p1))"},
    {"convert-of-convert",
     "p = f32[4] parameter(0)\n"
     "a = bf16[4] convert(p)\n"
     "ROOT r = f32[4] convert(a)",
     "f32[4] convert(bf16[4] convert(p0))"},
    {"convert-of-convert",
     "p = s32[4] parameter(0)\n"
     "a = f64[4] convert(p)\n"
     "ROOT r = s8[4] convert(a)",
     "s8[4] convert(f64[4] convert(p0))"},
    {"reduce-of-reduce",
     "p = f32[2,4,8] parameter(0)\n"
     "z = f32[] constant(0)\n"
     "y = f32[] constant(1)\n"
     "a = f32[2,8] reduce(p, y), dimensions={1}, to_apply=sum\n"
     "ROOT r = f32[8] reduce(a, z), dimensions={0}, to_apply=sum",
     "f32[8] reduce{0}(f32[2,8] reduce{1}(p0, 1), 0)"},
    // Between types, as XLA's verifier lets pass.
    {"maximum-lowest",
     "p = f16[] parameter(0)\n"
     "c = f32[] constant(-inf)\n"
     "ROOT r = f32[] maximum(c, p)",
     "f32[] maximum(-inf, p0)"},
    // The narrow sum is rounded before it is scaled.
    {"reduce-of-broadcast",
     "p = bf16[4,2] parameter(0)\n"
     "b = bf16[3,4,2] broadcast(p), dimensions={1,2}\n"
     "z = bf16[] constant(0)\n"
     "ROOT r = bf16[2] reduce(b, z), dimensions={0,1}, to_apply=sum16",
     "bf16[2] reduce{0,1}(bf16[3,4,2] broadcast{1,2}(p0), 0)"},
    {"dot-of-transpose",
     "p = f32[4,2,5] parameter(0)\n"
     "q = f32[5,4,3] parameter(1)\n"
     "a = f32[2,5,4] transpose(p), dimensions={1,2,0}\n"
     "ROOT r = f32[2,3] dot(a, q), lhs_contracting_dims={1,2}, "
     "rhs_contracting_dims={0,1}",
     "f32[2,3] dot(f32[2,5,4] transpose{1,2,0}(p0), p1)"},
};

}  // namespace

absl::Span<const RuleCase> UnsafeRuleCases() { return kUnsafe; }
absl::Span<const RuleCase> KeptCases() { return kKept; }

}  // namespace ridge
