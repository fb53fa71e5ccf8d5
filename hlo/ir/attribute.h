// Attributes of instructions: one row per attribute, and the value types they
// take. The text parser and printer, the protobuf code and the verifier are
// driven by this table.
#ifndef RIDGE_HLO_IR_ATTRIBUTE_H_
#define RIDGE_HLO_IR_ATTRIBUTE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/shape.h"

namespace ridge {

class Computation;

// ---- Enumerations ---------------------------------------------------------

enum class ComparisonDirection : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };
enum class ComparisonOrder : uint8_t {
  kFloat,
  kTotalOrder,
  kSigned,
  kUnsigned
};
enum class FusionKind : uint8_t { kLoop, kInput, kOutput, kCustom };
enum class FftType : uint8_t { kFft, kIfft, kRfft, kIrfft };
enum class RandomDistribution : uint8_t { kUniform, kNormal };
enum class RandomAlgorithm : uint8_t { kDefault, kThreeFry, kPhilox };
enum class Precision : uint8_t { kDefault, kHigh, kHighest, kPackedNibble };
enum class TriangularTranspose : uint8_t {
  kInvalid,
  kNoTranspose,
  kTranspose,
  kAdjoint
};

// RIDGE_ENUMS(V): V(id, names...): spellings in the order of the enum above
// (or of XLA's proto, where no C++ enum is needed); the value of an
// enumeration attribute is its index here.
#define RIDGE_ENUMS(V)                                                        \
  V(kComparisonDirection, "EQ", "NE", "GE", "GT", "LE", "LT")                 \
  V(kComparisonOrder, "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")            \
  V(kFusionKind, "kLoop", "kInput", "kOutput", "kCustom")                     \
  V(kFftType, "FFT", "IFFT", "RFFT", "IRFFT")                                 \
  V(kRandomDistribution, "rng_uniform", "rng_normal")                         \
  V(kRandomAlgorithm, "rng_default", "rng_three_fry", "rng_philox")           \
  V(kPrecision, "default", "high", "highest", "packed_nibble")                \
  V(kTriangularTranspose, "TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE",   \
    "ADJOINT")                                                                \
  V(kPaddingType, "PADDING_INVALID", "PADDING_VALID", "PADDING_SAME")         \
  V(kCustomCallSchedule, "SCHEDULE_NONE", "SCHEDULE_LATEST",                  \
    "SCHEDULE_EARLIEST")                                                      \
  V(kApiVersion, "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL",           \
    "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",   \
    "API_VERSION_TYPED_FFI")                                                  \
  V(kDotAlgorithm, "dot_unset", "dot_any_f8_any_f8_f32",                      \
    "dot_any_f8_any_f8_f32_fast_accum", "dot_f16_f16_f16", "dot_f16_f16_f32", \
    "dot_bf16_bf16_bf16", "dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3",        \
    "dot_bf16_bf16_f32_x6", "dot_tf32_tf32_f32", "dot_tf32_tf32_f32_x3",      \
    "dot_f32_f32_f32", "dot_f64_f64_f64", "dot_bf16_bf16_f32_x9")

enum class EnumId : uint8_t {
  kNone,
#define V(e, ...) e,
  RIDGE_ENUMS(V)
#undef V
};

absl::Span<const absl::string_view> EnumNames(EnumId id);

// ---- Structured values ----------------------------------------------------

struct WindowDimension {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t padding_low = 0;
  int64_t padding_high = 0;
  int64_t window_dilation = 1;  // rhs_dilate
  int64_t base_dilation = 1;    // lhs_dilate
  bool window_reversal = false;
  bool operator==(const WindowDimension& o) const;
};
using Window = std::vector<WindowDimension>;

struct PaddingDimension {
  int64_t low = 0;
  int64_t high = 0;
  int64_t interior = 0;
  bool operator==(const PaddingDimension& o) const {
    return low == o.low && high == o.high && interior == o.interior;
  }
};
using PaddingConfig = std::vector<PaddingDimension>;

struct SliceRange {
  int64_t start = 0;
  int64_t limit = 0;
  int64_t stride = 1;
  bool operator==(const SliceRange& o) const {
    return start == o.start && limit == o.limit && stride == o.stride;
  }
};
using SliceRanges = std::vector<SliceRange>;

