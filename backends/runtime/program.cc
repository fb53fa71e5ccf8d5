#include "backends/runtime/program.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "backends/kernel/sequential.h"
#include "backends/runtime/lifetimes.h"
#include "backends/runtime/physical.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/evaluator.h"

namespace ridge {
namespace {

// Calls are inlined: what a chain of doubling calls would grow to is refused.
constexpr int64_t kMaxSteps = 1 << 20;
constexpr int kMaxDepth = 200;

std::string Where(const Instruction& i) {
  const std::string& file = i.module()->source_file();
  return absl::StrCat(file, file.empty() ? "line " : ":", i.location().line,
                      ": ", Name(i.opcode()), " %", std::string(i.name()));
}

// What can never run on one device, whatever the back end.
absl::Status CheckRunnable(const Module& module) {
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      OpClass op_class = Info(i->opcode()).op_class;
      if (op_class == OpClass::kCollective) {
        return absl::UnimplementedError(absl::StrCat(
            Where(*i),
            ": a collective needs more than one device; the module "
            "can be planned and priced, not run"));
      }
      if (op_class == OpClass::kHost) {
        return absl::UnimplementedError(absl::StrCat(
            Where(*i), ": host transfers have no host program to talk to"));
      }
      if (!i->shape().IsStatic()) {
        return absl::UnimplementedError(
            absl::StrCat(Where(*i), ": dynamic shape ", i->shape().ToString(),
                         " cannot be allocated"));
      }
    }
  }
  return CheckEvaluable(module);  // custom calls
}

class Lowering {
 public:
  Lowering(const Module& module, const Plan& plan,
           const ProgramOptions& options, Program* program)
      : options_(options), program_(program) {
    program_->module = &module;
    for (const ComputationPlan& c : plan.computations) {
      plans_[c.computation] = &c;
    }
  }

  absl::Status Run() {
    const Computation& entry = *program_->module->entry();
    std::vector<BufferId> parameters;
    for (const Instruction* p : entry.parameters()) {
      ForEachLeaf(p->shape(), [&](const Shape& leaf, const ShapeIndex&) {
        BufferId b = NewBuffer(BufferKind::kParameter, leaf, p->name());
        program_->buffers[b].parameter_leaf =
            static_cast<int64_t>(parameters.size());
        parameters.push_back(b);
      });
    }
    RIDGE_RETURN_IF_ERROR(
        LowerComputation(entry, parameters, &program_->entry));
    program_->entry.parameters = parameters;
    PlaceTemporaries(program_);
    return absl::OkStatus();
  }

 private:
  // The values of one run of a computation.
  struct Scope {
    const Computation* computation;
    const ComputationPlan* plan;  // null: nothing there runs a kernel
    ProgramBody* body;
    absl::flat_hash_map<const Instruction*, std::vector<BufferId>> values;
    // Group that stores the value.
    absl::flat_hash_map<const Instruction*, const Group*> owner;
    absl::flat_hash_set<const Group*> done;
    // How many groups an instruction is a member of.
    absl::flat_hash_map<const Instruction*, int> member_of;
    // Parameters are this computation's to overwrite (a loop's state).
    bool owns_parameters = false;
  };

  BufferId NewBuffer(BufferKind kind, const Shape& shape,
                     absl::string_view name) {
    Buffer b;
    b.kind = kind;
    b.shape = shape;
    b.bytes = PhysicalBytes(shape);
    b.name = std::string(name);
    program_->buffers.push_back(std::move(b));
    return static_cast<BufferId>(program_->buffers.size()) - 1;
  }

  std::vector<BufferId> NewLeaves(const Instruction& i) {
    std::vector<BufferId> leaves;
    ForEachLeaf(i.shape(), [&](const Shape& leaf, const ShapeIndex&) {
      leaves.push_back(NewBuffer(BufferKind::kTemporary, leaf, i.name()));
    });
    return leaves;
  }

