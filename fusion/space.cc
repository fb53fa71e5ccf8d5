#include "fusion/space.h"

#include <algorithm>

#include "absl/strings/string_view.h"

namespace ridge {
namespace {

// Runs of kept (positive) and folded (negative) dimensions, major to minor in
// memory; unit dimensions do not count.
std::vector<int64_t> Signature(const Shape& shape, Ints folded) {
  DimVector order = shape.has_layout() ? shape.layout().minor_to_major
                                       : DescendingLayout(shape.rank());
  std::vector<int64_t> runs;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    int64_t size = shape.dim(*it);
    if (size == 1) continue;
    bool fold = std::find(folded.begin(), folded.end(), *it) != folded.end();
    if (!runs.empty() && (runs.back() < 0) == fold) {
      runs.back() *= size;
    } else {
      runs.push_back(fold ? -size : size);
    }
  }
  return runs;
}

}  // namespace

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

Space SpaceOf(const Instruction& i) {
  Space s;
  if (IsWall(i)) {
    s.kind = SpaceKind::kWall;
    return s;
  }
  s.ops = OpsPerElement(i);
  if (i.opcode() != Opcode::kReduce) {
    s.points = i.shape().ElementCount();
    return s;
  }
  const Shape& operand = i.operand(0)->shape();
  s.points = operand.ElementCount();
  s.signature = Signature(operand, i.dimensions());
  int64_t result = 1;
  int64_t folded = 1;
  for (int64_t run : s.signature) {
    if (run < 0) {
      folded *= -run;
    } else {
      result *= run;
    }
  }
  s.rows = result;
  s.columns = folded;
  if (folded <= 1 || s.points == 0) {
    // Nothing folds (or nothing is there): a map over the result.
    s.kind = SpaceKind::kMap;
    s.points = s.points == 0 ? result : s.points;
    s.signature.clear();
    return s;
  }
  bool row = s.signature.back() < 0 && s.signature.size() <= 2;
  s.kind = row ? SpaceKind::kRow : SpaceKind::kColumn;
  return s;
}

}  // namespace ridge
