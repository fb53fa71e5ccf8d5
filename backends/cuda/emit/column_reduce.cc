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
#include "backends/cuda/emit/folds.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

enum : int64_t { kColumn = 0, kStep = 1, kLaneVar = 2 };

class ColumnEmitter {
 public:
  ColumnEmitter(const Kernel& kernel, const ColumnGeometry& g,
                const std::vector<Fold>& folds)
      : kernel_(kernel), g_(g), folds_(folds) {}

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
    w.Line(absl::StrCat("const int tx = threadIdx.x % ", g_.tile, ";"));
    w.Line(absl::StrCat("const int ty = threadIdx.x / ", g_.tile, ";"));
    w.Line(absl::StrCat("const ", index, " c = (", index, ")(blockIdx.x % ",
                        tiles, ") * ", g_.tile, " + tx;"));
    w.Line(absl::StrCat("const ", index, " share = (", index, ")(blockIdx.x / ",
                        tiles, ");"));
    w.Line("__builtin_assume(c >= 0);");
    Declare(&w);
    w.Open(absl::StrCat("if (c < ", column_vectors, ") {"));
    w.Line(absl::StrCat("const ", index, " first = share * ", g_.share_steps,
                        ";"));
    w.Line(absl::StrCat("const ", index, " last = first + ", g_.share_steps,
                        " < ", steps, " ? first + ", g_.share_steps, " : ",
                        steps, ";"));
    w.Line(absl::StrCat(index, " next = first + ty;"));
    if (g_.batch > 1) RIDGE_RETURN_IF_ERROR(Batches(&w));
    w.Line("#pragma unroll 4");
    w.Open(absl::StrCat("for (", index, " k = next; k < last; k += ", g_.lanes,
                        ") {"));
    w.Line("__builtin_assume(k >= 0);");
    RIDGE_RETURN_IF_ERROR(Elements(&w, /*batch=*/false));
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
        w.Line(absl::StrCat("p", f, "_", p, "[", at, "] = ", folds_[f].names[p],
                            "[j];"));
      }
    }
    if (ragged) w.Close();
    w.Close();
    w.Close();
    return absl::StrCat(
        "\nextern \"C\" __global__ void __launch_bounds__(", g_.tile * g_.lanes,
        ") ", kernel_.name, "_partial(", w.ParameterText("__restrict__"),
        ScratchParameters(folds_, ""), ") {\n", w.TakeText(), "}\n");
  }

 private:
  void Declare(BodyWriter* w) {
    for (size_t f = 0; f < folds_.size(); ++f) {
      if (!folds_[f].simple) (void)w->Emit(folds_[f].inits);
      for (size_t p = 0; p < folds_[f].values.size(); ++p) {
        w->Line(absl::StrCat(folds_[f].types[p], " ", folds_[f].names[p], "[",
                             g_.vector, "];"));
        w->Line("#pragma unroll");
        w->Line(absl::StrCat("for (int j = 0; j < ", g_.vector, "; ++j) ",
                             folds_[f].names[p],
                             "[j] = ", FoldStart(*w, folds_[f], p), ";"));
      }
    }
  }

  // Names of a batch's values, by fold and part.
  static std::vector<std::string> BatchNames(const Fold& fold,
                                             absl::string_view suffix) {
    std::vector<std::string> names = Each(fold, suffix);
    for (std::string& n : names) n = absl::StrCat("t", n);
    return names;
  }

  // Batches of steps, each folded by halves before it joins the accumulators.
  absl::Status Batches(BodyWriter* w) {
    const std::string& index = w->index_type();
    w->Open(absl::StrCat("for (; next + ", (g_.batch - 1) * g_.lanes,
                         " < last; next += ", g_.batch * g_.lanes, ") {"));
    for (const Fold& f : folds_) {
      const std::vector<std::string> names = BatchNames(f, "");
      for (size_t p = 0; p < names.size(); ++p) {
        w->Line(absl::StrCat(f.types[p], " ", names[p], "[", g_.batch, "][",
                             g_.vector, "];"));
      }
    }
    w->Line("#pragma unroll");
    w->Open(absl::StrCat("for (int u = 0; u < ", g_.batch, "; ++u) {"));
    w->Line(absl::StrCat("const ", index, " k = next + u * ", g_.lanes, ";"));
    w->Line("__builtin_assume(k >= 0);");
    RIDGE_RETURN_IF_ERROR(Elements(w, /*batch=*/true));
    w->Close();
    auto join = [&](int64_t first, int64_t distance) -> absl::Status {
      w->Line("#pragma unroll");
      w->Open(absl::StrCat("for (int j = 0; j < ", g_.vector, "; ++j) {"));
      for (const Fold& f : folds_) {
        const bool last = distance == 0;
        RIDGE_ASSIGN_OR_RETURN(
            std::string line,
            w->CombineStatement(
                f.nodes,
                last ? Each(f, "[j]")
                     : BatchNames(f, absl::StrCat("[", first, "][j]")),
                BatchNames(f, absl::StrCat("[", first + distance, "][j]"))));
        w->Line(line);
      }
      w->Close();
      return absl::OkStatus();
    };
    for (int64_t h = 1; h < g_.batch; h *= 2) {
      for (int64_t u = 0; u < g_.batch; u += 2 * h) {
        RIDGE_RETURN_IF_ERROR(join(u, h));
      }
    }
    RIDGE_RETURN_IF_ERROR(join(0, 0));
    w->Close();
    return absl::OkStatus();
  }

  // The values of step k: into the accumulators, or as number u of a batch.
  absl::Status Elements(BodyWriter* w, bool batch) {
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
      if (batch) {
        const std::vector<std::string> names = BatchNames(folds_[f], "[u][j]");
        for (size_t p = 0; p < names.size(); ++p) {
          w->Line(absl::StrCat(names[p], " = ", values[p], ";"));
        }
        continue;
      }
      RIDGE_ASSIGN_OR_RETURN(
          std::string line,
          w->CombineStatement(folds_[f].nodes, Each(folds_[f], "[j]"), values));
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
        w->CombineStatement(fold.nodes, Each(folds_[f], "[0]"),
                            Each(folds_[f], "[j]")));
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
        w->Line(absl::StrCat("__shared__ ", folds_[f].types[p], " w", f, "_", p,
                             "[", g_.lanes, "][", width, "][", g_.tile, "];"));
      }
    }
    w->Line("#pragma unroll");
    w->Open(absl::StrCat("for (int j = 0; j < ", width, "; ++j) {"));
    for (size_t f = 0; f < folds_.size(); ++f) {
      for (size_t p = 0; p < folds_[f].values.size(); ++p) {
        w->Line(absl::StrCat("w", f, "_", p,
                             "[ty][j][tx] = ", folds_[f].names[p], "[j];"));
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
          w->CombineStatement(folds_[f].nodes, Each(folds_[f], "[j]"), others));
      w->Line(line);
      for (size_t p = 0; p < folds_[f].values.size(); ++p) {
        w->Line(absl::StrCat("w", f, "_", p,
                             "[ty][j][tx] = ", folds_[f].names[p], "[j];"));
      }
    }
    w->Close();
    w->Close();
    w->Close();
    return absl::OkStatus();
  }

  const Kernel& kernel_;
  const ColumnGeometry& g_;
  const std::vector<Fold>& folds_;
};

}  // namespace

