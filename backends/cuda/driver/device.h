// A CUDA device: what the driver says of it, and the context to work in.

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_DEVICE_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/driver/library.h"

namespace ridge::cuda {

// All from cuDeviceGetAttribute and its kin; bytes, MHz and bits as named.
struct DeviceFacts {
  std::string name;  // "NVIDIA H200"
  int ordinal = 0;
  std::string pci_bus_id;  // "0000:1b:00.0"
  int driver_version = 0;  // the newest CUDA it serves: 13000 is 13.0
  int cc_major = 0;        // compute capability
  int cc_minor = 0;
  int sm_count = 0;
  int warp_size = 0;
  int max_threads_per_block = 0;
  int max_threads_per_sm = 0;
  int max_blocks_per_sm = 0;
  int registers_per_block = 0;
  int registers_per_sm = 0;
  int64_t shared_per_block = 0;        // without opting in
  int64_t shared_per_block_optin = 0;  // the most a kernel can ask for
  int64_t shared_per_sm = 0;
  int64_t reserved_shared_per_block = 0;  // the driver's own
  int64_t l2_bytes = 0;
  int64_t max_persisting_l2_bytes = 0;
  int64_t memory_bytes = 0;
  double sm_clock_mhz = 0;      // the highest, not the present one
  double memory_clock_mhz = 0;  // likewise
  int memory_bus_bits = 0;
  bool ecc = false;
  bool cluster_launch = false;
  bool cooperative_launch = false;

  // NVRTC's name for the device: "sm_90a", with the "a" that wgmma and its
  // like need from compute capability 9.0 on.
  std::string Arch() const;
  // Peak DRAM bandwidth in bytes per second: both edges of the memory clock,
  // bus_bits / 8 bytes on each.
  double PeakBytesPerSecond() const {
    return 2 * memory_clock_mhz * 1e6 * memory_bus_bits / 8;
  }
  // Several lines, "field: value unit" each.
  std::string ToString() const;
};

// kUnavailable if there is no driver, or a driver but no device.
absl::StatusOr<int> DeviceCount();
absl::StatusOr<DeviceFacts> ReadDeviceFacts(int ordinal);

struct MemoryInfo {
  int64_t free_bytes = 0;
  int64_t total_bytes = 0;
};

// The primary context of one device. Buffers, streams, events, graphs and
// modules keep a pointer to their context, which must outlive them. Any thread
// may use them: each call makes the context current on its thread first (about
// 20 ns if it already is).
class Context {
 public:
  static absl::StatusOr<std::unique_ptr<Context>> Create(int ordinal = 0);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Makes the context current on the calling thread.
  absl::Status Bind() const;
  // Waits for all work of the device in this process.
  absl::Status Synchronize() const;
  absl::StatusOr<MemoryInfo> Memory() const;

  const DriverApi& api() const { return *api_; }
  ContextHandle handle() const { return handle_; }
  const DeviceFacts& facts() const { return facts_; }

  // The status of a driver call: DriverStatus(api(), result, what).
  absl::Status Check(DriverResult result, const char* what) const;

 private:
  Context(const DriverApi* api, int device, ContextHandle handle,
          DeviceFacts facts);

  const DriverApi* api_;
  int device_;
  ContextHandle handle_;
  DeviceFacts facts_;
};

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_DEVICE_H_
