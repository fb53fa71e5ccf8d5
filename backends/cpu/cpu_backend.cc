// The CPU back end: a plan's kernels as one C++ library, matrix products
// through Eigen (those of few rows apart), control flow on the host.
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/emit.h"
#include "backends/cpu/executable.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/toolchain.h"
#include "backends/runtime/backend.h"
#include "backends/runtime/sampler.h"
#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"
#include "hlo/base/thread_pool.h"

namespace ridge {
namespace {

// Gathers what a program needs compiled; each group once, however often calls
// were inlined.
class Compiler {
 public:
  Compiler(const Toolchain& toolchain, const CompileOptions& options)
      : toolchain_(toolchain), options_(options) {}

  absl::StatusOr<CompiledProgram> Compile(const Module& module,
                                          const Plan& plan) {
    const double start = NowMicros();
    RIDGE_ASSIGN_OR_RETURN(out_.program, BuildProgram(module, plan));
    out_.module_fingerprint = plan.module_fingerprint;
    RIDGE_RETURN_IF_ERROR(AddBody(out_.program.entry));
    if (!kernels_text_.empty()) {
      std::string source = absl::StrCat(HostPrelude(), kernels_text_);
      RIDGE_RETURN_IF_ERROR(Dump("kernels.cc", source));
      ToolchainOptions options;
      options.fma_contraction = options_.fma_contraction;
      options.fast_math = options_.fast_math;
      options.use_cache = options_.use_cache;
      RIDGE_ASSIGN_OR_RETURN(out_.library,
                             CompileAndLoad(toolchain_, source, options));
      RIDGE_RETURN_IF_ERROR(Resolve());
    }
    out_.compile_ms = (NowMicros() - start) / 1e3;
    return std::move(out_);
  }

 private:
  absl::Status AddBody(const ProgramBody& body) {
    for (const Step& step : body.steps) {
      for (const auto& nested : step.bodies) {
        RIDGE_RETURN_IF_ERROR(AddBody(*nested));
      }
      RIDGE_RETURN_IF_ERROR(AddStep(step));
    }
    return absl::OkStatus();
  }

  absl::Status AddStep(const Step& step) {
    if (step.kind == StepKind::kWhile || step.kind == StepKind::kConditional) {
      return absl::OkStatus();
    }
    const void* key = step.group != nullptr
                          ? static_cast<const void*>(step.group)
                          : static_cast<const void*>(&step);
    auto [it, inserted] = known_.try_emplace(key, out_.steps.size());
    out_.index[&step] = it->second;
    if (!inserted) return absl::OkStatus();
    CompiledStep compiled;
    compiled.name = step.name;
    StepCode code;
    switch (step.kind) {
      case StepKind::kKernel:
        RIDGE_RETURN_IF_ERROR(AddKernel(step, &compiled, &code));
        break;
      case StepKind::kGemm:
        compiled.schedule = absl::StrCat(
            GemmSchedule(step.gemm), " ",
            step.gemm.batch > 1 ? absl::StrCat(step.gemm.batch, "x")
                                : std::string(),
            step.gemm.m, "x", step.gemm.n, "x", step.gemm.k);
        code.evaluate = !CheckGemm(step.gemm).ok();
        break;
      case StepKind::kCopy:
        compiled.schedule = "memcpy";
        break;
      default:
        code.evaluate = true;
        break;
    }
    if (code.evaluate) {
      compiled.schedule = "evaluator";
      compiled.is_fallback = true;
    }
    out_.steps.push_back(std::move(compiled));
    out_.code.push_back(std::move(code));
    return absl::OkStatus();
  }

  absl::Status AddKernel(const Step& step, CompiledStep* compiled,
                         StepCode* code) {
    absl::StatusOr<EmittedKernel> emitted = EmitKernel(step.kernel);
    if (absl::IsUnimplemented(emitted.status())) {
      code->evaluate = true;
      return absl::OkStatus();
    }
    RIDGE_RETURN_IF_ERROR(emitted.status());
    RIDGE_RETURN_IF_ERROR(Dump(absl::StrCat(step.name, ".cc"), emitted->text));
    kernels_text_ += emitted->text;
    compiled->schedule = emitted->schedule;
    compiled->source = std::move(emitted->text);
    out_.scratch_bytes = std::max(out_.scratch_bytes, emitted->scratch_bytes);
    for (const EmittedStage& s : emitted->stages) {
      code->stages.push_back({nullptr, s.units, s.grain, s.serial, s.symbol});
    }
    return absl::OkStatus();
  }

  absl::Status Dump(const std::string& name, const std::string& text) {
    if (options_.dump_directory.empty()) return absl::OkStatus();
    RIDGE_RETURN_IF_ERROR(MakeDirs(options_.dump_directory));
    return WriteFileAtomic(absl::StrCat(options_.dump_directory, "/", name),
                           text);
  }

  absl::Status Resolve() {
    for (StepCode& code : out_.code) {
      for (StageCall& stage : code.stages) {
        RIDGE_ASSIGN_OR_RETURN(void* symbol,
                               out_.library->Symbol(stage.symbol));
        stage.function = reinterpret_cast<StageFunction>(symbol);
      }
    }
    return absl::OkStatus();
  }

  const Toolchain& toolchain_;
  const CompileOptions& options_;
  CompiledProgram out_;
  std::string kernels_text_;
  absl::flat_hash_map<const void*, size_t> known_;
};

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(Toolchain toolchain) : toolchain_(std::move(toolchain)) {}

  absl::string_view name() const override { return "cpu"; }

  DeviceLimits limits() const override {
    DeviceLimits limits;
    limits.is_gpu = false;
    limits.multiprocessors = NumThreads();
    limits.max_threads_per_block = 1;
    limits.max_threads_per_multiprocessor = 1;
    limits.max_blocks_per_multiprocessor = 1;
    limits.max_cluster_blocks = 1;
    limits.vector_bytes = __builtin_cpu_supports("avx512f") ? 64
                          : __builtin_cpu_supports("avx2")  ? 32
                                                            : 16;
    int64_t l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    int64_t l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    limits.shared_bytes_per_block = l1 > 0 ? l1 : 32 << 10;
    limits.shared_bytes_per_multiprocessor = limits.shared_bytes_per_block;
    limits.l2_bytes = l2 > 0 ? l2 : 1 << 20;
    return limits;
  }

  DeviceState state() const override {
    DeviceState state = CpuState();
    state.set_compiler_version(toolchain_.version);
    return state;
  }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(
      const Module& module, const Plan& plan,
      const CompileOptions& options) override {
    RIDGE_ASSIGN_OR_RETURN(CompiledProgram compiled,
                           Compiler(toolchain_, options).Compile(module, plan));
    compiled.state = state();
    return MakeCpuExecutable(std::move(compiled));
  }

 private:
  const Toolchain toolchain_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Backend>> MakeCpuBackend() {
  RIDGE_ASSIGN_OR_RETURN(Toolchain toolchain, FindToolchain());
  return std::make_unique<CpuBackend>(std::move(toolchain));
}

}  // namespace ridge
