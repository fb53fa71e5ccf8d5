// The MultiReduce schedule: folds of one space over several sets of its axes
// in one pass (see backends/kernel/schedules/multi_reduce.h). A block:
//
//   outer accumulators, in shared memory: none yet
//   for each outer point a of the share:
//     middle accumulators, in registers: none yet
//     for each row t of the tile:
//       fetch the next row's inputs; compute this one's elements
//       store outputs; add to the middle and outer accumulators
//       this thread's part of the row's own sum, to shared memory
//     store the middle accumulators (of point a, a partial result)
//     warps add up the threads' parts of each row: partial results
//   store the outer accumulators
//
// Nothing but the row sums goes from thread to thread: an outer accumulator
// belongs to one thread. A second kernel, <name>_finish, folds the partial
// results, each kind of fold in blocks of its own.
#include "backends/kernel/schedules/multi_reduce.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/folds.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// Emitter variables, in the order of NewVar.
enum : int64_t { kOuterPoint = 0, kMiddlePoint = 1, kThread = 2, kLane = 3 };

// Threads that fold one result's partial results, where there are many of
// these: together they keep enough loads under way, and eight neighbours
// still fill a sector.
constexpr int64_t kFinishLanes = 4;
constexpr int64_t kManyParts = 32;

struct KindFolds {
  BoxFold kind = BoxFold::kRow;
  std::vector<Fold> folds;
};

class MultiReduceEmitter {
 public:
  MultiReduceEmitter(const Kernel& kernel, const MultiReduceGeometry& g)
      : kernel_(kernel), g_(g), boxes_(g.boxes), w_(kernel, Dialect::kCuda) {}

