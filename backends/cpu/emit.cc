#include "backends/cpu/emit.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/cpu/fold_text.h"
#include "backends/kernel/body_writer.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// Row buffers of one stage beyond this are not worth their memory.
constexpr int64_t kMaxRowBytes = 4 << 20;
// A value is kept for a later phase if computing it again costs more
// (see NodeCost).
constexpr int kKeepCost = 4;

uint64_t Bit(int64_t v) { return uint64_t{1} << v; }

// Rough cost of a node in units of a simple operation.
int NodeCost(const Node& node) {
  switch (node.kind) {
    case NodeKind::kConst:
    case NodeKind::kParameter:
    case NodeKind::kIndex:
      return 0;
    case NodeKind::kLoad:
      return 1;
    case NodeKind::kReduce:
      return 100;
    case NodeKind::kOp:
      break;
  }
  switch (node.opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kSelect:
    case Opcode::kCompare:
    case Opcode::kConvert:
    case Opcode::kNegate:
    case Opcode::kAbs:
    case Opcode::kCopy:
    case Opcode::kClamp:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
      return 1;
    case Opcode::kDivide:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
      return 4;
    default:
      return 20;
  }
}

// A fold's results in scratch memory, one array each.
struct Stored {
  int64_t offset = 0;
  uint64_t vars = 0;
};

class StageWriter {
 public:
  StageWriter(const Kernel& kernel, const Stage& stage,
              const std::map<NodeId, Stored>& stored,
              const std::map<NodeId, int64_t>& partial_offset)
      : kernel_(kernel),
        stage_(stage),
        live_(LiveVars(kernel)),
        stored_(stored),
        partial_offset_(partial_offset),
        w_(kernel, Dialect::kHost),
        index_(w_.index_type()) {
    for (const Fold& f : stage.folds) {
      for (NodeId n : f.results) {
        if (n >= 0) own_.insert(n);
      }
    }
  }

  absl::StatusOr<std::string> Write(const std::string& symbol) {
    w_.Open("for (int64_t rdg_u = rdg_begin; rdg_u < rdg_end; ++rdg_u) {");
    Decode();
    switch (stage_.kind) {
      case StageKind::kPoint:
        RIDGE_RETURN_IF_ERROR(WritePoint());
        break;
      case StageKind::kColumn:
        RIDGE_RETURN_IF_ERROR(WriteColumns());
        break;
      case StageKind::kCombine:
        RIDGE_RETURN_IF_ERROR(WriteCombine());
        break;
    }
    w_.Close("}");
    return absl::StrCat(
        "extern \"C\" void ", symbol,
        "(void* const* rdg_b, char* rdg_s,\n    int64_t rdg_begin, int64_t "
        "rdg_end) {\n",
        BufferText(), ScratchText(), rows_, w_.TakeText(), "}\n\n");
  }

 private:
  struct Nest {
    uint64_t vars = 0;        // inner variables it loops over
    std::vector<Fold> folds;  // all reduced over `vars`
    std::vector<int32_t> stores;
  };

  // ---- The function's head ----

  std::string BufferText() const {
    std::string text;
    for (size_t b = 0; b < kernel_.buffers.size(); ++b) {
      const KernelBuffer& buffer = kernel_.buffers[b];
      bool aliased = buffer.aliases >= 0;
      for (const KernelBuffer& other : kernel_.buffers) {
        if (other.aliases == static_cast<int32_t>(b)) aliased = true;
      }
      std::string type = absl::StrCat(buffer.is_output ? "" : "const ",
                                      StorageType(buffer.shape.type()), "*",
                                      aliased ? "" : " __restrict");
      absl::StrAppend(&text, "  ", type, " ",
                      w_.BufferName(static_cast<int32_t>(b)), " = (",
                      buffer.is_output ? "" : "const ",
                      StorageType(buffer.shape.type()), "*)rdg_b[", b, "];\n");
    }
    return text;
  }

