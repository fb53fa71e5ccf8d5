// The Transpose schedule: an elementwise kernel some of whose inputs are
// contiguous along another variable (`a`) than its outputs (`b`). Tiles of the
// two variables go through shared memory, so that both sides move whole
// vectors:
//
//   for each transposed input: read the tile along a, write it to shared
//   barrier
//   for each point along b: transposed inputs from shared memory, all others
//   from memory; compute; store a vector
//
// The pitch of a tile's rows in shared memory is odd in words, which leaves
// two-way bank conflicts at most.

#include "backends/kernel/schedules/transpose.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/common.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

int64_t Pitch(ElementType type, int64_t tile) {
  int64_t bytes = StorageBytes(type);
  // One word (or element, where that is larger) of padding.
  return tile + std::max<int64_t>(1, 4 / bytes);
}

class TransposeEmitter {
 public:
  TransposeEmitter(const Kernel& kernel, const TransposeGeometry& g)
      : kernel_(kernel), g_(g), moved_(g.moved.begin(), g.moved.end()) {
    a_extent_ = kernel.vars[g.a_var].extent;
    b_extent_ = kernel.vars[g.b_var].extent;
    a_tiles_ = CeilDiv(a_extent_, g.tile);
    b_tiles_ = CeilDiv(b_extent_, g.tile);
    batch_ = PointCount(kernel, SpaceMask(kernel) & ~Sides());
  }

  int64_t Blocks() const { return batch_ * a_tiles_ * b_tiles_; }

  absl::StatusOr<std::string> Run() {
    BodyWriter head(kernel_, Dialect::kCuda);
    const std::string& index = head.index_type();
    head.Line(absl::StrCat("const ", index, " tb = (", index, ")(blockIdx.x % ",
                           b_tiles_, ");"));
    head.Line(absl::StrCat("const ", index, " ta = (", index, ")(blockIdx.x / ",
                           b_tiles_, " % ", a_tiles_, ");"));
    head.Line(absl::StrCat("const ", index, " m = (", index, ")(blockIdx.x / ",
                           b_tiles_ * a_tiles_, ");"));
    for (NodeId n : moved_) {
      ElementType type = Storage(n);
      head.Line(absl::StrCat("__shared__ ", StorageType(type), " t", n, "[",
                             g_.tile, "][", Pitch(type, g_.tile), "];"));
    }
    RIDGE_ASSIGN_OR_RETURN(std::string load, Stage(/*loading=*/true));
    RIDGE_ASSIGN_OR_RETURN(std::string store, Stage(/*loading=*/false));
    return absl::StrCat(
        "\nextern \"C\" __global__ void __launch_bounds__(", g_.threads, ") ",
        kernel_.name, "(", head.ParameterText("__restrict__"), ") {\n",
        head.TakeText(), load, "  __syncthreads();\n", store, "}\n");
  }

 private:
  // The two variables that a tile spans.
  uint64_t Sides() const {
    return (uint64_t{1} << g_.a_var) | (uint64_t{1} << g_.b_var);
  }

  ElementType Storage(NodeId n) const {
    return kernel_.buffers[kernel_.nodes[n].buffer].shape.type();
  }