  absl::Status FindFolds() {
    int64_t number = 0;
    for (BoxFold kind : kBoxFolds) {
      if (!boxes_.Has(kind)) continue;
      // Folds also over variables of one value are the same.
      std::vector<uint64_t> masks;
      for (const Node& n : kernel_.nodes) {
        if (boxes_.FoldOver(n.reduced) != kind) continue;
        if (std::find(masks.begin(), masks.end(), n.reduced) == masks.end()) {
          masks.push_back(n.reduced);
        }
      }
      KindFolds of_kind;
      of_kind.kind = kind;
      for (uint64_t mask : masks) {
        RIDGE_ASSIGN_OR_RETURN(std::vector<Fold> folds,
                               ColumnFolds(kernel_, mask));
        for (Fold& fold : folds) {
          fold.number = number;
          for (size_t p = 0; p < fold.names.size(); ++p) {
            fold.names[p] = absl::StrCat("acc", number, "_", p);
          }
          ++number;
          of_kind.folds.push_back(std::move(fold));
        }
      }
      kinds_.push_back(std::move(of_kind));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> First() {
    Bind();
    PickLoads();
    DeclareThread();
    RIDGE_RETURN_IF_ERROR(DeclareOuter());
    for (const Fold& fold : FoldsOf(BoxFold::kBoth)) DeclareVector(fold);
    DeclareRowSums();
    w_.Open("{");
    w_.Line(absl::StrCat("const ", index(), " a = first;"));
    w_.Line(absl::StrCat("const ", index(), " b = base;"));
    Load("f");
    w_.Close();
    w_.Open(absl::StrCat("for (", index(), " a = first; a < last; ++a) {"));
    w_.Line("__builtin_assume(a >= 0);");
    for (const Fold& fold : FoldsOf(BoxFold::kMiddle)) DeclareVector(fold);
    w_.Line("#pragma unroll 1");
    w_.Open("for (int t = 0; t < rows; ++t) {");
    w_.Line(absl::StrCat("const ", index(), " b = base + t;"));
    w_.Line("__builtin_assume(b >= 0);");
    if (Ragged()) w_.Open(absl::StrCat("if (x < ", Vectors(), ") {"));
    RIDGE_RETURN_IF_ERROR(Row());
    if (Ragged()) w_.Close();
    w_.Close();
    StoreVectors(BoxFold::kMiddle, "a", g_.boxes.outer_points, "tile");
    RIDGE_RETURN_IF_ERROR(RowSums());
    w_.Close();
    StoreOuter();
    StoreVectors(BoxFold::kBoth, "0", 1,
                 absl::StrCat("(share * ", g_.tiles, " + tile)"));
    return absl::StrCat("\nextern \"C\" __global__ void __launch_bounds__(",
                        g_.threads, ", ", g_.resident, ") ", kernel_.name,
                        "_boxes(", w_.ParameterText("__restrict__"),
                        ScratchParameters(AllFolds(), ""), ") {\n",
                        w_.TakeText(), "}\n");
  }

  // The second kernel; its blocks are those of each kind, one after the other.
  absl::StatusOr<std::string> Second(Launch* launch) {
    BodyWriter w(kernel_, Dialect::kCuda);
    int64_t blocks = 0;
    for (const KindFolds& of_kind : kinds_) {
      FinishGeometry finish;
      finish.kept = boxes_.Kept(of_kind.kind);
      finish.columns = g_.Results(of_kind.kind);
      finish.shares = g_.Parts(of_kind.kind);
      if (finish.shares >= kManyParts) finish.least_threads = kFinishLanes;
      std::vector<Store> stores;
      for (int32_t s : boxes_.stores[static_cast<int>(of_kind.kind)]) {
        stores.push_back(kernel_.stores[s]);
      }
      const int64_t first = blocks;
      blocks += finish.Blocks();
      w.Open(absl::StrCat("if (blockIdx.x >= ", first, " && blockIdx.x < ",
                          blocks, ") {"));
      RIDGE_RETURN_IF_ERROR(
          EmitFinishPart(&w, finish, of_kind.folds, stores,
                         absl::StrCat("(blockIdx.x - ", first, ")")));
      w.Close();
    }
    launch->function = absl::StrCat(kernel_.name, "_finish");
    launch->grid = blocks;
    launch->block = kFinishBlock;
    return absl::StrCat(
        "\nextern \"C\" __global__ void __launch_bounds__(", kFinishBlock, ") ",
        launch->function, "(", w.ParameterText("__restrict__"),
        ScratchParameters(AllFolds(), "const "), ") {\n", w.TakeText(), "}\n");
  }

  std::vector<int64_t> Scratch() const {
    std::vector<int64_t> bytes;
    for (const KindFolds& of_kind : kinds_) {
      const std::vector<int64_t> more =
          ScratchBytes(kernel_, of_kind.folds, g_.Parts(of_kind.kind),
                       g_.Results(of_kind.kind));
      bytes.insert(bytes.end(), more.begin(), more.end());
    }
    return bytes;
  }

 private:
  const std::string& index() const { return w_.index_type(); }
  int64_t Vectors() const { return boxes_.columns / g_.vector; }
  bool Ragged() const { return Vectors() % g_.threads != 0; }

  const std::vector<Fold>& FoldsOf(BoxFold kind) const {
    static const std::vector<Fold>& none = *new std::vector<Fold>;
    for (const KindFolds& of_kind : kinds_) {
      if (of_kind.kind == kind) return of_kind.folds;
    }
    return none;
  }

  std::vector<Fold> AllFolds() const {
    std::vector<Fold> all;
    for (const KindFolds& of_kind : kinds_) {
      all.insert(all.end(), of_kind.folds.begin(), of_kind.folds.end());
    }
    return all;
  }

  std::vector<NodeId> RowRoots() const {
    std::vector<NodeId> roots;
    for (const KindFolds& of_kind : kinds_) {
      for (const Fold& fold : of_kind.folds) {
        roots.insert(roots.end(), fold.values.begin(), fold.values.end());
      }
    }
    for (int32_t s : boxes_.maps) {
      const Store& store = kernel_.stores[s];
      roots.push_back(store.value);
      if (store.guard >= 0) roots.push_back(store.guard);
      for (int32_t d : kernel_.index->DynamicNodes(store.offset)) {
        roots.push_back(d);
      }
    }
    return roots;
  }

  bool IsFold(NodeId n) const {
    return (kernel_.nodes[n].reduced & SpaceMask(kernel_)) != 0;
  }

  void Bind() {
    IndexPool& pool = w_.pool();
    IndexId a = w_.NewVar("a", boxes_.outer_points);
    IndexId b = w_.NewVar("b", boxes_.middle_points);
    IndexId x = w_.NewVar("x", g_.pieces * g_.threads);
    IndexId j = w_.NewVar("j", g_.vector);
    w_.Bind(kernel_.space_vars - 1, pool.Add(pool.Mul(x, g_.vector), j));
    BindOver(&w_, boxes_.outer, a);
    BindOver(&w_, SpaceMask(kernel_) & ~boxes_.outer & ~boxes_.row, b);
  }

  // Inputs that move as vectors: those of a row come before their turn.
  void PickLoads() {
    for (NodeId n : w_.Needs(RowRoots(), [&](NodeId m) { return IsFold(m); })) {
      const Node& node = kernel_.nodes[n];
      if (node.kind != NodeKind::kLoad || node.guard >= 0 ||
          w_.pool().HasDynamic(node.offset) || (node.vars & boxes_.row) == 0 ||
          (node.vars >> kernel_.space_vars) != 0) {
        continue;
      }
      IndexId base;
      const LaneAccess access =
          AccessAlong(&w_, node.offset, kLane, g_.vector, &base);
      if (g_.vector > 1 && access != LaneAccess::kVector) continue;
      base_[n] = base;
      constexpr uint64_t kOfRow =
          (uint64_t{1} << kOuterPoint) | (uint64_t{1} << kMiddlePoint);
      ahead_[n] = (w_.Varies(n) & kOfRow) != 0;
    }
  }

  void DeclareThread() {
    w_.Line(absl::StrCat("const ", index(), " piece = (", index(),
                         ")(blockIdx.x % ", g_.pieces, ");"));
    w_.Line(absl::StrCat("const ", index(), " tile = (", index(),
                         ")(blockIdx.x / ", g_.pieces, " % ", g_.tiles, ");"));
    w_.Line(absl::StrCat("const ", index(), " share = (", index(),
                         ")(blockIdx.x / ", g_.pieces * g_.tiles, ");"));
    w_.Line(absl::StrCat("const ", index(), " x = piece * ", g_.threads, " + (",
                         index(), ")threadIdx.x;"));
    w_.Line("__builtin_assume(x >= 0);");
    w_.Line(absl::StrCat("const ", index(), " base = tile * ", g_.tile, ";"));
    if (boxes_.middle_points % g_.tile == 0) {
      w_.Line(absl::StrCat("const int rows = ", g_.tile, ";"));
    } else {
      w_.Line(absl::StrCat("const int rows = ", boxes_.middle_points,
                           " - base < ", g_.tile, " ? (int)(",
                           boxes_.middle_points, " - base) : ", g_.tile, ";"));
    }
    w_.Line(
        absl::StrCat("const ", index(), " first = share * ", g_.share, ";"));
    if (boxes_.outer_points % g_.share == 0) {
      w_.Line(
          absl::StrCat("const ", index(), " last = first + ", g_.share, ";"));
    } else {
      w_.Line(absl::StrCat("const ", index(), " last = first + ", g_.share,
                           " < ", boxes_.outer_points, " ? first + ", g_.share,
                           " : ", boxes_.outer_points, ";"));
    }
    for (const auto& [n, ahead] : ahead_) {
      if (ahead) w_.Line(absl::StrCat(VectorType(n), " f", n, ";"));
    }
  }

  std::string VectorType(NodeId load) const {
    return VecType(kernel_.buffers[kernel_.nodes[load].buffer].shape.type(),
                   g_.vector);
  }

  std::string LoadOf(NodeId n) {
    const Node& node = kernel_.nodes[n];
    const bool once = g_.stream != 0 && ahead_[n];
    return absl::StrCat(once ? "rdg_stream_load<" : "rdg_load_vec<",
                        StorageType(kernel_.buffers[node.buffer].shape.type()),
                        ", ", g_.vector, ">(", w_.BufferName(node.buffer),
                        " + (", w_.Text(base_[n]), "))");
  }

  // The inputs of the row at `a`, `b`.
  void Load(absl::string_view prefix) {
    if (Ragged()) w_.Open(absl::StrCat("if (x < ", Vectors(), ") {"));
    for (const auto& [n, ahead] : ahead_) {
      if (ahead) w_.Line(absl::StrCat(prefix, n, " = ", LoadOf(n), ";"));
    }
    if (Ragged()) w_.Close();
  }

  void Lanes(absl::string_view statement) {
    w_.Line("#pragma unroll");
    w_.Line(
        absl::StrCat("for (int j = 0; j < ", g_.vector, "; ++j) ", statement));
  }

  // An accumulator a lane, at its start.
  void DeclareVector(const Fold& fold) {
    for (size_t p = 0; p < fold.names.size(); ++p) {
      w_.Line(absl::StrCat("rdg_vec<", fold.types[p], ", ", g_.vector, "> ",
                           fold.names[p], ";"));
      Lanes(
          absl::StrCat(fold.names[p], ".x[j] = ", FoldStart(w_, fold, p), ";"));
    }
  }

  absl::Status DeclareOuter() {
    // Initial values are constants where accumulators start with them.
    for (const KindFolds& of_kind : kinds_) {
      for (const Fold& fold : of_kind.folds) {
        if (!fold.simple) RIDGE_RETURN_IF_ERROR(w_.Emit(fold.inits));
      }
    }
    for (const Fold& fold : FoldsOf(BoxFold::kOuter)) {
      for (size_t p = 0; p < fold.names.size(); ++p) {
        w_.Line(absl::StrCat("__shared__ rdg_vec<", fold.types[p], ", ",
                             g_.vector, "> m", fold.names[p], "[", g_.tile,
                             "][", g_.threads, "];"));
      }
    }
    if (FoldsOf(BoxFold::kOuter).empty()) return absl::OkStatus();
    w_.Open("for (int t = 0; t < rows; ++t) {");
    for (const Fold& fold : FoldsOf(BoxFold::kOuter)) {
      for (size_t p = 0; p < fold.names.size(); ++p) {
        Lanes(absl::StrCat("m", fold.names[p], "[t][threadIdx.x].x[j] = ",
                           FoldStart(w_, fold, p), ";"));
      }
    }
    w_.Close();
    return absl::OkStatus();
  }

  void DeclareRowSums() {
    for (const Fold& fold : FoldsOf(BoxFold::kRow)) {
      for (size_t p = 0; p < fold.names.size(); ++p) {
        w_.Line(absl::StrCat("__shared__ ", fold.types[p], " w", fold.names[p],
                             "[", g_.tile, "][", g_.threads, "];"));
      }
    }
    if (FoldsOf(BoxFold::kRow).empty() || !Ragged()) return;
    // Threads beyond the row's end take part in its sum all the same.
    w_.Open("for (int t = 0; t < rows; ++t) {");
    for (const Fold& fold : FoldsOf(BoxFold::kRow)) {
      for (size_t p = 0; p < fold.names.size(); ++p) {
        w_.Line(absl::StrCat("w", fold.names[p], "[t][threadIdx.x] = ",
                             FoldStart(w_, fold, p), ";"));
      }
    }
    w_.Close();
  }

  // One row of the tile.
  absl::Status Row() {
    for (const auto& [n, ahead] : ahead_) {
      w_.Line(absl::StrCat("const ", VectorType(n), " h", n, " = ",
                           ahead ? absl::StrCat("f", n) : LoadOf(n), ";"));
    }
    Ahead();
    const std::vector<NodeId> roots = RowRoots();
    const std::vector<NodeId> needs =
        w_.Needs(roots, [&](NodeId n) { return IsFold(n); });
    // What all lanes share.
    std::vector<NodeId> shared;
    for (NodeId n : needs) {
      if ((w_.Varies(n) & BodyWriter::Bit(kLane)) == 0) shared.push_back(n);
    }
    if (g_.vector > 1) RIDGE_RETURN_IF_ERROR(w_.Emit(shared));
    std::map<int32_t, IndexId> wide;  // stores that move as vectors
    for (int32_t s : boxes_.maps) {
      const Store& store = kernel_.stores[s];
      IndexId base;
      if (g_.vector == 1 || store.guard >= 0 ||
          AccessAlong(&w_, store.offset, kLane, g_.vector, &base) !=
              LaneAccess::kVector) {
        continue;
      }
      wide[s] = base;
      w_.Line(absl::StrCat(
          VecType(kernel_.buffers[store.buffer].shape.type(), g_.vector), " s",
          s, ";"));
    }
    for (const Fold& fold : FoldsOf(BoxFold::kRow)) {
      for (size_t p = 0; p < fold.names.size(); ++p) {
        w_.Line(absl::StrCat(fold.types[p], " ", fold.names[p], "[", g_.vector,
                             "];"));
        Lanes(
            absl::StrCat(fold.names[p], "[j] = ", FoldStart(w_, fold, p), ";"));
      }
    }
    for (const Fold& fold : FoldsOf(BoxFold::kOuter)) {
      for (size_t p = 0; p < fold.names.size(); ++p) {
        w_.Line(absl::StrCat("rdg_vec<", fold.types[p], ", ", g_.vector, "> ",
                             fold.names[p], " = m", fold.names[p],
                             "[t][threadIdx.x];"));
      }
    }
    RIDGE_RETURN_IF_ERROR(Elements(roots, needs, wide));
    for (const auto& [s, base] : wide) {
      w_.Line(
          absl::StrCat(g_.stream != 0 ? "rdg_stream_store(" : "rdg_store_vec(",
                       w_.BufferName(kernel_.stores[s].buffer), " + (",
                       w_.Text(base), "), s", s, ");"));
    }
    for (const Fold& fold : FoldsOf(BoxFold::kOuter)) {
      for (const std::string& name : fold.names) {
        w_.Line(absl::StrCat("m", name, "[t][threadIdx.x] = ", name, ";"));
      }
    }
    for (const Fold& fold : FoldsOf(BoxFold::kRow)) {
      RIDGE_RETURN_IF_ERROR(JoinLanes(fold));
      for (const std::string& name : fold.names) {
        w_.Line(absl::StrCat("w", name, "[t][threadIdx.x] = ", name, "[0];"));
      }
    }
    return absl::OkStatus();
  }

  // The next row's inputs.
  void Ahead() {
    bool any = false;
    for (const auto& [n, ahead] : ahead_) any = any || ahead;
    if (!any) return;
    w_.Line("const bool wraps = t + 1 == rows;");
    w_.Line(absl::StrCat("const ", index(), " next_a = wraps ? a + 1 : a;"));
    w_.Line(absl::StrCat("const ", index(), " next_b = wraps ? base : b + 1;"));
    w_.Open("if (next_a < last) {");
    w_.Line(absl::StrCat("const ", index(), " a = next_a;"));
    w_.Line(absl::StrCat("const ", index(), " b = next_b;"));
    for (const auto& [n, ahead] : ahead_) {
      if (ahead) w_.Line(absl::StrCat("f", n, " = ", LoadOf(n), ";"));
    }
    w_.Close();
  }

  absl::Status Elements(const std::vector<NodeId>& roots,
                        const std::vector<NodeId>& needs,
                        const std::map<int32_t, IndexId>& wide) {
    w_.Line("#pragma unroll");
    w_.Open(absl::StrCat("for (int j = 0; j < ", g_.vector, "; ++j) {"));
    for (NodeId n : needs) {
      if (base_.count(n) == 0) continue;
      const Node& node = kernel_.nodes[n];
      w_.Line(absl::StrCat("const ", CarryType(node.type), " n", n, " = ",
                           LoadText(node.type, absl::StrCat("h", n, ".x[j]")),
                           ";"));
      w_.Define(n, absl::StrCat("n", n));
    }
    RIDGE_RETURN_IF_ERROR(w_.Emit(roots));
    for (const KindFolds& of_kind : kinds_) {
      const absl::string_view at =
          of_kind.kind == BoxFold::kRow ? "[j]" : ".x[j]";
      for (const Fold& fold : of_kind.folds) {
        std::vector<std::string> values;
        for (NodeId v : fold.values) values.push_back(w_.Name(v));
        RIDGE_ASSIGN_OR_RETURN(
            std::string line,
            w_.CombineStatement(fold.nodes, Each(fold, at), values));
        w_.Line(line);
      }
    }
    for (int32_t s : boxes_.maps) {
      const Store& store = kernel_.stores[s];
      if (wide.count(s) != 0) {
        const ElementType type = kernel_.buffers[store.buffer].shape.type();
        w_.Line(absl::StrCat(
            "s", s, ".x[j] = ", StoreText(type, w_.Name(store.value)), ";"));
      } else {
        RIDGE_RETURN_IF_ERROR(w_.EmitStore(store));
      }
    }
    w_.Close();
    return absl::OkStatus();
  }

  // Element 0 of the accumulators takes the other lanes'.
  absl::Status JoinLanes(const Fold& fold) {
    for (int64_t h = g_.vector / 2; h > 0; h /= 2) {
      for (int64_t j = 0; j < h; ++j) {
        RIDGE_ASSIGN_OR_RETURN(
            std::string line,
            w_.CombineStatement(fold.nodes,
                                Each(fold, absl::StrCat("[", j, "]")),
                                Each(fold, absl::StrCat("[", j + h, "]"))));
        w_.Line(line);
      }
    }
    return absl::OkStatus();
  }

  // A warp a row: all threads' parts, from shared memory.
  absl::Status RowSums() {
    const std::vector<Fold>& folds = FoldsOf(BoxFold::kRow);
    if (folds.empty()) return absl::OkStatus();
    const int64_t width = std::min<int64_t>(32, g_.threads);
    w_.Line("__syncthreads();");
    w_.Open(absl::StrCat("for (int t = threadIdx.x / ", width,
                         "; t < rows; t += ", g_.threads / width, ") {"));
    w_.Line(absl::StrCat("const int lane = threadIdx.x % ", width, ";"));
    for (const Fold& fold : folds) {
      for (size_t p = 0; p < fold.names.size(); ++p) {
        w_.Line(absl::StrCat(fold.types[p], " ", fold.names[p], "[1] = {w",
                             fold.names[p], "[t][lane]};"));
      }
      if (g_.threads > width) {
        w_.Line("#pragma unroll");
        w_.Open(absl::StrCat("for (int k = ", width, "; k < ", g_.threads,
                             "; k += ", width, ") {"));
        std::vector<std::string> others;
        for (const std::string& name : fold.names) {
          others.push_back(absl::StrCat("w", name, "[t][lane + k]"));
        }
        RIDGE_ASSIGN_OR_RETURN(
            std::string line,
            w_.CombineStatement(fold.nodes, Each(fold, "[0]"), others));
        w_.Line(line);
        w_.Close();
      }
      RIDGE_RETURN_IF_ERROR(ShuffleFold(&w_, fold, width));
    }
    w_.Open("if (lane == 0) {");
    for (const Fold& fold : folds) {
      for (size_t p = 0; p < fold.names.size(); ++p) {
        w_.Line(absl::StrCat("p", fold.number, "_", p, "[((int64_t)piece * ",
                             boxes_.outer_points, " + a) * ",
                             boxes_.middle_points,
                             " + base + t] = ", fold.names[p], "[0];"));
      }
    }
    w_.Close();
    w_.Close();
    w_.Line("__syncthreads();");
    return absl::OkStatus();
  }

  // A thread's accumulators of one row of results, of part number `part`.
  void StoreVector(const Fold& fold, size_t p, absl::string_view part,
                   absl::string_view row, int64_t rows,
                   absl::string_view value) {
    w_.Line(absl::StrCat("rdg_store_vec(p", fold.number, "_", p,
                         " + (((int64_t)", part, " * ", rows, " + ", row,
                         ") * ", boxes_.columns, " + x * ", g_.vector, "), ",
                         value, ");"));
  }

  void StoreVectors(BoxFold kind, absl::string_view row, int64_t rows,
                    absl::string_view part) {
    if (FoldsOf(kind).empty()) return;
    if (Ragged()) w_.Open(absl::StrCat("if (x < ", Vectors(), ") {"));
    for (const Fold& fold : FoldsOf(kind)) {
      for (size_t p = 0; p < fold.names.size(); ++p) {
        StoreVector(fold, p, part, row, rows, fold.names[p]);
      }
    }
    if (Ragged()) w_.Close();
  }

  void StoreOuter() {
    if (FoldsOf(BoxFold::kOuter).empty()) return;
    if (Ragged()) w_.Open(absl::StrCat("if (x < ", Vectors(), ") {"));
    w_.Open("for (int t = 0; t < rows; ++t) {");
    for (const Fold& fold : FoldsOf(BoxFold::kOuter)) {
      for (size_t p = 0; p < fold.names.size(); ++p) {
        StoreVector(fold, p, "share", "base + t", boxes_.middle_points,
                    absl::StrCat("m", fold.names[p], "[t][threadIdx.x]"));
      }
    }
    w_.Close();
    if (Ragged()) w_.Close();
  }

  const Kernel& kernel_;
  const MultiReduceGeometry& g_;
  const Boxes& boxes_;
  BodyWriter w_;
  std::vector<KindFolds> kinds_;
  std::map<NodeId, IndexId> base_;  // vector loads
  std::map<NodeId, bool> ahead_;    // of these, whether they vary with the row
};

}  // namespace

absl::StatusOr<EmittedKernel> EmitMultiReduce(const Kernel& kernel,
                                              const ScheduleChoice& choice,
                                              const DeviceLimits& device) {
  RIDGE_RETURN_IF_ERROR(MultiReduceSchedule()->CanSchedule(kernel, device));
  RIDGE_ASSIGN_OR_RETURN(const Boxes boxes, FindBoxes(kernel));
  const MultiReduceGeometry g =
      MultiReduceGeometryOf(kernel, boxes, choice, device);
  RIDGE_RETURN_IF_ERROR(CheckRoom(g));
  MultiReduceEmitter emitter(kernel, g);
  RIDGE_RETURN_IF_ERROR(emitter.FindFolds());
  EmittedKernel emitted;
  emitted.choice = ChoiceOf(g);
  RIDGE_ASSIGN_OR_RETURN(std::string first, emitter.First());
  Launch walk;
  walk.function = absl::StrCat(kernel.name, "_boxes");
  walk.grid = g.Blocks();
  walk.block = static_cast<int>(g.threads);
  Launch finish;
  RIDGE_ASSIGN_OR_RETURN(std::string second, emitter.Second(&finish));
  BodyWriter probe(kernel, Dialect::kCuda);
  RIDGE_ASSIGN_OR_RETURN(emitted.source,
                         WholeFile(probe, absl::StrCat(first, second)));
  emitted.scratch_bytes = emitter.Scratch();
  emitted.launches = {walk, finish};
  return emitted;
}

}  // namespace ridge::cuda
