// The device's last-level cache between two timed runs.
//
// Runs that follow each other on data larger than the cache each find it full
// of other data, and write back as much of that as the run before them left
// behind. This restores that state before a single run: nothing of the
// program's in the cache, and as many changed lines as it leaves itself.
// (Filling the cache by writing alone would charge every run with writing back
// the whole cache: 12 us on an H200, more than a tenth of a sum of 400 MB.)
#ifndef RIDGE_BACKENDS_CUDA_COLD_CACHE_H_
#define RIDGE_BACKENDS_CUDA_COLD_CACHE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/driver/memory.h"
#include "backends/cuda/driver/module.h"
#include "backends/cuda/driver/stream.h"

namespace ridge::cuda {

class ColdCache {
 public:
  static absl::StatusOr<ColdCache> Create(const Context& context);

  // `written`: bytes that the run after this writes.
  absl::Status Flush(int64_t written, const Stream& stream);

 private:
  ColdCache(Module module, DeviceBuffer memory, int64_t cache_bytes)
      : module_(std::move(module)),
        memory_(std::move(memory)),
        cache_bytes_(cache_bytes) {}

  Module module_;
  Function read_;
  DeviceBuffer memory_;
  int64_t cache_bytes_;
  uint32_t pattern_ = 0;
};

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_COLD_CACHE_H_
