// The ColumnReduce schedule: reductions along strided variables, and full
// reductions. Deterministic: a first launch folds a share of the reduced
// points into partial results in scratch memory, a second folds the partials
// in a fixed order and does all that follows.
//
// First launch. Kept points (columns) go across threads, `vector` neighbours
// each; the reduced points of one share are walked by `lanes` groups of
// threads, which are then combined through shared memory:
//
//   block = (column tile, share);  thread = (column vector, lane)
//   for k in share, from lane, step lanes:  acc[j] = f(acc[j], value(k, j))
//
// Second launch. A thread a column (or a warp, where there are few) folds the
// shares and stores whatever depends on the result.

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

enum : int64_t { kColumn = 0, kStep = 1, kLaneVar = 2 };

struct Geometry {
  uint64_t kept = 0;  // variables of the result
  uint64_t reduced = 0;
  int64_t columns = 1;  // points of kept
  int64_t length = 1;   // points of reduced
  int64_t vector = 1;
  bool along_columns = true;  // vector lanes are neighbouring columns; else
                              // neighbouring reduced points
  int64_t tile = 32;          // threads across columns
  int64_t lanes = 8;          // threads along the reduction
  int64_t shares = 1;
};

struct Fold {
  std::vector<NodeId> nodes;
  std::vector<NodeId> values;
  std::vector<NodeId> inits;
  NodeId any = -1;
  bool simple = false;
};

class ColumnEmitter {
 public:
  ColumnEmitter(const Kernel& kernel, const Geometry& g,
                std::vector<Fold> folds)
      : kernel_(kernel), g_(g), folds_(std::move(folds)) {}

  absl::StatusOr<std::string> First() {
    BodyWriter w(kernel_, Dialect::kCuda);
    IndexPool& pool = w.pool();
    const std::string& index = w.index_type();
    int64_t column_vectors =
        g_.along_columns ? CeilDiv(g_.columns, g_.vector) : g_.columns;
    int64_t steps =
        g_.along_columns ? g_.length : CeilDiv(g_.length, g_.vector);
    IndexId c = w.NewVar("c", column_vectors);
    IndexId k = w.NewVar("k", steps);
    IndexId j = w.NewVar("j", g_.vector);
    IndexId column = g_.along_columns ? pool.Add(pool.Mul(c, g_.vector), j) : c;
    IndexId step = g_.along_columns ? k : pool.Add(pool.Mul(k, g_.vector), j);
    BindOver(&w, g_.kept, column);
    BindOver(&w, g_.reduced, step);

    int64_t tiles = CeilDiv(column_vectors, g_.tile);
    int64_t per_share = CeilDiv(steps, g_.shares);
    w.Line(absl::StrCat("const int tx = threadIdx.x % ", g_.tile, ";"));
    w.Line(absl::StrCat("const int ty = threadIdx.x / ", g_.tile, ";"));
    w.Line(absl::StrCat("const ", index, " c = (", index, ")(blockIdx.x % ",
                        tiles, ") * ", g_.tile, " + tx;"));
    w.Line(absl::StrCat("const ", index, " share = (", index, ")(blockIdx.x / ",
                        tiles, ");"));
    w.Line("__builtin_assume(c >= 0);");
    Declare(&w, [&](const Fold& f, size_t p) { return Start(w, f, p); });
    w.Open(absl::StrCat("if (c < ", column_vectors, ") {"));
    w.Line(absl::StrCat("const ", index, " first = share * ", per_share, ";"));
    w.Line(absl::StrCat("const ", index, " last = first + ", per_share, " < ",
                        steps, " ? first + ", per_share, " : ", steps, ";"));
    w.Line("#pragma unroll 4");
    w.Open(absl::StrCat("for (", index,
                        " k = first + ty; k < last; k += ", g_.lanes, ") {"));
    w.Line("__builtin_assume(k >= 0);");
    RIDGE_RETURN_IF_ERROR(Elements(&w));
    w.Close();
    w.Close();
    if (!g_.along_columns) {
      for (const Fold& f : folds_) RIDGE_RETURN_IF_ERROR(FoldLanes(&w, f));
    }
    RIDGE_RETURN_IF_ERROR(AcrossThreads(&w));
    w.Open(absl::StrCat("if (ty == 0 && c < ", column_vectors,
                        (g_.along_columns ? "" : " && tx < 1 * "),
                        g_.along_columns ? "" : absl::StrCat(g_.tile), ") {"));
    std::string lanes = g_.along_columns ? absl::StrCat(g_.vector) : "1";
    w.Line("#pragma unroll");
    w.Open(absl::StrCat("for (int j = 0; j < ", lanes, "; ++j) {"));
    std::string at =
        g_.along_columns
            ? absl::StrCat("share * ", g_.columns, " + c * ", g_.vector, " + j")
            : absl::StrCat("share * ", g_.columns, " + c");
    bool ragged = g_.along_columns && g_.columns % g_.vector != 0;
    if (ragged) {
      w.Open(absl::StrCat("if (c * ", g_.vector, " + j < ", g_.columns, ") {"));
    }
    for (size_t f = 0; f < folds_.size(); ++f) {
      for (size_t p = 0; p < folds_[f].values.size(); ++p) {
        w.Line(
            absl::StrCat("p", f, "_", p, "[", at, "] = ", Acc(f, p), "[j];"));
      }
    }
    if (ragged) w.Close();
    w.Close();
    w.Close();
    return absl::StrCat("\nextern \"C\" __global__ void __launch_bounds__(",
                        g_.tile * g_.lanes, ") ", kernel_.name, "_partial(",
                        w.ParameterText("__restrict__"), Scratch(""), ") {\n",
                        w.TakeText(), "}\n");
  }

