#include "fusion/built_io.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "fusion/validate.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// No GPU has more; a value beyond is a damaged file.
constexpr int64_t kMaxThreads = 1024;
constexpr int64_t kMaxRegisters = 255;
constexpr int64_t kMaxLocalBytes = 512 << 10;   // a thread's own memory
constexpr int64_t kMaxSharedBytes = 256 << 10;  // of a multiprocessor
constexpr int64_t kMaxCodeBytes = int64_t{1} << 30;

absl::flat_hash_set<std::string> KernelNames(const Module& module,
                                             const Plan& plan) {
  absl::flat_hash_set<std::string> names;
  for (const ComputationPlan& c : plan.computations) {
    for (const Group& g : c.groups) names.insert(g.name);
  }
  for (const Computation* c : PlannedComputations(module)) {
    for (const Instruction* i : c->instructions()) {
      if (i->opcode() != Opcode::kWhile) continue;
      names.insert(absl::StrCat("loop_", Identifier(i->name())));
    }
  }
  return names;
}

absl::Status Check(const std::string& where, const char* field, int64_t value,
                   int64_t low, int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      where, ": ", field, " is ", value, ", not ", low, " to ", high));
}

absl::StatusOr<BuiltFunction> FunctionFromProto(const BuiltFunctionProto& proto,
                                                const std::string& kernel) {
  const std::string where =
      absl::StrCat("compiled kernel ", kernel, ", function ", proto.name());
  RIDGE_RETURN_IF_ERROR(
      Check(where, "threads", proto.threads(), 1, kMaxThreads));
  RIDGE_RETURN_IF_ERROR(
      Check(where, "registers", proto.registers(), 0, kMaxRegisters));
  RIDGE_RETURN_IF_ERROR(Check(where, "spill_store_bytes",
                              proto.spill_store_bytes(), 0, kMaxLocalBytes));
  RIDGE_RETURN_IF_ERROR(Check(where, "spill_load_bytes",
                              proto.spill_load_bytes(), 0, kMaxLocalBytes));
  RIDGE_RETURN_IF_ERROR(Check(where, "static_shared_bytes",
                              proto.static_shared_bytes(), 0, kMaxSharedBytes));
  RIDGE_RETURN_IF_ERROR(Check(where, "dynamic_shared_bytes",
                              proto.dynamic_shared_bytes(), 0,
                              kMaxSharedBytes));
  BuiltFunction f;
  f.name = proto.name();
  f.threads = proto.threads();
  f.registers = proto.registers();
  f.spill_store_bytes = proto.spill_store_bytes();
  f.spill_load_bytes = proto.spill_load_bytes();
  f.static_shared_bytes = proto.static_shared_bytes();
  f.dynamic_shared_bytes = proto.dynamic_shared_bytes();
  return f;
}

}  // namespace

BuiltKernelProto BuiltToProto(const BuiltKernel& built) {
  BuiltKernelProto proto;
  proto.set_kernel(built.kernel);
  proto.set_target(built.target);
  proto.set_compiler(built.compiler);
  proto.set_code_bytes(built.code_bytes);
  for (const BuiltFunction& f : built.functions) {
    BuiltFunctionProto* fp = proto.add_functions();
    fp->set_name(f.name);
    fp->set_threads(f.threads);
    fp->set_registers(f.registers);
    fp->set_spill_store_bytes(f.spill_store_bytes);
    fp->set_spill_load_bytes(f.spill_load_bytes);
    fp->set_static_shared_bytes(f.static_shared_bytes);
    fp->set_dynamic_shared_bytes(f.dynamic_shared_bytes);
  }
  return proto;
}

absl::StatusOr<std::vector<BuiltKernel>> BuiltFromProto(
    const google::protobuf::RepeatedPtrField<BuiltKernelProto>& protos,
    const Module& module, const Plan& plan) {
  std::vector<BuiltKernel> all;
  if (protos.empty()) return all;
  const absl::flat_hash_set<std::string> names = KernelNames(module, plan);
  absl::flat_hash_set<std::string> seen;
  for (const BuiltKernelProto& proto : protos) {
    const std::string where = absl::StrCat("compiled kernel ", proto.kernel());
    if (!names.contains(proto.kernel())) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": the plan has no such group or loop"));
    }
    if (!seen.insert(proto.kernel()).second) {
      return absl::InvalidArgumentError(absl::StrCat(where, " comes twice"));
    }
    if (proto.target().empty() || proto.functions().empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          where, ": no ", proto.target().empty() ? "target" : "functions"));
    }
    for (const std::string* s : {&proto.target(), &proto.compiler()}) {
      if (!std::all_of(s->begin(), s->end(), absl::ascii_isprint)) {
        return absl::InvalidArgumentError(absl::StrCat(
            where, ": \"", absl::CEscape(*s), "\" is no name to print"));
      }
    }
    absl::flat_hash_set<std::string> functions;
    RIDGE_RETURN_IF_ERROR(
        Check(where, "code_bytes", proto.code_bytes(), 0, kMaxCodeBytes));
    BuiltKernel built;
    built.kernel = proto.kernel();
    built.target = proto.target();
    built.compiler = proto.compiler();
    built.code_bytes = proto.code_bytes();
    for (const BuiltFunctionProto& fp : proto.functions()) {
      RIDGE_ASSIGN_OR_RETURN(BuiltFunction f,
                             FunctionFromProto(fp, built.kernel));
      if (!functions.insert(f.name).second) {
        return absl::InvalidArgumentError(absl::StrCat(
            where, ": function ", absl::CEscape(f.name), " comes twice"));
      }
      built.functions.push_back(std::move(f));
    }
    all.push_back(std::move(built));
  }
  return all;
}

}  // namespace ridge
