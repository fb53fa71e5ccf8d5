// RowPasses: what one pass does with the elements of a thread's chunk.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/row_passes.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {

const char kOnlineHelpers[] = R"cuda(
template <bool kLoose>
RDG_FN float rdg_online_exp(float x) {
  return kLoose ? rdg_loose_exp(x) : rdg_exp(x);
}
// N more elements for a maximum m and the sum s of exp(a - m). An m of -inf
// has no sum yet; one of +inf or NaN makes it NaN.
template <bool kLoose, int N>
RDG_FN void rdg_online(float& m, float& s, const float (&a)[N]) {
  float t[N];
#pragma unroll
  for (int j = 0; j < N; ++j) t[j] = a[j];
#pragma unroll
  for (int h = N / 2; h > 0; h /= 2) {
#pragma unroll
    for (int j = 0; j < h; ++j) t[j] = rdg_max(t[j], t[j + h]);
  }
  const float now = rdg_max(m, t[0]);
  const float base = now == rdg_f32(0xff800000u) ? 0.0f : now;
#pragma unroll
  for (int j = 0; j < N; ++j) t[j] = rdg_online_exp<kLoose>(a[j] - base);
#pragma unroll
  for (int h = N / 2; h > 0; h /= 2) {
#pragma unroll
    for (int j = 0; j < h; ++j) t[j] += t[j + h];
  }
  s = s * rdg_online_exp<kLoose>(m - base) + t[0];
  m = now;
}
)cuda";

