#include "backends/cuda/executable.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cuda/cold_cache.h"
#include "backends/cuda/control_flow.h"
#include "backends/cuda/driver/memory.h"
#include "backends/cuda/driver/stream.h"
#include "backends/cuda/overlap.h"
#include "backends/runtime/arguments.h"
#include "backends/runtime/evaluate_group.h"
#include "backends/runtime/physical.h"
#include "backends/runtime/sampler.h"
#include "backends/runtime/samples.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// Streams that a graph is recorded over.
constexpr int kLanes = 8;
constexpr int64_t kMaxRounds = 100'000'000;  // of one while loop

class CudaExecutable : public Executable {
 public:
  CudaExecutable(const Context& context, CompiledProgram compiled,
                 Stream stream)
      : context_(context),
        compiled_(std::move(compiled)),
        stream_(std::move(stream)) {}

  absl::Status Allocate() {
    RIDGE_RETURN_IF_ERROR(context_.Bind());
    const Program& program = compiled_.program;
    RIDGE_ASSIGN_OR_RETURN(
        arena_, DeviceBuffer::Allocate(context_, program.arena_bytes));
    RIDGE_ASSIGN_OR_RETURN(
        scratch_, DeviceBuffer::Allocate(context_, compiled_.scratch_bytes));
    address_.assign(program.buffers.size(), 0);
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      const Buffer& buffer = program.buffers[b];
      switch (buffer.kind) {
        case BufferKind::kTemporary:
          address_[b] = arena_.ptr() + buffer.offset;
          break;
        case BufferKind::kConstant: {
          RIDGE_RETURN_IF_ERROR(Own(b));
          RIDGE_RETURN_IF_ERROR(Upload(b, *buffer.constant));
          break;
        }
        case BufferKind::kParameter:
          RIDGE_RETURN_IF_ERROR(Own(b));
          break;
      }
    }
    return stream_.Synchronize();
  }

  absl::StatusOr<std::vector<Literal>> Run(
      absl::Span<const Literal> arguments) override {
    RIDGE_RETURN_IF_ERROR(BindArguments(arguments));
    RIDGE_RETURN_IF_ERROR(PoisonArena());
    RIDGE_RETURN_IF_ERROR(stream_.Synchronize());
    const double start = NowMicros();
    RIDGE_RETURN_IF_ERROR(Execute(compiled_.program.entry));
    RIDGE_RETURN_IF_ERROR(stream_.Synchronize());
    if (!first_run_us_.has_value()) first_run_us_ = NowMicros() - start;
    if (Recordable()) {
      // What is timed is what is returned: the recorded graph's results.
      RIDGE_RETURN_IF_ERROR(Record());
      RIDGE_RETURN_IF_ERROR(PoisonArena());
      RIDGE_RETURN_IF_ERROR(graph_->Launch(stream_));
    }
    const std::vector<BufferId>& from = compiled_.program.entry.results;
    std::vector<Shape> leaves = ResultLeaves(*compiled_.program.module);
    std::vector<Literal> results;
    for (size_t k = 0; k < from.size(); ++k) {
      RIDGE_ASSIGN_OR_RETURN(Literal value, Download(from[k], leaves[k]));
      results.push_back(std::move(value));
    }
    return results;
  }

  absl::StatusOr<Measurement> Measure(absl::Span<const Literal> arguments,
                                      const MeasureOptions& options) override {
    RIDGE_RETURN_IF_ERROR(BindArguments(arguments));
    RIDGE_RETURN_IF_ERROR(Execute(compiled_.program.entry));
    RIDGE_RETURN_IF_ERROR(stream_.Synchronize());
    RIDGE_RETURN_IF_ERROR(MakeCold(options));
    Measurement m;
    *m.mutable_state() = compiled_.state;
    m.set_module_fingerprint(compiled_.module_fingerprint);
    m.set_compile_ms(compiled_.compile_ms);

    // A program without host steps is one graph; its replay has no launch
    // cost on the host. (That its loops end is known from their run above.)
    if (Recordable()) RIDGE_RETURN_IF_ERROR(Record());
    auto whole = [&]() -> absl::Status {
      return graph_.has_value() ? graph_->Launch(stream_)
                                : Execute(compiled_.program.entry);
    };
    RIDGE_ASSIGN_OR_RETURN(std::vector<double> total,
                           Sample(options, Written(), whole));
    *m.mutable_total() = MakeSamples(total, options.cold_cache);
    if (options.per_kernel) RIDGE_RETURN_IF_ERROR(MeasureSteps(options, &m));
    return m;
  }

  const std::vector<CompiledStep>& steps() const override {
    return compiled_.steps;
  }

  std::optional<double> first_run_us() const override { return first_run_us_; }

 private:
  absl::Status Own(size_t b) {
    const Buffer& buffer = compiled_.program.buffers[b];
    RIDGE_ASSIGN_OR_RETURN(
        DeviceBuffer memory,
        DeviceBuffer::Allocate(context_, std::max<int64_t>(buffer.bytes, 1)));
    address_[b] = memory.ptr();
    owned_.push_back(std::move(memory));
    return absl::OkStatus();
  }

  absl::Status Upload(size_t b, const Literal& value) {
    const Buffer& buffer = compiled_.program.buffers[b];
    if (buffer.bytes == 0 || value.byte_size() == 0) return absl::OkStatus();
    if (IsRowMajor(buffer.shape)) {
      RIDGE_RETURN_IF_ERROR(
          CopyToDevice(stream_, address_[b], value.bytes(), buffer.bytes));
    } else {
      std::vector<uint8_t> physical(buffer.bytes);
      ToPhysical(buffer.shape, value.bytes(), physical.data());
      RIDGE_RETURN_IF_ERROR(
          CopyToDevice(stream_, address_[b], physical.data(), buffer.bytes));
    }
    return stream_.Synchronize();
  }

  // `shape` as the reader sees it: a buffer may be an alias of another value.
  absl::StatusOr<Literal> Download(BufferId b, const Shape& shape) {
    const Buffer& buffer = compiled_.program.buffers[b];
    if (!shape.IsArray()) return Literal::Zeros(shape);
    std::vector<uint8_t> physical(buffer.bytes);
    if (buffer.bytes > 0) {
      RIDGE_RETURN_IF_ERROR(
          CopyToHost(stream_, physical.data(), address_[b], buffer.bytes));
      RIDGE_RETURN_IF_ERROR(stream_.Synchronize());
    }
    return LiteralFromPhysical(shape, physical.data());
  }

  absl::Status BindArguments(absl::Span<const Literal> arguments) {
    RIDGE_RETURN_IF_ERROR(context_.Bind());
    RIDGE_RETURN_IF_ERROR(CheckArguments(*compiled_.program.module, arguments));
    for (size_t b = 0; b < compiled_.program.buffers.size(); ++b) {
      const Buffer& buffer = compiled_.program.buffers[b];
      if (buffer.kind != BufferKind::kParameter) continue;
      RIDGE_RETURN_IF_ERROR(Upload(b, arguments[buffer.parameter_leaf]));
    }
    return absl::OkStatus();
  }

  absl::Status Execute(const ProgramBody& body) {
    for (const Step& step : body.steps) {
      switch (step.kind) {
        case StepKind::kWhile:
          RIDGE_RETURN_IF_ERROR(ExecuteWhile(step));
          break;
        case StepKind::kConditional:
          RIDGE_RETURN_IF_ERROR(ExecuteConditional(step));
          break;
        default:
          RIDGE_RETURN_IF_ERROR(
              ExecuteStep(step, compiled_.index.at(&step), stream_));
      }
    }
    return absl::OkStatus();
  }

  absl::Status PoisonArena() {
    if (arena_.size() == 0) return absl::OkStatus();
    return Poison(stream_, arena_.ptr(), arena_.size());
  }

  // ---- The program as a graph ----

  bool Recordable() const {
    return compiled_.all_on_device &&
           (!compiled_.has_control || HasConditionalNodes(context_));
  }

  // After the steps have run once.
  absl::Status Record() {
    if (graph_.has_value()) return absl::OkStatus();
    const std::vector<Step>& steps = compiled_.program.entry.steps;
    std::vector<StepMemory> memory;
    for (const Step& step : steps) memory.push_back(MemoryOf(step));
    const std::vector<Placement> placed = PlaceSteps(memory, kLanes);
    while (static_cast<int>(side_.size()) + 1 < kLanes) {
      RIDGE_ASSIGN_OR_RETURN(Stream lane, Stream::Create(context_));
      side_.push_back(std::move(lane));
    }
    // One event a step, and one a meeting.
    std::vector<Event> done;
    for (size_t k = 0; k < 2 * steps.size() + 1; ++k) {
      RIDGE_ASSIGN_OR_RETURN(Event e, Event::Create(context_));
      done.push_back(std::move(e));
    }
    if (compiled_.has_control && !control_.has_value()) {
      RIDGE_ASSIGN_OR_RETURN(control_, ControlKernels::Load(context_));
    }
    RIDGE_ASSIGN_OR_RETURN(Graph recorded, Graph::Capture(stream_, [&] {
                             return Overlapped(steps, placed, done);
                           }));
    RIDGE_ASSIGN_OR_RETURN(GraphExec exec, recorded.Instantiate());
    RIDGE_RETURN_IF_ERROR(exec.Upload(stream_));
    graph_.emplace(std::move(exec));
    return absl::OkStatus();
  }

  const Stream& Lane(int lane) const {
    return lane == 0 ? stream_ : side_[lane - 1];
  }

  absl::Status Overlapped(const std::vector<Step>& steps,
                          const std::vector<Placement>& placed,
                          const std::vector<Event>& events) {
    const size_t n = steps.size();
    size_t meeting = 2 * n;  // the event all lanes start behind
    RIDGE_RETURN_IF_ERROR(events[meeting].Record(stream_));
    std::vector<bool> under_way(kLanes);
    std::vector<size_t> tail(kLanes);
    auto meet = [&]() -> absl::Status {
      for (int l = 1; l < kLanes; ++l) {
        if (!under_way[l]) continue;
        RIDGE_RETURN_IF_ERROR(stream_.WaitFor(events[tail[l]]));
        under_way[l] = false;
      }
      return absl::OkStatus();
    };
    for (size_t k = 0; k < n; ++k) {
      const Placement& p = placed[k];
      if (p.joins) {
        RIDGE_RETURN_IF_ERROR(meet());
        meeting = n + k;
        RIDGE_RETURN_IF_ERROR(events[meeting].Record(stream_));
      }
      const Stream& lane = Lane(p.lane);
      if (p.lane > 0 && !under_way[p.lane]) {
        RIDGE_RETURN_IF_ERROR(lane.WaitFor(events[meeting]));
        under_way[p.lane] = true;
      }
      for (size_t w : p.waits) {
        RIDGE_RETURN_IF_ERROR(lane.WaitFor(events[w]));
      }
      RIDGE_RETURN_IF_ERROR(RecordStep(steps[k], lane, /*depth=*/0));
      RIDGE_RETURN_IF_ERROR(events[k].Record(lane));
      tail[p.lane] = k;
    }
    return meet();
  }

  // A step as nodes of the graph that `stream` is capturing. `depth` counts
  // the loops and branches around it.
  absl::Status RecordStep(const Step& step, const Stream& stream, int depth) {
    if (step.kind == StepKind::kWhile) {
      return RecordWhile(step, stream, depth);
    }
    if (step.kind == StepKind::kConditional) {
      return RecordConditional(step, stream, depth);
    }
    return ExecuteStep(step, compiled_.index.at(&step), stream);
  }

  absl::Status RecordBody(const ProgramBody& body, const Stream& stream,
                          int depth) {
    for (const Step& step : body.steps) {
      RIDGE_RETURN_IF_ERROR(RecordStep(step, stream, depth));
    }
    return absl::OkStatus();
  }

  absl::Status RecordWhile(const Step& step, const Stream& stream, int depth) {
    RIDGE_ASSIGN_OR_RETURN(ConditionHandle goes_on, NewCondition(stream));
    RIDGE_ASSIGN_OR_RETURN(const Stream* inner, Inner(depth));
    auto decide = [&](const Stream& on, int at) -> absl::Status {
      RIDGE_RETURN_IF_ERROR(RecordBody(*step.bodies[0], on, at));
      return control_->SetIfTrue(goes_on, address_[step.bodies[0]->results[0]],
                                 on);
    };
    RIDGE_RETURN_IF_ERROR(decide(stream, depth));
    return CaptureConditional(
        stream, goes_on, ConditionalKind::kWhile, *inner,
        [&]() -> absl::Status {
          RIDGE_RETURN_IF_ERROR(RecordBody(*step.bodies[1], *inner, depth + 1));
          return decide(*inner, depth + 1);
        });
  }

  absl::Status RecordConditional(const Step& step, const Stream& stream,
                                 int depth) {
    RIDGE_ASSIGN_OR_RETURN(const Stream* inner, Inner(depth));
    const BufferId selector = step.inputs[0];
    const bool is_pred =
        IsPred(compiled_.program.buffers[selector].shape.type());
    const int32_t count = static_cast<int32_t>(step.bodies.size());
    // All are decided before any branch writes what the selector may share.
    std::vector<ConditionHandle> chosen(count);
    for (int32_t b = 0; b < count; ++b) {
      RIDGE_ASSIGN_OR_RETURN(chosen[b], NewCondition(stream));
      RIDGE_RETURN_IF_ERROR(control_->SetIfChosen(chosen[b], address_[selector],
                                                  is_pred, b, count, stream));
    }
    for (int32_t b = 0; b < count; ++b) {
      RIDGE_RETURN_IF_ERROR(CaptureConditional(
          stream, chosen[b], ConditionalKind::kIf, *inner,
          [&] { return RecordBody(*step.bodies[b], *inner, depth + 1); }));
    }
    return absl::OkStatus();
  }

  // The stream that captures bodies below `depth` others.
  absl::StatusOr<const Stream*> Inner(int depth) {
    while (static_cast<int>(inner_.size()) <= depth) {
      RIDGE_ASSIGN_OR_RETURN(Stream stream, Stream::Create(context_));
      inner_.push_back(std::make_unique<Stream>(std::move(stream)));
    }
    return inner_[depth].get();
  }

  // What a step touches: its buffers, and what steps share besides; of loops
  // and branches what their bodies touch.
  StepMemory MemoryOf(const Step& step) const {
    StepMemory m;
    const bool is_control =
        step.kind == StepKind::kWhile || step.kind == StepKind::kConditional;
    for (const auto& body : step.bodies) {
      if (!is_control) break;
      for (const Step& inside : body->steps) {
        const StepMemory more = MemoryOf(inside);
        m.reads.insert(m.reads.end(), more.reads.begin(), more.reads.end());
        m.writes.insert(m.writes.end(), more.writes.begin(), more.writes.end());
      }
    }
    auto range = [&](BufferId b) {
      const uint64_t at = static_cast<uint64_t>(address_[b]);
      const int64_t bytes = compiled_.program.buffers[b].bytes;
      return MemoryRange{at, at + static_cast<uint64_t>(bytes)};
    };
    for (BufferId b : step.inputs) m.reads.push_back(range(b));
    for (BufferId b : step.group_inputs) m.reads.push_back(range(b));
    for (BufferId b : step.outputs) m.writes.push_back(range(b));
    if (is_control) return m;
    const StepCode& code = compiled_.code[compiled_.index.at(&step)];
    if (!code.scratch_offsets.empty()) {
      const uint64_t at = static_cast<uint64_t>(scratch_.ptr());
      m.writes.push_back({at, at + scratch_.size()});
    }
    // Library calls share their workspace: any address of no buffer will do.
    if (code.matmul.has_value()) m.writes.push_back({0, 1});
    return m;
  }

  absl::Status ExecuteStep(const Step& step, size_t at, const Stream& stream) {
    StepCode& code = compiled_.code[at];
    if (code.on_host) return ExecuteOnHost(step);
    if (step.kind == StepKind::kCopy) {
      int64_t bytes = compiled_.program.buffers[step.inputs[0]].bytes;
      if (bytes == 0 || address_[step.inputs[0]] == address_[step.outputs[0]]) {
        return absl::OkStatus();
      }
      return CopyOnDevice(stream, address_[step.outputs[0]],
                          address_[step.inputs[0]], bytes);
    }
    if (code.matmul.has_value()) return ExecuteMatmul(step, &code, stream);
    // A dot group that runs as a kernel reads the group's own inputs.
    const std::vector<BufferId>& inputs =
        step.kind == StepKind::kGemm ? step.group_inputs : step.inputs;
    for (const ReadyLaunch& launch : code.launches) {
      std::vector<DevicePtr> addresses;
      for (int32_t a : launch.arguments) {
        if (a < 0) {
          addresses.push_back(scratch_.ptr() + code.scratch_offsets[-1 - a]);
        } else if (a < static_cast<int32_t>(inputs.size())) {
          addresses.push_back(address_[inputs[a]]);
        } else {
          addresses.push_back(
              address_[step.outputs[a - static_cast<int32_t>(inputs.size())]]);
        }
      }
      KernelArgs args;
      if (launch.packed) {
        args.AddBytes(addresses.data(), addresses.size() * sizeof(DevicePtr),
                      alignof(DevicePtr));
      } else {
        for (DevicePtr a : addresses) args.Add<DevicePtr>(a);
      }
      RIDGE_RETURN_IF_ERROR(
          launch.function.Launch(launch.config, args, stream));
    }
    return absl::OkStatus();
  }

  absl::Status ExecuteMatmul(const Step& step, StepCode* code,
                             const Stream& stream) {
    MatmulBuffers buffers;
    buffers.a = address_[step.inputs[0]];
    buffers.b = address_[step.inputs[1]];
    size_t next = 2;
    if (step.gemm.beta != 0) buffers.c = address_[step.inputs[next++]];
    if (step.gemm.has_bias) buffers.bias = address_[step.inputs[next]];
    buffers.d = address_[step.outputs[0]];
    return code->matmul->Run(code->matmul_algo, buffers, stream);
  }

  absl::Status ExecuteOnHost(const Step& step) {
    const std::vector<BufferId>& from =
        step.kind == StepKind::kGemm ? step.group_inputs : step.inputs;
    std::vector<Shape> leaves = InputLeaves(*step.group);
    RIDGE_RET_CHECK(leaves.size() == from.size()) << step.name;
    std::vector<Literal> inputs;
    for (size_t k = 0; k < from.size(); ++k) {
      RIDGE_ASSIGN_OR_RETURN(Literal value, Download(from[k], leaves[k]));
      inputs.push_back(std::move(value));
    }
    RIDGE_ASSIGN_OR_RETURN(std::vector<Literal> outputs,
                           EvaluateGroup(*step.group, inputs));
    RIDGE_RET_CHECK(outputs.size() == step.outputs.size()) << step.name;
    for (size_t k = 0; k < outputs.size(); ++k) {
      RIDGE_RETURN_IF_ERROR(Upload(step.outputs[k], outputs[k]));
    }
    return absl::OkStatus();
  }

  absl::Status ExecuteWhile(const Step& step) {
    for (int64_t round = 0; round < kMaxRounds; ++round) {
      RIDGE_RETURN_IF_ERROR(Execute(*step.bodies[0]));
      uint8_t go = 0;
      RIDGE_RETURN_IF_ERROR(
          CopyToHost(stream_, &go, address_[step.bodies[0]->results[0]], 1));
      RIDGE_RETURN_IF_ERROR(stream_.Synchronize());
      if (go == 0) return absl::OkStatus();
      RIDGE_RETURN_IF_ERROR(Execute(*step.bodies[1]));
    }
    return absl::ResourceExhaustedError(
        absl::StrCat("line ", step.instruction->location().line, ": while %",
                     step.name, " did not end within ", kMaxRounds, " rounds"));
  }

  absl::Status ExecuteConditional(const Step& step) {
    const Buffer& selector = compiled_.program.buffers[step.inputs[0]];
    int32_t value = 0;
    size_t bytes = IsPred(selector.shape.type()) ? 1 : sizeof(value);
    RIDGE_RETURN_IF_ERROR(
        CopyToHost(stream_, &value, address_[step.inputs[0]], bytes));
    RIDGE_RETURN_IF_ERROR(stream_.Synchronize());
    int32_t count = static_cast<int32_t>(step.bodies.size());
    int32_t branch = value;
    if (IsPred(selector.shape.type())) {
      branch = value != 0 ? 0 : 1;
    } else if (value < 0 || value >= count) {
      branch = count - 1;
    }
    return Execute(*step.bodies[branch]);
  }

  // ---- Timing ----

  absl::Status MakeCold(const MeasureOptions& options) {
    if (!options.cold_cache || cold_.has_value()) return absl::OkStatus();
    RIDGE_ASSIGN_OR_RETURN(cold_, ColdCache::Create(context_));
    return absl::OkStatus();
  }

  int64_t Written(const Step& step) const {
    int64_t bytes = 0;
    for (BufferId b : step.outputs) {
      bytes += compiled_.program.buffers[b].bytes;
    }
    return bytes;
  }
  int64_t Written() const {
    int64_t bytes = 0;
    for (const Step& s : compiled_.program.entry.steps) bytes += Written(s);
    return bytes;
  }

  // Device time of `work`, which writes so many bytes, sample by sample, on a
  // cold or warm cache.
  absl::StatusOr<std::vector<double>> Sample(
      const MeasureOptions& options, int64_t written,
      absl::FunctionRef<absl::Status()> work) {
    RIDGE_ASSIGN_OR_RETURN(Event begin, Event::Create(context_));
    RIDGE_ASSIGN_OR_RETURN(Event end, Event::Create(context_));
    std::vector<double> us;
    double sum = 0;
    for (int k = 0; k < options.warmup + options.max_repetitions; ++k) {
      if (options.interrupted != nullptr && *options.interrupted) {
        if (us.empty()) return absl::CancelledError("interrupted");
        break;
      }
      if (options.cold_cache) {
        RIDGE_RETURN_IF_ERROR(cold_->Flush(written, stream_));
      }
      RIDGE_RETURN_IF_ERROR(begin.Record(stream_));
      RIDGE_RETURN_IF_ERROR(work());
      RIDGE_RETURN_IF_ERROR(end.Record(stream_));
      RIDGE_ASSIGN_OR_RETURN(double t, ElapsedMicros(begin, end));
      if (k < options.warmup) continue;
      us.push_back(t);
      sum += t;
      if (static_cast<int>(us.size()) >= options.min_repetitions &&
          sum > options.budget_us) {
        break;
      }
    }
    return us;
  }

  absl::Status MeasureSteps(const MeasureOptions& options, Measurement* m) {
    std::vector<std::vector<double>> samples(compiled_.steps.size());
    for (const Step& step : compiled_.program.entry.steps) {
      if (step.kind == StepKind::kWhile ||
          step.kind == StepKind::kConditional) {
        continue;
      }
      size_t at = compiled_.index.at(&step);
      if (!samples[at].empty()) continue;
      MeasureOptions each = options;
      each.budget_us = options.budget_us / 4;
      RIDGE_ASSIGN_OR_RETURN(samples[at], Sample(each, Written(step), [&] {
                               return ExecuteStep(step, at, stream_);
                             }));
    }
    for (size_t k = 0; k < samples.size(); ++k) {
      KernelMeasurement* kernel = m->add_kernels();
      const CompiledStep& step = compiled_.steps[k];
      kernel->set_name(step.name);
      kernel->set_schedule(step.schedule);
      kernel->set_registers(step.resources.registers);
      kernel->set_spill_bytes(step.resources.spill_bytes);
      kernel->set_shared_bytes(step.resources.shared_bytes);
      *kernel->mutable_samples() = MakeSamples(samples[k], options.cold_cache);
    }
    return absl::OkStatus();
  }

  const Context& context_;
  CompiledProgram compiled_;
  Stream stream_;
  std::vector<Stream> side_;  // lanes 1, 2, ... of the recorded graph
  std::vector<std::unique_ptr<Stream>> inner_;  // by depth of loops, branches
  std::optional<ControlKernels> control_;
  std::optional<GraphExec> graph_;
  std::optional<double> first_run_us_;
  DeviceBuffer arena_;
  DeviceBuffer scratch_;
  std::optional<ColdCache> cold_;
  std::vector<DeviceBuffer> owned_;
  std::vector<DevicePtr> address_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Executable>> MakeCudaExecutable(
    const Context& context, CompiledProgram compiled) {
  RIDGE_RETURN_IF_ERROR(context.Bind());
  RIDGE_ASSIGN_OR_RETURN(Stream stream, Stream::Create(context));
  auto executable = std::make_unique<CudaExecutable>(
      context, std::move(compiled), std::move(stream));
  RIDGE_RETURN_IF_ERROR(executable->Allocate());
  return executable;
}

}  // namespace ridge::cuda
