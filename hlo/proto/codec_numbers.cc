// Attributes that are numbers, flags, enumerators, lists of numbers and names.
#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"
#include "hlo/ir/opcode_rules.h"
#include "hlo/proto/attribute_codec.h"

namespace ridge::proto_internal {
namespace {

using W = WriteContext;
using R = ReadContext;
using V = AttrValue;

bool Is(const R& c, Opcode opcode) { return c.instruction->opcode() == opcode; }

bool Requires(const R& c, AttrId id) {
  const AttrRule* rule = FindAttrRule(c.instruction->opcode(), id);
  return rule != nullptr && rule->required;
}

// An enumeration by name, as XLA writes some of them.
template <typename SetName>
void WriteName(EnumId id, const V& v, SetName set) {
  const auto names = EnumNames(id);
  const size_t value = static_cast<size_t>(std::get<EnumValue>(v).value);
  if (value < names.size()) set(std::string(names[value]));
}

absl::Status ReadName(EnumId id, const std::string& name, V* v) {
  const auto names = EnumNames(id);
  for (size_t k = 0; k < names.size(); ++k) {
    if (names[k] == name) {
      *v = EnumValue{static_cast<int32_t>(k)};
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name, "\" is not one of the allowed names"));
}

absl::Status ReadEnum(EnumId id, int64_t value, V* v) {
  RIDGE_RETURN_IF_ERROR(CheckEnum(id, value));
  *v = EnumValue{static_cast<int32_t>(value)};
  return absl::OkStatus();
}

int32_t Clamp32(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
}

absl::string_view DefaultComparison(ElementType type) {
  if (IsFloat(type) || IsComplex(type)) return "FLOAT";
  return IsSigned(type) ? "SIGNED" : "UNSIGNED";
}

// A float as the double that prints alike: 1e-05, not 9.99999975e-06.
double Widen(float value) {
  char buffer[40];
  for (int digits = 1; digits <= 9; ++digits) {
    std::snprintf(buffer, sizeof(buffer), "%.*g", digits,
                  static_cast<double>(value));
    double wide = 0;
    if (absl::SimpleAtod(buffer, &wide) && static_cast<float>(wide) == value) {
      return wide;
    }
  }
  return static_cast<double>(value);
}

// RIDGE_INT(attribute, field, present)
#define RIDGE_INT(attr, field, when)                                    \
  {                                                                     \
    AttrId::attr,                                                       \
        [](const W&, const V& v, Message* m) {                          \
          m->set_##field(                                               \
              static_cast<decltype(m->field())>(std::get<int64_t>(v))); \
        },                                                              \
        [](const R& c) -> bool { return when; }, [](const R& c, V* v) { \
          *v = int64_t{c.message.field()};                              \
          return absl::OkStatus();                                      \
        }                                                               \
  }
#define RIDGE_BOOL(attr, field, when)                                   \
  {                                                                     \
    AttrId::attr,                                                       \
        [](const W&, const V& v, Message* m) {                          \
          m->set_##field(std::get<bool>(v));                            \
        },                                                              \
        [](const R& c) -> bool { return when; }, [](const R& c, V* v) { \
          *v = bool{c.message.field()};                                 \
          return absl::OkStatus();                                      \
        }                                                               \
  }
// A list inside `holder` (m-> or m->mutable_x()->).
#define RIDGE_INTS(attr, mutable_field, field, when)                    \
  {                                                                     \
    AttrId::attr,                                                       \
        [](const W&, const V& v, Message* m) {                          \
          for (int64_t d : std::get<Ints>(v)) {                         \
            m->mutable_field->Add(d);                                   \
          }                                                             \
        },                                                              \
        [](const R& c) -> bool { return when; }, [](const R& c, V* v) { \
          *v = CopyNumbers(c, c.message.field());                       \
          return absl::OkStatus();                                      \
        }                                                               \
  }
#define RIDGE_STRING(attr, field, when)                                 \
  {                                                                     \
    AttrId::attr,                                                       \
        [](const W&, const V& v, Message* m) {                          \
          m->set_##field(std::string(std::get<absl::string_view>(v)));  \
        },                                                              \
        [](const R& c) -> bool { return when; }, [](const R& c, V* v) { \
          *v = c.instruction->module()->CopyText(c.message.field());    \
          return absl::OkStatus();                                      \
        }                                                               \
  }

constexpr bool kAlways = true;

const Codec kCodecs[] = {
    // Dimensions share one field.
    RIDGE_INTS(kDimensions, mutable_dimensions(), dimensions,
               c.message.dimensions_size() > 0 ||
                   Requires(c, AttrId::kDimensions) ||
                   Is(c, Opcode::kBroadcast)),
    {AttrId::kIotaDimension,
     [](const W&, const V& v, Message* m) {
       m->add_dimensions(std::get<int64_t>(v));
     },
     [](const R&) { return kAlways; },
     [](const R& c, V* v) {
       *v = int64_t{c.message.dimensions_size() > 0 ? c.message.dimensions(0)
                                                    : 0};
       return absl::OkStatus();
     }},
    {AttrId::kInferredDimension,
     [](const W&, const V& v, Message* m) {
       m->add_dimensions(std::get<int64_t>(v));
     },
     [](const R& c) {
       return c.message.dimensions_size() == 1 && c.message.dimensions(0) >= 0;
     },
     [](const R& c, V* v) {
       *v = int64_t{c.message.dimensions_size() > 0 ? c.message.dimensions(0)
                                                    : -1};
       return absl::OkStatus();
     }},
    RIDGE_INT(kK, k, kAlways),
    RIDGE_BOOL(kLargest, largest, kAlways),
    RIDGE_BOOL(kIsStable, is_stable, c.message.is_stable()),
    RIDGE_INT(kIndex, tuple_index, kAlways),
    RIDGE_BOOL(kIsComposite, is_composite, c.message.is_composite()),
    RIDGE_INTS(kDynamicSliceSizes, mutable_dynamic_slice_sizes(),
               dynamic_slice_sizes, kAlways),

    // Comparisons, fusions and others that go by name.
    {AttrId::kDirection,
     [](const W&, const V& v, Message* m) {
       WriteName(EnumId::kComparisonDirection, v,
                 [&](std::string name) { m->set_comparison_direction(name); });
     },
     [](const R&) { return kAlways; },
     [](const R& c, V* v) {
       return ReadName(EnumId::kComparisonDirection,
                       c.message.comparison_direction(), v);
     }},
    {AttrId::kComparisonType,
     [](const W&, const V& v, Message* m) {
       WriteName(EnumId::kComparisonOrder, v,
                 [&](std::string name) { m->set_comparison_type(name); });
     },
     [](const R& c) {
       return !c.message.comparison_type().empty() &&
              (c.instruction->operand_count() == 0 ||
               c.message.comparison_type() !=
                   DefaultComparison(
                       c.instruction->operand(0)->shape().type()));
     },
     [](const R& c, V* v) {
       return ReadName(EnumId::kComparisonOrder, c.message.comparison_type(),
                       v);
     }},
    {AttrId::kKind,
     [](const W&, const V& v, Message* m) {
       WriteName(EnumId::kFusionKind, v,
                 [&](std::string name) { m->set_fusion_kind(name); });
     },
     [](const R&) { return kAlways; },
     [](const R& c, V* v) {
       return ReadName(EnumId::kFusionKind, c.message.fusion_kind(), v);
     }},

    // Dots; a ragged-dot has its numbers one level deeper (see the writer).
    RIDGE_INTS(
        kLhsContractingDims,
        mutable_dot_dimension_numbers()->mutable_lhs_contracting_dimensions(),
        dot_dimension_numbers().lhs_contracting_dimensions, kAlways),
    RIDGE_INTS(
        kRhsContractingDims,
        mutable_dot_dimension_numbers()->mutable_rhs_contracting_dimensions(),
        dot_dimension_numbers().rhs_contracting_dimensions, kAlways),
    RIDGE_INTS(
        kLhsBatchDims,
        mutable_dot_dimension_numbers()->mutable_lhs_batch_dimensions(),
        dot_dimension_numbers().lhs_batch_dimensions,
        c.message.dot_dimension_numbers().lhs_batch_dimensions_size() > 0),
    RIDGE_INTS(
        kRhsBatchDims,
        mutable_dot_dimension_numbers()->mutable_rhs_batch_dimensions(),
        dot_dimension_numbers().rhs_batch_dimensions,
        c.message.dot_dimension_numbers().rhs_batch_dimensions_size() > 0),
    RIDGE_INTS(
        kLhsRaggedDims,
        mutable_ragged_dot_dimension_numbers()->mutable_lhs_ragged_dimensions(),
        ragged_dot_dimension_numbers().lhs_ragged_dimensions,
        c.message.ragged_dot_dimension_numbers().lhs_ragged_dimensions_size() >
            0),
    RIDGE_INTS(
        kRhsGroupDims,
        mutable_ragged_dot_dimension_numbers()->mutable_rhs_group_dimensions(),
        ragged_dot_dimension_numbers().rhs_group_dimensions,
        c.message.ragged_dot_dimension_numbers().rhs_group_dimensions_size() >
            0),
    {AttrId::kOperandPrecision,
     [](const W&, const V& v, Message* m) {
       for (int64_t p : std::get<Ints>(v)) {
         m->mutable_precision_config()->add_operand_precision(
             static_cast<proto::PrecisionConfig::Precision>(p));
       }
     },
     [](const R& c) {
       const auto& list = c.message.precision_config().operand_precision();
       return std::any_of(list.begin(), list.end(),
                          [](int p) { return p != 0; });
     },
     [](const R& c, V* v) -> absl::Status {
       const auto& list = c.message.precision_config().operand_precision();
       for (int p : list) {
         RIDGE_RETURN_IF_ERROR(CheckEnum(EnumId::kPrecision, p));
       }
       *v = CopyNumbers(c, list);
       return absl::OkStatus();
     }},
    {AttrId::kDotAlgorithm,
     [](const W&, const V& v, Message* m) {
       m->mutable_precision_config()->set_algorithm(
           static_cast<proto::PrecisionConfig::Algorithm>(
               std::get<EnumValue>(v).value));
     },
     [](const R& c) { return c.message.precision_config().algorithm() != 0; },
     [](const R& c, V* v) {
       return ReadEnum(EnumId::kDotAlgorithm,
                       c.message.precision_config().algorithm(), v);
     }},
    RIDGE_INT(kFeatureGroupCount, feature_group_count,
              c.message.feature_group_count() > 1),
    RIDGE_INT(kBatchGroupCount, batch_group_count,
              c.message.batch_group_count() > 1),

    // Gather and scatter.
    RIDGE_INTS(kOffsetDims,
               mutable_gather_dimension_numbers()->mutable_offset_dims(),
               gather_dimension_numbers().offset_dims, kAlways),
    RIDGE_INTS(
        kCollapsedSliceDims,
        mutable_gather_dimension_numbers()->mutable_collapsed_slice_dims(),
        gather_dimension_numbers().collapsed_slice_dims, kAlways),
    RIDGE_INTS(kStartIndexMap,
               mutable_gather_dimension_numbers()->mutable_start_index_map(),
               gather_dimension_numbers().start_index_map, kAlways),
    RIDGE_INTS(
        kOperandBatchingDims,
        mutable_gather_dimension_numbers()->mutable_operand_batching_dims(),
        gather_dimension_numbers().operand_batching_dims,
        c.message.gather_dimension_numbers().operand_batching_dims_size() > 0),
    RIDGE_INTS(kStartIndicesBatchingDims,
               mutable_gather_dimension_numbers()
                   ->mutable_start_indices_batching_dims(),
               gather_dimension_numbers().start_indices_batching_dims,
               c.message.gather_dimension_numbers()
                       .start_indices_batching_dims_size() > 0),
    {AttrId::kIndexVectorDim,
     [](const W& w, const V& v, Message* m) {
       if (w.instruction.opcode() == Opcode::kGather) {
         m->mutable_gather_dimension_numbers()->set_index_vector_dim(
             std::get<int64_t>(v));
       } else {
         m->mutable_scatter_dimension_numbers()->set_index_vector_dim(
             std::get<int64_t>(v));
       }
     },
     [](const R&) { return kAlways; },
     [](const R& c, V* v) {
       *v = int64_t{
           Is(c, Opcode::kGather)
               ? c.message.gather_dimension_numbers().index_vector_dim()
               : c.message.scatter_dimension_numbers().index_vector_dim()};
       return absl::OkStatus();
     }},
    RIDGE_INTS(kSliceSizes, mutable_gather_slice_sizes(), gather_slice_sizes,
               kAlways),
    RIDGE_BOOL(kIndicesAreSorted, indices_are_sorted,
               c.message.indices_are_sorted()),
    RIDGE_BOOL(kUniqueIndices, unique_indices, c.message.unique_indices()),
    RIDGE_INTS(
        kUpdateWindowDims,
        mutable_scatter_dimension_numbers()->mutable_update_window_dims(),
        scatter_dimension_numbers().update_window_dims, kAlways),
    RIDGE_INTS(
        kInsertedWindowDims,
        mutable_scatter_dimension_numbers()->mutable_inserted_window_dims(),
        scatter_dimension_numbers().inserted_window_dims, kAlways),
    RIDGE_INTS(kScatterDimsToOperandDims,
               mutable_scatter_dimension_numbers()
                   ->mutable_scatter_dims_to_operand_dims(),
               scatter_dimension_numbers().scatter_dims_to_operand_dims,
               kAlways),
    RIDGE_INTS(
        kInputBatchingDims,
        mutable_scatter_dimension_numbers()->mutable_input_batching_dims(),
        scatter_dimension_numbers().input_batching_dims,
        c.message.scatter_dimension_numbers().input_batching_dims_size() > 0),
    RIDGE_INTS(kScatterIndicesBatchingDims,
               mutable_scatter_dimension_numbers()
                   ->mutable_scatter_indices_batching_dims(),
               scatter_dimension_numbers().scatter_indices_batching_dims,
               c.message.scatter_dimension_numbers()
                       .scatter_indices_batching_dims_size() > 0),

    // Linear algebra, norms, random numbers, precision.
    {AttrId::kFftType,
     [](const W&, const V& v, Message* m) {
       m->set_fft_type(
           static_cast<proto::FftType>(std::get<EnumValue>(v).value));
     },
     [](const R&) { return kAlways; },
     [](const R& c, V* v) {
       return ReadEnum(EnumId::kFftType, c.message.fft_type(), v);
     }},
    RIDGE_INTS(kFftLength, mutable_fft_length(), fft_length, kAlways),
    {AttrId::kEpsilon,
     [](const W&, const V& v, Message* m) {
       m->set_epsilon(static_cast<float>(std::get<double>(v)));
     },
     [](const R&) { return kAlways; },
     [](const R& c, V* v) {
       *v = Widen(c.message.epsilon());
       return absl::OkStatus();
     }},
    RIDGE_INT(kFeatureIndex, feature_index, kAlways),
    {AttrId::kDistribution,
     [](const W&, const V& v, Message* m) {
       // Zero stands for none on the wire.
       m->set_distribution(static_cast<proto::RandomDistribution>(
           std::get<EnumValue>(v).value + 1));
     },
     [](const R&) { return kAlways; },
     [](const R& c, V* v) {
       return ReadEnum(EnumId::kRandomDistribution,
                       int64_t{c.message.distribution()} - 1, v);
     }},
    {AttrId::kRngAlgorithm,
     [](const W&, const V& v, Message* m) {
       m->set_rng_algorithm(
           static_cast<proto::RandomAlgorithm>(std::get<EnumValue>(v).value));
     },
     [](const R&) { return kAlways; },
     [](const R& c, V* v) {
       return ReadEnum(EnumId::kRandomAlgorithm, c.message.rng_algorithm(), v);
     }},
    RIDGE_INT(kDelta, delta, kAlways),
    {AttrId::kExponentBits,
     [](const W&, const V& v, Message* m) {
       m->set_exponent_bits(Clamp32(std::get<int64_t>(v)));
     },
     [](const R&) { return kAlways; },
     [](const R& c, V* v) {
       *v = int64_t{c.message.exponent_bits()};
       return absl::OkStatus();
     }},
    {AttrId::kMantissaBits,
     [](const W&, const V& v, Message* m) {
       m->set_mantissa_bits(Clamp32(std::get<int64_t>(v)));
     },
     [](const R&) { return kAlways; },
     [](const R& c, V* v) {
       *v = int64_t{c.message.mantissa_bits()};
       return absl::OkStatus();
     }},
    {AttrId::kLeftSide,
     [](const W&, const V& v, Message* m) {
       m->mutable_triangular_solve_options()->set_left_side(std::get<bool>(v));
     },
     [](const R& c) {
       return c.message.triangular_solve_options().left_side();
     },
     [](const R& c, V* v) {
       *v = bool{c.message.triangular_solve_options().left_side()};
       return absl::OkStatus();
     }},
    {AttrId::kLower,
     [](const W& w, const V& v, Message* m) {
       if (w.instruction.opcode() == Opcode::kCholesky) {
         m->mutable_cholesky_options()->set_lower(std::get<bool>(v));
       } else {
         m->mutable_triangular_solve_options()->set_lower(std::get<bool>(v));
       }
     },
     [](const R& c) {
       return Is(c, Opcode::kCholesky)
                  ? c.message.cholesky_options().lower()
                  : c.message.triangular_solve_options().lower();
     },
     [](const R& c, V* v) {
       *v = bool{Is(c, Opcode::kCholesky)
                     ? c.message.cholesky_options().lower()
                     : c.message.triangular_solve_options().lower()};
       return absl::OkStatus();
     }},
    {AttrId::kUnitDiagonal,
     [](const W&, const V& v, Message* m) {
       m->mutable_triangular_solve_options()->set_unit_diagonal(
           std::get<bool>(v));
     },
     [](const R& c) {
       return c.message.triangular_solve_options().unit_diagonal();
     },
     [](const R& c, V* v) {
       *v = bool{c.message.triangular_solve_options().unit_diagonal()};
       return absl::OkStatus();
     }},
    {AttrId::kTransposeA,
     [](const W&, const V& v, Message* m) {
       m->mutable_triangular_solve_options()->set_transpose_a(
           static_cast<proto::TriangularSolveOptions::Transpose>(
               std::get<EnumValue>(v).value));
     },
     [](const R& c) {
       return c.message.triangular_solve_options().transpose_a() != 0;
     },
     [](const R& c, V* v) {
       return ReadEnum(EnumId::kTriangularTranspose,
                       c.message.triangular_solve_options().transpose_a(), v);
     }},

    // Custom calls.
    RIDGE_STRING(kCustomCallTarget, custom_call_target, kAlways),
    RIDGE_BOOL(kCustomCallHasSideEffect, custom_call_has_side_effect,
               c.message.custom_call_has_side_effect()),
    {AttrId::kPaddingType,
     [](const W&, const V& v, Message* m) {
       m->set_padding_type(
           static_cast<proto::PaddingType>(std::get<EnumValue>(v).value));
     },
     [](const R& c) { return c.message.padding_type() != 0; },
     [](const R& c, V* v) {
       return ReadEnum(EnumId::kPaddingType, c.message.padding_type(), v);
     }},
    {AttrId::kSchedule,
     [](const W&, const V& v, Message* m) {
       m->set_custom_call_schedule(static_cast<proto::CustomCallSchedule>(
           std::get<EnumValue>(v).value));
     },
     [](const R& c) { return c.message.custom_call_schedule() != 0; },
     [](const R& c, V* v) {
       return ReadEnum(EnumId::kCustomCallSchedule,
                       c.message.custom_call_schedule(), v);
     }},
    {AttrId::kApiVersion,
     [](const W&, const V& v, Message* m) {
       m->set_custom_call_api_version(static_cast<proto::CustomCallApiVersion>(
           std::get<EnumValue>(v).value));
     },
     [](const R& c) { return c.message.custom_call_api_version() > 1; },
     [](const R& c, V* v) {
       return ReadEnum(EnumId::kApiVersion, c.message.custom_call_api_version(),
                       v);
     }},

    // Collectives, transfers and copies.
    RIDGE_INT(kChannelId, channel_id, c.message.channel_id() > 0),
    RIDGE_BOOL(kConstrainLayout, constrain_layout,
               c.message.constrain_layout()),
    RIDGE_BOOL(kUseGlobalDeviceIds, use_global_device_ids,
               c.message.use_global_device_ids()),
    RIDGE_INT(kCrossProgramPrefetchIndex, cross_program_prefetch_index,
              c.message.has_cross_program_prefetch_index()),
    RIDGE_BOOL(kIsHostTransfer, is_host_transfer, c.message.is_host_transfer()),
    RIDGE_STRING(kInfeedConfig, infeed_config,
                 !c.message.infeed_config().empty()),
    RIDGE_STRING(kOutfeedConfig, outfeed_config,
                 !c.message.outfeed_config().empty()),
    RIDGE_STRING(kAsyncExecutionThread, async_execution_thread,
                 !c.message.async_execution_thread().empty() &&
                     c.message.async_execution_thread() != "main"),
};

#undef RIDGE_INT
#undef RIDGE_BOOL
#undef RIDGE_INTS
#undef RIDGE_STRING

}  // namespace

absl::Span<const Codec> NumberCodecs() { return kCodecs; }

absl::Status CheckEnum(EnumId id, int64_t value) {
  const auto names = EnumNames(id);
  if (value >= 0 && value < static_cast<int64_t>(names.size())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("enumerator ", value, " is outside [0, ", names.size(),
                   ") of ", names.empty() ? "" : names[0], ", ..."));
}

}  // namespace ridge::proto_internal