// dim_labels=b01f_01io->b01f. Positions of each label in its operand; spatial
// vectors are indexed by spatial dimension. `unknown` positions are `?`.
struct ConvDimLabels {
  int64_t input_batch = -1;
  int64_t input_feature = -1;
  DimVector input_spatial;
  int64_t kernel_input_feature = -1;
  int64_t kernel_output_feature = -1;
  DimVector kernel_spatial;
  int64_t output_batch = -1;
  int64_t output_feature = -1;
  DimVector output_spatial;
  // Ranks, which exceed the labels where there are unknown (`?`) dimensions.
  int64_t input_rank = 0;
  int64_t kernel_rank = 0;
  int64_t output_rank = 0;
  bool operator==(const ConvDimLabels& o) const;
};

// One entry of output_to_operand_aliasing: {output_index}: (operand,
// {operand_index}).
struct OperandAlias {
  ShapeIndex output_index;
  int64_t operand = 0;
  ShapeIndex operand_index;
  bool operator==(const OperandAlias& o) const {
    return output_index == o.output_index && operand == o.operand &&
           operand_index == o.operand_index;
  }
};
using OperandAliases = std::vector<OperandAlias>;

// replica_groups={{0,1},{2,3}} or the iota form [2,4]<=[8]T(1,0). `text` is
// the attribute as written, which is what is printed; groups are expanded.
struct ReplicaGroups {
  absl::string_view text;
  std::vector<std::vector<int64_t>> groups;
};

using IntLists = std::vector<std::vector<int64_t>>;

// The index of a spelling in EnumNames.
struct EnumValue {
  int32_t value = 0;
};

// How an attribute's value is written and held.
enum class AttrKind : uint8_t {
  kBool,             // bool
  kInt,              // int64_t
  kFloat,            // double
  kEnum,             // EnumValue
  kEnumList,         // Ints (indices into EnumNames)
  kInts,             // Ints: {1,2,3}
  kIntLists,         // IntLists: {{0,1},{2,3}}
  kString,           // string_view, unescaped; printed quoted
  kRaw,              // string_view: text kept as written
  kComputation,      // Computation*
  kComputationList,  // std::vector<Computation*>
  kWindow,
  kPadding,
  kSliceRanges,
  kDimLabels,
  kAliasing,
  kReplicaGroups,
  kShape,
  kShapeList,
  kLiteral,
};

// Arrays and strings lie in the Module's arena; structured values are
// immutable and shared.
using Ints = absl::Span<const int64_t>;
using AttrValue = std::variant<
    bool, int64_t, double, EnumValue, Ints, absl::string_view, Computation*,
    std::shared_ptr<const std::vector<Computation*>>,
    std::shared_ptr<const IntLists>, std::shared_ptr<const Window>,
    std::shared_ptr<const PaddingConfig>, std::shared_ptr<const SliceRanges>,
    std::shared_ptr<const ConvDimLabels>, std::shared_ptr<const OperandAliases>,
    std::shared_ptr<const ReplicaGroups>, std::shared_ptr<const Shape>,
    std::shared_ptr<const std::vector<Shape>>, std::shared_ptr<const Literal>>;

