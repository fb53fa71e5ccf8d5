#include "hlo/text/attribute_printer.h"

#include <algorithm>
#include <charconv>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "hlo/text/literal_printer.h"
#include "hlo/text/names.h"
#include "hlo/text/scanner.h"

namespace ridge {

void AttributePrinter::Append(const Attribute& attribute) {
  std::visit([&](const auto& v) { AppendValue(attribute, v); },
             attribute.value);
}

void AttributePrinter::AppendInt(int64_t value) {
  char buffer[24];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out_.append(buffer, end);
}

void AttributePrinter::AppendName(absl::string_view name) {
  bool bare = form_ != PrintOptions::Form::kLong && !name.empty() &&
              IsClass(name[0], kNameStartChar) && !IsReservedWord(name);
  if (!bare) out_.push_back('%');
  out_.append(name.data(), name.size());
}

void AttributePrinter::AppendName(const Computation& computation) {
  auto it = numbers_.find(&computation);
  if (it != numbers_.end()) {
    absl::StrAppend(&out_, "comp_", it->second);
  } else {
    AppendName(computation.name());
  }
}

void AttributePrinter::AppendShape(const Shape* shape) {
  if (shape != last_shape_) {
    std::string& text = shapes_[shape];
    if (text.empty()) text = shape->ToString(/*with_layout=*/true);
    last_shape_ = shape;
    last_text_ = &text;
  }
  out_.append(*last_text_);
}

void AttributePrinter::AppendInts(absl::Span<const int64_t> ints) {
  out_.push_back('{');
  for (size_t i = 0; i < ints.size(); ++i) {
    if (i > 0) out_.push_back(',');
    AppendInt(ints[i]);
  }
  out_.push_back('}');
}

void AttributePrinter::AppendIntLists(
    absl::Span<const std::vector<int64_t>> lists) {
  out_.push_back('{');
  for (size_t i = 0; i < lists.size(); ++i) {
    if (i > 0) out_.push_back(',');
    AppendInts(lists[i]);
  }
  out_.push_back('}');
}

void AttributePrinter::AppendValue(const Attribute&, bool v) {
  out_.append(v ? "true" : "false");
}

void AttributePrinter::AppendValue(const Attribute&, int64_t v) {
  AppendInt(v);
}

void AttributePrinter::AppendValue(const Attribute&, double v) {
  AppendDouble(v, &out_);
}

void AttributePrinter::AppendValue(const Attribute& a, EnumValue v) {
  absl::string_view name = EnumNames(Info(a.id).enumeration)[v.value];
  out_.append(name.data(), name.size());
}

void AttributePrinter::AppendValue(const Attribute& a, Ints v) {
  if (Info(a.id).kind != AttrKind::kEnumList) {
    AppendInts(v);
    return;
  }
  absl::Span<const absl::string_view> names = EnumNames(Info(a.id).enumeration);
  out_.push_back('{');
  for (size_t i = 0; i < v.size(); ++i) {
    absl::StrAppend(&out_, i > 0 ? "," : "", names[v[i]]);
  }
  out_.push_back('}');
}

void AttributePrinter::AppendValue(const Attribute& a, absl::string_view v) {
  if (Info(a.id).kind == AttrKind::kRaw) {
    out_.append(v.data(), v.size());
  } else {
    absl::StrAppend(&out_, "\"", absl::CEscape(v), "\"");
  }
}

void AttributePrinter::AppendValue(const Attribute&, Computation* v) {
  if (v != nullptr) AppendName(*v);
}

void AttributePrinter::AppendStructure(const std::vector<Computation*>& v) {
  out_.push_back('{');
  for (size_t i = 0; i < v.size(); ++i) {
    if (i > 0) out_.append(", ");
    if (v[i] != nullptr) AppendName(*v[i]);
  }
  out_.push_back('}');
}

void AttributePrinter::AppendStructure(const IntLists& v) { AppendIntLists(v); }

// Fields of which all dimensions have the default are left out, but the size.
void AttributePrinter::AppendStructure(const Window& window) {
  out_.push_back('{');
  auto field = [&](absl::string_view name, bool needed, auto&& append) {
    if (!needed) return;
    if (out_.back() != '{') out_.push_back(' ');
    absl::StrAppend(&out_, name, "=");
    for (size_t i = 0; i < window.size(); ++i) {
      if (i > 0) out_.push_back('x');
      append(window[i]);
    }
  };
  auto any = [&](auto&& differs) {
    return std::any_of(window.begin(), window.end(), differs);
  };
  using D = WindowDimension;
  field("size", !window.empty(), [&](const D& d) { AppendInt(d.size); });
  field("stride", any([](const D& d) { return d.stride != 1; }),
        [&](const D& d) { AppendInt(d.stride); });
  field("pad", any([](const D& d) {
          return d.padding_low != 0 || d.padding_high != 0;
        }),
        [&](const D& d) {
          AppendInt(d.padding_low);
          out_.push_back('_');
          AppendInt(d.padding_high);
        });
  field("lhs_dilate", any([](const D& d) { return d.base_dilation != 1; }),
        [&](const D& d) { AppendInt(d.base_dilation); });
  field("rhs_dilate", any([](const D& d) { return d.window_dilation != 1; }),
        [&](const D& d) { AppendInt(d.window_dilation); });
  field("rhs_reversal", any([](const D& d) { return d.window_reversal; }),
        [&](const D& d) { AppendInt(d.window_reversal ? 1 : 0); });
  out_.push_back('}');
}

void AttributePrinter::AppendStructure(const PaddingConfig& padding) {
  bool interior =
      std::any_of(padding.begin(), padding.end(),
                  [](const PaddingDimension& d) { return d.interior != 0; });
  for (size_t i = 0; i < padding.size(); ++i) {
    if (i > 0) out_.push_back('x');
    AppendInt(padding[i].low);
    out_.push_back('_');
    AppendInt(padding[i].high);
    if (!interior) continue;
    out_.push_back('_');
    AppendInt(padding[i].interior);
  }
}

void AttributePrinter::AppendStructure(const SliceRanges& v) {
  out_.push_back('{');
  for (size_t i = 0; i < v.size(); ++i) {
    absl::StrAppend(&out_, i > 0 ? ", [" : "[", v[i].start, ":", v[i].limit);
    if (v[i].stride != 1) absl::StrAppend(&out_, ":", v[i].stride);
    out_.push_back(']');
  }
  out_.push_back('}');
}

void AttributePrinter::AppendStructure(const ConvDimLabels& labels) {
  auto append = [&](int64_t rank, char first_label, int64_t first,
                    char second_label, int64_t second,
                    const DimVector& spatial) {
    std::string text(rank, '?');
    auto put = [&](int64_t at, char c) {
      if (at >= 0 && at < rank) text[at] = c;
    };
    put(first, first_label);
    put(second, second_label);
    for (size_t i = 0; i < spatial.size(); ++i) {
      put(spatial[i], static_cast<char>('0' + i));
    }
    out_.append(text);
  };
  append(labels.input_rank, 'b', labels.input_batch, 'f', labels.input_feature,
         labels.input_spatial);
  out_.push_back('_');
  append(labels.kernel_rank, 'i', labels.kernel_input_feature, 'o',
         labels.kernel_output_feature, labels.kernel_spatial);
  out_.append("->");
  append(labels.output_rank, 'b', labels.output_batch, 'f',
         labels.output_feature, labels.output_spatial);
}

void AttributePrinter::AppendStructure(const OperandAliases& v) {
  out_.push_back('{');
  for (size_t i = 0; i < v.size(); ++i) {
    if (i > 0) out_.append(", ");
    AppendInts(v[i].output_index);
    absl::StrAppend(&out_, ": (", v[i].operand, ", ");
    AppendInts(v[i].operand_index);
    out_.push_back(')');
  }
  out_.push_back('}');
}

void AttributePrinter::AppendStructure(const ReplicaGroups& v) {
  if (v.text.empty()) {
    AppendIntLists(v.groups);
  } else {
    out_.append(v.text.data(), v.text.size());
  }
}

void AttributePrinter::AppendStructure(const Shape& v) {
  out_.append(v.ToString(/*with_layout=*/true));
}

void AttributePrinter::AppendStructure(const std::vector<Shape>& v) {
  out_.push_back('{');
  for (size_t i = 0; i < v.size(); ++i) {
    if (i > 0) out_.append(", ");
    AppendStructure(v[i]);
  }
  out_.push_back('}');
}

void AttributePrinter::AppendStructure(const Literal& v) {
  AppendShapedLiteral(v, &out_);
}

}  // namespace ridge
