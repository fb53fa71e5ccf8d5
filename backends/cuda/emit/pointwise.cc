// The Loop schedule: every point of the space on its own, `vector` neighbours
// a thread at a time, `unroll` such vectors in flight. It also serves as the
// plain form of every other kernel: each output's points, with reductions as
// loops inside.
//
// Shape of the text:
//   if (blockIdx.x < FULL) {          // whole blocks: no bounds to check
//     load vectors for all u; for each u: compute lanes, store a vector
//   } else {                          // the rest, one element at a time
//   }

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/common.h"
#include "backends/kernel/schedules/loop.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// Loads outside of reductions, with how lanes see them.
struct LaneLoad {
  NodeId node;
  LaneAccess access;
  IndexId base;
};

absl::Status EmitVectorPart(const Kernel& kernel,
                            const std::vector<Store>& stores, uint64_t mask,
                            const LoopGeometry& g, BodyWriter* w) {
  int64_t vectors = g.points / g.vector;
  IndexId t = w->NewVar("t", vectors);
  IndexId j = w->NewVar("j", g.vector);
  constexpr int64_t kLane = 1;
  BindOver(w, mask, w->pool().Add(w->pool().Mul(t, g.vector), j));

  std::vector<NodeId> roots;
  for (const Store& s : stores) {
    roots.push_back(s.value);
    if (s.guard >= 0) roots.push_back(s.guard);
    for (int32_t d : w->pool().DynamicNodes(s.offset)) roots.push_back(d);
  }
  std::vector<LaneLoad> vector_loads;
  auto inside_reduce = [&](NodeId n) {
    return kernel.nodes[n].kind == NodeKind::kReduce;
  };
  for (NodeId n : w->Needs(roots, inside_reduce)) {
    const Node& node = kernel.nodes[n];
    if (node.kind != NodeKind::kLoad || g.vector == 1) continue;
    IndexId base;
    LaneAccess access = AccessAlong(w, node.offset, kLane, g.vector, &base);
    bool free_of_needs =
        (node.guard < 0 || UniformAlong(w, node.guard, kLane, g.vector)) &&
        !w->pool().HasDynamic(node.offset);
    if (access == LaneAccess::kVector && free_of_needs) {
      vector_loads.push_back({n, access, base});
    }
  }

  const std::string& index = w->index_type();
  w->Open(absl::StrCat("if (blockIdx.x < ", g.full_blocks, ") {"));
  w->Line(absl::StrCat("const ", index, " t0 = (", index, ")blockIdx.x * ",
                       g.threads * g.unroll, " + threadIdx.x;"));
  w->Line("__builtin_assume(t0 >= 0);");
  for (const LaneLoad& load : vector_loads) {
    ElementType type =
        kernel.buffers[kernel.nodes[load.node].buffer].shape.type();
    w->Line(absl::StrCat(VecType(type, g.vector), " a", load.node, "[",
                         g.unroll, "];"));
  }
  if (!vector_loads.empty()) {
    w->Line("#pragma unroll");
    w->Open(absl::StrCat("for (int u = 0; u < ", g.unroll, "; ++u) {"));
    w->Line(absl::StrCat("const ", index, " t = t0 + u * ", g.threads, ";"));
    for (const LaneLoad& load : vector_loads) {
      const Node& node = kernel.nodes[load.node];
      std::string guard;
      if (node.guard >= 0) {
        w->Line(absl::StrCat("a", load.node, "[u] = {};"));
        w->Open("{");
        w->Line("const int j = 0;");
        RIDGE_RETURN_IF_ERROR(w->Emit(node.guard));
        guard = absl::StrCat("if (", w->Name(node.guard), ") ");
      }
      w->Line(absl::StrCat(
          guard, "a", load.node, "[u] = rdg_load_vec<",
          StorageType(kernel.buffers[node.buffer].shape.type()), ", ", g.vector,
          ">(", w->BufferName(node.buffer), " + (", w->Text(load.base), "));"));
      if (node.guard >= 0) w->Close();
    }
    w->Close();
  }
  w->Line("#pragma unroll");
  w->Open(absl::StrCat("for (int u = 0; u < ", g.unroll, "; ++u) {"));
  w->Line(absl::StrCat("const ", index, " t = t0 + u * ", g.threads, ";"));
  w->Line("__builtin_assume(t >= 0);");
  // What all lanes share, before the lanes: nodes whose users vary.
  std::vector<NodeId> shared;
  for (NodeId n : w->Needs(roots, inside_reduce)) {
    if ((w->Varies(n) & BodyWriter::Bit(kLane)) == 0) shared.push_back(n);
  }
  if (g.vector > 1) RIDGE_RETURN_IF_ERROR(w->Emit(shared));

  std::vector<std::optional<IndexId>> store_base(stores.size());
  for (size_t s = 0; s < stores.size(); ++s) {
    IndexId base;
    if (g.vector > 1 && stores[s].guard < 0 && stores[s].combine < 0 &&
        AccessAlong(w, stores[s].offset, kLane, g.vector, &base) ==
            LaneAccess::kVector) {
      store_base[s] = base;
      ElementType type = kernel.buffers[stores[s].buffer].shape.type();
      w->Line(absl::StrCat(VecType(type, g.vector), " s", s, ";"));
    }
  }
  if (g.vector > 1) {
    w->Line("#pragma unroll");
    w->Open(absl::StrCat("for (int j = 0; j < ", g.vector, "; ++j) {"));
  }
  for (const LaneLoad& load : vector_loads) {
    const Node& node = kernel.nodes[load.node];
    std::string name = absl::StrCat("n", load.node);
    w->Line(absl::StrCat(
        "const ", CarryType(node.type), " ", name, " = ",
        LoadText(node.type, absl::StrCat("a", load.node, "[u].x[j]")), ";"));
    w->Define(load.node, name);
  }
  for (size_t s = 0; s < stores.size(); ++s) {
    if (!store_base[s].has_value()) {
      RIDGE_RETURN_IF_ERROR(w->EmitStore(stores[s]));
      continue;
    }
    RIDGE_RETURN_IF_ERROR(w->EmitStoreNeeds(stores[s]));
    ElementType type = kernel.buffers[stores[s].buffer].shape.type();
    w->Line(absl::StrCat(
        "s", s, ".x[j] = ", StoreText(type, w->Name(stores[s].value)), ";"));
  }
  if (g.vector > 1) w->Close();
  for (size_t s = 0; s < stores.size(); ++s) {
    if (!store_base[s].has_value()) continue;
    w->Line(absl::StrCat("rdg_store_vec(", w->BufferName(stores[s].buffer),
                         " + (", w->Text(*store_base[s]), "), s", s, ");"));
  }
  w->Close();
  w->Line("return;");
  w->Close();
  return absl::OkStatus();
}

