#include "backends/cuda/driver/matmul_bench.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/driver/nvrtc.h"
#include "backends/cuda/driver/selftest_kernels.h"
#include "backends/cuda/driver/selftest_report.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

using Use = EpilogueFacts::Use;

// struct Check of kMatmulKernels, member for member.
struct CheckParams {
  DevicePtr acc, mag, c, d, bias, aux, expected, wrong, worst;
  int64_t ldc, ldd, stride_c, stride_d, aux_ld, aux_stride;
  double alpha, beta, sum_eps, round_eps, act_eps;
  int m, n, type_c, type_d, type_bias;
  int has_bias, activation, aux_use;
};

// Relative to the sum of the products' magnitudes. f32 sums of up to some
// thousand terms, in any order and with the tensor cores' truncation, stay
// well below 2^-17; TF32 rounds each factor by 2^-11; f8 products are summed
// in fewer bits.
double SumEps(const MatmulDesc& desc) {
  switch (desc.compute) {
    case MatmulCompute::kS32:
      return 0;
    case MatmulCompute::kF64:
      return std::ldexp(1.0, -46);
    case MatmulCompute::kTF32:
      return std::ldexp(1.5, -10);
    case MatmulCompute::kF32:
      return std::ldexp(1.0, IsF8(desc.a) ? -10 : -17);
  }
  return 0;
}

// A unit in the last place, relative; twice what rounding once can do.
double RoundEps(MatmulType type) {
  switch (type) {
    case MatmulType::kF64:
      return std::ldexp(1.0, -52);
    case MatmulType::kF32:
      return std::ldexp(1.0, -23);
    case MatmulType::kF16:
      return std::ldexp(1.0, -10);
    case MatmulType::kBF16:
      return std::ldexp(1.0, -7);
    default:
      return 0;
  }
}

// Which of check_product's activations an epilogue has.
int ActivationOf(MatmulEpilogue epilogue) {
  switch (epilogue) {
    case MatmulEpilogue::kRelu:
    case MatmulEpilogue::kBiasRelu:
    case MatmulEpilogue::kReluAux:
    case MatmulEpilogue::kBiasReluAux:
      return 1;
    case MatmulEpilogue::kGelu:
    case MatmulEpilogue::kBiasGelu:
    case MatmulEpilogue::kGeluAux:
    case MatmulEpilogue::kBiasGeluAux:
      return 2;
    case MatmulEpilogue::kDRelu:
    case MatmulEpilogue::kDReluBgrad:
      return 3;
    case MatmulEpilogue::kDGelu:
    case MatmulEpilogue::kDGeluBgrad:
      return 4;
    default:
      return 0;
  }
}

unsigned Blocks(int64_t size, int64_t block) {
  return static_cast<unsigned>((size + block - 1) / block);
}

}  // namespace

absl::StatusOr<std::unique_ptr<MatmulBench>> MatmulBench::Create(
    const Context& context) {
  RIDGE_ASSIGN_OR_RETURN(auto library, MatmulLibrary::Create(context));
  RIDGE_ASSIGN_OR_RETURN(Stream stream, Stream::Create(context));
  CompileRequest request;
  request.name = "matmul_selftest";
  request.source = kMatmulKernels;
  request.arch = context.facts().Arch();
  RIDGE_ASSIGN_OR_RETURN(CompiledKernel compiled,
                         Compile(request, &KernelCache()));
  RIDGE_ASSIGN_OR_RETURN(Module module, Module::Load(context, compiled.cubin));
  auto bench = std::unique_ptr<MatmulBench>(new MatmulBench(
      context, std::move(library), std::move(stream), std::move(module)));
  RIDGE_RETURN_IF_ERROR(bench->LoadFunctions());
  return bench;
}

absl::Status MatmulBench::LoadFunctions() {
  RIDGE_ASSIGN_OR_RETURN(fill_, module_.GetFunction("fill_random"));
  RIDGE_ASSIGN_OR_RETURN(reference_, module_.GetFunction("reference_product"));
  RIDGE_ASSIGN_OR_RETURN(check_, module_.GetFunction("check_product"));
  RIDGE_ASSIGN_OR_RETURN(sums_, module_.GetFunction("check_sums"));
  return absl::OkStatus();
}

absl::Status MatmulBench::FillRandom(DevicePtr to, MatmulType type,
                                     int64_t count, uint32_t seed) {
  LaunchConfig config;
  config.grid.x = 1024;
  config.block.x = 256;
  KernelArgs args;
  args.Add(to).Add(static_cast<int>(type)).Add(count).Add(seed);
  return fill_.Launch(config, args, stream_);
}

absl::StatusOr<std::vector<GraphNode>> MatmulBench::Nodes(MatmulPlan* plan,
                                                          int algo) {
  RIDGE_ASSIGN_OR_RETURN(Graph graph, Graph::Capture(stream_, [&] {
                           return plan->Run(algo, buffers_, stream_);
                         }));
  return graph.Nodes();
}
absl::StatusOr<double> MatmulBench::Micros(MatmulPlan* plan, int algo) {
  return MedianMicros(stream_, 10,
                      [&] { return plan->Run(algo, buffers_, stream_); });
}

