// Compare and select kernels, and the tables over all lanes.
#include <array>
#include <complex>
#include <cstring>
#include <type_traits>

#include "hlo/evaluator/block.h"
#include "hlo/evaluator/block_loops.h"

namespace ridge {
namespace {

constexpr int Index(Lane lane) { return static_cast<int>(lane); }

struct Eq {
  template <typename T>
  static uint8_t Apply(T x, T y, const BlockParams&) {
    return x == y;
  }
};
struct Ne {
  template <typename T>
  static uint8_t Apply(T x, T y, const BlockParams&) {
    return x != y;
  }
};
struct Ge {
  template <typename T>
  static uint8_t Apply(T x, T y, const BlockParams&) {
    return x >= y;
  }
};
struct Gt {
  template <typename T>
  static uint8_t Apply(T x, T y, const BlockParams&) {
    return x > y;
  }
};
struct Le {
  template <typename T>
  static uint8_t Apply(T x, T y, const BlockParams&) {
    return x <= y;
  }
};
struct Lt {
  template <typename T>
  static uint8_t Apply(T x, T y, const BlockParams&) {
    return x < y;
  }
};

// An integer that orders as the total order of floats does.
inline int32_t OrderKey(float x) {
  int32_t b;
  std::memcpy(&b, &x, 4);
  return b ^ (static_cast<uint32_t>(b >> 31) >> 1);
}
inline int64_t OrderKey(double x) {
  int64_t b;
  std::memcpy(&b, &x, 8);
  return b ^ (static_cast<uint64_t>(b >> 63) >> 1);
}
template <typename Op>
struct Total {
  template <typename T>
  static uint8_t Apply(T x, T y, const BlockParams& p) {
    return Op::Apply(OrderKey(x), OrderKey(y), p);
  }
};

template <typename Op, bool kOrdered>
block::LaneTable CompareRow() {
  using block::BinaryLoop;
  block::LaneTable t;
  t.fn[Index(Lane::kPred)] = BinaryLoop<Op, uint8_t, uint8_t>;
  t.fn[Index(Lane::kS32)] = BinaryLoop<Op, int32_t, uint8_t>;
  t.fn[Index(Lane::kU32)] = BinaryLoop<Op, uint32_t, uint8_t>;
  t.fn[Index(Lane::kS64)] = BinaryLoop<Op, int64_t, uint8_t>;
  t.fn[Index(Lane::kU64)] = BinaryLoop<Op, uint64_t, uint8_t>;
  t.fn[Index(Lane::kF32)] = BinaryLoop<Op, float, uint8_t>;
  t.fn[Index(Lane::kF64)] = BinaryLoop<Op, double, uint8_t>;
  if constexpr (!kOrdered) {
    t.fn[Index(Lane::kC64)] = BinaryLoop<Op, std::complex<float>, uint8_t>;
    t.fn[Index(Lane::kC128)] = BinaryLoop<Op, std::complex<double>, uint8_t>;
  }
  return t;
}
template <typename Op>
block::LaneTable TotalRow() {
  block::LaneTable t = CompareRow<Op, true>();
  t.fn[Index(Lane::kF32)] = block::BinaryLoop<Total<Op>, float, uint8_t>;
  t.fn[Index(Lane::kF64)] = block::BinaryLoop<Total<Op>, double, uint8_t>;
  return t;
}

template <typename T>
void Select(const BlockParams&, const void* const* in, void* out, int64_t n) {
  const uint8_t* p = static_cast<const uint8_t*>(in[0]);
  const T* x = static_cast<const T*>(in[1]);
  const T* y = static_cast<const T*>(in[2]);
  T* o = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) o[i] = p[i] != 0 ? x[i] : y[i];
}

}  // namespace

BlockFn FindCompareFn(ComparisonDirection direction, bool total_order,
                      Lane lane) {
  // In the order of ComparisonDirection.
  static const std::array<block::LaneTable, 6> kFloatOrder = {
      CompareRow<Eq, false>(), CompareRow<Ne, false>(), CompareRow<Ge, true>(),
      CompareRow<Gt, true>(),  CompareRow<Le, true>(),  CompareRow<Lt, true>()};
  static const std::array<block::LaneTable, 6> kTotalOrder = {
      TotalRow<Eq>(), TotalRow<Ne>(), TotalRow<Ge>(),
      TotalRow<Gt>(), TotalRow<Le>(), TotalRow<Lt>()};
  const auto& table = total_order ? kTotalOrder : kFloatOrder;
  return table[static_cast<int>(direction)].fn[Index(lane)];
}

BlockFn FindSelectFn(Lane lane) {
  switch (LaneBytes(lane)) {
    case 1:
      return Select<uint8_t>;
    case 4:
      return Select<uint32_t>;
    case 8:
      return Select<uint64_t>;
    default:
      return Select<std::complex<double>>;
  }
}

BlockFn FindBlockFn(Opcode opcode, Lane lane) {
  static const std::array<block::LaneTable, kOpcodeCount>& kTable = *[] {
    auto* table = new std::array<block::LaneTable, kOpcodeCount>();
    for (int op = 0; op < kOpcodeCount; ++op) {
      Opcode opcode = static_cast<Opcode>(op);
      for (const block::LaneTable& row :
           {block::FloatRow(opcode), block::IntRow(opcode),
            block::ComplexRow(opcode)}) {
        for (int l = 0; l < kLaneCount; ++l) {
          if (row.fn[l] != nullptr) (*table)[op].fn[l] = row.fn[l];
        }
      }
    }
    return table;
  }();
  return kTable[static_cast<int>(opcode)].fn[Index(lane)];
}

Lane ResultLane(Opcode opcode, Lane operand) {
  switch (opcode) {
    case Opcode::kIsFinite:
    case Opcode::kCompare:
      return Lane::kPred;
    case Opcode::kComplex:
      return operand == Lane::kF32 ? Lane::kC64 : Lane::kC128;
    case Opcode::kAbs:
    case Opcode::kReal:
    case Opcode::kImag:
      if (operand == Lane::kC64) return Lane::kF32;
      if (operand == Lane::kC128) return Lane::kF64;
      return operand;
    default:
      return operand;
  }
}

}  // namespace ridge
