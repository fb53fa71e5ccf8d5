#include "backends/cuda/emit/row_passes.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "backends/kernel/schedules/repeats.h"
#include "backends/kernel/schedules/row_again.h"
#include "backends/kernel/schedules/row_ring.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// A value that takes fewer operations than this is computed again in each pass
// rather than kept.
constexpr int64_t kCheapOps = 4;
// Registers of a thread for kept values, and those that all else takes.
constexpr int64_t kMostKeptRegisters = 96;
constexpr int64_t kOtherRegisters = 40;
constexpr int64_t kOtherWithRing = 28;
constexpr int64_t kRegisters = 65536;  // of a multiprocessor

}  // namespace

RowPasses::RowPasses(const Kernel& kernel, const RowGeometry& geometry,
                     std::vector<Fold> columns)
    : kernel_(kernel),
      g_(geometry),
      columns_(std::move(columns)),
      w_(kernel, Dialect::kCuda),
      column_bit_(MinorBit(kernel)) {
  FindPasses();
  for (const Store& s : kernel.stores) {
    (pass_[s.value] < 0 ? after_columns_ : stores_).push_back(s);
  }
  Bind();
  PickLoads();
  PickKept();
  if (g_.stages == 1) FindLastReads();
}

bool RowPasses::IsRowFold(NodeId n) const {
  return kernel_.nodes[n].kind == NodeKind::kReduce &&
         (kernel_.nodes[n].reduced & column_bit_) != 0;
}

bool RowPasses::IsFold(NodeId n) const {
  return kernel_.nodes[n].kind == NodeKind::kReduce &&
         (kernel_.nodes[n].reduced & SpaceMask(kernel_)) != 0;
}

void RowPasses::FindPasses() {
  pass_.assign(kernel_.nodes.size(), 0);
  load_depth_.assign(kernel_.nodes.size(), 0);
  for (size_t n = 0; n < kernel_.nodes.size(); ++n) {
    const Node& node = kernel_.nodes[n];
    int pass = 0;
    bool after_columns = false;
    int depth = node.kind == NodeKind::kLoad ? 1 : 0;
    const int own = depth;
    auto needs = [&](NodeId o) {
      depth = std::max(depth, load_depth_[o] + own);
      after_columns = after_columns || pass_[o] < 0;
      pass = std::max(pass, pass_[o]);
    };
    for (NodeId o : node.operands) needs(o);
    if (node.guard >= 0) needs(node.guard);
    if (node.offset >= 0) {
      for (int32_t d : w_.pool().DynamicNodes(node.offset)) needs(d);
    }
    const NodeId id = static_cast<NodeId>(n);
    if (IsRowFold(id)) {
      ++pass;
      std::optional<ScaledSum> sum = ScaledSumOf(kernel_, id);
      if (sum.has_value() && !after_columns && MayFoldAgain()) {
        int early = pass_[sum->term] + 1;
        for (NodeId f : sum->factors) early = std::max(early, pass_[f]);
        if (early < pass) {
          pass = early;
          scaled_.emplace(id, *std::move(sum));
        }
      }
    }
    if (IsFold(id) && !IsRowFold(id)) after_columns = true;
    pass_[n] = after_columns ? -1 : pass;
    load_depth_[n] = depth;
    last_pass_ = std::max(last_pass_, pass_[n]);
  }
}

int RowPasses::StorePass(const Store& s) const {
  int pass = pass_[s.value];
  if (s.guard >= 0) pass = std::max(pass, pass_[s.guard]);
  for (int32_t d : w_.pool_const().DynamicNodes(s.offset)) {
    pass = std::max(pass, pass_[d]);
  }
  return pass;
}

NodeId RowPasses::Unpacked(const Store& s) {
  const Node& value = kernel_.nodes[s.value];
  IndexId base;
  const bool pairs =
      g_.vector % 2 == 0 && s.guard < 0 && s.combine < 0 &&
      kernel_.buffers[s.buffer].shape.type() == ElementType::kBF16 &&
      value.kind == NodeKind::kOp && value.opcode == Opcode::kConvert &&
      value.type == ElementType::kBF16 &&
      kernel_.nodes[value.operands[0]].type == ElementType::kF32 &&
      AccessAlong(&w_, s.offset, kLane, g_.vector, &base) ==
          LaneAccess::kVector;
  return pairs ? value.operands[0] : -1;
}

