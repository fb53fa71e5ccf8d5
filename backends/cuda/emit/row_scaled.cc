// RowPasses: how elements are added to a fold. Sums of products with a factor
// of the row, folded before the factor is known; fused multiply-adds; maxima of
// pairs.
#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/row_passes.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {

// A block, or a cluster, takes one row at a time, or a warp each.
bool RowPasses::MayFoldAgain() const {
  return g_.block_rows == 1 || g_.row_threads == 32;
}

NodeId RowPasses::PairsOf(NodeId n) const {
  const Node& fold = kernel_.nodes[n];
  const std::optional<Opcode>& op = kernel_.functions[fold.function].simple;
  if (g_.vector % 2 != 0 || again_ || fold.operands.size() != 2 ||
      (op != Opcode::kMaximum && op != Opcode::kMinimum) ||
      fold.type != ElementType::kF32) {
    return -1;
  }
  const Node& value = kernel_.nodes[fold.operands[0]];
  if (value.kind != NodeKind::kOp || value.opcode != Opcode::kConvert) {
    return -1;
  }
  const NodeId load = value.operands[0];
  const bool in_vectors = held_.count(load) != 0 || streamed_.count(load) != 0;
  return in_vectors && kernel_.nodes[load].type == ElementType::kBF16 ? load
                                                                      : -1;
}

bool RowPasses::IsMaximum(const Fold& fold) const {
  return kernel_.functions[kernel_.nodes[fold.any].function].simple ==
         Opcode::kMaximum;
}

void RowPasses::DeclarePairs(const Fold& fold) {
  if (fold.pairs < 0) return;
  w_.Line(absl::StrCat("uint32_t m", fold.any, "[", g_.vector / 2, "];"));
  w_.Line("#pragma unroll");
  w_.Line(absl::StrCat(
      "for (int i = 0; i < ", g_.vector / 2, "; ++i) m", fold.any,
      "[i] = ", IsMaximum(fold) ? "0xff80ff80u" : "0x7f807f80u", ";"));
}

void RowPasses::AddPairs(const Fold& fold) {
  if (fold.pairs < 0) return;
  const bool of_row = held_.count(fold.pairs) != 0;
  const std::string vector = absl::StrCat(
      of_row ? "a" : "b", fold.pairs, of_row && g_.stages == 0 ? "[q]" : "");
  const std::string m = absl::StrCat("m", fold.any);
  w_.Line("#pragma unroll");
  w_.Line(absl::StrCat("for (int i = 0; i < ", g_.vector / 2, "; ++i) ", m,
                       "[i] = rdg_", IsMaximum(fold) ? "max" : "min",
                       "_bf16x2(", m, "[i], rdg_pair(", vector, ", i));"));
}

void RowPasses::TakePairs(const Fold& fold) {
  if (fold.pairs < 0) return;
  const std::string& acc = fold.names[0];
  const std::string m = absl::StrCat("m", fold.any, "[i]");
  w_.Line("#pragma unroll");
  w_.Open(absl::StrCat("for (int i = 0; i < ", g_.vector / 2, "; ++i) {"));
  w_.Line(absl::StrCat(acc, "[2 * i] = rdg_load_bf16((uint16_t)", m, ");"));
  w_.Line(absl::StrCat(acc, "[2 * i + 1] = rdg_load_bf16((uint16_t)(", m,
                       " >> 16));"));
  w_.Close();
}

std::vector<NodeId> RowPasses::FoldReads(NodeId n) const {
  const NodeId pairs = PairsOf(n);
  if (pairs >= 0) return {pairs};
  auto it = scaled_.find(n);
  if (it != scaled_.end() && !again_) return {it->second.term};
  if (std::optional<ProductTerm> product = ProductTermOf(kernel_, n)) {
    return {product->left, product->right};
  }
  const Node& node = kernel_.nodes[n];
  return {node.operands.begin(),
          node.operands.begin() + node.operands.size() / 2};
}

// acc = combine(acc, the element's value).
absl::StatusOr<std::string> RowPasses::AddElement(
    const Fold& fold, const std::vector<std::string>& acc) const {
  const std::vector<NodeId> reads = FoldReads(fold.any);
  if (reads.size() == 2 && acc.size() == 1) {
    const char* fused =
        kernel_.nodes[fold.any].type == ElementType::kF64 ? "fma" : "fmaf";
    return absl::StrCat(acc[0], " = ", fused, "(", w_.Name(reads[0]), ", ",
                        w_.Name(reads[1]), ", ", acc[0], ");");
  }
  std::vector<std::string> values;
  for (NodeId v : reads) values.push_back(w_.Name(v));
  return w_.CombineStatement(fold.nodes, acc, values);
}

absl::Status RowPasses::EmitScaled(int pass) {
  for (const auto& [n, sum] : scaled_) {
    if (pass_[n] != pass) continue;
    const Node& node = kernel_.nodes[n];
    Fold fold = FoldAt(w_, n);
    fold.names.push_back(absl::StrCat("acc", n));
    RIDGE_RETURN_IF_ERROR(EmitShared(sum.factors));
    RIDGE_RETURN_IF_ERROR(w_.Emit(fold.inits));
    std::string scaled = absl::StrCat(fold.names[0], "[0]");
    for (auto f = sum.factors.rbegin(); f != sum.factors.rend(); ++f) {
      scaled = absl::StrCat("(", scaled, " * ", w_.Name(*f), ")");
    }
    const std::string name = absl::StrCat("n", n);
    w_.Line(absl::StrCat(
        fold.types[0], " ", name, " = ", w_.Name(fold.inits[0]),
        sum.negative ? " - " : " + ", scaled, ";  // ",
        node.origin == nullptr ? "fold" : std::string(node.origin->name())));
    w_.Open(absl::StrCat("if (!rdg_isfinite(", name, ")) {"));
    RIDGE_RETURN_IF_ERROR(EmitAgain(fold, pass));
    w_.Line(absl::StrCat(name, " = ", w_.Name(fold.inits[0]), " + ",
                         fold.names[0], "[0];"));
    w_.Close();
    w_.Define(n, name);
  }
  return absl::OkStatus();
}

absl::Status RowPasses::EmitAgain(const Fold& fold, int pass) {
  again_ = true;
  ++meetings_;  // the first is over
  const std::vector<NodeId> roots = FoldReads(fold.any);
  RIDGE_RETURN_IF_ERROR(EmitShared(roots));
  RIDGE_RETURN_IF_ERROR(DeclareFolds({fold}));
  OpenChunks();
  OpenInside();
  RIDGE_RETURN_IF_ERROR(EmitElements(pass, roots, {fold}));
  CloseInside();
  w_.Close();
  RIDGE_RETURN_IF_ERROR(Combine({fold}));
  --meetings_;
  again_ = false;
  return absl::OkStatus();
}

}  // namespace ridge::cuda
