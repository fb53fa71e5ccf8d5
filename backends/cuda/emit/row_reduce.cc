// The RowReduce schedule: rows of contiguous elements, several reductions and
// maps over them, one read of each input.
//
// `threads` threads share a row (of `cluster` blocks where one block cannot
// hold it); a block takes `rows` rows. Thread x of a row holds vectors x, x +
// threads, x + 2*threads ... of `vector` elements. All loads of the row are
// issued first and stay in registers (`cached`); then one pass over the held
// elements for each chain of reductions:
//
//   load every vector of every row input
//   pass 0: fold what needs no other fold; combine across the threads
//   pass 1: fold what needs pass 0's results ...
//   last:   store what needs them all
//
// Stores happen in the first pass that has their value. A value that takes
// long to compute (exp, division ...) and is needed in two passes is kept.
// Where a row is too long to hold, each pass reads it again.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cuda/emit/common.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// Emitter variables, in the order of NewVar.
enum : int64_t { kRow = 0, kChunk = 1, kThread = 2, kLane = 3 };

struct Geometry {
  int64_t rows = 1;     // of the kernel
  int64_t columns = 1;  // elements of a row
  int64_t vector = 1;
  int64_t row_threads = 32;  // within one block
  int64_t block_rows = 1;
  int64_t cluster = 1;
  int64_t chunks = 1;  // vectors that one thread holds
  bool cached = true;
  int64_t Width() const { return row_threads * cluster; }
  int64_t Block() const { return row_threads * block_rows; }
  bool Ragged() const { return chunks * Width() * vector != columns; }
};

bool IsHeavy(const Kernel& kernel, NodeId n) {
  const Node& node = kernel.nodes[n];
  if (node.kind != NodeKind::kOp) return false;
  switch (node.opcode) {
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kTanh:
    case Opcode::kLogistic:
    case Opcode::kErf:
    case Opcode::kPower:
    case Opcode::kSine:
    case Opcode::kCosine:
    case Opcode::kDivide:
      return IsFloat(node.type);
    default:
      return false;
  }
}

class RowEmitter {
 public:
  RowEmitter(const Kernel& kernel, const Geometry& g)
      : kernel_(kernel), g_(g), w_(kernel, Dialect::kCuda) {
    column_var_ = kernel.space_vars - 1;
    column_bit_ = uint64_t{1} << column_var_;
  }

  absl::StatusOr<std::string> Run() {
    FindPasses();
    Bind();
    PickLoads();
    PickKept();
    EmitHead();
    for (int pass = 0; pass <= last_pass_; ++pass) {
      RIDGE_RETURN_IF_ERROR(EmitPass(pass));
    }
    // Values of the row itself.
    bool opened = false;
    for (const Store& s : kernel_.stores) {
      if (s.vars & column_bit_) continue;
      if (!opened) {
        RIDGE_RETURN_IF_ERROR(EmitRowNeeds());
        w_.Open(absl::StrCat("if (x == 0", RowGuard(" && "), ") {"));
        opened = true;
      }
      RIDGE_RETURN_IF_ERROR(w_.EmitStore(s));
    }
    if (opened) w_.Close();
    RIDGE_ASSIGN_OR_RETURN(std::string helpers, w_.FunctionsText());
    std::string cluster = g_.cluster > 1 ? absl::StrCat("__cluster_dims__(",
                                                        g_.cluster, ", 1, 1) ")
                                         : "";
    return absl::StrCat(FilePrelude(), g_.cluster > 1 ? kClusterHelpers : "",
                        helpers, "\nextern \"C\" __global__ void ", cluster,
                        "__launch_bounds__(", g_.Block(), ") ", kernel_.name,
                        "(", w_.ParameterText("__restrict__"), ") {\n",
                        w_.TakeText(), "}\n");
  }

