#include "backends/cuda/driver/device.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/cuda/driver/status.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// Reads one attribute after another and keeps the first error.
class AttributeReader {
 public:
  AttributeReader(const DriverApi& api, int device)
      : api_(api), device_(device) {}

  int Get(DeviceAttribute attribute) {
    int value = 0;
    const DriverResult result =
        api_.DeviceGetAttribute(&value, attribute, device_);
    if (result != kDriverSuccess && status_.ok()) {
      status_ = DriverStatus(
          api_, result,
          absl::StrCat("cuDeviceGetAttribute ", static_cast<int>(attribute)));
    }
    return value;
  }
  // For attributes that an older driver may not know.
  int GetOr(DeviceAttribute attribute, int fallback) {
    int value = 0;
    return api_.DeviceGetAttribute(&value, attribute, device_) == kDriverSuccess
               ? value
               : fallback;
  }
  const absl::Status& status() const { return status_; }

 private:
  const DriverApi& api_;
  int device_;
  absl::Status status_;
};

}  // namespace

std::string DeviceFacts::Arch() const {
  return absl::StrCat("sm_", cc_major, cc_minor, cc_major >= 9 ? "a" : "");
}

std::string DeviceFacts::ToString() const {
  return absl::StrFormat(
      "name: %s\n"
      "pci bus: %s\n"
      "driver: CUDA %d.%d\n"
      "compute capability: %d.%d (%s)\n"
      "multiprocessors: %d, %d threads and %d blocks each\n"
      "registers: %d per multiprocessor, %d per block\n"
      "shared memory: %d B per multiprocessor, %d B per block "
      "(%d B without opt-in, %d B reserved)\n"
      "L2: %d B (%d B may persist)\n"
      "memory: %d B, ECC %s\n"
      "clocks: %.0f MHz SM, %.0f MHz memory, highest\n"
      "memory bus: %d bits, peak %.3f TB/s\n"
      "launch: clusters %s, cooperative %s\n",
      name, pci_bus_id, driver_version / 1000, driver_version % 1000 / 10,
      cc_major, cc_minor, Arch(), sm_count, max_threads_per_sm,
      max_blocks_per_sm, registers_per_sm, registers_per_block, shared_per_sm,
      shared_per_block_optin, shared_per_block, reserved_shared_per_block,
      l2_bytes, max_persisting_l2_bytes, memory_bytes, ecc ? "on" : "off",
      sm_clock_mhz, memory_clock_mhz, memory_bus_bits,
      PeakBytesPerSecond() * 1e-12, cluster_launch ? "yes" : "no",
      cooperative_launch ? "yes" : "no");
}

absl::StatusOr<int> DeviceCount() {
  RIDGE_ASSIGN_OR_RETURN(const DriverApi* api, Driver());
  int count = 0;
  RIDGE_RETURN_IF_ERROR(
      DriverStatus(*api, api->DeviceGetCount(&count), "cuDeviceGetCount"));
  return count;
}

