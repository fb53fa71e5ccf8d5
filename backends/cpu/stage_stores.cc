// The innermost loops of stores.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/stage_writer.h"
#include "hlo/base/status_macros.h"

namespace ridge {

int64_t StageWriter::Divisor(const Nest& nest, int32_t v) {
  constexpr int64_t kLeast = 8;  // a vector of floats
  std::vector<int64_t> divisors;
  const IndexPool& pool = w_.pool();
  std::function<void(IndexId)> visit = [&](IndexId id) {
    if (id < 0 || ((pool.VarMask(id) >> v) & 1) == 0) return;
    const IndexNode& node = pool.node(id);
    if (node.kind == IndexKind::kFloorDiv || node.kind == IndexKind::kMod) {
      divisors.push_back(node.value);
    }
    if (node.kind != IndexKind::kVar) {
      visit(node.a);
      visit(node.b);
    }
  };
  const std::vector<NodeId> targets = NestTargets(nest);
  for (NodeId n : w_.Needs(targets, [](NodeId) { return false; })) {
    visit(kernel_.nodes[n].offset);
  }
  for (int32_t s : nest.stores) visit(kernel_.stores[s].offset);
  if (divisors.empty()) return 1;
  int64_t divisor = *std::min_element(divisors.begin(), divisors.end());
  divisors.push_back(kernel_.vars[v].extent);
  if (v == stage_.split) divisors.push_back(stage_.chunk);
  for (int64_t d : divisors) {
    if (d % divisor != 0) return 1;
  }
  return divisor < kLeast ? 1 : divisor;
}

std::vector<int64_t> StageWriter::Breaks(const Nest& nest, int32_t v) {
  constexpr size_t kMost = 5;  // each part is code
  const int64_t extent = kernel_.vars[v].extent;
  std::vector<int64_t> breaks = {0, extent};
  const IndexPool& pool = w_.pool();
  // n compared with a constant from the right.
  auto add = [&](const Node& index, const Node& constant,
                 ComparisonDirection direction) {
    if (index.kind != NodeKind::kIndex || constant.kind != NodeKind::kConst) {
      return;
    }
    if (pool.node(index.offset).kind != IndexKind::kVar ||
        ((pool.VarMask(index.offset) >> v) & 1) == 0) {
      return;
    }
    const int bits = Info(constant.type).bits;
    if (!IsInteger(constant.type) || bits < 32) return;
    int64_t at =
        static_cast<int64_t>(constant.bits << (64 - bits)) >> (64 - bits);
    if (direction == ComparisonDirection::kGt ||
        direction == ComparisonDirection::kLe) {
      ++at;
    }
    if (at > 0 && at < extent) breaks.push_back(at);
  };
  const std::vector<NodeId> targets = NestTargets(nest);
  for (NodeId n : w_.Needs(targets, [](NodeId) { return false; })) {
    const Node& node = kernel_.nodes[n];
    if (node.kind != NodeKind::kOp || node.opcode != Opcode::kCompare) continue;
    add(kernel_.nodes[node.operands[0]], kernel_.nodes[node.operands[1]],
        node.direction);
  }
  std::sort(breaks.begin(), breaks.end());
  breaks.erase(std::unique(breaks.begin(), breaks.end()), breaks.end());
  if (breaks.size() > kMost) return {0, extent};
  return breaks;
}

std::string StageWriter::TileEnd(int32_t minor) const {
  const int64_t extent = kernel_.vars[minor].extent;
  return absl::StrCat("(rdg_t + ", stage_.tile, " < ", extent, " ? rdg_t + ",
                      stage_.tile, " : ", extent, ")");
}

absl::Status StageWriter::WriteTransposedLoads(const Nest& nest,
                                               int32_t minor) {
  const int32_t split = stage_.split;
  const uint64_t here = bound_ | Bit(split) | Bit(minor);
  const std::vector<NodeId> targets = NestTargets(nest);
  for (NodeId n : w_.Needs(targets, [](NodeId) { return false; })) {
    const Node& node = kernel_.nodes[n];
    if (node.kind != NodeKind::kLoad || node.guard >= 0 ||
        !IsFloat(node.type) || w_.pool().HasDynamic(node.offset) ||
        (node.vars & live_ & ~here) != 0) {
      continue;
    }
    const std::optional<int64_t> across =
        w_.pool().StrideOf(node.offset, minor);
    if (!across.has_value() || *across == 0 || *across == 1) continue;
    if (w_.pool().StrideOf(node.offset, split) != 1) continue;
    w_.Line(absl::StrCat(CarryType(node.type), " rdg_tile", n, "[", stage_.tile,
                         "][", stage_.tile, "];"));
    OpenLoop(minor, "rdg_t", TileEnd(minor));
    OpenLoop(split, Lo(split), Hi(split));
    RIDGE_RETURN_IF_ERROR(w_.Emit(n));
    const std::string at = absl::StrCat("rdg_tile", n, "[v", split,
                                        " - rdg_lo][v", minor, " - rdg_t]");
    w_.Line(absl::StrCat(at, " = ", w_.Name(n), ";"));
    CloseLoop(split);
    CloseLoop(minor);
    w_.Define(n, at);
  }
  return absl::OkStatus();
}

absl::Status StageWriter::WriteStores(const Nest& nest,
                                      const std::vector<NodeId>& keeps,
                                      int32_t v) {
  const int64_t divisor = Divisor(nest, v);
  if (divisor == 1 || divisor == kernel_.vars[v].extent) {
    const std::vector<int64_t> breaks = Breaks(nest, v);
    for (size_t k = 0; k + 1 < breaks.size(); ++k) {
      std::string lo = Lo(v);
      std::string hi = Hi(v);
      if (breaks.size() > 2) {
        lo = v == stage_.split ? absl::StrCat("rdg_imax(rdg_lo, (", index_, ")",
                                              breaks[k], ")")
                               : absl::StrCat(breaks[k]);
        hi = v == stage_.split ? absl::StrCat("rdg_imin(rdg_hi, (", index_, ")",
                                              breaks[k + 1], ")")
                               : absl::StrCat(breaks[k + 1]);
      }
      OpenLoop(v, lo, hi);
      RIDGE_RETURN_IF_ERROR(WriteBody(nest, keeps, Take::kAtOnce));
      CloseLoop(v);
    }
    return absl::OkStatus();
  }
  const IndexId q = w_.NewVar("rdg_q", kernel_.vars[v].extent / divisor);
  const IndexId l = w_.NewVar("rdg_l", divisor);
  w_.Bind(v, w_.pool().Add(w_.pool().Mul(q, divisor), l));
  w_.Open(absl::StrCat("for (", index_, " rdg_q = ", Lo(v), " / ", divisor,
                       "; rdg_q < ", Hi(v), " / ", divisor, "; ++rdg_q) {"));
  w_.Open(absl::StrCat("for (", index_, " rdg_l = 0; rdg_l < ", divisor,
                       "; ++rdg_l) {"));
  w_.Line(absl::StrCat("const ", index_, " v", v, " = rdg_q * ", divisor,
                       " + rdg_l;"));
  bound_ |= Bit(v);
  DefineStored();
  RIDGE_RETURN_IF_ERROR(WriteBody(nest, keeps, Take::kAtOnce));
  CloseLoop(v);
  w_.Close("}");
  w_.Bind(v, -1);
  return absl::OkStatus();
}

}  // namespace ridge
