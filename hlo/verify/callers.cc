// Instructions that call computations, and asynchronous chains.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "hlo/verify/raw_fields.h"
#include "hlo/verify/rules.h"

namespace ridge::verify {
namespace {

// ---- Execution threads -----------------------------------------------------

void CheckThread(const Instruction& i, Context* context) {
  const absl::string_view own = ThreadName(i.parent()->execution_thread());
  for (const Computation* callee : i.called_computations()) {
    const absl::string_view thread = ThreadName(callee->execution_thread());
    if (thread == own) continue;
    context->Fail(i, "execution-thread", Name(i.opcode()),
                  " expects parent computation thread name same as called "
                  "computation's thread name, found ",
                  own, " and ", thread, " of ", callee->name());
    return;
  }
}

void CheckAsyncThread(const Instruction& i, Context* context) {
  const absl::string_view wanted =
      ThreadName(i.text(AttrId::kAsyncExecutionThread));
  const Computation* callee = i.calls();
  if (callee == nullptr) return;
  const absl::string_view thread = ThreadName(callee->execution_thread());
  if (thread != wanted) {
    context->Fail(i, "execution-thread", "async_execution_thread is ", wanted,
                  ", but that of the computation ", callee->name(), " is ",
                  thread);
  }
}

// ---- Shardings of control flow ---------------------------------------------

std::string WithoutSpaces(absl::string_view text) {
  std::string result;
  for (char c : text) {
    if (!absl::ascii_isspace(c)) result += c;
  }
  return result;
}

void CheckSharding(const Instruction& i,
                   absl::Span<const Instruction* const> related,
                   Context* context) {
  const Instruction* first = nullptr;
  for (const Instruction* r : related) {
    if (!r->has(AttrId::kSharding)) continue;
    if (first == nullptr) {
      first = r;
      continue;
    }
    const absl::string_view a = first->text(AttrId::kSharding);
    const absl::string_view b = r->text(AttrId::kSharding);
    if (a == b || WithoutSpaces(a) == WithoutSpaces(b)) continue;
    context->Fail(i, "sharding", "inconsistent ", Name(i.opcode()),
                  " sharding among instructions: ", a, " of ", first->name(),
                  " and ", b, " of ", r->name());
    return;
  }
}

// ---- Composite calls -------------------------------------------------------

void CheckComposite(const Instruction& i, Context* context) {
  const absl::string_view text = i.text(AttrId::kFrontendAttributes);
  if (text.empty()) {
    context->Fail(i, "composite",
                  "a composite call op must have frontend attributes");
    return;
  }
  const absl::StatusOr<std::vector<RawField>> fields = ParseRawFields(text);
  if (!fields.ok()) return;  // the parser's business
  bool named = false;
  for (const RawField& field : *fields) {
    int64_t version = 0;
    if (field.key == "composite.name") named = !field.value.empty();
    if (field.key == "composite.attributes" && field.value.empty()) {
      context->Fail(i, "composite",
                    "composite.attributes must not be empty ({} at least)");
    }
    if (field.key == "composite.version" &&
        (!absl::SimpleAtoi(field.value, &version) || version < 0)) {
      context->Fail(i, "composite",
                    "composite.version must be a non-negative integer, found ",
                    field.value);
    }
  }
  if (!named) {
    context->Fail(i, "composite",
                  "a composite call op must have frontend attributes with key "
                  "composite.name whose value is non-empty");
  }
}

// ---- Asynchronous pairs ----------------------------------------------------

struct PairRule {
  Opcode opcode;
  // Opcodes that may use, or be the operand of, `opcode`; the second may equal
  // the first.
  bool is_start;
  Opcode partner;
  Opcode other_partner;
};

constexpr PairRule kPairRules[] = {
    {Opcode::kAsyncStart, true, Opcode::kAsyncUpdate, Opcode::kAsyncDone},
    {Opcode::kAsyncUpdate, true, Opcode::kAsyncUpdate, Opcode::kAsyncDone},
    {Opcode::kAsyncUpdate, false, Opcode::kAsyncStart, Opcode::kAsyncUpdate},
    {Opcode::kAsyncDone, false, Opcode::kAsyncStart, Opcode::kAsyncUpdate},
    {Opcode::kAllReduceStart, true, Opcode::kAllReduceDone,
     Opcode::kAllReduceDone},
    {Opcode::kAllReduceDone, false, Opcode::kAllReduceStart,
     Opcode::kAllReduceStart},
    {Opcode::kCollectivePermuteStart, true, Opcode::kCollectivePermuteDone,
     Opcode::kCollectivePermuteDone},
    {Opcode::kCollectivePermuteDone, false, Opcode::kCollectivePermuteStart,
     Opcode::kCollectivePermuteStart},
    {Opcode::kCopyStart, true, Opcode::kCopyDone, Opcode::kCopyDone},
    {Opcode::kCopyDone, false, Opcode::kCopyStart, Opcode::kCopyStart},
    // A tuple may carry them into the next iteration of a loop.
    {Opcode::kSend, true, Opcode::kSendDone, Opcode::kTuple},
    {Opcode::kRecv, true, Opcode::kRecvDone, Opcode::kTuple},
    {Opcode::kSendDone, false, Opcode::kSend, Opcode::kGetTupleElement},
    {Opcode::kRecvDone, false, Opcode::kRecv, Opcode::kGetTupleElement},
};

std::string PartnerNames(const PairRule& rule) {
  std::string names(Name(rule.partner));
  if (rule.other_partner != rule.partner) {
    absl::StrAppend(&names, " or ", Name(rule.other_partner));
  }
  return names;
}

bool IsPartner(const PairRule& rule, Opcode opcode) {
  return opcode == rule.partner || opcode == rule.other_partner;
}

void CheckConsumer(const Instruction& i, const PairRule& rule,
                   Context* context) {
  const bool transfer =
      i.opcode() == Opcode::kSend || i.opcode() == Opcode::kRecv;
  // Wrapped in an asynchronous call they are done where that is.
  if (transfer && context->IsAsync(*i.parent())) return;
  const std::vector<Instruction*> users = i.users();
  if (users.size() != 1) {
    context->Fail(i, "async-pair", "the ", Name(i.opcode()),
                  " instruction requires one consumer, found ", users.size());
  } else if (!IsPartner(rule, users[0]->opcode())) {
    context->Fail(i, "async-pair", "the consumer of a ", Name(i.opcode()),
                  " instruction needs to be ", PartnerNames(rule), ", found ",
                  Name(users[0]->opcode()));
  }
}

void CheckChain(const Instruction& i, Context* context) {
  const Instruction* before = i.operand(0);
  const Computation* calls = i.calls();
  if (calls != nullptr && before->calls() != nullptr &&
      calls != before->calls()) {
    context->Fail(i, "async-pair", Name(i.opcode()),
                  " expects the computation of its operand, ",
                  before->calls()->name(), ", found ", calls->name());
  }
}

}  // namespace

void CheckCaller(const Instruction& i, Context* context) {
  switch (i.opcode()) {
    case Opcode::kWhile: {
      CheckThread(i, context);
      const Computation* body = i.computation(AttrId::kBody);
      const Computation* condition = i.computation(AttrId::kCondition);
      CheckSharding(
          i, {&i, body->root(), body->parameter(0), condition->parameter(0)},
          context);
      break;
    }
    case Opcode::kConditional: {
      CheckThread(i, context);
      std::vector<const Instruction*> related = {&i};
      for (const Computation* branch : i.branches()) {
        related.push_back(branch->root());
      }
      CheckSharding(i, related, context);
      break;
    }
    case Opcode::kCall:
      CheckThread(i, context);
      if (i.bool_attr(AttrId::kIsComposite)) CheckComposite(i, context);
      break;
    case Opcode::kAsyncStart:
      CheckAsyncThread(i, context);
      break;
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
      CheckChain(i, context);
      break;
    default:
      if (i.has(AttrId::kToApply) || i.has(AttrId::kCalls) ||
          i.has(AttrId::kCalledComputations)) {
        CheckThread(i, context);
      }
      break;
  }
}

void CheckAsyncPair(const Instruction& i, Context* context) {
  const OpClass op_class = Info(i.opcode()).op_class;
  if (op_class != OpClass::kAsync && op_class != OpClass::kCollective &&
      op_class != OpClass::kHost) {
    return;
  }
  for (const PairRule& rule : kPairRules) {
    if (rule.opcode != i.opcode()) continue;
    if (rule.is_start) {
      CheckConsumer(i, rule, context);
    } else if (!IsPartner(rule, i.operand(0)->opcode())) {
      context->Fail(i, "async-pair", "the operand of a ", Name(i.opcode()),
                    " instruction needs to be ", PartnerNames(rule), ", found ",
                    Name(i.operand(0)->opcode()));
    }
  }
}

}  // namespace ridge::verify
