// Attributes that are structures: windows, paddings, labels, shapes, literals.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"
#include "hlo/proto/attribute_codec.h"
#include "hlo/proto/shape_proto.h"

namespace ridge::proto_internal {
namespace {

using W = WriteContext;
using R = ReadContext;
using V = AttrValue;

template <typename T>
const T& Boxed(const V& v) {
  return *std::get<std::shared_ptr<const T>>(v);
}

template <typename T>
void Box(T value, V* v) {
  *v = std::make_shared<const T>(std::move(value));
}

// Zero on the wire means one for what divides or multiplies.
int64_t AtLeastOne(int64_t value) { return value == 0 ? 1 : value; }

// The rank that positions need, which unknown (`?`) dimensions may exceed.
int64_t RankOf(int64_t a, int64_t b, const DimVector& spatial) {
  int64_t rank = static_cast<int64_t>(spatial.size()) + 2;
  rank = std::max({rank, a + 1, b + 1});
  for (int64_t d : spatial) rank = std::max(rank, d + 1);
  return rank;
}

constexpr int64_t kMaxRank = 64;

absl::Status ReadDimLabels(const R& c, V* v) {
  const proto::ConvolutionDimensionNumbers& in =
      c.message.convolution_dimension_numbers();
  ConvDimLabels labels;
  labels.input_batch = in.input_batch_dimension();
  labels.input_feature = in.input_feature_dimension();
  labels.input_spatial.assign(in.input_spatial_dimensions().begin(),
                              in.input_spatial_dimensions().end());
  labels.kernel_input_feature = in.kernel_input_feature_dimension();
  labels.kernel_output_feature = in.kernel_output_feature_dimension();
  labels.kernel_spatial.assign(in.kernel_spatial_dimensions().begin(),
                               in.kernel_spatial_dimensions().end());
  labels.output_batch = in.output_batch_dimension();
  labels.output_feature = in.output_feature_dimension();
  labels.output_spatial.assign(in.output_spatial_dimensions().begin(),
                               in.output_spatial_dimensions().end());
  labels.input_rank =
      RankOf(labels.input_batch, labels.input_feature, labels.input_spatial);
  labels.kernel_rank =
      RankOf(labels.kernel_input_feature, labels.kernel_output_feature,
             labels.kernel_spatial);
  labels.output_rank =
      RankOf(labels.output_batch, labels.output_feature, labels.output_spatial);
  // Each position once: text has one letter a dimension.
  const auto check = [](int64_t a, int64_t b, const DimVector& spatial,
                        int64_t rank) {
    if (rank > kMaxRank) return false;
    uint64_t seen = 0;
    const auto add = [&](int64_t d) {
      if (d < 0 || d >= rank || ((seen >> d) & 1) != 0) return false;
      seen |= uint64_t{1} << d;
      return true;
    };
    bool good = add(a) && add(b);
    for (int64_t d : spatial) good = good && add(d);
    return good;
  };
  if (!check(labels.input_batch, labels.input_feature, labels.input_spatial,
             labels.input_rank) ||
      !check(labels.kernel_input_feature, labels.kernel_output_feature,
             labels.kernel_spatial, labels.kernel_rank) ||
      !check(labels.output_batch, labels.output_feature, labels.output_spatial,
             labels.output_rank)) {
    return absl::InvalidArgumentError(
        "convolution_dimension_numbers must name each dimension once");
  }
  Box(std::move(labels), v);
  return absl::OkStatus();
}

void WriteDimLabels(const W&, const V& v, Message* m) {
  const ConvDimLabels& labels = Boxed<ConvDimLabels>(v);
  proto::ConvolutionDimensionNumbers* out =
      m->mutable_convolution_dimension_numbers();
  out->set_input_batch_dimension(labels.input_batch);
  out->set_input_feature_dimension(labels.input_feature);
  for (int64_t d : labels.input_spatial) out->add_input_spatial_dimensions(d);
  out->set_kernel_input_feature_dimension(labels.kernel_input_feature);
  out->set_kernel_output_feature_dimension(labels.kernel_output_feature);
  for (int64_t d : labels.kernel_spatial) out->add_kernel_spatial_dimensions(d);
  out->set_output_batch_dimension(labels.output_batch);
  out->set_output_feature_dimension(labels.output_feature);
  for (int64_t d : labels.output_spatial) out->add_output_spatial_dimensions(d);
}

void WriteWindow(const W&, const V& v, Message* m) {
  m->mutable_window();
  for (const WindowDimension& d : Boxed<Window>(v)) {
    proto::WindowDimension* out = m->mutable_window()->add_dimensions();
    out->set_size(d.size);
    out->set_stride(d.stride);
    out->set_padding_low(d.padding_low);
    out->set_padding_high(d.padding_high);
    out->set_window_dilation(d.window_dilation);
    out->set_base_dilation(d.base_dilation);
    out->set_window_reversal(d.window_reversal);
  }
}

absl::Status ReadWindow(const R& c, V* v) {
  Window window;
  for (const proto::WindowDimension& d : c.message.window().dimensions()) {
    WindowDimension out;
    out.size = d.size();
    out.stride = AtLeastOne(d.stride());
    out.padding_low = d.padding_low();
    out.padding_high = d.padding_high();
    out.window_dilation = AtLeastOne(d.window_dilation());
    out.base_dilation = AtLeastOne(d.base_dilation());
    out.window_reversal = d.window_reversal();
    window.push_back(out);
  }
  Box(std::move(window), v);
  return absl::OkStatus();
}

// A collective-permute of slices has one list of sizes for each slice it sends;
// the message has the lists without their borders. Its third operand, the
// starts, has a tuple of one scalar a dimension for each slice, in nested
// tuples where a buffer, or a tuple of buffers, is sent in several.
IntLists SplitSliceSizes(const Instruction& permute,
                         const google::protobuf::RepeatedField<int64_t>& flat) {
  std::vector<int> ranks;
  int total = 0;
  std::vector<const Shape*> stack;
  if (permute.operand_count() > 2) stack = {&permute.operand(2)->shape()};
  while (!stack.empty()) {
    const Shape& starts = *stack.back();
    stack.pop_back();
    if (!starts.IsTuple() || starts.tuple_shapes().empty()) continue;
    const auto& parts = starts.tuple_shapes();
    if (!parts[0].IsTuple()) {
      ranks.push_back(static_cast<int>(parts.size()));
      total += ranks.back();
      continue;
    }
    for (auto it = parts.rbegin(); it != parts.rend(); ++it) {
      stack.push_back(&*it);
    }
  }
  // Where they do not add up, XLA gives up; equal lists are the next best.
  const int count = std::max(static_cast<int>(ranks.size()), 1);
  if (total != flat.size()) {
    const bool even = flat.size() % count == 0;
    ranks.assign(even ? count : 1, even ? flat.size() / count : flat.size());
  }
  IntLists sizes;
  auto next = flat.begin();
  for (const int rank : ranks) {
    sizes.emplace_back(next, next + rank);
    next += rank;
  }
  return sizes;
}

const Codec kCodecs[] = {
    {AttrId::kWindow, WriteWindow,
     [](const R& c) { return c.message.window().dimensions_size() > 0; },
     ReadWindow},
    {AttrId::kSlice,
     [](const W&, const V& v, Message* m) {
       for (const SliceRange& r : Boxed<SliceRanges>(v)) {
         auto* out = m->add_slice_dimensions();
         out->set_start(r.start);
         out->set_limit(r.limit);
         out->set_stride(r.stride);
       }
     },
     [](const R&) { return true; },
     [](const R& c, V* v) {
       SliceRanges ranges;
       for (const auto& d : c.message.slice_dimensions()) {
         ranges.push_back({d.start(), d.limit(), AtLeastOne(d.stride())});
       }
       Box(std::move(ranges), v);
       return absl::OkStatus();
     }},
    {AttrId::kPadding,
     [](const W&, const V& v, Message* m) {
       for (const PaddingDimension& p : Boxed<PaddingConfig>(v)) {
         auto* out = m->mutable_padding_config()->add_dimensions();
         out->set_edge_padding_low(p.low);
         out->set_edge_padding_high(p.high);
         out->set_interior_padding(p.interior);
       }
     },
     [](const R&) { return true; },
     [](const R& c, V* v) {
       PaddingConfig config;
       for (const auto& d : c.message.padding_config().dimensions()) {
         config.push_back({d.edge_padding_low(), d.edge_padding_high(),
                           d.interior_padding()});
       }
       Box(std::move(config), v);
       return absl::OkStatus();
     }},
    {AttrId::kDimLabels, WriteDimLabels,
     [](const R& c) { return c.message.has_convolution_dimension_numbers(); },
     ReadDimLabels},
    {AttrId::kOutputToOperandAliasing,
     [](const W&, const V& v, Message* m) {
       for (const OperandAlias& alias : Boxed<OperandAliases>(v)) {
         auto* out = m->add_output_operand_aliasing();
         for (int64_t k : alias.output_index) out->add_output_shape_index(k);
         out->set_operand_index(alias.operand);
         for (int64_t k : alias.operand_index) out->add_operand_shape_index(k);
       }
     },
     [](const R& c) { return c.message.output_operand_aliasing_size() > 0; },
     [](const R& c, V* v) {
       OperandAliases aliases;
       for (const auto& in : c.message.output_operand_aliasing()) {
         OperandAlias alias;
         alias.output_index.assign(in.output_shape_index().begin(),
                                   in.output_shape_index().end());
         alias.operand = in.operand_index();
         alias.operand_index.assign(in.operand_shape_index().begin(),
                                    in.operand_shape_index().end());
         aliases.push_back(std::move(alias));
       }
       Box(std::move(aliases), v);
       return absl::OkStatus();
     }},
    {AttrId::kSourceTargetPairs,
     [](const W&, const V& v, Message* m) {
       for (const auto& pair : Boxed<IntLists>(v)) {
         auto* out = m->add_source_target_pairs();
         if (pair.size() > 0) out->set_source(pair[0]);
         if (pair.size() > 1) out->set_target(pair[1]);
       }
     },
     [](const R&) { return true; },
     [](const R& c, V* v) {
       IntLists pairs;
       for (const auto& in : c.message.source_target_pairs()) {
         pairs.push_back({in.source(), in.target()});
       }
       Box(std::move(pairs), v);
       return absl::OkStatus();
     }},
    // Lists, one after the other in a flat field.
    {AttrId::kPermuteSliceSizes,
     [](const W&, const V& v, Message* m) {
       for (const auto& sizes : Boxed<IntLists>(v)) {
         for (int64_t size : sizes) m->add_dynamic_slice_sizes(size);
       }
     },
     [](const R& c) { return c.message.dynamic_slice_sizes_size() > 0; },
     [](const R& c, V* v) -> absl::Status {
       Box(SplitSliceSizes(*c.instruction, c.message.dynamic_slice_sizes()), v);
       return absl::OkStatus();
     }},
    {AttrId::kOperandLayoutConstraints,
     [](const W&, const V& v, Message* m) {
       m->set_constrain_layout(true);
       for (const Shape& shape : Boxed<std::vector<Shape>>(v)) {
         ShapeToProto(shape, m->add_operand_shapes_with_layout());
       }
     },
     [](const R& c) { return c.message.constrain_layout(); },
     [](const R& c, V* v) -> absl::Status {
       std::vector<Shape> shapes;
       for (const auto& in : c.message.operand_shapes_with_layout()) {
         RIDGE_ASSIGN_OR_RETURN(Shape shape, ShapeFromProto(in));
         shapes.push_back(std::move(shape));
       }
       Box(std::move(shapes), v);
       return absl::OkStatus();
     }},
    {AttrId::kOutfeedShape,
     [](const W&, const V& v, Message* m) {
       ShapeToProto(Boxed<Shape>(v), m->mutable_outfeed_shape());
     },
     [](const R& c) { return c.message.has_outfeed_shape(); },
     [](const R& c, V* v) -> absl::Status {
       RIDGE_ASSIGN_OR_RETURN(Shape shape,
                              ShapeFromProto(c.message.outfeed_shape()));
       Box(std::move(shape), v);
       return absl::OkStatus();
     }},
    {AttrId::kLiteral,
     [](const W&, const V& v, Message* m) {
       WriteLiteral(Boxed<Literal>(v), m);
     },
     [](const R& c) { return c.message.has_literal(); },
     [](const R& c, V* v) -> absl::Status {
       RIDGE_ASSIGN_OR_RETURN(Literal literal, ReadLiteral(c.message));
       Box(std::move(literal), v);
       return absl::OkStatus();
     }},
};

}  // namespace

absl::Span<const Codec> StructureCodecs() { return kCodecs; }

}  // namespace ridge::proto_internal
