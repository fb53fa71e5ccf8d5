// Which rule lowers which opcode: one row each. Elementwise opcodes share one
// rule; opcodes without a row have no scalar form.
#include <array>

#include "backends/kernel/builder.h"

namespace ridge {
namespace {

struct Row {
  Opcode opcode;
  LowerFn fn;
};

constexpr Row kRows[] = {
    {Opcode::kBitcast, LowerBitcast},
    {Opcode::kBitcastConvert, LowerBitcastConvert},
    {Opcode::kBroadcast, LowerBroadcast},
    {Opcode::kConcatenate, LowerConcatenate},
    {Opcode::kConstant, LowerConstant},
    {Opcode::kConvolution, LowerConvolution},
    {Opcode::kDot, LowerDot},
    {Opcode::kDynamicReshape, nullptr},
    {Opcode::kDynamicSlice, LowerDynamicSlice},
    {Opcode::kDynamicUpdateSlice, LowerDynamicUpdateSlice},
    {Opcode::kGather, LowerGather},
    {Opcode::kGetDimensionSize, LowerGetDimensionSize},
    {Opcode::kGetTupleElement, LowerGetTupleElement},
    {Opcode::kIota, LowerIota},
    {Opcode::kMap, LowerMap},
    {Opcode::kPad, LowerPad},
    {Opcode::kReduce, LowerReduce},
    {Opcode::kReduceWindow, LowerReduceWindow},
    {Opcode::kReshape, LowerReshape},
    {Opcode::kReverse, LowerReverse},
    {Opcode::kSlice, LowerSlice},
    {Opcode::kStochasticConvert, nullptr},
    {Opcode::kTranspose, LowerTranspose},
    {Opcode::kTuple, LowerTuple},
};

}  // namespace

LowerFn FindLowerFn(Opcode opcode) {
  static const auto& table = *[] {
    auto* t = new std::array<LowerFn, kOpcodeCount>{};
    for (int i = 0; i < kOpcodeCount; ++i) {
      if (IsElementwise(static_cast<Opcode>(i))) (*t)[i] = LowerElementwise;
    }
    for (const Row& row : kRows) {
      (*t)[static_cast<size_t>(row.opcode)] = row.fn;
    }
    return t;
  }();
  return table[static_cast<size_t>(opcode)];
}

}  // namespace ridge
