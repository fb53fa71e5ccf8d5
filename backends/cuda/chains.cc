#include "backends/cuda/chains.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/chain.h"
#include "backends/kernel/schedules/geometry.h"
#include "backends/runtime/physical.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// A launch has few parameters.
constexpr size_t kMaxLinks = 64;
constexpr size_t kMaxParameters = 200;
// What a kernel may declare; of that, what the steps' own text does, and what
// the values between them take.
constexpr int64_t kMaxStaticBytes = 48 << 10;
constexpr int64_t kMaxSharedBytes = 20 << 10;
constexpr int64_t kMaxLocalBytes = 24 << 10;

// A step as links, over buffers of the program instead of parameters.
struct Small {
  std::vector<ChainLink> links;
  int64_t blocks = 1;  // that the largest of them wants
  int64_t launches = 0;
  size_t count = 0;  // links, with those in bodies
  int64_t shared_bytes = 0;
  bool has_control = false;

  void Add(Small other) {
    for (ChainLink& l : other.links) links.push_back(std::move(l));
    blocks = std::max(blocks, other.blocks);
    launches += other.launches;
    count += other.count;
    shared_bytes += other.shared_bytes;
    has_control = has_control || other.has_control;
  }
};

// Scalar operations of one run; saturates.
int64_t Operations(const Kernel& kernel) {
  double sum = 0;
  for (const Node& n : kernel.nodes) {
    uint64_t over = n.vars;
    for (NodeId o : n.operands) over |= kernel.nodes[o].vars;
    if (n.kind == NodeKind::kOp || n.kind == NodeKind::kReduce) {
      sum += static_cast<double>(PointCount(kernel, over));
    }
  }
  return static_cast<int64_t>(std::min(sum, 1e18));
}

// Bytes that the kernel touches, of arrays in part only where it can.
int64_t Touched(const Kernel& kernel) {
  double sum = 0;
  auto add = [&](int32_t buffer, uint64_t vars) {
    const double all =
        static_cast<double>(PhysicalBytes(kernel.buffers[buffer].shape));
    const double elements =
        static_cast<double>(kernel.buffers[buffer].shape.ElementCount());
    const double points = static_cast<double>(PointCount(kernel, vars));
    sum += elements > 0 ? all * std::min(1.0, points / elements) : 0;
  };
  for (const Node& n : kernel.nodes) {
    if (n.kind == NodeKind::kLoad) add(n.buffer, n.vars);
  }
  for (const Store& s : kernel.stores) add(s.buffer, s.vars);
  return static_cast<int64_t>(std::min(sum, 1e18));
}

// How often each buffer is named.
using Mentions = absl::flat_hash_map<BufferId, int64_t>;
void CountMentions(const Step& step, Mentions* mentions);
void CountMentions(const std::vector<BufferId>& buffers, Mentions* mentions) {
  for (BufferId b : buffers) ++(*mentions)[b];
}
void CountMentions(const ProgramBody& body, Mentions* mentions) {
  for (const Step& s : body.steps) CountMentions(s, mentions);
  CountMentions(body.parameters, mentions);
  CountMentions(body.results, mentions);
}
void CountMentions(const Step& step, Mentions* mentions) {
  CountMentions(step.inputs, mentions);
  CountMentions(step.group_inputs, mentions);
  CountMentions(step.outputs, mentions);
  for (const auto& body : step.bodies) CountMentions(*body, mentions);
}

class Former {
 public:
  Former(const DeviceLimits& device, Program* program)
      : device_(device), program_(*program) {}

  absl::Status Run() {
    CountMentions(program_.entry, &mentions_);
    return FormIn(&program_.entry);
  }

  absl::flat_hash_map<std::string, EmittedKernel> TakeEmitted() {
    return std::move(emitted_);
  }

 private:
  absl::Status FormIn(ProgramBody* body) {
    std::vector<Step> steps = std::move(body->steps);
    body->steps.clear();
    for (size_t k = 0; k < steps.size();) {
      const size_t first = k;
      Small run = TakeRun(steps, &k);
      if (Pays(run)) {
        std::vector<Step> members(
            std::make_move_iterator(steps.begin() + first),
            std::make_move_iterator(steps.begin() + k));
        RIDGE_ASSIGN_OR_RETURN(std::optional<Step> chain,
                               ChainOf(std::move(run), &members));
        if (chain.has_value()) {
          body->steps.push_back(*std::move(chain));
          continue;
        }
        std::move(members.begin(), members.end(), steps.begin() + first);
      }
      for (size_t s = first; s < k; ++s) {
        RIDGE_RETURN_IF_ERROR(Keep(std::move(steps[s]), body));
      }
      if (k == first) RIDGE_RETURN_IF_ERROR(Keep(std::move(steps[k++]), body));
    }
    return absl::OkStatus();
  }

