#include "hlo/proto/header_proto.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status_macros.h"
#include "hlo/proto/shape_proto.h"
#include "hlo/proto/text_cursor.h"
#include "hlo/proto/text_proto.h"
#include "hlo/text/scanner.h"
#include "hlo/text/shape_parser.h"
#include "hlo/verify/raw_fields.h"

namespace ridge::proto_internal {
namespace {

using Header = std::vector<std::pair<std::string, std::string>>;

// ---- entry_computation_layout ----------------------------------------------

// {(f32[2]{0}, s32[])->f32[2]{0}}
bool ParseLayouts(absl::string_view text, proto::ProgramShapeProto* out) {
  const std::string terminated(text);
  Scanner s(terminated);
  if (!s.Eat('{') || !s.Eat('(')) return false;
  while (!s.Eat(')')) {
    Shape shape;
    if (!ParseShape(&s, &shape)) return false;
    ShapeToProto(shape, out->add_parameters());
    s.Eat(',');
  }
  Shape result;
  if (!s.EatText("->") || !ParseShape(&s, &result) || !s.Eat('}')) return false;
  ShapeToProto(result, out->mutable_result());
  return true;
}

absl::StatusOr<std::string> LayoutsText(const proto::ProgramShapeProto& in) {
  std::vector<std::string> parameters;
  for (const proto::ShapeProto& p : in.parameters()) {
    RIDGE_ASSIGN_OR_RETURN(const Shape shape, ShapeFromProto(p));
    parameters.push_back(shape.ToString(true));
  }
  RIDGE_ASSIGN_OR_RETURN(const Shape result, ShapeFromProto(in.result()));
  return absl::StrCat("{(", absl::StrJoin(parameters, ", "), ")->",
                      result.ToString(true), "}");
}

// ---- input_output_alias, buffer_donor --------------------------------------

template <typename Add>
bool ParseIndex(TextCursor* c, Add add) {
  return c->BracketedInts('{', '}', add);
}

// { {0}: (0, {}, may-alias), {1}: (2, {0}) }
bool ParseAlias(absl::string_view text, proto::HloInputOutputAliasProto* out) {
  TextCursor c(text);
  if (!c.Eat('{')) return false;
  while (!c.Eat('}')) {
    auto* entry = out->add_entries();
    int64_t number = 0;
    if (!ParseIndex(&c, [&](int64_t k) { entry->add_output_shape_index(k); }) ||
        !c.Eat(':') || !c.Eat('(') || !c.Int(&number)) {
      return false;
    }
    entry->set_parameter_number(number);
    if (c.Eat(',') && !ParseIndex(&c, [&](int64_t k) {
          entry->add_parameter_shape_index(k);
        })) {
      return false;
    }
    entry->set_kind(proto::MAY_ALIAS);
    if (c.Eat(',')) {
      if (c.Eat("must-alias")) {
        entry->set_kind(proto::MUST_ALIAS);
      } else if (!c.Eat("may-alias")) {
        return false;
      }
    }
    if (!c.Eat(')')) return false;
    c.Eat(',');
  }
  return c.AtEnd();
}

std::string AliasText(const proto::HloInputOutputAliasProto& in) {
  if (in.entries_size() == 0) return "";
  return absl::StrCat(
      "{ ",
      absl::StrJoin(
          in.entries(), ", ",
          [](std::string* s, const auto& entry) {
            absl::StrAppend(
                s, "{", absl::StrJoin(entry.output_shape_index(), ", "), "}: (",
                entry.parameter_number(), ", {",
                absl::StrJoin(entry.parameter_shape_index(), ", "), "}, ",
                entry.kind() == proto::MUST_ALIAS ? "must-alias" : "may-alias",
                ")");
          }),
      " }");
}

// { (0, {}), (1, {0}) }
bool ParseDonor(absl::string_view text, proto::HloBufferDonorProto* out) {
  TextCursor c(text);
  if (!c.Eat('{')) return false;
  while (!c.Eat('}')) {
    auto* entry = out->add_entries();
    int64_t number = 0;
    if (!c.Eat('(') || !c.Int(&number)) return false;
    entry->set_parameter_number(number);
    if (c.Eat(',') && !ParseIndex(&c, [&](int64_t k) {
          entry->add_parameter_shape_index(k);
        })) {
      return false;
    }
    if (!c.Eat(')')) return false;
    c.Eat(',');
  }
  return c.AtEnd();
}

std::string DonorText(const proto::HloBufferDonorProto& in) {
  if (in.entries_size() == 0) return "";
  return absl::StrCat(
      "{ ",
      absl::StrJoin(in.entries(), ", ",
                    [](std::string* s, const auto& entry) {
                      absl::StrAppend(
                          s, "(", entry.parameter_number(), ", {",
                          absl::StrJoin(entry.parameter_shape_index(), ", "),
                          "})");
                    }),
      " }");
}

// ---- Sections --------------------------------------------------------------

int32_t FieldInt(const std::vector<RawField>& fields, absl::string_view key) {
  int32_t value = 0;
  for (const RawField& field : fields) {
    if (field.key == key && !absl::SimpleAtoi(field.value, &value)) return 0;
  }
  return value;
}

// In the text a frame's parent is one more than in the message, so that the
// outermost frame names itself or frame 1.
bool ParseSections(absl::string_view text, proto::StackFrameIndexProto* out) {
  TextCursor c(text);
  while (!c.AtEnd()) {
    const absl::string_view section = c.Word();
    if (section.empty()) return false;
    int64_t number = 0;
    while (absl::ascii_isdigit(c.Peek())) {
      if (!c.Int(&number)) return false;
      absl::string_view value;
      if (section == "FileNames" || section == "FunctionNames") {
        if (!c.Quoted(&value)) return false;
        *(section == "FileNames" ? out->add_file_names()
                                 : out->add_function_names()) =
            UnescapeText(value);
        continue;
      }
      if (!c.Braced(&value)) return false;
      const auto fields = ParseRawFields(value);
      if (!fields.ok()) return false;
      if (section == "FileLocations") {
        auto* location = out->add_file_locations();
        location->set_file_name_id(FieldInt(*fields, "file_name_id"));
        location->set_function_name_id(FieldInt(*fields, "function_name_id"));
        location->set_line(FieldInt(*fields, "line"));
        location->set_end_line(FieldInt(*fields, "end_line"));
        location->set_column(FieldInt(*fields, "column"));
        location->set_end_column(FieldInt(*fields, "end_column"));
      } else if (section == "StackFrames") {
        auto* frame = out->add_stack_frames();
        frame->set_file_location_id(FieldInt(*fields, "file_location_id"));
        frame->set_parent_frame_id(
            std::max(FieldInt(*fields, "parent_frame_id") - 1, 0));
      } else {
        return false;
      }
    }
  }
  return true;
}

std::string SectionsText(const proto::StackFrameIndexProto& in) {
  if (in.file_names_size() == 0 && in.stack_frames_size() == 0) return "";
  std::string text = "FileNames\n";
  for (int k = 0; k < in.file_names_size(); ++k) {
    absl::StrAppend(&text, k + 1, " \"", EscapeText(in.file_names(k)), "\"\n");
  }
  absl::StrAppend(&text, "\nFunctionNames\n");
  for (int k = 0; k < in.function_names_size(); ++k) {
    absl::StrAppend(&text, k + 1, " \"", EscapeText(in.function_names(k)),
                    "\"\n");
  }
  absl::StrAppend(&text, "\nFileLocations\n");
  for (int k = 0; k < in.file_locations_size(); ++k) {
    const auto& at = in.file_locations(k);
    absl::StrAppend(&text, k + 1, " {file_name_id=", at.file_name_id(),
                    " function_name_id=", at.function_name_id(),
                    " line=", at.line(), " end_line=", at.end_line());
    absl::StrAppend(&text, " column=", at.column(),
                    " end_column=", at.end_column(), "}\n");
  }
  absl::StrAppend(&text, "\nStackFrames\n");
  for (int k = 0; k < in.stack_frames_size(); ++k) {
    const auto& frame = in.stack_frames(k);
    absl::StrAppend(&text, k + 1,
                    " {file_location_id=", frame.file_location_id(),
                    " parent_frame_id=", frame.parent_frame_id() + 1, "}\n");
  }
  return text;
}

// ---- Header attributes -----------------------------------------------------

// Puts one header attribute into its field, if it has one.
void WriteAttribute(absl::string_view name, absl::string_view text,
                    proto::HloModuleProto* out) {
  bool parsed = true;
  if (name == "input_output_alias") {
    parsed = ParseAlias(text, out->mutable_input_output_alias());
    if (!parsed) out->clear_input_output_alias();
  } else if (name == "buffer_donor") {
    parsed = ParseDonor(text, out->mutable_buffer_donor());
    if (!parsed) out->clear_buffer_donor();
  } else if (name == "origin_recovery_table") {
    parsed =
        ParseRecoveryTable(text, out->mutable_original_value_recovery_table());
    if (!parsed) out->clear_original_value_recovery_table();
  } else if (name == "frontend_attributes") {
    parsed = ParseFrontendAttributes(text, out->mutable_frontend_attributes());
    if (!parsed) out->clear_frontend_attributes();
  } else if (name == "entry_computation_layout") {
    proto::ProgramShapeProto shape;
    if (ParseLayouts(text, &shape)) {
      *out->mutable_host_program_shape() = std::move(shape);
    }
  } else if (name == "is_scheduled" && text == "true") {
    out->mutable_schedule();
  }
}

// The header that the fields alone give, as XLA prints it.
absl::StatusOr<Header> HeaderOf(const proto::HloModuleProto& in) {
  Header header;
  const auto add = [&](absl::string_view name, std::string text) {
    if (!text.empty()) header.emplace_back(std::string(name), std::move(text));
  };
  if (in.has_schedule()) add("is_scheduled", "true");
  add("input_output_alias", AliasText(in.input_output_alias()));
  add("buffer_donor", DonorText(in.buffer_donor()));
  if (in.has_host_program_shape() && in.host_program_shape().has_result()) {
    RIDGE_ASSIGN_OR_RETURN(std::string text,
                           LayoutsText(in.host_program_shape()));
    add("entry_computation_layout", std::move(text));
  }
  add("frontend_attributes", FrontendAttributesText(in.frontend_attributes()));
  RIDGE_ASSIGN_OR_RETURN(std::string table,
                         RecoveryTableText(in.original_value_recovery_table()));
  add("origin_recovery_table", std::move(table));
  return header;
}

Header ExactHeader(const proto::HloModuleProto& in) {
  Header header;
  for (const proto::NamedText& h : in.ridge().header()) {
    header.emplace_back(h.name(), h.text());
  }
  return header;
}

// Whether the header as written says what the fields say, so that its spelling
// can be taken. Someone may have changed the fields since.
bool Agrees(const Header& exact, const proto::HloModuleProto& in) {
  proto::HloModuleProto scratch;
  for (const auto& [name, text] : exact) WriteAttribute(name, text, &scratch);
  // A header need not give the layout; the field is always there.
  if (!scratch.has_host_program_shape()) {
    *scratch.mutable_host_program_shape() = in.host_program_shape();
  }
  scratch.mutable_host_program_shape()->clear_parameter_names();
  proto::HloModuleProto other;
  *other.mutable_host_program_shape() = in.host_program_shape();
  other.mutable_host_program_shape()->clear_parameter_names();
  *other.mutable_input_output_alias() = in.input_output_alias();
  *other.mutable_buffer_donor() = in.buffer_donor();
  *other.mutable_frontend_attributes() = in.frontend_attributes();
  *other.mutable_original_value_recovery_table() =
      in.original_value_recovery_table();
  if (in.has_schedule()) other.mutable_schedule();
  const auto a = HeaderOf(scratch);
  const auto b = HeaderOf(other);
  return a.ok() && b.ok() && *a == *b;
}

}  // namespace

void WriteProgramShape(const Computation& computation,
                       proto::ProgramShapeProto* out) {
  for (const Instruction* parameter : computation.parameters()) {
    if (parameter == nullptr) continue;
    ShapeToProto(parameter->shape(), out->add_parameters());
    out->add_parameter_names(std::string(parameter->name()));
  }
  if (computation.root() != nullptr) {
    ShapeToProto(computation.root()->shape(), out->mutable_result());
  }
}

void WriteHeader(const Module& module, bool exact, proto::HloModuleProto* out) {
  out->set_name(std::string(module.name()));
  if (module.entry() != nullptr) {
    WriteProgramShape(*module.entry(), out->mutable_host_program_shape());
  }
  const proto::ProgramShapeProto signature = out->host_program_shape();
  Header written;
  for (const Module::HeaderAttribute& h : module.header()) {
    WriteAttribute(h.name, h.text, out);
    written.emplace_back(std::string(h.name), std::string(h.text));
  }
  *out->mutable_host_program_shape()->mutable_parameter_names() =
      signature.parameter_names();
  proto::StackFrameIndexProto frames;
  if (!module.sections().empty() && ParseSections(module.sections(), &frames)) {
    *out->mutable_stack_frame_index() = frames;
  }
  if (!exact) return;
  const auto header = HeaderOf(*out);
  if (!header.ok() || *header != written) {
    for (const auto& [name, text] : written) {
      proto::NamedText* h = out->mutable_ridge()->add_header();
      h->set_name(name);
      h->set_text(text);
    }
    // An empty header is one too.
    out->mutable_ridge();
  }
  if (SectionsText(frames) != module.sections()) {
    out->mutable_ridge()->set_sections(std::string(module.sections()));
  }
}

absl::Status ReadHeader(const proto::HloModuleProto& in, Module* module) {
  RIDGE_ASSIGN_OR_RETURN(Header header, HeaderOf(in));
  const bool has_exact = in.ridge().header_size() > 0 ||
                         (in.has_ridge() && in.ridge().sections().empty());
  if (has_exact) {
    Header exact = ExactHeader(in);
    if (Agrees(exact, in)) header = std::move(exact);
  }
  for (const auto& [name, text] : header) {
    module->mutable_header()->push_back(
        {module->CopyText(name), module->CopyText(text)});
  }
  proto::StackFrameIndexProto frames;
  const std::string derived = SectionsText(in.stack_frame_index());
  const bool use_exact = !in.ridge().sections().empty() &&
                         (!ParseSections(in.ridge().sections(), &frames) ||
                          SectionsText(frames) == derived);
  module->set_sections(use_exact ? in.ridge().sections() : derived);
  return absl::OkStatus();
}

}  // namespace ridge::proto_internal