  // One walk over the tile: lanes along a while loading, along b after.
  absl::StatusOr<std::string> Stage(bool loading) {
    BodyWriter w(kernel_, Dialect::kCuda);
    IndexPool& pool = w.pool();
    int64_t n = loading ? g_.a_vector : g_.b_vector;
    IndexId m = w.NewVar("m", batch_);
    IndexId ta = w.NewVar("ta", a_tiles_);
    IndexId tb = w.NewVar("tb", b_tiles_);
    IndexId fast = w.NewVar("p", g_.tile / n);  // vectors along the lanes
    IndexId slow = w.NewVar("y", g_.tile);
    IndexId j = w.NewVar("j", n);
    constexpr int64_t kLane = 5;
    IndexId along = pool.Add(pool.Mul(fast, n), j);
    IndexId a = pool.Add(pool.Mul(ta, g_.tile), loading ? along : slow);
    IndexId b = pool.Add(pool.Mul(tb, g_.tile), loading ? slow : along);
    w.Bind(g_.a_var, a);
    w.Bind(g_.b_var, b);
    BindOver(&w, SpaceMask(kernel_) & ~Sides(), m);
    int64_t per_row = g_.tile / n;
    int64_t rows_at_once = std::max<int64_t>(1, g_.threads / per_row);
    w.Line("#pragma unroll");
    w.Open(absl::StrCat("for (int i = 0; i < ", CeilDiv(g_.tile, rows_at_once),
                        "; ++i) {"));
    w.Line(absl::StrCat("const int p = threadIdx.x % ", per_row, ";"));
    w.Line(absl::StrCat("const int y = threadIdx.x / ", per_row, " + i * ",
                        rows_at_once, ";"));
    w.Line("__builtin_assume(p >= 0 && y >= 0);");
    std::string guard;
    int64_t fast_extent = loading ? a_extent_ : b_extent_;
    int64_t slow_extent = loading ? b_extent_ : a_extent_;
    const char* fast_tile = loading ? "ta" : "tb";
    const char* slow_tile = loading ? "tb" : "ta";
    if (fast_extent % g_.tile != 0) {
      guard = absl::StrCat(fast_tile, " * ", g_.tile, " + p * ", n, " < ",
                           fast_extent);
    }
    if (slow_extent % g_.tile != 0) {
      absl::StrAppend(&guard, guard.empty() ? "" : " && ", slow_tile, " * ",
                      g_.tile, " + y < ", slow_extent);
    }
    if (g_.tile % rows_at_once != 0) {
      absl::StrAppend(&guard, guard.empty() ? "" : " && ", "y < ", g_.tile);
    }
    if (!guard.empty()) w.Open(absl::StrCat("if (", guard, ") {"));
    RIDGE_RETURN_IF_ERROR(loading ? LoadTile(&w, kLane, n)
                                  : StoreTile(&w, kLane, n));
    if (!guard.empty()) w.Close();
    w.Close();
    return w.TakeText();
  }

  absl::Status LoadTile(BodyWriter* w, int64_t lane, int64_t n) {
    for (NodeId node : moved_) {
      ElementType type = Storage(node);
      IndexId base;
      LaneAccess access =
          AccessAlong(w, kernel_.nodes[node].offset, lane, n, &base);
      std::string name = w->BufferName(kernel_.nodes[node].buffer);
      if (n > 1 && access == LaneAccess::kVector) {
        w->Line(absl::StrCat("const ", VecType(type, n), " a", node,
                             " = rdg_load_vec<", StorageType(type), ", ", n,
                             ">(", name, " + (", w->Text(base), "));"));
      }
      w->Line("#pragma unroll");
      w->Open(absl::StrCat("for (int j = 0; j < ", n, "; ++j) {"));
      std::string value =
          n > 1 && access == LaneAccess::kVector
              ? absl::StrCat("a", node, ".x[j]")
              : absl::StrCat(name, "[",
                             w->Text(w->Bound(kernel_.nodes[node].offset)),
                             "]");
      w->Line(absl::StrCat("t", node, "[y][p * ", n, " + j] = ", value, ";"));
      w->Close();
    }
    return absl::OkStatus();
  }