absl::Status EmitTail(const std::vector<Store>& stores, uint64_t mask,
                      const LoopGeometry& g, BodyWriter* w) {
  IndexId e = w->NewVar("e", g.points);
  BindOver(w, mask, e);
  const std::string& index = w->index_type();
  int64_t start = g.full_blocks * g.threads * g.unroll * g.vector;
  w->Open(absl::StrCat(
      "for (", index, " e = ", start, " + (", index, ")(blockIdx.x - ",
      g.full_blocks, ") * ", g.threads, " + threadIdx.x; e < ", g.points,
      "; e += ", std::max<int64_t>(1, g.tail_blocks) * g.threads, ") {"));
  w->Line("__builtin_assume(e >= 0);");
  for (const Store& s : stores) RIDGE_RETURN_IF_ERROR(w->EmitStore(s));
  w->Close();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EmittedKernel> EmitPointwise(const Kernel& kernel,
                                            const ScheduleChoice& choice,
                                            const DeviceLimits& device) {
  EmittedKernel emitted;
  emitted.choice.name = "loop";
  // Stores of one set of variables go together; the usual kernel has one.
  std::map<uint64_t, std::vector<Store>> sets;
  for (const Store& s : kernel.stores) sets[s.vars].push_back(s);
  std::string functions;
  std::string helpers;
  int number = 0;
  for (const auto& [mask, stores] : sets) {
    const LoopGeometry g = LoopGeometryOf(kernel, mask, choice, device);
    if (g.points == 0) continue;
    emitted.choice = ChoiceOf("loop", g);

    std::string name =
        number == 0 ? kernel.name : absl::StrCat(kernel.name, "_", number);
    ++number;
    std::string body;
    std::string parameters;
    {
      BodyWriter w(kernel, Dialect::kCuda);
      parameters = w.ParameterText("__restrict__");
      if (helpers.empty()) {
        RIDGE_ASSIGN_OR_RETURN(helpers, w.FunctionsText());
      }
      if (g.full_blocks > 0) {
        RIDGE_RETURN_IF_ERROR(EmitVectorPart(kernel, stores, mask, g, &w));
        body += w.TakeText();
      }
    }
    if (g.tail_blocks > 0) {
      BodyWriter w(kernel, Dialect::kCuda);
      RIDGE_RETURN_IF_ERROR(EmitTail(stores, mask, g, &w));
      body += w.TakeText();
    }
    absl::StrAppend(&functions, "\nextern \"C\" __global__ void ",
                    "__launch_bounds__(", g.threads, ") ", name, "(",
                    parameters, ") {\n", body, "}\n");
    Launch launch;
    launch.function = name;
    launch.grid = g.full_blocks + g.tail_blocks;
    launch.block = static_cast<int>(g.threads);
    emitted.launches.push_back(std::move(launch));
  }
  emitted.source = absl::StrCat(FilePrelude(), helpers, functions);
  return emitted;
}

}  // namespace ridge::cuda
