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
// Where a condition divides the points into pieces (cases.h), each vector runs
// the text of its own. Where something is read again far apart (repeats.h),
// blocks run in another order than their points. With a table (table.h) a first
// launch fills it in global memory; then blocks copy it to shared memory and
// walk over both parts.

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/common.h"
#include "backends/kernel/schedules/cases.h"
#include "backends/kernel/schedules/loop.h"
#include "backends/kernel/schedules/table.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// Loads outside of reductions, with how lanes see them.
struct LaneLoad {
  NodeId node;
  LaneAccess access;
  IndexId base;
};

// Declares the table's value, looked up. `bits` is the text of the index value
// in storage, where the caller has that at hand.
absl::Status EmitLookup(const Table& table, absl::string_view bits,
                        BodyWriter* w) {
  const Node& from = w->kernel().nodes[table.from];
  std::string index(bits);
  if (index.empty()) {
    RIDGE_RETURN_IF_ERROR(w->Emit(table.from));
    index = StoreText(from.type, w->Name(table.from));
  }
  const ElementType type = w->kernel().nodes[table.value].type;
  const std::string name = absl::StrCat("n", table.value);
  w->Line(absl::StrCat(
      "const ", CarryType(type), " ", name, " = ",
      LoadText(type, absl::StrCat("table[(uint", Info(from.type).bits, "_t)(",
                                  index, ")]")),
      ";"));
  w->Define(table.value, name);
  return absl::OkStatus();
}

// Variables of a vector's points, in order: the vector and the lane.
constexpr int64_t kLane = 1;
void BindVector(uint64_t mask, const LoopGeometry& g, BodyWriter* w) {
  IndexId t = w->NewVar("t", g.points / g.vector);
  IndexId j = w->NewVar("j", g.vector);
  BindOver(w, mask, w->pool().Add(w->pool().Mul(t, g.vector), j));
}

// All vectors of a thread; `t0` is in scope, the number of its first one.
absl::Status EmitVectors(const Kernel& kernel, const std::vector<Store>& stores,
                         const LoopGeometry& g, const Table& table,
                         BodyWriter* w) {
  const std::string& index = w->index_type();
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
    // Indices that are loaded themselves (a gather's rows) are the same for all
    // lanes where the access is a vector.
    const bool is_uniform =
        node.guard < 0 || (UniformAlong(w, node.guard, kLane, g.vector) &&
                           !w->pool().HasDynamic(node.offset));
    if (access == LaneAccess::kVector && is_uniform) {
      vector_loads.push_back({n, access, base});
    }
  }

  // What only loads ask for is computed in front of them and nowhere else.
  auto at_hand = [&](NodeId n) {
    return inside_reduce(n) ||
           std::any_of(vector_loads.begin(), vector_loads.end(),
                       [&](const LaneLoad& load) { return load.node == n; });
  };

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
      const auto& indices = w->pool().DynamicNodes(node.offset);
      if (!indices.empty()) {
        w->Open("{");
        w->Line("__builtin_assume(t >= 0);");
        for (int32_t d : indices) RIDGE_RETURN_IF_ERROR(w->Emit(d));
      }
      w->Line(absl::StrCat(
          guard, "a", load.node, "[u] = ",
          g.stream && IsReadOnce(kernel, stores.front().vars, load.node)
              ? "rdg_stream_load<"
              : "rdg_load_vec<",
          StorageType(kernel.buffers[node.buffer].shape.type()), ", ", g.vector,
          ">(", w->BufferName(node.buffer), " + (", w->Text(load.base), "));"));
      if (!indices.empty()) w->Close();
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
  for (NodeId n : w->Needs(roots, at_hand)) {
    if ((w->Varies(n) & BodyWriter::Bit(kLane)) == 0) shared.push_back(n);
  }
  if (g.vector > 1) {
    RIDGE_RETURN_IF_ERROR(w->Emit(shared));
    for (NodeId n : w->Divisors(w->Needs(roots, at_hand), [&](NodeId n) {
           return (w->Varies(n) & BodyWriter::Bit(kLane)) != 0;
         })) {
      RIDGE_RETURN_IF_ERROR(w->EmitReciprocal(n));
    }
  }

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
  if (g.table) {
    const bool raw = std::any_of(
        vector_loads.begin(), vector_loads.end(),
        [&](const LaneLoad& load) { return load.node == table.from; });
    RIDGE_RETURN_IF_ERROR(EmitLookup(
        table, raw ? absl::StrCat("a", table.from, "[u].x[j]") : "", w));
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
    w->Line(absl::StrCat(g.stream ? "rdg_stream_store(" : "rdg_store_vec(",
                         w->BufferName(stores[s].buffer), " + (",
                         w->Text(*store_base[s]), "), s", s, ");"));
  }
  w->Close();
  return absl::OkStatus();
}