  std::string ScratchText() const {
    std::string text;
    for (const auto& [n, s] : stored_) {
      std::string type(CarryType(kernel_.nodes[n].type));
      absl::StrAppend(&text, "  ", type, "* __restrict rdg_m", n, " = (", type,
                      "*)(rdg_s + ", s.offset, ");\n");
    }
    for (const auto& [n, offset] : partial_offset_) {
      if (!own_.contains(n)) continue;
      std::string type = FoldTypeOf(n);
      absl::StrAppend(&text, "  ", type, "* __restrict rdg_p", n, " = (", type,
                      "*)(rdg_s + ", offset, ");\n");
    }
    return text;
  }

  std::string FoldTypeOf(NodeId n) const {
    const Node& node = kernel_.nodes[n];
    return FoldType(*kernel_.functions[node.function].simple, node.type);
  }

  // Outer variables and chunk from the unit's number.
  void Decode() {
    std::vector<std::pair<std::string, int64_t>> digits;  // major first
    for (int32_t v : stage_.outer) {
      digits.emplace_back(absl::StrCat("v", v), kernel_.vars[v].extent);
      bound_ |= Bit(v);
    }
    if (stage_.kind == StageKind::kColumn) {
      digits.emplace_back("rdg_block", ColumnBlocks());
    }
    if (stage_.kind != StageKind::kCombine && stage_.split >= 0) {
      digits.emplace_back("rdg_chunk", stage_.chunks);
    }
    std::string rest = "rdg_u";
    for (size_t d = digits.size(); d-- > 0;) {
      const auto& [name, extent] = digits[d];
      const bool number = name[0] == 'r';
      std::string value = d == 0 ? rest : absl::StrCat(rest, " % ", extent);
      w_.Line(absl::StrCat("const ", number ? "int64_t" : index_, " ", name,
                           " = (", number ? "int64_t" : index_, ")(", value,
                           ");"));
      if (d > 0) {
        std::string next = absl::StrCat("rdg_r", d);
        w_.Line(absl::StrCat("const int64_t ", next, " = ", rest, " / ", extent,
                             ";"));
        rest = next;
      }
    }
    if (stage_.kind != StageKind::kCombine && stage_.split >= 0) {
      w_.Line(absl::StrCat("const ", index_, " rdg_lo = (", index_,
                           ")(rdg_chunk * ", stage_.chunk, ");"));
      w_.Line(absl::StrCat(
          "const ", index_, " rdg_hi = rdg_lo + ", stage_.chunk, " < ",
          kernel_.vars[stage_.split].extent, " ? rdg_lo + ", stage_.chunk,
          " : ", kernel_.vars[stage_.split].extent, ";"));
    }
    DefineStored();
  }

  int64_t ColumnBlocks() const {
    int64_t extent = kernel_.vars[kernel_.space_vars - 1].extent;
    return (extent + kColumnBlock - 1) / kColumnBlock;
  }
  static constexpr int64_t kColumnBlock = 512;

  // ---- Shared pieces ----

  std::vector<int32_t> VarsOf(uint64_t mask) const {
    std::vector<int32_t> vars;
    for (size_t v = 0; v < kernel_.vars.size(); ++v) {
      if ((mask >> v) & 1) vars.push_back(static_cast<int32_t>(v));
    }
    return vars;
  }

  // Row-major number of a point of the variables in `mask`.
  std::string Linear(uint64_t mask) const {
    std::string text;
    for (int32_t v : VarsOf(mask & live_)) {
      text = text.empty() ? absl::StrCat("(int64_t)v", v)
                          : absl::StrCat("(", text, ") * ",
                                         kernel_.vars[v].extent, " + v", v);
    }
    return text.empty() ? "0" : text;
  }

  // Results of earlier stages whose place is known here, and row buffers.
  void DefineStored() {
    for (const auto& [n, s] : stored_) {
      if (own_.contains(n) || w_.InScope(n)) continue;
      if ((s.vars & live_ & ~bound_) != 0) continue;
      w_.Define(n, absl::StrCat("rdg_m", n, "[", Linear(s.vars), "]"));
    }
    for (NodeId n : kept_) {
      if (w_.InScope(n) || !kept_ready_.contains(n)) continue;
      if ((row_vars_ & ~bound_) != 0) continue;
      w_.Define(n, absl::StrCat("rdg_c", n, ".p[", Linear(row_vars_), "]"));
    }
  }

