#include "backends/cuda/emit/folds.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// A column's `warps` warps, one beside the other in a block that may hold
// several columns: their results.
absl::Status BlockFold(BodyWriter* w, const std::vector<Fold>& folds,
                       int64_t warps) {
  auto shared = [](size_t f, size_t p) { return absl::StrCat("w", f, "_", p); };
  for (size_t f = 0; f < folds.size(); ++f) {
    for (size_t p = 0; p < folds[f].values.size(); ++p) {
      w->Line(absl::StrCat("__shared__ ", folds[f].types[p], " ", shared(f, p),
                           "[", kFinishBlock / 32, "];"));
      w->Line(absl::StrCat("if (threadIdx.x % 32 == 0) ", shared(f, p),
                           "[threadIdx.x / 32] = ", folds[f].names[p], "[0];"));
    }
  }
  w->Line("__syncthreads();");
  for (size_t f = 0; f < folds.size(); ++f) {
    for (size_t p = 0; p < folds[f].values.size(); ++p) {
      w->Line(absl::StrCat(folds[f].names[p], "[0] = ", shared(f, p),
                           "[threadIdx.x / ", 32 * warps, " * ", warps,
                           " + threadIdx.x % ", warps, "];"));
    }
    RIDGE_RETURN_IF_ERROR(ShuffleFold(w, folds[f], warps));
  }
  return absl::OkStatus();
}

}  // namespace

Fold FoldAt(const BodyWriter& w, NodeId reduce) {
  const Kernel& kernel = w.kernel();
  const Node& node = kernel.nodes[reduce];
  Fold fold;
  fold.any = reduce;
  fold.nodes = w.FoldOf(reduce);
  const size_t parts = node.operands.size() / 2;
  fold.values.assign(node.operands.begin(), node.operands.begin() + parts);
  fold.inits.assign(node.operands.begin() + parts, node.operands.end());
  for (NodeId v : fold.values) {
    fold.types.emplace_back(CarryType(kernel.nodes[v].type));
  }
  const ScalarFunction& function = kernel.functions[node.function];
  fold.online = function.online;
  fold.simple = parts == 1 && function.simple.has_value() &&
                !IdentityText(*function.simple, node.type).empty();
  return fold;
}

absl::StatusOr<std::vector<Fold>> ColumnFolds(const Kernel& kernel,
                                              uint64_t reduced) {
  BodyWriter probe(kernel, Dialect::kCuda);
  std::vector<Fold> folds;
  std::set<NodeId> taken;
  for (NodeId n = 0; n < static_cast<NodeId>(kernel.nodes.size()); ++n) {
    const Node& node = kernel.nodes[n];
    if (node.kind != NodeKind::kReduce || node.reduced != reduced ||
        taken.count(n) != 0) {
      continue;
    }
    Fold fold = FoldAt(probe, n);
    taken.insert(fold.nodes.begin(), fold.nodes.end());
    for (size_t p = 0; p < fold.values.size(); ++p) {
      fold.names.push_back(absl::StrCat("acc", folds.size(), "_", p));
    }
    for (NodeId init : fold.inits) {
      if (!fold.simple && kernel.nodes[init].kind != NodeKind::kConst) {
        return absl::UnimplementedError(
            "column folds: an initial value that is no constant");
      }
    }
    fold.number = static_cast<int64_t>(folds.size());
    folds.push_back(std::move(fold));
  }
  return folds;
}

std::string FoldStart(const BodyWriter& w, const Fold& fold, size_t p) {
  const Node& node = w.kernel().nodes[fold.any];
  if (fold.simple) {
    return IdentityText(*w.kernel().functions[node.function].simple, node.type);
  }
  return w.Name(fold.inits[p]);
}

std::vector<std::string> Each(const Fold& fold, absl::string_view suffix) {
  std::vector<std::string> names;
  for (const std::string& n : fold.names) {
    names.push_back(absl::StrCat(n, suffix));
  }
  return names;
}

absl::Status ShuffleFold(BodyWriter* w, const Fold& fold, int64_t width) {
  if (width <= 1) return absl::OkStatus();
  w->Line("#pragma unroll");
  w->Open(absl::StrCat("for (int m = ", width / 2, "; m > 0; m /= 2) {"));
  std::vector<std::string> others;
  for (size_t p = 0; p < fold.values.size(); ++p) {
    others.push_back(absl::StrCat("other", p));
    w->Line(absl::StrCat("const ", fold.types[p], " ", others[p],
                         " = rdg_shuffle(", fold.names[p], "[0], m);"));
  }
  RIDGE_ASSIGN_OR_RETURN(
      std::string line,
      w->CombineStatement(fold.nodes, Each(fold, "[0]"), others));
  w->Line(line);
  w->Close();
  return absl::OkStatus();
}