  // The longest run from step *k on that may be a chain; *k becomes its end.
  Small TakeRun(const std::vector<Step>& steps, size_t* k) const {
    Small sum;  // without links
    std::vector<Small> parts;
    for (; *k < steps.size(); ++*k) {
      std::optional<Small> next = AsSmall(steps[*k]);
      if (!next.has_value() || sum.count + next->count > kMaxLinks ||
          sum.shared_bytes + next->shared_bytes > kMaxSharedBytes) {
        break;
      }
      if (Slows(sum, *next)) {
        // What wants no more blocks than the loop that follows goes with it.
        while (next->has_control && parts.size() > 1 &&
               !parts.back().has_control &&
               parts.back().blocks <= next->blocks) {
          parts.pop_back();
          --*k;
        }
        break;
      }
      Small sizes = *next;
      sizes.links.clear();
      sum.Add(std::move(sizes));
      parts.push_back(*std::move(next));
    }
    Small run;
    for (Small& part : parts) run.Add(std::move(part));
    return run;
  }

  bool Meet(const ChainLink& a, const ChainLink& b) const {
    for (size_t i = 0; i < a.arguments.size(); ++i) {
      const ChainMemory x = MemoryOf(a.arguments[i]);
      for (size_t k = 0; k < b.arguments.size(); ++k) {
        if ((i >= a.first_written || k >= b.first_written) &&
            Overlap(x, MemoryOf(b.arguments[k]))) {
          return true;
        }
      }
    }
    return false;
  }

  // Steps that do not wait for each other run side by side as launches of a
  // graph: in a chain they would wait.
  bool Pays(const Small& run) const {
    if (run.has_control) return true;
    if (run.launches < 2) return false;
    std::vector<size_t> depth;
    size_t deepest = 0;
    for (size_t k = 0; k < run.links.size(); ++k) {
      size_t above = 0;
      for (size_t j = 0; j < k; ++j) {
        if (depth[j] > above && Meet(run.links[j], run.links[k])) {
          above = depth[j];
        }
      }
      depth.push_back(above + 1);
      deepest = std::max(deepest, above + 1);
    }
    return 2 * deepest >= run.links.size();
  }

  // Loops run in as few blocks as they want: others that want more would make
  // every round wait for more.
  static bool Slows(const Small& run, const Small& next) {
    if (run.count == 0 || run.blocks == next.blocks) return false;
    return (run.blocks < next.blocks ? run : next).has_control;
  }

