#include "backends/cpu/executable.h"

#include <sys/mman.h>
#include <unistd.h>

#include <Eigen/Core>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/cpu/gemm.h"
#include "backends/runtime/arguments.h"
#include "backends/runtime/evaluate_group.h"
#include "backends/runtime/physical.h"
#include "backends/runtime/sampler.h"
#include "backends/runtime/samples.h"
#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"
#include "hlo/base/thread_pool.h"

namespace ridge {
namespace {

constexpr int64_t kMaxRounds = 100'000'000;  // of one while loop
// Generated code may look a vector past an array's end, never touch it; the
// slack keeps arrays apart and gives empty ones an address.
constexpr int64_t kSlack = 64;
constexpr int64_t kCopyGrain = 512 << 10;  // bytes a thread takes at a time

// Zeroed, page-aligned memory.
class Block {
 public:
  static absl::StatusOr<Block> Make(int64_t bytes, absl::string_view what) {
    void* p = MAP_FAILED;
    if (bytes <= (int64_t{1} << 46)) {
      p = mmap(nullptr, bytes + kSlack, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (p == MAP_FAILED) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for ", bytes, " bytes of ", what));
    }
    return Block(static_cast<uint8_t*>(p), bytes);
  }
  Block() = default;
  Block(Block&& o) noexcept { *this = std::move(o); }
  Block& operator=(Block&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }
  ~Block() {
    if (data_ != nullptr) munmap(data_, bytes_ + kSlack);
  }

  uint8_t* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  Block(uint8_t* data, int64_t bytes) : data_(data), bytes_(bytes) {}
  uint8_t* data_ = nullptr;
  int64_t bytes_ = 0;
};

class CpuExecutable : public Executable {
 public:
  explicit CpuExecutable(CompiledProgram compiled)
      : compiled_(std::move(compiled)) {}