int RowPasses::ColumnPass(const Fold& f) const {
  int pass = 0;
  for (NodeId v : f.values) pass = std::max(pass, pass_[v]);
  return pass;
}

void RowPasses::Bind() {
  IndexPool& pool = w_.pool();
  IndexId r = w_.NewVar("r", g_.rows);
  IndexId q = w_.NewVar("q", g_.chunks);
  IndexId x = w_.NewVar("x", g_.Width());
  IndexId j = w_.NewVar("j", g_.vector);
  w_.SetUnrolled(BodyWriter::Bit(kLane) |
                 (g_.cached ? BodyWriter::Bit(kChunk) : 0));
  IndexId column =
      pool.Add(pool.Mul(pool.Add(pool.Mul(q, g_.Width()), x), g_.vector), j);
  w_.Bind(kernel_.space_vars - 1, column);
  BindOver(&w_, SpaceMask(kernel_) & ~column_bit_, r);
}

bool RowPasses::InLoop(NodeId n) {
  constexpr uint64_t kLoops = (1 << kChunk) | (1 << kThread) | (1 << kLane);
  return (w_.Varies(n) & kLoops) != 0;
}

// Row inputs that move as vectors. Those that vary with the row are read once
// and held; the others (scales, biases) are read in each pass.
void RowPasses::PickLoads() {
  for (NodeId n = 0; n < static_cast<NodeId>(kernel_.nodes.size()); ++n) {
    const Node& node = kernel_.nodes[n];
    if (node.kind != NodeKind::kLoad || node.guard >= 0 ||
        w_.pool().HasDynamic(node.offset) || pass_[n] < 0 ||
        (node.vars >> kernel_.space_vars)) {
      continue;
    }
    if ((node.vars & column_bit_) == 0) continue;
    IndexId base;
    LaneAccess access = AccessAlong(&w_, node.offset, kLane, g_.vector, &base);
    if (g_.vector > 1 && access != LaneAccess::kVector) continue;
    const bool of_row = (w_.Varies(n) & BodyWriter::Bit(kRow)) != 0 &&
                        !IsReadAgain(kernel_, node);
    base_[n] = base;
    if (of_row && g_.cached) {
      held_.insert(n);
    } else {
      streamed_.insert(n);
    }
  }
}

// Nodes that pass `pass` computes for each element.
std::vector<NodeId> RowPasses::PassRoots(int pass) {
  std::vector<NodeId> roots;
  for (NodeId n = 0; n < static_cast<NodeId>(kernel_.nodes.size()); ++n) {
    if (!IsRowFold(n) || pass_[n] != pass + 1) continue;
    const std::vector<NodeId> reads = FoldReads(n);
    roots.insert(roots.end(), reads.begin(), reads.end());
  }
  for (const Fold& f : columns_) {
    if (ColumnPass(f) != pass) continue;
    const std::vector<NodeId> reads = FoldReads(f.any);
    roots.insert(roots.end(), reads.begin(), reads.end());
  }
  for (const Store& s : stores_) {
    if ((s.vars & column_bit_) == 0 || StorePass(s) != pass) continue;
    const NodeId unpacked = Unpacked(s);
    roots.push_back(unpacked >= 0 ? unpacked : s.value);
    if (s.guard >= 0) roots.push_back(s.guard);
    for (int32_t d : w_.pool_const().DynamicNodes(s.offset)) {
      roots.push_back(d);
    }
  }
  return roots;
}

// What computing n for an element takes again, from what is held and kept.
int64_t RowPasses::RecomputedOps(NodeId n) {
  int64_t ops = 0;
  auto stop = [&](NodeId m) { return IsFold(m) || kept_.count(m) != 0; };
  for (NodeId m : w_.Needs({&n, 1}, stop)) {
    if (InLoop(m)) {
      ops += InstructionsOf(kernel_.nodes[m], w_.precision().loose[m]);
    }
  }
  return ops;
}

