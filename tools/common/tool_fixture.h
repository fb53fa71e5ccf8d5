// What end-to-end tests of the tools share: a folder of their own, files in
// it, and a tool to run.
#ifndef RIDGE_TOOLS_COMMON_TOOL_FIXTURE_H_
#define RIDGE_TOOLS_COMMON_TOOL_FIXTURE_H_

#include <sys/stat.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/file.h"
#include "hlo/base/status_matchers.h"
#include "tools/common/run_binary.h"

namespace ridge {

class ToolTest : public ::testing::Test {
 protected:
  // `tool` is one of the test's `data`, named from the repository's root.
  explicit ToolTest(std::string tool) : tool_(std::move(tool)) {}

  void SetUp() override {
    const ::testing::TestInfo* info =
        ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = absl::StrCat(::testing::TempDir(), "/", info->test_suite_name(),
                           "_", info->name());
    RIDGE_ASSERT_OK(MakeDirs(folder_));
  }

  std::string Path(absl::string_view name) const {
    return absl::StrCat(folder_, "/", name);
  }

  std::string File(absl::string_view name, absl::string_view text) {
    std::string path = Path(name);
    EXPECT_THAT(WriteFileAtomic(path, text), IsOk());
    return path;
  }

  RunResult Run(const std::vector<std::string>& arguments,
                std::map<std::string, std::string> environment = {}) {
    environment.emplace("RIDGE_CACHE_DIR",
                        absl::StrCat(::testing::TempDir(), "/tool_cache"));
    return RunBinary(tool_, arguments, environment);
  }

  // One message on stderr that names `what`, nothing on stdout, exit code 1.
  static void ExpectUserError(const RunResult& result,
                              const std::string& what) {
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, ::testing::HasSubstr(what));
    EXPECT_EQ(result.out, "");
  }

  // Every way in which a module file can be bad. `arguments` follow the file.
  void ExpectBadModulesAreRefused(const std::vector<std::string>& arguments) {
    struct Bad {
      const char* name;
      std::string text;
      const char* what;
    };
    const Bad bad[] = {
        {"empty.hlo", "", "empty.hlo"},
        {"binary.hlo",
         std::string("\x7f"
                     "ELF\0\1\2",
                     7),
         "binary.hlo"},
        {"cut.hlo", "HloModule m\nENTRY e {\n  x = f32[2] para", "cut.hlo"},
        {"opcode.hlo",
         "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n"
         "  ROOT r = f32[2] frobnicate(x)\n}\n",
         "opcode.hlo:4:"},
        {"shape.hlo",
         "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n"
         "  ROOT r = f32[3] negate(x)\n}\n",
         "f32[3]"},
    };
    for (const Bad& b : bad) {
      std::vector<std::string> line = {File(b.name, b.text)};
      line.insert(line.end(), arguments.begin(), arguments.end());
      ExpectUserError(Run(line), b.what);
    }
    std::vector<std::string> line = {Path("nowhere.hlo")};
    line.insert(line.end(), arguments.begin(), arguments.end());
    ExpectUserError(Run(line), "nowhere.hlo");
  }

  static bool Exists(const std::string& path) {
    struct stat info;
    return stat(path.c_str(), &info) == 0;
  }

  std::string tool_;
  std::string folder_;
};

}  // namespace ridge

#endif  // RIDGE_TOOLS_COMMON_TOOL_FIXTURE_H_
