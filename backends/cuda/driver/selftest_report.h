// Rows of device_selftest: printed as they come, and counted.

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_SELFTEST_REPORT_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_SELFTEST_REPORT_H_

#include <cstdio>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/driver/stream.h"

namespace ridge::cuda {

class SelftestReport {
 public:
  void Pass(const std::string& name, const std::string& detail) {
    Print("ok", name, detail);
    ++passed_;
  }
  // A wrong result, or a call that failed.
  void Fail(const std::string& name, const std::string& detail) {
    Print("FAIL", name, detail);
    ++failed_;
    failures_.push_back(name + ": " + detail);
  }
  // Something that this machine does not have; no failure.
  void None(const std::string& name, const std::string& why) {
    Print("none", name, why);
    ++none_;
  }
  // A figure to read, neither right nor wrong.
  void Info(const std::string& name, const std::string& detail) {
    Print("info", name, detail);
  }
  // Pass with the detail, or Fail with the status.
  void Note(const std::string& name,
            const absl::StatusOr<std::string>& detail_or_error) {
    detail_or_error.ok() ? Pass(name, *detail_or_error)
                         : Fail(name, detail_or_error.status().ToString());
  }

  // Prints the totals and the failures again. 0, or 2 if there were any.
  int Finish() const {
    for (const std::string& failure : failures_) {
      std::printf("failed: %s\n", failure.c_str());
    }
    std::printf("%d ok, %d failed, %d not available here\n", passed_, failed_,
                none_);
    return failed_ == 0 ? 0 : 2;
  }

 private:
  static void Print(const char* result, const std::string& name,
                    const std::string& detail) {
    std::printf("%-4s  %-58s  %s\n", result, name.c_str(), detail.c_str());
    std::fflush(stdout);
  }

  int passed_ = 0;
  int failed_ = 0;
  int none_ = 0;
  std::vector<std::string> failures_;
};

// Device time of one call of `body` in µs: the median of five samples of
// `repeats` calls each, after two that do not count.
absl::StatusOr<double> MedianMicros(const Stream& stream, int repeats,
                                    absl::FunctionRef<absl::Status()> body);

// The cuBLASLt part: every epilogue, type and layout against a plain kernel.
void RunMatmulSelftest(const Context& context, SelftestReport* report);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_SELFTEST_REPORT_H_