  // Computes here whatever of `targets`' needs does not change further in.
  absl::Status Hoist(absl::Span<const NodeId> targets) {
    std::vector<NodeId> now;
    for (NodeId n : w_.Needs(targets, [&](NodeId m) {
           return kept_ready_.contains(m) || stored_.count(m) > 0;
         })) {
      const Node& node = kernel_.nodes[n];
      if (node.kind == NodeKind::kConst) continue;
      if ((node.vars & live_ & ~bound_) != 0) continue;
      now.push_back(n);
    }
    return w_.Emit(now);
  }

  std::vector<NodeId> FoldValues(const Fold& f) const {
    const Node& node = kernel_.nodes[f.any];
    return {node.operands.begin(),
            node.operands.begin() + node.operands.size() / 2};
  }
  std::vector<NodeId> FoldInits(const Fold& f) const {
    const Node& node = kernel_.nodes[f.any];
    return {node.operands.begin() + node.operands.size() / 2,
            node.operands.end()};
  }
  Opcode Simple(const Fold& f) const {
    return *kernel_.functions[kernel_.nodes[f.any].function].simple;
  }
  ElementType FoldElement(const Fold& f) const {
    return kernel_.nodes[f.any].type;
  }

  std::vector<NodeId> StoreTargets(const Store& s) const {
    std::vector<NodeId> targets = {s.value};
    if (s.guard >= 0) targets.push_back(s.guard);
    for (int32_t d : kernel_.index->DynamicNodes(s.offset)) {
      targets.push_back(d);
    }
    return targets;
  }
  int32_t StorePhase(const Store& s) const {
    int32_t phase = 0;
    for (NodeId n : StoreTargets(s)) {
      phase = std::max(phase, kernel_.nodes[n].phase);
    }
    return phase;
  }

  std::vector<NodeId> NestTargets(const Nest& nest) const {
    std::vector<NodeId> targets;
    for (const Fold& f : nest.folds) {
      for (NodeId n : FoldValues(f)) targets.push_back(n);
    }
    for (int32_t s : nest.stores) {
      for (NodeId n : StoreTargets(kernel_.stores[s])) targets.push_back(n);
    }
    return targets;
  }

  std::string Lo(int32_t v) const { return v == stage_.split ? "rdg_lo" : "0"; }
  std::string Hi(int32_t v) const {
    return v == stage_.split ? "rdg_hi" : absl::StrCat(kernel_.vars[v].extent);
  }
  void OpenLoop(int32_t v, const std::string& lo, const std::string& hi,
                const std::string& step = "1") {
    std::string name = absl::StrCat("v", v);
    w_.Open(absl::StrCat(
        "for (", index_, " ", name, " = ", lo, "; ", name, " < ", hi, "; ",
        name, step == "1" ? std::string("++") : absl::StrCat(" += ", step),
        ") {"));
    bound_ |= Bit(v);
    DefineStored();
  }
  void CloseLoop(int32_t v) {
    w_.Close("}");
    bound_ &= ~Bit(v);
  }

  // ---- kPoint ----

  absl::Status WritePoint() {
    std::vector<Nest> nests = OrderNests();
    PlanRows(nests);
    for (const Nest& nest : nests) {
      RIDGE_RETURN_IF_ERROR(WriteNest(nest));
    }
    return absl::OkStatus();
  }

