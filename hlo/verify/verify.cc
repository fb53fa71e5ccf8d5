#include "hlo/verify/verify.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "hlo/verify/rules.h"

namespace ridge {
namespace verify {
namespace {

int64_t HeaderInt(const Module& module, absl::string_view name,
                  int64_t fallback) {
  int64_t value = fallback;
  const absl::string_view text = module.header_text(name);
  if (text.empty() || !absl::SimpleAtoi(text, &value)) return fallback;
  return value;
}

void CheckInstruction(const Instruction& i, Context* context) {
  CheckAttributes(i, context);
  if (!CheckShape(i, context)) return;
  CheckElementTypes(i, context);
  CheckLayouts(i, context);
  CheckAliasing(i, context);
  CheckCaller(i, context);
  CheckAsyncPair(i, context);
  CheckCollective(i, context);
  CheckMetadata(i, context);
}

}  // namespace

Context::Context(const Module& module, const VerifyOptions& options)
    : module_(module), options_(options) {
  replica_count_ = HeaderInt(module, "replica_count",
                             std::max<int64_t>(options.replica_count, 1));
  num_partitions_ = HeaderInt(module, "num_partitions",
                              std::max<int64_t>(options.num_partitions, 1));
}

void Context::Note(const Instruction& i) {
  const OpClass op_class = Info(i.opcode()).op_class;
  if (op_class == OpClass::kCollective || op_class == OpClass::kHost) {
    communicating_.push_back(&i);
  }
  holds_buffers_ = holds_buffers_ || HoldsBuffer(i.shape());
  for (const Attribute& a : i.attributes()) {
    if (const auto* one = std::get_if<Computation*>(&a.value)) {
      callers_[*one].push_back(&i);
    } else if (const auto* list = std::get_if<
                   std::shared_ptr<const std::vector<Computation*>>>(
                   &a.value)) {
      for (const Computation* callee : **list) callers_[callee].push_back(&i);
    }
  }
}

const std::vector<const Instruction*>* Context::Callers(
    const Computation& computation) const {
  auto it = callers_.find(&computation);
  return it == callers_.end() ? nullptr : &it->second;
}

bool Context::IsFused(const Computation& computation) const {
  const auto* callers = Callers(computation);
  return callers != nullptr && (*callers)[0]->opcode() == Opcode::kFusion;
}

bool Context::IsAsync(const Computation& computation) const {
  const auto* callers = Callers(computation);
  return callers != nullptr && (*callers)[0]->opcode() == Opcode::kAsyncStart;
}

void Context::Add(SourceLocation where, absl::string_view name,
                  absl::string_view rule, std::string message) {
  if (Full()) return;
  errors_.push_back(
      {where, std::string(name), std::string(rule), std::move(message)});
}

absl::string_view ThreadName(absl::string_view thread) {
  return thread.empty() ? "main" : thread;
}

}  // namespace verify

std::vector<VerifyError> Verify(const Module& module,
                                const VerifyOptions& options) {
  verify::Context context(module, options);
  verify::CheckModuleStructure(&context);
  // What follows walks operands and callees; it needs a sound structure.
  std::vector<VerifyError> structural = context.TakeErrors();
  if (!structural.empty()) return structural;
  for (const Computation* c : module.computations()) {
    if (context.Full()) break;
    verify::CheckComputation(*c, &context);
    for (const Instruction* i : c->instructions()) {
      verify::CheckInstruction(*i, &context);
    }
    if (context.IsFused(*c)) verify::CheckFusedComputation(*c, &context);
    if (context.holds_buffers()) verify::CheckBuffers(*c, &context);
  }
  verify::CheckChannels(&context);
  if (options.verify_collective_deadlocks && module.is_scheduled()) {
    verify::CheckCollectiveDeadlocks(&context);
  }
  verify::CheckHeader(&context);
  std::vector<VerifyError> errors = context.TakeErrors();
  std::stable_sort(errors.begin(), errors.end(),
                   [](const VerifyError& a, const VerifyError& b) {
                     return a.where.line < b.where.line;
                   });
  return errors;
}

std::string ToString(const VerifyError& error) {
  return absl::StrCat(error.where.line, ":", error.where.column, ": ",
                      error.instruction, error.instruction.empty() ? "" : ": ",
                      error.message, " [", error.rule, "]");
}

absl::Status VerifyStatus(const Module& module, const VerifyOptions& options) {
  const std::vector<VerifyError> errors = Verify(module, options);
  if (errors.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(ToString(errors[0]));
}

}  // namespace ridge
