// Modules with stored results on a back end, in one process:
//   golden_backend --backend=cuda $RIDGE_SHARED/hlo/small
//   golden_backend --modules=corpus/modules golden
// Each NAME.safetensors of a folder holds the arguments and XLA's results of
// NAME.hlo. Prints what fails, and a line of totals. Exit code 2 where
// something failed.
#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/golden_exceptions.h"
#include "tools/common/execute.h"
#include "tools/common/load.h"

DEFINE_string(backend, "cpu", "cpu or cuda.");
DEFINE_string(modules, "",
              "Where the .hlo files are; empty: with the results.");
DEFINE_string(strategy, "greedy", "none or greedy.");
DEFINE_string(shard, "0:1", "INDEX:COUNT: every COUNT-th module from INDEX.");

namespace ridge {
namespace {

struct Stored {
  std::string name;
  std::string folder;
  std::string module;
  std::string tensors;
};

absl::StatusOr<std::vector<Stored>> StoredIn(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator files(folder, error);
  if (error) {
    return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  }
  std::vector<Stored> stored;
  for (const auto& entry : files) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".safetensors") continue;
    const std::string name = path.stem().string();
    stored.push_back(
        {name, std::filesystem::path(folder).filename().string(),
         absl::StrCat(FLAGS_modules.empty() ? folder : FLAGS_modules, "/", name,
                      ".hlo"),
         path.string()});
  }
  std::sort(stored.begin(), stored.end(),
            [](const Stored& a, const Stored& b) { return a.name < b.name; });
  return stored;
}

// The comparison; an error where the module did not run.
absl::StatusOr<Comparison> Run(const Stored& stored, Backend* backend,
                               const DeviceDescription& device) {
  RIDGE_ASSIGN_OR_RETURN(LoadedModule module, LoadModule(stored.module));
  RIDGE_ASSIGN_OR_RETURN(
      std::vector<Literal> arguments,
      LoadArguments(*module.written, stored.tensors, /*seed=*/0));
  PlanRequest planning;
  planning.strategy = FLAGS_strategy;
  planning.device = &device;
  RIDGE_ASSIGN_OR_RETURN(Plan plan, LoadPlan(*module.canonical, planning));
  ExecuteRequest request;
  request.module = &module;
  request.plan = &plan;
  request.backend = backend;
  request.arguments = arguments;
  RIDGE_ASSIGN_OR_RETURN(request.expected,
                         LoadExpected(*module.written, stored.tensors));
  RIDGE_ASSIGN_OR_RETURN(ExecuteReport report, ExecutePlan(request));
  return *report.comparison;
}

absl::StatusOr<int> Main(const std::vector<std::string>& folders) {
  std::pair<absl::string_view, absl::string_view> shard =
      absl::StrSplit(FLAGS_shard, absl::MaxSplits(':', 1));
  size_t index, count;
  if (folders.empty() || !absl::SimpleAtoi(shard.first, &index) ||
      !absl::SimpleAtoi(shard.second, &count) || index >= count) {
    return absl::InvalidArgumentError(
        "want --shard=INDEX:COUNT and folders of stored results");
  }
  std::vector<Stored> all;
  for (const std::string& folder : folders) {
    RIDGE_ASSIGN_OR_RETURN(std::vector<Stored> stored, StoredIn(folder));
    all.insert(all.end(), stored.begin(), stored.end());
  }
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                         MakeNamedBackend(FLAGS_backend));
  RIDGE_ASSIGN_OR_RETURN(DeviceDescription device,
                         LoadDeviceFor("", FLAGS_backend));
  if (index >= all.size()) {
    return absl::NotFoundError(
        absl::StrCat("nothing to run: ", all.size(),
                     " stored results in the folders, shard ", FLAGS_shard));
  }
  int64_t modules = 0, known = 0, failures = 0;
  for (size_t n = index; n < all.size(); n += count) {
    ++modules;
    // What XLA itself computed otherwise, for a reason that golden_test checks.
    const GoldenException* exception = FindGoldenException(all[n].name);
    if (exception == nullptr) {
      exception =
          FindGoldenException(absl::StrCat(all[n].folder, "/", all[n].name));
    }
    if (exception != nullptr && exception->reason == GoldenReason::kEndless) {
      ++known;  // on a device nothing would end it
      continue;
    }
    const absl::StatusOr<Comparison> result =
        Run(all[n], backend.get(), device);
    if (result.ok() && result->ok) continue;
    if (result.ok() && exception != nullptr) {
      ++known;
      continue;
    }
    ++failures;
    std::printf("FAILED %s\n%s\n", all[n].name.c_str(),
                result.ok() ? result->ToString().c_str()
                            : result.status().ToString().c_str());
  }
  std::printf(
      "%s: %lld modules, %lld of them known exceptions, %lld failures\n",
      backend->state().device().c_str(), static_cast<long long>(modules),
      static_cast<long long>(known), static_cast<long long>(failures));
  return failures == 0 ? 0 : 2;
}

}  // namespace
}  // namespace ridge

int main(int argc, char** argv) {
  gflags::SetUsageMessage(
      "Modules with stored results on a back end.\n"
      "example: golden_backend --backend=cuda $RIDGE_SHARED/hlo/small");
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  absl::StatusOr<int> code =
      ridge::Main(std::vector<std::string>(argv + 1, argv + argc));
  if (code.ok()) return *code;
  std::fprintf(stderr, "golden_backend: %s\n",
               code.status().ToString().c_str());
  return 1;
}