absl::StatusOr<EmittedKernel> EmitColumnReduce(const Kernel& kernel,
                                               const ScheduleChoice& choice,
                                               const DeviceLimits& device) {
  RIDGE_RETURN_IF_ERROR(ColumnReduceSchedule()->CanSchedule(kernel, device));
  const ColumnGeometry g = ColumnGeometryOf(kernel, choice, device);
  RIDGE_ASSIGN_OR_RETURN(std::vector<Fold> folds,
                         ColumnFolds(kernel, g.reduced));
  EmittedKernel emitted;
  emitted.choice = ChoiceOf(g);
  RIDGE_ASSIGN_OR_RETURN(std::string first,
                         ColumnEmitter(kernel, g, folds).First());
  const FinishGeometry finish = {g.kept, g.columns, g.shares};
  RIDGE_ASSIGN_OR_RETURN(std::string second,
                         EmitFinish(kernel, finish, folds, kernel.stores));
  emitted.scratch_bytes = ScratchBytes(kernel, folds, g.shares, g.columns);
  BodyWriter probe(kernel, Dialect::kCuda);
  RIDGE_ASSIGN_OR_RETURN(emitted.source,
                         WholeFile(probe, absl::StrCat(first, second)));
  Launch partial;
  partial.function = absl::StrCat(kernel.name, "_partial");
  partial.grid = g.tiles * g.shares;
  partial.block = static_cast<int>(g.tile * g.lanes);
  emitted.launches = {partial, FinishLaunch(kernel, finish)};
  return emitted;
}

}  // namespace ridge::cuda
