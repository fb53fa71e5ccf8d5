// <op>-start, <op>-update and <op>-done: sugar for async-start and its like
// around a computation that holds just <op>.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/text/parser_impl.h"

namespace ridge {
namespace {

constexpr absl::string_view kMainThread = "main";

const Instruction* AsyncStartOf(const Instruction* i) {
  while (i->opcode() == Opcode::kAsyncUpdate && i->operand_count() == 1) {
    i = i->operand(0);
  }
  return i->opcode() == Opcode::kAsyncStart ? i : nullptr;
}

bool IsCommon(AttrId id) {
  for (const AttrRule& rule : CommonAttrRules()) {
    if (rule.id == id) return true;
  }
  return false;
}

absl::string_view ThreadOf(const Instruction& start) {
  absl::string_view thread = start.text(AttrId::kAsyncExecutionThread);
  return thread.empty() ? kMainThread : thread;
}

}  // namespace

bool Parser::SplitAsync(absl::string_view word, Opcode* opcode,
                        Opcode* wrapped) {
  if (absl::ConsumeSuffix(&word, "-start")) {
    *opcode = Opcode::kAsyncStart;
  } else if (absl::ConsumeSuffix(&word, "-update")) {
    *opcode = Opcode::kAsyncUpdate;
  } else if (absl::ConsumeSuffix(&word, "-done")) {
    *opcode = Opcode::kAsyncDone;
  } else {
    return false;
  }
  std::optional<Opcode> found = OpcodeFromName(word);
  if (!found.has_value() || !HasAsyncSugar(*found)) return false;
  *wrapped = *found;
  return true;
}

const AttrRule* Parser::FindRule(const Draft& draft,
                                 absl::string_view name) const {
  if (!draft.wrapped.has_value()) return FindAttrRule(draft.opcode, name);
  if (draft.opcode == Opcode::kAsyncStart) {
    const AttrRule* own = FindAttrRule(*draft.wrapped, name);
    if (own != nullptr) return own;
  }
  const AttrRule* rule = FindAttrRule(draft.opcode, name);
  return rule != nullptr && rule->id == AttrId::kCalls ? nullptr : rule;
}

// Builds the wrapped computation and leaves in the draft what belongs to
// async-start.
bool Parser::Wrap(Draft* draft) {
  if (!CheckAsync(*draft)) return false;
  const Shape* result = module_->Intern(draft->shape->tuple_shape(1));
  Computation* body = module_->AddComputationRaw("");
  anonymous_computations_.push_back(body);
  body->set_async_sugar(true);
  SourceLocation location = s_.Locate(draft->opcode_at);
  body->set_location(location);
  Scope* inner = OpenScope(body);
  for (Instruction* operand : draft->operands) {
    Instruction* p = body->AddRaw(Opcode::kParameter, &operand->shape(), "");
    p->set_location(location);
    p->set_parameter_number(static_cast<int64_t>(inner->parameters.size()));
    inner->parameters.push_back(p);
    inner->anonymous.push_back(p);
  }
  Instruction* root = body->AddRaw(*draft->wrapped, result, "");
  root->set_location(location);
  inner->anonymous.push_back(root);
  for (Instruction* p : inner->parameters) root->AddOperand(p);
  std::vector<Attribute> outer_attributes;
  std::vector<Attribute> inner_attributes;
  for (Attribute& a : draft->attributes) {
    if (IsCommon(a.id)) {
      // XLA gives both operations all of these but the sharding.
      if (a.id != AttrId::kSharding) inner_attributes.push_back(a);
      outer_attributes.push_back(std::move(a));
    } else if (FindAttrRule(*draft->wrapped, a.id) != nullptr) {
      inner_attributes.push_back(std::move(a));
    } else {
      if (a.id == AttrId::kAsyncExecutionThread) {
        body->set_execution_thread(std::get<absl::string_view>(a.value));
      }
      outer_attributes.push_back(std::move(a));
    }
  }
  root->TakeAttributes(&inner_attributes);
  bool ok = CloseScope(inner, draft->start);
  ReleaseScope();
  if (!ok) return false;
  outer_attributes.push_back(Attribute{AttrId::kCalls, body});
  draft->attributes = std::move(outer_attributes);
  return true;
}

bool Parser::CheckAsync(const Draft& draft) {
  constexpr absl::string_view kRule = "async";
  if (draft.opcode == Opcode::kAsyncStart) {
    const Shape& shape = *draft.shape;
    if (shape.IsTuple() && shape.tuple_shapes().size() >= 2 &&
        shape.tuple_shape(0).IsTuple()) {
      return true;
    }
    return s_.Fail(draft.start, kRule,
                   absl::StrCat("the shape of an async-start is ((operands), "
                                "output, state ...), found ",
                                shape.ToString()));
  }
  const Instruction* operand = draft.operands[0];
  const Instruction* start = AsyncStartOf(operand);
  // An operand that is not asynchronous is for the verifier to report.
  if (start == nullptr) return true;
  if (draft.opcode == Opcode::kAsyncUpdate &&
      !SameUpToDynamic(*draft.shape, operand->shape())) {
    return s_.Fail(
        draft.start, kRule,
        absl::StrCat("an async-update has the shape of its operand, ",
                     operand->shape().ToString(), ", found ",
                     draft.shape->ToString()));
  }
  const Computation* body = start->calls();
  if (draft.wrapped.has_value() && body != nullptr && body->root() != nullptr &&
      body->root()->opcode() != *draft.wrapped) {
    return s_.Fail(draft.opcode_at, kRule,
                   absl::StrCat("the operation was started as `",
                                Name(body->root()->opcode()), "`, not as `",
                                Name(*draft.wrapped), "`"));
  }
  if (const AttrValue* thread = draft.Find(AttrId::kAsyncExecutionThread);
      thread != nullptr &&
      std::get<absl::string_view>(*thread) != ThreadOf(*start)) {
    return s_.Fail(draft.At(AttrId::kAsyncExecutionThread), kRule,
                   absl::StrCat("the operation was started on thread `",
                                ThreadOf(*start), "`"));
  }
  if (const AttrValue* calls = draft.Find(AttrId::kCalls);
      calls != nullptr && std::get<Computation*>(*calls) != body) {
    return s_.Fail(draft.At(AttrId::kCalls), kRule,
                   absl::StrCat("the operation was started with computation `",
                                body->name(), "`"));
  }
  return true;
}

}  // namespace ridge