  absl::Status LowerComputation(const Computation& computation,
                                const std::vector<BufferId>& parameters,
                                ProgramBody* body,
                                bool owns_parameters = false) {
    if (++depth_ > kMaxDepth) {
      return absl::ResourceExhaustedError(
          absl::StrCat("computation ", std::string(computation.name()),
                       ": calls nest deeper than ", kMaxDepth));
    }
    absl::Status lowered =
        LowerInScope(computation, parameters, body, owns_parameters);
    --depth_;
    return lowered;
  }

  absl::Status LowerInScope(const Computation& computation,
                            const std::vector<BufferId>& parameters,
                            ProgramBody* body, bool owns_parameters) {
    Scope scope;
    scope.owns_parameters = owns_parameters;
    scope.computation = &computation;
    auto plan = plans_.find(&computation);
    scope.plan = plan == plans_.end() ? nullptr : plan->second;
    scope.body = body;
    size_t leaf = 0;
    for (const Instruction* p : computation.parameters()) {
      std::vector<BufferId>& mine = scope.values[p];
      ForEachLeaf(p->shape(), [&](const Shape&, const ShapeIndex&) {
        mine.push_back(parameters[leaf++]);
      });
    }
    if (scope.plan != nullptr) {
      for (const Group& g : scope.plan->groups) {
        for (const Instruction* root : g.roots) scope.owner[root] = &g;
        for (const Instruction* m : g.members) ++scope.member_of[m];
      }
      for (const Group& g : scope.plan->groups) {
        RIDGE_RETURN_IF_ERROR(EnsureGroup(g, &scope));
      }
    }
    RIDGE_RETURN_IF_ERROR(Ensure(*computation.root(), &scope));
    body->parameters = parameters;
    body->results = scope.values[computation.root()];
    return absl::OkStatus();
  }

  absl::Status EnsureGroup(const Group& group, Scope* scope) {
    for (const Instruction* input : GroupInputs(group)) {
      RIDGE_RETURN_IF_ERROR(Ensure(*input, scope));
    }
    return LowerGroup(group, scope);
  }

  // Lowers what `wanted` needs and then it, without recursion over the graph:
  // a stack of values, each visited again once its operands are there.
  absl::Status Ensure(const Instruction& wanted, Scope* scope) {
    std::vector<const Instruction*> stack = {&wanted};
    absl::flat_hash_set<const Instruction*> open;
    while (!stack.empty()) {
      const Instruction* i = stack.back();
      if (scope->values.contains(i)) {
        stack.pop_back();
        continue;
      }
      auto owner = scope->owner.find(i);
      const Group* group =
          owner == scope->owner.end() ? nullptr : owner->second;
      std::vector<const Instruction*> needed =
          group != nullptr ? GroupInputs(*group)
                           : std::vector<const Instruction*>(
                                 i->operands().begin(), i->operands().end());
      size_t before = stack.size();
      for (const Instruction* n : needed) {
        if (!scope->values.contains(n)) stack.push_back(n);
      }
      if (stack.size() > before) {
        if (!open.insert(i).second) {
          return absl::InternalError(absl::StrCat(
              Where(*i), ": the plan's groups depend on each other in a ring"));
        }
        continue;
      }
      stack.pop_back();
      RIDGE_RETURN_IF_ERROR(group != nullptr ? LowerGroup(*group, scope)
                                             : LowerSingle(*i, scope));
    }
    return absl::OkStatus();
  }