// RIDGE_ATTRIBUTES(V): V(enumerator, text, kind, enumeration). Two rows may
// share a text where opcodes use it differently; which attributes an opcode
// requires and allows is in hlo/ir/opcode_rules.h. Literals of `constant`,
// parameter numbers and control predecessors are fields of Instruction, not
// attributes.
#define RIDGE_ATTRIBUTES(V)                                                   \
  V(kDimensions, "dimensions", kInts, kNone)                                  \
  V(kIotaDimension, "iota_dimension", kInt, kNone)                            \
  V(kK, "k", kInt, kNone)                                                     \
  V(kLargest, "largest", kBool, kNone)                                        \
  V(kIsStable, "is_stable", kBool, kNone)                                     \
  V(kToApply, "to_apply", kComputation, kNone)                                \
  V(kCalls, "calls", kComputation, kNone)                                     \
  V(kCalledComputations, "called_computations", kComputationList, kNone)      \
  V(kSelect, "select", kComputation, kNone)                                   \
  V(kScatter, "scatter", kComputation, kNone)                                 \
  V(kCondition, "condition", kComputation, kNone)                             \
  V(kBody, "body", kComputation, kNone)                                       \
  V(kBranchComputations, "branch_computations", kComputationList, kNone)      \
  V(kTrueComputation, "true_computation", kComputation, kNone)                \
  V(kFalseComputation, "false_computation", kComputation, kNone)              \
  V(kWindow, "window", kWindow, kNone)                                        \
  V(kSlice, "slice", kSliceRanges, kNone)                                     \
  V(kDynamicSliceSizes, "dynamic_slice_sizes", kInts, kNone)                  \
  V(kPadding, "padding", kPadding, kNone)                                     \
  V(kDirection, "direction", kEnum, kComparisonDirection)                     \
  V(kComparisonType, "type", kEnum, kComparisonOrder)                         \
  V(kIndex, "index", kInt, kNone)                                             \
  V(kInferredDimension, "inferred_dimension", kInt, kNone)                    \
  V(kIsComposite, "is_composite", kBool, kNone)                               \
  V(kKind, "kind", kEnum, kFusionKind)                                        \
  V(kOutputToOperandAliasing, "output_to_operand_aliasing", kAliasing, kNone) \
  V(kLhsContractingDims, "lhs_contracting_dims", kInts, kNone)                \
  V(kRhsContractingDims, "rhs_contracting_dims", kInts, kNone)                \
  V(kLhsBatchDims, "lhs_batch_dims", kInts, kNone)                            \
  V(kRhsBatchDims, "rhs_batch_dims", kInts, kNone)                            \
  V(kLhsRaggedDims, "lhs_ragged_dims", kInts, kNone)                          \
  V(kRhsGroupDims, "rhs_group_dims", kInts, kNone)                            \
  V(kOperandPrecision, "operand_precision", kEnumList, kPrecision)            \
  V(kDotAlgorithm, "algorithm", kEnum, kDotAlgorithm)                         \
  V(kRngAlgorithm, "algorithm", kEnum, kRandomAlgorithm)                      \
  V(kDimLabels, "dim_labels", kDimLabels, kNone)                              \
  V(kFeatureGroupCount, "feature_group_count", kInt, kNone)                   \
  V(kBatchGroupCount, "batch_group_count", kInt, kNone)                       \
  V(kOffsetDims, "offset_dims", kInts, kNone)                                 \
  V(kCollapsedSliceDims, "collapsed_slice_dims", kInts, kNone)                \
  V(kStartIndexMap, "start_index_map", kInts, kNone)                          \
  V(kIndexVectorDim, "index_vector_dim", kInt, kNone)                         \
  V(kSliceSizes, "slice_sizes", kInts, kNone)                                 \
  V(kOperandBatchingDims, "operand_batching_dims", kInts, kNone)              \
  V(kStartIndicesBatchingDims, "start_indices_batching_dims", kInts, kNone)   \
  V(kIndicesAreSorted, "indices_are_sorted", kBool, kNone)                    \
  V(kUniqueIndices, "unique_indices", kBool, kNone)                           \
  V(kUpdateWindowDims, "update_window_dims", kInts, kNone)                    \
  V(kInsertedWindowDims, "inserted_window_dims", kInts, kNone)                \
  V(kScatterDimsToOperandDims, "scatter_dims_to_operand_dims", kInts, kNone)  \
  V(kInputBatchingDims, "input_batching_dims", kInts, kNone)                  \
  V(kScatterIndicesBatchingDims, "scatter_indices_batching_dims", kInts,      \
    kNone)                                                                    \
  V(kFftType, "fft_type", kEnum, kFftType)                                    \
  V(kFftLength, "fft_length", kInts, kNone)                                   \
  V(kEpsilon, "epsilon", kFloat, kNone)                                       \
  V(kFeatureIndex, "feature_index", kInt, kNone)                              \
  V(kDistribution, "distribution", kEnum, kRandomDistribution)                \
  V(kDelta, "delta", kInt, kNone)                                             \
  V(kExponentBits, "exponent_bits", kInt, kNone)                              \
  V(kMantissaBits, "mantissa_bits", kInt, kNone)                              \
  V(kLeftSide, "left_side", kBool, kNone)                                     \
  V(kLower, "lower", kBool, kNone)                                            \
  V(kUnitDiagonal, "unit_diagonal", kBool, kNone)                             \
  V(kTransposeA, "transpose_a", kEnum, kTriangularTranspose)                  \
  V(kCustomCallTarget, "custom_call_target", kString, kNone)                  \
  V(kOperandLayoutConstraints, "operand_layout_constraints", kShapeList,      \
    kNone)                                                                    \
  V(kCustomCallHasSideEffect, "custom_call_has_side_effect", kBool, kNone)    \
  V(kPaddingType, "padding_type", kEnum, kPaddingType)                        \
  V(kLiteral, "literal", kLiteral, kNone)                                     \
  V(kSchedule, "schedule", kEnum, kCustomCallSchedule)                        \
  V(kApiVersion, "api_version", kEnum, kApiVersion)                           \
  V(kReplicaGroups, "replica_groups", kReplicaGroups, kNone)                  \
  V(kChannelId, "channel_id", kInt, kNone)                                    \
  V(kConstrainLayout, "constrain_layout", kBool, kNone)                       \
  V(kUseGlobalDeviceIds, "use_global_device_ids", kBool, kNone)               \
  V(kMode, "mode", kRaw, kNone)                                               \
  V(kSourceTargetPairs, "source_target_pairs", kIntLists, kNone)              \
  V(kPermuteSliceSizes, "slice_sizes", kIntLists, kNone)                      \
  V(kSplitDimension, "split_dimension", kInt, kNone)                          \
  V(kCrossProgramPrefetchIndex, "cross_program_prefetch_index", kInt, kNone)  \
  V(kIsHostTransfer, "is_host_transfer", kBool, kNone)                        \
  V(kInfeedConfig, "infeed_config", kString, kNone)                           \
  V(kOutfeedConfig, "outfeed_config", kString, kNone)                         \
  V(kOutfeedShape, "outfeed_shape", kShape, kNone)                            \
  V(kAsyncExecutionThread, "async_execution_thread", kString, kNone)          \
  V(kDomain, "domain", kRaw, kNone)                                           \
  V(kResultAccuracy, "result_accuracy", kRaw, kNone)                          \
  V(kSharding, "sharding", kRaw, kNone)                                       \
  V(kMetadata, "metadata", kRaw, kNone)                                       \
  V(kFrontendAttributes, "frontend_attributes", kRaw, kNone)                  \
  V(kBackendConfig, "backend_config", kRaw, kNone)                            \
  V(kStatistics, "statistics", kRaw, kNone)                                   \
  V(kParameterReplication, "parameter_replication", kRaw, kNone)              \
  V(kOrigin, "origin", kRaw, kNone)