  // Phase by phase: the folds (with the stores that fit into their loop), then
  // the other stores.
  std::vector<Nest> OrderNests() const {
    uint64_t outer = 0;
    for (int32_t v : stage_.outer) outer |= Bit(v);
    int32_t last = 0;
    int32_t base = 1 << 30;
    for (const Fold& f : stage_.folds) {
      last = std::max(last, f.phase);
      base = std::min(base, f.phase);
    }
    for (int32_t s : stage_.stores) {
      last = std::max(last, StorePhase(kernel_.stores[s]));
    }
    std::vector<Nest> nests;
    for (int32_t phase = 0; phase <= last; ++phase) {
      Nest folds;
      for (const Fold& f : stage_.folds) {
        if (f.phase != phase + 1) continue;
        folds.folds.push_back(f);
        folds.vars = f.reduced & live_;
      }
      std::map<uint64_t, Nest> others;
      for (int32_t s : stage_.stores) {
        const Store& store = kernel_.stores[s];
        if (StorePhase(store) != phase) continue;
        uint64_t inner = store.vars & live_ & ~outer;
        if (!folds.folds.empty() && inner == folds.vars) {
          folds.stores.push_back(s);
          continue;
        }
        others[inner].vars = inner;
        others[inner].stores.push_back(s);
      }
      if (!folds.folds.empty()) nests.push_back(std::move(folds));
      for (auto& [inner, nest] : others) nests.push_back(std::move(nest));
    }
    return nests;
  }

  // Which values of a nest are kept in row buffers for later ones: those that
  // a later nest needs directly and that cost something to compute again.
  void PlanRows(const std::vector<Nest>& nests) {
    keeps_.resize(nests.size());
    if (nests.size() < 2 || stage_.folds.empty()) return;
    row_vars_ = stage_.folds[0].reduced & live_;
    int64_t points = PointCount(kernel_, row_vars_);
    absl::flat_hash_set<NodeId> computed;  // by earlier nests, in their loops
    absl::flat_hash_map<NodeId, size_t> where;
    absl::flat_hash_set<NodeId> keep;
    int64_t bytes = 0;
    for (size_t k = 0; k < nests.size(); ++k) {
      if (nests[k].vars != row_vars_) continue;
      std::vector<NodeId> inner;
      for (NodeId n : w_.Needs(NestTargets(nests[k]), [&](NodeId m) {
             return keep.contains(m) || own_.contains(m) ||
                    stored_.count(m) > 0;
           })) {
        if ((kernel_.nodes[n].vars & row_vars_) != 0) inner.push_back(n);
      }
      // Frontier: computed before, and read by something new.
      absl::flat_hash_set<NodeId> fresh;
      for (NodeId n : inner) {
        if (!computed.contains(n)) fresh.insert(n);
      }
      absl::flat_hash_set<NodeId> frontier;
      for (NodeId n : fresh) {
        const Node& node = kernel_.nodes[n];
        for (NodeId o : node.operands) frontier.insert(o);
        if (node.guard >= 0) frontier.insert(node.guard);
      }
      for (NodeId t : NestTargets(nests[k])) frontier.insert(t);
      for (NodeId n : inner) {
        if (!frontier.contains(n) || !computed.contains(n)) continue;
        if (kernel_.nodes[n].vars == 0 || keep.contains(n)) continue;
        if (Recompute(n, keep) < kKeepCost) continue;
        int64_t size = SaturatingMul(points, 16);
        if (bytes + size > 4 * kMaxRowBytes) continue;
        bytes += size;
        keep.insert(n);
        kept_.push_back(n);
        keeps_[where[n]].push_back(n);
      }
      for (NodeId n : fresh) {
        computed.insert(n);
        where[n] = k;
      }
    }
    std::sort(kept_.begin(), kept_.end());
    for (NodeId n : kept_) {
      absl::StrAppend(&rows_, "  rdg_row<", CarryType(kernel_.nodes[n].type),
                      "> rdg_c", n, "(", points, ");\n");
    }
  }

  int Recompute(NodeId root, const absl::flat_hash_set<NodeId>& keep) {
    int cost = 0;
    for (NodeId n : w_.Needs({root}, [&](NodeId m) {
           return keep.contains(m) || own_.contains(m);
         })) {
      if ((kernel_.nodes[n].vars & row_vars_) != 0) {
        cost += NodeCost(kernel_.nodes[n]);
      }
    }
    return cost;
  }