  // `threads` fold one column's shares; stores by the first of them.
  absl::StatusOr<std::string> Second(int64_t threads,
                                     const std::vector<Store>& stores) {
    BodyWriter w(kernel_, Dialect::kCuda);
    const std::string& index = w.index_type();
    IndexId c = w.NewVar("c", g_.columns);
    BindOver(&w, g_.kept, c);
    w.Line(absl::StrCat("const int lane = threadIdx.x % ", threads, ";"));
    w.Line(absl::StrCat("const ", index, " column = (", index, ")blockIdx.x * ",
                        256 / threads, " + threadIdx.x / ", threads, ";"));
    w.Line(absl::StrCat("const ", index, " c = column < ", g_.columns,
                        " ? column : ", g_.columns - 1, ";"));
    w.Line("__builtin_assume(c >= 0);");
    for (size_t f = 0; f < folds_.size(); ++f) {
      RIDGE_RETURN_IF_ERROR(w.Emit(folds_[f].inits));
    }
    for (size_t f = 0; f < folds_.size(); ++f) {
      for (size_t p = 0; p < folds_[f].values.size(); ++p) {
        w.Line(absl::StrCat(Type(folds_[f], p), " ", Acc(f, p), "[1] = {",
                            Start(w, folds_[f], p), "};"));
      }
    }
    w.Line("#pragma unroll 4");
    w.Open(absl::StrCat("for (int s = lane; s < ", g_.shares,
                        "; s += ", threads, ") {"));
    for (size_t f = 0; f < folds_.size(); ++f) {
      std::vector<std::string> others;
      for (size_t p = 0; p < folds_[f].values.size(); ++p) {
        others.push_back(absl::StrCat("p", f, "_", p, "[(int64_t)s * ",
                                      g_.columns, " + c]"));
      }
      RIDGE_ASSIGN_OR_RETURN(
          std::string line,
          w.CombineStatement(folds_[f].nodes, Accs(f, "[0]"), others));
      w.Line(line);
    }
    w.Close();
    for (size_t f = 0; f < folds_.size(); ++f) {
      RIDGE_RETURN_IF_ERROR(Shuffle(&w, f, std::min<int64_t>(threads, 32)));
    }
    if (threads > 32) RIDGE_RETURN_IF_ERROR(BlockFold(&w, threads / 32));
    for (size_t f = 0; f < folds_.size(); ++f) {
      const Fold& fold = folds_[f];
      for (size_t p = 0; p < fold.values.size(); ++p) {
        NodeId n = fold.nodes[p];
        if (n < 0) continue;
        const Node& node = kernel_.nodes[n];
        std::string value = absl::StrCat(Acc(f, p), "[0]");
        if (fold.simple) {
          RIDGE_ASSIGN_OR_RETURN(
              value, CombineText(*kernel_.functions[node.function].simple,
                                 node.type, w.Name(fold.inits[p]), value));
        }
        w.Line(absl::StrCat("const ", CarryType(node.type), " n", n, " = ",
                            value, ";"));
        w.Define(n, absl::StrCat("n", n));
      }
    }
    w.Open(absl::StrCat("if (lane == 0 && column < ", g_.columns, ") {"));
    for (const Store& s : stores) RIDGE_RETURN_IF_ERROR(w.EmitStore(s));
    w.Close();
    return absl::StrCat(
        "\nextern \"C\" __global__ void __launch_bounds__(256)"
        " ",
        kernel_.name, "_finish(", w.ParameterText("__restrict__"),
        Scratch("const "), ") {\n", w.TakeText(), "}\n");
  }

