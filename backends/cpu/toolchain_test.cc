#include "backends/cpu/toolchain.h"

#include <dirent.h>

#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/base/file.h"
#include "hlo/base/status_matchers.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;

// An empty cache folder for each test.
class ToolchainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = absl::StrCat(
        ::testing::TempDir(), "/cache_",
        ::testing::UnitTest::GetInstance()->current_test_info()->name());
    setenv("RIDGE_CACHE_DIR", folder_.c_str(), 1);
    unsetenv("RIDGE_CXX");
  }

  std::string OnlyCachedFile() const {
    std::string found;
    DIR* dir = opendir(absl::StrCat(folder_, "/cpu").c_str());
    if (dir == nullptr) return found;
    while (const dirent* entry = readdir(dir)) {
      if (absl::EndsWith(entry->d_name, ".so")) {
        EXPECT_EQ(found, "") << "more than one";
        found = absl::StrCat(folder_, "/cpu/", entry->d_name);
      }
    }
    closedir(dir);
    return found;
  }

  static int Call(const LoadedLibrary& library) {
    return reinterpret_cast<int (*)()>(library.Symbol("answer").value())();
  }

  std::string folder_;
  const std::string source_ = "extern \"C\" int answer() { return 42; }\n";
};

TEST_F(ToolchainTest, CompilesOnceAndThenComesFromTheCache) {
  RIDGE_ASSERT_OK_AND_ASSIGN(Toolchain toolchain, FindToolchain());
  for (bool cached : {false, true}) {
    bool from_cache = !cached;
    absl::StatusOr<std::unique_ptr<LoadedLibrary>> library =
        CompileAndLoad(toolchain, source_, {}, &from_cache);
    RIDGE_ASSERT_OK(library);
    EXPECT_EQ(Call(**library), 42);
    EXPECT_EQ(from_cache, cached);
  }
}

TEST_F(ToolchainTest, OptionsAreAPartOfTheKey) {
  RIDGE_ASSERT_OK_AND_ASSIGN(Toolchain toolchain, FindToolchain());
  RIDGE_ASSERT_OK(CompileAndLoad(toolchain, source_, {}));
  ToolchainOptions options;
  options.fma_contraction = false;
  bool from_cache = true;
  RIDGE_ASSERT_OK(CompileAndLoad(toolchain, source_, options, &from_cache));
  EXPECT_FALSE(from_cache);
}

TEST_F(ToolchainTest, ACachedFileThatWasCutShortIsCompiledAgain) {
  RIDGE_ASSERT_OK_AND_ASSIGN(Toolchain toolchain, FindToolchain());
  RIDGE_ASSERT_OK(CompileAndLoad(toolchain, source_, {}));
  const std::string file = OnlyCachedFile();
  ASSERT_NE(file, "");
  RIDGE_ASSERT_OK_AND_ASSIGN(std::string bytes, ReadFile(file));
  for (size_t size : {bytes.size() - 1, bytes.size() / 2, size_t{10}}) {
    SCOPED_TRACE(size);
    RIDGE_ASSERT_OK(WriteFileAtomic(file, bytes.substr(0, size)));
    bool from_cache = true;
    absl::StatusOr<std::unique_ptr<LoadedLibrary>> library =
        CompileAndLoad(toolchain, source_, {}, &from_cache);
    RIDGE_ASSERT_OK(library);
    EXPECT_FALSE(from_cache);
    EXPECT_EQ(Call(**library), 42);
  }
}

TEST_F(ToolchainTest, WithoutAFolderForTheCacheItCompilesAllTheSame) {
  RIDGE_ASSERT_OK_AND_ASSIGN(Toolchain toolchain, FindToolchain());
  setenv("RIDGE_CACHE_DIR", "/dev/null/nowhere", 1);
  absl::StatusOr<std::unique_ptr<LoadedLibrary>> library =
      CompileAndLoad(toolchain, source_, {});
  RIDGE_ASSERT_OK(library);
  EXPECT_EQ(Call(**library), 42);
}

TEST_F(ToolchainTest, ACompilerThatIsNotThereIsNamed) {
  setenv("RIDGE_CXX", "/nowhere/c++17", 1);
  EXPECT_THAT(FindToolchain(), StatusIs(absl::StatusCode::kUnavailable,
                                        HasSubstr("/nowhere/c++17")));
}

TEST_F(ToolchainTest, TextThatDoesNotCompileShowsTheCompilersWords) {
  RIDGE_ASSERT_OK_AND_ASSIGN(Toolchain toolchain, FindToolchain());
  EXPECT_THAT(CompileAndLoad(toolchain, "int f( {", {}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("error")));
}

}  // namespace
}  // namespace ridge
