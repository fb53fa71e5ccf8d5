#include "backends/cuda/emit/chain.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/cuda/emit/common.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

constexpr int kMostThreads = 512;  // registers: 128 a thread
constexpr absl::string_view kHead = "extern \"C\" __global__ void";

constexpr char kChainHelpers[] = R"cuda(
// A link's place in its grid, in the names that its text uses.
struct rdg_at {
  unsigned x;
};
// Any array.
struct rdg_any {
  void* p;
  template <typename T>
  __device__ __forceinline__ operator T*() const { return (T*)p; }
};
// The first N threads of the block.
template <int N>
RDG_FN void rdg_meet() {
  asm volatile("bar.sync 1, %0;" ::"n"(N) : "memory");
}
RDG_FN void rdg_meet_cluster() {
  asm volatile("barrier.cluster.arrive.aligned;\n"
               "barrier.cluster.wait.aligned;" ::: "memory");
}
// Asks for memory that a later link reads.
RDG_FN void rdg_ahead(const char* p, int64_t bytes, int64_t first,
                      int64_t step) {
  for (int64_t at = first * 128; at < bytes; at += step * 128) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p + at));
  }
}
RDG_FN void rdg_near(const char* p, int64_t bytes, int64_t first,
                     int64_t step) {
  for (int64_t at = first * 128; at < bytes; at += step * 128) {
    unsigned value;
    asm volatile("ld.global.ca.u8 %0, [%1];" : "=r"(value) : "l"(p + at));
  }
}
RDG_FN void rdg_copy(char* to, const char* from, int64_t bytes, int64_t first,
                     int64_t step) {
  for (int64_t at = first; at < bytes; at += step) to[at] = from[at];
}
)cuda";

// A kernel's text as functions of a block. Kernels whose texts differ in names
// alone share them: code that runs once comes from memory, at a wait for each
// 128 bytes.
struct Part {
  std::string space;                   // the namespace that they are in
  std::vector<std::string> functions;  // by launch
  std::string text;
  bool has_shared = false;
  int uses = 0;
};

// Without comments, and with the launches' functions by number.
std::string WithoutNames(const EmittedKernel& kernel) {
  std::string text;
  for (absl::string_view line : absl::StrSplit(kernel.source, '\n')) {
    absl::StrAppend(&text, line.substr(0, line.find("  // ")), "\n");
  }
  for (size_t l = 0; l < kernel.launches.size(); ++l) {
    const std::string head =
        absl::StrCat(") ", kernel.launches[l].function, "(");
    const size_t at = text.find(head);
    if (at != std::string::npos) {
      text.replace(at, head.size(), absl::StrCat(") ", l, "("));
    }
    absl::StrAppend(&text, kernel.launches[l].block, " ");
  }
  return text;
}

class ChainEmitter {
 public:
  explicit ChainEmitter(const Chain& chain) : chain_(chain) {}

  absl::StatusOr<EmittedKernel> Run() {
    threads_ = Threads(chain_.links);
    RIDGE_RETURN_IF_ERROR(EmitLinks(chain_.links));
    EmittedKernel emitted;
    Launch launch;
    launch.function = chain_.name;
    launch.grid = chain_.cluster;
    launch.cluster = chain_.cluster;
    launch.block = threads_;
    std::vector<std::string> parameters;
    std::string locals;
    for (size_t p = 0; p < chain_.parameters.size(); ++p) {
      const ChainMemory& m = chain_.parameters[p];
      if (m.is_local) {
        absl::StrAppend(&locals, "  __shared__ __align__(16) char p", p, "[",
                        std::max<int64_t>(1, m.end - m.begin), "];\n");
        continue;
      }
      launch.arguments.push_back(static_cast<int32_t>(p));
      parameters.push_back(absl::StrCat("char* p", p));
    }
    std::string parts;
    for (const auto& [key, part] : parts_) {
      absl::StrAppend(&parts, "\nnamespace ", part.space, " {\n",
                      "#define RDG_PART static __device__ ",
                      part.uses > 1 ? "__noinline__" : "__forceinline__", "\n",
                      part.text, "#undef RDG_PART\n}  // namespace ",
                      part.space, "\n");
    }
    const std::string cluster =
        chain_.cluster > 1
            ? absl::StrCat("__cluster_dims__(", chain_.cluster, ", 1, 1) ")
            : "";
    emitted.source =
        absl::StrCat(FilePrelude(), kChainHelpers, parts, "\n", kHead, " ",
                     cluster, "__launch_bounds__(", threads_, ") ", chain_.name,
                     "(", absl::StrJoin(parameters, ", "), ") {\n", locals,
                     Ahead(), text_, "}\n");
    emitted.choice.name = "chain";
    emitted.choice.parameters = {{"cluster", chain_.cluster},
                                 {"threads", threads_}};
    emitted.launches.push_back(std::move(launch));
    return emitted;
  }