  std::vector<int64_t> ScratchBytes() const {
    std::vector<int64_t> bytes;
    for (const Fold& f : folds_) {
      for (size_t p = 0; p < f.values.size(); ++p) {
        ElementType t = kernel_.nodes[f.values[p]].type;
        int64_t width = Info(t).bits < 32 && IsFloat(t) ? 4 : StorageBytes(t);
        bytes.push_back(g_.shares * g_.columns * width);
      }
    }
    return bytes;
  }

 private:
  void BindOver(BodyWriter* w, uint64_t mask, IndexId linear) const {
    int64_t stride = 1;
    for (int64_t v = static_cast<int64_t>(kernel_.vars.size()) - 1; v >= 0;
         --v) {
      if (((mask >> v) & 1) == 0) continue;
      int64_t extent = kernel_.vars[v].extent;
      w->Bind(v, w->pool().Mod(w->pool().FloorDiv(linear, stride), extent));
      stride *= extent;
    }
  }

  std::string Acc(size_t f, size_t p) const {
    return absl::StrCat("acc", f, "_", p);
  }
  std::vector<std::string> Accs(size_t f, absl::string_view suffix) const {
    std::vector<std::string> names;
    for (size_t p = 0; p < folds_[f].values.size(); ++p) {
      names.push_back(absl::StrCat(Acc(f, p), suffix));
    }
    return names;
  }
  std::string Type(const Fold& f, size_t p) const {
    return std::string(CarryType(kernel_.nodes[f.values[p]].type));
  }
  std::string Scratch(absl::string_view qualifier) const {
    std::string text;
    for (size_t f = 0; f < folds_.size(); ++f) {
      for (size_t p = 0; p < folds_[f].values.size(); ++p) {
        absl::StrAppend(&text, ", ", qualifier, Type(folds_[f], p),
                        "* __restrict__ p", f, "_", p);
      }
    }
    return text;
  }
  std::string Start(const BodyWriter& w, const Fold& f, size_t p) const {
    const Node& node = kernel_.nodes[f.any];
    if (f.simple) {
      return IdentityText(*kernel_.functions[node.function].simple, node.type);
    }
    return w.Name(f.inits[p]);
  }

  template <typename Fn>
  void Declare(BodyWriter* w, Fn&& start) {
    for (size_t f = 0; f < folds_.size(); ++f) {
      if (!folds_[f].simple) (void)w->Emit(folds_[f].inits);
      for (size_t p = 0; p < folds_[f].values.size(); ++p) {
        w->Line(absl::StrCat(Type(folds_[f], p), " ", Acc(f, p), "[", g_.vector,
                             "];"));
        w->Line("#pragma unroll");
        w->Line(absl::StrCat("for (int j = 0; j < ", g_.vector, "; ++j) ",
                             Acc(f, p), "[j] = ", start(folds_[f], p), ";"));
      }
    }
  }