absl::Status MatmulBench::Prepare(const MatmulDesc& desc, bool views) {
  const int64_t count_a =
      desc.batch * (desc.transpose_a ? desc.k : desc.m) * desc.Lda();
  const int64_t count_b =
      desc.batch * (desc.transpose_b ? desc.n : desc.k) * desc.Ldb();
  const int64_t count_c = desc.batch * desc.m * desc.Ldc();
  const int64_t count_d = desc.batch * desc.m * desc.Ldd();
  const int64_t count_acc = desc.batch * desc.m * desc.n;
  const int64_t count_bias = std::max(desc.m, desc.n);
  // The largest aux: GELU's values.
  aux_bytes_ =
      desc.batch * desc.m * ((desc.n + 127) / 128 * 128) * BytesOf(desc.d);
  const int64_t offset = views ? 1 : 0;  // elements
  const int element = BytesOf(desc.a);
  d_bytes_ = count_d * BytesOf(desc.d);

  ArenaLayout layout;
  const size_t a = layout.Reserve((count_a + 1) * element);
  const size_t b = layout.Reserve((count_b + 1) * element);
  const size_t c = layout.Reserve(count_c * BytesOf(desc.CType()));
  const size_t d = layout.Reserve(d_bytes_ + BytesOf(desc.d));
  const size_t bias = layout.Reserve(count_bias * 8);
  const size_t aux = layout.Reserve(aux_bytes_);
  const size_t acc = layout.Reserve(count_acc * sizeof(double));
  const size_t mag = layout.Reserve(count_acc * sizeof(float));
  const size_t expected = layout.Reserve(count_acc * sizeof(double));
  const size_t verdict = layout.Reserve(64);
  memory_ = DeviceBuffer();  // free the last ones first
  RIDGE_ASSIGN_OR_RETURN(memory_,
                         DeviceBuffer::Allocate(context_, layout.size()));
  const DevicePtr base = memory_.ptr();
  buffers_ = MatmulBuffers();
  buffers_.a = base + a + offset * element;
  buffers_.b = base + b + offset * element;
  buffers_.c = base + c;
  buffers_.d = base + d + offset * BytesOf(desc.d);
  buffers_.bias = base + bias;
  buffers_.aux = base + aux;
  acc_ = base + acc;
  mag_ = base + mag;
  expected_ = base + expected;
  verdict_ = base + verdict;

  RIDGE_RETURN_IF_ERROR(FillRandom(buffers_.a, desc.a, count_a, 11));
  RIDGE_RETURN_IF_ERROR(FillRandom(buffers_.b, desc.b, count_b, 22));
  RIDGE_RETURN_IF_ERROR(FillRandom(buffers_.c, desc.CType(), count_c, 33));
  LaunchConfig config;
  config.block = {32, 8, 1};
  config.grid = {Blocks(desc.n, 32), Blocks(desc.m, 8),
                 static_cast<unsigned>(desc.batch)};
  KernelArgs args;
  args.Add(buffers_.a).Add(buffers_.b);
  args.Add(static_cast<int>(desc.a)).Add(static_cast<int>(desc.b));
  args.Add(static_cast<int>(desc.m)).Add(static_cast<int>(desc.n));
  args.Add(static_cast<int>(desc.k));
  args.Add(desc.transpose_a ? int64_t{1} : desc.Lda());
  args.Add(desc.transpose_a ? desc.Lda() : int64_t{1});
  args.Add(desc.transpose_b ? int64_t{1} : desc.Ldb());
  args.Add(desc.transpose_b ? desc.Ldb() : int64_t{1});
  args.Add(desc.StrideA()).Add(desc.StrideB()).Add(acc_).Add(mag_);
  RIDGE_RETURN_IF_ERROR(reference_.Launch(config, args, stream_));
  return stream_.Synchronize();
}