// The same, each vector in the case that it is in. Kernels of several pieces
// are split this often.
constexpr int kMostSplits = 2;
absl::Status EmitByCase(const Kernel& kernel, const std::vector<Store>& stores,
                        uint64_t mask, const LoopGeometry& g, int splits,
                        BodyWriter* w) {
  std::optional<Cases> cases;
  if (splits < kMostSplits && g.vector > 1 &&
      stores.size() == kernel.stores.size()) {
    cases = SplitCases(
        kernel, [&](NodeId n) { return UniformAlong(w, n, kLane, g.vector); });
  }
  if (!cases.has_value()) return EmitVectors(kernel, stores, g, Table(), w);
  const std::string& index = w->index_type();
  w->Line("#pragma unroll");
  w->Open(absl::StrCat("for (int v = 0; v < ", g.unroll, "; ++v) {"));
  w->Line(absl::StrCat("const ", index, " t = t0 + v * ", g.threads, ";"));
  w->Line("__builtin_assume(t >= 0);");
  w->Line("bool holds;");
  w->Open("{");
  w->Line("const int j = 0;");
  RIDGE_RETURN_IF_ERROR(w->Emit(cases->condition));
  w->Line(absl::StrCat("holds = ", w->Name(cases->condition), ";"));
  w->Close();
  LoopGeometry one = g;
  one.unroll = 1;
  for (bool holds : {true, false}) {
    const Kernel& in_case = holds ? cases->holds : cases->fails;
    BodyWriter body(in_case, Dialect::kCuda);
    BindVector(mask, g, &body);
    w->Open(holds ? "if (holds) {" : "else {");
    body.set_indent(w->indent());
    w->Line(absl::StrCat("const ", index, " t0 = t;"));
    RIDGE_RETURN_IF_ERROR(
        EmitByCase(in_case, in_case.stores, mask, one, splits + 1, &body));
    w->Append(body.TakeText());
    w->Close();
  }
  w->Close();
  return absl::OkStatus();
}

// The block whose points block number `at` computes.
std::string BlockText(const LoopGeometry& g, absl::string_view at) {
  const int64_t count = g.meeting.count;
  if (count == 1) return std::string(at);
  const int64_t between = g.meeting.points / (g.threads * g.unroll * g.vector);
  const int64_t run = count * between;
  std::string text = absl::StrCat(at, " % ", count, " * ", between, " + ", at);
  if (run == g.full_blocks) return absl::StrCat(text, " / ", count);
  return absl::StrCat(text, " % ", run, " / ", count, " + ", at, " / ", run,
                      " * ", run);
}

absl::Status EmitVectorPart(const Kernel& kernel,
                            const std::vector<Store>& stores, uint64_t mask,
                            const LoopGeometry& g, const Table& table,
                            BodyWriter* w) {
  BindVector(mask, g, w);
  const std::string& index = w->index_type();
  w->Open(g.table ? absl::StrCat("for (int64_t block = blockIdx.x; block < ",
                                 g.full_blocks, "; block += gridDim.x) {")
                  : absl::StrCat("if (blockIdx.x < ", g.full_blocks, ") {"));
  std::string block = g.table ? "block" : "blockIdx.x";
  if (g.meeting.count > 1) {
    w->Line(absl::StrCat("// ", g.meeting.count, " blocks that read the same, ",
                         g.meeting.points, " points apart, side by side."));
    w->Line(absl::StrCat("const ", g.table ? "int64_t" : "unsigned",
                         " met = ", BlockText(g, block), ";"));
    block = "met";
  }
  w->Line(absl::StrCat("const ", index, " t0 = (", index, ")", block, " * ",
                       g.threads * g.unroll, " + threadIdx.x;"));
  w->Line("__builtin_assume(t0 >= 0);");
  RIDGE_RETURN_IF_ERROR(g.table ? EmitVectors(kernel, stores, g, table, w)
                                : EmitByCase(kernel, stores, mask, g, 0, w));
  if (!g.table) w->Line("return;");
  w->Close();
  return absl::OkStatus();
}

