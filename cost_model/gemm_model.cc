#include "cost_model/gemm_model.h"

#include <algorithm>
#include <cmath>

#include "cost_model/roofline.h"

namespace ridge {
namespace {

// Output tiles of one block, and the share of the full matrix rate that they
// reach when every multiprocessor has one: small tiles re-read their operands
// more often. Shares derived from published cuBLAS sweeps on Hopper.
struct Tile {
  int64_t m;
  int64_t n;
  double share;
};
constexpr Tile kTiles[] = {{256, 128, 1.0}, {128, 256, 1.0}, {128, 128, 0.92},
                           {128, 64, 0.75}, {64, 128, 0.75}, {64, 64, 0.55},
                           {64, 32, 0.35},  {32, 64, 0.35},  {16, 64, 0.2}};
// Filling and draining a block's pipeline costs about this much of k.
constexpr double kPipelineK = 192;
// Splitting k spreads few tiles over the device, up to this many ways.
constexpr int64_t kMaxSplit = 16;

double MatrixTflops(const GemmStep& g, const DeviceDescription& d) {
  switch (g.a_type) {
    case ElementType::kBF16:
    case ElementType::kF16:
      return d.matrix_bf16_tflops().value();
    case ElementType::kF64:
      return d.matrix_f64_tflops().value();
    case ElementType::kF32:
      return d.matrix_f32_tflops().value();
    default:
      return Info(g.a_type).bits <= 8 ? d.matrix_fp8_tflops().value()
                                      : d.matrix_f32_tflops().value();
  }
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

Price PriceGemm(const GemmStep& g, const DeviceDescription& d,
                const PriceOptions& options) {
  Price p;
  double flops = 2.0 * g.batch * g.m * g.n * g.k;
  double rate = MatrixTflops(g, d) * 1e6;  // FLOP per microsecond
  double best = flops > 0 ? 1e30 : 0;
  for (const Tile& t : kTiles) {
    if (!d.is_gpu()) {
      best = flops / rate;
      break;
    }
    int64_t tiles = SaturatingMul(
        g.batch, SaturatingMul(CeilDiv(g.m, t.m), CeilDiv(g.n, t.n)));
    if (tiles == 0) break;
    int64_t split = std::clamp<int64_t>(
        d.multiprocessors() / tiles, 1,
        std::min(kMaxSplit, std::max<int64_t>(1, g.k / 256)));
    double waves =
        std::ceil(static_cast<double>(tiles) * split / d.multiprocessors());
    double k = static_cast<double>(g.k) / split + kPipelineK;
    double per_tile =
        2.0 * t.m * t.n * k / (rate * t.share / d.multiprocessors());
    best = std::min(best, waves * per_tile);
  }
  double d_bytes = 1.0 * g.batch * g.m * g.n * StorageBytes(g.d_type);
  double read = 1.0 * g.batch * g.m * g.k * StorageBytes(g.a_type) +
                1.0 * g.batch * g.n * g.k * StorageBytes(g.b_type);
  if (g.beta != 0) read += d_bytes;
  if (g.has_bias) read += 1.0 * g.n * StorageBytes(g.d_type);
  p.bytes_read = static_cast<int64_t>(read);
  p.bytes_written = static_cast<int64_t>(d_bytes);
  p.flops = static_cast<int64_t>(flops);
  p.resources.launches = 1;
  p.resources.blocks = d.multiprocessors();
  p.resources.threads_per_block = 256;

  double memory_read = read / d.dram_read_gbps().value() * 1e-3;
  double memory_write = d_bytes / d.dram_write_gbps().value() * 1e-3;
  double hidden = 1 - d.overlap().value();
  bool compute_bound = best > memory_read + memory_write;
  auto at = [&](Term t) -> double& { return p.terms_us[static_cast<int>(t)]; };
  at(Term::kTensorCore) = compute_bound ? best : best * hidden;
  at(Term::kDramRead) = compute_bound ? memory_read * hidden : memory_read;
  at(Term::kDramWrite) = compute_bound ? memory_write * hidden : memory_write;
  at(Term::kLaunch) = d.launch_us().value() + d.block_start_ns().value() * 1e-3;
  for (int t = 0; t < kTermCount; ++t) {
    if ((options.disabled_terms >> t) & 1) p.terms_us[t] = 0;
    p.us += p.terms_us[t];
    if (p.terms_us[t] > p.terms_us[static_cast<int>(p.bound)]) {
      p.bound = static_cast<Term>(t);
    }
  }
  return p;
}

}  // namespace ridge
