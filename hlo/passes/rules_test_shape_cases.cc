#include "hlo/passes/rules_test_cases.h"

namespace ridge {
namespace {

constexpr RuleCase kCases[] = {
    {"empty-value",
     "p = f32[4,0] parameter(0)\n"
     "ROOT r = f32[4,0] exponential(p)",
     "f32[4,0] broadcast(0)"},
    {"reshape-identity",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4] reshape(p)",
     "p0"},
    {"reshape-of-reshape",
     "p = f32[4] parameter(0)\n"
     "a = f32[1,4] reshape(p)\n"
     "ROOT r = f32[2,2] reshape(a)",
     "f32[2,2] reshape(p0)"},
    {"reshape-of-broadcast",
     "p = f32[4] parameter(0)\n"
     "a = f32[2,3,4] broadcast(p), dimensions={2}\n"
     "ROOT r = f32[6,1,2,2] reshape(a)",
     "f32[6,1,2,2] broadcast{2,3}(f32[2,2] reshape(p0))"},
    {"reshape-of-broadcast",
     "p = f32[4] parameter(0)\n"
     "a = f32[4,1] broadcast(p), dimensions={0}\n"
     "ROOT r = f32[4] reshape(a)",
     "p0"},
    {"transpose-of-units",
     "p = f32[1,4] parameter(0)\n"
     "ROOT r = f32[4,1] transpose(p), dimensions={1,0}",
     "f32[4,1] reshape(p0)"},
    {"transpose-of-transpose",
     "p = f32[2,3,4] parameter(0)\n"
     "a = f32[4,2,3] transpose(p), dimensions={2,0,1}\n"
     "ROOT r = f32[2,4,3] transpose(a), dimensions={1,0,2}",
     "f32[2,4,3] transpose{0,2,1}(p0)"},
    {"transpose-of-broadcast",
     "p = f32[2,3] parameter(0)\n"
     "a = f32[2,4,3] broadcast(p), dimensions={0,2}\n"
     "ROOT r = f32[3,4,2] transpose(a), dimensions={2,1,0}",
     "f32[3,4,2] broadcast{0,2}(f32[3,2] transpose{1,0}(p0))"},
    {"transpose-of-unit-reshape",
     "p = f32[2,3] parameter(0)\n"
     "a = f32[2,1,3] reshape(p)\n"
     "ROOT r = f32[3,2,1] transpose(a), dimensions={2,0,1}",
     "f32[3,2,1] reshape(f32[3,2] transpose{1,0}(p0))"},
    {"bitcast-is-reshape",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[2,2] bitcast(p)",
     "f32[2,2] reshape(p0)"},
    {"reverse-of-units",
     "p = f32[1,4] parameter(0)\n"
     "ROOT r = f32[1,4] reverse(p), dimensions={0}",
     "p0"},
    {"reverse-of-reverse",
     "p = f32[2,4] parameter(0)\n"
     "a = f32[2,4] reverse(p), dimensions={0,1}\n"
     "ROOT r = f32[2,4] reverse(a), dimensions={0}",
     "f32[2,4] reverse{1}(p0)"},
    {"reverse-of-broadcast",
     "p = f32[4] parameter(0)\n"
     "a = f32[2,4] broadcast(p), dimensions={1}\n"
     "ROOT r = f32[2,4] reverse(a), dimensions={0}",
     "f32[2,4] broadcast{1}(p0)"},
    {"iota-of-unit", "ROOT r = s32[4,1] iota(), iota_dimension=1",
     "s32[4,1] broadcast(0)"},
    {"iota-of-one-dimension", "ROOT r = s32[4,3] iota(), iota_dimension=1",
     "s32[4,3] broadcast{1}(s32[3] iota())"},
    {"broadcast-identity",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4] broadcast(p), dimensions={0}",
     "p0"},
    {"broadcast-unsorted",
     "p = f32[2,3] parameter(0)\n"
     "ROOT r = f32[3,2] broadcast(p), dimensions={1,0}",
     "f32[3,2] transpose{1,0}(p0)"},
    {"broadcast-of-broadcast",
     "p = f32[4] parameter(0)\n"
     "a = f32[3,4] broadcast(p), dimensions={1}\n"
     "ROOT r = f32[2,3,4] broadcast(a), dimensions={1,2}",
     "f32[2,3,4] broadcast{2}(p0)"},
    {"broadcast-of-units",
     "p = f32[4,1] parameter(0)\n"
     "ROOT r = f32[4,1,3] broadcast(p), dimensions={0,1}",
     "f32[4,1,3] broadcast{0}(f32[4] reshape(p0))"},
    {"broadcast-to-units",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4,1] broadcast(p), dimensions={0}",
     "f32[4,1] reshape(p0)"},
    {"splat-constant", "ROOT r = f32[3] constant({2, 2, 2})",
     "f32[3] broadcast(2)"},
    {"sink-broadcast",
     "p = f32[3] parameter(0)\n"
     "q = f32[3] parameter(1)\n"
     "a = f32[3,4] broadcast(p), dimensions={0}\n"
     "b = f32[3,4] broadcast(q), dimensions={0}\n"
     "ROOT r = f32[3,4] add(a, b)",
     "f32[3,4] broadcast{0}(f32[3] add(p0, p1))"},
    {"sink-broadcast",
     "p = f32[2] parameter(0)\n"
     "q = f32[3] parameter(1)\n"
     "a = f32[2,3,4] broadcast(p), dimensions={0}\n"
     "b = f32[2,3,4] broadcast(q), dimensions={1}\n"
     "ROOT r = f32[2,3,4] add(a, b)",
     "f32[2,3,4] broadcast{0,1}(f32[2,3] add(f32[2,3] broadcast{0}(p0), "
     "f32[2,3] broadcast{1}(p1)))"},
    {"squeeze-elementwise",
     "p = f32[4] parameter(0)\n"
     "q = f32[4,1] parameter(1)\n"
     "a = f32[4,1] reshape(p)\n"
     "ROOT r = f32[4,1] add(a, q)",
     "f32[4,1] reshape(f32[4] add(f32[4] reshape(f32[4,1] reshape(p0)), f32[4] "
     "reshape(p1)))"},
    {"squeeze-slice",
     "p = f32[4] parameter(0)\n"
     "a = f32[4,1] reshape(p)\n"
     "ROOT r = f32[2,1] slice(a), slice={[1:3], [0:1]}",
     "f32[2,1] reshape(f32[2] slice(f32[4] reshape(f32[4,1] reshape(p0))))"},
    {"squeeze-pad",
     "p = f32[4] parameter(0)\n"
     "z = f32[] constant(0)\n"
     "a = f32[4,1] reshape(p)\n"
     "ROOT r = f32[6,1] pad(a, z), padding=1_1x0_0",
     "f32[6,1] reshape(f32[6] pad(f32[4] reshape(f32[4,1] reshape(p0)), 0))"},
    {"squeeze-reverse",
     "p = f32[4] parameter(0)\n"
     "a = f32[1,4] reshape(p)\n"
     "ROOT r = f32[1,4] reverse(a), dimensions={1}",
     "f32[1,4] reshape(f32[4] reverse{0}(f32[4] reshape(f32[1,4] "
     "reshape(p0))))"},
    {"squeeze-concatenate",
     "p = f32[4] parameter(0)\n"
     "q = f32[2] parameter(1)\n"
     "a = f32[1,4] reshape(p)\n"
     "b = f32[1,2] reshape(q)\n"
     "ROOT r = f32[1,6] concatenate(a, b), dimensions={1}",
     "f32[1,6] reshape(f32[6] concatenate{0}(f32[4] reshape(f32[1,4] "
     "reshape(p0)), f32[2] reshape(f32[1,2] reshape(p1))))"},
    {"squeeze-dynamic-slice",
     "p = f32[4] parameter(0)\n"
     "i = s32[] parameter(1)\n"
     "a = f32[4,1] reshape(p)\n"
     "z = s32[] constant(0)\n"
     "ROOT r = f32[2,1] dynamic-slice(a, i, z), dynamic_slice_sizes={2,1}",
     "f32[2,1] reshape(f32[2] dynamic-slice(f32[4] reshape(f32[4,1] "
     "reshape(p0)), p1))"},
    {"slice-full",
     "p = f32[8] parameter(0)\n"
     "ROOT r = f32[8] slice(p), slice={[0:8]}",
     "p0"},
    {"slice-of-slice",
     "p = f32[8] parameter(0)\n"
     "a = f32[4] slice(p), slice={[0:8:2]}\n"
     "ROOT r = f32[2] slice(a), slice={[1:3]}",
     "f32[2] slice(p0)"},
    {"slice-of-broadcast",
     "p = f32[8] parameter(0)\n"
     "a = f32[3,8] broadcast(p), dimensions={1}\n"
     "ROOT r = f32[2,4] slice(a), slice={[0:2], [4:8]}",
     "f32[2,4] broadcast{1}(f32[4] slice(p0))"},
    {"slice-of-concatenate",
     "p = f32[8] parameter(0)\n"
     "q = f32[8] parameter(1)\n"
     "a = f32[16] concatenate(p, q), dimensions={0}\n"
     "ROOT r = f32[3] slice(a), slice={[9:12]}",
     "f32[3] slice(p1)"},
    {"slice-of-concatenate",
     "p = f32[8] parameter(0)\n"
     "q = f32[8] parameter(1)\n"
     "a = f32[16] concatenate(p, q), dimensions={0}\n"
     "ROOT r = f32[8] slice(a), slice={[8:16]}",
     "p1"},
    {"slice-of-pad",
     "p = f32[8] parameter(0)\n"
     "z = f32[] constant(0)\n"
     "a = f32[10] pad(p, z), padding=1_1\n"
     "ROOT r = f32[3] slice(a), slice={[1:4]}",
     "f32[3] slice(p0)"},
    {"slice-of-transpose",
     "p = f32[2,8] parameter(0)\n"
     "a = f32[8,2] transpose(p), dimensions={1,0}\n"
     "ROOT r = f32[3,2] slice(a), slice={[1:4], [0:2]}",
     "f32[3,2] transpose{1,0}(f32[2,3] slice(p0))"},
    {"dynamic-slice-of-known",
     "p = f32[8] parameter(0)\n"
     "i = s32[] constant(7)\n"
     "ROOT r = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}",
     "f32[4] slice(p0)"},
    {"dynamic-slice-of-broadcast",
     "p = f32[] parameter(0)\n"
     "i = s32[] parameter(1)\n"
     "a = f32[8] broadcast(p), dimensions={}\n"
     "ROOT r = f32[4] dynamic-slice(a, i), dynamic_slice_sizes={4}",
     "f32[4] broadcast(p0)"},
    {"update-of-all",
     "p = f32[8] parameter(0)\n"
     "q = f32[8] parameter(1)\n"
     "i = s32[] parameter(2)\n"
     "ROOT r = f32[8] dynamic-update-slice(p, q, i)",
     "p1"},
    {"update-of-nothing",
     "p = f32[8] parameter(0)\n"
     "q = f32[0] parameter(1)\n"
     "i = s32[] parameter(2)\n"
     "ROOT r = f32[8] dynamic-update-slice(p, q, i)",
     "p0"},
    {"update-with-own-slice",
     "p = f32[8] parameter(0)\n"
     "i = s32[] parameter(1)\n"
     "a = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}\n"
     "ROOT r = f32[8] dynamic-update-slice(p, a, i)",
     "p0"},
    {"pad-nothing",
     "p = f32[8] parameter(0)\n"
     "z = f32[] constant(0)\n"
     "ROOT r = f32[8] pad(p, z), padding=0_0",
     "p0"},
    {"pad-of-pad",
     "p = f32[8] parameter(0)\n"
     "z = f32[] constant(0)\n"
     "a = f32[10] pad(p, z), padding=1_1\n"
     "ROOT r = f32[13] pad(a, z), padding=1_2",
     "f32[13] pad(p0, 0)"},
    {"pad-negative",
     "p = f32[8] parameter(0)\n"
     "z = f32[] constant(0)\n"
     "ROOT r = f32[5] pad(p, z), padding=-1_-2",
     "f32[5] slice(p0)"},
    {"pad-empty",
     "p = f32[0] parameter(0)\n"
     "z = f32[] constant(2)\n"
     "ROOT r = f32[5] pad(p, z), padding=2_3",
     "f32[5] broadcast(2)"},
    {"concatenate-one",
     "p = f32[8] parameter(0)\n"
     "ROOT r = f32[8] concatenate(p), dimensions={0}",
     "p0"},
    {"concatenate-empty",
     "p = f32[8] parameter(0)\n"
     "q = f32[0] parameter(1)\n"
     "ROOT r = f32[8] concatenate(p, q), dimensions={0}",
     "p0"},
    {"concatenate-of-concatenate",
     "p = f32[8] parameter(0)\n"
     "q = f32[8] parameter(1)\n"
     "a = f32[16] concatenate(p, q), dimensions={0}\n"
     "ROOT r = f32[24] concatenate(a, p), dimensions={0}",
     "f32[24] concatenate{0}(p0, p1, p0)"},
    {"concatenate-of-slices",
     "p = f32[8] parameter(0)\n"
     "a = f32[3] slice(p), slice={[0:3]}\n"
     "b = f32[5] slice(p), slice={[3:8]}\n"
     "ROOT r = f32[8] concatenate(a, b), dimensions={0}",
     "p0"},
    {"concatenate-of-broadcasts",
     "p = f32[8] parameter(0)\n"
     "a = f32[2,8] broadcast(p), dimensions={1}\n"
     "b = f32[3,8] broadcast(p), dimensions={1}\n"
     "ROOT r = f32[5,8] concatenate(a, b), dimensions={0}",
     "f32[5,8] broadcast{1}(p0)"},
    {"reduce-empty",
     "p = f32[4,0] parameter(0)\n"
     "z = f32[] constant(3)\n"
     "ROOT r = f32[4] reduce(p, z), dimensions={1}, to_apply=sum",
     "f32[4] broadcast(3)"},
    {"reduce-of-units",
     "p = f32[4,1] parameter(0)\n"
     "z = f32[] constant(0)\n"
     "ROOT r = f32[4] reduce(p, z), dimensions={1}, to_apply=sum",
     "f32[4] reshape(p0)"},
    {"reduce-of-units",
     "p = f32[4,1] parameter(0)\n"
     "z = f32[] constant(2)\n"
     "ROOT r = f32[4] reduce(p, z), dimensions={1}, to_apply=sum",
     "f32[4] add(f32[4] reshape(p0), f32[4] broadcast(2))"},
    {"reduce-drop-units",
     "p = f32[4,1,8] parameter(0)\n"
     "z = f32[] constant(0)\n"
     "ROOT r = f32[4,1] reduce(p, z), dimensions={2}, to_apply=sum",
     "f32[4,1] reshape(f32[4] reduce{1}(f32[4,8] reshape(p0), 0))"},
    {"reduce-of-reduce",
     "p = f32[2,4,8] parameter(0)\n"
     "z = f32[] constant(0)\n"
     "a = f32[2,8] reduce(p, z), dimensions={1}, to_apply=sum\n"
     "ROOT r = f32[8] reduce(a, z), dimensions={0}, to_apply=sum",
     "f32[8] reduce{0,1}(p0, 0)"},
    {"reduce-of-reshape",
     "p = f32[8,6] parameter(0)\n"
     "z = f32[] constant(0)\n"
     "a = f32[2,4,6] reshape(p)\n"
     "ROOT r = f32[6] reduce(a, z), dimensions={0,1}, to_apply=sum",
     "f32[6] reduce{0}(p0, 0)"},
    {"reduce-of-transpose",
     "p = f32[2,4,8] parameter(0)\n"
     "z = f32[] constant(0)\n"
     "a = f32[8,4,2] transpose(p), dimensions={2,1,0}\n"
     "ROOT r = f32[8,2] reduce(a, z), dimensions={1}, to_apply=sum",
     "f32[8,2] transpose{1,0}(f32[2,8] reduce{1}(p0, 0))"},
    {"reduce-of-broadcast",
     "p = f32[4] parameter(0)\n"
     "z = f32[] constant(0)\n"
     "a = f32[4,8] broadcast(p), dimensions={0}\n"
     "ROOT r = f32[4] reduce(a, z), dimensions={1}, to_apply=sum",
     "f32[4] multiply(p0, f32[4] broadcast(8))"},
    {"reduce-of-broadcast",
     "p = f32[4] parameter(0)\n"
     "z = f32[] constant(-inf)\n"
     "a = f32[4,8] broadcast(p), dimensions={0}\n"
     "ROOT r = f32[] reduce(a, z), dimensions={0,1}, to_apply=largest",
     "f32[] reduce{0}(p0, -inf)"},
    {"reduce-of-negate",
     "p = f32[4,8] parameter(0)\n"
     "z = f32[] constant(0)\n"
     "a = f32[4,8] negate(p)\n"
     "ROOT r = f32[4] reduce(a, z), dimensions={1}, to_apply=sum",
     "f32[4] negate(f32[4] reduce{1}(p0, 0))"},
    {"part-of-variadic-reduce",
     "p = f32[4,8] parameter(0)\n"
     "q = s32[4,8] parameter(1)\n"
     "z = f32[] constant(0)\n"
     "y = s32[] constant(7)\n"
     "a = (f32[4], s32[4]) reduce(p, q, z, y), dimensions={1}, "
     "to_apply=sum_and_smallest\n"
     "ROOT r = s32[4] get-tuple-element(a), index=1",
     "s32[4] reduce{1}(p1, 7)"},
    {"element-of-tuple",
     "p = f32[4] parameter(0)\n"
     "q = f32[8] parameter(1)\n"
     "t = (f32[4], f32[8]) tuple(p, q)\n"
     "ROOT r = f32[8] get-tuple-element(t), index=1",
     "p1"},
    {"tuple-of-elements",
     "p = (f32[4], f32[8]) parameter(0)\n"
     "a = f32[4] get-tuple-element(p), index=0\n"
     "b = f32[8] get-tuple-element(p), index=1\n"
     "ROOT r = (f32[4], f32[8]) tuple(a, b)",
     "p0"},
    {"while-never",
     "p = f32[4] parameter(0)\n"
     "t = (f32[4]) tuple(p)\n"
     "ROOT r = (f32[4]) while(t), condition=never, body=step",
     "tuple(p0)"},
    {"conditional-known",
     "p = f32[4] parameter(0)\n"
     "q = f32[4] parameter(1)\n"
     "t = pred[] constant(false)\n"
     "ROOT r = f32[4] conditional(t, p, q), true_computation=same, "
     "false_computation=twice",
     "f32[4] call(p1)"},
    {"dimension-size",
     "p = f32[4,7] parameter(0)\n"
     "ROOT r = s32[] get-dimension-size(p), dimensions={1}",
     "7"},
    {"domain",
     "p = f32[4] parameter(0)\n"
     "ROOT r = f32[4] domain(p), domain={kind=\"sharding\", "
     "entry={maximal device=0}, exit={maximal device=0}}",
     "p0"},
    {"narrow-before-transpose",
     "p = f32[2,4] parameter(0)\n"
     "a = f32[4,2] transpose(p), dimensions={1,0}\n"
     "ROOT r = bf16[4,2] convert(a)",
     "bf16[4,2] transpose{1,0}(bf16[2,4] convert(p0))"},
    {"narrow-before-reverse",
     "p = f32[4] parameter(0)\n"
     "a = f32[4] reverse(p), dimensions={0}\n"
     "ROOT r = bf16[4] convert(a)",
     "bf16[4] reverse{0}(bf16[4] convert(p0))"},
    {"widen-after-transpose",
     "p = bf16[2,4] parameter(0)\n"
     "a = f32[2,4] convert(p)\n"
     "ROOT r = f32[4,2] transpose(a), dimensions={1,0}",
     "f32[4,2] convert(bf16[4,2] transpose{1,0}(p0))"},
    {"widen-after-reverse",
     "p = bf16[2,4] parameter(0)\n"
     "a = f32[2,4] convert(p)\n"
     "ROOT r = f32[2,4] reverse(a), dimensions={1}",
     "f32[2,4] convert(bf16[2,4] reverse{1}(p0))"},
    {"widen-after-slice",
     "p = bf16[2,4] parameter(0)\n"
     "a = f32[2,4] convert(p)\n"
     "ROOT r = f32[2,2] slice(a), slice={[0:2], [1:3]}",
     "f32[2,2] convert(bf16[2,2] slice(p0))"},
    {"widen-after-dynamic-slice",
     "p = bf16[2,4] parameter(0)\n"
     "a = f32[2,4] convert(p)\n"
     "i = s32[] parameter(1)\n"
     "ROOT r = f32[2,2] dynamic-slice(a, i, i), dynamic_slice_sizes={2,2}",
     "f32[2,2] convert(bf16[2,2] dynamic-slice(p0, p1, p1))"},
    {"widen-after-gather",
     "p = bf16[2,4] parameter(0)\n"
     "a = f32[2,4] convert(p)\n"
     "i = s32[3] parameter(1)\n"
     "ROOT r = f32[3,4] gather(a, i), offset_dims={1}, "
     "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
     "slice_sizes={1,4}",
     "f32[3,4] convert(bf16[3,4] gather(p0, p1))"},
    {"widen-after-concatenate",
     "p = bf16[2,4] parameter(0)\n"
     "a = f32[2,4] convert(p)\n"
     "q = bf16[2,4] parameter(1)\n"
     "b = f32[2,4] convert(q)\n"
     "ROOT r = f32[4,4] concatenate(a, b), dimensions={0}",
     "f32[4,4] convert(bf16[4,4] concatenate{0}(p0, p1))"},
    {"dot-of-empty",
     "p = f32[2,0] parameter(0)\n"
     "q = f32[0,3] parameter(1)\n"
     "ROOT r = f32[2,3] dot(p, q), lhs_contracting_dims={1}, "
     "rhs_contracting_dims={0}",
     "f32[2,3] broadcast(0)"},
    {"dot-drop-units",
     "p = f32[2,1,4] parameter(0)\n"
     "q = f32[4,3] parameter(1)\n"
     "ROOT r = f32[2,1,3] dot(p, q), lhs_contracting_dims={2}, "
     "rhs_contracting_dims={0}",
     "f32[2,1,3] reshape(f32[2,3] dot(f32[2,4] reshape(p0), p1))"},
    {"dot-of-nothing",
     "p = f32[2] parameter(0)\n"
     "q = f32[3] parameter(1)\n"
     "ROOT r = f32[2,3] dot(p, q)",
     "f32[2,3] multiply(f32[2,3] broadcast{0}(p0), f32[2,3] broadcast{1}(p1))"},
    {"dot-of-nothing",
     "p = bf16[5,2] parameter(0)\n"
     "q = bf16[3,5] parameter(1)\n"
     "ROOT r = f32[5,2,3] dot(p, q), lhs_batch_dims={0}, rhs_batch_dims={1}",
     "f32[5,2,3] multiply(f32[5,2,3] broadcast{0,1}(f32[5,2] convert(p0)), "
     "f32[5,2,3] broadcast{0,2}(f32[5,3] convert(bf16[5,3] "
     "transpose{1,0}(p1))))"},
    {"dot-contracting-order",
     "p = f32[2,4,5] parameter(0)\n"
     "q = f32[4,5,3] parameter(1)\n"
     "ROOT r = f32[2,3] dot(p, q), lhs_contracting_dims={2,1}, "
     "rhs_contracting_dims={1,0}",
     "f32[2,3] dot(p0, p1)"},
    {"dot-of-transpose",
     "p = f32[4,2] parameter(0)\n"
     "q = f32[4,3] parameter(1)\n"
     "a = f32[2,4] transpose(p), dimensions={1,0}\n"
     "ROOT r = f32[2,3] dot(a, q), lhs_contracting_dims={1}, "
     "rhs_contracting_dims={0}",
     "f32[2,3] dot(p0, p1)"},
    {"dot-of-scattered",
     "p = f32[4,5,2] parameter(0)\n"
     "q = f32[5,4,3] parameter(1)\n"
     "ROOT r = f32[5,2,3] dot(p, q), lhs_batch_dims={1}, "
     "lhs_contracting_dims={0}, rhs_batch_dims={0}, rhs_contracting_dims={1}",
     "f32[5,2,3] dot(f32[5,4,2] transpose{1,0,2}(p0), p1)"},
    {"gather-of-nothing",
     "p = f32[0,2] parameter(0)\n"
     "i = s32[3] parameter(1)\n"
     "ROOT r = f32[3,2] gather(p, i), offset_dims={1}, "
     "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
     "slice_sizes={0,2}",
     "f32[3,2] broadcast(0)"},
    {"gather-of-splat",
     "p = f32[] parameter(0)\n"
     "i = s32[3] parameter(1)\n"
     "a = f32[8,4] broadcast(p), dimensions={}\n"
     "ROOT r = f32[3,4] gather(a, i), offset_dims={1}, "
     "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
     "slice_sizes={1,4}",
     "f32[3,4] broadcast(p0)"},
    {"gather-of-iota",
     "p = f32[8,4] parameter(0)\n"
     "i = s32[8] iota(), iota_dimension=0\n"
     "ROOT r = f32[8,4] gather(p, i), offset_dims={1}, "
     "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
     "slice_sizes={1,4}",
     "p0"},
    {"gather-of-one",
     "p = f32[8,4] parameter(0)\n"
     "i = s32[1] parameter(1)\n"
     "ROOT r = f32[4] gather(p, i), offset_dims={0}, collapsed_slice_dims={0}, "
     "start_index_map={0}, index_vector_dim=0, slice_sizes={1,4}",
     "f32[4] reshape(f32[1,4] dynamic-slice(p0, s32[] reshape(p1), 0))"},
    {"scatter-of-one-per-row",
     "i = s32[5,1] parameter(0)\n"
     "u = f32[5] parameter(1)\n"
     "c = f32[] constant(2)\n"
     "b = f32[5,7] broadcast(c), dimensions={}\n"
     "ROOT r = f32[5,7] scatter(b, i, u), update_window_dims={}, "
     "inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, "
     "input_batching_dims={0}, scatter_indices_batching_dims={0}, "
     "index_vector_dim=1, to_apply=sum",
     "f32[5,7] select(pred[5,7] compare(s32[5,7] iota(), s32[5,7] "
     "broadcast{0}(s32[5] reshape(p0))), f32[5,7] broadcast{0}(f32[5] "
     "add(f32[5] broadcast(2), p1)), f32[5,7] broadcast(2))"},
    {"sum-of-one-hot",
     "k = s32[5] parameter(0)\n"
     "i = s32[5,7] iota(), iota_dimension=1\n"
     "b = s32[5,7] broadcast(k), dimensions={0}\n"
     "e = pred[5,7] compare(i, b), direction=EQ\n"
     "c = f32[] constant(-0.25)\n"
     "cs = f32[5,7] broadcast(c), dimensions={}\n"
     "z = f32[] constant(0)\n"
     "zs = f32[5,7] broadcast(z), dimensions={}\n"
     "s = f32[5,7] select(e, cs, zs)\n"
     "ROOT r = f32[5] reduce(s, z), dimensions={1}, to_apply=sum",
     "f32[5] select(pred[5] and(pred[5] compare(p0, s32[5] broadcast(0)), "
     "pred[5] compare(p0, s32[5] broadcast(6))), f32[5] broadcast(-0.25), "
     "f32[5] broadcast(0))"},
    {"scatter-of-nothing",
     "p = f32[8,4] parameter(0)\n"
     "i = s32[0] parameter(1)\n"
     "u = f32[0,4] parameter(2)\n"
     "ROOT r = f32[8,4] scatter(p, i, u), update_window_dims={1}, "
     "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
     "index_vector_dim=1, to_apply=sum",
     "p0"},
};

}  // namespace

absl::Span<const RuleCase> ShapeRuleCases() { return kCases; }

}  // namespace ridge
