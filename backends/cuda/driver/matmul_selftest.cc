// The cuBLASLt part of device_selftest: every epilogue, several types, layouts
// and shapes, each compared with a plain kernel that sums in double.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/cuda/driver/cublaslt.h"
#include "backends/cuda/driver/library.h"
#include "backends/cuda/driver/matmul.h"
#include "backends/cuda/driver/matmul_bench.h"
#include "backends/cuda/driver/selftest_report.h"
#include "hlo/base/table.h"

namespace ridge::cuda {
namespace {

using Use = EpilogueFacts::Use;

std::string DescribeVerdict(const MatmulDesc& desc, const Verdict& verdict) {
  const EpilogueFacts& facts = FactsOf(desc.epilogue);
  const char* const kParts[] = {"D", "aux", "bias gradient"};
  const bool used[] = {true, facts.aux == Use::kWritten,
                       facts.bias == Use::kWritten};
  std::vector<std::string> parts;
  for (int i = 0; i < 3; ++i) {
    if (!used[i]) continue;
    parts.push_back(
        verdict.wrong[i] == 0
            ? absl::StrFormat("%s %.2g of tolerance", kParts[i],
                              verdict.worst[i])
            : absl::StrFormat("%s: %d values wrong, worst %.2g of tolerance",
                              kParts[i], verdict.wrong[i], verdict.worst[i]));
  }
  return absl::StrJoin(parts, ", ");
}

// "1 kernel", or all nodes by name where there are more: a fused epilogue is
// one kernel, perhaps with a reduction of split products.
std::string DescribeNodes(const std::vector<GraphNode>& nodes) {
  if (nodes.size() == 1) return "1 kernel";
  std::vector<std::string> names;
  for (const GraphNode& node : nodes) {
    switch (node.kind) {
      case GraphNode::Kind::kKernel:
        names.push_back(Truncate(node.kernel_name, 40));
        break;
      case GraphNode::Kind::kMemset:
        names.push_back("memset");
        break;
      default:
        names.push_back("other");
    }
  }
  return absl::StrCat(nodes.size(), " nodes (", absl::StrJoin(names, ", "),
                      ")");
}

// A product worth timing.
bool IsBig(const MatmulDesc& desc) { return desc.Flops() > 1e9; }

void RunCase(MatmulBench* bench, const MatmulDesc& desc,
             SelftestReport* report) {
  const std::string name = desc.ToString();
  absl::StatusOr<MatmulPlan> plan = bench->library().Plan(desc);
  if (absl::IsUnimplemented(plan.status())) {
    report->None(name, std::string(plan.status().message()));
    return;
  }
  if (!plan.ok()) {
    report->Fail(name, plan.status().ToString());
    return;
  }
  const absl::StatusOr<Verdict> verdict = bench->Check(&*plan, 0);
  if (!verdict.ok()) {
    report->Fail(name, verdict.status().ToString());
    return;
  }
  std::string detail = DescribeVerdict(desc, *verdict);
  const absl::StatusOr<std::vector<GraphNode>> nodes = bench->Nodes(&*plan, 0);
  absl::StrAppend(&detail, "; ",
                  nodes.ok() ? DescribeNodes(*nodes)
                             : "not capturable: " + nodes.status().ToString());
  if (IsBig(desc)) {
    const absl::StatusOr<double> micros = bench->Micros(&*plan, 0);
    if (micros.ok()) {
      absl::StrAppendFormat(&detail, "; %s, %.0f TFLOP/s", HumanMicros(*micros),
                            desc.Flops() / *micros * 1e-6);
    }
  }
  absl::StrAppend(&detail, "; ", plan->algos().size(), " algos");
  verdict->Good() ? report->Pass(name, detail) : report->Fail(name, detail);
}

// Checks every algorithm of the list, and says what timing them could win.
void RunAllAlgos(MatmulBench* bench, const MatmulDesc& desc,
                 SelftestReport* report) {
  const std::string name = absl::StrCat("all algos: ", desc.ToString());
  absl::StatusOr<MatmulPlan> plan = bench->library().Plan(desc);
  if (!plan.ok()) {
    report->None(name, plan.status().ToString());
    return;
  }
  // One that comes back from a database must do as well as the listed ones.
  const absl::StatusOr<LtAlgo> stored =
      MatmulAlgo::FromHex(plan->algos()[0].ToHex());
  const absl::StatusOr<int> again = plan->AddAlgo(*stored);
  if (!again.ok()) report->Fail(name, again.status().ToString());
  double first = 0;
  double best = 0;
  int best_index = 0;
  for (int i = 0; i < static_cast<int>(plan->algos().size()); ++i) {
    const absl::StatusOr<Verdict> verdict = bench->Check(&*plan, i);
    const absl::StatusOr<double> micros = bench->Micros(&*plan, i);
    if (!verdict.ok() || !micros.ok() || !verdict->Good()) {
      report->Fail(absl::StrCat(name, " #", i),
                   absl::StrCat(plan->algos()[i].ToString(), ": ",
                                verdict.ok() ? DescribeVerdict(desc, *verdict)
                                             : verdict.status().ToString()));
      return;
    }
    if (i == 0) first = *micros;
    if (i == 0 || *micros < best) {
      best = *micros;
      best_index = i;
    }
  }
  report->Pass(name, absl::StrFormat("%d right; first %s, best %s (#%d: %s)",
                                     plan->algos().size(), HumanMicros(first),
                                     HumanMicros(best), best_index,
                                     plan->algos()[best_index].ToString()));
}

struct Shape {
  int64_t batch, m, n, k;
  bool transpose_a, transpose_b;
};

MatmulDesc MakeDesc(const Shape& shape, MatmulType operands, MatmulType result,
                    MatmulCompute compute) {
  MatmulDesc desc;
  desc.batch = shape.batch;
  desc.m = shape.m;
  desc.n = shape.n;
  desc.k = shape.k;
  desc.transpose_a = shape.transpose_a;
  desc.transpose_b = shape.transpose_b;
  desc.a = desc.b = operands;
  desc.d = result;
  desc.compute = compute;
  return desc;
}

// Prepares once and runs the variants that share the operands.
void RunCases(MatmulBench* bench, const std::vector<MatmulDesc>& variants,
              bool views, SelftestReport* report) {
  const absl::Status prepared = bench->Prepare(variants[0], views);
  if (!prepared.ok()) {
    report->Fail(variants[0].ToString(), prepared.ToString());
    return;
  }
  for (const MatmulDesc& desc : variants) RunCase(bench, desc, report);
}

void RunEpilogues(MatmulBench* bench, SelftestReport* report) {
  const Shape shapes[] = {
      {1, 17, 24, 40, false, false},      // small, rows of 16 bytes
      {1, 17, 23, 31, false, false},      // small and odd
      {1, 2048, 4096, 1024, false, true}  // big, weights as [n, k]
  };
  struct Types {
    MatmulType operands;
    MatmulType result;
    MatmulCompute compute;
  };
  const Types types[] = {
      {MatmulType::kBF16, MatmulType::kBF16, MatmulCompute::kF32},
      {MatmulType::kBF16, MatmulType::kF32, MatmulCompute::kF32},
      {MatmulType::kF32, MatmulType::kF32, MatmulCompute::kTF32},
      {MatmulType::kF32, MatmulType::kF32, MatmulCompute::kF32},
  };
  for (const Types& t : types) {
    for (const Shape& shape : shapes) {
      std::vector<MatmulDesc> variants;
      for (const EpilogueFacts& facts : AllEpilogues()) {
        MatmulDesc desc = MakeDesc(shape, t.operands, t.result, t.compute);
        desc.epilogue = facts.epilogue;
        variants.push_back(desc);
      }
      RunCases(bench, variants, /*views=*/false, report);
    }
  }
}

void RunLayoutsAndTypes(MatmulBench* bench, SelftestReport* report) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      // Batched, with gaps between rows, a scaled C and a bias.
      MatmulDesc desc =
          MakeDesc({3, 72, 104, 56, transpose_a, transpose_b},
                   MatmulType::kBF16, MatmulType::kBF16, MatmulCompute::kF32);
      desc.lda = 80;
      desc.ldb = 112;
      desc.ldc = 120;
      desc.ldd = 128;
      MatmulDesc scaled = desc;
      scaled.alpha = 0.5;
      scaled.beta = -2;
      MatmulDesc with_bias = scaled;
      with_bias.epilogue = MatmulEpilogue::kBiasGelu;
      RunCases(bench, {desc, scaled, with_bias}, /*views=*/false, report);
    }
  }
  // Operands that start on odd elements: fault if the alignment is not heard.
  MatmulDesc view = MakeDesc({1, 128, 256, 64, false, true}, MatmulType::kBF16,
                             MatmulType::kBF16, MatmulCompute::kF32);
  view.align_a = view.align_b = view.align_d = 2;
  RunCases(bench, {view}, /*views=*/true, report);

  const Shape small = {2, 64, 96, 128, false, true};
  const Shape big = {1, 4096, 4096, 4096, false, true};
  for (const Shape& shape : {small, big}) {
    RunCases(bench,
             {MakeDesc(shape, MatmulType::kF16, MatmulType::kF16,
                       MatmulCompute::kF32)},
             false, report);
    MatmulDesc f8 = MakeDesc(shape, MatmulType::kF8E4M3, MatmulType::kBF16,
                             MatmulCompute::kF32);
    MatmulDesc f8_bias = f8;
    f8_bias.epilogue = MatmulEpilogue::kBias;
    RunCases(bench, {f8, f8_bias}, false, report);
    RunCases(bench,
             {MakeDesc(shape, MatmulType::kS8, MatmulType::kS32,
                       MatmulCompute::kS32)},
             false, report);
  }
  RunCases(bench,
           {MakeDesc(small, MatmulType::kF64, MatmulType::kF64,
                     MatmulCompute::kF64)},
           false, report);
}

