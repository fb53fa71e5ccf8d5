// The modules of $RIDGE_SHARED/hlo/small on the CPU, against the results that
// XLA gave, for plans without and with fusion.
#include <dirent.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/runtime/backend.h"
#include "backends/runtime/physical.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"
#include "tools/common/execute.h"
#include "tools/common/load.h"

namespace ridge {
namespace {

std::string Folder() {
  const char* shared = std::getenv("RIDGE_SHARED");
  return shared == nullptr || *shared == 0 ? ""
                                           : absl::StrCat(shared, "/hlo/small");
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  DIR* dir = Folder().empty() ? nullptr : opendir(Folder().c_str());
  if (dir == nullptr) return names;
  while (const dirent* entry = readdir(dir)) {
    std::string name = entry->d_name;
    if (absl::EndsWith(name, ".hlo")) {
      names.push_back(name.substr(0, name.size() - 4));
    }
  }
  closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

class SmallModulesTest : public ::testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SmallModulesTest);

TEST_P(SmallModulesTest, AgreesWithXla) {
  const std::string stem = absl::StrCat(Folder(), "/", GetParam());
  absl::StatusOr<LoadedModule> module = LoadModule(stem + ".hlo");
  RIDGE_ASSERT_OK(module);
  const std::string data = stem + ".safetensors";
  RIDGE_ASSERT_OK_AND_ASSIGN(std::vector<Literal> arguments,
                             LoadArguments(*module->written, data, 0));
  RIDGE_ASSERT_OK_AND_ASSIGN(Literal expected,
                             LoadExpected(*module->written, data));
  absl::StatusOr<std::unique_ptr<Backend>> cpu = MakeCpuBackend();
  RIDGE_ASSERT_OK(cpu);
  RIDGE_ASSERT_OK_AND_ASSIGN(DeviceDescription device,
                             LoadDeviceFor("", "cpu"));
  for (const char* strategy : {"none", "greedy"}) {
    SCOPED_TRACE(strategy);
    PlanRequest planning;
    planning.strategy = strategy;
    planning.device = &device;
    RIDGE_ASSERT_OK_AND_ASSIGN(Plan plan,
                               LoadPlan(*module->canonical, planning));
    ExecuteRequest request;
    request.module = &*module;
    request.plan = &plan;
    request.backend = cpu->get();
    request.arguments = arguments;
    request.expected = expected;
    RIDGE_ASSERT_OK_AND_ASSIGN(ExecuteReport report, ExecutePlan(request));
    EXPECT_TRUE(report.ok()) << report.comparison->ToString();
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmallModulesTest, ::testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

TEST(SharedDataTest, IsThere) {
  if (Folder().empty()) {
    GTEST_SKIP() << "RIDGE_SHARED is not set: nothing to compare with";
  }
  EXPECT_FALSE(Names().empty()) << Folder();
}

}  // namespace
}  // namespace ridge
