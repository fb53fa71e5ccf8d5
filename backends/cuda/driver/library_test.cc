#include "backends/cuda/driver/library.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/cuda/driver/device.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"

namespace ridge::cuda {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LibraryTest, MissingDriverNamesEveryPlaceTriedAndTheLoadersReason) {
  EXPECT_THAT(
      LoadDriver({"/nowhere/libcuda.so.1", "libridge-no-such-driver.so"}),
      StatusIs(absl::StatusCode::kUnavailable,
               AllOf(HasSubstr("cannot open the CUDA driver"),
                     HasSubstr("Tried 2 names"),
                     HasSubstr("/nowhere/libcuda.so.1: cannot open shared "
                               "object file"),
                     HasSubstr("libridge-no-such-driver.so: cannot open"))));
}

TEST(LibraryTest, MissingToolkitLibrariesSayWhereTheyComeFrom) {
  EXPECT_THAT(
      LoadNvrtc({"/nowhere/libnvrtc.so"}),
      StatusIs(absl::StatusCode::kUnavailable,
               AllOf(HasSubstr("cannot open NVRTC"), HasSubstr("CUDA_HOME"))));
  EXPECT_THAT(LoadCublasLt({"/nowhere/libcublasLt.so"}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("cannot open cuBLASLt")));
}

TEST(LibraryTest, WrongLibraryNamesTheSymbolsItLacks) {
  EXPECT_THAT(
      LoadDriver({"libm.so.6"}),
      StatusIs(absl::StatusCode::kUnavailable,
               AllOf(HasSubstr("libm.so.6: lacks cuInit"), HasSubstr("more"))));
}

TEST(LibraryTest, LaterCandidatesAreTriedAfterEarlierOnesFail) {
  const absl::StatusOr<const NvrtcApi*> nvrtc = Nvrtc();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status();
  RIDGE_ASSERT_OK_AND_ASSIGN(NvrtcApi again,
                             LoadNvrtc({"/nowhere/x.so", (*nvrtc)->path}));
  EXPECT_EQ(again.path, (*nvrtc)->path);
}

TEST(LibraryTest, CudaHomeComesFirst) {
  const char* old = std::getenv("CUDA_HOME");
  const std::string saved = old == nullptr ? "" : old;
  setenv("CUDA_HOME", "/my/cuda", 1);
  const std::vector<std::string> candidates = NvrtcCandidates();
  old == nullptr ? unsetenv("CUDA_HOME")
                 : setenv("CUDA_HOME", saved.c_str(), 1);
  EXPECT_EQ(candidates.front(), "/my/cuda/lib64/libnvrtc.so.13");
  // NVIDIA's Python packages have no lib64.
  EXPECT_THAT(candidates, Contains("/my/cuda/lib/libnvrtc.so.12"));
  EXPECT_THAT(candidates, Contains("libnvrtc.so"));
}

TEST(LibraryTest, DriverIsTakenByItsVersionedName) {
  EXPECT_THAT(DriverCandidates(), ElementsAre("libcuda.so.1"));
}

TEST(LibraryTest, WithoutADeviceEverythingIsUnavailableNotAFault) {
  const absl::StatusOr<int> count = DeviceCount();
  if (count.ok() && *count > 0) GTEST_SKIP() << "this machine has a device";
  EXPECT_THAT(ReadDeviceFacts(0), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Context::Create(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(DeviceFactsTest, ArchNamesTheArchitectureSpecificTarget) {
  DeviceFacts facts;
  facts.cc_major = 9;
  EXPECT_EQ(facts.Arch(), "sm_90a");
  facts.cc_major = 8;
  facts.cc_minor = 6;
  EXPECT_EQ(facts.Arch(), "sm_86");
}

TEST(DeviceFactsTest, PeakBandwidthCountsBothClockEdges) {
  DeviceFacts h200;  // the datasheet: 4.8 TB/s
  h200.memory_clock_mhz = 3201;
  h200.memory_bus_bits = 6016;
  EXPECT_NEAR(h200.PeakBytesPerSecond(), 4.8e12, 0.02e12);
}

}  // namespace
}  // namespace ridge::cuda