 private:
  // Enough for the widest link, where turns can go side by side.
  int Threads(const std::vector<ChainLink>& links) const {
    int64_t most = 32;
    for (const ChainLink& link : links) {
      for (const Launch& l : link.kernel.launches) {
        const int64_t turns = CeilDiv(l.grid, chain_.cluster);
        const bool alone = StaticSharedBytes(link.kernel.source) > 0;
        const int64_t beside =
            std::max<int64_t>(1, alone ? 1 : kMostThreads / l.block);
        most = std::max(most, std::min(turns, beside) * l.block);
      }
      if (link.kind == ChainLink::Kind::kCopy) {
        most = std::max<int64_t>(
            most, std::min<int64_t>(256, CeilDiv(link.bytes, 32) * 32));
      }
      for (const auto& body : link.bodies) {
        most = std::max<int64_t>(most, Threads(body));
      }
    }
    return static_cast<int>(most);
  }

  std::string First() const {
    return chain_.cluster == 1
               ? "threadIdx.x"
               : absl::StrCat("blockIdx.x * ", threads_, " + threadIdx.x");
  }
  int64_t AllThreads() const {
    return static_cast<int64_t>(threads_) * chain_.cluster;
  }

  // What no link writes is asked for at once, so that one wait serves all.
  std::string Ahead() const {
    std::string text;
    const absl::string_view function =
        chain_.cluster == 1 ? "rdg_near" : "rdg_ahead";
    for (size_t p = 0; p < chain_.parameters.size(); ++p) {
      const ChainMemory& m = chain_.parameters[p];
      if (!m.is_constant || m.is_local || m.begin == m.end) continue;
      absl::StrAppend(&text, "  ", function, "(p", p, ", ", m.end - m.begin,
                      ", ", First(), ", ", AllThreads(), ");\n");
    }
    return text;
  }

  void Line(absl::string_view text) {
    absl::StrAppend(&text_, std::string(2 * indent_, ' '), text, "\n");
  }
  void Open(absl::string_view text) {
    Line(text);
    ++indent_;
  }
  void Close(absl::string_view text = "}") {
    --indent_;
    Line(text);
  }

  void Barrier() {
    if (!touched_) return;
    Line(chain_.cluster == 1 ? "__syncthreads();" : "rdg_meet_cluster();");
    touched_ = false;
    read_.clear();
    written_.clear();
  }

  static bool Meets(const ChainMemory& a, const ChainMemory& b) {
    return a.space == b.space && a.begin < b.end && b.begin < a.end;
  }
  bool MeetsAny(const std::vector<int32_t>& touched, int32_t p) const {
    return std::any_of(touched.begin(), touched.end(), [&](int32_t t) {
      return Meets(chain_.parameters[t], chain_.parameters[p]);
    });
  }

  void Touch(const ChainLink& link) {
    touched_ = true;
    for (size_t a = 0; a < link.arguments.size(); ++a) {
      (a >= link.first_written ? written_ : read_).push_back(link.arguments[a]);
    }
  }

  // A barrier where the link meets what was touched since the last.
  void Enter(const ChainLink& link) {
    for (size_t a = 0; a < link.arguments.size(); ++a) {
      const int32_t p = link.arguments[a];
      if (MeetsAny(written_, p) ||
          (a >= link.first_written && MeetsAny(read_, p))) {
        Barrier();
        break;
      }
    }
    Touch(link);
  }