  absl::Status WriteNest(const Nest& nest) {
    const size_t number = nest_++;
    const std::vector<NodeId>& keeps = keeps_[number];
    std::vector<NodeId> targets = NestTargets(nest);
    RIDGE_RETURN_IF_ERROR(Hoist(targets));
    for (const Fold& f : nest.folds) RIDGE_RETURN_IF_ERROR(OpenFold(f));
    std::vector<int32_t> vars = VarsOf(nest.vars);
    if (vars.empty()) {
      RIDGE_RETURN_IF_ERROR(WriteBody(nest, keeps, /*block=*/""));
    } else {
      if (stage_.tile > 0) {
        int32_t v = vars.back();
        w_.Open(absl::StrCat("for (", index_, " rdg_t = 0; rdg_t < ",
                             kernel_.vars[v].extent, "; rdg_t += ", stage_.tile,
                             ") {"));
      }
      for (size_t k = 0; k + 1 < vars.size(); ++k) {
        OpenLoop(vars[k], Lo(vars[k]), Hi(vars[k]));
        RIDGE_RETURN_IF_ERROR(Hoist(targets));
      }
      RIDGE_RETURN_IF_ERROR(WriteInner(nest, keeps, vars.back()));
      for (size_t k = vars.size() - 1; k-- > 0;) CloseLoop(vars[k]);
      if (stage_.tile > 0) w_.Close("}");
    }
    for (const Fold& f : nest.folds) RIDGE_RETURN_IF_ERROR(CloseFold(f));
    for (NodeId n : keeps) kept_ready_.insert(n);
    return absl::OkStatus();
  }

  absl::Status WriteInner(const Nest& nest, const std::vector<NodeId>& keeps,
                          int32_t v) {
    bool blocked = !nest.folds.empty();
    for (const Fold& f : nest.folds) blocked = blocked && f.simple;
    if (!blocked) {
      if (stage_.tile > 0) {
        std::string end = absl::StrCat(
            "(rdg_t + ", stage_.tile, " < ", kernel_.vars[v].extent,
            " ? rdg_t + ", stage_.tile, " : ", kernel_.vars[v].extent, ")");
        OpenLoop(v, "rdg_t", end);
      } else {
        OpenLoop(v, Lo(v), Hi(v));
      }
      RIDGE_RETURN_IF_ERROR(WriteBody(nest, keeps, ""));
      CloseLoop(v);
      return absl::OkStatus();
    }
    w_.Open(absl::StrCat("for (", index_, " rdg_i = ", Lo(v), "; rdg_i < ",
                         Hi(v), "; rdg_i += RDG_BLOCK) {"));
    w_.Line(absl::StrCat("const ", index_, " rdg_e = rdg_i + RDG_BLOCK < ",
                         Hi(v), " ? rdg_i + RDG_BLOCK : ", Hi(v), ";"));
    for (const Fold& f : nest.folds) {
      w_.Line(absl::StrCat(CarryType(FoldElement(f)), " rdg_x", f.any,
                           "[RDG_BLOCK];"));
    }
    OpenLoop(v, "rdg_i", "rdg_e");
    RIDGE_RETURN_IF_ERROR(WriteBody(nest, keeps, absl::StrCat("v", v)));
    CloseLoop(v);
    for (const Fold& f : nest.folds) {
      RIDGE_ASSIGN_OR_RETURN(
          std::string text,
          FoldBlockText(Simple(f), FoldElement(f), absl::StrCat("rdg_a", f.any),
                        absl::StrCat("rdg_x", f.any), "rdg_e - rdg_i"));
      w_.Line(text);
    }
    w_.Close("}");
    return absl::OkStatus();
  }

  // The innermost statements. `block`: the variable that numbers the elements
  // of the fold blocks; empty: fold at once.
  absl::Status WriteBody(const Nest& nest, const std::vector<NodeId>& keeps,
                         const std::string& block) {
    for (const Fold& f : nest.folds) {
      std::vector<NodeId> values = FoldValues(f);
      RIDGE_RETURN_IF_ERROR(w_.Emit(values));
      if (!block.empty()) {
        w_.Line(absl::StrCat("rdg_x", f.any, "[", block,
                             " - rdg_i] = ", w_.Name(values[0]), ";"));
        continue;
      }
      RIDGE_RETURN_IF_ERROR(FoldOne(f, values, ""));
    }
    for (NodeId n : keeps) {
      RIDGE_RETURN_IF_ERROR(w_.Emit(n));
      w_.Line(absl::StrCat("rdg_c", n, ".p[", Linear(row_vars_),
                           "] = ", w_.Name(n), ";"));
    }
    for (int32_t s : nest.stores) {
      RIDGE_RETURN_IF_ERROR(w_.EmitStore(kernel_.stores[s]));
    }
    return absl::OkStatus();
  }

