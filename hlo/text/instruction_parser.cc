#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/text/names.h"
#include "hlo/text/parser_impl.h"
#include "hlo/verify/shape_inference.h"

namespace ridge {
namespace {

constexpr absl::string_view kControlPredecessors = "control-predecessors";
// In Draft::seen, past the attributes.
constexpr size_t kControlPredecessorsBit = kAttrCount;

std::vector<absl::string_view> OpcodeNames() {
  std::vector<absl::string_view> names;
#define V(e, text, ...) names.push_back(text);
  RIDGE_OPCODES(V)
#undef V
  return names;
}

}  // namespace

void Parser::Draft::Clear() {
  wrapped.reset();
  shape = nullptr;
  operands.clear();
  attributes.clear();
  attribute_at.clear();
  control_predecessors.clear();
  seen.reset();
  parameter_number = 0;
  literal.reset();
  uses_broken = false;
}

const AttrValue* Parser::Draft::Find(AttrId id) const {
  for (const Attribute& a : attributes) {
    if (a.id == id) return &a.value;
  }
  return nullptr;
}

const char* Parser::Draft::At(AttrId id) const {
  for (size_t i = 0; i < attributes.size(); ++i) {
    if (attributes[i].id == id) return attribute_at[i];
  }
  return nullptr;
}

Parser::Draft* Parser::NewDraft() {
  if (open_drafts_ == drafts_.size()) drafts_.emplace_back();
  Draft* draft = &drafts_[open_drafts_++];
  draft->Clear();
  return draft;
}

// [ROOT] [%]name = right-hand side
bool Parser::ParseInstruction() {
  Label label;
  s_.SkipSpace();
  const char* start = s_.position();
  label.is_root = s_.EatWord("ROOT");
  s_.SkipSpace();
  label.at = s_.position();
  label.name = s_.PrefixedName();
  if (label.name.empty()) {
    return s_.FailHere("instruction",
                       absl::StrCat("expected an instruction `name = ...` or "
                                    "`}`, found ",
                                    s_.Found()));
  }
  if (!s_.Eat('=')) return FailLabel(start);
  CheckLabel(label);
  if (label.is_root && scope()->root != nullptr) {
    s_.Fail(start, "root",
            absl::StrCat("a computation has one ROOT; here `",
                         scope()->root->name(), "` is it already"));
    label.is_root = false;
  }
  return ParseRightHandSide(label, /*allow_attributes=*/true) != nullptr;
}

// Words of the language are no names; most need no more than a `%` to be.
void Parser::CheckLabel(const Label& label) {
  // The usual name, add.5, is none.
  if (label.name.find('.') != absl::string_view::npos) return;
  const bool is_type = ElementTypeFromName(label.name).has_value();
  if (!is_type && (*label.at == '%' || !IsReservedWord(label.name))) return;
  s_.Fail(
      label.at, "instruction-name",
      absl::StrCat("`", label.name,
                   "` is a word of HLO and cannot be a name; did you mean `",
                   is_type ? "" : "%", label.name, is_type ? "_" : "", "`?"));
}

// A name without `=`. Where it heads a computation, the one being read was
// not closed.
bool Parser::FailLabel(const char* start) {
  std::string found = s_.Found();
  const char* at = s_.position();
  s_.set_position(start);
  if (!AtComputation()) {
    return s_.Fail(at, "instruction",
                   absl::StrCat("expected `=` after the instruction's name, "
                                "found ",
                                found));
  }
  at_next_computation_ = true;
  const Computation* open = scope()->computation;
  return s_.Fail(start, "computation",
                 absl::StrCat("a computation begins here, but `", open->name(),
                              "` of line ", open->location().line,
                              " is still open: `}` is missing"));
}

Instruction* Parser::ParseRightHandSide(const Label& label,
                                        bool allow_attributes) {
  Scanner::Depth depth(&s_);
  if (!depth.ok()) return nullptr;
  Draft* draft = NewDraft();
  s_.SkipSpace();
  draft->start = s_.position();
  bool ok = true;
  if (AtShape(&s_)) {
    draft->shape = shapes_.Read(&s_);
    ok = draft->shape != nullptr;
  }
  ok = ok && ParseOpcode(draft) && ParseOperands(draft);
  if (ok) {
    draft->attributes_at = s_.position();
    ok = (!allow_attributes || ParseAttributes(draft)) &&
         CheckRequired(*draft) && CheckArity(*draft);
  }
  if (ok && !draft->uses_broken) ok = CheckInstruction(*draft);
  Instruction* result = ok ? Create(label, draft) : nullptr;
  if (result == nullptr) AddPlaceholder(label, draft->shape);
  ReleaseDraft();
  return result;
}

bool Parser::ParseOpcode(Draft* draft) {
  s_.SkipSpace();
  draft->opcode_at = s_.position();
  absl::string_view word = s_.Name();
  std::optional<Opcode> opcode = OpcodeFromName(word);
  if (opcode.has_value()) {
    draft->opcode = *opcode;
  } else {
    Opcode wrapped;
    if (!SplitAsync(word, &draft->opcode, &wrapped)) {
      s_.set_position(draft->opcode_at);
      if (word.empty() || s_.Peek() == '\0') {
        return s_.FailHere(
            "opcode", absl::StrCat("expected an opcode, found ", s_.Found()));
      }
      return s_.Fail(draft->opcode_at, "opcode",
                     absl::StrCat("unknown opcode `", word, "`",
                                  DidYouMean(word, OpcodeNames())));
    }
    draft->wrapped = wrapped;
  }
  if (draft->shape == nullptr && !ShapeMayBeOmitted(draft->opcode)) {
    return s_.Fail(draft->opcode_at, "shape",
                   absl::StrCat("`", word,
                                "` needs its shape written: it "
                                "does not follow from operands"));
  }
  return true;
}

bool Parser::ParseOperands(Draft* draft) {
  s_.SkipSpace();
  draft->operands_at = s_.position();
  if (draft->opcode == Opcode::kParameter) {
    if (!s_.Expect('(', "parameter", "before the parameter number")) {
      return false;
    }
    s_.SkipSpace();
    const char* at = s_.position();
    if (!s_.Int(&draft->parameter_number, "parameter", "a parameter number")) {
      return false;
    }
    if (draft->parameter_number < 0) {
      return s_.Fail(at, "parameter",
                     absl::StrCat("parameter number ", draft->parameter_number,
                                  " is negative"));
    }
    return s_.Expect(')', "parameter", "after the parameter number");
  }
  if (draft->opcode == Opcode::kConstant) {
    Literal literal;
    if (!s_.Expect('(', "literal", "before the literal") ||
        !ParseLiteral(&s_, *draft->shape, &fill_budget_, &literal) ||
        !s_.Expect(')', "literal", "after the literal")) {
      return false;
    }
    draft->literal = std::make_shared<const Literal>(std::move(literal));
    return true;
  }
  return ParseOperandList(draft);
}

bool Parser::ParseOperandList(Draft* draft) {
  if (!s_.Expect('(', "operands", "before the operands")) return false;
  while (true) {
    // Like XLA: a place without an operand is passed over.
    while (s_.Eat(',')) {
    }
    if (s_.Eat(')')) return true;
    Instruction* operand = ParseOperand();
    if (operand == nullptr) return false;
    draft->operands.push_back(operand);
    if (!broken_.empty() && broken_.contains(operand)) {
      draft->uses_broken = true;
    }
    // Looking for a `(` may have gone on to the next line.
    const char* end = s_.position();
    while (IsClass(end[-1], kSpaceChar)) --end;
    if (s_.Peek() == ',' || s_.Peek() == ')') continue;
    // What is missing is missing here, not where the next line begins.
    const bool line_ends = std::find(end, s_.position(), '\n') != s_.position();
    return s_.Fail(
        line_ends ? end : s_.position(), "operands",
        absl::StrCat("expected `,` or `)` after operand ",
                     draft->operands.size() - 1, ", found ",
                     line_ends ? "the end of the line" : s_.Found()));
  }
}

// [shape] [%]name, or an instruction without name and attributes.
Instruction* Parser::ParseOperand() {
  s_.SkipSpace();
  const char* start = s_.position();
  const Shape* shape = nullptr;
  // A name is the usual case; a shape begins with a parenthesis, or with a
  // word before a bracket.
  if (*start != '%' && AtShape(&s_)) {
    shape = shapes_.Read(&s_);
    if (shape == nullptr) return nullptr;
  }
  s_.SkipSpace();
  const char* at = s_.position();
  absl::string_view name = s_.PrefixedName();
  if (name.empty()) {
    if (shape != nullptr && scope()->is_lone) return LoneParameter(shape, "");
    s_.FailHere("operands",
                absl::StrCat("expected an operand's name, found ", s_.Found()));
    return nullptr;
  }
  if (*at != '%' && s_.Peek() == '(') {
    s_.set_position(start);
    return ParseRightHandSide(Label{absl::string_view(), start, false},
                              /*allow_attributes=*/false);
  }
  Instruction* operand = scope()->names.Find(name);
  if (operand == nullptr) {
    if (!scope()->is_lone) return FindOperand(name, at);
    if (shape != nullptr) return LoneParameter(shape, name);
    s_.Fail(at, "operand-shape",
            absl::StrCat("the operand `", name,
                         "` of a lone instruction needs its shape written"));
    return nullptr;
  }
  if (shape != nullptr && shape != &operand->shape() &&
      !SameUpToDynamic(*shape, operand->shape()) &&
      !broken_.contains(operand)) {
    s_.Fail(start, "operand-shape",
            absl::StrCat("the operand `", name, "` is written as ",
                         shape->ToString(), " but is ",
                         operand->shape().ToString()));
    return nullptr;
  }
  return operand;
}

// Reports a name that is not in scope.
Instruction* Parser::FindOperand(absl::string_view name, const char* at) {
  std::vector<absl::string_view> names;
  for (const Instruction* i : scope()->computation->instructions()) {
    names.push_back(i->name());
  }
  int32_t later = LaterDefinition(name, at, "=");
  s_.Fail(at, "operand-name",
          absl::StrCat("there is no instruction `", name,
                       "` before this one in its computation",
                       later > 0 ? absl::StrCat("; line ", later,
                                                " defines it, and operands "
                                                "come before their users")
                                 : DidYouMean(name, names)));
  return nullptr;
}

Instruction* Parser::LoneParameter(const Shape* shape, absl::string_view name) {
  Scope* sc = scope();
  Instruction* p = sc->computation->AddRaw(Opcode::kParameter, shape, name);
  p->set_parameter_number(static_cast<int64_t>(sc->parameters.size()));
  sc->parameters.push_back(p);
  if (name.empty()) {
    sc->anonymous.push_back(p);
  } else {
    sc->names.Insert(p);
  }
  return p;
}

bool Parser::CheckArity(const Draft& draft) {
  // Asynchronous sugar has the operands of what it wraps.
  Opcode opcode =
      draft.wrapped.has_value() && draft.opcode == Opcode::kAsyncStart
          ? *draft.wrapped
          : draft.opcode;
  int64_t arity = Info(opcode).arity;
  int64_t count = static_cast<int64_t>(draft.operands.size());
  if (arity == kVariadic || arity == count) return true;
  return s_.Fail(
      draft.operands_at, "operand-count",
      absl::StrCat("`", Name(opcode), "` takes ", arity,
                   arity == 1 ? " operand" : " operands", ", found ", count));
}

bool Parser::ParseAttributes(Draft* draft) {
  while (s_.Eat(',')) {
    if (!ParseAttribute(draft)) return false;
  }
  // An attribute right behind the last one: a forgotten comma. (On the next
  // line it would be an instruction.)
  const char* p = s_.position();
  if (!IsClass(*p, kNameStartChar)) return true;
  for (const char* q = p; q > s_.begin() && IsClass(q[-1], kSpaceChar); --q) {
    if (q[-1] == '\n') return true;
  }
  absl::string_view name = s_.Name();
  bool is_attribute =
      *s_.position() == '=' && FindRule(*draft, name) != nullptr;
  s_.set_position(p);
  return !is_attribute ||
         s_.Fail(
             p, "attribute",
             absl::StrCat("expected `,` before the attribute `", name, "`"));
}

bool Parser::ParseAttribute(Draft* draft) {
  s_.SkipSpace();
  const char* at = s_.position();
  absl::string_view name = s_.Name();
  const AttrRule* rule = FindRule(*draft, name);
  size_t bit = kControlPredecessorsBit;
  if (rule != nullptr) {
    bit = static_cast<size_t>(rule->id);
  } else if (name == "order" && draft->opcode == Opcode::kCompare) {
    return ParseOrder(draft, at);
  } else if (name != kControlPredecessors) {
    return FailAttributeName(*draft, at, name);
  }
  if (draft->seen[bit]) {
    return s_.Fail(at, "attribute-twice",
                   absl::StrCat("attribute `", name, "` is given twice"));
  }
  draft->seen[bit] = true;
  if (!s_.Expect('=', "attribute", "after the attribute's name")) return false;
  if (rule == nullptr) return ParseControlPredecessors(draft);
  s_.SkipSpace();
  draft->attribute_at.push_back(s_.position());
  Attribute& attribute = draft->attributes.emplace_back();
  attribute.id = rule->id;
  return ParseValue(rule->id, &attribute.value);
}

// Newer dumps write order=TOTAL for what is otherwise type=TOTALORDER (and
// for integers goes without saying).
bool Parser::ParseOrder(Draft* draft, const char* at) {
  if (!s_.Expect('=', "order", "after the attribute's name")) return false;
  if (s_.EatWord("PARTIAL")) return true;
  if (!s_.EatWord("TOTAL")) {
    return s_.FailHere("order", absl::StrCat("expected TOTAL or PARTIAL, "
                                             "found ",
                                             s_.Found()));
  }
  if (draft->operands.empty() || !IsFloat(draft->operands[0]->shape().type())) {
    return true;
  }
  size_t bit = static_cast<size_t>(AttrId::kComparisonType);
  if (draft->seen[bit]) {
    return s_.Fail(at, "attribute-twice",
                   "`order` and `type` say the same; only one may be given");
  }
  draft->seen[bit] = true;
  draft->attribute_at.push_back(at);
  draft->attributes.push_back(
      Attribute{AttrId::kComparisonType,
                EnumValue{static_cast<int32_t>(ComparisonOrder::kTotalOrder)}});
  return true;
}

bool Parser::FailAttributeName(const Draft& draft, const char* at,
                               absl::string_view name) {
  if (name.empty()) {
    s_.set_position(at);
    return s_.Fail(at, "attribute",
                   absl::StrCat("expected an attribute `name=value` after "
                                "`,`, found ",
                                s_.Found()));
  }
  std::vector<absl::string_view> own;
  std::vector<absl::string_view> all;
  Opcode opcode = draft.wrapped.value_or(draft.opcode);
  for (const AttrRule& r : AttrRules(opcode)) all.push_back(Name(r.id));
  own.assign(all.begin(), all.end() - CommonAttrRules().size());
  all.push_back(kControlPredecessors);
  std::string takes = own.empty()
                          ? "takes no attributes of its own"
                          : absl::StrCat("takes ", absl::StrJoin(own, ", "));
  std::string meant = DidYouMean(name, all);
  return s_.Fail(
      at, "attribute-name",
      absl::StrCat("unknown attribute `", name, "`",
                   meant.empty() ? ";" : meant, " `", Name(opcode), "` ", takes,
                   " (and, as all do, sharding, metadata, "
                   "backend_config ...)"));
}

bool Parser::CheckRequired(const Draft& draft) {
  auto check = [&](Opcode opcode) {
    for (const AttrRule& rule : AttrRules(opcode)) {
      if (!rule.required || draft.seen[static_cast<size_t>(rule.id)]) continue;
      // Sugar has no computation to call: it makes one.
      if (draft.wrapped.has_value() && rule.id == AttrId::kCalls &&
          opcode == Opcode::kAsyncStart) {
        continue;
      }
      return s_.Fail(draft.attributes_at, "attribute-missing",
                     absl::StrCat("`", Name(opcode), "` needs the attribute `",
                                  Name(rule.id), "`"));
    }
    return true;
  };
  if (draft.wrapped.has_value() && draft.opcode == Opcode::kAsyncStart &&
      !check(*draft.wrapped)) {
    return false;
  }
  return check(draft.opcode);
}

bool Parser::ParseControlPredecessors(Draft* draft) {
  if (!s_.Expect('{', kControlPredecessors, "before the names")) return false;
  if (s_.Eat('}')) return true;
  do {
    s_.SkipSpace();
    const char* at = s_.position();
    absl::string_view name = s_.PrefixedName();
    Instruction* i = scope()->names.Find(name);
    if (i == nullptr) {
      FindOperand(name, at);
      return false;
    }
    draft->control_predecessors.push_back(i);
  } while (s_.Eat(','));
  return s_.Expect('}', kControlPredecessors, "after the names");
}

Instruction* Parser::Create(const Label& label, Draft* draft) {
  if (draft->wrapped.has_value() && draft->opcode == Opcode::kAsyncStart &&
      !Wrap(draft)) {
    return nullptr;
  }
  Scope* sc = scope();
  // A shape that is still missing needs the instruction to be inferred from.
  const Shape* shape = draft->shape;
  if (shape == nullptr) shape = module_->Intern(Shape());
  Instruction* i = sc->computation->AddRaw(draft->opcode, shape, label.name);
  i->set_location(s_.Locate(label.at));
  for (Instruction* operand : draft->operands) i->AddOperand(operand);
  if (!draft->attributes.empty()) i->TakeAttributes(&draft->attributes);
  for (Instruction* p : draft->control_predecessors) {
    i->AddControlPredecessor(p);
  }
  if (draft->opcode == Opcode::kParameter) {
    i->set_parameter_number(draft->parameter_number);
    sc->parameters.push_back(i);
  } else if (draft->literal != nullptr) {
    i->set_literal(std::move(draft->literal));
  }
  if (label.is_root) sc->root = i;
  if (label.name.empty()) {
    sc->anonymous.push_back(i);
  } else if (!sc->names.Insert(i)) {
    s_.Fail(label.at, "instruction-name",
            absl::StrCat("the name `", label.name,
                         "` is taken by an instruction at line ",
                         sc->names.Find(label.name)->location().line));
    broken_.insert(i);
    return i;
  }
  if (draft->shape == nullptr) {
    if (!GiveShape(i, *draft)) broken_.insert(i);
  } else if (WrittenShapeIsIgnored(draft->opcode) && !draft->uses_broken) {
    const absl::StatusOr<Shape> inferred = InferShape(*i);
    if (inferred.ok()) i->set_shape(*inferred);
  }
  return i;
}

namespace {

// Where the text leaves the shape to XLA, a transpose renames the dimensions
// of the buffer as it lies.
void TransposeLayout(const Instruction& transpose, Shape* shape) {
  const Shape& from = transpose.operand(0)->shape();
  const Ints permutation = transpose.dimensions();
  Layout layout;
  if (from.has_layout()) {
    layout = from.layout();
  } else {
    layout.minor_to_major = DescendingLayout(from.rank());
  }
  for (int64_t& d : layout.minor_to_major) {
    d = std::find(permutation.begin(), permutation.end(), d) -
        permutation.begin();
  }
  if (from.has_layout() ||
      layout.minor_to_major != DescendingLayout(from.rank())) {
    shape->set_layout(std::move(layout));
  }
}

}  // namespace

bool Parser::GiveShape(Instruction* instruction, const Draft& draft) {
  // What follows from something unreadable is not worth a message.
  if (draft.uses_broken) return false;
  if (!broken_computations_.empty()) {
    for (const Computation* c : instruction->called_computations()) {
      if (broken_computations_.contains(c)) return false;
    }
  }
  absl::StatusOr<Shape> shape = InferShape(*instruction);
  if (shape.ok()) {
    if (draft.opcode == Opcode::kTranspose) {
      TransposeLayout(*instruction, &*shape);
    }
    instruction->set_shape(*shape);
    return true;
  }
  return s_.Fail(draft.opcode_at, "infer-shape",
                 absl::StrCat("the shape of `", Name(draft.opcode),
                              "` does not follow from its operands: ",
                              shape.status().message()));
}

void Parser::AddPlaceholder(const Label& label, const Shape* shape) {
  if (label.name.empty() || scope()->names.Find(label.name) != nullptr) return;
  Scope* sc = scope();
  Instruction* i = sc->computation->AddRaw(
      Opcode::kTuple, shape == nullptr ? module_->Intern(Shape()) : shape,
      label.name);
  i->set_location(s_.Locate(label.at));
  sc->names.Insert(i);
  if (label.is_root) sc->root = i;
  broken_.insert(i);
}

}  // namespace ridge
