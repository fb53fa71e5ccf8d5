// Where values came from: origin= of instructions, and the table of how to
// compute again what a pass took away.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "hlo/base/status_macros.h"
#include "hlo/proto/module_message.h"
#include "hlo/proto/text_cursor.h"
#include "hlo/proto/text_proto.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "hlo/verify/raw_fields.h"

namespace ridge {
namespace {

// "name" or "name" {0,1}
bool ParseArray(TextCursor* c, proto::OriginalArrayProto* array) {
  absl::string_view name;
  if (!c->Quoted(&name)) return false;
  array->set_instruction_name(UnescapeText(name));
  return c->Peek() != '{' || c->BracketedInts('{', '}', [&](int64_t k) {
    array->add_shape_index(k);
  });
}

std::string ArrayText(const proto::OriginalArrayProto& array) {
  std::string text =
      absl::StrCat("\"", EscapeText(array.instruction_name()), "\"");
  if (array.shape_index_size() > 0) {
    absl::StrAppend(&text, " {", absl::StrJoin(array.shape_index(), ","), "}");
  }
  return text;
}

constexpr int kMaxOriginDepth = 64;

using Index = std::vector<int64_t>;

bool ParseOriginTree(TextCursor* c, Index* index, int depth,
                     proto::OriginalValueProto* out) {
  if (depth > kMaxOriginDepth) return false;
  if (c->Eat('(')) {
    if (c->Eat(')')) return true;
    int64_t k = 0;
    do {
      index->push_back(k++);
      if (!ParseOriginTree(c, index, depth + 1, out)) return false;
      index->pop_back();
    } while (c->Eat(','));
    return c->Eat(')');
  }
  if (!c->Eat('{')) return false;
  proto::OriginalValueElementProto* element = out->add_elements();
  for (int64_t k : *index) element->add_shape_index(k);
  if (c->Eat('}')) return true;
  return ParseArray(c, element->mutable_original_array()) && c->Eat('}');
}

std::string OriginLeaf(const proto::OriginalValueElementProto& element) {
  if (!element.has_original_array()) return "{}";
  return absl::StrCat("{", ArrayText(element.original_array()), "}");
}

// Writes elements [first, last), which agree in their first `depth` indices,
// as a tree; elements are sorted by index.
std::string OriginTree(
    const std::vector<const proto::OriginalValueElementProto*>& elements,
    size_t first, size_t last, int depth) {
  if (first == last || depth > kMaxOriginDepth) return "()";
  if (elements[first]->shape_index_size() <= depth) {
    return OriginLeaf(*elements[first]);
  }
  std::string text = "(";
  for (size_t k = first; k < last;) {
    size_t next = k + 1;
    while (next < last && elements[next]->shape_index_size() > depth &&
           elements[next]->shape_index(depth) ==
               elements[k]->shape_index(depth)) {
      ++next;
    }
    absl::StrAppend(&text, k == first ? "" : ", ",
                    OriginTree(elements, k, next, depth + 1));
    k = next;
  }
  return text + ")";
}

bool ParseBracedArray(TextCursor* c, proto::OriginalArrayProto* array) {
  if (!c->Eat('{')) return false;
  return c->Eat('}') || (ParseArray(c, array) && c->Eat('}'));
}

constexpr absl::string_view kRecoveryTable = "origin_recovery_table";

// The module between the quotes. Tables in tables are not taken, so that
// nesting costs nothing.
bool ParseRecoveryModule(absl::string_view quoted, proto::HloModuleProto* out) {
  const auto module = ParseModule(UnescapeText(quoted));
  if (!module.ok() || !(*module)->header_text(kRecoveryTable).empty()) {
    return false;
  }
  *out = proto_internal::WriteModule(**module, /*exact=*/false);
  return true;
}

// With its line breaks, unlike other quoted texts.
absl::StatusOr<std::string> RecoveryModuleText(
    const proto::HloModuleProto& in) {
  if (in.has_original_value_recovery_table()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "recovery module ", in.name(), ": it has a recovery table of its own"));
  }
  RIDGE_ASSIGN_OR_RETURN(const auto module, proto_internal::ReadModule(in));
  return absl::StrReplaceAll(Print(*module), {{"\\", "\\\\"}, {"\"", "\\\""}});
}

}  // namespace

bool ParseOrigin(absl::string_view text, proto::OriginalValueProto* out) {
  TextCursor c(text);
  if (!c.Eat('{')) return false;
  if (c.Eat("[synthetic_call]")) {
    out->set_is_synthetic_call(true);
    return c.Eat('}') && c.AtEnd();
  }
  Index index;
  return ParseOriginTree(&c, &index, 0, out) && c.Eat('}') && c.AtEnd();
}

std::string OriginText(const proto::OriginalValueProto& in) {
  if (in.is_synthetic_call()) return "{[synthetic_call]}";
  if (in.elements_size() == 0) return "";
  std::vector<const proto::OriginalValueElementProto*> elements;
  for (const auto& element : in.elements()) elements.push_back(&element);
  return absl::StrCat("{", OriginTree(elements, 0, elements.size(), 0), "}");
}

bool ParseRecoveryTable(absl::string_view text,
                        proto::OriginalValueRecoveryTableProto* out) {
  TextCursor c(text);
  if (!c.Eat('{')) return false;
  while (!c.Eat('}')) {
    auto* entry = out->add_entries();
    if (!ParseBracedArray(&c, entry->mutable_old_original_array()) ||
        !c.Eat(':') ||
        !ParseBracedArray(&c, entry->mutable_new_original_array())) {
      return false;
    }
    absl::string_view quoted;
    if (c.Eat(',') &&
        (!c.Quoted(&quoted) ||
         !ParseRecoveryModule(quoted, entry->mutable_recovery_module()))) {
      return false;
    }
  }
  return c.AtEnd();
}

absl::StatusOr<std::string> RecoveryTableText(
    const proto::OriginalValueRecoveryTableProto& in) {
  if (in.entries_size() == 0) return "";
  std::string text = "{\n";
  for (const auto& entry : in.entries()) {
    absl::StrAppend(&text, "  {", ArrayText(entry.old_original_array()),
                    "} : {", ArrayText(entry.new_original_array()), "}");
    if (entry.has_recovery_module()) {
      RIDGE_ASSIGN_OR_RETURN(const std::string module,
                             RecoveryModuleText(entry.recovery_module()));
      absl::StrAppend(&text, ",\n\"\n", module, "\"");
    }
    text += '\n';
  }
  return text + "}";
}

}  // namespace ridge
