// The graph itself: names, roots, parameters, order, who calls whom.
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "hlo/text/hash.h"
#include "hlo/verify/rules.h"

namespace ridge::verify {
namespace {

constexpr int64_t kMaxRank = 64;

int64_t MaxRank(const Shape& shape) {
  int64_t rank = shape.rank();
  for (const Shape& t : shape.tuple_shapes()) {
    rank = std::max(rank, MaxRank(t));
  }
  return rank;
}

// Control edges may run against the order of the text, if not in a circle:
// Kahn's algorithm over operands and control edges. `position` is by
// instruction id.
void CheckControlCycle(const Computation& c,
                       const std::vector<int32_t>& position, Context* context) {
  const size_t count = static_cast<size_t>(c.instruction_count());
  std::vector<int32_t> waiting(count, 0);
  std::vector<std::vector<const Instruction*>> successors(count);
  std::vector<const Instruction*> ready;
  for (const Instruction* i : c.instructions()) {
    const auto add = [&](const Instruction* before) {
      if (before->parent() != &c) return;
      successors[position[before->id()]].push_back(i);
      ++waiting[position[i->id()]];
    };
    for (const Instruction* operand : i->operands()) add(operand);
    for (const Instruction* p : i->control_predecessors()) add(p);
    if (waiting[position[i->id()]] == 0) ready.push_back(i);
  }
  size_t done = 0;
  while (!ready.empty()) {
    const Instruction* i = ready.back();
    ready.pop_back();
    ++done;
    for (const Instruction* s : successors[position[i->id()]]) {
      if (--waiting[position[s->id()]] == 0) ready.push_back(s);
    }
  }
  if (done == count) return;
  for (const Instruction* i : c.instructions()) {
    if (waiting[position[i->id()]] == 0) continue;
    context->Fail(*i, "control-cycle",
                  "control predecessors and operands form a cycle through ",
                  i->name());
    return;
  }
}

// Names are many; this is less than what Abseil computes.
struct TextHash {
  size_t operator()(absl::string_view text) const { return HashText(text); }
};

// What one walk over the instructions of a computation can tell. The module
// is large and its instructions lie apart, so that walks are what time goes
// into.
class ComputationCheck {
 public:
  explicit ComputationCheck(Context* context)
      : context_(context),
        position_(static_cast<size_t>(context->module().id_bound()), -1) {}

  void Run(const Computation& c) {
    names_.clear();
    names_.reserve(static_cast<size_t>(c.instruction_count()));
    parameters_ = 0;
    control_cycle_possible_ = false;
    int32_t next = 0;
    for (const Instruction* i : c.instructions()) {
      context_->Note(*i);
      CheckName(*i, c);
      CheckOrder(*i, c);
      if (i->opcode() == Opcode::kParameter) CheckParameter(*i, c);
      position_[i->id()] = next++;
    }
    if (control_cycle_possible_) CheckControlCycle(c, position_, context_);
    for (size_t n = 0; n < c.parameters().size(); ++n) {
      if (c.parameters()[n] != nullptr) continue;
      context_->Fail(c, "parameter-number", "parameters are numbered 0 to ",
                     parameters_ - 1, " without gaps; number ", n,
                     " is missing");
      return;
    }
  }

 private:
  void CheckName(const Instruction& i, const Computation& c) {
    if (!names_.insert(i.name()).second) {
      context_->Fail(i, "unique-name", "the name ", i.name(),
                     " appears twice in ", c.name());
    }
    const int64_t rank = MaxRank(i.shape());
    if (rank > kMaxRank) {
      context_->Fail(i, "rank", "shapes have at most ", kMaxRank,
                     " dimensions, found ", rank);
    }
  }

  // Operands and control predecessors lie in the computation; operands come
  // first: what came before has a position.
  void CheckOrder(const Instruction& i, const Computation& c) {
    for (const Instruction* operand : i.operands()) {
      if (operand->parent() != &c) {
        context_->Fail(i, "operand-computation", "operand ", operand->name(),
                       " is in computation ", operand->parent()->name(),
                       ", not in ", c.name());
      } else if (position_[operand->id()] < 0) {
        context_->Fail(i, "operand-order", "operand ", operand->name(),
                       " must come before its user");
      }
    }
    for (const Instruction* p : i.control_predecessors()) {
      if (p->parent() != &c) {
        context_->Fail(i, "control-predecessor", "control predecessor ",
                       p->name(), " is in another computation");
      } else if (position_[p->id()] < 0) {
        if (context_->module().is_scheduled()) {
          context_->Fail(i, "schedule", "control predecessor ", p->name(),
                         " must come first in the schedule (the order of the "
                         "text)");
        }
        control_cycle_possible_ = true;
      }
    }
  }