absl::StatusOr<DeviceFacts> ReadDeviceFacts(int ordinal) {
  RIDGE_ASSIGN_OR_RETURN(const DriverApi* api, Driver());
  RIDGE_ASSIGN_OR_RETURN(int count, DeviceCount());
  if (ordinal < 0 || ordinal >= count) {
    return absl::UnavailableError(absl::StrCat(
        "no CUDA device ", ordinal, ": the driver has ", count, " device(s)"));
  }
  int device = 0;
  RIDGE_RETURN_IF_ERROR(
      DriverStatus(*api, api->DeviceGet(&device, ordinal), "cuDeviceGet"));

  DeviceFacts facts;
  facts.ordinal = ordinal;
  char name[256] = {};
  RIDGE_RETURN_IF_ERROR(DriverStatus(
      *api, api->DeviceGetName(name, sizeof(name), device), "cuDeviceGetName"));
  facts.name = name;
  RIDGE_RETURN_IF_ERROR(
      DriverStatus(*api, api->DriverGetVersion(&facts.driver_version),
                   "cuDriverGetVersion"));
  size_t memory_bytes = 0;
  RIDGE_RETURN_IF_ERROR(DriverStatus(
      *api, api->DeviceTotalMem(&memory_bytes, device), "cuDeviceTotalMem"));
  facts.memory_bytes = static_cast<int64_t>(memory_bytes);

  using Attribute = DeviceAttribute;
  AttributeReader read(*api, device);
  facts.pci_bus_id = absl::StrFormat(
      "%04x:%02x:%02x.0", read.Get(Attribute::kPciDomainId),
      read.Get(Attribute::kPciBusId), read.Get(Attribute::kPciDeviceId));
  facts.cc_major = read.Get(Attribute::kComputeCapabilityMajor);
  facts.cc_minor = read.Get(Attribute::kComputeCapabilityMinor);
  facts.sm_count = read.Get(Attribute::kSmCount);
  facts.warp_size = read.Get(Attribute::kWarpSize);
  facts.max_threads_per_block = read.Get(Attribute::kMaxThreadsPerBlock);
  facts.max_threads_per_sm = read.Get(Attribute::kMaxThreadsPerSm);
  facts.max_blocks_per_sm = read.Get(Attribute::kMaxBlocksPerSm);
  facts.registers_per_block = read.Get(Attribute::kMaxRegistersPerBlock);
  facts.registers_per_sm = read.Get(Attribute::kMaxRegistersPerSm);
  facts.shared_per_block = read.Get(Attribute::kMaxSharedPerBlock);
  facts.shared_per_block_optin = read.Get(Attribute::kMaxSharedPerBlockOptin);
  facts.shared_per_sm = read.Get(Attribute::kMaxSharedPerSm);
  facts.reserved_shared_per_block =
      read.Get(Attribute::kReservedSharedPerBlock);
  facts.l2_bytes = read.Get(Attribute::kL2CacheSize);
  facts.max_persisting_l2_bytes = read.GetOr(Attribute::kMaxPersistingL2, 0);
  facts.sm_clock_mhz = read.Get(Attribute::kClockRate) * 1e-3;
  facts.memory_clock_mhz = read.Get(Attribute::kMemoryClockRate) * 1e-3;
  facts.memory_bus_bits = read.Get(Attribute::kMemoryBusWidth);
  facts.ecc = read.Get(Attribute::kEccEnabled) != 0;
  facts.cluster_launch = read.GetOr(Attribute::kClusterLaunch, 0) != 0;
  facts.cooperative_launch = read.Get(Attribute::kCooperativeLaunch) != 0;
  RIDGE_RETURN_IF_ERROR(read.status());
  return facts;
}

absl::StatusOr<std::unique_ptr<Context>> Context::Create(int ordinal) {
  RIDGE_ASSIGN_OR_RETURN(const DriverApi* api, Driver());
  RIDGE_ASSIGN_OR_RETURN(DeviceFacts facts, ReadDeviceFacts(ordinal));
  int device = 0;
  RIDGE_RETURN_IF_ERROR(
      DriverStatus(*api, api->DeviceGet(&device, ordinal), "cuDeviceGet"));
  ContextHandle handle = nullptr;
  RIDGE_RETURN_IF_ERROR(
      DriverStatus(*api, api->DevicePrimaryCtxRetain(&handle, device),
                   "cuDevicePrimaryCtxRetain"));
  auto context = std::unique_ptr<Context>(
      new Context(api, device, handle, std::move(facts)));
  RIDGE_RETURN_IF_ERROR(context->Bind());
  return context;
}

Context::Context(const DriverApi* api, int device, ContextHandle handle,
                 DeviceFacts facts)
    : api_(api), device_(device), handle_(handle), facts_(std::move(facts)) {}

Context::~Context() { api_->DevicePrimaryCtxRelease(device_); }

absl::Status Context::Bind() const {
  // Asked of the driver rather than remembered: another library in the process
  // may have made its own context current.
  ContextHandle current = nullptr;
  if (api_->CtxGetCurrent(&current) == kDriverSuccess && current == handle_) {
    return absl::OkStatus();
  }
  return Check(api_->CtxSetCurrent(handle_), "cuCtxSetCurrent");
}

absl::Status Context::Synchronize() const {
  RIDGE_RETURN_IF_ERROR(Bind());
  return Check(api_->CtxSynchronize(), "cuCtxSynchronize");
}

absl::StatusOr<MemoryInfo> Context::Memory() const {
  RIDGE_RETURN_IF_ERROR(Bind());
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  RIDGE_RETURN_IF_ERROR(
      Check(api_->MemGetInfo(&free_bytes, &total_bytes), "cuMemGetInfo"));
  return MemoryInfo{static_cast<int64_t>(free_bytes),
                    static_cast<int64_t>(total_bytes)};
}

absl::Status Context::Check(DriverResult result, const char* what) const {
  if (result == kDriverSuccess) return absl::OkStatus();
  return DriverStatus(*api_, result, what);
}

}  // namespace ridge::cuda