// Values of each element that an earlier pass has and a later one starts from.
void RowPasses::PickKept() {
  if (!g_.cached) return;
  int64_t held_registers = 0;
  if (g_.stages == 0) {
    for (NodeId n : held_) {
      held_registers +=
          g_.chunks * g_.vector * StorageBytes(kernel_.nodes[n].type) / 4;
    }
  }
  for (const Fold& f : columns_) {
    for (NodeId v : f.values) {
      held_registers +=
          g_.chunks * g_.vector *
          std::max<int64_t>(1, StorageBytes(kernel_.nodes[v].type) / 4);
    }
  }
  const int64_t other = g_.stages > 0 ? kOtherWithRing : kOtherRegisters;
  const int64_t limit = std::min(
      kMostKeptRegisters,
      kRegisters / (g_.BlockThreads() * g_.resident) - other - held_registers);
  int64_t registers = 0;
  std::set<NodeId> seen;
  for (int pass = 0; pass <= last_pass_; ++pass) {
    auto stop = [&](NodeId n) { return IsFold(n) || kept_.count(n) != 0; };
    const std::vector<NodeId> roots = PassRoots(pass);
    const std::vector<NodeId> needs = w_.Needs(roots, stop);
    // Where this pass takes over from earlier ones.
    std::set<NodeId> frontier;
    for (NodeId n : roots) {
      if (pass_[n] < pass) frontier.insert(n);
    }
    for (NodeId n : needs) {
      if (pass_[n] < pass) continue;
      for (NodeId o : kernel_.nodes[n].operands) {
        if (pass_[o] < pass) frontier.insert(o);
      }
    }
    for (NodeId n : frontier) {
      if (!InLoop(n) || seen.count(n) == 0 || kept_.count(n) != 0) continue;
      const Node& node = kernel_.nodes[n];
      if (node.kind != NodeKind::kOp || RecomputedOps(n) < kCheapOps) continue;
      const int64_t cost =
          g_.chunks * g_.vector * (StorageBytes(node.type) > 4 ? 2 : 1);
      if (registers + cost > limit) continue;
      registers += cost;
      kept_.insert(n);
    }
    seen.insert(needs.begin(), needs.end());
  }
  // The pass that computes a kept value is the first that needs it.
  for (int pass = 0; pass <= last_pass_; ++pass) {
    auto stop = [&](NodeId n) {
      auto it = kept_pass_.find(n);
      return IsFold(n) || (it != kept_pass_.end() && it->second < pass);
    };
    for (NodeId n : w_.Needs(PassRoots(pass), stop)) {
      if (kept_.count(n) != 0) kept_pass_.emplace(n, pass);
    }
  }
  for (auto it = kept_.begin(); it != kept_.end();) {
    it = kept_pass_.count(*it) != 0 ? std::next(it) : kept_.erase(it);
  }
}

void RowPasses::FindLastReads() {
  for (int pass = 0; pass <= last_pass_; ++pass) {
    auto stop = [&](NodeId n) {
      return IsFold(n) || (kept_.count(n) != 0 && kept_pass_[n] < pass);
    };
    for (NodeId n : w_.Needs(PassRoots(pass), stop)) {
      if (held_.count(n) != 0) last_read_[n] = pass;
    }
  }
}

std::string RowPasses::RowGuard(absl::string_view before) const {
  if (g_.rows % g_.block_rows == 0) return "";
  return absl::StrCat(before, "in_range");
}

std::string RowPasses::VectorType(NodeId load) const {
  return VecType(kernel_.buffers[kernel_.nodes[load].buffer].shape.type(),
                 g_.vector);
}

void RowPasses::DeclareHeld() {
  for (NodeId n : held_) {
    if (g_.stages > 0) break;
    w_.Line(absl::StrCat(VectorType(n), " a", n, "[", g_.chunks, "];"));
  }
  for (NodeId n : kept_) {
    w_.Line(absl::StrCat(CarryType(kernel_.nodes[n].type), " k", n, "[",
                         g_.chunks, "][", g_.vector, "];"));
  }
}

void RowPasses::DeclareAhead() {
  for (NodeId n : held_) {
    w_.Line(absl::StrCat(VectorType(n), " f", n, "[", g_.chunks, "];"));
  }
}

void RowPasses::TakeAhead() {
  if (held_.empty()) return;
  OpenChunks();
  for (NodeId n : held_) w_.Line(absl::StrCat("a", n, "[q] = f", n, "[q];"));
  w_.Close();
}

