// dim_labels=b01f_01io->b01f
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/text/parser_impl.h"

namespace ridge {
namespace {

constexpr absl::string_view kRule = "dim_labels";

// One group: a letter for each dimension, two named ones and the spatial
// dimensions by digit; `?` for dimensions without a role.
bool ParseGroup(Scanner* s, char first_label, int64_t* first, char second_label,
                int64_t* second, DimVector* spatial, int64_t* rank) {
  const char* start = s->position();
  const char* p = start;
  int digits = 0;
  for (; IsClass(*p, kDigitChar) || (*p >= 'a' && *p <= 'z') || *p == '?';
       ++p) {
    digits += IsClass(*p, kDigitChar) ? 1 : 0;
  }
  absl::string_view labels(start, p - start);
  if (labels.empty()) {
    return s->FailHere(kRule,
                       absl::StrCat("expected labels such as b01f_01io->b01f, "
                                    "found ",
                                    s->Found()));
  }
  *rank = static_cast<int64_t>(labels.size());
  spatial->assign(digits, -1);
  for (int64_t i = 0; i < *rank; ++i) {
    char c = labels[i];
    if (c == '?') continue;
    int64_t* slot = c == first_label    ? first
                    : c == second_label ? second
                    : IsClass(c, kDigitChar) && c - '0' < digits
                        ? &(*spatial)[c - '0']
                        : nullptr;
    if (slot == nullptr) {
      return s->Fail(start + i, kRule,
                     absl::StrCat("expected `", std::string(1, first_label),
                                  "`, `", std::string(1, second_label),
                                  "`, `?` or a digit below the number of "
                                  "spatial dimensions, ",
                                  digits, "; found `", std::string(1, c), "`"));
    }
    if (*slot >= 0) {
      return s->Fail(
          start + i, kRule,
          absl::StrCat("`", std::string(1, c), "` appears twice in ", labels));
    }
    *slot = i;
  }
  s->set_position(p);
  return true;
}

}  // namespace

bool Parser::ParseDimLabels(AttrValue* value) {
  ConvDimLabels d;
  s_.SkipSpace();
  const char* start = s_.position();
  if (!ParseGroup(&s_, 'b', &d.input_batch, 'f', &d.input_feature,
                  &d.input_spatial, &d.input_rank) ||
      !s_.Expect('_', kRule, "between input and kernel labels") ||
      !ParseGroup(&s_, 'i', &d.kernel_input_feature, 'o',
                  &d.kernel_output_feature, &d.kernel_spatial,
                  &d.kernel_rank)) {
    return false;
  }
  if (!s_.EatText("->")) {
    return s_.FailHere(kRule,
                       absl::StrCat("expected `->`, found ", s_.Found()));
  }
  if (!ParseGroup(&s_, 'b', &d.output_batch, 'f', &d.output_feature,
                  &d.output_spatial, &d.output_rank)) {
    return false;
  }
  if (d.input_spatial.size() != d.kernel_spatial.size() ||
      d.input_spatial.size() != d.output_spatial.size()) {
    return s_.Fail(
        start, kRule,
        absl::StrCat("input, kernel and output have ", d.input_spatial.size(),
                     ", ", d.kernel_spatial.size(), " and ",
                     d.output_spatial.size(),
                     " spatial dimensions; the numbers must agree"));
  }
  *value = std::make_shared<const ConvDimLabels>(std::move(d));
  return true;
}

}  // namespace ridge
