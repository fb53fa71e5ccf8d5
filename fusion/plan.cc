#include "fusion/plan.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"

namespace ridge {

FusionKind KindOf(GroupPattern pattern) {
  switch (pattern) {
    case GroupPattern::kLoop:
    case GroupPattern::kScatter:
      return FusionKind::kLoop;
    case GroupPattern::kRowReduce:
    case GroupPattern::kColumnReduce:
    case GroupPattern::kRowColumn:
    case GroupPattern::kTranspose:
      return FusionKind::kInput;
    case GroupPattern::kGemm:
      return FusionKind::kOutput;
    case GroupPattern::kOpaque:
      return FusionKind::kCustom;
  }
  return FusionKind::kLoop;
}

const char* PatternName(GroupPattern pattern) {
  switch (pattern) {
    case GroupPattern::kLoop:
      return "loop";
    case GroupPattern::kRowReduce:
      return "row_reduce";
    case GroupPattern::kColumnReduce:
      return "column_reduce";
    case GroupPattern::kRowColumn:
      return "row_column";
    case GroupPattern::kTranspose:
      return "transpose";
    case GroupPattern::kScatter:
      return "scatter";
    case GroupPattern::kGemm:
      return "gemm";
    case GroupPattern::kOpaque:
      return "opaque";
  }
  return "loop";
}

std::vector<const Instruction*> GroupInputs(const Group& group) {
  absl::flat_hash_set<const Instruction*> seen(group.members.begin(),
                                               group.members.end());
  std::vector<const Instruction*> inputs;
  for (const Instruction* member : group.members) {
    for (const Instruction* operand : member->operands()) {
      if (seen.insert(operand).second) inputs.push_back(operand);
    }
  }
  return inputs;
}

namespace {

// Dimensions from major to minor in memory, unit ones left out.
DimVector PhysicalDims(const Shape& shape) {
  DimVector order = shape.has_layout() ? shape.layout().minor_to_major
                                       : DescendingLayout(shape.rank());
  DimVector dims;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (shape.dim(*it) != 1) dims.push_back(shape.dim(*it));
  }
  return dims;
}

// Logical dimension numbers in memory order, unit ones left out.
DimVector PhysicalOrder(const Shape& shape) {
  DimVector order = shape.has_layout() ? shape.layout().minor_to_major
                                       : DescendingLayout(shape.rank());
  DimVector kept;
  for (int64_t d : order) {
    if (shape.dim(d) != 1) kept.push_back(d);
  }
  return kept;
}

bool Descending(const DimVector& order) {
  for (size_t i = 1; i < order.size(); ++i) {
    if (order[i] > order[i - 1]) return false;
  }
  return true;
}

}  // namespace

bool AliasesOperand(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kBitcast:
      return i.operand(0)->shape().IsArray() &&
             Info(i.operand(0)->shape().type()).bits >= 8 &&
             Info(i.shape().type()).bits >= 8;
    case Opcode::kReshape:
      // A reshape keeps the row-major order of elements: both sides must lie
      // so in memory.
      return Descending(PhysicalOrder(i.shape())) &&
             Descending(PhysicalOrder(i.operand(0)->shape()));
    case Opcode::kCopy:
      return false;
    case Opcode::kTranspose: {
      // Only unit dimensions move.
      return PhysicalDims(i.shape()) == PhysicalDims(i.operand(0)->shape()) &&
             [&] {
               DimVector from;
               for (int64_t d : PhysicalOrder(i.shape())) {
                 from.push_back(i.dimensions()[d]);
               }
               return from == PhysicalOrder(i.operand(0)->shape());
             }();
    }
    default:
      return false;
  }
}

std::string Identifier(absl::string_view name) {
  std::string id;
  for (char c : name) id.push_back(absl::ascii_isalnum(c) ? c : '_');
  return id;
}

bool IsFree(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
    case Opcode::kOptimizationBarrier:
    case Opcode::kAddDependency:
    case Opcode::kDomain:
    case Opcode::kAfterAll:
      return true;
    default:
      return AliasesOperand(i);
  }
}

}  // namespace ridge