  absl::Status Elements(BodyWriter* w) {
    std::vector<NodeId> roots;
    for (const Fold& f : folds_) {
      roots.insert(roots.end(), f.values.begin(), f.values.end());
    }
    auto stop = [&](NodeId n) {
      return kernel_.nodes[n].kind == NodeKind::kReduce;
    };
    std::map<NodeId, IndexId> wide;
    bool ragged = g_.along_columns ? g_.columns % g_.vector != 0
                                   : g_.length % g_.vector != 0;
    std::vector<NodeId> needs = w->Needs(roots, stop);
    for (NodeId n : needs) {
      const Node& node = kernel_.nodes[n];
      if (node.kind != NodeKind::kLoad || node.guard >= 0 || ragged ||
          g_.vector == 1 || w->pool().HasDynamic(node.offset)) {
        continue;
      }
      IndexId base;
      if (AccessAlong(w, node.offset, kLaneVar, g_.vector, &base) !=
          LaneAccess::kVector) {
        continue;
      }
      wide[n] = base;
      ElementType type = kernel_.buffers[node.buffer].shape.type();
      w->Line(absl::StrCat("const ", VecType(type, g_.vector), " a", n,
                           " = rdg_load_vec<", StorageType(type), ", ",
                           g_.vector, ">(", w->BufferName(node.buffer), " + (",
                           w->Text(base), "));"));
    }
    if (g_.vector > 1) {
      std::vector<NodeId> shared;
      for (NodeId n : needs) {
        if ((w->Varies(n) & BodyWriter::Bit(kLaneVar)) == 0) {
          shared.push_back(n);
        }
      }
      RIDGE_RETURN_IF_ERROR(w->Emit(shared));
    }
    w->Line("#pragma unroll");
    w->Open(absl::StrCat("for (int j = 0; j < ", g_.vector, "; ++j) {"));
    if (ragged) {
      w->Open(g_.along_columns ? absl::StrCat("if (c * ", g_.vector, " + j < ",
                                              g_.columns, ") {")
                               : absl::StrCat("if (k * ", g_.vector, " + j < ",
                                              g_.length, ") {"));
    }
    for (const auto& [n, base] : wide) {
      const Node& node = kernel_.nodes[n];
      w->Line(absl::StrCat("const ", CarryType(node.type), " n", n, " = ",
                           LoadText(node.type, absl::StrCat("a", n, ".x[j]")),
                           ";"));
      w->Define(n, absl::StrCat("n", n));
    }
    RIDGE_RETURN_IF_ERROR(w->Emit(roots));
    for (size_t f = 0; f < folds_.size(); ++f) {
      std::vector<std::string> values;
      for (NodeId v : folds_[f].values) values.push_back(w->Name(v));
      RIDGE_ASSIGN_OR_RETURN(
          std::string line,
          w->CombineStatement(folds_[f].nodes, Accs(f, "[j]"), values));
      w->Line(line);
    }
    if (ragged) w->Close();
    w->Close();
    return absl::OkStatus();
  }

  // acc[0] takes the other lanes' results.
  absl::Status FoldLanes(BodyWriter* w, const Fold& fold) {
    size_t f = &fold - folds_.data();
    w->Line("#pragma unroll");
    w->Open(absl::StrCat("for (int j = 1; j < ", g_.vector, "; ++j) {"));
    RIDGE_ASSIGN_OR_RETURN(
        std::string line,
        w->CombineStatement(fold.nodes, Accs(f, "[0]"), Accs(f, "[j]")));
    w->Line(line);
    w->Close();
    return absl::OkStatus();
  }

  // The groups of threads along the reduction, by halves through shared
  // memory.
  absl::Status AcrossThreads(BodyWriter* w) {
    if (g_.lanes == 1) return absl::OkStatus();
    int64_t width = g_.along_columns ? g_.vector : 1;
    for (size_t f = 0; f < folds_.size(); ++f) {
      for (size_t p = 0; p < folds_[f].values.size(); ++p) {
        w->Line(absl::StrCat("__shared__ ", Type(folds_[f], p), " w", f, "_", p,
                             "[", g_.lanes, "][", width, "][", g_.tile, "];"));
      }
    }
    w->Line("#pragma unroll");
    w->Open(absl::StrCat("for (int j = 0; j < ", width, "; ++j) {"));
    for (size_t f = 0; f < folds_.size(); ++f) {
      for (size_t p = 0; p < folds_[f].values.size(); ++p) {
        w->Line(
            absl::StrCat("w", f, "_", p, "[ty][j][tx] = ", Acc(f, p), "[j];"));
      }
    }
    w->Close();
    w->Line("#pragma unroll");
    w->Open(absl::StrCat("for (int h = ", g_.lanes / 2, "; h > 0; h /= 2) {"));
    w->Line("__syncthreads();");
    w->Open("if (ty < h) {");
    w->Line("#pragma unroll");
    w->Open(absl::StrCat("for (int j = 0; j < ", width, "; ++j) {"));
    for (size_t f = 0; f < folds_.size(); ++f) {
      std::vector<std::string> others;
      for (size_t p = 0; p < folds_[f].values.size(); ++p) {
        others.push_back(absl::StrCat("w", f, "_", p, "[ty + h][j][tx]"));
      }
      RIDGE_ASSIGN_OR_RETURN(
          std::string line,
          w->CombineStatement(folds_[f].nodes, Accs(f, "[j]"), others));
      w->Line(line);
      for (size_t p = 0; p < folds_[f].values.size(); ++p) {
        w->Line(
            absl::StrCat("w", f, "_", p, "[ty][j][tx] = ", Acc(f, p), "[j];"));
      }
    }
    w->Close();
    w->Close();
    w->Close();
    return absl::OkStatus();
  }