  absl::Status LowerGroup(const Group& group, Scope* scope) {
    if (!scope->done.insert(&group).second) return absl::OkStatus();
    if (++steps_ > kMaxSteps) {
      return absl::ResourceExhaustedError(
          absl::StrCat("inlined calls make more than ", kMaxSteps, " steps"));
    }
    Step step;
    step.name = group.name;
    step.group = &group;
    step.instruction = group.hero;
    for (const Instruction* input : GroupInputs(group)) {
      const std::vector<BufferId>& leaves = scope->values[input];
      step.inputs.insert(step.inputs.end(), leaves.begin(), leaves.end());
    }
    for (const Instruction* root : group.roots) {
      std::vector<BufferId> leaves = NewLeaves(*root);
      step.outputs.insert(step.outputs.end(), leaves.begin(), leaves.end());
      scope->values[root] = std::move(leaves);
    }
    if (group.pattern == GroupPattern::kOpaque) {
      step.kind = StepKind::kLibrary;
    } else if (group.pattern == GroupPattern::kGemm) {
      step.kind = StepKind::kGemm;
      RIDGE_RETURN_IF_ERROR(LowerGemmGroup(group, scope, &step));
    } else {
      RIDGE_RETURN_IF_ERROR(LowerKernel(group, scope, &step));
    }
    scope->body->steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  absl::Status LowerGemmGroup(const Group& group, Scope* scope, Step* step) {
    absl::StatusOr<GemmLowering> lowered = LowerGemm(group);
    if (!lowered.ok()) {
      // No library form: the same group as a plain generated kernel.
      if (!absl::IsUnimplemented(lowered.status())) return lowered.status();
      return LowerKernel(group, scope, step);
    }
    step->gemm = lowered->step;
    step->group_inputs = std::move(step->inputs);
    step->inputs.clear();
    for (const Instruction* operand : lowered->operands) {
      step->inputs.push_back(scope->values[operand][0]);
    }
    return absl::OkStatus();
  }

  // A generated kernel, or where the scalar form cannot express the group, its
  // members one by one.
  absl::Status LowerKernel(const Group& group, Scope* scope, Step* step) {
    absl::StatusOr<Kernel> kernel = BuildKernel(group);
    if (absl::IsUnimplemented(kernel.status())) {
      step->kind = StepKind::kLibrary;
      return absl::OkStatus();
    }
    RIDGE_RETURN_IF_ERROR(kernel.status());
    step->kind = StepKind::kKernel;
    step->kernel = *std::move(kernel);
    return ShareInPlace(group, scope, step);
  }

  // An output that updates an input in place gets the input's buffer when
  // nothing else can see that buffer any more, else a copy of it.
  absl::Status ShareInPlace(const Group& group, Scope* scope, Step* step) {
    int64_t output = 0;
    for (const KernelBuffer& b : step->kernel.buffers) {
      if (!b.is_output) continue;
      int64_t o = output++;
      if (b.aliases < 0) continue;
      const Instruction* input = step->kernel.buffers[b.aliases].value;
      BufferId from = step->inputs[b.aliases];
      bool loaded = LoadsFrom(step->kernel, b.aliases);
      if (!loaded && Overwritable(*input, group, *scope) &&
          program_->buffers[from].kind == BufferKind::kTemporary) {
        BufferId replaced = step->outputs[o];
        std::replace(step->outputs.begin(), step->outputs.end(), replaced,
                     from);
        for (const Instruction* root : group.roots) {
          std::vector<BufferId>& leaves = scope->values[root];
          std::replace(leaves.begin(), leaves.end(), replaced, from);
        }
        continue;
      }
      scope->body->steps.push_back(
          Copy(absl::StrCat(group.name, "_copy"), from, step->outputs[o]));
      // What the kernel loads is the value before the update.
      if (!loaded) step->inputs[b.aliases] = step->outputs[o];
    }
    return absl::OkStatus();
  }

  static bool LoadsFrom(const Kernel& kernel, int32_t buffer) {
    for (const Node& n : kernel.nodes) {
      if (n.kind == NodeKind::kLoad && n.buffer == buffer) return true;
    }
    return false;
  }

  // Nothing but `group` reads the value, and it lies in a buffer of its own:
  // a group stored it, or it is an element of a loop's state.
  static bool Overwritable(const Instruction& value, const Group& group,
                           const Scope& scope) {
    if (value.IsRoot()) return false;
    absl::flat_hash_set<const Instruction*> members(group.members.begin(),
                                                    group.members.end());
    for (const Use& use : value.uses()) {
      if (!members.contains(use.user)) return false;
      auto groups = scope.member_of.find(use.user);
      if (groups == scope.member_of.end() || groups->second != 1) return false;
    }
    if (scope.owner.contains(&value)) return true;
    return IsOwnState(value, scope);
  }

  static bool IsOwnState(const Instruction& value, const Scope& scope) {
    if (!scope.owns_parameters) return false;
    if (value.opcode() == Opcode::kParameter) return true;
    if (value.opcode() != Opcode::kGetTupleElement) return false;
    const Instruction& tuple = *value.operand(0);
    if (tuple.opcode() != Opcode::kParameter || tuple.IsRoot()) return false;
    for (const Use& use : tuple.uses()) {
      if (use.user == &value) continue;
      if (use.user->opcode() != Opcode::kGetTupleElement ||
          use.user->tuple_index() == value.tuple_index()) {
        return false;
      }
    }
    return true;
  }

  static Step Copy(std::string name, BufferId from, BufferId to) {
    Step copy;
    copy.kind = StepKind::kCopy;
    copy.name = std::move(name);
    copy.inputs = {from};
    copy.outputs = {to};
    return copy;
  }

  absl::Status LowerSingle(const Instruction& i, Scope* scope) {
    std::vector<BufferId> operands;
    for (const Instruction* o : i.operands()) {
      const std::vector<BufferId>& leaves = scope->values[o];
      operands.insert(operands.end(), leaves.begin(), leaves.end());
    }
    switch (i.opcode()) {
      case Opcode::kConstant: {
        std::vector<BufferId>& mine = scope->values[&i];
        AddConstant(i.literal(), i.name(), &mine);
        return absl::OkStatus();
      }
      case Opcode::kTuple:
        scope->values[&i] = std::move(operands);
        return absl::OkStatus();
      case Opcode::kGetTupleElement: {
        int64_t skip = 0;
        int64_t count = 0;
        auto counter = [&](int64_t* n) {
          return [n](const Shape&, const ShapeIndex&) { ++*n; };
        };
        const Shape& tuple = i.operand(0)->shape();
        for (int64_t t = 0; t < i.tuple_index(); ++t) {
          ForEachLeaf(tuple.tuple_shape(t), counter(&skip));
        }
        ForEachLeaf(tuple.tuple_shape(i.tuple_index()), counter(&count));
        scope->values[&i] = std::vector<BufferId>(
            operands.begin() + skip, operands.begin() + skip + count);
        return absl::OkStatus();
      }
      case Opcode::kOptimizationBarrier:
      case Opcode::kAddDependency:
      case Opcode::kDomain: {
        int64_t count = 0;
        ForEachLeaf(i.shape(),
                    [&](const Shape&, const ShapeIndex&) { ++count; });
        operands.resize(count);
        scope->values[&i] = std::move(operands);
        return absl::OkStatus();
      }
      case Opcode::kAfterAll:
        scope->values[&i] = NewLeaves(i);
        return absl::OkStatus();
      case Opcode::kCall:
        return LowerCall(i, operands, scope);
      case Opcode::kWhile:
        return LowerWhile(i, operands, scope);
      case Opcode::kConditional:
        return LowerConditional(i, scope);
      default:
        break;
    }
    if (AliasesOperand(i)) {
      scope->values[&i] = {operands[0]};
      return absl::OkStatus();
    }
    return absl::InternalError(
        absl::StrCat(Where(i), ": no group of the plan stores this value"));
  }

  void AddConstant(const Literal& literal, absl::string_view name,
                   std::vector<BufferId>* leaves) {
    if (literal.shape().IsTuple()) {
      for (const Literal& e : literal.elements()) AddConstant(e, name, leaves);
      return;
    }
    BufferId b = NewBuffer(BufferKind::kConstant, literal.shape(), name);
    program_->buffers[b].constant = &literal;
    leaves->push_back(b);
  }

  absl::Status LowerCall(const Instruction& i,
                         const std::vector<BufferId>& operands, Scope* scope) {
    ProgramBody inlined;
    RIDGE_RETURN_IF_ERROR(LowerComputation(*i.to_apply(), operands, &inlined));
    for (Step& s : inlined.steps) scope->body->steps.push_back(std::move(s));
    scope->values[&i] = inlined.results;
    return absl::OkStatus();
  }

  // The loop as one kernel; false where it has no such form.
  absl::StatusOr<bool> LowerSequential(const Instruction& i,
                                       const std::vector<BufferId>& initial,
                                       Scope* scope) {
    absl::StatusOr<SequentialKernel> built = BuildSequentialKernel(i);
    if (absl::IsUnimplemented(built.status())) return false;
    RIDGE_RETURN_IF_ERROR(built.status());
    // Every element of the state is an array, and so has one leaf.
    std::vector<BufferId> result = initial;
    Step step;
    step.kind = StepKind::kKernel;
    step.name = built->kernel.name;
    step.instruction = &i;
    step.kernel = std::move(built->kernel);
    size_t input = 0, output = 0;
    for (const KernelBuffer& b : step.kernel.buffers) {
      if (!b.is_output) {
        const int64_t element = built->input_element[input++];
        if (element >= 0) {
          step.inputs.push_back(initial[element]);
        } else {
          AddConstant(b.value->literal(), b.value->name(), &step.inputs);
        }
        continue;
      }
      const int64_t element = built->output_element[output];
      const BufferId to =
          NewBuffer(BufferKind::kTemporary, b.shape, b.value->name());
      if (!built->overwritten[output++]) {
        scope->body->steps.push_back(
            Copy(absl::StrCat(step.name, "_init"), initial[element], to));
      }
      step.outputs.push_back(to);
      result[element] = to;
    }
    const int64_t counter = built->counter_element;
    program_->literals.push_back(std::make_unique<const Literal>(
        FullLiteral(Shape::Scalar(i.shape().tuple_shape(counter).type()),
                    static_cast<double>(built->counter_end))));
    std::vector<BufferId> end;
    AddConstant(*program_->literals.back(), i.name(), &end);
    result[counter] = end[0];
    if (!step.outputs.empty()) scope->body->steps.push_back(std::move(step));
    scope->values[&i] = std::move(result);
    return true;
  }

  // Leaves of a loop's state that every round leaves as they are.
  static std::vector<bool> KeptLeaves(const Instruction& i) {
    const Computation& body = *i.computation(AttrId::kBody);
    const Instruction& root = *body.root();
    std::vector<bool> kept;
    const int64_t elements =
        static_cast<int64_t>(i.shape().tuple_shapes().size());
    for (int64_t e = 0; e < elements; ++e) {
      bool keeps = false;
      if (root.opcode() == Opcode::kTuple) {
        const Instruction& element = *root.operand(e);
        keeps = element.opcode() == Opcode::kGetTupleElement &&
                element.tuple_index() == e &&
                element.operand(0) == body.parameters()[0];
      }
      ForEachLeaf(
          i.shape().tuple_shape(e),
          [&](const Shape&, const ShapeIndex&) { kept.push_back(keeps); });
    }
    if (!i.shape().IsTuple()) kept.push_back(false);
    return kept;
  }

  // What changes lies in buffers of the loop's own: initial values are copied
  // in, and each round copies the body's results back.
  absl::Status LowerWhile(const Instruction& i,
                          const std::vector<BufferId>& initial, Scope* scope) {
    if (options_.loops_in_kernels) {
      RIDGE_ASSIGN_OR_RETURN(bool done, LowerSequential(i, initial, scope));
      if (done) return absl::OkStatus();
    }
    std::vector<BufferId> state = NewLeaves(i);
    const std::vector<bool> kept = KeptLeaves(i);
    for (size_t k = 0; k < state.size(); ++k) {
      if (kept[k]) state[k] = initial[k];
    }
    // The smallest last: those may share the loop's launch.
    std::vector<size_t> order(state.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return program_->buffers[state[a]].bytes >
             program_->buffers[state[b]].bytes;
    });
    for (size_t k : order) {
      if (kept[k]) continue;
      scope->body->steps.push_back(Copy(
          absl::StrCat(std::string(i.name()), "_init"), initial[k], state[k]));
    }
    auto condition = std::make_shared<ProgramBody>();
    auto body = std::make_shared<ProgramBody>();
    RIDGE_RETURN_IF_ERROR(LowerComputation(*i.computation(AttrId::kCondition),
                                           state, condition.get()));
    RIDGE_RETURN_IF_ERROR(LowerComputation(*i.computation(AttrId::kBody), state,
                                           body.get(),
                                           /*owns_parameters=*/true));
    // A result that is another part of the state must be saved before that
    // part is overwritten.
    absl::flat_hash_map<BufferId, BufferId> saved;
    std::vector<Step> back;
    for (size_t k = 0; k < state.size(); ++k) {
      BufferId result = body->results[k];
      if (result == state[k]) continue;
      bool is_state =
          std::find(state.begin(), state.end(), result) != state.end();
      if (is_state && !saved.contains(result)) {
        const Buffer& source = program_->buffers[result];
        BufferId keep =
            NewBuffer(BufferKind::kTemporary, source.shape, source.name);
        body->steps.push_back(
            Copy(absl::StrCat(std::string(i.name()), "_save"), result, keep));
        saved[result] = keep;
      }
      back.push_back(Copy(absl::StrCat(std::string(i.name()), "_carry"),
                          is_state ? saved[result] : result, state[k]));
    }
    for (Step& s : back) body->steps.push_back(std::move(s));
    body->results = state;
    Step step;
    step.kind = StepKind::kWhile;
    step.name = std::string(i.name());
    step.instruction = &i;
    step.inputs = state;
    step.outputs = state;
    step.bodies = {condition, body};
    scope->body->steps.push_back(std::move(step));
    scope->values[&i] = std::move(state);
    return absl::OkStatus();
  }

