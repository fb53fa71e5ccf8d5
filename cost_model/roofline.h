// The roofline with named terms. The formula, for one launch of a kernel:
//
//   memory  = dram_read + dram_write + occupancy
//   unit_u  = operations on unit u / (rate per clock * clock * SMs in use)
//   slowest = max(memory, l2, unit_u ...)
//   body    = slowest + (1 - overlap) * sum of the others
//   us      = launches * launch + body + tail_wave + spill
//
// - dram_read, dram_write: bytes fetched (asked bytes over sector efficiency)
//   over the rate a streaming kernel reaches.
// - occupancy: by Little's law, a grid that keeps too few bytes in flight
//   reaches only bytes_in_flight / latency; the time beyond the full rate.
// - tail_wave: the last wave of blocks leaves multiprocessors idle; half of a
//   wave's missing share, since blocks of one wave do not end together.
// - In the sum, units that hide behind the slowest one count with the share
//   that does not hide, so that switching a term off is just leaving it out.
//
// Worked example, f32[4096,4096] + f32[4096,4096] on an H200 at 4300 GB/s:
// reads 2*67.1 MB -> 31.2 us, write 67.1 MB -> 15.6 us, launch 1.5 us.
#ifndef RIDGE_COST_MODEL_ROOFLINE_H_
#define RIDGE_COST_MODEL_ROOFLINE_H_

#include "cost_model/device.h"
#include "cost_model/price.h"

namespace ridge {

// Blocks that fit one multiprocessor at a time under `r`.
int ResidentBlocks(const Resources& r, const DeviceDescription& device);

// The price of given resources. `read` and `written` are bytes asked; the
// efficiencies in `r` turn them into bytes fetched.
Price PriceResources(const Resources& r, int64_t read, int64_t written,
                     const DeviceDescription& device,
                     const PriceOptions& options);

// The raw roofline that compare prints as a baseline: max(bytes over the
// datasheet's bandwidth, FLOP over the datasheet's rate), nothing else.
double RawRooflineUs(int64_t bytes, double flops, double tflops,
                     const DeviceDescription& device);

}  // namespace ridge

#endif  // RIDGE_COST_MODEL_ROOFLINE_H_
