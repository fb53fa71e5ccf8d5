#include "backends/cuda/emit/chain.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cuda/emit/chain_part.h"
#include "backends/cuda/emit/common.h"
#include "backends/cuda/emit/used_prelude.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

constexpr int kMostThreads = 512;  // registers: 128 a thread

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
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.aligned;\n"
               "barrier.cluster.wait.aligned;" ::: "memory");
#endif
}
// Asks for memory that a later link reads.
RDG_FN void rdg_ahead(const char* p, int64_t bytes, int64_t first,
                      int64_t step) {
  for (int64_t at = first * 128; at < bytes; at += step * 128) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p + at));
  }
}
// Copies it to shared memory, on its own.
RDG_FN void rdg_fetch(char* to, const char* from, int bytes, int first,
                      int step) {
  const int whole = bytes / 16 * 16;
#pragma unroll 1
  for (int at = first * 16; at < whole; at += step * 16) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(to + at)),
                 "l"(from + at)
                 : "memory");
#else
    *(uint4*)(to + at) = *(const uint4*)(from + at);
#endif
  }
#pragma unroll 1
  for (int at = whole + first; at < bytes; at += step) to[at] = from[at];
}
RDG_FN void rdg_fetched() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
RDG_FN void rdg_copy(char* to, const char* from, int bytes, int first,
                     int step) {
  const int whole = bytes / 16;
  for (int at = first; at < whole; at += step) {
    ((uint4*)to)[at] = ((const uint4*)from)[at];
  }
  for (int at = whole * 16 + first; at < bytes; at += step) to[at] = from[at];
}
)cuda";

class ChainEmitter {
 public:
  explicit ChainEmitter(const Chain& chain) : chain_(chain) {
    int32_t number = 0;
    for (const ChainMemory& m : chain.parameters) {
      Place place;
      if (!m.is_local) place.array = number++;
      const int64_t bytes =
          (std::max<int64_t>(1, m.end - m.begin) + 15) / 16 * 16;
      const bool fetch = m.is_constant && chain.cluster == 1 &&
                         fetched_bytes_ + bytes <= chain.most_fetched;
      int64_t& used = m.is_local ? local_bytes_ : fetched_bytes_;
      if (m.is_local || fetch) {
        place.shared = m.is_local ? "local" : "fetched";
        place.at = used;
        used += bytes;
      } else {
        place.at = place.array;
      }
      place_.push_back(place);
    }
  }

  absl::StatusOr<EmittedKernel> Run() {
    threads_ = Threads(chain_.links);
    RIDGE_RETURN_IF_ERROR(EmitLinks(chain_.links));
    EmittedKernel emitted;
    Launch launch;
    launch.function = chain_.name;
    launch.grid = chain_.cluster;
    launch.cluster = chain_.cluster;
    launch.block = threads_;
    for (size_t p = 0; p < chain_.parameters.size(); ++p) {
      if (place_[p].array < 0) continue;
      launch.arguments.push_back(static_cast<int32_t>(p));
    }
    std::string locals;
    if (local_bytes_ > 0) {
      locals = absl::StrCat("  __shared__ __align__(16) char local[",
                            local_bytes_, "];\n");
    }
    if (fetched_bytes_ > 0) {
      locals += "  extern __shared__ __align__(16) char fetched[];\n";
    }
    launch.shared_bytes = fetched_bytes_;
    std::string parts;
    for (const std::string& key : part_order_) {
      const Part& part = parts_.at(key);
      absl::StrAppend(&parts, "\nnamespace ", part.space, " {\n",
                      "#define RDG_PART static __device__ ",
                      part.uses > 1 ? "__noinline__" : "__forceinline__", "\n",
                      key, "#undef RDG_PART\n}  // namespace ", part.space,
                      "\n");
    }
    const std::string cluster =
        chain_.cluster > 1
            ? absl::StrCat("__cluster_dims__(", chain_.cluster, ", 1, 1) ")
            : "";
    emitted.source = WithUsedPrelude(absl::StrCat(
        FilePrelude(), kChainHelpers, parts,
        "\nstruct rdg_arrays {\n  char* p[", launch.arguments.size(),
        "];\n};\n", kKernelHead, " ", cluster, "__launch_bounds__(", threads_,
        ") ", chain_.name, "(const __grid_constant__ rdg_arrays array) {\n",
        locals, Ahead(), text_, "}\n"));
    launch.packed = true;
    emitted.choice.name = "chain";
    emitted.choice.parameters = {{"cluster", chain_.cluster},
                                 {"threads", threads_}};
    emitted.launches.push_back(std::move(launch));
    return emitted;
  }

