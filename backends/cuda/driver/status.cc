#include "backends/cuda/driver/status.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ridge::cuda {
namespace {

absl::StatusCode CodeOf(DriverResult result) {
  switch (result) {
    case kDriverNotInitialized:
    case kDriverStubLibrary:
    case kDriverDeviceUnavailable:
    case kDriverNoDevice:
    case kDriverSystemNotReady:
    case kDriverSystemDriverMismatch:
      return absl::StatusCode::kUnavailable;
    case kDriverOutOfMemory:
    case kDriverLaunchOutOfResources:
      return absl::StatusCode::kResourceExhausted;
    case kDriverInvalidValue:
    case kDriverInvalidDevice:
    case kDriverInvalidClusterSize:
      return absl::StatusCode::kInvalidArgument;
    case kDriverNotFound:
      return absl::StatusCode::kNotFound;
    case kDriverNotSupported:
    case kDriverCallRequiresNewerDriver:
      return absl::StatusCode::kUnimplemented;
    case kDriverInvalidImage:
    case kDriverNoBinaryForGpu:
    case kDriverUnsupportedPtxVersion:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kInternal;
  }
}

struct LtStatusName {
  LtStatus status;
  absl::StatusCode code;
  const char* name;
};

// cublasLtGetStatusString is not used: its texts leave out the code's name.
constexpr LtStatusName kLtStatusNames[] = {
    {kLtNotInitialized, absl::StatusCode::kUnavailable, "NOT_INITIALIZED"},
    {kLtAllocFailed, absl::StatusCode::kResourceExhausted, "ALLOC_FAILED"},
    {kLtInvalidValue, absl::StatusCode::kInvalidArgument, "INVALID_VALUE"},
    {kLtArchMismatch, absl::StatusCode::kUnimplemented, "ARCH_MISMATCH"},
    {kLtExecutionFailed, absl::StatusCode::kInternal, "EXECUTION_FAILED"},
    {kLtInternalError, absl::StatusCode::kInternal, "INTERNAL_ERROR"},
    {kLtNotSupported, absl::StatusCode::kUnimplemented, "NOT_SUPPORTED"},
};

}  // namespace

absl::Status DriverStatus(const DriverApi& api, DriverResult result,
                          absl::string_view what) {
  if (result == kDriverSuccess) return absl::OkStatus();
  const char* name = nullptr;
  const char* text = nullptr;
  api.GetErrorName(result, &name);
  api.GetErrorString(result, &text);
  return absl::Status(
      CodeOf(result),
      absl::StrCat(what, ": ", name == nullptr ? "CUDA error" : name, " (",
                   result, ")", text == nullptr ? "" : ": ",
                   text == nullptr ? "" : text));
}

absl::Status LtStatusToAbsl(LtStatus result, absl::string_view what) {
  if (result == kLtSuccess) return absl::OkStatus();
  for (const LtStatusName& row : kLtStatusNames) {
    if (row.status == result) {
      return absl::Status(row.code, absl::StrCat(what, ": CUBLAS_STATUS_",
                                                 row.name, " (", result, ")"));
    }
  }
  return absl::InternalError(absl::StrCat(what, ": cuBLAS status ", result));
}

}  // namespace ridge::cuda