  absl::Status LowerConditional(const Instruction& i, Scope* scope) {
    std::vector<BufferId> outputs = NewLeaves(i);
    Step step;
    step.kind = StepKind::kConditional;
    step.name = std::string(i.name());
    step.instruction = &i;
    step.inputs = scope->values[i.operand(0)];
    step.outputs = outputs;
    std::vector<Computation*> branches = i.branches();
    for (size_t b = 0; b < branches.size(); ++b) {
      auto body = std::make_shared<ProgramBody>();
      const std::vector<BufferId>& arguments = scope->values[i.operand(b + 1)];
      step.inputs.insert(step.inputs.end(), arguments.begin(), arguments.end());
      RIDGE_RETURN_IF_ERROR(
          LowerComputation(*branches[b], arguments, body.get()));
      for (size_t k = 0; k < outputs.size(); ++k) {
        body->steps.push_back(
            Copy(absl::StrCat(std::string(i.name()), "_result"),
                 body->results[k], outputs[k]));
      }
      body->results = outputs;
      step.bodies.push_back(std::move(body));
    }
    scope->body->steps.push_back(std::move(step));
    scope->values[&i] = std::move(outputs);
    return absl::OkStatus();
  }

  const ProgramOptions& options_;
  Program* program_;
  int depth_ = 0;
  int64_t steps_ = 0;
  absl::flat_hash_map<const Computation*, const ComputationPlan*> plans_;
};

}  // namespace

absl::StatusOr<Program> BuildProgram(const Module& module, const Plan& plan,
                                     const ProgramOptions& options) {
  RIDGE_RETURN_IF_ERROR(CheckRunnable(module));
  Program program;
  RIDGE_RETURN_IF_ERROR(Lowering(module, plan, options, &program).Run());
  return program;
}

}  // namespace ridge
