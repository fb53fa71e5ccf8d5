#include "backends/cuda/emit/column_folds.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// One column a block: its warps' results.
absl::Status BlockFold(BodyWriter* w, const Kernel& kernel,
                       const std::vector<ColumnFold>& folds, int64_t warps) {
  for (size_t f = 0; f < folds.size(); ++f) {
    for (size_t p = 0; p < folds[f].values.size(); ++p) {
      w->Line(absl::StrCat("__shared__ ", FoldType(kernel, folds[f], p), " w",
                           f, "_", p, "[", warps, "];"));
      w->Line(absl::StrCat(
          "if (threadIdx.x % 32 == 0) w", f, "_", p,
          "[threadIdx.x / 32] = ", absl::StrCat("acc", f, "_", p), "[0];"));
    }
  }
  w->Line("__syncthreads();");
  for (size_t f = 0; f < folds.size(); ++f) {
    for (size_t p = 0; p < folds[f].values.size(); ++p) {
      w->Line(absl::StrCat(absl::StrCat("acc", f, "_", p), "[0] = w", f, "_", p,
                           "[threadIdx.x % ", warps, "];"));
    }
    RIDGE_RETURN_IF_ERROR(ShuffleFold(w, kernel, folds[f], f, warps));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ColumnFold>> ColumnFolds(const Kernel& kernel,
                                                    uint64_t reduced) {
  BodyWriter probe(kernel, Dialect::kCuda);
  std::vector<ColumnFold> folds;
  std::set<NodeId> taken;
  for (NodeId n = 0; n < static_cast<NodeId>(kernel.nodes.size()); ++n) {
    const Node& node = kernel.nodes[n];
    if (node.kind != NodeKind::kReduce || node.reduced != reduced ||
        taken.count(n) != 0) {
      continue;
    }
    ColumnFold fold;
    fold.any = n;
    fold.nodes = probe.FoldOf(n);
    for (NodeId m : fold.nodes) {
      if (m >= 0) taken.insert(m);
    }
    const size_t parts = node.operands.size() / 2;
    fold.values.assign(node.operands.begin(), node.operands.begin() + parts);
    fold.inits.assign(node.operands.begin() + parts, node.operands.end());
    const ScalarFunction& function = kernel.functions[node.function];
    fold.simple = parts == 1 && function.simple.has_value() &&
                  !IdentityText(*function.simple, node.type).empty();
    for (NodeId init : fold.inits) {
      if (!fold.simple && kernel.nodes[init].kind != NodeKind::kConst) {
        return absl::UnimplementedError(
            "column folds: an initial value that is no constant");
      }
    }
    folds.push_back(std::move(fold));
  }
  return folds;
}

std::string FoldType(const Kernel& kernel, const ColumnFold& fold, size_t p) {
  return std::string(CarryType(kernel.nodes[fold.values[p]].type));
}

std::string FoldStart(const BodyWriter& w, const ColumnFold& fold, size_t p) {
  const Node& node = w.kernel().nodes[fold.any];
  if (fold.simple) {
    return IdentityText(*w.kernel().functions[node.function].simple, node.type);
  }
  return w.Name(fold.inits[p]);
}

std::vector<std::string> FoldNames(const ColumnFold& fold, size_t number,
                                   absl::string_view suffix) {
  std::vector<std::string> names;
  for (size_t p = 0; p < fold.values.size(); ++p) {
    names.push_back(absl::StrCat("acc", number, "_", p, suffix));
  }
  return names;
}

std::string ScratchParameters(const Kernel& kernel,
                              const std::vector<ColumnFold>& folds,
                              absl::string_view qualifier) {
  std::string text;
  for (size_t f = 0; f < folds.size(); ++f) {
    for (size_t p = 0; p < folds[f].values.size(); ++p) {
      absl::StrAppend(&text, ", ", qualifier, FoldType(kernel, folds[f], p),
                      "* __restrict__ p", f, "_", p);
    }
  }
  return text;
}

std::vector<int64_t> ScratchBytes(const Kernel& kernel,
                                  const std::vector<ColumnFold>& folds,
                                  int64_t shares, int64_t columns) {
  std::vector<int64_t> bytes;
  for (const ColumnFold& f : folds) {
    for (NodeId v : f.values) {
      const ElementType t = kernel.nodes[v].type;
      const int64_t width =
          Info(t).bits < 32 && IsFloat(t) ? 4 : StorageBytes(t);
      bytes.push_back(shares * columns * width);
    }
  }
  return bytes;
}

int64_t FinishThreads(int64_t columns, int64_t shares) {
  int64_t threads = 1;
  while (threads < kFinishBlock && threads * 8 < shares &&
         columns * threads * 2 <= 65536) {
    threads *= 2;
  }
  return threads;
}

void BindOver(BodyWriter* w, uint64_t mask, IndexId linear) {
  const Kernel& kernel = w->kernel();
  int64_t stride = 1;
  for (int64_t v = static_cast<int64_t>(kernel.vars.size()) - 1; v >= 0; --v) {
    if (((mask >> v) & 1) == 0) continue;
    const int64_t extent = kernel.vars[v].extent;
    w->Bind(v, w->pool().Mod(w->pool().FloorDiv(linear, stride), extent));
    stride *= extent;
  }
}

absl::Status ShuffleFold(BodyWriter* w, const Kernel& kernel,
                         const ColumnFold& fold, size_t number, int64_t width) {
  if (width <= 1) return absl::OkStatus();
  w->Line("#pragma unroll");
  w->Open(absl::StrCat("for (int m = ", width / 2, "; m > 0; m /= 2) {"));
  std::vector<std::string> others;
  for (size_t p = 0; p < fold.values.size(); ++p) {
    w->Line(absl::StrCat("const ", FoldType(kernel, fold, p), " other", p,
                         " = rdg_shuffle(", absl::StrCat("acc", number, "_", p),
                         "[0], m);"));
    others.push_back(absl::StrCat("other", p));
  }
  RIDGE_ASSIGN_OR_RETURN(
      std::string line,
      w->CombineStatement(fold.nodes, FoldNames(fold, number, "[0]"), others));
  w->Line(line);
  w->Close();
  return absl::OkStatus();
}

absl::StatusOr<std::string> EmitFinish(const Kernel& kernel,
                                       const FinishGeometry& g,
                                       const std::vector<ColumnFold>& folds,
                                       const std::vector<Store>& stores) {
  const int64_t threads = g.finish_threads;
  BodyWriter w(kernel, Dialect::kCuda);
  const std::string& index = w.index_type();
  IndexId c = w.NewVar("c", g.columns);
  BindOver(&w, g.kept, c);
  w.Line(absl::StrCat("const int lane = threadIdx.x % ", threads, ";"));
  w.Line(absl::StrCat("const ", index, " column = (", index, ")blockIdx.x * ",
                      kFinishBlock / threads, " + threadIdx.x / ", threads,
                      ";"));
  w.Line(absl::StrCat("const ", index, " c = column < ", g.columns,
                      " ? column : ", g.columns - 1, ";"));
  w.Line("__builtin_assume(c >= 0);");
  for (size_t f = 0; f < folds.size(); ++f) {
    RIDGE_RETURN_IF_ERROR(w.Emit(folds[f].inits));
  }
  for (size_t f = 0; f < folds.size(); ++f) {
    for (size_t p = 0; p < folds[f].values.size(); ++p) {
      w.Line(absl::StrCat(FoldType(kernel, folds[f], p), " ",
                          absl::StrCat("acc", f, "_", p), "[1] = {",
                          FoldStart(w, folds[f], p), "};"));
    }
  }
  w.Line("#pragma unroll 4");
  w.Open(absl::StrCat("for (int s = lane; s < ", g.shares, "; s += ", threads,
                      ") {"));
  for (size_t f = 0; f < folds.size(); ++f) {
    std::vector<std::string> others;
    for (size_t p = 0; p < folds[f].values.size(); ++p) {
      others.push_back(
          absl::StrCat("p", f, "_", p, "[(int64_t)s * ", g.columns, " + c]"));
    }
    RIDGE_ASSIGN_OR_RETURN(
        std::string line,
        w.CombineStatement(folds[f].nodes, FoldNames(folds[f], f, "[0]"),
                           others));
    w.Line(line);
  }
  w.Close();
  for (size_t f = 0; f < folds.size(); ++f) {
    RIDGE_RETURN_IF_ERROR(
        ShuffleFold(&w, kernel, folds[f], f, std::min<int64_t>(threads, 32)));
  }
  if (threads > 32)
    RIDGE_RETURN_IF_ERROR(BlockFold(&w, kernel, folds, threads / 32));
  for (size_t f = 0; f < folds.size(); ++f) {
    const ColumnFold& fold = folds[f];
    for (size_t p = 0; p < fold.values.size(); ++p) {
      NodeId n = fold.nodes[p];
      if (n < 0) continue;
      const Node& node = kernel.nodes[n];
      std::string value = absl::StrCat(absl::StrCat("acc", f, "_", p), "[0]");
      if (fold.simple) {
        RIDGE_ASSIGN_OR_RETURN(
            value, CombineText(*kernel.functions[node.function].simple,
                               node.type, w.Name(fold.inits[p]), value));
      }
      w.Line(absl::StrCat("const ", CarryType(node.type), " n", n, " = ", value,
                          ";"));
      w.Define(n, absl::StrCat("n", n));
    }
  }
  w.Open(absl::StrCat("if (lane == 0 && column < ", g.columns, ") {"));
  for (const Store& s : stores) RIDGE_RETURN_IF_ERROR(w.EmitStore(s));
  w.Close();
  return absl::StrCat(
      "\nextern \"C\" __global__ void __launch_bounds__(", kFinishBlock, ") ",
      kernel.name, "_finish(", w.ParameterText("__restrict__"),
      ScratchParameters(kernel, folds, "const "), ") {\n", w.TakeText(), "}\n");
}

Launch FinishLaunch(const Kernel& kernel, const FinishGeometry& g) {
  Launch launch;
  launch.function = absl::StrCat(kernel.name, "_finish");
  launch.grid = CeilDiv(g.columns, kFinishBlock / g.finish_threads);
  launch.block = kFinishBlock;
  return launch;
}

}  // namespace ridge::cuda
