// Device memory, pinned host memory, copies and fills.
//
// Copies and fills are asynchronous: they are given to a stream and return.
// Host memory must stay alive and unchanged until the stream has been
// synchronized; only pinned memory makes a host copy truly overlap.

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_MEMORY_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/driver/device.h"
#include "backends/cuda/driver/stream.h"

namespace ridge::cuda {

// cuMemAlloc aligns to 256 bytes at least; parts of an allocation keep to the
// same, so that every buffer serves 16-byte accesses, bulk tensor copies (which
// need 128) and cuBLASLt's default assumption (256).
inline constexpr size_t kDeviceAlignment = 256;

// Poison is a NaN in every floating-point type (f64 to f8), -1 in signed
// integers, and no valid bool.
inline constexpr uint8_t kPoisonByte = 0xff;

class DeviceBuffer {
 public:
  // kResourceExhausted, with the sizes asked for and free, if the device is
  // full. An allocation of no bytes is null.
  static absl::StatusOr<DeviceBuffer> Allocate(const Context& context,
                                               size_t bytes);
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  // Frees; waits for the device first, as cuMemFree does.
  ~DeviceBuffer();

  DevicePtr ptr() const { return ptr_; }
  size_t size() const { return size_; }

 private:
  DeviceBuffer(const Context* context, DevicePtr ptr, size_t size)
      : context_(context), ptr_(ptr), size_(size) {}

  const Context* context_ = nullptr;
  DevicePtr ptr_ = 0;
  size_t size_ = 0;
};

class PinnedBuffer {
 public:
  static absl::StatusOr<PinnedBuffer> Allocate(const Context& context,
                                               size_t bytes);
  PinnedBuffer() = default;
  PinnedBuffer(PinnedBuffer&& other) noexcept { *this = std::move(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  ~PinnedBuffer();

  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  size_t size() const { return size_; }

 private:
  PinnedBuffer(const Context* context, void* data, size_t size)
      : context_(context), data_(data), size_(size) {}

  const Context* context_ = nullptr;
  void* data_ = nullptr;
  size_t size_ = 0;
};

absl::Status CopyToDevice(const Stream& stream, DevicePtr to, const void* from,
                          size_t bytes);
absl::Status CopyToHost(const Stream& stream, void* to, DevicePtr from,
                        size_t bytes);
absl::Status CopyOnDevice(const Stream& stream, DevicePtr to, DevicePtr from,
                          size_t bytes);

// Repeats the four bytes of `pattern`, lowest first; `to` is 4-byte aligned. A
// last incomplete word gets the pattern's first bytes.
absl::Status Fill(const Stream& stream, DevicePtr to, size_t bytes,
                  uint32_t pattern);
// Fills with kPoisonByte: what is not written then shows.
absl::Status Poison(const Stream& stream, DevicePtr to, size_t bytes);

// Offsets of a module's buffers in one allocation, each on kDeviceAlignment.
// Plain arithmetic; needs no device.
class ArenaLayout {
 public:
  // The offset of the next `bytes`.
  size_t Reserve(size_t bytes);
  // What the allocation must hold.
  size_t size() const { return size_; }

 private:
  size_t size_ = 0;
};

// One allocation that hands out its parts in order. Not thread-safe.
class Arena {
 public:
  static absl::StatusOr<Arena> Create(const Context& context, size_t bytes);

  // The next part, aligned to kDeviceAlignment; kResourceExhausted if the rest
  // is too small.
  absl::StatusOr<DevicePtr> Allocate(size_t bytes);
  // The address at an offset that an ArenaLayout gave.
  DevicePtr At(size_t offset) const { return buffer_.ptr() + offset; }
  // Takes all parts back; the memory stays.
  void Reset() { layout_ = ArenaLayout(); }

  size_t used() const { return layout_.size(); }
  size_t capacity() const { return buffer_.size(); }

 private:
  explicit Arena(DeviceBuffer buffer) : buffer_(std::move(buffer)) {}

  DeviceBuffer buffer_;
  ArenaLayout layout_;
};

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_MEMORY_H_
