// Loops that become one kernel, for the tests of what is built and of what is
// written: modules whose entry's root is the loop, begun with parameters and
// constants.
#ifndef RIDGE_BACKENDS_KERNEL_SEQUENTIAL_CASES_H_
#define RIDGE_BACKENDS_KERNEL_SEQUENTIAL_CASES_H_

namespace ridge {

struct SequentialCase {
  const char* name;
  const char* hlo;
};

inline constexpr SequentialCase kSequentialCases[] = {
    // JAX's scan: rows in, rows out, one carried.
    {"scan", R"(HloModule scan
body {
  s = (s32[], f32[33], f32[5,33], f32[5,33], f32[33]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  zero = s32[] constant(0)
  next = s32[] add(i, one)
  h = f32[33] get-tuple-element(s), index=1
  a = f32[33] get-tuple-element(s), index=4
  m = f32[33] multiply(h, a)
  t = f32[33] tanh(m)
  x = f32[5,33] get-tuple-element(s), index=3
  row = f32[1,33] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,33}
  r = f32[33] reshape(row)
  n = f32[33] add(t, r)
  y = f32[5,33] get-tuple-element(s), index=2
  two = f32[] constant(2)
  twos = f32[33] broadcast(two), dimensions={}
  d = f32[33] multiply(n, twos)
  dr = f32[1,33] reshape(d)
  u = f32[5,33] dynamic-update-slice(y, dr, i, zero)
  ROOT o = (s32[], f32[33], f32[5,33], f32[5,33], f32[33]) tuple(next, n, u, x, a)
}
condition {
  s = (s32[], f32[33], f32[5,33], f32[5,33], f32[33]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  limit = s32[] constant(5)
  ROOT c = pred[] compare(i, limit), direction=LT
}
ENTRY e {
  start = s32[] constant(0)
  h = f32[33] parameter(0)
  y = f32[5,33] parameter(1)
  x = f32[5,33] parameter(2)
  a = f32[33] parameter(3)
  t = (s32[], f32[33], f32[5,33], f32[5,33], f32[33]) tuple(start, h, y, x, a)
  ROOT w = (s32[], f32[33], f32[5,33], f32[5,33], f32[33]) while(t), condition=condition, body=body
})"},
    // From the last row to the first, every other one; bf16; two carried that
    // change places.
    {"backwards", R"(HloModule backwards
body {
  s = (s32[], bf16[7], bf16[7], bf16[40,7], bf16[40,7]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  two = s32[] constant(2)
  zero = s32[] constant(0)
  next = s32[] subtract(i, two)
  p = bf16[7] get-tuple-element(s), index=1
  q = bf16[7] get-tuple-element(s), index=2
  x = bf16[40,7] get-tuple-element(s), index=3
  row = bf16[1,7] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,7}
  r = bf16[7] reshape(row)
  pn = bf16[7] add(q, r)
  qn = bf16[7] copy(p)
  y = bf16[40,7] get-tuple-element(s), index=4
  pr = bf16[1,7] reshape(p)
  u = bf16[40,7] dynamic-update-slice(y, pr, i, zero)
  ROOT o = (s32[], bf16[7], bf16[7], bf16[40,7], bf16[40,7]) tuple(next, pn, qn, x, u)
}
condition {
  s = (s32[], bf16[7], bf16[7], bf16[40,7], bf16[40,7]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  limit = s32[] constant(0)
  ROOT c = pred[] compare(i, limit), direction=GE
}
ENTRY e {
  start = s32[] constant(39)
  p = bf16[7] parameter(0)
  q = bf16[7] parameter(1)
  x = bf16[40,7] parameter(2)
  y = bf16[40,7] parameter(3)
  t = (s32[], bf16[7], bf16[7], bf16[40,7], bf16[40,7]) tuple(start, p, q, x, y)
  ROOT w = (s32[], bf16[7], bf16[7], bf16[40,7], bf16[40,7]) while(t), condition=condition, body=body
})"},
    // Numbers alone, and the counter in the arithmetic: many rounds.
    {"scalars", R"(HloModule scalars
body {
  s = (u32[], f32[], u32[]) parameter(0)
  i = u32[] get-tuple-element(s), index=0
  one = u32[] constant(1)
  next = u32[] add(i, one)
  x = f32[] get-tuple-element(s), index=1
  half = f32[] constant(0.5)
  g = f32[] convert(i)
  y = f32[] multiply(x, half)
  z = f32[] add(y, g)
  b = u32[] get-tuple-element(s), index=2
  five = u32[] constant(5)
  l = u32[] shift-left(b, five)
  v = u32[] xor(l, i)
  ROOT o = (u32[], f32[], u32[]) tuple(next, z, v)
}
condition {
  s = (u32[], f32[], u32[]) parameter(0)
  i = u32[] get-tuple-element(s), index=0
  limit = u32[] constant(1003)
  ROOT c = pred[] compare(i, limit), direction=LT
}
ENTRY e {
  start = u32[] constant(3)
  x = f32[] parameter(0)
  b = u32[] parameter(1)
  t = (u32[], f32[], u32[]) tuple(start, x, b)
  ROOT w = (u32[], f32[], u32[]) while(t), condition=condition, body=body
})"},
    // A row chosen by a table that no round changes, and nothing stacked.
    {"gathered", R"(HloModule gathered
body {
  s = (s64[], f32[3,31]{0,1}, s32[9], f32[4,3,31]) parameter(0)
  i = s64[] get-tuple-element(s), index=0
  one = s64[] constant(1)
  zero = s32[] constant(0)
  next = s64[] add(i, one)
  h = f32[3,31]{0,1} get-tuple-element(s), index=1
  k = s32[9] get-tuple-element(s), index=2
  at = s32[1] dynamic-slice(k, i), dynamic_slice_sizes={1}
  which = s32[] reshape(at)
  x = f32[4,3,31] get-tuple-element(s), index=3
  row = f32[1,3,31] dynamic-slice(x, which, zero, zero), dynamic_slice_sizes={1,3,31}
  r = f32[3,31]{0,1} reshape(row)
  n = f32[3,31]{0,1} maximum(h, r)
  ROOT o = (s64[], f32[3,31]{0,1}, s32[9], f32[4,3,31]) tuple(next, n, k, x)
}
condition {
  s = (s64[], f32[3,31]{0,1}, s32[9], f32[4,3,31]) parameter(0)
  i = s64[] get-tuple-element(s), index=0
  limit = s64[] constant(9)
  ROOT c = pred[] compare(i, limit), direction=LT
}
ENTRY e {
  start = s64[] constant(0)
  h = f32[3,31]{0,1} parameter(0)
  k = s32[9] parameter(1)
  x = f32[4,3,31] parameter(2)
  t = (s64[], f32[3,31]{0,1}, s32[9], f32[4,3,31]) tuple(start, h, k, x)
  ROOT w = (s64[], f32[3,31]{0,1}, s32[9], f32[4,3,31]) while(t), condition=condition, body=body
})"},
};

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SEQUENTIAL_CASES_H_
