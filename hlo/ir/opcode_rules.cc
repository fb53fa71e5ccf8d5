#include "hlo/ir/opcode_rules.h"

#include <array>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ridge {
namespace {

// How an instruction's shape and its text relate.
enum class ShapeText : uint8_t {
  kOmittable,  // inferred; text may leave it out
  kWritten,    // could be inferred; text must give it all the same
  kParameter,  // the shape is part of what the instruction says
};

constexpr bool kRequired = true;
constexpr bool kOptional = false;

struct RuleRow {
  std::vector<Opcode> opcodes;
  ShapeText shape;
  std::vector<AttrRule> attrs;
};

// One row per set of opcodes with the same rules. An opcode in no row takes
// only the common attributes and may omit its shape.
std::vector<RuleRow> MakeRows() {
  using O = Opcode;
  using A = AttrId;
  constexpr ShapeText kOmit = ShapeText::kOmittable;
  constexpr ShapeText kWritten = ShapeText::kWritten;
  constexpr ShapeText kParam = ShapeText::kParameter;
  constexpr bool R = kRequired;
  constexpr bool N = kOptional;
  return {
      // Elementwise.
      {{O::kAcos, O::kAcosh, O::kAsin,   O::kAsinh, O::kAtanh,
        O::kExp,  O::kExpm1, O::kLog,    O::kLog1p, O::kLogistic,
        O::kSqrt, O::kRsqrt, O::kCbrt,   O::kTanh,  O::kErf,
        O::kSine, O::kSinh,  O::kCosine, O::kCosh,  O::kTan},
       kOmit,
       {{A::kResultAccuracy, N}}},
      {{O::kCompare}, kOmit, {{A::kDirection, R}, {A::kComparisonType, N}}},
      {{O::kConvert, O::kStochasticConvert, O::kBitcast, O::kBitcastConvert,
        O::kParameter, O::kConstant},
       kParam,
       {}},
      {{O::kReducePrecision},
       kWritten,
       {{A::kExponentBits, R}, {A::kMantissaBits, R}}},

      // Shape.
      {{O::kIota}, kParam, {{A::kIotaDimension, R}}},
      {{O::kBroadcast}, kOmit, {{A::kDimensions, N}}},
      {{O::kConcatenate, O::kReverse, O::kTranspose},
       kOmit,
       {{A::kDimensions, R}}},
      {{O::kReshape}, kParam, {{A::kInferredDimension, N}}},
      {{O::kDynamicReshape}, kParam, {}},
      {{O::kSlice}, kWritten, {{A::kSlice, R}}},
      {{O::kPad}, kOmit, {{A::kPadding, R}}},

      // Reductions.
      {{O::kReduce}, kOmit, {{A::kDimensions, R}, {A::kToApply, R}}},
      {{O::kReduceWindow}, kOmit, {{A::kWindow, N}, {A::kToApply, R}}},
      {{O::kSelectAndScatter},
       kOmit,
       {{A::kWindow, N}, {A::kSelect, R}, {A::kScatter, R}}},

      // Contractions.
      {{O::kDot, O::kScaledDot},
       kOmit,
       {{A::kLhsBatchDims, N},
        {A::kLhsContractingDims, N},
        {A::kRhsBatchDims, N},
        {A::kRhsContractingDims, N},
        {A::kOperandPrecision, N},
        {A::kDotAlgorithm, N}}},
      {{O::kRaggedDot},
       kOmit,
       {{A::kLhsBatchDims, N},
        {A::kLhsContractingDims, N},
        {A::kRhsBatchDims, N},
        {A::kRhsContractingDims, N},
        {A::kLhsRaggedDims, N},
        {A::kRhsGroupDims, N},
        {A::kOperandPrecision, N}}},
      {{O::kConvolution},
       kOmit,
       {{A::kWindow, N},
        {A::kDimLabels, R},
        {A::kFeatureGroupCount, N},
        {A::kBatchGroupCount, N},
        {A::kOperandPrecision, N}}},

      // Indexed.
      {{O::kDynamicSlice}, kWritten, {{A::kDynamicSliceSizes, R}}},
      {{O::kDynamicUpdateSlice}, kWritten, {}},
      {{O::kGather},
       kOmit,
       {{A::kOffsetDims, R},
        {A::kCollapsedSliceDims, R},
        {A::kStartIndexMap, R},
        {A::kOperandBatchingDims, N},
        {A::kStartIndicesBatchingDims, N},
        {A::kIndexVectorDim, R},
        {A::kSliceSizes, R},
        {A::kIndicesAreSorted, N}}},
      {{O::kScatter},
       kOmit,
       {{A::kUpdateWindowDims, R},
        {A::kInsertedWindowDims, R},
        {A::kScatterDimsToOperandDims, R},
        {A::kInputBatchingDims, N},
        {A::kScatterIndicesBatchingDims, N},
        {A::kIndexVectorDim, R},
        {A::kIndicesAreSorted, N},
        {A::kUniqueIndices, N},
        {A::kToApply, R}}},
      {{O::kSort},
       kOmit,
       {{A::kDimensions, R}, {A::kIsStable, N}, {A::kToApply, R}}},
      {{O::kTopK}, kOmit, {{A::kK, R}, {A::kLargest, N}, {A::kIsStable, N}}},

      // Random.
      {{O::kRng}, kParam, {{A::kDistribution, R}}},
      {{O::kRngBitGenerator}, kParam, {{A::kRngAlgorithm, R}}},
      {{O::kRngGetAndUpdateState}, kParam, {{A::kDelta, R}}},

      // Linear algebra and norms.
      {{O::kFft}, kOmit, {{A::kFftType, R}, {A::kFftLength, R}}},
      {{O::kCholesky}, kOmit, {{A::kLower, N}}},
      {{O::kTriangularSolve},
       kOmit,
       {{A::kLeftSide, N},
        {A::kLower, N},
        {A::kUnitDiagonal, N},
        {A::kTransposeA, N}}},
      {{O::kBatchNormGrad, O::kBatchNormInference, O::kBatchNormTraining},
       kOmit,
       {{A::kEpsilon, R}, {A::kFeatureIndex, R}}},

      // Control.
      {{O::kWhile}, kOmit, {{A::kCondition, R}, {A::kBody, R}}},
      {{O::kConditional},
       kOmit,
       {{A::kTrueComputation, N},
        {A::kFalseComputation, N},
        {A::kBranchComputations, N}}},
      {{O::kCall}, kOmit, {{A::kToApply, R}, {A::kIsComposite, N}}},
      {{O::kMap}, kOmit, {{A::kDimensions, N}, {A::kToApply, R}}},
      {{O::kFusion},
       kParam,
       {{A::kKind, R}, {A::kOutputToOperandAliasing, N}, {A::kCalls, R}}},
      {{O::kCustomCall},
       kParam,
       {{A::kWindow, N},
        {A::kDimLabels, N},
        {A::kFeatureGroupCount, N},
        {A::kBatchGroupCount, N},
        {A::kOperandPrecision, N},
        {A::kPaddingType, N},
        {A::kToApply, N},
        {A::kCalledComputations, N},
        {A::kCustomCallTarget, R},
        {A::kOperandLayoutConstraints, N},
        {A::kCustomCallHasSideEffect, N},
        {A::kLiteral, N},
        {A::kOutputToOperandAliasing, N},
        {A::kSchedule, N},
        {A::kApiVersion, N}}},
      {{O::kGetTupleElement}, kOmit, {{A::kIndex, R}}},
      {{O::kGetDimensionSize, O::kSetDimensionSize},
       kOmit,
       {{A::kDimensions, R}}},
      {{O::kDomain}, kOmit, {{A::kDomain, R}}},

      // Collectives.
      {{O::kAllGather, O::kAllGatherStart},
       kWritten,
       {{A::kChannelId, N},
        {A::kReplicaGroups, N},
        {A::kConstrainLayout, N},
        {A::kDimensions, R},
        {A::kUseGlobalDeviceIds, N}}},
      {{O::kAllReduce, O::kAllReduceStart},
       kWritten,
       {{A::kChannelId, N},
        {A::kReplicaGroups, N},
        {A::kConstrainLayout, N},
        {A::kUseGlobalDeviceIds, N},
        {A::kMode, N},
        {A::kToApply, R}}},
      {{O::kReduceScatter},
       kWritten,
       {{A::kChannelId, N},
        {A::kReplicaGroups, N},
        {A::kConstrainLayout, N},
        {A::kUseGlobalDeviceIds, N},
        {A::kMode, N},
        {A::kDimensions, R},
        {A::kToApply, R}}},
      {{O::kAllToAll},
       kWritten,
       {{A::kChannelId, N},
        {A::kReplicaGroups, N},
        {A::kConstrainLayout, N},
        {A::kDimensions, N}}},
      {{O::kRaggedAllToAll},
       kWritten,
       {{A::kChannelId, N}, {A::kReplicaGroups, N}, {A::kDimensions, N}}},
      {{O::kCollectiveBroadcast},
       kWritten,
       {{A::kChannelId, N}, {A::kReplicaGroups, N}}},
      {{O::kCollectivePermute, O::kCollectivePermuteStart},
       kWritten,
       {{A::kChannelId, N},
        {A::kSourceTargetPairs, R},
        {A::kPermuteSliceSizes, N}}},
      {{O::kAllGatherDone, O::kAllReduceDone, O::kCollectivePermuteDone,
        O::kCopyDone},
       kWritten,
       {}},

      // Asynchronous.
      {{O::kAsyncStart},
       kWritten,
       {{A::kAsyncExecutionThread, N},
        {A::kCalls, R},
        {A::kOutputToOperandAliasing, N}}},
      {{O::kAsyncUpdate, O::kAsyncDone},
       kWritten,
       {{A::kAsyncExecutionThread, N}, {A::kCalls, N}}},
      {{O::kCopyStart}, kWritten, {{A::kCrossProgramPrefetchIndex, N}}},

      // Host.
      {{O::kSend, O::kSendDone, O::kRecv, O::kRecvDone},
       kWritten,
       {{A::kChannelId, N}, {A::kIsHostTransfer, N}}},
      {{O::kInfeed}, kParam, {{A::kInfeedConfig, N}}},
      {{O::kOutfeed},
       kWritten,
       {{A::kOutfeedShape, N}, {A::kOutfeedConfig, N}}},
  };
}

constexpr AttrRule kCommon[] = {
    {AttrId::kSharding, kOptional},
    {AttrId::kFrontendAttributes, kOptional},
    {AttrId::kStatistics, kOptional},
    {AttrId::kParameterReplication, kOptional},
    {AttrId::kOrigin, kOptional},
    {AttrId::kMetadata, kOptional},
    {AttrId::kBackendConfig, kOptional},
};

struct OpcodeRules {
  ShapeText shape = ShapeText::kOmittable;
  std::vector<AttrRule> attrs;
};

using RuleTable = std::array<OpcodeRules, kOpcodeCount>;

const RuleTable& Table() {
  static const RuleTable* const table = [] {
    auto* result = new RuleTable;
    for (RuleRow& row : MakeRows()) {
      for (Opcode opcode : row.opcodes) {
        OpcodeRules& rules = (*result)[static_cast<size_t>(opcode)];
        rules.shape = row.shape;
        rules.attrs = row.attrs;
      }
    }
    for (OpcodeRules& rules : *result) {
      rules.attrs.insert(rules.attrs.end(), std::begin(kCommon),
                         std::end(kCommon));
    }
    return result;
  }();
  return *table;
}

const OpcodeRules& RulesOf(Opcode opcode) {
  return Table()[static_cast<size_t>(opcode)];
}

constexpr AttrId kTrueFalse[] = {AttrId::kTrueComputation,
                                 AttrId::kFalseComputation};
constexpr AttrId kBranches[] = {AttrId::kBranchComputations};
constexpr AttrId kCustomCallCallees[] = {AttrId::kToApply,
                                         AttrId::kCalledComputations};

}  // namespace

