#include "backends/cuda/compile.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cuda/chains.h"
#include "backends/cuda/kernel_code.h"
#include "backends/runtime/sampler.h"
#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

constexpr int64_t kScratchAlignment = 256;

std::optional<MatmulType> MatmulTypeOf(ElementType t) {
  switch (t) {
    case ElementType::kF64:
      return MatmulType::kF64;
    case ElementType::kF32:
      return MatmulType::kF32;
    case ElementType::kF16:
      return MatmulType::kF16;
    case ElementType::kBF16:
      return MatmulType::kBF16;
    case ElementType::kF8E4M3FN:
      return MatmulType::kF8E4M3;
    case ElementType::kF8E5M2:
      return MatmulType::kF8E5M2;
    case ElementType::kS8:
      return MatmulType::kS8;
    case ElementType::kS32:
      return MatmulType::kS32;
    default:
      return std::nullopt;
  }
}

absl::StatusOr<MatmulDesc> DescOf(const GemmStep& g) {
  MatmulDesc d;
  auto a = MatmulTypeOf(g.a_type);
  auto b = MatmulTypeOf(g.b_type);
  auto out = MatmulTypeOf(g.d_type);
  if (!a || !b || !out) {
    return absl::UnimplementedError("no cuBLASLt type for the product");
  }
  d.m = g.m;
  d.n = g.n;
  d.k = g.k;
  d.batch = g.batch;
  d.a = *a;
  d.b = *b;
  d.d = *out;
  d.transpose_a = g.transpose_a;
  d.transpose_b = g.transpose_b;
  d.alpha = g.alpha;
  d.beta = g.beta;
  // f32 products stay f32: TF32 keeps ten bits of the significand, which the
  // program did not ask for.
  d.compute = g.d_type == ElementType::kF64   ? MatmulCompute::kF64
              : g.d_type == ElementType::kS32 ? MatmulCompute::kS32
                                              : MatmulCompute::kF32;
  switch (g.activation) {
    case GemmStep::Activation::kNone:
      d.epilogue = g.has_bias ? MatmulEpilogue::kBias : MatmulEpilogue::kNone;
      break;
    case GemmStep::Activation::kRelu:
      d.epilogue =
          g.has_bias ? MatmulEpilogue::kBiasRelu : MatmulEpilogue::kRelu;
      break;
    case GemmStep::Activation::kGeluTanh:
      d.epilogue =
          g.has_bias ? MatmulEpilogue::kBiasGelu : MatmulEpilogue::kGelu;
      break;
  }
  return d;
}

std::string ScheduleText(const EmittedKernel& e) {
  std::string text = e.choice.name;
  for (const auto& [name, value] : e.choice.parameters) {
    absl::StrAppend(&text, " ", name, "=", value);
  }
  if (e.plain) absl::StrAppend(&text, " (plain)");
  return text;
}

std::string NamesOf(const ProgramBody& body) {
  std::vector<std::string> names;
  for (const Step& s : body.steps) names.push_back(s.name);
  return absl::StrJoin(names, ", ");
}

class Compiler {
 public:
  Compiler(const Context& context, MatmulLibrary* library,
           const CompileOptions& options)
      : context_(context),
        library_(library),
        options_(options),
        limits_(LimitsOf(context.facts())) {}

  absl::StatusOr<CompiledProgram> Run(const ridge::Module& module,
                                      const Plan& plan) {
    const double start = NowMicros();
    absl::Status added = AddProgram(module, plan, /*loops_in_kernels=*/true);
    if (absl::IsUnimplemented(added)) {
      // A loop with an operation that only the evaluator knows.
      out_ = CompiledProgram();
      pending_.clear();
      step_of_.clear();
      known_.clear();
      added = AddProgram(module, plan, /*loops_in_kernels=*/false);
    }
    RIDGE_RETURN_IF_ERROR(added);
    out_.module_fingerprint = plan.module_fingerprint;
    RIDGE_RETURN_IF_ERROR(CompilePending());
    out_.compile_ms = (NowMicros() - start) / 1e3;
    return std::move(out_);
  }

 private:
  absl::Status AddProgram(const ridge::Module& module, const Plan& plan,
                          bool loops_in_kernels) {
    ProgramOptions options;
    options.loops_in_kernels = loops_in_kernels;
    RIDGE_ASSIGN_OR_RETURN(out_.program, BuildProgram(module, plan, options));
    if (options_.chains) {
      RIDGE_ASSIGN_OR_RETURN(chains_, FormChains(limits_, &out_.program));
    }
    return AddBody(out_.program.entry);
  }

  absl::Status AddBody(const ProgramBody& body) {
    for (const Step& step : body.steps) {
      for (const auto& nested : step.bodies) {
        if (step.kind == StepKind::kChain) break;
        RIDGE_RETURN_IF_ERROR(AddBody(*nested));
      }
      RIDGE_RETURN_IF_ERROR(AddStep(step));
    }
    return absl::OkStatus();
  }