void RunAlgoLists(MatmulBench* bench, SelftestReport* report) {
  const Shape shapes[] = {
      {1, 4096, 4096, 4096, false, false},
      {1, 16, 8192, 8192, false, true},  // a decoding step
      {1, 1000, 1000, 1000, false, false},
  };
  for (const Shape& shape : shapes) {
    MatmulDesc desc = MakeDesc(shape, MatmulType::kBF16, MatmulType::kBF16,
                               MatmulCompute::kF32);
    const absl::Status prepared = bench->Prepare(desc);
    if (!prepared.ok()) {
      report->Fail(desc.ToString(), prepared.ToString());
      continue;
    }
    RunAllAlgos(bench, desc, report);
    desc.epilogue = MatmulEpilogue::kBiasGelu;
    RunAllAlgos(bench, desc, report);
  }
}

}  // namespace

void RunMatmulSelftest(const Context& context, SelftestReport* report) {
  const absl::StatusOr<const CublasLtApi*> library = CublasLt();
  if (!library.ok()) {
    report->None("cuBLASLt", std::string(library.status().message()));
    return;
  }
  absl::StatusOr<std::unique_ptr<MatmulBench>> bench =
      MatmulBench::Create(context);
  if (!bench.ok()) {
    report->Fail("cuBLASLt", bench.status().ToString());
    return;
  }
  RunEpilogues(bench->get(), report);
  RunLayoutsAndTypes(bench->get(), report);
  RunAlgoLists(bench->get(), report);
}

}  // namespace ridge::cuda
