#include "backends/kernel/testing.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "backends/kernel/interpreter.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/compare.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/text/parser.h"

namespace ridge {

Group WholeEntry(const Module& module, GroupPattern pattern) {
  Group group;
  group.name = "test";
  group.pattern = pattern;
  const Computation* entry = module.entry();
  const Instruction* root = entry->root();
  for (const Instruction* i : entry->instructions()) {
    const bool tuple_root = i == root && i->opcode() == Opcode::kTuple;
    const bool large_constant = i->opcode() == Opcode::kConstant &&
                                !i->shape().IsScalar() &&
                                !IsSplat(i->literal());
    if (i->opcode() == Opcode::kParameter || tuple_root || large_constant) {
      continue;
    }
    group.members.push_back(i);
    const bool larger = i->opcode() == Opcode::kReduce &&
                        (group.hero == nullptr ||
                         i->operand(0)->shape().ElementCount() >
                             group.hero->operand(0)->shape().ElementCount());
    if (larger) group.hero = i;
  }
  if (group.hero == nullptr && !group.members.empty()) {
    group.hero = group.members.back();
  }
  if (root->opcode() == Opcode::kTuple) {
    for (const Instruction* o : root->operands()) group.roots.push_back(o);
  } else {
    group.roots.push_back(root);
  }
  return group;
}

std::vector<Literal> TestInputs(const Module& module, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<Literal> inputs;
  for (const Instruction* p : module.entry()->parameters()) {
    Literal l = Literal::Zeros(p->shape());
    const ElementType type = p->shape().type();
    for (int64_t i = 0; i < p->shape().ElementCount(); ++i) {
      double value = IsFloat(type) || IsComplex(type)
                         ? static_cast<double>(rng() % 4001) / 1000 - 2
                     : IsPred(type)   ? static_cast<double>(rng() % 2)
                     : IsSigned(type) ? static_cast<double>(rng() % 16) - 3
                                      : static_cast<double>(rng() % 13);
      SetDouble(&l, i, value);
    }
    inputs.push_back(std::move(l));
  }
  return inputs;
}

absl::StatusOr<std::vector<Literal>> KernelInputs(
    const Kernel& kernel, const std::vector<Literal>& arguments) {
  std::vector<Literal> inputs;
  for (const KernelBuffer& b : kernel.buffers) {
    if (b.is_output) continue;
    if (b.value->opcode() == Opcode::kConstant) {
      inputs.push_back(b.value->literal());
    } else if (b.value->opcode() == Opcode::kParameter) {
      inputs.push_back(arguments[b.value->parameter_number()]);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("no value for input ", b.value->name()));
    }
  }
  return inputs;
}

absl::StatusOr<const Module*> KeepModule(absl::string_view hlo) {
  static auto& kept = *new std::vector<std::unique_ptr<Module>>();
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ParseModule(hlo));
  kept.push_back(std::move(module));
  return kept.back().get();
}

absl::StatusOr<Kernel> BuildEntry(absl::string_view lines,
                                  GroupPattern pattern) {
  RIDGE_ASSIGN_OR_RETURN(
      const Module* module,
      KeepModule(absl::StrCat("HloModule m\n"
                              "add { a = f32[] parameter(0)\n"
                              "  b = f32[] parameter(1)\n"
                              "  ROOT r = f32[] add(a, b) }\n"
                              "max { a = f32[] parameter(0)\n"
                              "  b = f32[] parameter(1)\n"
                              "  ROOT r = f32[] maximum(a, b) }\n"
                              "ENTRY e {\n",
                              lines, "\n}\n")));
  return BuildKernel(WholeEntry(*module, pattern));
}

absl::Status CheckKernel(absl::string_view hlo, GroupPattern pattern,
                         Kernel* kernel_out) {
  RIDGE_ASSIGN_OR_RETURN(const Module* module, KeepModule(hlo));
  RIDGE_ASSIGN_OR_RETURN(Kernel kernel,
                         BuildKernel(WholeEntry(*module, pattern)));
  if (kernel_out != nullptr) *kernel_out = kernel;
  std::vector<Literal> arguments = TestInputs(*module, 17);
  RIDGE_ASSIGN_OR_RETURN(std::vector<Literal> inputs,
                         KernelInputs(kernel, arguments));
  absl::StatusOr<std::vector<Literal>> outputs =
      InterpretKernel(kernel, inputs);
  RIDGE_RETURN_IF_ERROR(Annotate(outputs.status(), ToString(kernel)));
  const Instruction* root = module->entry()->root();
  Literal got =
      root->shape().IsTuple() ? Literal::Tuple(*outputs) : (*outputs)[0];
  // Float sums are taken in another order; what has no sum must agree.
  RIDGE_ASSIGN_OR_RETURN(Comparison comparison,
                         CompareWithEvaluator(*module, arguments, got));
  if (!comparison.ok) {
    return absl::DataLossError(
        absl::StrCat(comparison.ToString(), "\n", ToString(kernel)));
  }
  return absl::OkStatus();
}

}  // namespace ridge
