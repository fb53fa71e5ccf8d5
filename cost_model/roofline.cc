#include "cost_model/roofline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

constexpr const char* kTermNames[kTermCount] = {
    "launch",    "dram_read", "dram_write", "l2",          "fma",
    "special",   "integer",   "double",     "tensor_core", "shared",
    "tail_wave", "occupancy", "spill"};

// Half: the blocks of a wave end spread over about one block's time.
constexpr double kTailShare = 0.5;

// As the schedule counts them: the given one, or where it cannot serve the
// kernel the one that runs instead.
absl::StatusOr<Resources> ResourcesOf(const Kernel& kernel,
                                      const ScheduleChoice& choice,
                                      const DeviceLimits& limits) {
  RIDGE_RETURN_IF_ERROR(CheckChoice(kernel, choice, limits));
  if (!choice.name.empty()) {
    RIDGE_ASSIGN_OR_RETURN(const Schedule* s, FindSchedule(choice.name));
    absl::StatusOr<Resources> r = s->Use(kernel, choice, limits);
    if (!absl::IsUnimplemented(r.status())) return r;
  }
  for (const Schedule* s : AllSchedules()) {
    if (!s->CanSchedule(kernel, limits).ok()) continue;
    return s->Use(kernel, s->Default(kernel, limits), limits);
  }
  return absl::UnimplementedError(
      absl::StrCat(kernel.name, ": no schedule serves it"));
}

}  // namespace

const char* TermName(Term term) { return kTermNames[static_cast<int>(term)]; }

int ResidentBlocks(const Resources& r, const DeviceDescription& d) {
  int threads = std::max(1, r.threads_per_block);
  int64_t limit = d.max_blocks_per_multiprocessor();
  limit =
      std::min<int64_t>(limit, d.max_threads_per_multiprocessor() / threads);
  if (r.registers > 0 && d.is_gpu()) {
    // Registers are given out per warp in units of 256.
    int64_t per_warp = (r.registers * 32 + 255) / 256 * 256;
    int64_t warps = d.registers_per_multiprocessor() / per_warp;
    limit = std::min(limit, warps / std::max(1, (threads + 31) / 32));
  }
  if (r.shared_bytes > 0) {
    // 1 KB of each block's shared memory is the system's.
    limit = std::min(limit, d.shared_bytes_per_multiprocessor() /
                                (r.shared_bytes + (d.is_gpu() ? 1024 : 0)));
  }
  return static_cast<int>(std::max<int64_t>(1, limit));
}