  absl::Status Allocate() {
    const Program& program = compiled_.program;
    // Pages come when they are touched: what does not fit would end the
    // process.
    const int64_t machine =
        int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
    if (machine > 0 && program.arena_bytes > machine) {
      return absl::ResourceExhaustedError(
          absl::StrCat("intermediates and results take ", program.arena_bytes,
                       " bytes, more than this machine's memory of ", machine));
    }
    RIDGE_ASSIGN_OR_RETURN(arena_,
                           Block::Make(program.arena_bytes, "intermediates"));
    RIDGE_ASSIGN_OR_RETURN(scratch_,
                           Block::Make(compiled_.scratch_bytes, "scratch"));
    address_.assign(program.buffers.size(), nullptr);
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      const Buffer& buffer = program.buffers[b];
      if (buffer.kind == BufferKind::kTemporary) {
        address_[b] = arena_.data() + buffer.offset;
      } else if (buffer.kind == BufferKind::kConstant) {
        RIDGE_RETURN_IF_ERROR(
            Place(buffer.shape, *buffer.constant, &address_[b], &constants_));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Literal>> Run(
      absl::Span<const Literal> arguments) override {
    RIDGE_RETURN_IF_ERROR(Bind(arguments));
    if (arena_.bytes() > 0) std::memset(arena_.data(), 0xff, arena_.bytes());
    RIDGE_RETURN_IF_ERROR(Execute(compiled_.program.entry, nullptr));
    const std::vector<BufferId>& from = compiled_.program.entry.results;
    std::vector<Shape> leaves = ResultLeaves(*compiled_.program.module);
    std::vector<Literal> results;
    for (size_t k = 0; k < from.size(); ++k) {
      results.push_back(LiteralFromPhysical(leaves[k], address_[from[k]]));
    }
    return results;
  }

  absl::StatusOr<Measurement> Measure(absl::Span<const Literal> arguments,
                                      const MeasureOptions& options) override {
    RIDGE_RETURN_IF_ERROR(Bind(arguments));
    RIDGE_ASSIGN_OR_RETURN(
        std::vector<double> total,
        TakeSamples(
            options,
            [&] {
              if (options.cold_cache) FlushHostCaches();
            },
            [&]() -> absl::StatusOr<double> {
              double start = NowMicros();
              RIDGE_RETURN_IF_ERROR(Execute(compiled_.program.entry, nullptr));
              return NowMicros() - start;
            }));
    Measurement measurement;
    *measurement.mutable_state() = compiled_.state;
    measurement.mutable_state()->set_other_load_seen(OtherLoadSeen());
    measurement.set_module_fingerprint(compiled_.module_fingerprint);
    measurement.set_compile_ms(compiled_.compile_ms);
    *measurement.mutable_total() = MakeSamples(total, options.cold_cache);
    if (options.per_kernel) {
      RIDGE_RETURN_IF_ERROR(MeasureSteps(options, &measurement));
    }
    return measurement;
  }

  const std::vector<CompiledStep>& steps() const override {
    return compiled_.steps;
  }

 private:
  // What the timed steps of one run took, by entry of CompiledProgram::steps.
  struct StepTimes {
    std::vector<double> us;
    bool cold = false;
  };

  // An array in memory order: the literal's own bytes where they are that.
  static absl::Status Place(const Shape& shape, const Literal& literal,
                            uint8_t** address, std::vector<Block>* blocks) {
    static uint8_t empty[kSlack];
    if (!shape.IsArray() || literal.byte_size() == 0) {
      *address = empty;
      return absl::OkStatus();
    }
    if (IsRowMajor(shape)) {
      // Programs do not write parameters and constants.
      *address = const_cast<uint8_t*>(literal.bytes());
      return absl::OkStatus();
    }
    RIDGE_ASSIGN_OR_RETURN(Block block,
                           Block::Make(PhysicalBytes(shape), "an argument"));
    ToPhysical(shape, literal.bytes(), block.data());
    *address = block.data();
    blocks->push_back(std::move(block));
    return absl::OkStatus();
  }

  absl::Status Bind(absl::Span<const Literal> arguments) {
    RIDGE_RETURN_IF_ERROR(CheckArguments(*compiled_.program.module, arguments));
    bound_.clear();
    for (size_t b = 0; b < compiled_.program.buffers.size(); ++b) {
      const Buffer& buffer = compiled_.program.buffers[b];
      if (buffer.kind != BufferKind::kParameter) continue;
      RIDGE_RETURN_IF_ERROR(Place(buffer.shape,
                                  arguments[buffer.parameter_leaf],
                                  &address_[b], &bound_));
    }
    return absl::OkStatus();
  }

  absl::Status MeasureSteps(const MeasureOptions& options,
                            Measurement* measurement) {
    std::vector<std::vector<double>> samples(compiled_.steps.size());
    // Flushing before every step is slow: fewer rounds where there are many.
    MeasureOptions rounds = options;
    if (options.cold_cache) {
      rounds.warmup = std::min(options.warmup, 1);
      rounds.max_repetitions =
          std::max(options.min_repetitions,
                   static_cast<int>(200 / (compiled_.steps.size() + 1)));
    }
    absl::Status taken =
        TakeSamples(
            rounds, [] {},
            [&]() -> absl::StatusOr<double> {
              StepTimes times;
              times.us.assign(compiled_.steps.size(), 0);
              times.cold = options.cold_cache;
              RIDGE_RETURN_IF_ERROR(Execute(compiled_.program.entry, &times));
              double sum = 0;
              for (size_t s = 0; s < samples.size(); ++s) {
                samples[s].push_back(times.us[s]);
                sum += times.us[s];
              }
              return sum;
            })
            .status();
    if (!taken.ok() && !absl::IsCancelled(taken)) return taken;
    for (size_t s = 0; s < samples.size(); ++s) {
      // Warm-up rounds come first.
      size_t skip = std::min<size_t>(
          rounds.warmup, samples[s].empty() ? 0 : samples[s].size() - 1);
      KernelMeasurement* kernel = measurement->add_kernels();
      kernel->set_name(compiled_.steps[s].name);
      kernel->set_schedule(compiled_.steps[s].schedule);
      *kernel->mutable_samples() = MakeSamples(
          absl::MakeConstSpan(samples[s]).subspan(skip), options.cold_cache);
    }
    return absl::OkStatus();
  }

  absl::Status Execute(const ProgramBody& body, StepTimes* times) {
    for (const Step& step : body.steps) {
      switch (step.kind) {
        case StepKind::kWhile:
          RIDGE_RETURN_IF_ERROR(ExecuteWhile(step, times));
          continue;
        case StepKind::kConditional:
          RIDGE_RETURN_IF_ERROR(ExecuteConditional(step, times));
          continue;
        default:
          break;
      }
      if (times == nullptr) {
        RIDGE_RETURN_IF_ERROR(ExecuteStep(step, compiled_.index.at(&step)));
        continue;
      }
      if (times->cold) FlushHostCaches();
      const size_t at = compiled_.index.at(&step);
      double start = NowMicros();
      RIDGE_RETURN_IF_ERROR(ExecuteStep(step, at));
      times->us[at] += NowMicros() - start;
    }
    return absl::OkStatus();
  }

  absl::Status ExecuteStep(const Step& step, size_t at) {
    const StepCode& code = compiled_.code[at];
    if (code.evaluate) return ExecuteByEvaluator(step);
    switch (step.kind) {
      case StepKind::kCopy: {
        const Buffer& from = compiled_.program.buffers[step.inputs[0]];
        uint8_t* to = address_[step.outputs[0]];
        if (from.bytes > 0 && to != address_[step.inputs[0]]) {
          const uint8_t* source = address_[step.inputs[0]];
          ParallelFor(0, from.bytes, kCopyGrain,
                      [&](int64_t begin, int64_t end) {
                        std::memcpy(to + begin, source + begin, end - begin);
                      });
        }
        return absl::OkStatus();
      }
      case StepKind::kGemm: {
        std::vector<const void*> inputs;
        for (BufferId b : step.inputs) inputs.push_back(address_[b]);
        return RunGemm(step.gemm, inputs.data(), address_[step.outputs[0]]);
      }
      default:
        break;
    }
    std::vector<void*> buffers;
    for (BufferId b : step.inputs) buffers.push_back(address_[b]);
    for (BufferId b : step.outputs) buffers.push_back(address_[b]);
    char* scratch = reinterpret_cast<char*>(scratch_.data());
    for (const StageCall& stage : code.stages) {
      if (stage.serial) {
        stage.function(buffers.data(), scratch, 0, stage.units);
        continue;
      }
      ParallelFor(0, stage.units, stage.grain, [&](int64_t begin, int64_t end) {
        stage.function(buffers.data(), scratch, begin, end);
      });
    }
    return absl::OkStatus();
  }

  absl::Status ExecuteByEvaluator(const Step& step) {
    RIDGE_RET_CHECK(step.group != nullptr) << step.name;
    // By the values' own shapes: an alias (a reshape, say) has its operand's
    // buffer.
    const std::vector<BufferId>& buffers =
        step.kind == StepKind::kGemm ? step.group_inputs : step.inputs;
    std::vector<Literal> inputs;
    for (const Instruction* input : GroupInputs(*step.group)) {
      ForEachLeaf(input->shape(), [&](const Shape& leaf, const ShapeIndex&) {
        inputs.push_back(
            LiteralFromPhysical(leaf, address_[buffers[inputs.size()]]));
      });
    }
    RIDGE_RET_CHECK(inputs.size() == buffers.size()) << step.name;
    RIDGE_ASSIGN_OR_RETURN(std::vector<Literal> outputs,
                           EvaluateGroup(*step.group, inputs));
    RIDGE_RET_CHECK(outputs.size() == step.outputs.size()) << step.name;
    for (size_t k = 0; k < outputs.size(); ++k) {
      const Buffer& buffer = compiled_.program.buffers[step.outputs[k]];
      if (buffer.bytes == 0) continue;
      RIDGE_RET_CHECK(static_cast<int64_t>(outputs[k].byte_size()) ==
                      buffer.bytes)
          << step.name << " result " << k;
      ToPhysical(buffer.shape, outputs[k].bytes(), address_[step.outputs[k]]);
    }
    return absl::OkStatus();
  }

  absl::Status ExecuteWhile(const Step& step, StepTimes* times) {
    const ProgramBody& condition = *step.bodies[0];
    const ProgramBody& body = *step.bodies[1];
    for (int64_t round = 0; round < kMaxRounds; ++round) {
      RIDGE_RETURN_IF_ERROR(Execute(condition, times));
      if (*address_[condition.results[0]] == 0) return absl::OkStatus();
      RIDGE_RETURN_IF_ERROR(Execute(body, times));
    }
    return absl::ResourceExhaustedError(
        absl::StrCat("line ", step.instruction->location().line, ": while %",
                     step.name, " did not end within ", kMaxRounds, " rounds"));
  }

  absl::Status ExecuteConditional(const Step& step, StepTimes* times) {
    const Buffer& selector = compiled_.program.buffers[step.inputs[0]];
    const uint8_t* at = address_[step.inputs[0]];
    int64_t count = static_cast<int64_t>(step.bodies.size());
    int64_t branch = 0;
    if (IsPred(selector.shape.type())) {
      branch = *at != 0 ? 0 : 1;
    } else {
      int32_t value;
      std::memcpy(&value, at, sizeof(value));
      // What is out of range means the last one.
      branch = value < 0 || value >= count ? count - 1 : value;
    }
    return Execute(*step.bodies[branch], times);
  }

  CompiledProgram compiled_;
  Block arena_;
  Block scratch_;
  std::vector<Block> constants_;
  std::vector<Block> bound_;  // arguments that were reordered
  std::vector<uint8_t*> address_;
};

double ClockMhz() {
  absl::StatusOr<std::string> text = ReadFile("/proc/cpuinfo");
  if (!text.ok()) return 0;
  size_t at = text->find("cpu MHz");
  if (at == std::string::npos) return 0;
  size_t colon = text->find(':', at);
  if (colon == std::string::npos) return 0;
  return std::strtod(text->c_str() + colon + 1, nullptr);
}

}  // namespace

DeviceState CpuState() {
  DeviceState state;
  state.set_device(ProcessorName());
  state.set_backend("cpu");
  state.set_library_version(absl::StrCat("Eigen ", EIGEN_WORLD_VERSION, ".",
                                         EIGEN_MAJOR_VERSION, ".",
                                         EIGEN_MINOR_VERSION));
  state.set_clock_mhz(ClockMhz());
  state.set_other_load_seen(OtherLoadSeen());
  return state;
}

absl::StatusOr<std::unique_ptr<Executable>> MakeCpuExecutable(
    CompiledProgram compiled) {
  auto executable = std::make_unique<CpuExecutable>(std::move(compiled));
  RIDGE_RETURN_IF_ERROR(executable->Allocate());
  return executable;
}

}  // namespace ridge
