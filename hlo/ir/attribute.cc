#include "hlo/ir/attribute.h"

#include <array>

namespace ridge {
namespace {

constexpr std::array<AttrInfo, kAttrCount> kTable = {{
#define V(e, text, kind, enumeration) \
  {AttrId::e, text, AttrKind::kind, EnumId::enumeration},
    RIDGE_ATTRIBUTES(V)
#undef V
}};

#define V(e, ...) constexpr absl::string_view k##e##Names[] = {__VA_ARGS__};
RIDGE_ENUMS(V)
#undef V

}  // namespace

absl::Span<const absl::string_view> EnumNames(EnumId id) {
  switch (id) {
    case EnumId::kNone:
      return {};
#define V(e, ...) \
  case EnumId::e: \
    return k##e##Names;
      RIDGE_ENUMS(V)
#undef V
  }
  return {};
}

const AttrInfo& Info(AttrId id) { return kTable[static_cast<size_t>(id)]; }

bool WindowDimension::operator==(const WindowDimension& o) const {
  return size == o.size && stride == o.stride && padding_low == o.padding_low &&
         padding_high == o.padding_high &&
         window_dilation == o.window_dilation &&
         base_dilation == o.base_dilation &&
         window_reversal == o.window_reversal;
}

bool ConvDimLabels::operator==(const ConvDimLabels& o) const {
  return input_batch == o.input_batch && input_feature == o.input_feature &&
         input_spatial == o.input_spatial &&
         kernel_input_feature == o.kernel_input_feature &&
         kernel_output_feature == o.kernel_output_feature &&
         kernel_spatial == o.kernel_spatial && output_batch == o.output_batch &&
         output_feature == o.output_feature &&
         output_spatial == o.output_spatial && input_rank == o.input_rank &&
         kernel_rank == o.kernel_rank && output_rank == o.output_rank;
}

}  // namespace ridge