  // A step that is in no chain; its bodies may have some.
  absl::Status Keep(Step step, ProgramBody* body) {
    for (std::shared_ptr<const ProgramBody>& nested : step.bodies) {
      auto formed = std::make_shared<ProgramBody>(*nested);
      RIDGE_RETURN_IF_ERROR(FormIn(formed.get()));
      nested = std::move(formed);
    }
    body->steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  std::optional<Small> AsSmall(const Step& step) const {
    switch (step.kind) {
      case StepKind::kKernel:
        return OfKernel(step, step.kernel, step.inputs);
      case StepKind::kGemm: {
        const double operations =
            1.0 * step.gemm.m * step.gemm.n * step.gemm.k * step.gemm.batch;
        if (operations > kChainOpsPerBlock * MostBlocks() ||
            step.gemm.k > kChainFold) {
          return std::nullopt;
        }
        absl::StatusOr<Kernel> kernel = BuildKernel(*step.group);
        if (!kernel.ok()) return std::nullopt;
        return OfKernel(step, *kernel, step.group_inputs);
      }
      case StepKind::kCopy:
        return OfCopy(step);
      case StepKind::kWhile:
      case StepKind::kConditional:
        return OfControl(step);
      default:
        return std::nullopt;
    }
  }

  int64_t MostBlocks() const {
    return std::min<int64_t>(kMaxChainBlocks, device_.max_cluster_blocks);
  }

  std::optional<int64_t> BlocksFor(int64_t bytes, int64_t operations) const {
    const int64_t blocks =
        std::max({int64_t{1}, CeilDiv(bytes, kChainBytesPerBlock),
                  CeilDiv(operations, kChainOpsPerBlock)});
    if (blocks > MostBlocks()) return std::nullopt;
    return NextPowerOfTwo(blocks);
  }

  std::optional<Small> OfKernel(const Step& step, const Kernel& kernel,
                                const std::vector<BufferId>& inputs) const {
    if (kernel.loop.has_value() || kernel.prologue != nullptr) {
      return std::nullopt;
    }
    int64_t fold = 1;
    for (size_t v = kernel.space_vars; v < kernel.vars.size(); ++v) {
      fold = std::min<int64_t>(
          fold * std::max<int64_t>(1, kernel.vars[v].extent), kChainFold + 1);
    }
    if (fold > kChainFold) return std::nullopt;
    std::optional<int64_t> blocks =
        BlocksFor(Touched(kernel), Operations(kernel));
    if (!blocks.has_value()) return std::nullopt;
    Small small;
    small.blocks = *blocks;
    if (kernel.stores.empty()) return small;
    absl::StatusOr<EmittedKernel> emitted =
        EmitKernel(kernel, kernel.schedule, device_);
    if (!emitted.ok() || !CanChain(*emitted)) return std::nullopt;
    ChainLink link;
    link.name = step.name;
    link.arguments.assign(inputs.begin(), inputs.end());
    link.first_written = inputs.size();
    link.arguments.insert(link.arguments.end(), step.outputs.begin(),
                          step.outputs.end());
    small.shared_bytes = StaticSharedBytes(emitted->functions);
    small.launches = static_cast<int64_t>(emitted->launches.size());
    small.count = 1;
    link.kernel = *std::move(emitted);
    small.links.push_back(std::move(link));
    return small;
  }

  std::optional<Small> OfCopy(const Step& step) const {
    Small small;
    ChainLink link;
    link.kind = ChainLink::Kind::kCopy;
    link.name = step.name;
    link.bytes = program_.buffers[step.inputs[0]].bytes;
    const std::optional<int64_t> blocks = BlocksFor(2 * link.bytes, 0);
    if (!blocks.has_value()) return std::nullopt;
    small.blocks = *blocks;
    if (link.bytes == 0) return small;
    link.arguments = {step.inputs[0], step.outputs[0]};
    link.first_written = 1;
    small.launches = 1;
    small.count = 1;
    small.links.push_back(std::move(link));
    return small;
  }

  std::optional<Small> OfControl(const Step& step) const {
    Small small;
    small.has_control = true;
    small.count = 1;
    ChainLink link;
    link.kind = step.kind == StepKind::kWhile ? ChainLink::Kind::kWhile
                                              : ChainLink::Kind::kBranch;
    link.name = step.name;
    const BufferId decides = step.kind == StepKind::kWhile
                                 ? step.bodies[0]->results[0]
                                 : step.inputs[0];
    link.is_pred = IsPred(program_.buffers[decides].shape.type());
    link.arguments = {decides};
    link.first_written = 1;
    for (const auto& body : step.bodies) {
      Small inside;
      for (const Step& s : body->steps) {
        std::optional<Small> part = AsSmall(s);
        if (!part.has_value()) return std::nullopt;
        inside.Add(*std::move(part));
        if (inside.count > kMaxLinks) return std::nullopt;
      }
      link.bodies.push_back(std::move(inside.links));
      inside.links.clear();
      small.Add(std::move(inside));
    }
    small.links.push_back(std::move(link));
    return small;
  }

  // Buffers of the links, each once; and which are written.
  void Collect(const std::vector<ChainLink>& links,
               std::vector<BufferId>* buffers,
               absl::flat_hash_set<BufferId>* seen,
               absl::flat_hash_set<BufferId>* written) const {
    for (const ChainLink& link : links) {
      for (size_t a = 0; a < link.arguments.size(); ++a) {
        const BufferId b = link.arguments[a];
        if (seen->insert(b).second) buffers->push_back(b);
        if (a >= link.first_written) written->insert(b);
      }
      for (const auto& body : link.bodies) {
        Collect(body, buffers, seen, written);
      }
    }
  }

  // Arguments become parameters: buffers by `at`, then new scratch arrays.
  void Number(const absl::flat_hash_map<BufferId, int32_t>& at, Chain* chain,
              std::vector<ChainLink>* links,
              std::vector<int64_t>* scratch_bytes) {
    for (ChainLink& link : *links) {
      for (int32_t& a : link.arguments) a = at.at(a);
      for (int64_t bytes : link.kernel.scratch_bytes) {
        link.arguments.push_back(
            static_cast<int32_t>(chain->parameters.size()));
        // Scratch arrays are no other memory, and each is one kernel's.
        const int64_t space =
            -1 - static_cast<int64_t>(chain->parameters.size());
        ChainMemory memory = {space, 0, bytes};
        KeepLocal(chain->cluster, &memory);
        chain->parameters.push_back(memory);
        if (!memory.is_local) scratch_bytes->push_back(bytes);
      }
      for (auto& body : link.bodies) Number(at, chain, &body, scratch_bytes);
    }
  }

  ChainMemory MemoryOf(BufferId b) const {
    const Buffer& buffer = program_.buffers[b];
    if (buffer.kind == BufferKind::kTemporary) {
      return {0, buffer.offset, buffer.offset + buffer.bytes};
    }
    return {1 + int64_t{b}, 0, buffer.bytes};
  }

  // In one block's shared memory, while there is room.
  void KeepLocal(int cluster, ChainMemory* memory) {
    const int64_t bytes = (memory->end - memory->begin + 15) / 16 * 16;
    if (cluster > 1 || local_bytes_ + bytes > kMaxLocalBytes) return;
    local_bytes_ += bytes;
    memory->is_local = true;
  }

  // The steps as one; none where they have too many arrays.
  absl::StatusOr<std::optional<Step>> ChainOf(Small run,
                                              std::vector<Step>* members) {
    std::vector<BufferId> buffers;
    absl::flat_hash_set<BufferId> seen, written;
    Collect(run.links, &buffers, &seen, &written);
    Chain chain;
    chain.name = absl::StrCat("chain_", emitted_.size());
    chain.cluster = static_cast<int>(run.blocks);
    chain.most_fetched = std::min(
        chain.most_fetched, device_.shared_bytes_per_block - kMaxStaticBytes);
    Step step;
    step.kind = StepKind::kChain;
    step.name = chain.name;
    local_bytes_ = 0;
    Mentions inside;
    for (const Step& s : *members) CountMentions(s, &inside);
    absl::flat_hash_map<BufferId, ChainMemory> memory;
    for (BufferId b : buffers) {
      ChainMemory& m = memory[b] = MemoryOf(b);
      if (program_.buffers[b].kind == BufferKind::kTemporary &&
          inside[b] == mentions_[b]) {
        KeepLocal(chain.cluster, &m);
        // Shared memory of its own.
        if (m.is_local) m.space = -1 - int64_t{kMaxParameters} - b;
      }
    }
    // Inputs, then what is written, then what nobody else sees.
    auto rank = [&](BufferId b) {
      return memory[b].is_local ? 2 : written.contains(b) ? 1 : 0;
    };
    std::stable_sort(buffers.begin(), buffers.end(),
                     [&](BufferId a, BufferId b) { return rank(a) < rank(b); });
    absl::flat_hash_map<BufferId, int32_t> at;
    for (BufferId b : buffers) {
      at[b] = static_cast<int32_t>(chain.parameters.size());
      chain.parameters.push_back(memory[b]);
      if (rank(b) == 0) step.inputs.push_back(b);
      if (rank(b) == 1) step.outputs.push_back(b);
    }
    for (size_t p = 0; p < step.inputs.size(); ++p) {
      ChainMemory& m = chain.parameters[p];
      m.is_constant =
          m.end - m.begin <= kChainBytesPerBlock * run.blocks &&
          std::none_of(chain.parameters.begin() + step.inputs.size(),
                       chain.parameters.end(), [&](const ChainMemory& written) {
                         return Overlap(written, m);
                       });
    }
    std::vector<int64_t> scratch_bytes;
    Number(at, &chain, &run.links, &scratch_bytes);
    if (chain.parameters.size() > kMaxParameters) return std::nullopt;
    chain.links = std::move(run.links);
    RIDGE_ASSIGN_OR_RETURN(EmittedKernel emitted, EmitChain(chain));
    // Buffers come first, then scratch.
    std::vector<int32_t>& arguments = emitted.launches[0].arguments;
    const size_t named = step.inputs.size() + step.outputs.size();
    for (size_t k = named; k < arguments.size(); ++k) {
      arguments[k] = -1 - static_cast<int32_t>(k - named);
    }
    emitted.scratch_bytes = std::move(scratch_bytes);
    emitted_.emplace(chain.name, std::move(emitted));
    auto body = std::make_shared<ProgramBody>();
    body->steps = std::move(*members);
    step.bodies.push_back(std::move(body));
    return step;
  }

  const DeviceLimits& device_;
  Program& program_;
  Mentions mentions_;
  int64_t local_bytes_ = 0;  // of the chain that is being made
  absl::flat_hash_map<std::string, EmittedKernel> emitted_;
};

}  // namespace

absl::StatusOr<absl::flat_hash_map<std::string, EmittedKernel>> FormChains(
    const DeviceLimits& device, Program* program) {
  Former former(device, program);
  RIDGE_RETURN_IF_ERROR(former.Run());
  return former.TakeEmitted();
}

}  // namespace ridge::cuda