  absl::Status StoreTile(BodyWriter* w, int64_t lane, int64_t n) {
    std::vector<NodeId> roots;
    for (const Store& s : kernel_.stores) roots.push_back(s.value);
    auto stop = [&](NodeId m) { return moved_.count(m) != 0; };
    std::vector<NodeId> needs = w->Needs(roots, stop);
    std::set<NodeId> wide;
    std::vector<NodeId> shared;
    for (NodeId m : needs) {
      const Node& node = kernel_.nodes[m];
      if ((w->Varies(m) & BodyWriter::Bit(lane)) == 0) shared.push_back(m);
      if (node.kind != NodeKind::kLoad || node.guard >= 0 || n == 1 ||
          w->pool().HasDynamic(node.offset)) {
        continue;
      }
      IndexId base;
      if (AccessAlong(w, node.offset, lane, n, &base) != LaneAccess::kVector) {
        continue;
      }
      wide.insert(m);
      w->Line(absl::StrCat("const ", VecType(Storage(m), n), " a", m,
                           " = rdg_load_vec<", StorageType(Storage(m)), ", ", n,
                           ">(", w->BufferName(node.buffer), " + (",
                           w->Text(base), "));"));
    }
    // A value all lanes share may hang on a tile element only through what
    // varies, so this reads no tile.
    std::vector<NodeId> plain;
    for (NodeId m : shared) {
      bool touches = false;
      for (NodeId t : w->Needs({&m, 1}, [](NodeId) { return false; })) {
        touches = touches || moved_.count(t) != 0;
      }
      if (!touches) plain.push_back(m);
    }
    RIDGE_RETURN_IF_ERROR(w->Emit(plain));
    std::vector<std::pair<const Store*, IndexId>> vectors;
    for (const Store& s : kernel_.stores) {
      IndexId base;
      if (n > 1 &&
          AccessAlong(w, s.offset, lane, n, &base) == LaneAccess::kVector) {
        vectors.emplace_back(&s, base);
        w->Line(absl::StrCat(VecType(kernel_.buffers[s.buffer].shape.type(), n),
                             " ", VectorOf(s), ";"));
      }
    }
    w->Line("#pragma unroll");
    w->Open(absl::StrCat("for (int j = 0; j < ", n, "; ++j) {"));
    for (NodeId m : moved_) {
      const Node& node = kernel_.nodes[m];
      w->Line(absl::StrCat(
          "const ", CarryType(node.type), " n", m, " = ",
          LoadText(node.type, absl::StrCat("t", m, "[p * ", n, " + j][y]")),
          ";"));
      w->Define(m, absl::StrCat("n", m));
    }
    for (NodeId m : wide) {
      const Node& node = kernel_.nodes[m];
      w->Line(absl::StrCat("const ", CarryType(node.type), " n", m, " = ",
                           LoadText(node.type, absl::StrCat("a", m, ".x[j]")),
                           ";"));
      w->Define(m, absl::StrCat("n", m));
    }
    for (const Store& s : kernel_.stores) {
      bool is_vector =
          std::any_of(vectors.begin(), vectors.end(),
                      [&](const auto& v) { return v.first == &s; });
      if (!is_vector) {
        RIDGE_RETURN_IF_ERROR(w->EmitStore(s));
        continue;
      }
      RIDGE_RETURN_IF_ERROR(w->EmitStoreNeeds(s));
      w->Line(absl::StrCat(
          VectorOf(s), ".x[j] = ",
          StoreText(kernel_.buffers[s.buffer].shape.type(), w->Name(s.value)),
          ";"));
    }
    w->Close();
    for (const auto& [s, base] : vectors) {
      w->Line(absl::StrCat("rdg_store_vec(", w->BufferName(s->buffer), " + (",
                           w->Text(base), "), ", VectorOf(*s), ");"));
    }
    return absl::OkStatus();
  }

  // The name of what a store writes at once; an output may have several stores.
  std::string VectorOf(const Store& s) const {
    return absl::StrCat("s", &s - kernel_.stores.data());
  }

  const Kernel& kernel_;
  TransposeGeometry g_;
  std::set<NodeId> moved_;
  int64_t a_extent_ = 1;
  int64_t b_extent_ = 1;
  int64_t a_tiles_ = 1;
  int64_t b_tiles_ = 1;
  int64_t batch_ = 1;
};

}  // namespace

absl::StatusOr<EmittedKernel> EmitTranspose(const Kernel& kernel,
                                            const ScheduleChoice& choice,
                                            const DeviceLimits& device) {
  RIDGE_ASSIGN_OR_RETURN(TransposeGeometry g,
                         TransposeGeometryOf(kernel, choice, device));
  EmittedKernel emitted;
  emitted.choice = ChoiceOf(g);
  TransposeEmitter emitter(kernel, g);
  RIDGE_ASSIGN_OR_RETURN(std::string text, emitter.Run());
  BodyWriter probe(kernel, Dialect::kCuda);
  RIDGE_ASSIGN_OR_RETURN(emitted.source, WholeFile(probe, text));
  Launch launch;
  launch.function = kernel.name;
  launch.grid = emitter.Blocks();
  launch.block = static_cast<int>(g.threads);
  emitted.launches.push_back(std::move(launch));
  return emitted;
}

}  // namespace ridge::cuda