absl::Span<const AttrRule> AttrRules(Opcode opcode) {
  return RulesOf(opcode).attrs;
}

absl::Span<const AttrRule> CommonAttrRules() { return kCommon; }

const AttrRule* FindAttrRule(Opcode opcode, absl::string_view text_name) {
  for (const AttrRule& rule : RulesOf(opcode).attrs) {
    if (Name(rule.id) == text_name) return &rule;
  }
  return nullptr;
}

const AttrRule* FindAttrRule(Opcode opcode, AttrId id) {
  for (const AttrRule& rule : RulesOf(opcode).attrs) {
    if (rule.id == id) return &rule;
  }
  return nullptr;
}

absl::Span<const absl::Span<const AttrId>> AttrAlternatives(Opcode opcode) {
  static const absl::Span<const AttrId> kConditional[] = {kTrueFalse,
                                                          kBranches};
  if (opcode == Opcode::kConditional) return kConditional;
  return {};
}

absl::Span<const AttrId> ExclusiveAttrs(Opcode opcode) {
  if (opcode == Opcode::kCustomCall) return kCustomCallCallees;
  return {};
}

bool ShapeMayBeOmitted(Opcode opcode) {
  return RulesOf(opcode).shape == ShapeText::kOmittable;
}

bool WrittenShapeIsIgnored(Opcode opcode) {
  return opcode == Opcode::kAfterAll || opcode == Opcode::kAddDependency ||
         Info(opcode).op_class == OpClass::kHost;
}

bool HasAsyncSugar(Opcode opcode) {
  switch (opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
      return false;
    default:
      return !OpcodeFromName(absl::StrCat(Name(opcode), "-done")).has_value();
  }
}

bool InfersShape(Opcode opcode) {
  return RulesOf(opcode).shape != ShapeText::kParameter;
}

}  // namespace ridge
