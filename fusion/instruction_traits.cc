#include "fusion/instruction_traits.h"

#include "fusion/plan.h"

namespace ridge {

bool IsWall(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kMap:
    case Opcode::kGather:
    case Opcode::kDynamicSlice:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
      break;
    case Opcode::kBitcastConvert:
      return StorageBytes(i.shape().type()) !=
             StorageBytes(i.operand(0)->shape().type());
    case Opcode::kStochasticConvert:
      return true;
    default: {
      OpClass c = Info(i.opcode()).op_class;
      if (c != OpClass::kElementwise && c != OpClass::kShape &&
          i.opcode() != Opcode::kConstant) {
        return true;
      }
    }
  }
  if (i.opcode() == Opcode::kDynamicReshape) return true;
  if (i.opcode() == Opcode::kReduceWindow && i.shape().IsTuple()) return true;
  // Async copies, tokens and the like have no elements to compute.
  if (i.opcode() != Opcode::kReduce && !i.shape().IsArray()) return true;
  return !i.shape().IsStatic();
}

double OpsPerElement(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kExp:
    case Opcode::kDivide:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
      return 8;
    case Opcode::kExpm1:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kLogistic:
    case Opcode::kErf:
    case Opcode::kTanh:
    case Opcode::kCbrt:
    case Opcode::kRemainder:
      return 24;
    case Opcode::kPower:
    case Opcode::kSine:
    case Opcode::kCosine:
    case Opcode::kTan:
    case Opcode::kAtan2:
    case Opcode::kSinh:
    case Opcode::kCosh:
    case Opcode::kAsin:
    case Opcode::kAcos:
    case Opcode::kAsinh:
    case Opcode::kAcosh:
    case Opcode::kAtanh:
      return 60;
    case Opcode::kGather:
    case Opcode::kConcatenate:
    case Opcode::kPad:
      return 4;
    case Opcode::kReduceWindow: {
      double n = 1;
      for (const WindowDimension& d : *i.window()) n *= d.size;
      return n;
    }
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kBitcast:
      return 0;
    default:
      return 1;
  }
}

bool RidesAlong(const Instruction& i) {
  if (IsWall(i)) return false;
  switch (i.opcode()) {
    case Opcode::kConstant:
      return i.shape().IsArray() && i.shape().ElementCount() == 1;
    case Opcode::kIota:
    case Opcode::kBroadcast:
      return true;
    case Opcode::kConvert:
      return i.operand(0)->shape().ByteSize() <= i.shape().ByteSize();
    default:
      return AliasesOperand(i);
  }
}

bool IsUpdate(const Instruction& i) {
  return i.opcode() == Opcode::kDynamicUpdateSlice ||
         i.opcode() == Opcode::kScatter;
}

}  // namespace ridge