absl::Status RowPasses::EmitElements(int pass, absl::Span<const NodeId> roots,
                                     const std::vector<Fold>& folds) {
  // Folded again, a sum reads everything anew and does nothing else.
  auto is_held = [&](NodeId n) { return !again_ && held_.count(n) != 0; };
  auto is_streamed = [&](NodeId n) {
    return streamed_.count(n) != 0 || (again_ && held_.count(n) != 0);
  };
  auto was_kept = [&](NodeId n) {
    return !again_ && kept_.count(n) != 0 && kept_pass_[n] < pass;
  };
  auto is_here = [&](const Store& s) {
    return !again_ && (s.vars & column_bit_) != 0 && StorePass(s) == pass;
  };
  auto stop = [&](NodeId n) { return IsFold(n) || was_kept(n); };
  std::vector<NodeId> needs = w_.Needs(roots, stop);
  for (NodeId n : needs) {
    if (g_.stages > 0 && is_held(n)) {
      w_.Line(absl::StrCat("const auto a", n, " = h", n, "[", RingPlace("slot"),
                           "];"));
      if (g_.stages == 1 && last_read_[n] == pass) Refill(n);
    }
    if (!is_streamed(n)) continue;
    std::string name = absl::StrCat("b", n);
    w_.Line(absl::StrCat(VectorType(n), " ", name, ";"));
    LoadVector(n, name);
  }
  // Values that lanes share but chunks do not.
  std::vector<NodeId> per_chunk;
  for (NodeId n : needs) {
    if ((w_.Varies(n) & BodyWriter::Bit(kLane)) == 0 && InLoop(n) &&
        !is_held(n) && !is_streamed(n)) {
      per_chunk.push_back(n);
    }
  }
  if (g_.vector > 1) RIDGE_RETURN_IF_ERROR(w_.Emit(per_chunk));
  std::vector<std::pair<const Store*, IndexId>> wide;
  for (const Store& s : stores_) {
    if (!is_here(s)) continue;
    IndexId base;
    if (g_.vector > 1 && s.guard < 0 && s.combine < 0 &&
        AccessAlong(&w_, s.offset, kLane, g_.vector, &base) ==
            LaneAccess::kVector) {
      ElementType type = kernel_.buffers[s.buffer].shape.type();
      w_.Line(
          Unpacked(s) >= 0
              ? absl::StrCat("float u", s.buffer, "[", g_.vector, "];")
              : absl::StrCat(VecType(type, g_.vector), " s", s.buffer, ";"));
      wide.emplace_back(&s, base);
    }
  }
  auto lanes_of = [](const Fold& fold) { return absl::StrCat("o", fold.any); };
  for (const Fold& fold : folds) {
    if (!fold.online) continue;
    w_.Line(absl::StrCat("float ", lanes_of(fold), "[", g_.vector, "];"));
  }
  bool needs_lanes = std::any_of(stores_.begin(), stores_.end(), is_here);
  for (const Fold& fold : columns_) {
    needs_lanes = needs_lanes || (!again_ && ColumnPass(fold) == pass);
  }
  for (const Fold& fold : folds) {
    AddPairs(fold);
    needs_lanes = needs_lanes || fold.pairs < 0;
  }
  if (!needs_lanes) return absl::OkStatus();
  w_.Line("#pragma unroll");
  w_.Open(absl::StrCat("for (int j = 0; j < ", g_.vector, "; ++j) {"));
  for (NodeId n : needs) {
    bool held = is_held(n);
    if (!held && !is_streamed(n)) continue;
    const Node& node = kernel_.nodes[n];
    std::string element =
        held ? absl::StrCat("a", n, g_.stages > 0 ? "" : "[q]", ".x[j]")
             : absl::StrCat("b", n, ".x[j]");
    w_.Line(absl::StrCat("const ", CarryType(node.type), " n", n, " = ",
                         LoadText(node.type, element), ";"));
    w_.Define(n, absl::StrCat("n", n));
  }
  for (NodeId n : kept_) {
    if (was_kept(n)) w_.Define(n, absl::StrCat("k", n, "[q][j]"));
  }
  RIDGE_RETURN_IF_ERROR(w_.Emit(roots));
  for (NodeId n : kept_) {
    if (!again_ && kept_pass_[n] == pass) {
      w_.Line(absl::StrCat("k", n, "[q][j] = ", w_.Name(n), ";"));
    }
  }
  for (const Fold& fold : folds) {
    if (fold.pairs >= 0) continue;
    if (fold.online) {
      w_.Line(
          absl::StrCat(lanes_of(fold), "[j] = ", w_.Name(fold.values[0]), ";"));
      continue;
    }
    RIDGE_ASSIGN_OR_RETURN(std::string line,
                           AddElement(fold, Each(fold, "[j]")));
    w_.Line(line);
  }
  for (size_t f = 0; f < columns_.size(); ++f) {
    const Fold& fold = columns_[f];
    if (again_ || ColumnPass(fold) != pass) continue;
    std::vector<std::string> acc;
    for (size_t p = 0; p < fold.values.size(); ++p) {
      acc.push_back(absl::StrCat("c", f, "_", p, "[q][j]"));
    }
    RIDGE_ASSIGN_OR_RETURN(std::string line, AddElement(fold, acc));
    w_.Line(line);
  }
  for (const Store& s : stores_) {
    if (!is_here(s)) continue;
    bool is_wide = std::any_of(wide.begin(), wide.end(),
                               [&](const auto& p) { return p.first == &s; });
    const NodeId unpacked = is_wide ? Unpacked(s) : -1;
    if (unpacked >= 0) {
      w_.Line(absl::StrCat("u", s.buffer, "[j] = ", w_.Name(unpacked), ";"));
      continue;
    }
    if (is_wide) {
      ElementType type = kernel_.buffers[s.buffer].shape.type();
      w_.Line(absl::StrCat("s", s.buffer,
                           ".x[j] = ", StoreText(type, w_.Name(s.value)), ";"));
      continue;
    }
    if (!RowGuard("").empty()) w_.Open("if (in_range) {");
    RIDGE_RETURN_IF_ERROR(w_.EmitStore(s));
    if (!RowGuard("").empty()) w_.Close();
  }
  w_.Close();
  for (const Fold& fold : folds) {
    if (!fold.online) continue;
    w_.Line(absl::StrCat(
        "rdg_online<", g_.columns >= kLongSum ? "true" : "false", ">(",
        fold.names[0], "[0], ", fold.names[1], "[0], ", lanes_of(fold), ");"));
  }
  for (const auto& [s, base] : wide) {
    w_.Line(absl::StrCat(RowGuard("").empty() ? "" : "if (in_range) ",
                         g_.stream ? "rdg_stream_store(" : "rdg_store_vec(",
                         w_.BufferName(s->buffer), " + (", w_.Text(base), "), ",
                         Unpacked(*s) >= 0
                             ? absl::StrCat("rdg_pack_bf16(u", s->buffer, ")")
                             : absl::StrCat("s", s->buffer),
                         ");"));
  }
  return absl::OkStatus();
}

}  // namespace ridge::cuda