absl::Status EmitTail(const std::vector<Store>& stores, uint64_t mask,
                      const LoopGeometry& g, const Table& table,
                      BodyWriter* w) {
  IndexId e = w->NewVar("e", g.points);
  BindOver(w, mask, e);
  const std::string& index = w->index_type();
  int64_t start = g.full_blocks * g.threads * g.unroll * g.vector;
  // Without a table, the blocks that have no vectors.
  const std::string block =
      g.table ? "blockIdx.x"
              : absl::StrCat("(blockIdx.x - ", g.full_blocks, ")");
  const std::string step =
      g.table ? absl::StrCat("(", index, ")gridDim.x * ", g.threads)
              : absl::StrCat(std::max<int64_t>(1, g.tail_blocks) * g.threads);
  w->Open(absl::StrCat("for (", index, " e = ", start, " + (", index, ")",
                       block, " * ", g.threads, " + threadIdx.x; e < ",
                       g.points, "; e += ", step, ") {"));
  w->Line("__builtin_assume(e >= 0);");
  if (g.table) RIDGE_RETURN_IF_ERROR(EmitLookup(table, "", w));
  for (const Store& s : stores) RIDGE_RETURN_IF_ERROR(w->EmitStore(s));
  w->Close();
  return absl::OkStatus();
}

// The kernel <name>_table, an entry a thread, and the copy of its result to
// shared memory; both go in front of the walk.
absl::Status AddTable(const Kernel& kernel, const Table& table,
                      absl::string_view parameters, std::string* functions,
                      std::string* copy, EmittedKernel* emitted) {
  constexpr int64_t kThreads = 256;
  const Node& from = kernel.nodes[table.from];
  const Node& value = kernel.nodes[table.value];
  BodyWriter w(kernel, Dialect::kCuda);
  w.Line(
      absl::StrCat("const int i = blockIdx.x * ", kThreads, " + threadIdx.x;"));
  const std::string name = absl::StrCat("n", table.from);
  w.Line(absl::StrCat(
      "const ", CarryType(from.type), " ", name, " = ",
      LoadText(from.type, absl::StrCat("(", StorageType(from.type), ")i")),
      ";"));
  w.Define(table.from, name);
  RIDGE_RETURN_IF_ERROR(w.Emit(table.value));
  w.Line(absl::StrCat("p0[i] = ", StoreText(value.type, w.Name(table.value)),
                      ";"));
  Launch launch;
  launch.function = absl::StrCat(kernel.name, "_table");
  launch.grid = table.entries / kThreads;
  launch.block = kThreads;
  absl::StrAppend(functions, "\nextern \"C\" __global__ void ",
                  "__launch_bounds__(", kThreads, ") ", launch.function, "(",
                  parameters, ") {\n", w.TakeText(), "}\n");
  emitted->launches.push_back(std::move(launch));
  emitted->scratch_bytes.push_back(table.bytes);
  *copy = absl::StrCat(
      "  extern __shared__ __align__(16) ", StorageType(value.type),
      " table[];\n  for (int i = threadIdx.x; i < ", table.bytes / 16,
      "; i += blockDim.x) ((uint4*)table)[i] = ((const uint4*)p0)[i];\n",
      "  __syncthreads();\n");
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
    Table table;
    if (g.table) table = FindTable(kernel, device);
    {
      BodyWriter w(kernel, Dialect::kCuda);
      parameters = w.ParameterText("__restrict__");
      if (g.table) {
        absl::StrAppend(&parameters, ", ",
                        StorageType(kernel.nodes[table.value].type), "* p0");
        RIDGE_RETURN_IF_ERROR(
            AddTable(kernel, table, parameters, &functions, &body, &emitted));
      }
      if (helpers.empty()) {
        RIDGE_ASSIGN_OR_RETURN(helpers, w.FunctionsText());
      }
      if (g.full_blocks > 0) {
        RIDGE_RETURN_IF_ERROR(
            EmitVectorPart(kernel, stores, mask, g, table, &w));
        body += w.TakeText();
      }
    }
    if (g.tail_blocks > 0) {
      BodyWriter w(kernel, Dialect::kCuda);
      RIDGE_RETURN_IF_ERROR(EmitTail(stores, mask, g, table, &w));
      body += w.TakeText();
    }
    absl::StrAppend(&functions, "\nextern \"C\" __global__ void ",
                    "__launch_bounds__(", g.threads, ") ", name, "(",
                    parameters, ") {\n", body, "}\n");
    Launch launch;
    launch.function = name;
    launch.grid = g.full_blocks + g.tail_blocks;
    launch.block = static_cast<int>(g.threads);
    launch.resident = g.table;
    launch.shared_bytes = table.bytes;
    emitted.launches.push_back(std::move(launch));
  }
  emitted.source = absl::StrCat(FilePrelude(), helpers, functions);
  return emitted;
}

}  // namespace ridge::cuda