  absl::Status AddStep(const Step& step) {
    if (step.kind == StepKind::kWhile || step.kind == StepKind::kConditional) {
      out_.has_control = true;
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
        RIDGE_RETURN_IF_ERROR(AddKernel(step.kernel, &compiled, &code));
        break;
      case StepKind::kGemm:
        RIDGE_RETURN_IF_ERROR(AddGemm(step, &compiled, &code));
        break;
      case StepKind::kCopy:
        compiled.schedule = "copy";
        break;
      case StepKind::kChain:
        compiled.is_chain = true;
        AddEmitted(step.name, chains_.at(step.name), &compiled, &code);
        compiled.schedule =
            absl::StrCat(compiled.schedule, ": ", NamesOf(*step.bodies[0]));
        break;
      default:
        code.on_host = true;
        break;
    }
    if (code.on_host) {
      compiled.schedule = "evaluator on the host";
      compiled.is_fallback = true;
      out_.all_on_device = false;
    }
    out_.steps.push_back(std::move(compiled));
    out_.code.push_back(std::move(code));
    return absl::OkStatus();
  }

  absl::Status AddKernel(const Kernel& kernel, CompiledStep* compiled,
                         StepCode* code) {
    if (kernel.prologue != nullptr) {
      RIDGE_RETURN_IF_ERROR(AddKernel(*kernel.prologue, compiled, code));
    }
    if (kernel.stores.empty()) return absl::OkStatus();
    absl::StatusOr<EmittedKernel> emitted =
        EmitKernel(kernel, kernel.schedule, limits_);
    if (absl::IsUnimplemented(emitted.status()) && !kernel.loop.has_value()) {
      code->on_host = true;
      return absl::OkStatus();
    }
    RIDGE_RETURN_IF_ERROR(emitted.status());
    AddEmitted(kernel.name, *std::move(emitted), compiled, code);
    return absl::OkStatus();
  }

  void AddEmitted(const std::string& name, EmittedKernel emitted,
                  CompiledStep* compiled, StepCode* code) {
    compiled->schedule = ScheduleText(emitted);
    compiled->is_fallback = compiled->is_fallback || emitted.plain;
    compiled->source += emitted.source;
    compiled->resources.launches =
        static_cast<int>(code->launches.size() + emitted.launches.size());
    int64_t at = 0;
    for (int64_t bytes : emitted.scratch_bytes) {
      code->scratch_offsets.push_back(at);
      at += (bytes + kScratchAlignment - 1) / kScratchAlignment *
            kScratchAlignment;
    }
    out_.scratch_bytes = std::max(out_.scratch_bytes, at);
    pending_.push_back({name, std::move(emitted)});
    step_of_.push_back(out_.steps.size());
  }

  absl::Status AddGemm(const Step& step, CompiledStep* compiled,
                       StepCode* code) {
    absl::StatusOr<MatmulDesc> desc = DescOf(step.gemm);
    if (desc.ok() && library_ != nullptr && step.gemm.m > 0 &&
        step.gemm.n > 0 && step.gemm.k > 0 && step.gemm.batch > 0) {
      absl::StatusOr<MatmulPlan> plan = library_->Plan(*desc);
      if (plan.ok()) {
        compiled->schedule =
            absl::StrCat("cublaslt ", plan->algos()[0].ToString());
        code->matmul.emplace(*std::move(plan));
        return absl::OkStatus();
      }
    }
    // No library form: the group as a plain kernel.
    absl::StatusOr<Kernel> kernel = BuildKernel(*step.group);
    if (!kernel.ok()) {
      code->on_host = true;
      return absl::OkStatus();
    }
    compiled->is_fallback = true;
    return AddKernel(*kernel, compiled, code);
  }

  // Cuts the grid to the blocks that the device holds at once.
  absl::Status FitOnDevice(const Function& function,
                           LaunchConfig* config) const {
    unsigned at_once = 0;
    if (config->cluster.x > 1) {
      RIDGE_ASSIGN_OR_RETURN(int clusters, function.MaxActiveClusters(*config));
      at_once = static_cast<unsigned>(clusters) * config->cluster.x;
    } else {
      RIDGE_ASSIGN_OR_RETURN(
          int blocks, function.MaxBlocksPerSm(static_cast<int>(config->block.x),
                                              config->dynamic_shared_bytes));
      at_once = static_cast<unsigned>(blocks * limits_.multiprocessors);
    }
    if (at_once > 0) config->grid.x = std::min(config->grid.x, at_once);
    return absl::OkStatus();
  }

