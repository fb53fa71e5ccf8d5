// Folds of several kinds in one pass. The unit's rows, its columns c0 to c1:
//
//   for each point of the variable outside:          (walk)
//     for each row of the chunk:                     (split)
//       for each block of the row's elements:
//         compute and store them; the values that are folded to a block
//         row folds take the block as one, the other folds element by element
//
// Folds over the walk have accumulators for every row of the chunk, those over
// the chunk for one row.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/fold_text.h"
#include "backends/cpu/stage_writer.h"
#include "hlo/base/status_macros.h"

namespace ridge {

StageWriter::Way StageWriter::WayOf(const Fold& f) const {
  const bool split = ((f.reduced >> stage_.split) & 1) != 0;
  const bool walk = stage_.walk >= 0 && ((f.reduced >> stage_.walk) & 1) != 0;
  return split ? (walk ? Way::kBoth : Way::kSplit)
               : (walk ? Way::kWalk : Way::kRow);
}

std::string StageWriter::BoxArray(const Fold& f) const {
  return absl::StrCat("rdg_q", f.any, ".p");
}

std::string StageWriter::StartBox(const Fold& f,
                                  const std::string& count) const {
  return absl::StrCat(
      "for (int64_t rdg_k = 0; rdg_k < ", count, "; ++rdg_k) ", BoxArray(f),
      "[rdg_k] = ", FoldIdentity(Simple(f), FoldElement(f)), ";");
}

absl::Status StageWriter::StoreBox(const Fold& f, const std::string& from) {
  const std::string v = absl::StrCat("v", kernel_.space_vars - 1);
  const std::string value =
      absl::StrCat(BoxArray(f), "[", from, v, " - rdg_c0]");
  const std::string columns = absl::StrCat(
      "for (", index_, " ", v, " = rdg_c0; ", v, " < rdg_c1; ++", v, ") ");
  if (IsPartial(stage_, f)) {
    w_.Line(absl::StrCat(columns, "rdg_p", f.any, "[",
                         PartialAt("rdg_chunk", f), "] = ", value, ";"));
    return absl::OkStatus();
  }
  RIDGE_ASSIGN_OR_RETURN(std::string result,
                         FoldResultText(Simple(f), FoldElement(f), value,
                                        w_.Name(FoldInits(f)[0])));
  w_.Line(absl::StrCat(columns, "rdg_m", f.any, "[", Linear(f.vars),
                       "] = ", result, ";"));
  return absl::OkStatus();
}

absl::Status StageWriter::WriteBox() {
  const int32_t minor = kernel_.space_vars - 1;
  const int64_t extent = kernel_.vars[minor].extent;
  const int64_t width =
      stage_.columns > 0 ? std::min(stage_.columns, extent) : extent;
  if (stage_.columns > 0) {
    w_.Line(absl::StrCat("const ", index_, " rdg_c0 = (", index_,
                         ")(rdg_block * ", width, ");"));
    w_.Line(absl::StrCat("const ", index_, " rdg_c1 = rdg_c0 + ", width, " < ",
                         extent, " ? rdg_c0 + ", width, " : ", extent, ";"));
  } else {
    w_.Line(
        absl::StrCat("const ", index_, " rdg_c0 = 0, rdg_c1 = ", extent, ";"));
  }
  Nest nest;
  nest.folds = stage_.folds;
  nest.stores = stage_.stores;
  const std::vector<NodeId> targets = NestTargets(nest);
  for (const Fold& f : stage_.folds) {
    RIDGE_RETURN_IF_ERROR(w_.Emit(FoldInits(f)));
    const Way way = WayOf(f);
    if (way == Way::kRow) continue;
    const int64_t count = width * (way == Way::kWalk ? stage_.chunk : 1);
    absl::StrAppend(&rows_, "  rdg_row<", FoldType(Simple(f), FoldElement(f)),
                    "> rdg_q", f.any, "(", count, ");\n");
    if (way != Way::kSplit) w_.Line(StartBox(f, absl::StrCat(count)));
  }
  RIDGE_RETURN_IF_ERROR(Hoist(targets));
  if (stage_.walk >= 0) {
    OpenLoop(stage_.walk, "0", Hi(stage_.walk));
    RIDGE_RETURN_IF_ERROR(Hoist(targets));
  }
  for (const Fold& f : stage_.folds) {
    if (WayOf(f) == Way::kSplit) w_.Line(StartBox(f, absl::StrCat(width)));
  }
  OpenLoop(stage_.split, "rdg_lo", "rdg_hi");
  RIDGE_RETURN_IF_ERROR(Hoist(targets));
  RIDGE_RETURN_IF_ERROR(WriteBoxRow(nest));
  CloseLoop(stage_.split);
  for (const Fold& f : stage_.folds) {
    if (WayOf(f) == Way::kSplit) RIDGE_RETURN_IF_ERROR(StoreBox(f, ""));
  }
  if (stage_.walk >= 0) CloseLoop(stage_.walk);
  for (const Fold& f : stage_.folds) {
    if (WayOf(f) == Way::kBoth) RIDGE_RETURN_IF_ERROR(StoreBox(f, ""));
    if (WayOf(f) != Way::kWalk) continue;
    OpenLoop(stage_.split, "rdg_lo", "rdg_hi");
    RIDGE_RETURN_IF_ERROR(
        StoreBox(f, absl::StrCat("(int64_t)(v", stage_.split, " - rdg_lo) * ",
                                 width, " + ")));
    CloseLoop(stage_.split);
  }
  return absl::OkStatus();
}

absl::Status StageWriter::WriteBoxRow(const Nest& nest) {
  const int32_t minor = kernel_.space_vars - 1;
  for (const Fold& f : nest.folds) {
    if (WayOf(f) == Way::kRow) RIDGE_RETURN_IF_ERROR(OpenFold(f));
  }
  w_.Open(absl::StrCat("for (", index_,
                       " rdg_i = rdg_c0; rdg_i < rdg_c1; rdg_i += RDG_BLOCK) "
                       "{"));
  w_.Line(absl::StrCat("const ", index_,
                       " rdg_e = rdg_i + RDG_BLOCK < rdg_c1 ? rdg_i + "
                       "RDG_BLOCK : rdg_c1;"));
  // Folds of one value share its block.
  std::vector<NodeId> values;
  for (const Fold& f : nest.folds) values.push_back(FoldValues(f)[0]);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  for (NodeId n : values) {
    w_.Line(absl::StrCat(CarryType(kernel_.nodes[n].type), " rdg_x", n,
                         "[RDG_BLOCK];"));
  }
  OpenLoop(minor, "rdg_i", "rdg_e");
  for (NodeId n : values) {
    RIDGE_RETURN_IF_ERROR(w_.Emit(n));
    w_.Line(
        absl::StrCat("rdg_x", n, "[v", minor, " - rdg_i] = ", w_.Name(n), ";"));
  }
  for (int32_t s : nest.stores) {
    RIDGE_RETURN_IF_ERROR(w_.EmitStore(kernel_.stores[s]));
  }
  CloseLoop(minor);
  for (const Fold& f : nest.folds) {
    const std::string block = absl::StrCat("rdg_x", FoldValues(f)[0]);
    if (WayOf(f) == Way::kRow) {
      RIDGE_ASSIGN_OR_RETURN(std::string text,
                             FoldBlockText(Simple(f), FoldElement(f), Acc(f, 0),
                                           block, "rdg_e - rdg_i"));
      w_.Line(text);
      continue;
    }
    std::string at = "rdg_i - rdg_c0";
    if (WayOf(f) == Way::kWalk) {
      const int64_t width =
          stage_.columns > 0
              ? std::min(stage_.columns, kernel_.vars[minor].extent)
              : kernel_.vars[minor].extent;
      at = absl::StrCat("(int64_t)(v", stage_.split, " - rdg_lo) * ", width,
                        " + ", at);
    }
    w_.Open("{");
    w_.Line(absl::StrCat(FoldType(Simple(f), FoldElement(f)),
                         "* __restrict rdg_a = ", BoxArray(f), " + (", at,
                         ");"));
    RIDGE_ASSIGN_OR_RETURN(
        std::string text,
        FoldCombineText(Simple(f), FoldElement(f), "rdg_a[rdg_k]",
                        absl::StrCat(block, "[rdg_k]")));
    w_.Line(
        absl::StrCat("for (int rdg_k = 0; rdg_k < (int)(rdg_e - rdg_i); "
                     "++rdg_k) rdg_a[rdg_k] = ",
                     text, ";"));
    w_.Close("}");
  }
  w_.Close("}");
  for (const Fold& f : nest.folds) {
    if (WayOf(f) == Way::kRow) RIDGE_RETURN_IF_ERROR(CloseFold(f));
  }
  return absl::OkStatus();
}

}  // namespace ridge
