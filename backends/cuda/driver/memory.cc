#include "backends/cuda/driver/memory.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"
#include "hlo/base/table.h"

namespace ridge::cuda {

// ---- Buffers --------------------------------------------------------------

absl::StatusOr<DeviceBuffer> DeviceBuffer::Allocate(const Context& context,
                                                    size_t bytes) {
  if (bytes == 0) return DeviceBuffer();
  RIDGE_RETURN_IF_ERROR(context.Bind());
  DevicePtr ptr = 0;
  const absl::Status status =
      context.Check(context.api().MemAlloc(&ptr, bytes), "cuMemAlloc");
  if (!status.ok()) {
    std::string detail =
        absl::StrCat("for ", bytes, " B (", HumanBytes(bytes), ")");
    const absl::StatusOr<MemoryInfo> memory = context.Memory();
    if (memory.ok()) {
      absl::StrAppend(&detail, " with ", HumanBytes(memory->free_bytes), " of ",
                      HumanBytes(memory->total_bytes), " free");
    }
    return Annotate(status, detail);
  }
  return DeviceBuffer(&context, ptr, bytes);
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(ptr_, other.ptr_);
  std::swap(size_, other.size_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (ptr_ == 0 || !context_->Bind().ok()) return;
  context_->api().MemFree(ptr_);
}

absl::StatusOr<PinnedBuffer> PinnedBuffer::Allocate(const Context& context,
                                                    size_t bytes) {
  if (bytes == 0) return PinnedBuffer();
  RIDGE_RETURN_IF_ERROR(context.Bind());
  void* data = nullptr;
  RIDGE_RETURN_IF_ERROR(context.Check(
      context.api().MemHostAlloc(&data, bytes, 0), "cuMemHostAlloc"));
  return PinnedBuffer(&context, data, bytes);
}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

PinnedBuffer::~PinnedBuffer() {
  if (data_ == nullptr || !context_->Bind().ok()) return;
  context_->api().MemFreeHost(data_);
}

// ---- Copies and fills -----------------------------------------------------

absl::Status CopyToDevice(const Stream& stream, DevicePtr to, const void* from,
                          size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  const Context& context = stream.context();
  RIDGE_RETURN_IF_ERROR(context.Bind());
  return context.Check(
      context.api().MemcpyHtoDAsync(to, from, bytes, stream.handle()),
      "cuMemcpyHtoDAsync");
}

absl::Status CopyToHost(const Stream& stream, void* to, DevicePtr from,
                        size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  const Context& context = stream.context();
  RIDGE_RETURN_IF_ERROR(context.Bind());
  return context.Check(
      context.api().MemcpyDtoHAsync(to, from, bytes, stream.handle()),
      "cuMemcpyDtoHAsync");
}

absl::Status CopyOnDevice(const Stream& stream, DevicePtr to, DevicePtr from,
                          size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  const Context& context = stream.context();
  RIDGE_RETURN_IF_ERROR(context.Bind());
  return context.Check(
      context.api().MemcpyDtoDAsync(to, from, bytes, stream.handle()),
      "cuMemcpyDtoDAsync");
}

absl::Status Fill(const Stream& stream, DevicePtr to, size_t bytes,
                  uint32_t pattern) {
  const Context& context = stream.context();
  RIDGE_RETURN_IF_ERROR(context.Bind());
  const size_t words = bytes / 4;
  if (words > 0) {
    RIDGE_RETURN_IF_ERROR(context.Check(
        context.api().MemsetD32Async(to, pattern, words, stream.handle()),
        "cuMemsetD32Async"));
  }
  for (size_t i = words * 4; i < bytes; ++i) {
    const auto byte = static_cast<uint8_t>(pattern >> (8 * (i % 4)));
    RIDGE_RETURN_IF_ERROR(context.Check(
        context.api().MemsetD8Async(to + i, byte, 1, stream.handle()),
        "cuMemsetD8Async"));
  }
  return absl::OkStatus();
}

absl::Status Poison(const Stream& stream, DevicePtr to, size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  const Context& context = stream.context();
  RIDGE_RETURN_IF_ERROR(context.Bind());
  return context.Check(
      context.api().MemsetD8Async(to, kPoisonByte, bytes, stream.handle()),
      "cuMemsetD8Async");
}

// ---- Arena ----------------------------------------------------------------

size_t ArenaLayout::Reserve(size_t bytes) {
  const size_t offset =
      (size_ + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
  size_ = offset + bytes;
  return offset;
}

absl::StatusOr<Arena> Arena::Create(const Context& context, size_t bytes) {
  RIDGE_ASSIGN_OR_RETURN(DeviceBuffer buffer,
                         DeviceBuffer::Allocate(context, bytes));
  return Arena(std::move(buffer));
}

absl::StatusOr<DevicePtr> Arena::Allocate(size_t bytes) {
  ArenaLayout next = layout_;
  const size_t offset = next.Reserve(bytes);
  if (next.size() > capacity()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "arena of ", HumanBytes(capacity()), ": ", HumanBytes(bytes),
        " asked for with ", HumanBytes(used()), " in use"));
  }
  layout_ = next;
  return At(offset);
}

}  // namespace ridge::cuda
