// The graph itself: names, roots, parameters, order, who calls whom.
#include <utility>

#include "absl/container/flat_hash_set.h"
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

// Every operand and control predecessor of `c` lies in `c`; operands come
// first. Positions are by instruction id.
void CheckOrder(const Computation& c, std::vector<int32_t>* position,
                Context* context) {
  int32_t next = 0;
  for (const Instruction* i : c.instructions()) (*position)[i->id()] = next++;
  bool control_cycle_possible = false;
  for (const Instruction* i : c.instructions()) {
    for (const Instruction* operand : i->operands()) {
      if (operand->parent() != &c) {
        context->Fail(*i, "operand-computation", "operand ", operand->name(),
                      " is in computation ", operand->parent()->name(),
                      ", not in ", c.name());
      } else if ((*position)[operand->id()] >= (*position)[i->id()]) {
        context->Fail(*i, "operand-order", "operand ", operand->name(),
                      " must come before its user");
      }
    }
    for (const Instruction* p : i->control_predecessors()) {
      if (p->parent() != &c) {
        context->Fail(*i, "control-predecessor", "control predecessor ",
                      p->name(), " is in another computation");
      } else if ((*position)[p->id()] >= (*position)[i->id()]) {
        if (context->module().is_scheduled()) {
          context->Fail(*i, "schedule", "control predecessor ", p->name(),
                        " must come first in the schedule (the order of the "
                        "text)");
        }
        control_cycle_possible = true;
      }
    }
  }
  if (!control_cycle_possible) return;
  // Kahn's algorithm over operands and control edges.
  std::vector<int32_t> waiting(next, 0);
  std::vector<std::vector<const Instruction*>> successors(next);
  std::vector<const Instruction*> ready;
  for (const Instruction* i : c.instructions()) {
    const auto add = [&](const Instruction* before) {
      if (before->parent() != &c) return;
      successors[(*position)[before->id()]].push_back(i);
      ++waiting[(*position)[i->id()]];
    };
    for (const Instruction* operand : i->operands()) add(operand);
    for (const Instruction* p : i->control_predecessors()) add(p);
    if (waiting[(*position)[i->id()]] == 0) ready.push_back(i);
  }
  int32_t done = 0;
  while (!ready.empty()) {
    const Instruction* i = ready.back();
    ready.pop_back();
    ++done;
    for (const Instruction* s : successors[(*position)[i->id()]]) {
      if (--waiting[(*position)[s->id()]] == 0) ready.push_back(s);
    }
  }
  if (done == next) return;
  for (const Instruction* i : c.instructions()) {
    if (waiting[(*position)[i->id()]] == 0) continue;
    context->Fail(*i, "control-cycle",
                  "control predecessors and operands form a cycle through ",
                  i->name());
    return;
  }
}

void CheckNamesAndParameters(const Computation& c, Context* context) {
  absl::flat_hash_set<absl::string_view> names;
  names.reserve(static_cast<size_t>(c.instruction_count()));
  int64_t parameters = 0;
  for (const Instruction* i : c.instructions()) {
    if (!names.insert(i->name()).second) {
      context->Fail(*i, "unique-name", "the name ", i->name(),
                    " appears twice in ", c.name());
    }
    if (MaxRank(i->shape()) > kMaxRank) {
      context->Fail(*i, "rank", "shapes have at most ", kMaxRank,
                    " dimensions, found ", MaxRank(i->shape()));
    }
    if (i->opcode() != Opcode::kParameter) continue;
    ++parameters;
    const int64_t n = i->parameter_number();
    if (n < 0 || n >= static_cast<int64_t>(c.parameters().size()) ||
        c.parameter(n) != i) {
      context->Fail(*i, "parameter-number", "parameter number ", n,
                    " appears twice in ", c.name());
    }
  }
  for (size_t n = 0; n < c.parameters().size(); ++n) {
    if (c.parameters()[n] != nullptr) continue;
    context->Fail(c, "parameter-number", "parameters are numbered 0 to ",
                  parameters - 1, " without gaps; number ", n, " is missing");
    return;
  }
}

// The callees of a computation come before it, which also rules out recursion.
void CheckCallOrder(Context* context) {
  absl::flat_hash_map<const Computation*, int32_t> index;
  int32_t next = 0;
  for (const Computation* c : context->module().computations()) {
    index[c] = next++;
  }
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
  std::vector<int32_t> position(static_cast<size_t>(module.id_bound()), 0);
  for (const Computation* c : module.computations()) {
    if (!names.insert(c->name()).second) {
      context->Fail(*c, "unique-name", "the computation name ", c->name(),
                    " appears twice");
    }
    if (c->root() == nullptr || c->root()->parent() != c) {
      context->Fail(*c, "root", "the computation needs one root of its own");
      continue;
    }
    CheckNamesAndParameters(*c, context);
    CheckOrder(*c, &position, context);
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