void RowPasses::LoadHeld(bool ahead) {
  if (held_.empty()) return;
  OpenChunks();
  OpenInside();
  for (NodeId n : held_) {
    LoadVector(n, absl::StrCat(ahead ? "f" : "a", n, "[q]"));
  }
  CloseInside();
  w_.Close();
}

absl::Status RowPasses::DeclareColumns() {
  for (size_t f = 0; f < columns_.size(); ++f) {
    const Fold& fold = columns_[f];
    if (!fold.simple) RIDGE_RETURN_IF_ERROR(w_.Emit(fold.inits));
    for (size_t p = 0; p < fold.values.size(); ++p) {
      const std::string name = absl::StrCat("c", f, "_", p);
      w_.Line(absl::StrCat(fold.types[p], " ", name, "[", g_.chunks, "][",
                           g_.vector, "];"));
      OpenChunks();
      w_.Line("#pragma unroll");
      w_.Line(absl::StrCat("for (int j = 0; j < ", g_.vector, "; ++j) ", name,
                           "[q][j] = ", FoldStart(w_, fold, p), ";"));
      w_.Close();
    }
  }
  return absl::OkStatus();
}

void RowPasses::StoreColumns() {
  OpenChunks();
  OpenInside();
  w_.Line("#pragma unroll");
  w_.Open(absl::StrCat("for (int j = 0; j < ", g_.vector, "; ++j) {"));
  for (size_t f = 0; f < columns_.size(); ++f) {
    for (size_t p = 0; p < columns_[f].values.size(); ++p) {
      w_.Line(absl::StrCat("p", f, "_", p, "[(int64_t)blockIdx.x * ",
                           g_.columns, " + (q * ", g_.Width(), " + x) * ",
                           g_.vector, " + j] = c", f, "_", p, "[q][j];"));
    }
  }
  w_.Close();
  CloseInside();
  w_.Close();
}

void RowPasses::LoadVector(NodeId n, absl::string_view target) {
  const Node& node = kernel_.nodes[n];
  const bool stream = g_.stream && held_.count(n) != 0 &&
                      IsReadOnce(kernel_, SpaceMask(kernel_), n);
  w_.Line(absl::StrCat(
      target, stream ? " = rdg_stream_load<" : " = rdg_load_vec<",
      StorageType(kernel_.buffers[node.buffer].shape.type()), ", ", g_.vector,
      ">(", w_.BufferName(node.buffer), " + (", w_.Text(base_[n]), "));"));
}

void RowPasses::OpenChunks() {
  w_.Line(again_      ? "#pragma unroll 1"
          : g_.cached ? "#pragma unroll"
                      : "#pragma unroll 4");
  w_.Open(absl::StrCat("for (int q = 0; q < ", g_.chunks, "; ++q) {"));
}

// The last chunk of a row may lie beyond its end.
void RowPasses::OpenInside() {
  if (!g_.Ragged()) return;
  w_.Open(absl::StrCat("if ((q * ", g_.Width(), " + x) * ", g_.vector, " < ",
                       g_.columns, ") {"));
}

void RowPasses::CloseInside() {
  if (g_.Ragged()) w_.Close();
}

absl::Status RowPasses::EmitPasses() {
  meetings_ = 0;
  for (int pass = 0; pass <= last_pass_; ++pass) {
    RIDGE_RETURN_IF_ERROR(EmitPass(pass));
  }
  return EmitRowStores();
}

absl::Status RowPasses::EmitRowStores() {
  std::vector<NodeId> needs;
  for (const Store& s : stores_) {
    if ((s.vars & column_bit_) == 0) needs.push_back(s.value);
  }
  if (needs.empty()) return absl::OkStatus();
  w_.Open(absl::StrCat("if (x == 0", RowGuard(" && "), ") {"));
  for (const Store& s : stores_) {
    if (s.vars & column_bit_) continue;
    RIDGE_RETURN_IF_ERROR(w_.EmitStore(s));
  }
  w_.Close();
  return absl::OkStatus();
}