  absl::Status DumpSources() const {
    if (options_.dump_directory.empty()) return absl::OkStatus();
    RIDGE_RETURN_IF_ERROR(MakeDirs(options_.dump_directory));
    for (const NamedKernel& k : pending_) {
      RIDGE_RETURN_IF_ERROR(WriteFileAtomic(
          absl::StrCat(options_.dump_directory, "/", k.name, ".cu"),
          k.emitted.source));
    }
    return absl::OkStatus();
  }

  absl::Status CompilePending() {
    RIDGE_RETURN_IF_ERROR(DumpSources());
    const std::string arch = context_.facts().Arch();
    const std::vector<absl::StatusOr<KernelCode>> results =
        CompileKernels(pending_, arch, options_);
    absl::flat_hash_map<const CompiledKernel*, size_t> modules;
    for (size_t k = 0; k < pending_.size(); ++k) {
      RIDGE_RETURN_IF_ERROR(results[k].status());
      const KernelCode& code = *results[k];
      auto [it, inserted] =
          modules.try_emplace(code.code.get(), out_.modules.size());
      if (inserted) {
        RIDGE_ASSIGN_OR_RETURN(
            ridge::cuda::Module loaded,
            ridge::cuda::Module::Load(context_, code.code->cubin));
        out_.modules.push_back(std::move(loaded));
      }
      RIDGE_RETURN_IF_ERROR(AddLaunches(
          pending_[k], code, &out_.modules[it->second], arch, step_of_[k]));
    }
    return absl::OkStatus();
  }

  absl::Status AddLaunches(const NamedKernel& kernel, const KernelCode& code,
                           ridge::cuda::Module* loaded, const std::string& arch,
                           size_t at) {
    CompiledStep& step = out_.steps[at];
    step.built.kernel = step.name;
    RIDGE_RETURN_IF_ERROR(AddBuilt(kernel, code, arch, &step.built));
    for (const Launch& l : kernel.emitted.launches) {
      ReadyLaunch ready;
      RIDGE_ASSIGN_OR_RETURN(ready.function, loaded->GetFunction(FunctionIn(
                                                 code, kernel, l.function)));
      if (l.shared_bytes > 0) {
        RIDGE_RETURN_IF_ERROR(
            ready.function.SetMaxDynamicShared(l.shared_bytes));
      }
      ready.config.grid.x = static_cast<unsigned>(l.grid);
      ready.config.block.x = static_cast<unsigned>(l.block);
      ready.config.dynamic_shared_bytes = l.shared_bytes;
      ready.config.cluster.x = static_cast<unsigned>(l.cluster);
      ready.arguments = l.arguments;
      ready.packed = l.packed;
      if (l.resident) {
        RIDGE_RETURN_IF_ERROR(FitOnDevice(ready.function, &ready.config));
      }
      out_.code[at].launches.push_back(std::move(ready));
      step.resources.blocks = l.grid;
      step.resources.threads_per_block = l.block;
      step.resources.cluster_blocks = l.cluster;
    }
    Resources& total = step.resources;
    for (const BuiltFunction& f : step.built.functions) {
      total.registers = std::max(total.registers, f.registers);
      total.registers_measured = true;
      total.spill_bytes = std::max(total.spill_bytes, f.spill_store_bytes);
      total.shared_bytes = std::max(
          total.shared_bytes, f.static_shared_bytes + f.dynamic_shared_bytes);
    }
    return absl::OkStatus();
  }

  const Context& context_;
  MatmulLibrary* library_;
  const CompileOptions& options_;
  DeviceLimits limits_;
  absl::flat_hash_map<std::string, EmittedKernel> chains_;  // by name
  CompiledProgram out_;
  std::vector<NamedKernel> pending_;
  std::vector<size_t> step_of_;  // beside `pending_`
  absl::flat_hash_map<const void*, size_t> known_;
};

}  // namespace

DeviceLimits LimitsOf(const DeviceFacts& f) {
  DeviceLimits limits;
  limits.is_gpu = true;
  limits.multiprocessors = f.sm_count;
  limits.max_threads_per_block = f.max_threads_per_block;
  limits.max_threads_per_multiprocessor = f.max_threads_per_sm;
  limits.max_blocks_per_multiprocessor = f.max_blocks_per_sm;
  limits.registers_per_multiprocessor = f.registers_per_sm;
  limits.shared_bytes_per_block = f.shared_per_block_optin;
  limits.shared_bytes_per_multiprocessor = f.shared_per_sm;
  limits.l2_bytes = f.l2_bytes;
  limits.max_cluster_blocks = f.cluster_launch ? 8 : 1;
  limits.vector_bytes = 16;
  return limits;
}

absl::StatusOr<CompiledProgram> CompileProgram(const Context& context,
                                               MatmulLibrary* library,
                                               const ridge::Module& module,
                                               const Plan& plan,
                                               const CompileOptions& options) {
  return Compiler(context, library, options).Run(module, plan);
}

}  // namespace ridge::cuda
