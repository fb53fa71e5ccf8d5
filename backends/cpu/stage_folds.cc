// Folds: over rows, over columns, and of partial results.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/fold_text.h"
#include "backends/cpu/stage_writer.h"
#include "hlo/base/status_macros.h"

namespace ridge {

std::string StageWriter::FoldTypeOf(NodeId n) const {
  const Node& node = kernel_.nodes[n];
  return FoldType(*kernel_.functions[node.function].simple, node.type);
}

int64_t StageWriter::ColumnBlocks() const {
  int64_t extent = kernel_.vars[kernel_.space_vars - 1].extent;
  if (stage_.kind == StageKind::kBox && stage_.columns == 0) return 1;
  return (extent + kColumnBlock - 1) / kColumnBlock;
}

std::vector<NodeId> StageWriter::FoldValues(const Fold& f) const {
  const Node& node = kernel_.nodes[f.any];
  return {node.operands.begin(),
          node.operands.begin() + node.operands.size() / 2};
}

std::vector<NodeId> StageWriter::FoldInits(const Fold& f) const {
  const Node& node = kernel_.nodes[f.any];
  return {node.operands.begin() + node.operands.size() / 2,
          node.operands.end()};
}

Opcode StageWriter::Simple(const Fold& f) const {
  return *kernel_.functions[kernel_.nodes[f.any].function].simple;
}

ElementType StageWriter::FoldElement(const Fold& f) const {
  return kernel_.nodes[f.any].type;
}

std::string StageWriter::Acc(const Fold& f, size_t r) const {
  return f.simple ? absl::StrCat("rdg_a", f.any)
                  : absl::StrCat("rdg_a", f.any, "_", r);
}

absl::Status StageWriter::FoldOne(const Fold& f,
                                  const std::vector<NodeId>& values,
                                  const std::string& at) {
  if (f.simple) {
    RIDGE_ASSIGN_OR_RETURN(
        std::string text,
        FoldCombineText(Simple(f), FoldElement(f), absl::StrCat(Acc(f, 0), at),
                        w_.Name(values[0])));
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

bool StageWriter::FitsLanes(const Nest& nest) const {
  if (stage_.kind != StageKind::kPoint || stage_.tile > 0 || stage_.partial) {
    return false;
  }
  bool simple = true;
  for (const Fold& f : nest.folds) {
    simple = simple && f.simple;
    for (NodeId n : FoldInits(f)) {
      if (IsComplex(kernel_.nodes[n].type)) return false;
    }
  }
  const std::vector<int32_t> vars = VarsOf(nest.vars);
  return !simple && !vars.empty() &&
         kernel_.vars[vars.back()].extent >=
             (Ordered(nest) ? kLanes * kRun : kLanes);
}

bool StageWriter::Ordered(const Nest& nest) const {
  for (const Fold& f : nest.folds) {
    if (f.simple) continue;
    const Node& node = kernel_.nodes[f.any];
    // What hlo/passes/moments.cc makes.
    if (!absl::StartsWith(kernel_.functions[node.function].name,
                          "combine_moments")) {
      return true;
    }
  }
  return false;
}

absl::Status StageWriter::CloseLanes(const Fold& f) {
  std::string text;
  if (f.simple) {
    RIDGE_ASSIGN_OR_RETURN(text, FoldPartialText(Simple(f), FoldElement(f),
                                                 Acc(f, 0), Lane(f, 0)));
    text = absl::StrCat(Acc(f, 0), " = ", text, ";");
  } else {
    std::vector<std::string> acc;
    std::vector<std::string> lanes;
    for (size_t r = 0; r < f.results.size(); ++r) {
      acc.push_back(Acc(f, r));
      lanes.push_back(Lane(f, r));
    }
    RIDGE_ASSIGN_OR_RETURN(text, w_.CombineStatement(f.results, acc, lanes));
    w_.Line(absl::StrCat("if (rdg_full", f.any, ")"));
  }
  w_.Line(absl::StrCat("for (int rdg_l = 0; rdg_l < ", kLanes, "; ++rdg_l) ",
                       text));
  return absl::OkStatus();
}

std::string StageWriter::Lane(const Fold& f, size_t r) const {
  return absl::StrCat("rdg_lane", f.any, "_", r, "[rdg_l]");
}

absl::Status StageWriter::FoldLane(const Fold& f,
                                   const std::vector<NodeId>& values) {
  if (f.simple) {
    RIDGE_ASSIGN_OR_RETURN(
        std::string text, FoldCombineText(Simple(f), FoldElement(f), Lane(f, 0),
                                          w_.Name(values[0])));
    w_.Line(absl::StrCat(Lane(f, 0), " = ", text, ";"));
    return absl::OkStatus();
  }
  std::vector<std::string> acc;
  std::vector<std::string> names;
  for (size_t r = 0; r < values.size(); ++r) {
    acc.push_back(absl::StrCat("rdg_o", f.any, "_", r));
    names.push_back(w_.Name(values[r]));
    w_.Line(absl::StrCat(CarryType(kernel_.nodes[values[r]].type), " ",
                         acc.back(), " = ", Lane(f, r), ";"));
  }
  RIDGE_ASSIGN_OR_RETURN(std::string text,
                         w_.CombineStatement(f.results, acc, names));
  w_.Line(text);
  for (size_t r = 0; r < values.size(); ++r) {
    // A lane begins with its first element: not every start changes nothing.
    w_.Line(absl::StrCat(Lane(f, r), " = rdg_full", f.any, " ? ", acc[r], " : ",
                         names[r], ";"));
  }
  return absl::OkStatus();
}

absl::Status StageWriter::OpenFold(const Fold& f) {
  std::vector<NodeId> inits = FoldInits(f);
  RIDGE_RETURN_IF_ERROR(w_.Emit(inits));
  for (size_t r = 0; r < inits.size(); ++r) {
    const std::string type =
        f.simple ? FoldType(Simple(f), FoldElement(f))
                 : std::string(CarryType(kernel_.nodes[inits[r]].type));
    const std::string start =
        f.simple ? FoldIdentity(Simple(f), FoldElement(f)) : w_.Name(inits[r]);
    w_.Line(absl::StrCat(type, " ", Acc(f, r), " = ", start, ";"));
    if (!InLanes(f)) continue;
    w_.Line(absl::StrCat(type, " rdg_lane", f.any, "_", r, "[", kLanes, "];"));
    w_.Line(absl::StrCat("for (int rdg_l = 0; rdg_l < ", kLanes, "; ++rdg_l) ",
                         Lane(f, r), " = ", start, ";"));
  }
  if (InLanes(f) && !f.simple) {
    w_.Line(absl::StrCat("bool rdg_full", f.any, " = false;"));
  }
  return absl::OkStatus();
}

absl::Status StageWriter::CloseFold(const Fold& f) {
  if (open_lanes_.contains(f.any)) RIDGE_RETURN_IF_ERROR(CloseLanes(f));
  if (IsPartial(stage_, f)) {
    w_.Line(absl::StrCat("rdg_p", f.any, "[", PartialAt("rdg_chunk", f),
                         "] = ", Acc(f, 0), ";"));
    return absl::OkStatus();
  }
  if (f.simple) {
    RIDGE_ASSIGN_OR_RETURN(std::string text,
                           FoldResultText(Simple(f), FoldElement(f), Acc(f, 0),
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
    w_.Line(
        absl::StrCat("rdg_m", n, "[", Linear(f.vars), "] = ", w_.Name(n), ";"));
  }
  return absl::OkStatus();
}

std::string StageWriter::PartialAt(const std::string& chunk,
                                   const Fold& f) const {
  return absl::StrCat(chunk, " * ", PointCount(kernel_, f.vars & live_), " + ",
                      Linear(f.vars));
}

absl::Status StageWriter::WriteColumns() {
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
      w_.Line(absl::StrCat(CarryType(kernel_.nodes[init].type), " ", Acc(f, r),
                           "[", kColumnBlock, "];"));
      w_.Line(
          absl::StrCat(column_loop, Acc(f, r), at, " = ", w_.Name(init), ";"));
    }
  }
  RIDGE_RETURN_IF_ERROR(Hoist(targets));
  std::vector<int32_t> vars = VarsOf(stage_.folds[0].reduced & live_);
  for (size_t k = 0; k + 1 < vars.size(); ++k) {
    OpenLoop(vars[k], Lo(vars[k]), Hi(vars[k]));
    RIDGE_RETURN_IF_ERROR(Hoist(targets));
  }
  RIDGE_RETURN_IF_ERROR(
      WriteColumnRows(vars.empty() ? -1 : vars.back(), minor, at));
  for (size_t k = vars.size(); k-- > 1;) CloseLoop(vars[k - 1]);
  for (const Fold& f : stage_.folds) {
    RIDGE_RETURN_IF_ERROR(CloseColumns(f, column_loop, at));
  }
  return absl::OkStatus();
}

absl::Status StageWriter::WriteColumnRows(int32_t row, int32_t minor,
                                          const std::string& at) {
  constexpr int kRows = 4;
  constexpr size_t kMostNodes = 40;  // of a body that is repeated
  Nest nest;
  nest.folds = stage_.folds;
  const std::vector<NodeId> targets = NestTargets(nest);
  auto fold = [&]() -> absl::Status {
    for (const Fold& f : stage_.folds) {
      std::vector<NodeId> values = FoldValues(f);
      RIDGE_RETURN_IF_ERROR(w_.Emit(values));
      RIDGE_RETURN_IF_ERROR(FoldOne(f, values, at));
    }
    return absl::OkStatus();
  };
  if (row < 0) {
    OpenLoop(minor, "rdg_c0", "rdg_c1");
    RIDGE_RETURN_IF_ERROR(fold());
    CloseLoop(minor);
    return absl::OkStatus();
  }
  w_.Line(absl::StrCat(index_, " rdg_r = ", Lo(row), ";"));
  const size_t nodes =
      w_.Needs(targets, [&](NodeId m) { return stored_.count(m) > 0; }).size();
  if (nodes <= kMostNodes) {
    w_.Open(absl::StrCat("for (; rdg_r + ", kRows, " <= ", Hi(row),
                         "; rdg_r += ", kRows, ") {"));
    OpenLoop(minor, "rdg_c0", "rdg_c1");
    for (int k = 0; k < kRows; ++k) {
      w_.Open("{");
      w_.Line(absl::StrCat("const ", index_, " v", row, " = rdg_r + ", k, ";"));
      bound_ |= Bit(row);
      DefineStored();
      RIDGE_RETURN_IF_ERROR(fold());
      CloseLoop(row);
    }
    CloseLoop(minor);
    w_.Close("}");
  }
  OpenLoop(row, "rdg_r", Hi(row));
  RIDGE_RETURN_IF_ERROR(Hoist(targets));
  OpenLoop(minor, "rdg_c0", "rdg_c1");
  RIDGE_RETURN_IF_ERROR(fold());
  CloseLoop(minor);
  CloseLoop(row);
  return absl::OkStatus();
}

absl::Status StageWriter::CloseColumns(const Fold& f,
                                       const std::string& column_loop,
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

absl::Status StageWriter::WriteCombine() {
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

}  // namespace ridge
