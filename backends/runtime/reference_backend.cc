// The evaluator as a back end: slow, and right by definition.
#include <memory>
#include <utility>

#include "backends/runtime/arguments.h"
#include "backends/runtime/backend.h"
#include "backends/runtime/physical.h"
#include "backends/runtime/sampler.h"
#include "backends/runtime/samples.h"
#include "hlo/base/status_macros.h"
#include "hlo/base/thread_pool.h"
#include "hlo/evaluator/evaluator.h"

namespace ridge {
namespace {

DeviceState ReferenceState() {
  DeviceState state;
  state.set_device("evaluator");
  state.set_backend("reference");
  return state;
}

class ReferenceExecutable : public Executable {
 public:
  ReferenceExecutable(const Module& module, std::string fingerprint)
      : module_(module), fingerprint_(std::move(fingerprint)) {
    CompiledStep step;
    step.name = "evaluator";
    step.schedule = "one instruction after the other";
    steps_.push_back(std::move(step));
  }

  absl::StatusOr<std::vector<Literal>> Run(
      absl::Span<const Literal> arguments) override {
    RIDGE_RETURN_IF_ERROR(CheckArguments(module_, arguments));
    std::vector<Literal> parameters;
    size_t next = 0;
    for (const Instruction* p : module_.entry()->parameters()) {
      parameters.push_back(UnflattenLiteral(p->shape(), arguments, &next));
    }
    RIDGE_ASSIGN_OR_RETURN(Literal result, Evaluate(module_, parameters));
    return FlattenLiterals({result});
  }

  absl::StatusOr<Measurement> Measure(absl::Span<const Literal> arguments,
                                      const MeasureOptions& options) override {
    RIDGE_ASSIGN_OR_RETURN(std::vector<double> us,
                           TakeSamples(
                               options,
                               [&] {
                                 if (options.cold_cache) FlushHostCaches();
                               },
                               [&]() -> absl::StatusOr<double> {
                                 double start = NowMicros();
                                 RIDGE_RETURN_IF_ERROR(Run(arguments).status());
                                 return NowMicros() - start;
                               }));
    Measurement measurement;
    *measurement.mutable_state() = ReferenceState();
    measurement.set_module_fingerprint(fingerprint_);
    *measurement.mutable_total() = MakeSamples(us, options.cold_cache);
    KernelMeasurement* kernel = measurement.add_kernels();
    kernel->set_name(steps_[0].name);
    kernel->set_schedule(steps_[0].schedule);
    *kernel->mutable_samples() = measurement.total();
    return measurement;
  }

  const std::vector<CompiledStep>& steps() const override { return steps_; }

 private:
  const Module& module_;
  const std::string fingerprint_;
  std::vector<CompiledStep> steps_;
};

class ReferenceBackend : public Backend {
 public:
  absl::string_view name() const override { return "reference"; }
  DeviceLimits limits() const override {
    DeviceLimits limits;
    limits.is_gpu = false;
    limits.multiprocessors = NumThreads();
    limits.max_threads_per_block = 1;
    return limits;
  }
  DeviceState state() const override { return ReferenceState(); }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(
      const Module& module, const Plan& plan,
      const CompileOptions& options) override {
    RIDGE_RETURN_IF_ERROR(CheckEvaluable(module));
    return std::make_unique<ReferenceExecutable>(module,
                                                 plan.module_fingerprint);
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Backend>> MakeReferenceBackend() {
  return std::make_unique<ReferenceBackend>();
}

}  // namespace ridge