enum class AttrId : uint8_t {
#define V(e, ...) e,
  RIDGE_ATTRIBUTES(V)
#undef V
};

#define V(...) +1
inline constexpr int kAttrCount = 0 RIDGE_ATTRIBUTES(V);
#undef V

struct AttrInfo {
  AttrId id;
  absl::string_view name;
  AttrKind kind;
  EnumId enumeration;
};

const AttrInfo& Info(AttrId id);
inline absl::string_view Name(AttrId id) { return Info(id).name; }

struct Attribute {
  AttrId id;
  AttrValue value;
};

// Equal values. Computations compare by `same_computation(a, b)`; raw text
// byte for byte.
template <typename Fn>
bool AttrValuesEqual(const AttrValue& a, const AttrValue& b,
                     Fn&& same_computation) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, EnumValue>) {
          return x.value == y.value;
        } else if constexpr (std::is_same_v<T, Computation*>) {
          return same_computation(x, y);
        } else if constexpr (std::is_same_v<
                                 T, std::shared_ptr<
                                        const std::vector<Computation*>>>) {
          if (x->size() != y->size()) return false;
          for (size_t i = 0; i < x->size(); ++i) {
            if (!same_computation((*x)[i], (*y)[i])) return false;
          }
          return true;
        } else if constexpr (std::is_same_v<
                                 T, std::shared_ptr<const ReplicaGroups>>) {
          return x->groups == y->groups;
        } else if constexpr (std::is_pointer_v<T> || std::is_arithmetic_v<T> ||
                             std::is_same_v<T, absl::string_view> ||
                             std::is_same_v<T, Ints>) {
          return x == y;
        } else {
          return x == y || *x == *y;
        }
      },
      a);
}

}  // namespace ridge

#endif  // RIDGE_HLO_IR_ATTRIBUTE_H_
