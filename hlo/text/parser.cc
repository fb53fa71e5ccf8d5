#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/text/parser_impl.h"

namespace ridge {

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
  sc->errors_before = s_.errors().size();
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
    // Unless what is wrong with its instructions has been said.
    if (s_.errors().size() > sc->errors_before) return false;
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
  absl::flat_hash_map<std::string, int64_t> next;
  for (Instruction* i : sc->anonymous) {
    const std::string base = AnonymousName(*sc, *i);
    int64_t& n = next[base];
    while (true) {
      std::string name = n == 0 ? base : absl::StrCat(base, ".", n);
      ++n;
      if (sc->names.Find(name) != nullptr) continue;
      i->set_arena_name(module_->CopyText(name));
      sc->names.Insert(i);
      break;
    }
  }
  return true;
}

// The name that XLA makes for what the text left without, but for the number
// behind it where it is taken.
std::string Parser::AnonymousName(const Scope& sc, const Instruction& i) {
  const bool is_parameter = i.opcode() == Opcode::kParameter;
  if (sc.is_lone && is_parameter)
    return absl::StrCat("_", i.parameter_number());
  if (sc.is_lone && &i == sc.root) return "_";
  // What an add-start stands for.
  if (sc.computation->is_async_sugar()) {
    return is_parameter ? "async_param" : std::string(Name(i.opcode()));
  }
  return absl::StrCat(Name(i.opcode()), ".anon");
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
  // Named as by XLA, as is the module below.
  Computation* computation = module_->AddComputationRaw("_");
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
  module_->set_name("_");
  module_->mutable_header()->push_back({"is_scheduled", "true"});
  module_->set_entry(computation);
  entry_ = computation;
  NameAnonymous();
  return true;
}

}  // namespace ridge
