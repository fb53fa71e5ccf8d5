#include "hlo/base/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"

namespace ridge {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/file_test." +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    ASSERT_TRUE(std::filesystem::create_directories(folder_));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const {
    return folder_ + "/" + name;
  }
  int FilesInFolder() const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      (void)entry;
      ++count;
    }
    return count;
  }

  std::string folder_;
};

TEST_F(FileTest, ReadsBackWhatWasWritten) {
  const std::string contents("a\0b\n", 4);
  for (const std::string& text :
       {std::string(), contents, std::string(100000, 'x')}) {
    RIDGE_ASSERT_OK(WriteFileAtomic(Path("x"), text));
    EXPECT_THAT(ReadFile(Path("x")), IsOkAndHolds(text));
  }
  EXPECT_EQ(FilesInFolder(), 1) << "a temporary file was left behind";
}

TEST_F(FileTest, ReadsFilesWithoutASize) {
  RIDGE_ASSERT_OK_AND_ASSIGN(std::string text, ReadFile("/proc/self/status"));
  EXPECT_THAT(text, HasSubstr("Name:"));
}

TEST_F(FileTest, MissingFileAndFolderAreNamed) {
  EXPECT_THAT(ReadFile(Path("none")),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("cannot read"), HasSubstr("/none'"),
                             HasSubstr("No such file"))));
  EXPECT_THAT(ReadFile(folder_), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("Is a directory")));
  EXPECT_THAT(WriteFileAtomic(folder_, "x"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(WriteFileAtomic(Path("no/x"), "x"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no'")));
}

TEST_F(FileTest, UnreadableFileIsPermissionDenied) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read and write everything";
  RIDGE_ASSERT_OK(WriteFileAtomic(Path("x"), "x"));
  ASSERT_EQ(chmod(Path("x").c_str(), 0), 0);
  EXPECT_THAT(ReadFile(Path("x")),
              StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(WriteFileAtomic(Path("x"), "y"),
              StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(FileTest, FailedWriteLeavesTheOldFileAlone) {
  EXPECT_THAT(WriteFileAtomic("/dev/full", "x"),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(FilesInFolder(), 0);
}

TEST_F(FileTest, WriteKeepsModeAndFollowsLinks) {
  RIDGE_ASSERT_OK(WriteFileAtomic(Path("x"), "old"));
  ASSERT_EQ(chmod(Path("x").c_str(), 0640), 0);
  ASSERT_EQ(symlink("x", Path("link").c_str()), 0);
  RIDGE_ASSERT_OK(WriteFileAtomic(Path("link"), "new"));
  EXPECT_THAT(ReadFile(Path("x")), IsOkAndHolds(std::string("new")));
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
  struct stat info;
  ASSERT_EQ(stat(Path("x").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
}

TEST_F(FileTest, ReadersNeverSeeAPart) {
  const std::string a(50000, 'a');
  const std::string b(30000, 'b');
  RIDGE_ASSERT_OK(WriteFileAtomic(Path("x"), a));
  std::vector<std::thread> writers;
  for (const std::string* text : {&a, &b}) {
    writers.emplace_back([this, text] {
      for (int i = 0; i < 20; ++i) {
        RIDGE_EXPECT_OK(WriteFileAtomic(Path("x"), *text));
      }
    });
  }
  for (int i = 0; i < 100; ++i) {
    RIDGE_ASSERT_OK_AND_ASSIGN(std::string text, ReadFile(Path("x")));
    EXPECT_TRUE(text == a || text == b);
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(FilesInFolder(), 1);
}

TEST_F(FileTest, MakeDirsMakesAllAndAcceptsWhatIsThere) {
  RIDGE_EXPECT_OK(MakeDirs(Path("a/b/c")));
  RIDGE_EXPECT_OK(MakeDirs(Path("a/b/c/")));
  EXPECT_TRUE(std::filesystem::is_directory(Path("a/b/c")));
  RIDGE_ASSERT_OK(WriteFileAtomic(Path("f"), ""));
  EXPECT_THAT(MakeDirs(Path("f")),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(MakeDirs(Path("f/g")),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(FileTest, UserPathsAreTakenFromTheBuildWorkingDirectory) {
  unsetenv("BUILD_WORKING_DIRECTORY");
  EXPECT_EQ(ResolveUserPath("a/b"), "a/b");
  setenv("BUILD_WORKING_DIRECTORY", "/home/me", 1);
  EXPECT_EQ(ResolveUserPath("a/b"), "/home/me/a/b");
  EXPECT_EQ(ResolveUserPath("/a/b"), "/a/b");
  EXPECT_EQ(ResolveUserPath(""), "");
  unsetenv("BUILD_WORKING_DIRECTORY");
}

}  // namespace
}  // namespace ridge