  // ---- Folds ----

  std::string Acc(const Fold& f, size_t r) const {
    return f.simple ? absl::StrCat("rdg_a", f.any)
                    : absl::StrCat("rdg_a", f.any, "_", r);
  }

  // acc = acc combined with values; `at` subscripts the accumulators.
  absl::Status FoldOne(const Fold& f, const std::vector<NodeId>& values,
                       const std::string& at) {
    if (f.simple) {
      RIDGE_ASSIGN_OR_RETURN(
          std::string text,
          FoldCombineText(Simple(f), FoldElement(f),
                          absl::StrCat(Acc(f, 0), at), w_.Name(values[0])));
      w_.Line(absl::StrCat(Acc(f, 0), at, " = ", text, ";"));
      return absl::OkStatus();
    }
    std::vector<std::string> acc;
    std::vector<std::string> names;
    for (size_t r = 0; r < values.size(); ++r) {
      acc.push_back(absl::StrCat(Acc(f, r), at));
      names.push_back(w_.Name(values[r]));
    }
    RIDGE_ASSIGN_OR_RETURN(std::string text,
                           w_.CombineStatement(f.results, acc, names));
    w_.Line(text);
    return absl::OkStatus();
  }

  absl::Status OpenFold(const Fold& f) {
    std::vector<NodeId> inits = FoldInits(f);
    RIDGE_RETURN_IF_ERROR(w_.Emit(inits));
    if (f.simple) {
      w_.Line(absl::StrCat(FoldType(Simple(f), FoldElement(f)), " ", Acc(f, 0),
                           " = ", FoldIdentity(Simple(f), FoldElement(f)),
                           ";"));
      return absl::OkStatus();
    }
    for (size_t r = 0; r < inits.size(); ++r) {
      w_.Line(absl::StrCat(CarryType(kernel_.nodes[inits[r]].type), " ",
                           Acc(f, r), " = ", w_.Name(inits[r]), ";"));
    }
    return absl::OkStatus();
  }

  // Names the results, and writes them to scratch where later stages look.
  absl::Status CloseFold(const Fold& f) {
    if (stage_.partial) {
      w_.Line(absl::StrCat("rdg_p", f.any, "[", PartialAt("rdg_chunk", f),
                           "] = ", Acc(f, 0), ";"));
      return absl::OkStatus();
    }
    if (f.simple) {
      RIDGE_ASSIGN_OR_RETURN(
          std::string text, FoldResultText(Simple(f), FoldElement(f), Acc(f, 0),
                                           w_.Name(FoldInits(f)[0])));
      w_.Line(absl::StrCat("const ", CarryType(FoldElement(f)), " n", f.any,
                           " = ", text, ";"));
      w_.Define(f.any, absl::StrCat("n", f.any));
    } else {
      for (size_t r = 0; r < f.results.size(); ++r) {
        if (f.results[r] >= 0) w_.Define(f.results[r], Acc(f, r));
      }
    }
    for (NodeId n : f.results) {
      if (n < 0 || stored_.count(n) == 0) continue;
      w_.Line(absl::StrCat("rdg_m", n, "[", Linear(f.vars), "] = ", w_.Name(n),
                           ";"));
    }
    return absl::OkStatus();
  }

  std::string PartialAt(const std::string& chunk, const Fold& f) const {
    return absl::StrCat(chunk, " * ", PointCount(kernel_, f.vars & live_),
                        " + ", Linear(f.vars));
  }

  // ---- kColumn ----