  absl::Status Shuffle(BodyWriter* w, size_t f, int64_t width) {
    if (width <= 1) return absl::OkStatus();
    w->Line("#pragma unroll");
    w->Open(absl::StrCat("for (int m = ", width / 2, "; m > 0; m /= 2) {"));
    std::vector<std::string> others;
    for (size_t p = 0; p < folds_[f].values.size(); ++p) {
      w->Line(absl::StrCat("const ", Type(folds_[f], p), " other", p,
                           " = rdg_shuffle(", Acc(f, p), "[0], m);"));
      others.push_back(absl::StrCat("other", p));
    }
    RIDGE_ASSIGN_OR_RETURN(
        std::string line,
        w->CombineStatement(folds_[f].nodes, Accs(f, "[0]"), others));
    w->Line(line);
    w->Close();
    return absl::OkStatus();
  }

  // One column a block: its warps' results.
  absl::Status BlockFold(BodyWriter* w, int64_t warps) {
    for (size_t f = 0; f < folds_.size(); ++f) {
      for (size_t p = 0; p < folds_[f].values.size(); ++p) {
        w->Line(absl::StrCat("__shared__ ", Type(folds_[f], p), " w", f, "_", p,
                             "[", warps, "];"));
        w->Line(absl::StrCat("if (threadIdx.x % 32 == 0) w", f, "_", p,
                             "[threadIdx.x / 32] = ", Acc(f, p), "[0];"));
      }
    }
    w->Line("__syncthreads();");
    for (size_t f = 0; f < folds_.size(); ++f) {
      for (size_t p = 0; p < folds_[f].values.size(); ++p) {
        w->Line(absl::StrCat(Acc(f, p), "[0] = w", f, "_", p, "[threadIdx.x % ",
                             warps, "];"));
      }
      RIDGE_RETURN_IF_ERROR(Shuffle(w, f, warps));
    }
    return absl::OkStatus();
  }

  const Kernel& kernel_;
  Geometry g_;
  std::vector<Fold> folds_;
};

}  // namespace

