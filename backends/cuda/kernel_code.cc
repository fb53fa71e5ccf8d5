#include "backends/cuda/kernel_code.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "backends/runtime/program.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// What two kernels with the same code have in common: the text without the
// name and the comments, which name instructions, and the dynamic shared
// memory, which is set for a function once.
std::string Content(const NamedKernel& kernel) {
  std::string content;
  for (absl::string_view line : absl::StrSplit(
           absl::StrReplaceAll(kernel.emitted.source, {{kernel.name, "@"}}),
           '\n')) {
    absl::StrAppend(&content, line.substr(0, line.find("  // ")), "\n");
  }
  for (const Launch& l : kernel.emitted.launches) {
    absl::StrAppend(&content, "\n", l.shared_bytes);
  }
  return content;
}

// Kernels of a program's steps, each group's once.
class StepKernels {
 public:
  explicit StepKernels(const DeviceLimits& limits) : limits_(limits) {}

  absl::Status AddBody(const ProgramBody& body) {
    for (const Step& step : body.steps) {
      for (const auto& nested : step.bodies) {
        RIDGE_RETURN_IF_ERROR(AddBody(*nested));
      }
      if (step.kind != StepKind::kKernel) continue;
      if (step.group != nullptr && !known_.insert(step.group).second) continue;
      RIDGE_RETURN_IF_ERROR(AddKernel(step.name, step.kernel));
    }
    return absl::OkStatus();
  }

  std::vector<NamedKernel> kernels;
  std::vector<std::string> steps;  // beside `kernels`

 private:
  absl::Status AddKernel(const std::string& step, const Kernel& kernel) {
    if (kernel.prologue != nullptr) {
      RIDGE_RETURN_IF_ERROR(AddKernel(step, *kernel.prologue));
    }
    if (kernel.stores.empty()) return absl::OkStatus();
    absl::StatusOr<EmittedKernel> emitted =
        EmitKernel(kernel, kernel.schedule, limits_);
    if (absl::IsUnimplemented(emitted.status()) && !kernel.loop.has_value()) {
      return absl::OkStatus();
    }
    RIDGE_RETURN_IF_ERROR(emitted.status());
    kernels.push_back({kernel.name, *std::move(emitted)});
    steps.push_back(step);
    return absl::OkStatus();
  }

  DeviceLimits limits_;
  absl::flat_hash_set<const Group*> known_;
};

absl::StatusOr<StepKernels> KernelsOf(const ridge::Module& module,
                                      const Plan& plan,
                                      const DeviceLimits& limits,
                                      bool loops_in_kernels) {
  ProgramOptions options;
  options.loops_in_kernels = loops_in_kernels;
  RIDGE_ASSIGN_OR_RETURN(Program program, BuildProgram(module, plan, options));
  StepKernels kernels(limits);
  RIDGE_RETURN_IF_ERROR(kernels.AddBody(program.entry));
  return kernels;
}

}  // namespace

std::vector<absl::StatusOr<KernelCode>> CompileKernels(
    absl::Span<const NamedKernel> kernels, absl::string_view arch,
    const CompileOptions& options) {
  std::vector<CompileRequest> requests;
  std::vector<KernelCode> codes(kernels.size());
  std::vector<size_t> request_of;  // beside `kernels`
  absl::flat_hash_map<std::string, size_t> known;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const NamedKernel& kernel = kernels[k];
    std::string content = Content(kernel);
    auto [it, inserted] = known.try_emplace(content, requests.size());
    request_of.push_back(it->second);
    codes[k].shared = !inserted;
    if (!inserted) continue;
    CompileRequest r;
    r.content = std::move(content);
    r.name = kernel.name;
    r.source = kernel.emitted.source;
    r.arch = std::string(arch);
    r.options = {options.fma_contraction ? "--fmad=true" : "--fmad=false",
                 "-default-device"};
    if (options.fast_math) r.options.push_back("--use_fast_math");
    requests.push_back(std::move(r));
  }
  std::vector<absl::StatusOr<CompiledKernel>> compiled =
      CompileAll(requests, options.use_cache ? &KernelCache() : nullptr);
  std::vector<std::shared_ptr<const CompiledKernel>> ready;
  for (absl::StatusOr<CompiledKernel>& c : compiled) {
    ready.push_back(c.ok()
                        ? std::make_shared<const CompiledKernel>(*std::move(c))
                        : nullptr);
  }
  std::vector<absl::StatusOr<KernelCode>> results;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const size_t at = request_of[k];
    if (ready[at] == nullptr) {
      results.push_back(compiled[at].status());
      continue;
    }
    codes[k].code = ready[at];
    results.push_back(codes[k]);
  }
  return results;
}

std::string FunctionIn(const KernelCode& code, const NamedKernel& kernel,
                       absl::string_view function) {
  return absl::StrReplaceAll(function, {{kernel.name, code.code->name}});
}

absl::Status AddBuilt(const NamedKernel& kernel, const KernelCode& code,
                      absl::string_view arch, BuiltKernel* built) {
  RIDGE_ASSIGN_OR_RETURN(const std::string version, NvrtcVersion());
  built->target = std::string(arch);
  built->compiler = absl::StrCat("NVRTC ", version);
  built->code_bytes += static_cast<int64_t>(code.code->cubin.size());
  if (!code.shared) built->compile_ms += code.code->compile_ms;
  built->from_cache = (built->functions.empty() || built->from_cache) &&
                      (code.shared || code.code->from_cache);
  for (const Launch& l : kernel.emitted.launches) {
    const KernelResources* r =
        code.code->Find(FunctionIn(code, kernel, l.function));
    if (r == nullptr) continue;
    BuiltFunction f;
    f.name = l.function;
    f.threads = l.block;
    f.registers = r->registers;
    f.spill_store_bytes = r->spill_store_bytes;
    f.spill_load_bytes = r->spill_load_bytes;
    f.static_shared_bytes = r->static_shared_bytes;
    f.dynamic_shared_bytes = l.shared_bytes;
    built->functions.push_back(std::move(f));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BuiltKernel>> BuildPlanKernels(
    const ridge::Module& module, const Plan& plan, const DeviceLimits& limits,
    absl::string_view arch, const CompileOptions& options) {
  absl::StatusOr<StepKernels> found =
      KernelsOf(module, plan, limits, /*loops_in_kernels=*/true);
  if (absl::IsUnimplemented(found.status())) {
    // A loop with an operation that only the evaluator knows.
    found = KernelsOf(module, plan, limits, /*loops_in_kernels=*/false);
  }
  RIDGE_RETURN_IF_ERROR(found.status());
  const std::vector<absl::StatusOr<KernelCode>> compiled =
      CompileKernels(found->kernels, arch, options);
  std::vector<BuiltKernel> all;
  for (size_t k = 0; k < compiled.size(); ++k) {
    RIDGE_RETURN_IF_ERROR(compiled[k].status());
    // A step's kernels follow each other.
    if (all.empty() || all.back().kernel != found->steps[k]) {
      all.emplace_back();
      all.back().kernel = found->steps[k];
    }
    RIDGE_RETURN_IF_ERROR(
        AddBuilt(found->kernels[k], *compiled[k], arch, &all.back()));
  }
  return all;
}

}  // namespace ridge::cuda