 private:
  static constexpr char kClusterHelpers[] = R"cuda(
RDG_FN unsigned rdg_cluster_rank() {
  unsigned r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
RDG_FN void rdg_cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// The word at `p` of this block's shared memory, in block `rank`'s.
RDG_FN unsigned rdg_cluster_word(const unsigned* p, unsigned rank) {
  unsigned near = (unsigned)__cvta_generic_to_shared(p), far, v;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(far) : "r"(near), "r"(rank));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(far));
  return v;
}
template <typename T>
RDG_FN T rdg_cluster_read(const T* p, unsigned rank) {
  static_assert(sizeof(T) % 4 == 0, "whole words");
  unsigned words[sizeof(T) / 4];
#pragma unroll
  for (int i = 0; i < (int)(sizeof(T) / 4); ++i) {
    words[i] = rdg_cluster_word((const unsigned*)p + i, rank);
  }
  T value;
  memcpy(&value, words, sizeof(T));
  return value;
}
)cuda";

  bool IsRowFold(NodeId n) const {
    return kernel_.nodes[n].kind == NodeKind::kReduce &&
           (kernel_.nodes[n].reduced & column_bit_) != 0;
  }

  // pass_[n]: row folds on the longest path before the value of n.
  void FindPasses() {
    pass_.assign(kernel_.nodes.size(), 0);
    for (size_t n = 0; n < kernel_.nodes.size(); ++n) {
      const Node& node = kernel_.nodes[n];
      int pass = 0;
      for (NodeId o : node.operands) pass = std::max(pass, pass_[o]);
      if (node.guard >= 0) pass = std::max(pass, pass_[node.guard]);
      if (node.offset >= 0) {
        for (int32_t d : w_.pool().DynamicNodes(node.offset)) {
          pass = std::max(pass, pass_[d]);
        }
      }
      if (IsRowFold(static_cast<NodeId>(n))) ++pass;
      pass_[n] = pass;
      last_pass_ = std::max(last_pass_, pass);
    }
  }

  int StorePass(const Store& s) const {
    int pass = pass_[s.value];
    if (s.guard >= 0) pass = std::max(pass, pass_[s.guard]);
    for (int32_t d : w_.pool_const().DynamicNodes(s.offset)) {
      pass = std::max(pass, pass_[d]);
    }
    return pass;
  }

  void Bind() {
    IndexPool& pool = w_.pool();
    IndexId r = w_.NewVar("r", g_.rows);
    IndexId q = w_.NewVar("q", g_.chunks);
    IndexId x = w_.NewVar("x", g_.Width());
    IndexId j = w_.NewVar("j", g_.vector);
    IndexId column =
        pool.Add(pool.Mul(pool.Add(pool.Mul(q, g_.Width()), x), g_.vector), j);
    w_.Bind(column_var_, column);
    int64_t stride = 1;
    for (int64_t v = column_var_ - 1; v >= 0; --v) {
      int64_t extent = kernel_.vars[v].extent;
      w_.Bind(v, pool.Mod(pool.FloorDiv(r, stride), extent));
      stride *= extent;
    }
  }

  uint64_t InLoopBits() const {
    return BodyWriter::Bit(kChunk) | BodyWriter::Bit(kThread) |
           BodyWriter::Bit(kLane);
  }
  bool InLoop(NodeId n) { return (w_.Varies(n) & InLoopBits()) != 0; }

  // Row inputs that move as vectors. Those that vary with the row are read
  // once and held; the others (scales, biases) are read in each pass.
  void PickLoads() {
    for (NodeId n = 0; n < static_cast<NodeId>(kernel_.nodes.size()); ++n) {
      const Node& node = kernel_.nodes[n];
      if (node.kind != NodeKind::kLoad || node.guard >= 0 ||
          w_.pool().HasDynamic(node.offset) ||
          (node.vars >> kernel_.space_vars)) {
        continue;
      }
      if ((node.vars & column_bit_) == 0) continue;
      IndexId base;
      LaneAccess access =
          AccessAlong(&w_, node.offset, kLane, g_.vector, &base);
      if (g_.vector > 1 && access != LaneAccess::kVector) continue;
      bool of_row = (w_.Varies(n) & BodyWriter::Bit(kRow)) != 0;
      base_[n] = base;
      if (of_row && g_.cached) {
        held_.insert(n);
      } else {
        streamed_.insert(n);
      }
    }
  }

  // Nodes that pass `pass` computes for each element.
  std::vector<NodeId> PassRoots(int pass) const {
    std::vector<NodeId> roots;
    for (NodeId n = 0; n < static_cast<NodeId>(kernel_.nodes.size()); ++n) {
      if (!IsRowFold(n) || pass_[n] != pass + 1) continue;
      const Node& node = kernel_.nodes[n];
      roots.insert(roots.end(), node.operands.begin(),
                   node.operands.begin() + node.operands.size() / 2);
    }
    for (const Store& s : kernel_.stores) {
      if ((s.vars & column_bit_) == 0 || StorePass(s) != pass) continue;
      roots.push_back(s.value);
      if (s.guard >= 0) roots.push_back(s.guard);
      for (int32_t d : w_.pool_const().DynamicNodes(s.offset)) {
        roots.push_back(d);
      }
    }
    return roots;
  }

  // Heavy values needed per element in more than one pass.
  void PickKept() {
    if (!g_.cached) return;
    std::vector<int> seen(kernel_.nodes.size(), -1);
    int64_t registers = 0;
    for (int pass = 0; pass <= last_pass_; ++pass) {
      auto stop = [&](NodeId n) { return IsRowFold(n) || kept_.count(n); };
      std::vector<NodeId> roots = PassRoots(pass);
      for (NodeId n : w_.Needs(roots, stop)) {
        if (!InLoop(n) || !IsHeavy(kernel_, n)) continue;
        if (seen[n] >= 0 && seen[n] < pass) {
          int64_t cost = g_.chunks * g_.vector *
                         (StorageBytes(kernel_.nodes[n].type) > 4 ? 2 : 1);
          if (registers + cost <= 64) {
            registers += cost;
            kept_.insert(n);
            kept_pass_[n] = seen[n];
          }
        } else if (seen[n] < 0) {
          seen[n] = pass;
        }
      }
    }
  }

  std::string RowGuard(absl::string_view before) const {
    if (g_.rows % g_.block_rows == 0) return "";
    return absl::StrCat(before, "in_range");
  }

  void EmitHead() {
    const std::string& index = w_.index_type();
    w_.Line(
        absl::StrCat("const int lane = threadIdx.x % ", g_.row_threads, ";"));
    std::string x = "lane";
    std::string block = absl::StrCat("(", index, ")blockIdx.x");
    if (g_.cluster > 1) {
      w_.Line("const int rank = (int)rdg_cluster_rank();");
      x = absl::StrCat("lane + rank * ", g_.row_threads);
      block = absl::StrCat("(", index, ")(blockIdx.x / ", g_.cluster, ")");
    }
    w_.Line(absl::StrCat("const ", index, " x = ", x, ";"));
    std::string row = g_.block_rows == 1
                          ? block
                          : absl::StrCat(block, " * ", g_.block_rows,
                                         " + threadIdx.x / ", g_.row_threads);
    if (RowGuard("").empty()) {
      w_.Line(absl::StrCat("const ", index, " r = ", row, ";"));
    } else {
      // Threads past the last row repeat it and store nothing.
      w_.Line(absl::StrCat("const ", index, " row = ", row, ";"));
      w_.Line(absl::StrCat("const bool in_range = row < ", g_.rows, ";"));
      w_.Line(absl::StrCat("const ", index,
                           " r = in_range ? row : ", g_.rows - 1, ";"));
    }
    w_.Line("__builtin_assume(r >= 0);");
    w_.Line("__builtin_assume(x >= 0);");
    for (NodeId n : held_) {
      const Node& node = kernel_.nodes[n];
      w_.Line(absl::StrCat(
          VecType(kernel_.buffers[node.buffer].shape.type(), g_.vector), " a",
          n, "[", g_.chunks, "];"));
    }
    for (NodeId n : kept_) {
      w_.Line(absl::StrCat(CarryType(kernel_.nodes[n].type), " k", n, "[",
                           g_.chunks, "][", g_.vector, "];"));
    }
    if (held_.empty()) return;
    OpenChunks();
    OpenInside();
    for (NodeId n : held_) LoadVector(n, absl::StrCat("a", n, "[q]"));
    CloseInside();
    w_.Close();
  }

  void LoadVector(NodeId n, absl::string_view target) {
    const Node& node = kernel_.nodes[n];
    w_.Line(absl::StrCat(target, " = rdg_load_vec<",
                         StorageType(kernel_.buffers[node.buffer].shape.type()),
                         ", ", g_.vector, ">(", w_.BufferName(node.buffer),
                         " + (", w_.Text(base_[n]), "));"));
  }

  void OpenChunks() {
    w_.Line(g_.cached ? "#pragma unroll" : "#pragma unroll 4");
    w_.Open(absl::StrCat("for (int q = 0; q < ", g_.chunks, "; ++q) {"));
  }
  // The last chunk of a row may lie beyond its end.
  void OpenInside() {
    if (!g_.Ragged()) return;
    w_.Open(absl::StrCat("if ((q * ", g_.Width(), " + x) * ", g_.vector, " < ",
                         g_.columns, ") {"));
  }
  void CloseInside() {
    if (g_.Ragged()) w_.Close();
  }

  absl::Status EmitRowNeeds() {
    std::vector<NodeId> needs;
    for (const Store& s : kernel_.stores) {
      if (s.vars & column_bit_) continue;
      needs.push_back(s.value);
    }
    return w_.Emit(needs);
  }

  // Whatever a pass reads that no element changes, before the loop.
  absl::Status EmitShared(absl::Span<const NodeId> roots) {
    auto stop = [&](NodeId n) { return IsRowFold(n); };
    std::vector<NodeId> shared;
    for (NodeId n : w_.Needs(roots, stop)) {
      if (!InLoop(n)) shared.push_back(n);
    }
    return w_.Emit(shared);
  }

  struct Fold {
    std::vector<NodeId> nodes;  // one a result, -1 unused
    std::vector<NodeId> values;
    std::vector<NodeId> inits;
    std::vector<std::string> names;  // accumulators
    std::vector<std::string> types;
    bool simple = false;
    NodeId any = -1;
  };

  std::vector<Fold> FoldsOf(int pass) {
    std::vector<Fold> folds;
    std::set<NodeId> taken;
    for (NodeId n = 0; n < static_cast<NodeId>(kernel_.nodes.size()); ++n) {
      if (!IsRowFold(n) || pass_[n] != pass + 1 || taken.count(n)) continue;
      const Node& node = kernel_.nodes[n];
      Fold fold;
      fold.any = n;
      fold.nodes = w_.FoldOf(n);
      for (NodeId m : fold.nodes) {
        if (m >= 0) taken.insert(m);
      }
      size_t parts = node.operands.size() / 2;
      for (size_t p = 0; p < parts; ++p) {
        fold.values.push_back(node.operands[p]);
        fold.inits.push_back(node.operands[parts + p]);
        fold.names.push_back(parts == 1 ? absl::StrCat("acc", n)
                                        : absl::StrCat("acc", n, "_", p));
        fold.types.emplace_back(
            CarryType(kernel_.nodes[node.operands[p]].type));
      }
      fold.simple =
          parts == 1 && kernel_.functions[node.function].simple.has_value() &&
          !IdentityText(*kernel_.functions[node.function].simple, node.type)
               .empty();
      folds.push_back(std::move(fold));
    }
    return folds;
  }

  std::string Start(const Fold& fold, size_t part) {
    const Node& node = kernel_.nodes[fold.any];
    if (fold.simple) {
      return IdentityText(*kernel_.functions[node.function].simple, node.type);
    }
    return w_.Name(fold.inits[part]);
  }

  absl::Status EmitPass(int pass) {
    std::vector<NodeId> roots = PassRoots(pass);
    if (roots.empty()) return absl::OkStatus();
    std::vector<Fold> folds = FoldsOf(pass);
    w_.Line(absl::StrCat("// Pass ", pass));
    RIDGE_RETURN_IF_ERROR(EmitShared(roots));
    for (const Fold& fold : folds) {
      RIDGE_RETURN_IF_ERROR(w_.Emit(fold.inits));
      for (size_t p = 0; p < fold.names.size(); ++p) {
        // One accumulator a lane: short chains of dependent additions.
        w_.Line(absl::StrCat(fold.types[p], " ", fold.names[p], "[", g_.vector,
                             "];"));
        w_.Line("#pragma unroll");
        w_.Line(absl::StrCat("for (int j = 0; j < ", g_.vector, "; ++j) ",
                             fold.names[p], "[j] = ", Start(fold, p), ";"));
      }
    }
    OpenChunks();
    OpenInside();
    RIDGE_RETURN_IF_ERROR(EmitElements(pass, roots, folds));
    CloseInside();
    w_.Close();
    return Combine(pass, folds);
  }

  absl::Status EmitElements(int pass, absl::Span<const NodeId> roots,
                            const std::vector<Fold>& folds) {
    auto stop = [&](NodeId n) {
      return IsRowFold(n) || (kept_.count(n) && kept_pass_[n] < pass);
    };
    std::vector<NodeId> needs = w_.Needs(roots, stop);
    for (NodeId n : needs) {
      if (!streamed_.count(n)) continue;
      const Node& node = kernel_.nodes[n];
      std::string name = absl::StrCat("b", n);
      w_.Line(absl::StrCat(
          VecType(kernel_.buffers[node.buffer].shape.type(), g_.vector), " ",
          name, ";"));
      LoadVector(n, name);
    }
    // Values that lanes share but chunks do not.
    std::vector<NodeId> per_chunk;
    for (NodeId n : needs) {
      if ((w_.Varies(n) & BodyWriter::Bit(kLane)) == 0 && InLoop(n) &&
          !held_.count(n) && !streamed_.count(n)) {
        per_chunk.push_back(n);
      }
    }
    if (g_.vector > 1) RIDGE_RETURN_IF_ERROR(w_.Emit(per_chunk));
    std::vector<std::pair<const Store*, IndexId>> wide;
    for (const Store& s : kernel_.stores) {
      if ((s.vars & column_bit_) == 0 || StorePass(s) != pass) continue;
      IndexId base;
      if (g_.vector > 1 && s.guard < 0 && s.combine < 0 &&
          AccessAlong(&w_, s.offset, kLane, g_.vector, &base) ==
              LaneAccess::kVector) {
        ElementType type = kernel_.buffers[s.buffer].shape.type();
        w_.Line(absl::StrCat(VecType(type, g_.vector), " s", s.buffer, ";"));
        wide.emplace_back(&s, base);
      }
    }
    w_.Line("#pragma unroll");
    w_.Open(absl::StrCat("for (int j = 0; j < ", g_.vector, "; ++j) {"));
    for (NodeId n : needs) {
      bool held = held_.count(n);
      if (!held && !streamed_.count(n)) continue;
      const Node& node = kernel_.nodes[n];
      std::string element = held ? absl::StrCat("a", n, "[q].x[j]")
                                 : absl::StrCat("b", n, ".x[j]");
      w_.Line(absl::StrCat("const ", CarryType(node.type), " n", n, " = ",
                           LoadText(node.type, element), ";"));
      w_.Define(n, absl::StrCat("n", n));
    }
    for (NodeId n : kept_) {
      if (kept_pass_[n] < pass) w_.Define(n, absl::StrCat("k", n, "[q][j]"));
    }
    RIDGE_RETURN_IF_ERROR(w_.Emit(roots));
    for (NodeId n : kept_) {
      if (kept_pass_[n] == pass) {
        w_.Line(absl::StrCat("k", n, "[q][j] = ", w_.Name(n), ";"));
      }
    }
    for (const Fold& fold : folds) {
      std::vector<std::string> acc;
      std::vector<std::string> values;
      for (size_t p = 0; p < fold.names.size(); ++p) {
        acc.push_back(absl::StrCat(fold.names[p], "[j]"));
        values.push_back(w_.Name(fold.values[p]));
      }
      RIDGE_ASSIGN_OR_RETURN(std::string line,
                             w_.CombineStatement(fold.nodes, acc, values));
      w_.Line(line);
    }
    for (const Store& s : kernel_.stores) {
      if ((s.vars & column_bit_) == 0 || StorePass(s) != pass) continue;
      bool is_wide = std::any_of(wide.begin(), wide.end(),
                                 [&](const auto& p) { return p.first == &s; });
      if (is_wide) {
        ElementType type = kernel_.buffers[s.buffer].shape.type();
        w_.Line(absl::StrCat(
            "s", s.buffer, ".x[j] = ", StoreText(type, w_.Name(s.value)), ";"));
        continue;
      }
      if (!RowGuard("").empty()) w_.Open("if (in_range) {");
      RIDGE_RETURN_IF_ERROR(w_.EmitStore(s));
      if (!RowGuard("").empty()) w_.Close();
    }
    w_.Close();
    for (const auto& [s, base] : wide) {
      w_.Line(absl::StrCat(RowGuard("").empty() ? "" : "if (in_range) ",
                           "rdg_store_vec(", w_.BufferName(s->buffer), " + (",
                           w_.Text(base), "), s", s->buffer, ");"));
    }
    return absl::OkStatus();
  }

  std::vector<std::string> Each(const Fold& fold, absl::string_view suffix) {
    std::vector<std::string> names;
    for (const std::string& n : fold.names) {
      names.push_back(absl::StrCat(n, suffix));
    }
    return names;
  }

  // From one accumulator a lane and thread to the row's value everywhere.
  absl::Status Combine(int pass, const std::vector<Fold>& folds) {
    if (folds.empty()) return absl::OkStatus();
    for (const Fold& fold : folds) {
      w_.Line("#pragma unroll");
      w_.Open(
          absl::StrCat("for (int h = ", g_.vector, " / 2; h > 0; h /= 2) {"));
      w_.Line("#pragma unroll");
      w_.Open("for (int j = 0; j < h; ++j) {");
      RIDGE_ASSIGN_OR_RETURN(std::string lanes,
                             w_.CombineStatement(fold.nodes, Each(fold, "[j]"),
                                                 Each(fold, "[j + h]")));
      w_.Line(lanes);
      w_.Close();
      w_.Close();
      // A vector length that is no power of two has lanes left over.
      for (int64_t done = NextPowerOfTwo(g_.vector + 1) / 2; done < g_.vector;
           ++done) {
        RIDGE_ASSIGN_OR_RETURN(
            std::string rest,
            w_.CombineStatement(fold.nodes, Each(fold, "[0]"),
                                Each(fold, absl::StrCat("[", done, "]"))));
        w_.Line(rest);
      }
      RIDGE_RETURN_IF_ERROR(
          Shuffle(fold, std::min<int64_t>(32, g_.row_threads)));
    }
    int64_t warps = g_.row_threads / 32;
    if (warps > 1) RIDGE_RETURN_IF_ERROR(AcrossWarps(folds, warps));
    if (g_.cluster > 1) RIDGE_RETURN_IF_ERROR(AcrossBlocks(pass, folds));
    for (const Fold& fold : folds) {
      for (size_t p = 0; p < fold.names.size(); ++p) {
        if (fold.nodes[p] < 0) continue;
        std::string value = absl::StrCat(fold.names[p], "[0]");
        const Node& node = kernel_.nodes[fold.nodes[p]];
        if (fold.simple) {
          // The fold began at its neutral element: the initial value counts
          // once.
          RIDGE_ASSIGN_OR_RETURN(
              value, CombineText(*kernel_.functions[node.function].simple,
                                 node.type, w_.Name(fold.inits[p]), value));
        }
        w_.Line(absl::StrCat(
            "const ", CarryType(node.type), " n", fold.nodes[p], " = ", value,
            ";  // ",
            node.origin == nullptr ? "row" : std::string(node.origin->name())));
        w_.Define(fold.nodes[p], absl::StrCat("n", fold.nodes[p]));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Shuffle(const Fold& fold, int64_t width) {
    if (width <= 1) return absl::OkStatus();
    w_.Line("#pragma unroll");
    w_.Open(absl::StrCat("for (int m = ", width / 2, "; m > 0; m /= 2) {"));
    std::vector<std::string> others;
    for (size_t p = 0; p < fold.names.size(); ++p) {
      std::string other = absl::StrCat("other", p);
      w_.Line(absl::StrCat("const ", fold.types[p], " ", other,
                           " = rdg_shuffle(", fold.names[p], "[0], m);"));
      others.push_back(std::move(other));
    }
    RIDGE_ASSIGN_OR_RETURN(
        std::string line,
        w_.CombineStatement(fold.nodes, Each(fold, "[0]"), others));
    w_.Line(line);
    w_.Close();
    return absl::OkStatus();
  }

  // Through shared memory; each pass has its own, so that one barrier is
  // enough.
  absl::Status AcrossWarps(const std::vector<Fold>& folds, int64_t warps) {
    for (const Fold& fold : folds) {
      for (size_t p = 0; p < fold.names.size(); ++p) {
        w_.Line(absl::StrCat("__shared__ ", fold.types[p], " w", fold.names[p],
                             "[", g_.block_rows, "][", warps, "];"));
      }
    }
    w_.Open("if (threadIdx.x % 32 == 0) {");
    std::string at =
        absl::StrCat("[threadIdx.x / ", g_.row_threads, "][lane / 32]");
    for (const Fold& fold : folds) {
      for (const std::string& n : fold.names) {
        w_.Line(absl::StrCat("w", n, at, " = ", n, "[0];"));
      }
    }
    w_.Close();
    w_.Line("__syncthreads();");
    for (const Fold& fold : folds) {
      std::vector<std::string> others;
      for (const std::string& n : fold.names) {
        w_.Line(absl::StrCat(n, "[0] = w", n, "[threadIdx.x / ", g_.row_threads,
                             "][threadIdx.x % ", warps, "];"));
      }
      RIDGE_RETURN_IF_ERROR(Shuffle(fold, warps));
    }
    return absl::OkStatus();
  }

  absl::Status AcrossBlocks(int pass, const std::vector<Fold>& folds) {
    for (const Fold& fold : folds) {
      for (size_t p = 0; p < fold.names.size(); ++p) {
        w_.Line(absl::StrCat("__shared__ alignas(16) ", fold.types[p], " c",
                             fold.names[p], "[", g_.block_rows, "];"));
      }
    }
    w_.Open("if (lane == 0) {");
    for (const Fold& fold : folds) {
      for (const std::string& n : fold.names) {
        w_.Line(absl::StrCat("c", n, "[threadIdx.x / ", g_.row_threads,
                             "] = ", n, "[0];"));
      }
    }
    w_.Close();
    w_.Line("rdg_cluster_sync();");
    for (const Fold& fold : folds) {
      auto read = [&](const std::string& n, absl::string_view rank) {
        return absl::StrCat("rdg_cluster_read(&c", n, "[threadIdx.x / ",
                            g_.row_threads, "], ", rank, ")");
      };
      for (const std::string& n : fold.names) {
        w_.Line(absl::StrCat(n, "[0] = ", read(n, "0"), ";"));
      }
      w_.Line("#pragma unroll");
      w_.Open(
          absl::StrCat("for (unsigned b = 1; b < ", g_.cluster, "; ++b) {"));
      std::vector<std::string> others;
      for (size_t p = 0; p < fold.names.size(); ++p) {
        w_.Line(absl::StrCat("const ", fold.types[p], " other", p, " = ",
                             read(fold.names[p], "b"), ";"));
        others.push_back(absl::StrCat("other", p));
      }
      RIDGE_ASSIGN_OR_RETURN(
          std::string line,
          w_.CombineStatement(fold.nodes, Each(fold, "[0]"), others));
      w_.Line(line);
      w_.Close();
    }
    // Nobody may leave while others still read its memory.
    bool last = true;
    for (NodeId n = 0; n < static_cast<NodeId>(kernel_.nodes.size()); ++n) {
      if (IsRowFold(n) && pass_[n] > pass + 1) last = false;
    }
    if (last) w_.Line("rdg_cluster_sync();");
    return absl::OkStatus();
  }

  const Kernel& kernel_;
  Geometry g_;
  BodyWriter w_;
  int64_t column_var_;
  uint64_t column_bit_;
  std::vector<int> pass_;
  int last_pass_ = 0;
  std::map<NodeId, IndexId> base_;
  std::set<NodeId> held_;
  std::set<NodeId> streamed_;
  std::set<NodeId> kept_;
  std::map<NodeId, int> kept_pass_;
};

// Bytes of row inputs that a thread would hold for one vector.
int64_t HeldBytes(const Kernel& kernel, int64_t vector) {
  const uint64_t row_bit = uint64_t{1} << (kernel.space_vars - 1);
  int64_t bytes = 0;
  for (const Node& n : kernel.nodes) {
    // Only what varies with the row is held; scales and biases are read when
    // they are needed.
    const bool held = n.kind == NodeKind::kLoad && (n.vars & row_bit) != 0 &&
                      (n.vars & ~row_bit & SpaceMask(kernel)) != 0;
    if (held) {
      bytes += StorageBytes(kernel.buffers[n.buffer].shape.type()) * vector;
    }
  }
  return std::max<int64_t>(bytes, 1);
}

Geometry Choose(const Kernel& kernel, const ScheduleChoice& choice,
                const DeviceLimits& device) {
  Geometry g;
  g.columns = kernel.vars[kernel.space_vars - 1].extent;
  for (int32_t v = 0; v + 1 < kernel.space_vars; ++v) {
    g.rows *= kernel.vars[v].extent;
  }
  g.vector = Parameter(choice, "vector", NaturalVector(kernel));
  while (g.columns % g.vector != 0) g.vector /= 2;
  int64_t vectors = g.columns / g.vector;
  // About four vectors a thread keep the memory busy.
  int64_t width =
      std::clamp<int64_t>(NextPowerOfTwo(CeilDiv(vectors, 4)), 1, 32768);
  if (vectors <= 32) width = NextPowerOfTwo(vectors);
  width =
      std::max<int64_t>(width, std::min<int64_t>(32, NextPowerOfTwo(vectors)));
  int64_t held = HeldBytes(kernel, g.vector);
  int64_t threads = std::min<int64_t>(width, 1024);
  int64_t cluster = 1;
  // A thread of a full block has 64 registers: 128 bytes of row at most.
  while (CeilDiv(vectors, threads * cluster) * held > 128 &&
         cluster < device.max_cluster_blocks && cluster < 8) {
    cluster *= 2;
  }
  g.row_threads = Parameter(choice, "threads", threads);
  g.cluster = Parameter(choice, "cluster", cluster);
  g.block_rows =
      Parameter(choice, "rows", std::max<int64_t>(1, 256 / g.row_threads));
  if (g.cluster > 1) g.block_rows = 1;
  while (g.block_rows > 1 && g.rows < g.block_rows) g.block_rows /= 2;
  if (g.Block() < 32) g.block_rows = 32 / g.row_threads;
  g.chunks = CeilDiv(vectors, g.Width());
  g.cached = Parameter(choice, "cached", g.chunks * held <= 160 ? 1 : 0) != 0;
  return g;
}

}  // namespace

absl::StatusOr<EmittedKernel> EmitRowReduce(const Kernel& kernel,
                                            const ScheduleChoice& choice,
                                            const DeviceLimits& device) {
  if (kernel.space_vars < 1) {
    return absl::UnimplementedError("row_reduce: no space variables");
  }
  uint64_t column = uint64_t{1} << (kernel.space_vars - 1);
  uint64_t space = SpaceMask(kernel);
  for (const Node& n : kernel.nodes) {
    if (n.kind != NodeKind::kReduce) continue;
    uint64_t over = n.reduced & space;
    if (over != 0 && n.reduced != column) {
      return absl::UnimplementedError(
          "row_reduce: a reduction over more than the row");
    }
  }
  for (const Store& s : kernel.stores) {
    if ((s.vars | column) != (space | column) &&
        PointCount(kernel, s.vars | column) != PointCount(kernel, space)) {
      return absl::UnimplementedError(
          "row_reduce: an output that does not span the rows");
    }
  }
  Geometry g = Choose(kernel, choice, device);
  if (g.rows == 0 || g.columns == 0) {
    return absl::UnimplementedError("row_reduce: no elements");
  }
  EmittedKernel emitted;
  emitted.choice.name = "row_reduce";
  emitted.choice.parameters = {{"vector", g.vector},
                               {"threads", g.row_threads},
                               {"rows", g.block_rows},
                               {"cluster", g.cluster},
                               {"cached", g.cached ? 1 : 0}};
  RIDGE_ASSIGN_OR_RETURN(emitted.source, RowEmitter(kernel, g).Run());
  Launch launch;
  launch.function = kernel.name;
  launch.grid = CeilDiv(g.rows, g.block_rows) * g.cluster;
  launch.block = static_cast<int>(g.Block());
  launch.cluster = static_cast<int>(g.cluster);
  launch.arguments = AllBuffers(kernel);
  emitted.launches.push_back(std::move(launch));
  return emitted;
}

}  // namespace ridge::cuda