absl::Status MatmulBench::CheckBiasGradient(const MatmulDesc& desc) {
  DevicePtr values = expected_;
  MatmulType type = MatmulType::kF64;
  int64_t outer = 1;
  int64_t inner = desc.n;
  int64_t terms = desc.m;
  // Relative to the sum of magnitudes: the terms carry the product's error and
  // perhaps a rounding to D's type.
  const bool coarse =
      desc.compute == MatmulCompute::kTF32 || BytesOf(desc.d) < 4;
  double eps = std::ldexp(1.0, coarse ? -7 : -14);
  if (desc.epilogue == MatmulEpilogue::kBgradA) {
    values = buffers_.a;
    type = desc.a;
    outer = desc.transpose_a ? 1 : desc.Lda();
    inner = desc.transpose_a ? desc.Lda() : 1;
    terms = desc.k;
  } else if (desc.epilogue == MatmulEpilogue::kBgradB) {
    values = buffers_.b;
    type = desc.b;
    outer = desc.transpose_b ? desc.Ldb() : 1;
    inner = desc.transpose_b ? 1 : desc.Ldb();
    terms = desc.k;
  }
  LaunchConfig config;
  config.block.x = 128;
  config.grid.x = Blocks(desc.BiasSize(), 128);
  KernelArgs args;
  args.Add(values).Add(static_cast<int>(type)).Add(outer).Add(inner);
  args.Add(static_cast<int>(desc.BiasSize())).Add(static_cast<int>(terms));
  args.Add(buffers_.bias).Add(static_cast<int>(desc.BiasType()));
  args.Add(eps).Add(RoundEps(desc.BiasType()));
  args.Add(verdict_ + 16).Add(verdict_ + 24 + 8);
  return sums_.Launch(config, args, stream_);
}

absl::StatusOr<Verdict> MatmulBench::Check(MatmulPlan* plan, int algo) {
  const MatmulDesc& desc = plan->desc();
  const EpilogueFacts& facts = FactsOf(desc.epilogue);
  RIDGE_RETURN_IF_ERROR(Poison(stream_, buffers_.d, d_bytes_));
  RIDGE_RETURN_IF_ERROR(Fill(stream_, verdict_, 64, 0));
  if (facts.bias == Use::kRead) {
    RIDGE_RETURN_IF_ERROR(FillRandom(buffers_.bias, desc.BiasType(),
                                     std::max(desc.m, desc.n), 44));
  } else {
    RIDGE_RETURN_IF_ERROR(
        Poison(stream_, buffers_.bias, std::max(desc.m, desc.n) * 8));
  }
  if (facts.aux == Use::kRead) {
    // Of random bytes as bits, all that matters is that they are mixed.
    const MatmulType type = facts.aux_is_bits ? MatmulType::kS8 : desc.d;
    RIDGE_RETURN_IF_ERROR(
        FillRandom(buffers_.aux, type, desc.AuxBytes() / BytesOf(type), 55));
  } else {
    RIDGE_RETURN_IF_ERROR(Poison(stream_, buffers_.aux, aux_bytes_));
  }
  RIDGE_RETURN_IF_ERROR(plan->Run(algo, buffers_, stream_));

  CheckParams p = {};
  p.acc = acc_;
  p.mag = mag_;
  p.c = buffers_.c;
  p.d = buffers_.d;
  p.bias = buffers_.bias;
  p.aux = buffers_.aux;
  p.expected = expected_;
  p.wrong = verdict_;
  p.worst = verdict_ + 24;
  p.ldc = desc.Ldc();
  p.ldd = desc.Ldd();
  p.stride_c = desc.StrideC();
  p.stride_d = desc.StrideD();
  p.aux_ld = desc.AuxLd();
  p.aux_stride = desc.AuxStride();
  p.alpha = desc.alpha;
  p.beta = desc.beta;
  p.sum_eps = SumEps(desc);
  const MatmulAlgo& chosen = plan->algos()[algo];
  if (chosen.reduction_scheme == 4) {  // parts are rounded to D's type
    p.sum_eps += chosen.split_k * RoundEps(desc.d);
  }
  p.round_eps = RoundEps(desc.d);
  // GELU may be computed with tanh.approx, which is good to 2^-11.
  p.act_eps = std::ldexp(1.0, -10);
  p.m = static_cast<int>(desc.m);
  p.n = static_cast<int>(desc.n);
  p.type_c = static_cast<int>(desc.CType());
  p.type_d = static_cast<int>(desc.d);
  p.type_bias = static_cast<int>(desc.BiasType());
  p.has_bias = facts.bias == Use::kRead ? 1 : 0;
  p.activation = ActivationOf(desc.epilogue);
  p.aux_use = static_cast<int>(facts.aux == Use::kNone      ? 0
                               : facts.aux == Use::kWritten ? 1
                                                            : 2);
  LaunchConfig config;
  config.block = {32, 8, 1};
  config.grid = {Blocks(desc.n, 32), Blocks(desc.m, 8),
                 static_cast<unsigned>(desc.batch)};
  KernelArgs args;
  args.Add(p);
  RIDGE_RETURN_IF_ERROR(check_.Launch(config, args, stream_));
  if (facts.bias == Use::kWritten) {
    RIDGE_RETURN_IF_ERROR(CheckBiasGradient(desc));
  }
  Verdict verdict;
  char raw[64];
  RIDGE_RETURN_IF_ERROR(CopyToHost(stream_, raw, verdict_, sizeof(raw)));
  RIDGE_RETURN_IF_ERROR(stream_.Synchronize());
  std::memcpy(verdict.wrong, raw, sizeof(verdict.wrong));
  std::memcpy(verdict.worst, raw + 24, sizeof(verdict.worst));
  return verdict;
}

}  // namespace ridge::cuda
