// Price: what a kernel is predicted to take, as a sum of named terms.
#ifndef RIDGE_COST_MODEL_PRICE_H_
#define RIDGE_COST_MODEL_PRICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/kernel/kernel.h"
#include "backends/kernel/schedule.h"
#include "cost_model/device.h"

namespace ridge {

// Every term the model knows. A price is the sum over terms; the terms already
// account for overlap (see roofline.cc for the formula), so that a term
// switched off simply leaves the sum.
enum class Term : uint8_t {
  kLaunch,
  kDramRead,
  kDramWrite,
  kL2,
  kFma,
  kSpecial,  // exp2, log2, rsqrt, ...
  kInteger,
  kDouble,
  kTensorCore,
  kShared,
  kTailWave,
  kOccupancy,
  kSpill,
};
inline constexpr int kTermCount = 13;
const char* TermName(Term term);  // "dram_read", ...

struct Price {
  double us = 0;
  double terms_us[kTermCount] = {};
  Term bound = Term::kLaunch;  // the largest term
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
  int64_t flops = 0;
  Resources resources;
};

struct PriceOptions {
  uint32_t disabled_terms = 0;  // bit per Term
  bool cold_cache = true;
  // Unimplemented for what would run as a plain kernel though its parts need
  // not: for planners, which then leave the parts apart.
  bool refuse_plain = false;
};

absl::StatusOr<Price> PriceKernel(const Kernel& kernel,
                                  const ScheduleChoice& choice,
                                  const DeviceDescription& device,
                                  const PriceOptions& options = {});

}  // namespace ridge

#endif  // RIDGE_COST_MODEL_PRICE_H_