  absl::Status EmitLinks(const std::vector<ChainLink>& links) {
    for (const ChainLink& link : links) {
      switch (link.kind) {
        case ChainLink::Kind::kKernel:
          Enter(link);
          RIDGE_RETURN_IF_ERROR(EmitKernelLink(link));
          break;
        case ChainLink::Kind::kCopy:
          Enter(link);
          Line(absl::StrCat("rdg_copy(p", link.arguments[1], ", p",
                            link.arguments[0], ", ", link.bytes, ", ", First(),
                            ", ", AllThreads(), ");  // ", link.name));
          break;
        case ChainLink::Kind::kWhile:
          RIDGE_RETURN_IF_ERROR(EmitWhile(link));
          break;
        case ChainLink::Kind::kBranch:
          RIDGE_RETURN_IF_ERROR(EmitBranch(link));
          break;
      }
    }
    return absl::OkStatus();
  }

  // The value that all threads decide by is read between two barriers: the
  // memory may be another value's afterwards.
  absl::Status EmitWhile(const ChainLink& link) {
    Barrier();
    Open(absl::StrCat("for (;;) {  // ", link.name));
    RIDGE_RETURN_IF_ERROR(EmitLinks(link.bodies[0]));
    Barrier();
    Line(absl::StrCat("const bool goes_on = *(const volatile bool*)p",
                      link.arguments[0], ";"));
    touched_ = true;
    Barrier();
    Line("if (!goes_on) break;");
    RIDGE_RETURN_IF_ERROR(EmitLinks(link.bodies[1]));
    Barrier();
    Close();
    return absl::OkStatus();
  }

  absl::Status EmitBranch(const ChainLink& link) {
    const int64_t last = static_cast<int64_t>(link.bodies.size()) - 1;
    Barrier();
    Open(absl::StrCat("{  // ", link.name));
    if (link.is_pred) {
      Line(absl::StrCat("const int branch = *(const volatile bool*)p",
                        link.arguments[0], " ? 0 : 1;"));
    } else {
      Line(absl::StrCat("const int at = *(const volatile int*)p",
                        link.arguments[0], ";"));
      Line(absl::StrCat("const int branch = at < 0 || at > ", last, " ? ", last,
                        " : at;"));
    }
    touched_ = true;
    Barrier();
    for (int64_t b = 0; b <= last; ++b) {
      Open(absl::StrCat("if (branch == ", b, ") {"));
      RIDGE_RETURN_IF_ERROR(EmitLinks(link.bodies[b]));
      Barrier();
      Close();
    }
    Close();
    return absl::OkStatus();
  }

  absl::Status EmitKernelLink(const ChainLink& link) {
    RIDGE_ASSIGN_OR_RETURN(const Part* part, PartOf(link.kernel));
    const size_t buffers =
        link.arguments.size() - link.kernel.scratch_bytes.size();
    for (size_t k = 0; k < link.kernel.launches.size(); ++k) {
      const Launch& l = link.kernel.launches[k];
      if (k > 0) {
        Barrier();
        Touch(link);
      }
      const int64_t beside =
          part->has_shared ? 1 : std::max<int64_t>(1, threads_ / l.block);
      const int64_t at_once = beside * chain_.cluster;
      std::string condition;
      if (beside * l.block < threads_) {
        condition = absl::StrCat("if (threadIdx.x < ", beside * l.block, ") ");
      }
      std::string block = chain_.cluster > 1 ? "blockIdx.x" : "0";
      std::string thread = "threadIdx.x";
      if (beside > 1) {
        block =
            absl::StrCat(block, " * ", beside, " + threadIdx.x / ", l.block);
        thread = absl::StrCat("threadIdx.x % ", l.block);
      }
      Open(absl::StrCat(condition, "for (unsigned b = ", block, "; b < ",
                        l.grid, "; b += ", at_once, ") {"));
      std::vector<std::string> arguments = {
          "rdg_at{b}", absl::StrCat("rdg_at{", l.grid, "}"),
          absl::StrCat("rdg_at{", thread, "}")};
      for (int32_t a : l.arguments) {
        const size_t index = a >= 0 ? a : buffers + (-1 - a);
        arguments.push_back(
            absl::StrCat("rdg_any{p", link.arguments[index], "}"));
      }
      Line(absl::StrCat(part->space, "::", part->functions[k], "(",
                        absl::StrJoin(arguments, ", "), ");",
                        k == 0 ? absl::StrCat("  // ", link.name) : ""));
      if (part->has_shared && l.grid > at_once) {
        Line(absl::StrCat("rdg_meet<", l.block, ">();"));
      }
      Close();
    }
    return absl::OkStatus();
  }