 private:
  // Where a parameter is: at an offset of an array in shared memory, or the
  // number in `array` that it came under.
  struct Place {
    absl::string_view shared;
    int64_t at = 0;
    int32_t array = -1;
  };
  std::string Text(int32_t p, int64_t step = 0) const {
    const Place& place = place_[p];
    std::string at = absl::StrCat(place.at);
    if (step != 0) absl::StrAppend(&at, " + k * ", step);
    return place.shared.empty() ? absl::StrCat("array.p[", at, "]")
                                : absl::StrCat(place.shared, " + ", at);
  }

  // Enough for the widest link, where turns can go side by side.
  int Threads(const std::vector<ChainLink>& links) const {
    int64_t most = 32;
    for (const ChainLink& link : links) {
      for (const Launch& l : link.kernel.launches) {
        const int64_t turns = CeilDiv(l.grid, chain_.cluster);
        const bool alone = StaticSharedBytes(link.kernel.functions) > 0;
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
    for (size_t p = 0; p < chain_.parameters.size(); ++p) {
      const ChainMemory& m = chain_.parameters[p];
      const Place& place = place_[p];
      if (!m.is_constant || place.array < 0 || m.begin == m.end) continue;
      const bool fetch = !place.shared.empty();
      absl::StrAppend(
          &text, "  ",
          fetch ? absl::StrCat("rdg_fetch(", Text(p)) : "rdg_ahead(",
          fetch ? ", " : "", "array.p[", place.array, "], ", m.end - m.begin,
          ", ", First(), ", ", AllThreads(), ");\n");
    }
    if (fetched_bytes_ > 0) {
      absl::StrAppend(&text, "  rdg_fetched();\n  __syncthreads();\n");
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

  bool MeetsAny(const std::vector<int32_t>& touched, int32_t p) const {
    return std::any_of(touched.begin(), touched.end(), [&](int32_t t) {
      return Overlap(chain_.parameters[t], chain_.parameters[p]);
    });
  }

  void Touch(const ChainLink& link) {
    touched_ = true;
    for (size_t a = 0; a < link.arguments.size(); ++a) {
      (a >= link.first_written ? written_ : read_).push_back(link.arguments[a]);
    }
  }

  bool Conflicts(const ChainLink& link) const {
    for (size_t a = 0; a < link.arguments.size(); ++a) {
      const int32_t p = link.arguments[a];
      if (MeetsAny(written_, p) ||
          (a >= link.first_written && MeetsAny(read_, p))) {
        return true;
      }
    }
    return false;
  }

  // A barrier where the link meets what was touched since the last.
  void Enter(const ChainLink& link) {
    if (Conflicts(link)) Barrier();
    Touch(link);
  }

  absl::Status EmitLinks(const std::vector<ChainLink>& links) {
    for (size_t at = 0; at < links.size();) {
      RIDGE_ASSIGN_OR_RETURN(Repeats r, RepeatsAt(links, at));
      if (r.count > 2) {
        RIDGE_RETURN_IF_ERROR(EmitRepeats(links, at, r));
        at += r.length * r.count;
        continue;
      }
      RIDGE_RETURN_IF_ERROR(EmitLink(links[at++]));
    }
    return absl::OkStatus();
  }

  absl::Status EmitLink(const ChainLink& link) {
    switch (link.kind) {
      case ChainLink::Kind::kKernel:
        Enter(link);
        return EmitKernelLink(link, {});
      case ChainLink::Kind::kCopy:
        Enter(link);
        Line(absl::StrCat("rdg_copy(", Text(link.arguments[1]), ", ",
                          Text(link.arguments[0]), ", ", link.bytes, ", ",
                          First(), ", ", AllThreads(), ");  // ", link.name));
        return absl::OkStatus();
      case ChainLink::Kind::kWhile:
        return EmitWhile(link);
      case ChainLink::Kind::kBranch:
        return EmitBranch(link);
    }
    return absl::OkStatus();
  }

  // ---- Layers: the same kernels again, on the next arrays ----

  struct Repeats {
    size_t length = 1;  // links
    size_t count = 1;
  };
  static constexpr size_t kLongestRepeat = 8;

  // Argument a of link b is `step` further than that of link a, for every one.
  std::optional<std::vector<int64_t>> Steps(const ChainLink& a,
                                            const ChainLink& b) const {
    if (a.arguments.size() != b.arguments.size()) return std::nullopt;
    std::vector<int64_t> steps;
    for (size_t k = 0; k < a.arguments.size(); ++k) {
      const Place& x = place_[a.arguments[k]];
      const Place& y = place_[b.arguments[k]];
      if (x.shared != y.shared) return std::nullopt;
      steps.push_back(y.at - x.at);
    }
    return steps;
  }

  // The arguments of a link in the order of the part's first launch: those of
  // two kernels that share a part may differ in order.
  absl::StatusOr<bool> Alike(const ChainLink& a, const ChainLink& b) {
    if (a.kind != ChainLink::Kind::kKernel || b.kind != a.kind) return false;
    if (a.kernel.launches.size() != b.kernel.launches.size()) return false;
    RIDGE_ASSIGN_OR_RETURN(const PartText* x, TextOf(a.kernel));
    RIDGE_ASSIGN_OR_RETURN(const PartText* y, TextOf(b.kernel));
    if (x->key != y->key) return false;
    for (size_t f = 0; f < x->part.functions.size(); ++f) {
      if (x->part.functions[f].order != y->part.functions[f].order) {
        return false;
      }
    }
    for (size_t l = 0; l < a.kernel.launches.size(); ++l) {
      if (a.kernel.launches[l].grid != b.kernel.launches[l].grid) return false;
    }
    return true;
  }

  absl::StatusOr<Repeats> RepeatsAt(const std::vector<ChainLink>& links,
                                    size_t at) {
    Repeats best;
    for (size_t length = 1; length <= kLongestRepeat; ++length) {
      Repeats r = {length, 1};
      std::vector<std::vector<int64_t>> steps(length);
      for (size_t next = at + length; next + length <= links.size();
           next += length, ++r.count) {
        bool same = true;
        for (size_t k = 0; k < length && same; ++k) {
          RIDGE_ASSIGN_OR_RETURN(same, Alike(links[at + k], links[next + k]));
          if (!same) break;
          auto s = Steps(links[next + k - length], links[next + k]);
          same = s.has_value() && (r.count == 1 || *s == steps[k]);
          if (same) steps[k] = *std::move(s);
        }
        if (!same) break;
      }
      if (r.count > 2 && r.length * r.count > best.length * best.count) {
        best = r;
      }
    }
    return best;
  }

  // Links of the repeat ahead of which all rounds need a barrier.
  std::set<size_t> BarriersOf(const std::vector<ChainLink>& links, size_t at,
                              const Repeats& r) {
    std::set<size_t> barriers;
    for (bool again = true; again;) {
      again = false;
      read_.clear();
      written_.clear();
      for (size_t k = 0; k < r.length * r.count && !again; ++k) {
        const ChainLink& link = links[at + k];
        if (barriers.count(k % r.length) != 0) {
          read_.clear();
          written_.clear();
        } else if (Conflicts(link)) {
          barriers.insert(k % r.length);
          again = true;
        }
        Touch(link);
      }
    }
    return barriers;
  }

  absl::Status EmitRepeats(const std::vector<ChainLink>& links, size_t at,
                           const Repeats& r) {
    Barrier();
    const std::set<size_t> barriers = BarriersOf(links, at, r);
    Line("#pragma unroll 1");
    Open(absl::StrCat("for (int k = 0; k < ", r.count, "; ++k) {"));
    for (size_t k = 0; k < r.length; ++k) {
      touched_ = true;
      if (barriers.count(k) != 0) Barrier();
      Touch(links[at + k]);
      RIDGE_RETURN_IF_ERROR(EmitKernelLink(
          links[at + k], *Steps(links[at + k], links[at + k + r.length])));
    }
    Close();
    touched_ = true;
    Barrier();
    return absl::OkStatus();
  }

  // The value that all threads decide by is read between two barriers: the
  // memory may be another value's afterwards.
  absl::Status EmitWhile(const ChainLink& link) {
    Barrier();
    Open(absl::StrCat("for (;;) {  // ", link.name));
    RIDGE_RETURN_IF_ERROR(EmitLinks(link.bodies[0]));
    Barrier();
    Line(absl::StrCat("const bool goes_on = *(const volatile bool*)(",
                      Text(link.arguments[0]), ");"));
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
      Line(absl::StrCat("const int branch = *(const volatile bool*)(",
                        Text(link.arguments[0]), ") ? 0 : 1;"));
    } else {
      Line(absl::StrCat("const int at = *(const volatile int*)(",
                        Text(link.arguments[0]), ");"));
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

  // `steps`: how far each argument moves with k, the round; none: not at all.
  absl::Status EmitKernelLink(const ChainLink& link,
                              const std::vector<int64_t>& steps) {
    RIDGE_ASSIGN_OR_RETURN(const PartText* own, TextOf(link.kernel));
    auto [it, inserted] = parts_.try_emplace(own->key, own->part);
    Part& part = it->second;
    ++part.uses;
    if (inserted) {
      part.space = absl::StrCat("part_", part_order_.size());
      part_order_.push_back(own->key);
    }
    const size_t buffers =
        link.arguments.size() - link.kernel.scratch_bytes.size();
    for (size_t k = 0; k < link.kernel.launches.size(); ++k) {
      const Launch& l = link.kernel.launches[k];
      if (k > 0) {
        Barrier();
        Touch(link);
      }
      const int64_t beside =
          part.has_shared ? 1 : std::max<int64_t>(1, threads_ / l.block);
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
      // By its own names; the text goes by those of the part's first kernel.
      const PartFunction& f = own->part.Find(l.function);
      for (int o : f.order) {
        const int32_t a = l.arguments[o];
        const size_t index = a >= 0 ? a : buffers + (-1 - a);
        arguments.push_back(absl::StrCat(
            "rdg_any{",
            Text(link.arguments[index], steps.empty() ? 0 : steps[index]),
            "}"));
      }
      const size_t number = &f - own->part.functions.data();
      Line(absl::StrCat(part.space, "::", "f", number + 1, "(",
                        absl::StrJoin(arguments, ", "), ");",
                        k == 0 ? absl::StrCat("  // ", link.name) : ""));
      if (part.has_shared && l.grid > at_once) {
        Line(absl::StrCat("rdg_meet<", l.block, ">();"));
      }
      Close();
    }
    return absl::OkStatus();
  }

  // Made once for each kernel: links are compared with many others.
  absl::StatusOr<const PartText*> TextOf(const EmittedKernel& kernel) {
    auto it = texts_.find(&kernel);
    if (it == texts_.end()) {
      RIDGE_ASSIGN_OR_RETURN(PartText text, PartTextOf(kernel));
      it = texts_.emplace(&kernel, std::move(text)).first;
    }
    return &it->second;
  }

  const Chain& chain_;
  int threads_ = 32;
  std::vector<Place> place_;  // by parameter
  int64_t local_bytes_ = 0;
  int64_t fetched_bytes_ = 0;
  std::map<std::string, Part> parts_;  // by text
  std::vector<std::string> part_order_;
  std::map<const EmittedKernel*, PartText> texts_;
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

absl::StatusOr<EmittedKernel> EmitChain(const Chain& chain) {
  return ChainEmitter(chain).Run();
}

}  // namespace ridge::cuda
