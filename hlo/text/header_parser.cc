#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hlo/text/parser_impl.h"
#include "hlo/text/raw_attributes.h"
#include "hlo/verify/raw_fields.h"

namespace ridge {
namespace {

enum class HeaderKind : uint8_t {
  kBool,
  kInt,
  kBoolList,
  kAlias,
  kDonor,
  kLayout,
  kFrontendAttributes,
  kRecoveryTable,
};

struct HeaderField {
  absl::string_view name;
  HeaderKind kind;
};

constexpr HeaderField kFields[] = {
    {"is_scheduled", HeaderKind::kBool},
    {"replica_count", HeaderKind::kInt},
    {"num_partitions", HeaderKind::kInt},
    {"input_output_alias", HeaderKind::kAlias},
    {"buffer_donor", HeaderKind::kDonor},
    {"alias_passthrough_params", HeaderKind::kBool},
    {"entry_computation_layout", HeaderKind::kLayout},
    {"frontend_attributes", HeaderKind::kFrontendAttributes},
    {"allow_spmd_sharding_propagation_to_parameters", HeaderKind::kBoolList},
    {"allow_spmd_sharding_propagation_to_output", HeaderKind::kBoolList},
    {"origin_recovery_table", HeaderKind::kRecoveryTable},
};

const HeaderField* FindField(absl::string_view name) {
  for (const HeaderField& f : kFields) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

bool SkipShapeIndex(Scanner* s, absl::string_view rule) {
  if (!s->Expect('{', rule, "before an index")) return false;
  while (s->Peek() != '}') {
    int64_t ignored;
    if (!s->Int(&ignored, rule, "an index")) return false;
    if (!s->Eat(',')) break;
  }
  return s->Expect('}', rule, "after an index");
}

// (parameter, {index}) or (parameter, {index}, may-alias)
bool SkipAliasTarget(Scanner* s, bool with_kind, absl::string_view rule) {
  int64_t ignored;
  if (!s->Expect('(', rule, "before (parameter, {index})") ||
      !s->Int(&ignored, rule, "a parameter number") ||
      !s->Expect(',', rule, "after the parameter number") ||
      !SkipShapeIndex(s, rule)) {
    return false;
  }
  if (with_kind && s->Eat(',') && !s->EatWord("may-alias") &&
      !s->EatWord("must-alias")) {
    return s->FailHere(rule, absl::StrCat("expected may-alias or must-alias, "
                                          "found ",
                                          s->Found()));
  }
  return s->Expect(')', rule, "after (parameter, {index})");
}

bool SkipAliases(Scanner* s, bool with_output, absl::string_view rule) {
  if (!s->Expect('{', rule, "before the list")) return false;
  while (s->Peek() != '}') {
    if (with_output && (!SkipShapeIndex(s, rule) ||
                        !s->Expect(':', rule, "after the output index"))) {
      return false;
    }
    if (!SkipAliasTarget(s, with_output, rule)) return false;
    if (!s->Eat(',')) break;
  }
  return s->Expect('}', rule, "after the list");
}

// {"name" {index}}, {"name"} or {}
bool SkipOriginalArray(Scanner* s, absl::string_view rule) {
  absl::string_view ignored;
  if (!s->Expect('{', rule, "before an array's origin")) return false;
  if (s->Peek() == '"' && (!s->QuotedRaw(&ignored, rule) ||
                           (s->Peek() == '{' && !SkipShapeIndex(s, rule)))) {
    return false;
  }
  return s->Expect('}', rule, "after an array's origin");
}

// { {"old"} : {"new"}, "HloModule ..." {"old2"} : {"new2"} ... }, where the
// modules may be left out.
bool SkipRecoveryTable(Scanner* s, absl::string_view rule) {
  if (!s->Expect('{', rule, "before the table")) return false;
  while (!s->Eat('}')) {
    if (!SkipOriginalArray(s, rule) ||
        !s->Expect(':', rule, "after the old array") ||
        !SkipOriginalArray(s, rule)) {
      return false;
    }
    if (!s->Eat(',')) continue;
    s->SkipSpace();
    const char* at = s->position();
    absl::string_view quoted;
    if (!s->QuotedRaw(&quoted, rule)) return false;
    // The module would know lines of its own only. Each level of quotes within
    // quotes takes twice the backslashes, so that there cannot be many.
    const absl::Status status = ParseModule(UnescapeText(quoted)).status();
    if (!status.ok()) {
      return s->Fail(at, rule,
                     absl::StrCat("the recovery module does not parse: ",
                                  status.message().substr(
                                      0, status.message().find('\n'))));
    }
  }
  return true;
}

// One row of a section after its number: "text" or {field=1 field=2}.
bool SkipRow(Scanner* s, absl::Span<const absl::string_view> fields) {
  constexpr absl::string_view kRule = "sections";
  absl::string_view ignored;
  if (fields.empty()) return s->QuotedRaw(&ignored, kRule);
  if (!s->Expect('{', kRule, "before the row's fields")) return false;
  while (!s->Eat('}')) {
    s->Eat(',');
    s->SkipSpace();
    const char* at = s->position();
    absl::string_view name = s->Name();
    int64_t number;
    if (std::find(fields.begin(), fields.end(), name) == fields.end()) {
      s->set_position(at);
      return s->Fail(
          at, kRule,
          absl::StrCat("unknown field ", s->Found(), DidYouMean(name, fields)));
    }
    if (!s->Expect('=', kRule, "after the field's name") ||
        !s->Int(&number, kRule, "a number")) {
      return false;
    }
  }
  return true;
}

constexpr absl::string_view kLocationFields[] = {
    "file_name_id", "function_name_id", "line",
    "end_line",     "column",           "end_column"};
constexpr absl::string_view kFrameFields[] = {"file_location_id",
                                              "parent_frame_id"};

}  // namespace

// HloModule name, attribute=value, ...
bool Parser::ParseHeader() {
  if (!s_.EatWord("HloModule")) return true;
  s_.SkipSpace();
  const char* at = s_.position();
  absl::string_view name = s_.PrefixedName();
  if (name.empty() || name == "ENTRY") {
    s_.set_position(at);
    return s_.FailHere("header", absl::StrCat("expected the module's name, "
                                              "found ",
                                              s_.Found()));
  }
  s_.Eat(':');
  module_->set_name(name);
  while (s_.Eat(',')) {
    if (!ParseHeaderAttribute()) return false;
  }
  return true;
}

bool Parser::ParseHeaderAttribute() {
  s_.SkipSpace();
  const char* at = s_.position();
  absl::string_view name = s_.Name();
  if (FindField(name) == nullptr) {
    std::vector<absl::string_view> names;
    for (const HeaderField& f : kFields) names.push_back(f.name);
    s_.set_position(at);
    return s_.Fail(at, "header",
                   absl::StrCat("unknown attribute ", s_.Found(),
                                " of a module", DidYouMean(name, names)));
  }
  for (const Module::HeaderAttribute& a : module_->header()) {
    if (a.name != name) continue;
    return s_.Fail(at, "attribute-twice",
                   absl::StrCat("attribute `", name, "` is given twice"));
  }
  if (!s_.Expect('=', "header", "after the attribute's name")) return false;
  s_.SkipSpace();
  const char* start = s_.position();
  if (!SkipHeaderValue(name)) return false;
  module_->mutable_header()->push_back({name, s_.TextFrom(start)});
  return true;
}

bool Parser::SkipHeaderValue(absl::string_view name) {
  int64_t ignored;
  switch (FindField(name)->kind) {
    case HeaderKind::kBool:
      if (s_.EatWord("true") || s_.EatWord("false")) return true;
      return s_.FailHere(
          name, absl::StrCat("expected true or false, found ", s_.Found()));
    case HeaderKind::kInt:
      return s_.Int(&ignored, name, "an integer");
    case HeaderKind::kBoolList:
      return SkipBoolList(&s_);
    case HeaderKind::kAlias:
      return SkipAliases(&s_, /*with_output=*/true, name);
    case HeaderKind::kDonor:
      return SkipAliases(&s_, /*with_output=*/false, name);
    case HeaderKind::kFrontendAttributes:
      return SkipFrontendAttributes(&s_);
    case HeaderKind::kRecoveryTable:
      return SkipRecoveryTable(&s_, name);
    case HeaderKind::kLayout:
      break;
  }
  // {(parameter shapes)->result shape}
  if (!s_.Expect('{', name, "before the layout") ||
      !s_.Expect('(', name, "before the parameters' shapes")) {
    return false;
  }
  if (!s_.Eat(')')) {
    do {
      if (shapes_.Read(&s_) == nullptr) return false;
    } while (s_.Eat(','));
    if (!s_.Expect(')', name, "after the parameters' shapes")) return false;
  }
  if (!s_.EatText("->")) {
    return s_.FailHere(name, absl::StrCat("expected `->`, found ", s_.Found()));
  }
  return shapes_.Read(&s_) != nullptr &&
         s_.Expect('}', name, "after the layout");
}

// FileNames, FunctionNames, FileLocations, StackFrames: numbered rows.
bool Parser::ParseSections() {
  s_.SkipSpace();
  const char* start = s_.position();
  const char* end = start;
  struct Section {
    absl::string_view name;
    absl::Span<const absl::string_view> fields;
  };
  const Section sections[] = {{"FileNames", {}},
                              {"FunctionNames", {}},
                              {"FileLocations", kLocationFields},
                              {"StackFrames", kFrameFields}};
  for (const Section& section : sections) {
    if (!s_.EatWord(section.name)) continue;
    end = s_.position();
    while (IsClass(s_.Peek(), kDigitChar)) {
      int64_t number;
      if (!s_.Int(&number, "sections", "a row number") ||
          !SkipRow(&s_, section.fields)) {
        return false;
      }
      end = s_.position();
    }
  }
  module_->set_sections(absl::string_view(start, end - start));
  return true;
}

}  // namespace ridge