// Loads for the row's own values, before the pass that comes between them and
// their use; where an index is loaded itself, one pass later.
absl::Status RowPasses::EmitEarlyLoads(int pass) {
  std::vector<NodeId> roots;
  for (const Store& s : stores_) {
    if ((s.vars & column_bit_) != 0) continue;
    roots.push_back(s.value);
    if (s.guard >= 0) roots.push_back(s.guard);
  }
  for (NodeId n : w_.Needs(roots, [&](NodeId n) { return IsFold(n); })) {
    if (kernel_.nodes[n].kind == NodeKind::kLoad && !InLoop(n) &&
        pass_[n] <= pass && load_depth_[n] <= pass + 1) {
      RIDGE_RETURN_IF_ERROR(w_.Emit(n));
      w_.Line(absl::StrCat("rdg_pin(", w_.Name(n), ");"));
    }
  }
  return absl::OkStatus();
}

// Whatever a pass reads that no element changes, before the loop.
absl::Status RowPasses::EmitShared(absl::Span<const NodeId> roots) {
  auto stop = [&](NodeId n) { return IsFold(n); };
  std::vector<NodeId> shared;
  const std::vector<NodeId> needs = w_.Needs(roots, stop);
  for (NodeId n : needs) {
    if (!InLoop(n)) shared.push_back(n);
  }
  RIDGE_RETURN_IF_ERROR(w_.Emit(shared));
  for (NodeId n : w_.Divisors(needs, [&](NodeId n) { return InLoop(n); })) {
    RIDGE_RETURN_IF_ERROR(w_.EmitReciprocal(n));
  }
  return absl::OkStatus();
}

std::vector<Fold> RowPasses::FoldsOf(int pass) {
  std::vector<Fold> folds;
  std::set<NodeId> taken;
  for (NodeId n = 0; n < static_cast<NodeId>(kernel_.nodes.size()); ++n) {
    if (!IsRowFold(n) || pass_[n] != pass + 1 || taken.count(n)) continue;
    Fold fold = FoldAt(w_, n);
    fold.pairs = PairsOf(n);
    taken.insert(fold.nodes.begin(), fold.nodes.end());
    const size_t parts = fold.values.size();
    for (size_t p = 0; p < parts; ++p) {
      fold.names.push_back(parts == 1 ? absl::StrCat("acc", n)
                                      : absl::StrCat("acc", n, "_", p));
    }
    folds.push_back(std::move(fold));
  }
  return folds;
}

absl::Status RowPasses::EmitPass(int pass) {
  std::vector<NodeId> roots = PassRoots(pass);
  if (roots.empty()) return EmitScaled(pass);
  std::vector<Fold> folds = FoldsOf(pass);
  w_.Line(absl::StrCat("// Pass ", pass));
  RIDGE_RETURN_IF_ERROR(EmitEarlyLoads(pass));
  RIDGE_RETURN_IF_ERROR(EmitScaled(pass));
  RIDGE_RETURN_IF_ERROR(EmitShared(roots));
  RIDGE_RETURN_IF_ERROR(DeclareFolds(folds));
  OpenChunks();
  OpenInside();
  RIDGE_RETURN_IF_ERROR(EmitElements(pass, roots, folds));
  CloseInside();
  w_.Close();
  for (const Fold& fold : folds) TakePairs(fold);
  if (folds.empty()) return absl::OkStatus();
  ++meetings_;
  RIDGE_RETURN_IF_ERROR(Combine(folds));
  for (const Fold& fold : folds) {
    if (scaled_.count(fold.any) != 0) continue;
    RIDGE_RETURN_IF_ERROR(DefineResults(&w_, fold));
  }
  return absl::OkStatus();
}

absl::Status RowPasses::DeclareFolds(const std::vector<Fold>& folds) {
  for (const Fold& fold : folds) {
    RIDGE_RETURN_IF_ERROR(w_.Emit(fold.inits));
    DeclarePairs(fold);
    // One accumulator a lane: short chains of dependent additions.
    const int64_t lanes = fold.online ? 1 : g_.vector;
    for (size_t p = 0; p < fold.names.size(); ++p) {
      w_.Line(
          absl::StrCat(fold.types[p], " ", fold.names[p], "[", lanes, "];"));
      w_.Line("#pragma unroll");
      w_.Line(absl::StrCat("for (int j = 0; j < ", lanes, "; ++j) ",
                           fold.names[p], "[j] = ", FoldStart(w_, fold, p),
                           ";"));
    }
  }
  return absl::OkStatus();
}

}  // namespace ridge::cuda