  absl::Status WriteColumns() {
    const int32_t minor = kernel_.space_vars - 1;
    const std::string v = absl::StrCat("v", minor);
    const int64_t extent = kernel_.vars[minor].extent;
    w_.Line(absl::StrCat("const ", index_, " rdg_c0 = (", index_,
                         ")(rdg_block * ", kColumnBlock, ");"));
    w_.Line(absl::StrCat("const ", index_, " rdg_c1 = rdg_c0 + ", kColumnBlock,
                         " < ", extent, " ? rdg_c0 + ", kColumnBlock, " : ",
                         extent, ";"));
    const std::string column_loop = absl::StrCat(
        "for (", index_, " ", v, " = rdg_c0; ", v, " < rdg_c1; ++", v, ") ");
    const std::string at = absl::StrCat("[", v, " - rdg_c0]");
    Nest nest;
    nest.folds = stage_.folds;
    std::vector<NodeId> targets = NestTargets(nest);
    for (const Fold& f : stage_.folds) {
      RIDGE_RETURN_IF_ERROR(w_.Emit(FoldInits(f)));
      if (f.simple) {
        std::string type = FoldType(Simple(f), FoldElement(f));
        w_.Line(absl::StrCat(type, " ", Acc(f, 0), "[", kColumnBlock, "];"));
        w_.Line(absl::StrCat(column_loop, Acc(f, 0), at, " = ",
                             FoldIdentity(Simple(f), FoldElement(f)), ";"));
        continue;
      }
      for (size_t r = 0; r < f.results.size(); ++r) {
        NodeId init = FoldInits(f)[r];
        w_.Line(absl::StrCat(CarryType(kernel_.nodes[init].type), " ",
                             Acc(f, r), "[", kColumnBlock, "];"));
        w_.Line(absl::StrCat(column_loop, Acc(f, r), at, " = ", w_.Name(init),
                             ";"));
      }
    }
    RIDGE_RETURN_IF_ERROR(Hoist(targets));
    std::vector<int32_t> vars = VarsOf(stage_.folds[0].reduced & live_);
    for (int32_t r : vars) {
      OpenLoop(r, Lo(r), Hi(r));
      RIDGE_RETURN_IF_ERROR(Hoist(targets));
    }
    OpenLoop(minor, "rdg_c0", "rdg_c1");
    for (const Fold& f : stage_.folds) {
      std::vector<NodeId> values = FoldValues(f);
      RIDGE_RETURN_IF_ERROR(w_.Emit(values));
      RIDGE_RETURN_IF_ERROR(FoldOne(f, values, at));
    }
    CloseLoop(minor);
    for (size_t k = vars.size(); k-- > 0;) CloseLoop(vars[k]);
    for (const Fold& f : stage_.folds) {
      RIDGE_RETURN_IF_ERROR(CloseColumns(f, column_loop, at));
    }
    return absl::OkStatus();
  }

  absl::Status CloseColumns(const Fold& f, const std::string& column_loop,
                            const std::string& at) {
    if (stage_.partial) {
      w_.Line(absl::StrCat(column_loop, "rdg_p", f.any, "[",
                           PartialAt("rdg_chunk", f), "] = ", Acc(f, 0), at,
                           ";"));
      return absl::OkStatus();
    }
    for (size_t r = 0; r < f.results.size(); ++r) {
      NodeId n = f.results[r];
      if (n < 0) continue;
      std::string value = absl::StrCat(Acc(f, r), at);
      if (f.simple) {
        RIDGE_ASSIGN_OR_RETURN(value,
                               FoldResultText(Simple(f), FoldElement(f), value,
                                              w_.Name(FoldInits(f)[0])));
      }
      w_.Line(absl::StrCat(column_loop, "rdg_m", n, "[", Linear(f.vars),
                           "] = ", value, ";"));
    }
    return absl::OkStatus();
  }

  // ---- kCombine ----

