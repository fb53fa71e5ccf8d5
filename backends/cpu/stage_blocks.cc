// StageWriter: innermost loops of folds, in blocks and in lanes.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/cpu/fold_text.h"
#include "backends/cpu/stage_writer.h"
#include "hlo/base/status_macros.h"

namespace ridge {

absl::Status StageWriter::WriteBlocks(const Nest& nest,
                                      const std::vector<NodeId>& keeps,
                                      int32_t v) {
  w_.Open(absl::StrCat("for (", index_, " rdg_i = ", Lo(v), "; rdg_i < ", Hi(v),
                       "; rdg_i += RDG_BLOCK) {"));
  w_.Line(absl::StrCat("const ", index_, " rdg_e = rdg_i + RDG_BLOCK < ", Hi(v),
                       " ? rdg_i + RDG_BLOCK : ", Hi(v), ";"));
  for (const Fold& f : nest.folds) {
    w_.Line(absl::StrCat(CarryType(FoldElement(f)), " rdg_x", f.any,
                         "[RDG_BLOCK];"));
  }
  OpenLoop(v, "rdg_i", "rdg_e");
  block_place_ = absl::StrCat("v", v, " - rdg_i");
  RIDGE_RETURN_IF_ERROR(WriteBody(nest, keeps, Take::kBlock));
  CloseLoop(v);
  RIDGE_RETURN_IF_ERROR(FoldBlocks(nest, "rdg_e - rdg_i"));
  w_.Close("}");
  return absl::OkStatus();
}

absl::Status StageWriter::FoldBlocks(const Nest& nest,
                                     const std::string& count) {
  for (const Fold& f : nest.folds) {
    RIDGE_ASSIGN_OR_RETURN(
        std::string text,
        FoldBlockText(Simple(f), FoldElement(f), absl::StrCat("rdg_a", f.any),
                      absl::StrCat("rdg_x", f.any), count));
    w_.Line(text);
  }
  return absl::OkStatus();
}

int64_t StageWriter::RoundsOfBlock(const Nest& nest, int32_t outer,
                                   int32_t inner) const {
  constexpr int64_t kBlock = 1024;  // RDG_BLOCK
  const int64_t length = kernel_.vars[inner].extent;
  if (stage_.tile > 0 || nest.folds.empty() || InLanes(nest.folds[0]) ||
      inner == stage_.split || length == 0 || 2 * length > kBlock) {
    return 0;
  }
  for (const Fold& f : nest.folds) {
    if (!f.simple) return 0;
  }
  return std::min(kBlock / length, kernel_.vars[outer].extent);
}

absl::Status StageWriter::WriteRounds(const Nest& nest,
                                      const std::vector<NodeId>& keeps,
                                      int32_t outer, int32_t inner,
                                      int64_t rounds) {
  const int64_t length = kernel_.vars[inner].extent;
  w_.Open(absl::StrCat("for (", index_, " rdg_i = ", Lo(outer), "; rdg_i < ",
                       Hi(outer), "; rdg_i += ", rounds, ") {"));
  w_.Line(absl::StrCat("const ", index_, " rdg_e = rdg_i + ", rounds, " < ",
                       Hi(outer), " ? rdg_i + ", rounds, " : ", Hi(outer),
                       ";"));
  for (const Fold& f : nest.folds) {
    w_.Line(absl::StrCat(CarryType(FoldElement(f)), " rdg_x", f.any,
                         "[RDG_BLOCK];"));
  }
  OpenLoop(outer, "rdg_i", "rdg_e");
  RIDGE_RETURN_IF_ERROR(Hoist(NestTargets(nest)));
  OpenLoop(inner, Lo(inner), Hi(inner));
  block_place_ =
      absl::StrCat("(v", outer, " - rdg_i) * ", length, " + v", inner);
  RIDGE_RETURN_IF_ERROR(WriteBody(nest, keeps, Take::kBlock));
  CloseLoop(inner);
  CloseLoop(outer);
  RIDGE_RETURN_IF_ERROR(
      FoldBlocks(nest, absl::StrCat("(rdg_e - rdg_i) * ", length)));
  w_.Close("}");
  return absl::OkStatus();
}

absl::Status StageWriter::WriteLanes(const Nest& nest,
                                     const std::vector<NodeId>& keeps,
                                     int32_t v) {
  const bool ordered = Ordered(nest);
  const int64_t run = ordered ? kRun : 1;
  const std::string begin = Lo(v);
  w_.Open("{");
  w_.Line(absl::StrCat("const ", index_, " rdg_w = ", begin, " + (", Hi(v),
                       " - ", begin, ") / ", kLanes * run, " * ", kLanes * run,
                       ";"));
  w_.Open(absl::StrCat("for (", index_, " rdg_i = ", begin,
                       "; rdg_i < rdg_w; rdg_i += ", kLanes * run, ") {"));
  for (const Fold& f : nest.folds) {
    if (ordered && !f.simple) {
      w_.Line(absl::StrCat("rdg_full", f.any, " = false;"));
    }
  }
  auto point = [&] {
    w_.Line(absl::StrCat("const ", index_, " v", v, " = rdg_i + rdg_l * ", run,
                         " + rdg_j;"));
    bound_ |= Bit(v);
    DefineStored();
  };
  const std::string lanes =
      absl::StrCat("for (int rdg_l = 0; rdg_l < ", kLanes, "; ++rdg_l) {");
  const std::string steps =
      absl::StrCat("for (int rdg_j = 0; rdg_j < ", run, "; ++rdg_j) {");
  std::vector<NodeId> turned;
  if (ordered) {
    // Elements are read in order and lie turned after that, since a lane's next
    // element is not its neighbour's.
    for (const Fold& f : nest.folds) {
      for (NodeId n : FoldValues(f)) {
        if (kernel_.nodes[n].kind != NodeKind::kConst) turned.push_back(n);
      }
    }
    std::sort(turned.begin(), turned.end());
    turned.erase(std::unique(turned.begin(), turned.end()), turned.end());
    for (NodeId n : turned) {
      w_.Line(absl::StrCat(CarryType(kernel_.nodes[n].type), " rdg_y", n, "[",
                           run, "][", kLanes, "];"));
    }
    w_.Open(lanes);
    w_.Open(steps);
    point();
    for (NodeId n : turned) {
      RIDGE_RETURN_IF_ERROR(w_.Emit(n));
      w_.Line(absl::StrCat("rdg_y", n, "[rdg_j][rdg_l] = ", w_.Name(n), ";"));
    }
    RIDGE_RETURN_IF_ERROR(WriteBody(nest, keeps, Take::kNot));
    CloseLoop(v);
    w_.Close("}");
  }
  w_.Open(steps);
  w_.Open(lanes);
  if (ordered) {
    for (NodeId n : turned) {
      w_.Define(n, absl::StrCat("rdg_y", n, "[rdg_j][rdg_l]"));
    }
    for (const Fold& f : nest.folds) {
      RIDGE_RETURN_IF_ERROR(w_.Emit(FoldValues(f)));
      RIDGE_RETURN_IF_ERROR(FoldLane(f, FoldValues(f)));
    }
    w_.Close("}");
  } else {
    point();
    RIDGE_RETURN_IF_ERROR(WriteBody(nest, keeps, Take::kLane));
    CloseLoop(v);
  }
  for (const Fold& f : nest.folds) {
    if (!f.simple) w_.Line(absl::StrCat("rdg_full", f.any, " = true;"));
  }
  w_.Close("}");
  for (const Fold& f : nest.folds) {
    if (!open_lanes_.contains(f.any)) RIDGE_RETURN_IF_ERROR(CloseLanes(f));
  }
  w_.Close("}");
  OpenLoop(v, "rdg_w", Hi(v));
  RIDGE_RETURN_IF_ERROR(WriteBody(nest, keeps, Take::kAtOnce));
  CloseLoop(v);
  w_.Close("}");
  return absl::OkStatus();
}

}  // namespace ridge
