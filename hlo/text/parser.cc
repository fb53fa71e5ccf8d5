#include "hlo/text/parser.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"
#include "hlo/text/parser_impl.h"

namespace ridge {
namespace {

constexpr absl::string_view kModuleSeparator = "// -----";

Diagnostic AboutText(absl::string_view text, size_t at, int32_t first_line,
                     std::string message) {
  Diagnostic d;
  d.rule = "text";
  d.message = std::move(message);
  d.line = first_line + static_cast<int32_t>(
                            std::count(text.begin(), text.begin() + at, '\n'));
  size_t line = text.rfind('\n', at == 0 ? 0 : at - 1);
  d.column = static_cast<int32_t>(
      at == 0 || line == absl::string_view::npos ? at + 1 : at - line);
  return d;
}

// Length of the UTF-8 sequence at `p`, 0 if there is none.
int Utf8Length(const uint8_t* p, const uint8_t* end) {
  int length = *p < 0xc2   ? 0
               : *p < 0xe0 ? 2
               : *p < 0xf0 ? 3
               : *p < 0xf5 ? 4
                           : 0;
  if (length == 0 || end - p < length) return 0;
  for (int i = 1; i < length; ++i) {
    if ((p[i] & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond U+10FFFF.
  if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
      (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) {
    return 0;
  }
  return length;
}

// What makes a text no text: too long, zero bytes, not UTF-8. Empty message
// if there is nothing.
Diagnostic CheckText(absl::string_view text, int32_t first_line) {
  if (text.size() >= size_t{1} << 31) {
    return AboutText("", 0, 0,
                     absl::StrCat("the text has ", text.size(),
                                  " bytes; the limit is 2 GiB"));
  }
  const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
  const uint8_t* end = begin + text.size();
  if (const void* zero = std::memchr(begin, 0, text.size())) {
    return AboutText(text, static_cast<const uint8_t*>(zero) - begin,
                     first_line,
                     "a zero byte: this is a binary file, not HLO text (a "
                     "serialized module would be an .hlo.pb)");
  }
  for (const uint8_t* p = begin; p < end;) {
    uint64_t word;
    if (end - p >= 8) {
      std::memcpy(&word, p, 8);
      if ((word & 0x8080808080808080u) == 0) {
        p += 8;
        continue;
      }
    }
    if (*p < 0x80) {
      ++p;
      continue;
    }
    int length = Utf8Length(p, end);
    if (length == 0) {
      return AboutText(text, p - begin, first_line,
                       absl::StrCat("byte 0x", absl::Hex(*p),
                                    " is not part of valid UTF-8"));
    }
    p += length;
  }
  return Diagnostic();
}

absl::Status ErrorsToStatus(const std::vector<Diagnostic>& errors,
                            const ParseOptions& options) {
  return absl::InvalidArgumentError(ToString(errors, options.file));
}

}  // namespace

bool Parser::Run() {
  if (s_.AtEnd()) {
    return s_.FailHere("text", "the text holds no module");
  }
  if (AtModule()) {
    if (ParseHeader() && ParseSections()) {
      ParseComputations();
    } else if (SkipToNextComputation()) {
      ParseComputations();
    }
  } else if (ParseLoneInstruction() && !s_.AtEnd()) {
    s_.FailHere("text", absl::StrCat("expected the end of the text after a "
                                     "lone instruction, found ",
                                     s_.Found()));
  }
  return s_.errors().empty();
}

// A module begins with HloModule or with a computation.
bool Parser::AtModule() {
  const char* start = s_.position();
  bool is_module = s_.EatWord("HloModule");
  s_.set_position(start);
  return is_module || AtComputation();
}

// ENTRY, or `name {` or `name (p: ...`.
bool Parser::AtComputation() {
  const char* start = s_.position();
  bool is_computation = s_.EatWord("ENTRY");
  if (!is_computation) {
    absl::string_view name = s_.PrefixedName();
    char c = s_.Peek();
    is_computation =
        !name.empty() && (c == '{' || (c == '(' && !OpcodeFromName(name)));
  }
  s_.set_position(start);
  return is_computation;
}

void Parser::ParseComputations() {
  while (!s_.AtEnd() && !TooManyErrors()) {
    if (ParseComputation() || std::exchange(at_next_computation_, false)) {
      continue;
    }
    if (!SkipToNextComputation()) break;
  }
  if (module_->computations().empty()) {
    if (s_.errors().empty()) {
      s_.FailHere("text", "the module has no computations");
    }
    return;
  }
  if (entry_ == nullptr) entry_ = module_->computations().back();
  module_->set_entry(entry_);
  NameAnonymous();
  if (module_->name().empty()) {
    module_->set_name(absl::StrCat("module_", entry_->name()));
  }
}

Parser::Scope* Parser::OpenScope(Computation* computation) {
  if (open_scopes_ == scopes_.size()) scopes_.emplace_back();
  Scope* sc = &scopes_[open_scopes_++];
  sc->computation = computation;
  sc->names.Clear();
  sc->parameters.clear();
  sc->anonymous.clear();
  sc->root = nullptr;
  sc->is_lone = false;
  return sc;
}

// [ENTRY] [%]name [(p: shape, ...) -> shape] { ... } [, execution_thread="x"]
bool Parser::ParseComputation() {
  s_.SkipSpace();
  const char* start = s_.position();
  bool is_entry = s_.EatWord("ENTRY");
  s_.SkipSpace();
  const char* name_at = s_.position();
  absl::string_view name = s_.PrefixedName();
  if (name.empty()) {
    return s_.FailHere(
        "computation",
        absl::StrCat("expected a computation, found ", s_.Found()));
  }
  if (name == "HloModule") {
    return s_.Fail(start, "computation",
                   absl::StrCat("a second module begins here; modules in one "
                                "file are separated by lines `",
                                kModuleSeparator, "`"));
  }
  Computation* computation = module_->AddComputationRaw(name);
  computation->set_location(s_.Locate(name_at));
  size_t errors_before = s_.errors().size();
  const Shape* result = nullptr;
  const char* result_at = nullptr;
  bool ok = s_.Peek() != '(' || ParseSignature(&result, &result_at);
  if (ok) {
    ok = ParseBody(OpenScope(computation));
    ReleaseScope();
    module_->MoveComputationLast(computation);
  }
  if (ok && result != nullptr && !broken_.contains(computation->root()) &&
      !SameUpToDynamic(*result, computation->root()->shape())) {
    s_.Fail(
        result_at, "signature",
        absl::StrCat("the signature of `", name, "` says ", result->ToString(),
                     ", its root `", computation->root()->name(), "` is ",
                     computation->root()->shape().ToString()));
  }
  while (ok && s_.Eat(',')) {
    absl::string_view attribute = s_.Name();
    absl::string_view thread;
    if (attribute != "execution_thread") {
      ok =
          s_.FailHere("computation",
                      absl::StrCat("expected execution_thread after `,`, "
                                   "found ",
                                   attribute.empty() ? s_.Found()
                                                     : std::string(attribute)));
    } else {
      ok = s_.Expect('=', "computation", "after execution_thread") &&
           s_.QuotedRaw(&thread, "computation");
      if (ok) computation->set_execution_thread(thread);
    }
  }
  if (s_.errors().size() != errors_before) {
    broken_computations_.insert(computation);
  }
  if (is_entry && entry_ != nullptr) {
    s_.Fail(start, "entry",
            absl::StrCat("a module has one ENTRY; here `", entry_->name(),
                         "` is it already"));
  } else if (is_entry) {
    entry_ = computation;
  }
  if (!computations_.emplace(name, computation).second) {
    s_.Fail(
        name_at, "computation-name",
        absl::StrCat("the name `", name, "` is taken by a computation at line ",
                     computations_[name]->location().line));
  }
  return ok;
}

// (p: shape, q: shape) -> shape. As in XLA only the result is compared.
bool Parser::ParseSignature(const Shape** result, const char** result_at) {
  constexpr absl::string_view kRule = "signature";
  s_.Eat('(');
  if (!s_.Eat(')')) {
    do {
      if (s_.PrefixedName().empty()) {
        return s_.FailHere(kRule, absl::StrCat("expected a parameter's name, "
                                               "found ",
                                               s_.Found()));
      }
      s_.Eat(':');  // XLA does not insist
      if (shapes_.Read(&s_) == nullptr) return false;
    } while (s_.Eat(','));
    if (!s_.Expect(')', kRule, "after the parameters")) return false;
  }
  if (!s_.EatText("->")) {
    return s_.FailHere(kRule,
                       absl::StrCat("expected `->`, found ", s_.Found()));
  }
  s_.SkipSpace();
  *result_at = s_.position();
  *result = shapes_.Read(&s_);
  return *result != nullptr;
}

bool Parser::ParseBody(Scope* sc) {
  s_.SkipSpace();
  const char* open = s_.position();
  if (!s_.Expect('{', "computation", "before the instructions")) return false;
  while (true) {
    char c = s_.Peek();
    if (c == '}') break;
    if (c == '\0') {
      return s_.Fail(open, "computation",
                     "the text ends before this computation is closed: `}` "
                     "is missing");
    }
    const char* start = s_.position();
    if (ParseInstruction()) continue;
    if (TooManyErrors() || at_next_computation_) return false;
    RecoverInstruction(start);
    // Nothing left to go on with: what is wrong has been said.
    if (s_.AtEnd()) return false;
  }
  s_.Eat('}');
  return CloseScope(sc, open);
}

bool Parser::CloseScope(Scope* sc, const char* open) {
  Computation* c = sc->computation;
  if (c->instruction_count() == 0) {
    return s_.Fail(open, "computation",
                   "a computation needs at least one instruction");
  }
  c->set_root(sc->root != nullptr ? sc->root : c->last());
  // Numbers must be 0 .. n-1, each once. Registering a number takes memory up
  // to it, so it is checked first.
  int64_t count = static_cast<int64_t>(sc->parameters.size());
  for (Instruction* p : sc->parameters) {
    int64_t number = p->parameter_number();
    if (number >= count) {
      if (broken_.empty()) {
        s_.Fail(open, "parameter",
                absl::StrCat("parameter `", p->name(), "` has number ", number,
                             ", but there are ", count,
                             " parameters: numbers run from 0 without gaps"));
      }
      continue;
    }
    bool is_new = number >= static_cast<int64_t>(c->parameters().size()) ||
                  c->parameter(number) == nullptr;
    if (!is_new) {
      s_.Fail(
          open, "parameter",
          absl::StrCat("parameters `", c->parameter(number)->name(), "` and `",
                       p->name(), "` both have number ", number));
      continue;
    }
    c->RegisterParameter(p);
  }
  // Names for what the text left without, as XLA makes them: add.anon,
  // add.anon.1, ...
  absl::flat_hash_map<Opcode, int64_t> next;
  for (Instruction* i : sc->anonymous) {
    int64_t& n = next[i->opcode()];
    while (true) {
      std::string name = absl::StrCat(Name(i->opcode()), ".anon");
      if (n > 0) absl::StrAppend(&name, ".", n);
      ++n;
      if (sc->names.Find(name) != nullptr) continue;
      i->set_arena_name(module_->CopyText(name));
      sc->names.Insert(i);
      break;
    }
  }
  return true;
}

void Parser::NameAnonymous() {
  int64_t next_async = 0;
  int64_t next_nested = 0;
  for (Computation* c : anonymous_computations_) {
    bool is_async = c->is_async_sugar();
    int64_t& n = is_async ? next_async : next_nested;
    absl::string_view base = is_async ? "async_wrapped" : "_";
    while (true) {
      std::string name =
          n == 0 ? std::string(base) : absl::StrCat(base, ".", n);
      ++n;
      if (computations_.contains(name)) continue;
      c->set_arena_name(module_->CopyText(name));
      computations_.emplace(c->name(), c);
      break;
    }
  }
}

// Goes to the line after `start` at which an instruction or the end of a
// computation seems to begin. Attributes on lines of their own are written
// `name=value`, instructions `name = ...` or `%name=...`.
void Parser::RecoverInstruction(const char* start) {
  const char* p = start;
  while (true) {
    const void* newline = std::memchr(p, '\n', s_.end() - p);
    if (newline == nullptr) {
      s_.set_position(s_.end());
      return;
    }
    p = static_cast<const char*>(newline) + 1;
    s_.set_position(p);
    while (IsClass(*p, kSpaceChar)) ++p;
    s_.set_position(p);
    if (*p == '}') return;
    bool rooted = s_.EatWord("ROOT");
    s_.SkipSpace();
    bool percent = *s_.position() == '%';
    bool named = !s_.PrefixedName().empty();
    bool spaced = IsClass(*s_.position(), kSpaceChar);
    bool equals = named && (rooted || percent || spaced) && s_.Peek() == '=';
    s_.set_position(p);
    if (equals) return;
  }
}

// The line of a name's definition after `at`: `name` at the beginning of a line
// and one of `marks` behind it. That of an instruction ("=") is looked for up
// to the end of its computation. 0 if there is none.
int32_t Parser::LaterDefinition(absl::string_view name, const char* at,
                                absl::string_view marks) {
  const char* start = s_.position();
  const char* found = nullptr;
  s_.set_position(at);
  while (found == nullptr) {
    const char* p = s_.position();
    const void* newline = std::memchr(p, '\n', s_.end() - p);
    if (newline == nullptr) break;
    s_.set_position(static_cast<const char*>(newline) + 1);
    s_.SkipSpace();
    p = s_.position();
    if (*p == '}' && marks == "=") break;
    if (!s_.EatWord("ROOT")) s_.EatWord("ENTRY");
    if (s_.PrefixedName() == name && !name.empty() &&
        marks.find(s_.Peek()) != absl::string_view::npos) {
      found = p;
    }
    s_.set_position(p);
  }
  s_.set_position(start);
  return found == nullptr ? 0 : s_.Locate(found).line;
}

// Goes past the next line that begins with `}`, or to a line that begins with
// ENTRY; false if there is none.
bool Parser::SkipToNextComputation() {
  const char* p = s_.position();
  while (true) {
    const void* newline = std::memchr(p, '\n', s_.end() - p);
    if (newline == nullptr) return false;
    p = static_cast<const char*>(newline) + 1;
    s_.set_position(p);
    if (*p == '}') {
      s_.set_position(p + 1);
      if (s_.Peek() != ',') return true;
      // , execution_thread="..."
      const void* end = std::memchr(p, '\n', s_.end() - p);
      s_.set_position(end == nullptr ? s_.end()
                                     : static_cast<const char*>(end));
      return true;
    }
    if (s_.EatWord("ENTRY")) {
      s_.set_position(p);
      return true;
    }
  }
}

// An instruction by itself, whose operands carry their shapes and become the
// parameters of a computation made for it.
bool Parser::ParseLoneInstruction() {
  Computation* computation = module_->AddComputationRaw("entry");
  computations_.emplace(computation->name(), computation);
  Scope* sc = OpenScope(computation);
  sc->is_lone = true;
  const char* start = s_.position();
  Label label;
  label.at = start;
  bool rooted = s_.EatWord("ROOT");
  label.name = s_.PrefixedName();
  if (label.name.empty() || !s_.Eat('=')) {
    s_.set_position(start);
    if (rooted || !AtShape(&s_)) {
      s_.EatWord("ROOT");
      s_.PrefixedName();
      return s_.FailHere("instruction",
                         absl::StrCat("expected `=` after the instruction's "
                                      "name, found ",
                                      s_.Found()));
    }
    // No name: the text begins with the shape.
    label.name = {};
  }
  label.is_root = true;
  bool ok = ParseRightHandSide(label, /*allow_attributes=*/true) != nullptr &&
            CloseScope(sc, start);
  ReleaseScope();
  if (!ok) return false;
  module_->MoveComputationLast(computation);
  // As XLA has it.
  module_->set_name("_");
  module_->mutable_header()->push_back({"is_scheduled", "true"});
  module_->set_entry(computation);
  entry_ = computation;
  NameAnonymous();
  return true;
}

namespace {

// The module takes the text over.
absl::StatusOr<std::unique_ptr<Module>> ParseOwned(
    std::string owned, const ParseOptions& options) {
  std::vector<Diagnostic> errors;
  auto module = std::make_unique<Module>("");
  Diagnostic about = CheckText(owned, options.first_line);
  if (!about.message.empty()) {
    errors.push_back(std::move(about));
  } else {
    module->set_source_file(options.file);
    absl::string_view text = module->AdoptText(std::move(owned));
    absl::ConsumePrefix(&text, "\xef\xbb\xbf");  // a byte order mark
    Parser parser(text, options, module.get());
    if (parser.Run()) return module;
    errors = parser.errors();
    if (static_cast<int64_t>(errors.size()) > options.max_errors) {
      errors.resize(options.max_errors);
    }
  }
  std::stable_sort(errors.begin(), errors.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return std::make_pair(a.line, a.column) <
                            std::make_pair(b.line, b.column);
                   });
  if (options.diagnostics != nullptr) {
    options.diagnostics->insert(options.diagnostics->end(), errors.begin(),
                                errors.end());
  }
  return ErrorsToStatus(errors, options);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> ParseModule(
    absl::string_view text, const ParseOptions& options) {
  return ParseOwned(std::string(text), options);
}

absl::StatusOr<std::vector<std::unique_ptr<Module>>> ParseModules(
    absl::string_view text, const ParseOptions& options) {
  std::vector<std::unique_ptr<Module>> modules;
  std::vector<Diagnostic> errors;
  ParseOptions part_options = options;
  part_options.diagnostics = &errors;
  bool any = false;
  auto parse = [&](absl::string_view part) {
    // Only comments and blanks? The scanner knows; it wants an end mark.
    std::string copy(part);
    if (CheckText(copy, 1).message.empty() && Scanner(copy).AtEnd()) return;
    any = true;
    absl::StatusOr<std::unique_ptr<Module>> module =
        ParseModule(part, part_options);
    if (module.ok()) modules.push_back(*std::move(module));
  };
  size_t part_start = 0;
  size_t line_start = 0;
  while (line_start < text.size()) {
    size_t line_end = text.find('\n', line_start);
    if (line_end == absl::string_view::npos) line_end = text.size();
    absl::string_view line = text.substr(line_start, line_end - line_start);
    if (absl::StartsWith(line, kModuleSeparator)) {
      absl::string_view part = text.substr(part_start, line_start - part_start);
      parse(part);
      part_options.first_line +=
          static_cast<int32_t>(std::count(part.begin(), part.end(), '\n')) + 1;
      part_start = std::min(line_end + 1, text.size());
    }
    line_start = line_end + 1;
  }
  absl::string_view last = text.substr(part_start);
  if (!any) {
    RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Module> only, ParseModule(last, [&] {
                             ParseOptions o = options;
                             o.first_line = part_options.first_line;
                             return o;
                           }()));
    modules.push_back(std::move(only));
    return modules;
  }
  parse(last);
  if (options.diagnostics != nullptr) {
    options.diagnostics->insert(options.diagnostics->end(), errors.begin(),
                                errors.end());
  }
  if (!errors.empty()) return ErrorsToStatus(errors, options);
  return modules;
}

absl::StatusOr<std::unique_ptr<Module>> ReadModule(
    const std::string& path, const ParseOptions& options) {
  RIDGE_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  ParseOptions with_file = options;
  if (with_file.file.empty()) with_file.file = path;
  return ParseOwned(std::move(text), with_file);
}

absl::StatusOr<std::vector<std::unique_ptr<Module>>> ReadModules(
    const std::string& path, const ParseOptions& options) {
  RIDGE_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  ParseOptions with_file = options;
  if (with_file.file.empty()) with_file.file = path;
  if (absl::StartsWith(text, kModuleSeparator) ||
      absl::StrContains(text, absl::StrCat("\n", kModuleSeparator))) {
    return ParseModules(text, with_file);
  }
  // One module, as usual, takes the text over without a copy.
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Module> only,
                         ParseOwned(std::move(text), with_file));
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(std::move(only));
  return modules;
}

}  // namespace ridge