absl::StatusOr<EmittedKernel> EmitColumnReduce(const Kernel& kernel,
                                               const ScheduleChoice& choice,
                                               const DeviceLimits& device) {
  uint64_t space = SpaceMask(kernel);
  Geometry g;
  BodyWriter probe(kernel, Dialect::kCuda);
  std::vector<Fold> folds;
  std::set<NodeId> taken;
  for (NodeId n = 0; n < static_cast<NodeId>(kernel.nodes.size()); ++n) {
    const Node& node = kernel.nodes[n];
    if (node.kind != NodeKind::kReduce || (node.reduced & space) == 0) continue;
    if (node.phase > 1) {
      return absl::UnimplementedError(
          "column_reduce: a reduction of a reduction's result");
    }
    if (g.reduced != 0 && node.reduced != g.reduced) {
      return absl::UnimplementedError(
          "column_reduce: reductions over different variables");
    }
    g.reduced = node.reduced;
    if (taken.count(n)) continue;
    Fold fold;
    fold.any = n;
    fold.nodes = probe.FoldOf(n);
    for (NodeId m : fold.nodes) {
      if (m >= 0) taken.insert(m);
    }
    size_t parts = node.operands.size() / 2;
    fold.values.assign(node.operands.begin(), node.operands.begin() + parts);
    fold.inits.assign(node.operands.begin() + parts, node.operands.end());
    fold.simple =
        parts == 1 && kernel.functions[node.function].simple.has_value() &&
        !IdentityText(*kernel.functions[node.function].simple, node.type)
             .empty();
    for (NodeId init : fold.inits) {
      if (!fold.simple && kernel.nodes[init].kind != NodeKind::kConst) {
        return absl::UnimplementedError(
            "column_reduce: an initial value that is no constant");
      }
    }
    folds.push_back(std::move(fold));
  }
  if (g.reduced == 0) {
    return absl::UnimplementedError("column_reduce: nothing is reduced");
  }
  g.kept = space & ~g.reduced;
  g.columns = PointCount(kernel, g.kept);
  g.length = PointCount(kernel, g.reduced);
  if (g.columns == 0 || g.length == 0) {
    return absl::UnimplementedError("column_reduce: no elements");
  }
  // Outputs of the whole space that need no fold run beside, by points; ones
  // that need both would have to read everything again.
  std::vector<Store> of_columns;
  Kernel rest = kernel;
  rest.stores.clear();
  for (const Store& s : kernel.stores) {
    if ((s.vars & g.reduced) == 0) {
      of_columns.push_back(s);
    } else if (kernel.nodes[s.value].phase == 0) {
      rest.stores.push_back(s);
    } else {
      return absl::UnimplementedError(
          "column_reduce: an output that reads the result for each point");
    }
  }

  uint64_t minor = uint64_t{1} << (kernel.space_vars - 1);
  g.along_columns = (g.kept & minor) != 0;
  g.vector = Parameter(choice, "vector", NaturalVector(kernel));
  if (g.along_columns) {
    g.vector = std::min<int64_t>(g.vector, 4);
    int64_t contiguous = kernel.vars[kernel.space_vars - 1].extent;
    while (contiguous % g.vector != 0) g.vector /= 2;
  }
  int64_t column_vectors =
      g.along_columns ? CeilDiv(g.columns, g.vector) : g.columns;
  int64_t steps = g.along_columns ? g.length : CeilDiv(g.length, g.vector);
  g.tile = g.along_columns
               ? std::min<int64_t>(32, NextPowerOfTwo(column_vectors))
               : 1;
  g.tile = Parameter(choice, "tile", g.tile);
  int64_t block = Parameter(choice, "threads", 256);
  g.lanes = std::max<int64_t>(1, block / g.tile);
  while (g.lanes > 1 && g.lanes > NextPowerOfTwo(steps)) g.lanes /= 2;
  int64_t tiles = CeilDiv(column_vectors, g.tile);
  int64_t wanted = int64_t{device.multiprocessors} * 16;
  int64_t most = std::max<int64_t>(1, steps / (g.lanes * 8));
  g.shares = Parameter(choice, "shares",
                       std::clamp<int64_t>(CeilDiv(wanted, tiles), 1, most));

  EmittedKernel emitted;
  emitted.choice.name = "column_reduce";
  emitted.choice.parameters = {{"vector", g.vector},
                               {"tile", g.tile},
                               {"threads", g.tile * g.lanes},
                               {"shares", g.shares}};
  ColumnEmitter emitter(kernel, g, std::move(folds));
  RIDGE_ASSIGN_OR_RETURN(std::string first, emitter.First());
  int64_t finish_threads = 1;
  while (finish_threads < 256 && finish_threads * 8 < g.shares &&
         g.columns * finish_threads * 2 <= 65536) {
    finish_threads *= 2;
  }
  RIDGE_ASSIGN_OR_RETURN(std::string second,
                         emitter.Second(finish_threads, of_columns));
  emitted.scratch_bytes = emitter.ScratchBytes();
  RIDGE_ASSIGN_OR_RETURN(emitted.source,
                         WholeFile(probe, absl::StrCat(first, second)));
  std::vector<int32_t> arguments = AllBuffers(kernel);
  for (size_t s = 0; s < emitted.scratch_bytes.size(); ++s) {
    arguments.push_back(-1 - static_cast<int32_t>(s));
  }
  Launch launch;
  launch.function = absl::StrCat(kernel.name, "_partial");
  launch.grid = tiles * g.shares;
  launch.block = static_cast<int>(g.tile * g.lanes);
  launch.arguments = arguments;
  emitted.launches.push_back(launch);
  launch.function = absl::StrCat(kernel.name, "_finish");
  launch.grid = CeilDiv(g.columns, 256 / finish_threads);
  launch.block = 256;
  emitted.launches.push_back(launch);
  if (!rest.stores.empty()) {
    return absl::UnimplementedError(
        "column_reduce: an output of every point beside the reduction");
  }
  return emitted;
}

}  // namespace ridge::cuda