  void CheckParameter(const Instruction& i, const Computation& c) {
    ++parameters_;
    const int64_t n = i.parameter_number();
    if (n < 0 || n >= static_cast<int64_t>(c.parameters().size()) ||
        c.parameter(n) != &i) {
      context_->Fail(i, "parameter-number", "parameter number ", n,
                     " appears twice in ", c.name());
    }
  }

  Context* context_;
  std::vector<int32_t> position_;  // by instruction id; -1 before its turn
  absl::flat_hash_set<absl::string_view, TextHash> names_;
  int64_t parameters_ = 0;
  bool control_cycle_possible_ = false;
};

// The callees of a computation come before it, which also rules out recursion.
void CheckCallOrder(Context* context) {
  absl::flat_hash_map<const Computation*, int32_t> index;
  int32_t next = 0;
  for (const Computation* c : context->module().computations()) {
    index[c] = next++;
  }
  // As a rule all is well, which the list of callers tells without a walk.
  // (Computations without a root were not walked, and are errors already.)
  bool ordered = true;
  size_t callees = 0;
  for (const Computation* c : context->module().computations()) {
    const auto* callers = context->Callers(*c);
    if (callers == nullptr) continue;
    ++callees;
    for (const Instruction* caller : *callers) {
      ordered = ordered && index[c] < index[caller->parent()];
    }
  }
  if (ordered && callees == context->callee_count()) return;
  for (const Computation* c : context->module().computations()) {
    for (const Instruction* i : c->instructions()) {
      for (const Attribute& a : i->attributes()) {
        const AttrKind kind = Info(a.id).kind;
        if (kind != AttrKind::kComputation &&
            kind != AttrKind::kComputationList) {
          continue;
        }
        for (const Computation* callee : i->called_computations()) {
          if (callee == nullptr) continue;
          auto it = index.find(callee);
          if (it == index.end()) {
            context->Fail(*i, "callee", "calls computation ", callee->name(),
                          ", which is not in the module");
          } else if (it->second >= index[c]) {
            context->Fail(*i, "callee", "computation ", callee->name(),
                          " must come before its caller ", c->name(),
                          " (calls may not be recursive)");
          }
        }
        break;  // called_computations covers all attributes
      }
    }
  }
}

}  // namespace

void CheckModuleStructure(Context* context) {
  const Module& module = context->module();
  if (module.entry() == nullptr) {
    context->FailModule("entry", "the module has no entry computation");
    return;
  }
  absl::flat_hash_set<absl::string_view> names;
  ComputationCheck check(context);
  for (const Computation* c : module.computations()) {
    if (!names.insert(c->name()).second) {
      context->Fail(*c, "unique-name", "the computation name ", c->name(),
                    " appears twice");
    }
    if (c->root() == nullptr || c->root()->parent() != c) {
      context->Fail(*c, "root", "the computation needs one root of its own");
      continue;
    }
    check.Run(*c);
  }
  CheckCallOrder(context);
}

void CheckComputation(const Computation& c, Context* context) {
  const auto* callers = context->Callers(c);
  if (callers == nullptr) return;
  if (c.IsEntry()) {
    context->Fail(*(*callers)[0], "entry", "the entry computation ", c.name(),
                  " cannot be called");
  }
  if ((*callers)[0]->opcode() == Opcode::kAsyncStart) {
    int64_t operations = 0;
    bool only_send_recv = true;
    for (const Instruction* i : c.instructions()) {
      const Opcode op = i->opcode();
      if (op == Opcode::kParameter) continue;
      ++operations;
      only_send_recv = only_send_recv &&
                       (op == Opcode::kSend || op == Opcode::kRecv ||
                        op == Opcode::kSendDone || op == Opcode::kRecvDone ||
                        op == Opcode::kTuple || op == Opcode::kGetTupleElement);
    }
    // A group of sends and receives may start as one.
    if (operations > 1 && !only_send_recv) {
      context->Fail(c, "async-computation",
                    "an asynchronous computation is expected to contain only "
                    "the root and parameter instructions, found ",
                    operations - 1, " more");
    }
  }
}

void CheckFusedComputation(const Computation& c, Context* context) {
  const auto& callers = *context->Callers(c);
  for (const Instruction* caller : callers) {
    if (caller != callers[0]) {
      context->Fail(*caller, "fusion-caller", "the fused computation ",
                    c.name(), " is already that of ", callers[0]->name());
    }
  }
}

}  // namespace ridge::verify