  absl::StatusOr<const Part*> PartOf(const EmittedKernel& kernel) {
    auto [it, inserted] = parts_.try_emplace(WithoutNames(kernel));
    Part& part = it->second;
    ++part.uses;
    if (!inserted) return &part;
    part.space = absl::StrCat("part_", parts_.size() - 1);
    for (const Launch& l : kernel.launches) {
      part.functions.push_back(l.function);
    }
    absl::string_view text = kernel.source;
    RIDGE_RET_CHECK(absl::ConsumePrefix(&text, FilePrelude()));
    part.has_shared = StaticSharedBytes(text) > 0;
    for (size_t at = text.find(kHead); at != absl::string_view::npos;
         at = text.find(kHead)) {
      absl::StrAppend(&part.text, text.substr(0, at));
      text.remove_prefix(at + kHead.size());
      // " __launch_bounds__(N) name(parameters"
      const size_t name = text.find(") ") + 2;
      const size_t open = text.find('(', name);
      RIDGE_RET_CHECK(open != absl::string_view::npos);
      const std::string function(text.substr(name, open - name));
      for (const Launch& l : kernel.launches) {
        if (l.function != function) continue;
        absl::StrAppend(&part.text, "#undef __syncthreads\n",
                        "#define __syncthreads rdg_meet<", l.block, ">\n");
        break;
      }
      absl::StrAppend(&part.text, "RDG_PART void ", function,
                      "(const rdg_at blockIdx, const rdg_at gridDim, ",
                      "const rdg_at threadIdx, ");
      text.remove_prefix(open + 1);
    }
    absl::StrAppend(&part.text, text, "#undef __syncthreads\n");
    // Links write what later ones read: no array is one function's alone.
    absl::StrReplaceAll({{" __restrict__", ""}}, &part.text);
    return &part;
  }

  const Chain& chain_;
  int threads_ = 32;
  std::map<std::string, Part> parts_;  // by WithoutNames
  std::string text_;
  int indent_ = 1;
  bool touched_ = false;
  std::vector<int32_t> read_, written_;
};

}  // namespace

bool CanChain(const EmittedKernel& kernel) {
  return std::all_of(kernel.launches.begin(), kernel.launches.end(),
                     [](const Launch& l) {
                       return l.cluster == 1 && l.shared_bytes == 0 &&
                              !l.resident && l.block % 32 == 0;
                     });
}

int64_t StaticSharedBytes(absl::string_view source) {
  static constexpr absl::string_view kWord = "__shared__ ";
  int64_t sum = 0;
  for (size_t at = source.find(kWord); at != absl::string_view::npos;
       at = source.find(kWord)) {
    source.remove_prefix(at + kWord.size());
    absl::string_view declaration = source.substr(0, source.find(';'));
    int64_t bytes = 16;
    for (const auto& [type, size] :
         {std::pair<absl::string_view, int64_t>{"float ", 4},
          {"double ", 8},
          {"int32_t ", 4},
          {"uint32_t ", 4},
          {"int64_t ", 8},
          {"uint64_t ", 8},
          {"uint16_t ", 2},
          {"int16_t ", 2},
          {"uint8_t ", 1},
          {"int8_t ", 1},
          {"bool ", 1}}) {
      if (absl::StartsWith(declaration, type)) bytes = size;
    }
    for (size_t open = declaration.find('['); open != absl::string_view::npos;
         open = declaration.find('[')) {
      declaration.remove_prefix(open + 1);
      int64_t extent = 1;
      if (absl::SimpleAtoi(declaration.substr(0, declaration.find(']')),
                           &extent)) {
        bytes *= extent;
      }
    }
    sum += bytes;
  }
  return sum;
}

absl::StatusOr<EmittedKernel> EmitChain(const Chain& chain) {
  return ChainEmitter(chain).Run();
}

}  // namespace ridge::cuda