  absl::Status WriteCombine() {
    for (const Fold& f : stage_.folds) {
      RIDGE_RETURN_IF_ERROR(OpenFold(f));
      std::string type = FoldType(Simple(f), FoldElement(f));
      RIDGE_ASSIGN_OR_RETURN(
          std::string text,
          FoldPartialText(
              Simple(f), FoldElement(f), Acc(f, 0),
              absl::StrCat("rdg_p", f.any, "[", PartialAt("rdg_k", f), "]")));
      w_.Line(absl::StrCat("for (int64_t rdg_k = 0; rdg_k < ", stage_.chunks,
                           "; ++rdg_k) ", Acc(f, 0), " = ", text, ";"));
      RIDGE_RETURN_IF_ERROR(CloseFold(f));
    }
    return absl::OkStatus();
  }

  const Kernel& kernel_;
  const Stage& stage_;
  const uint64_t live_;
  const std::map<NodeId, Stored>& stored_;
  const std::map<NodeId, int64_t>& partial_offset_;
  BodyWriter w_;
  const std::string index_;
  absl::flat_hash_set<NodeId> own_;  // results of this stage's folds
  uint64_t bound_ = 0;               // variables that loops here have set
  // Row buffers: which nodes, which of them each nest fills.
  uint64_t row_vars_ = 0;
  std::vector<NodeId> kept_;
  absl::flat_hash_set<NodeId> kept_ready_;
  std::vector<std::vector<NodeId>> keeps_;
  std::string rows_;
  size_t nest_ = 0;
};

// Places in scratch memory.
struct Scratch {
  std::map<NodeId, Stored> stored;
  std::map<NodeId, int64_t> partial;
  int64_t bytes = 0;

  int64_t Take(int64_t count, int64_t element) {
    int64_t at = bytes;
    bytes += (SaturatingMul(count, element) + 63) / 64 * 64;
    return at;
  }
};

Scratch PlaceFolds(const Kernel& kernel, const StagePlan& plan) {
  Scratch scratch;
  if (plan.stages.size() < 2) return scratch;
  const uint64_t live = LiveVars(kernel);
  for (const Stage& stage : plan.stages) {
    for (const Fold& f : stage.folds) {
      int64_t points = PointCount(kernel, f.vars & live);
      if (stage.partial) {
        scratch.partial[f.any] =
            scratch.Take(SaturatingMul(points, stage.chunks), 16);
        continue;
      }
      for (NodeId n : f.results) {
        if (n >= 0) scratch.stored[n] = {scratch.Take(points, 16), f.vars};
      }
    }
  }
  return scratch;
}

absl::Status EmitInto(const Kernel& kernel, const std::string& prefix,
                      EmittedKernel* out) {
  StagePlan plan = PlanStages(kernel);
  Scratch scratch = PlaceFolds(kernel, plan);
  out->scratch_bytes = std::max(out->scratch_bytes, scratch.bytes);
  if (plan.stages.empty()) return absl::OkStatus();
  BodyWriter functions(kernel, Dialect::kHost);
  RIDGE_ASSIGN_OR_RETURN(std::string helpers, functions.FunctionsText());
  out->text += helpers;
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    EmittedStage emitted;
    emitted.symbol = absl::StrCat(prefix, "_s", s);
    emitted.units = stage.units;
    emitted.grain = StageGrain(stage);
    emitted.serial = stage.serial;
    RIDGE_ASSIGN_OR_RETURN(
        std::string text,
        StageWriter(kernel, stage, scratch.stored, scratch.partial)
            .Write(emitted.symbol));
    out->text += text;
    out->stages.push_back(std::move(emitted));
  }
  if (out->schedule.empty()) out->schedule = plan.schedule;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EmittedKernel> EmitKernel(const Kernel& kernel) {
  EmittedKernel out;
  out.text = absl::StrCat(
      "// ", absl::StrReplaceAll(ToString(kernel), {{"\n", "\n// "}}), "\n");
  if (kernel.prologue != nullptr) {
    RIDGE_RETURN_IF_ERROR(EmitInto(
        *kernel.prologue, absl::StrCat("rdg_", kernel.name, "_pre"), &out));
    out.schedule.clear();
  }
  RIDGE_RETURN_IF_ERROR(
      EmitInto(kernel, absl::StrCat("rdg_", kernel.name), &out));
  return out;
}

}  // namespace ridge
