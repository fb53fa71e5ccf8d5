#include "backends/cpu/stage_writer.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/fold_text.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// Row buffers of one stage beyond this are not worth their memory.
constexpr int64_t kMaxRowBytes = 4 << 20;
// A value is kept for a later phase if computing it again costs more
// (see NodeCost).
constexpr int kKeepCost = 4;

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

}  // namespace

StageWriter::StageWriter(const Kernel& kernel, const Stage& stage,
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

absl::StatusOr<std::string> StageWriter::Write(const std::string& symbol) {
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
    case StageKind::kBox:
      RIDGE_RETURN_IF_ERROR(WriteBox());
      break;
  }
  w_.Close("}");
  return absl::StrCat(
      "extern \"C\" void ", symbol,
      "(void* const* rdg_b, char* rdg_s,\n    int64_t rdg_begin, int64_t "
      "rdg_end) {\n",
      BufferText(), ScratchText(), rows_, w_.TakeText(), "}\n\n");
}

std::string StageWriter::BufferText() const {
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

std::string StageWriter::ScratchText() const {
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

void StageWriter::Decode() {
  std::vector<std::pair<std::string, int64_t>> digits;  // major first
  for (int32_t v : stage_.outer) {
    digits.emplace_back(absl::StrCat("v", v), kernel_.vars[v].extent);
    bound_ |= Bit(v);
  }
  if (stage_.kind == StageKind::kColumn || stage_.kind == StageKind::kBox) {
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
    w_.Line(absl::StrCat("const ", index_, " rdg_hi = rdg_lo + ", stage_.chunk,
                         " < ", kernel_.vars[stage_.split].extent,
                         " ? rdg_lo + ", stage_.chunk, " : ",
                         kernel_.vars[stage_.split].extent, ";"));
  }
  DefineStored();
}

std::vector<int32_t> StageWriter::VarsOf(uint64_t mask) const {
  std::vector<int32_t> vars;
  for (size_t v = 0; v < kernel_.vars.size(); ++v) {
    if ((mask >> v) & 1) vars.push_back(static_cast<int32_t>(v));
  }
  return vars;
}

std::string StageWriter::Linear(uint64_t mask) const {
  std::string text;
  for (int32_t v : VarsOf(mask & live_)) {
    text = text.empty() ? absl::StrCat("(int64_t)v", v)
                        : absl::StrCat("(", text, ") * ",
                                       kernel_.vars[v].extent, " + v", v);
  }
  return text.empty() ? "0" : text;
}

void StageWriter::DefineStored() {
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

absl::Status StageWriter::Hoist(absl::Span<const NodeId> targets) {
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

std::vector<NodeId> StageWriter::StoreTargets(const Store& s) const {
  std::vector<NodeId> targets = {s.value};
  if (s.guard >= 0) targets.push_back(s.guard);
  for (int32_t d : kernel_.index->DynamicNodes(s.offset)) {
    targets.push_back(d);
  }
  return targets;
}

int32_t StageWriter::StorePhase(const Store& s) const {
  int32_t phase = 0;
  for (NodeId n : StoreTargets(s)) {
    phase = std::max(phase, kernel_.nodes[n].phase);
  }
  return phase;
}

std::vector<NodeId> StageWriter::NestTargets(const Nest& nest) const {
  std::vector<NodeId> targets;
  for (const Fold& f : nest.folds) {
    for (NodeId n : FoldValues(f)) targets.push_back(n);
  }
  for (int32_t s : nest.stores) {
    for (NodeId n : StoreTargets(kernel_.stores[s])) targets.push_back(n);
  }
  return targets;
}

std::string StageWriter::Hi(int32_t v) const {
  return v == stage_.split ? "rdg_hi" : absl::StrCat(kernel_.vars[v].extent);
}

void StageWriter::OpenLoop(int32_t v, const std::string& lo,
                           const std::string& hi, const std::string& step) {
  std::string name = absl::StrCat("v", v);
  w_.Open(absl::StrCat(
      "for (", index_, " ", name, " = ", lo, "; ", name, " < ", hi, "; ", name,
      step == "1" ? std::string("++") : absl::StrCat(" += ", step), ") {"));
  bound_ |= Bit(v);
  DefineStored();
}

void StageWriter::CloseLoop(int32_t v) {
  w_.Close("}");
  bound_ &= ~Bit(v);
}

absl::Status StageWriter::WritePoint() {
  std::vector<Nest> nests = OrderNests();
  PlanRows(nests);
  for (const Nest& nest : nests) {
    RIDGE_RETURN_IF_ERROR(WriteNest(nest));
  }
  return absl::OkStatus();
}

std::vector<StageWriter::Nest> StageWriter::OrderNests() const {
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

void StageWriter::PlanRows(const std::vector<Nest>& nests) {
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
           return keep.contains(m) || own_.contains(m) || stored_.count(m) > 0;
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

int StageWriter::Recompute(NodeId root,
                           const absl::flat_hash_set<NodeId>& keep) {
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

absl::Status StageWriter::WriteNest(const Nest& nest) {
  const size_t number = nest_++;
  const std::vector<NodeId>& keeps = keeps_[number];
  std::vector<NodeId> targets = NestTargets(nest);
  RIDGE_RETURN_IF_ERROR(Hoist(targets));
  if (FitsLanes(nest)) {
    for (const Fold& f : nest.folds) {
      in_lanes_.insert(f.any);
      if (f.simple || !Ordered(nest)) open_lanes_.insert(f.any);
    }
  }
  for (const Fold& f : nest.folds) RIDGE_RETURN_IF_ERROR(OpenFold(f));
  std::vector<int32_t> vars = VarsOf(nest.vars);
  if (vars.empty()) {
    RIDGE_RETURN_IF_ERROR(WriteBody(nest, keeps, Take::kAtOnce));
  } else {
    if (stage_.tile > 0) {
      int32_t v = vars.back();
      w_.Open(absl::StrCat("for (", index_, " rdg_t = 0; rdg_t < ",
                           kernel_.vars[v].extent, "; rdg_t += ", stage_.tile,
                           ") {"));
      RIDGE_RETURN_IF_ERROR(WriteTransposedLoads(nest, v));
    }
    const int64_t rounds =
        vars.size() < 2
            ? 0
            : RoundsOfBlock(nest, vars[vars.size() - 2], vars.back());
    // The loops around what is written as one.
    const size_t around = vars.size() - (rounds > 0 ? 2 : 1);
    for (size_t k = 0; k < around; ++k) {
      OpenLoop(vars[k], Lo(vars[k]), Hi(vars[k]));
      RIDGE_RETURN_IF_ERROR(Hoist(targets));
    }
    RIDGE_RETURN_IF_ERROR(
        rounds > 0 ? WriteRounds(nest, keeps, vars[around], vars.back(), rounds)
                   : WriteInner(nest, keeps, vars.back()));
    for (size_t k = around; k-- > 0;) CloseLoop(vars[k]);
    if (stage_.tile > 0) w_.Close("}");
  }
  for (const Fold& f : nest.folds) RIDGE_RETURN_IF_ERROR(CloseFold(f));
  for (NodeId n : keeps) kept_ready_.insert(n);
  return absl::OkStatus();
}

absl::Status StageWriter::WriteInner(const Nest& nest,
                                     const std::vector<NodeId>& keeps,
                                     int32_t v) {
  if (stage_.tile > 0) {
    std::string end = absl::StrCat(
        "(rdg_t + ", stage_.tile, " < ", kernel_.vars[v].extent, " ? rdg_t + ",
        stage_.tile, " : ", kernel_.vars[v].extent, ")");
    OpenLoop(v, "rdg_t", end);
    RIDGE_RETURN_IF_ERROR(WriteBody(nest, keeps, Take::kAtOnce));
    CloseLoop(v);
    return absl::OkStatus();
  }
  if (nest.folds.empty()) return WriteStores(nest, keeps, v);
  if (InLanes(nest.folds[0])) return WriteLanes(nest, keeps, v);
  bool blocked = true;
  for (const Fold& f : nest.folds) blocked = blocked && f.simple;
  if (blocked) return WriteBlocks(nest, keeps, v);
  OpenLoop(v, Lo(v), Hi(v));
  RIDGE_RETURN_IF_ERROR(WriteBody(nest, keeps, Take::kAtOnce));
  CloseLoop(v);
  return absl::OkStatus();
}

absl::Status StageWriter::WriteBody(const Nest& nest,
                                    const std::vector<NodeId>& keeps,
                                    Take take) {
  for (const Fold& f : nest.folds) {
    std::vector<NodeId> values = FoldValues(f);
    RIDGE_RETURN_IF_ERROR(w_.Emit(values));
    switch (take) {
      case Take::kBlock:
        w_.Line(absl::StrCat("rdg_x", f.any, "[", block_place_,
                             "] = ", w_.Name(values[0]), ";"));
        break;
      case Take::kLane:
        RIDGE_RETURN_IF_ERROR(FoldLane(f, values));
        break;
      case Take::kAtOnce:
        RIDGE_RETURN_IF_ERROR(FoldOne(f, values, ""));
        break;
      case Take::kNot:
        break;
    }
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

}  // namespace ridge
