// Random programs on a back end against the evaluator:
//   backend_differential --backend=cuda --seeds=0:2000
// Prints what fails, with the program, and a line of totals. Exit code 2 where
// something failed.
#include <gflags/gflags.h>

#include <cstdio>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "hlo/base/status_macros.h"
#include "tests/random/check_program.h"
#include "tools/common/execute.h"

DEFINE_string(backend, "cpu", "cpu or cuda.");
DEFINE_string(seeds, "0:100", "Random programs FROM:TO, TO excluded.");
DEFINE_int32(max_failures, 20, "Stops after as many.");

namespace ridge {
namespace {

absl::StatusOr<int> Main() {
  std::pair<absl::string_view, absl::string_view> range =
      absl::StrSplit(FLAGS_seeds, absl::MaxSplits(':', 1));
  uint64_t from, to;
  if (!absl::SimpleAtoi(range.first, &from) ||
      !absl::SimpleAtoi(range.second, &to)) {
    return absl::InvalidArgumentError("--seeds: want FROM:TO");
  }
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                         MakeNamedBackend(FLAGS_backend));
  int64_t programs = 0, left_out = 0, failures = 0;
  ProgramTally all;
  for (uint64_t seed = from; seed < to && failures < FLAGS_max_failures;
       ++seed) {
    absl::StatusOr<ProgramTally> tally =
        CheckRandomProgram(backend.get(), seed);
    ++programs;
    if (!tally.ok()) {
      ++failures;
      std::printf("FAILED %s\n", tally.status().ToString().c_str());
      continue;
    }
    left_out += tally->left_out;
    all.kernels += tally->kernels;
    all.fallbacks += tally->fallbacks;
  }
  std::printf(
      "%s: %lld programs from seed %llu, %lld of them for several devices and "
      "left out, %lld kernels (%lld plain or by the evaluator), %lld "
      "failures\n",
      backend->state().device().c_str(), static_cast<long long>(programs),
      static_cast<unsigned long long>(from), static_cast<long long>(left_out),
      static_cast<long long>(all.kernels),
      static_cast<long long>(all.fallbacks), static_cast<long long>(failures));
  return failures == 0 ? 0 : 2;
}

}  // namespace
}  // namespace ridge

int main(int argc, char** argv) {
  gflags::SetUsageMessage(
      "Random programs on a back end against the evaluator.\n"
      "example: backend_differential --backend=cuda --seeds=0:2000");
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  absl::StatusOr<int> code = ridge::Main();
  if (code.ok()) return *code;
  std::fprintf(stderr, "backend_differential: %s\n",
               code.status().ToString().c_str());
  return 1;
}