absl::Status DefineResults(BodyWriter* w, const Fold& fold) {
  const Kernel& kernel = w->kernel();
  for (size_t p = 0; p < fold.values.size(); ++p) {
    const NodeId n = fold.nodes[p];
    if (n < 0) continue;
    const Node& node = kernel.nodes[n];
    std::string value = absl::StrCat(fold.names[p], "[0]");
    if (fold.simple) {
      // The fold began at its neutral element: the initial value counts once.
      RIDGE_ASSIGN_OR_RETURN(
          value, CombineText(*kernel.functions[node.function].simple, node.type,
                             w->Name(fold.inits[p]), value));
    }
    w->Line(absl::StrCat(
        "const ", CarryType(node.type), " n", n, " = ", value, ";  // ",
        node.origin == nullptr ? "fold" : std::string(node.origin->name())));
    w->Define(n, absl::StrCat("n", n));
  }
  return absl::OkStatus();
}

std::string ScratchParameters(const std::vector<Fold>& folds,
                              absl::string_view qualifier) {
  std::string text;
  for (const Fold& fold : folds) {
    for (size_t p = 0; p < fold.values.size(); ++p) {
      absl::StrAppend(&text, ", ", qualifier, fold.types[p], "* __restrict__ p",
                      fold.number, "_", p);
    }
  }
  return text;
}

std::vector<int64_t> ScratchBytes(const Kernel& kernel,
                                  const std::vector<Fold>& folds,
                                  int64_t shares, int64_t columns) {
  std::vector<int64_t> bytes;
  for (const Fold& f : folds) {
    for (NodeId v : f.values) {
      bytes.push_back(shares * columns * CarryBytes(kernel.nodes[v].type));
    }
  }
  return bytes;
}

absl::Status EmitFinishPart(BodyWriter* writer, const FinishGeometry& g,
                            const std::vector<Fold>& folds,
                            const std::vector<Store>& stores,
                            absl::string_view block) {
  const int64_t threads = g.Threads();
  BodyWriter& w = *writer;
  const std::string& index = w.index_type();
  IndexId c = w.NewVar("c", g.columns);
  BindOver(&w, g.kept, c);
  w.Line(absl::StrCat("const int lane = threadIdx.x % ", threads, ";"));
  w.Line(absl::StrCat("const ", index, " column = (", index, ")", block, " * ",
                      kFinishBlock / threads, " + threadIdx.x / ", threads,
                      ";"));
  w.Line(absl::StrCat("const ", index, " c = column < ", g.columns,
                      " ? column : ", g.columns - 1, ";"));
  w.Line("__builtin_assume(c >= 0);");
  for (const Fold& fold : folds) RIDGE_RETURN_IF_ERROR(w.Emit(fold.inits));
  for (const Fold& fold : folds) {
    for (size_t p = 0; p < fold.values.size(); ++p) {
      w.Line(absl::StrCat(fold.types[p], " ", fold.names[p], "[1] = {",
                          FoldStart(w, fold, p), "};"));
    }
  }
  w.Line("#pragma unroll 4");
  w.Open(absl::StrCat("for (int s = lane; s < ", g.shares, "; s += ", threads,
                      ") {"));
  for (const Fold& fold : folds) {
    std::vector<std::string> others;
    for (size_t p = 0; p < fold.values.size(); ++p) {
      others.push_back(absl::StrCat("p", fold.number, "_", p, "[(int64_t)s * ",
                                    g.columns, " + c]"));
    }
    RIDGE_ASSIGN_OR_RETURN(
        std::string line,
        w.CombineStatement(fold.nodes, Each(fold, "[0]"), others));
    w.Line(line);
  }
  w.Close();
  for (const Fold& fold : folds) {
    RIDGE_RETURN_IF_ERROR(
        ShuffleFold(&w, fold, std::min<int64_t>(threads, 32)));
  }
  if (threads > 32) RIDGE_RETURN_IF_ERROR(BlockFold(&w, folds, threads / 32));
  for (const Fold& fold : folds) {
    RIDGE_RETURN_IF_ERROR(DefineResults(&w, fold));
  }
  w.Open(absl::StrCat("if (lane == 0 && column < ", g.columns, ") {"));
  for (const Store& s : stores) RIDGE_RETURN_IF_ERROR(w.EmitStore(s));
  w.Close();
  return absl::OkStatus();
}

absl::StatusOr<std::string> EmitFinish(const Kernel& kernel,
                                       const FinishGeometry& g,
                                       const std::vector<Fold>& folds,
                                       const std::vector<Store>& stores) {
  BodyWriter w(kernel, Dialect::kCuda);
  RIDGE_RETURN_IF_ERROR(EmitFinishPart(&w, g, folds, stores, "blockIdx.x"));
  return absl::StrCat(
      "\nextern \"C\" __global__ void __launch_bounds__(", kFinishBlock, ") ",
      kernel.name, "_finish(", w.ParameterText("__restrict__"),
      ScratchParameters(folds, "const "), ") {\n", w.TakeText(), "}\n");
}

int64_t FinishGeometry::Blocks() const {
  return CeilDiv(columns, kFinishBlock / Threads());
}

Launch FinishLaunch(const Kernel& kernel, const FinishGeometry& g) {
  Launch launch;
  launch.function = absl::StrCat(kernel.name, "_finish");
  launch.grid = g.Blocks();
  launch.block = kFinishBlock;
  return launch;
}

}  // namespace ridge::cuda
