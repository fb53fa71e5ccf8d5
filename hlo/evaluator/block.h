// Blocks: the arithmetic of every elementwise opcode over short spans.
//
// There are many element types and few kinds of arithmetic. Each element type
// is computed in one *lane type*: narrow integers in 32 bits, float types up
// to f32 in float, and so on. A kernel works on spans of lane values; loading
// widens stored elements into lanes, storing rounds (nearest even) or wraps
// them back. Values in a lane always are values of the element type: Round
// puts them there after every instruction.
#ifndef RIDGE_HLO_EVALUATOR_BLOCK_H_
#define RIDGE_HLO_EVALUATOR_BLOCK_H_

#include <complex>
#include <cstdint>

#include "hlo/ir/attribute.h"
#include "hlo/ir/element_type.h"
#include "hlo/ir/opcode.h"

namespace ridge {

enum class Lane : uint8_t {
  kPred,  // uint8_t, 0 or 1
  kS32,   // s1 ... s32, sign-extended
  kU32,   // u1 ... u32, zero-extended
  kS64,
  kU64,
  kF32,  // f4 ... f32
  kF64,
  kC64,
  kC128,
};
inline constexpr int kLaneCount = 9;

Lane LaneOf(ElementType type);
int LaneBytes(Lane lane);
// Elements a block holds at most, and its size in bytes whatever the lane.
inline constexpr int64_t kBlockElements = 512;
inline constexpr int64_t kBlockBytes = kBlockElements * 16;

// Stored elements to lanes and back. `src` and `dst` do not overlap. Store
// rounds and wraps by itself; values need not have been Rounded.
using LaneFn = void (*)(const void* src, void* dst, int64_t n);
// Null where stored elements are lanes already.
LaneFn LoadFn(ElementType type);
LaneFn StoreFn(ElementType type);
// Puts lane values into the element type, in place; null where they are.
using RoundFn = void (*)(void* lanes, int64_t n);
RoundFn RoundFnFor(ElementType type);

// What a kernel needs to know beyond its operands.
struct BlockParams {
  int bits = 32;  // logical width of the operand's type
  int exponent_bits = 8;
  int mantissa_bits = 23;
  ElementType from = ElementType::kF32;
  ElementType to = ElementType::kF32;
};

// Operands are spans of `n` lanes. `out` may be one of the operands when the
// lanes have the same size.
using BlockFn = void (*)(const BlockParams& params, const void* const* in,
                         void* out, int64_t n);

// The kernel of an elementwise opcode on operands of this lane; null where HLO
// does not define it. The result has the operand's lane, except: complex to
// real for abs, real, imag; real to complex for complex; pred for is-finite.
// Not here: compare, convert, select, clamp (clamp is), copy,
// stochastic-convert.
BlockFn FindBlockFn(Opcode opcode, Lane lane);
Lane ResultLane(Opcode opcode, Lane operand);
// For float types the order may be kTotalOrder: -NaN < -inf < ... < -0 < +0 <
// ... < NaN.
BlockFn FindCompareFn(ComparisonDirection direction, bool total_order,
                      Lane lane);
// Operands: pred, on_true, on_false.
BlockFn FindSelectFn(Lane lane);
// HLO's conversion: floats to integers truncate and saturate to `to` (NaN is
// 0), integers wrap, anything to pred is != 0, complex to real drops the
// imaginary part. The result is rounded to params.to.
BlockFn FindConvertFn(ElementType from, ElementType to);

namespace block {

template <typename T>
struct IsComplexT : std::false_type {};
template <typename T>
struct IsComplexT<std::complex<T>> : std::true_type {};

template <typename T>
inline constexpr bool kIsComplex = IsComplexT<T>::value;
template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T>;

// One kernel for each lane; null where undefined.
struct LaneTable {
  BlockFn fn[kLaneCount] = {};
};

// Rows of the tables: block_float.cc, block_int.cc, block_complex.cc.
LaneTable FloatRow(Opcode opcode);
LaneTable IntRow(Opcode opcode);
LaneTable ComplexRow(Opcode opcode);

}  // namespace block
}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_BLOCK_H_