Price PriceResources(const Resources& r, int64_t read, int64_t written,
                     const DeviceDescription& d, const PriceOptions& options) {
  Price p;
  p.resources = r;
  p.bytes_read = read;
  p.bytes_written = written;
  auto at = [&](Term t) -> double& { return p.terms_us[static_cast<int>(t)]; };

  // Units: microseconds; rates in GB/s are bytes per nanosecond.
  at(Term::kDramRead) = read / d.dram_read_gbps().value() * 1e-3;
  at(Term::kDramWrite) = written / d.dram_write_gbps().value() * 1e-3;
  at(Term::kL2) =
      (static_cast<double>(read) + written) / d.l2_gbps().value() * 1e-3;

  int resident = ResidentBlocks(r, d);
  double blocks = static_cast<double>(std::max<int64_t>(1, r.blocks));
  double sms = std::min<double>(d.multiprocessors(), blocks);
  double threads_in_flight =
      std::min(blocks, static_cast<double>(resident) * d.multiprocessors()) *
      std::max(1, r.threads_per_block);
  double flight = threads_in_flight * d.flight_bytes_per_thread().value();
  double reachable = flight / d.dram_latency_ns().value();  // GB/s
  double memory = at(Term::kDramRead) + at(Term::kDramWrite);
  if (reachable < d.dram_read_gbps().value()) {
    at(Term::kOccupancy) =
        memory * (d.dram_read_gbps().value() / reachable - 1);
  }
  memory += at(Term::kOccupancy);

  double clocks_per_us = d.clock_ghz().value() * 1e3 * sms;
  at(Term::kFma) = r.fma_ops / (d.fma_per_clock().value() * clocks_per_us);
  at(Term::kSpecial) =
      r.special_ops / (d.special_per_clock().value() * clocks_per_us);
  at(Term::kInteger) =
      r.integer_ops / (d.integer_per_clock().value() * clocks_per_us);
  at(Term::kDouble) =
      r.double_ops / (d.double_per_clock().value() * clocks_per_us);
  at(Term::kShared) =
      (r.shuffle_ops / d.shuffle_per_clock().value() +
       r.shared_ops_bytes / d.shared_bytes_per_clock().value()) /
      clocks_per_us;

  constexpr Term kUnits[] = {Term::kL2,      Term::kFma,    Term::kSpecial,
                             Term::kInteger, Term::kDouble, Term::kShared};
  double slowest = memory;
  for (Term t : kUnits) slowest = std::max(slowest, at(t));
  double hidden = 1 - d.overlap().value();
  if (memory < slowest) {
    at(Term::kDramRead) *= hidden;
    at(Term::kDramWrite) *= hidden;
    at(Term::kOccupancy) *= hidden;
  }
  double body = memory < slowest ? memory * hidden : memory;
  bool taken = memory >= slowest;
  for (Term t : kUnits) {
    if (!taken && at(t) == slowest) {
      taken = true;
    } else {
      at(t) *= hidden;
    }
    body += at(t);
  }
  double waves = blocks / (static_cast<double>(resident) * d.multiprocessors());
  if (waves > 1) {
    at(Term::kTailWave) =
        kTailShare * body * (std::ceil(waves) - waves) / std::ceil(waves);
  }
  at(Term::kSpill) = static_cast<double>(r.spill_bytes) * blocks *
                     r.threads_per_block * d.spill_dram_share().value() /
                     d.dram_read_gbps().value() * 1e-3;
  at(Term::kLaunch) =
      r.launches * (d.launch_us().value() + d.block_start_ns().value() * 1e-3);

  for (int t = 0; t < kTermCount; ++t) {
    if ((options.disabled_terms >> t) & 1) p.terms_us[t] = 0;
    p.us += p.terms_us[t];
    if (p.terms_us[t] > p.terms_us[static_cast<int>(p.bound)]) {
      p.bound = static_cast<Term>(t);
    }
  }
  return p;
}

absl::StatusOr<Price> PriceKernel(const Kernel& kernel,
                                  const ScheduleChoice& choice,
                                  const DeviceDescription& device,
                                  const PriceOptions& options) {
  RIDGE_ASSIGN_OR_RETURN(Resources r,
                         ResourcesOf(kernel, choice, LimitsOf(device)));
  double read = static_cast<double>(r.extra_bytes_read);
  double written = static_cast<double>(r.extra_bytes_written);
  for (size_t b = 0; b < kernel.buffers.size(); ++b) {
    double efficiency = b < r.sector_efficiency.size()
                            ? std::max(r.sector_efficiency[b], 1.0 / 32)
                            : 1.0;
    double bytes = r.bytes_per_buffer[b] / efficiency;
    (kernel.buffers[b].is_output ? written : read) += bytes;
  }
  Price p = PriceResources(r, static_cast<int64_t>(read),
                           static_cast<int64_t>(written), device, options);
  p.flops = static_cast<int64_t>(r.fma_ops + r.special_ops + r.double_ops);
  return p;
}

double RawRooflineUs(int64_t bytes, double flops, double tflops,
                     const DeviceDescription& device) {
  double memory = bytes / device.dram_peak_gbps().value() * 1e-3;
  double compute = flops / (tflops * 1e6);
  return std::max(memory, compute);
}

}  // namespace ridge
