// Drives a small tool as a person would: flags in, text and exit code out.

#include "tools/common/main.h"

#include <signal.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/file.h"
#include "hlo/base/status_matchers.h"
#include "tools/common/run_binary.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class MainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/main_test";
    RIDGE_ASSERT_OK(MakeDirs(folder_));
    RIDGE_ASSERT_OK(WriteFileAtomic(folder_ + "/hi.txt", "hi"));
  }

  // With relative paths taken from the folder of hi.txt.
  RunResult Run(const std::vector<std::string>& arguments) const {
    return RunBinary("tools/common/example_tool", arguments,
                     {{"BUILD_WORKING_DIRECTORY", folder_}});
  }

  // The tool must fail with this code and one line on stderr.
  void ExpectError(const std::vector<std::string>& arguments, int exit_code,
                   const std::string& message) const {
    const RunResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.err, "example: " + message + "\n");
  }

  std::string folder_;
};

constexpr char kHelpHint[] = " (example --help lists the flags)";

TEST_F(MainTest, DoneIsZero) {
  const RunResult result = Run({"hi.txt"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "hi");
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(MainTest, FlagsComeInEveryUsualForm) {
  EXPECT_EQ(Run({"--count=2", "hi.txt"}).out, "hihi");
  EXPECT_EQ(Run({"hi.txt", "-count", "3"}).out, "hihihi");
  EXPECT_EQ(Run({"--loud", "hi.txt"}).out, "hi!");
  EXPECT_EQ(Run({"--loud", "--noloud", "hi.txt"}).out, "hi");
  EXPECT_EQ(Run({"--loud=false", "--", "hi.txt"}).out, "hi");
}

TEST_F(MainTest, HelpIsTheToolsOwn) {
  for (const char* flag : {"--help", "-h", "-help"}) {
    const RunResult result = Run({flag});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out,
                StartsWith("Prints a file.\n\nUsage: example [flags] FILE\n\n"
                           "Example:\n  example --count=2 notes.txt\n\n"
                           "Flags:\n  --count=1\n      How often to print.\n"));
    EXPECT_THAT(result.out, HasSubstr("--format=table\n"));
    EXPECT_THAT(result.out, Not(HasSubstr("flagfile")));
    EXPECT_THAT(result.err, IsEmpty());
  }
}

TEST_F(MainTest, BadCommandLinesAreTheUsersFault) {
  ExpectError(
      {"--cuont=2", "hi.txt"}, 1,
      std::string("unknown flag --cuont; did you mean --count?") + kHelpHint);
  ExpectError({"--zzzzzz", "hi.txt"}, 1,
              std::string("unknown flag --zzzzzz") + kHelpHint);
  ExpectError({"--flagfile=x", "hi.txt"}, 1,
              std::string("unknown flag --flagfile") + kHelpHint);
  ExpectError({"--count=many", "hi.txt"}, 1,
              std::string("bad value 'many' for --count: needs a whole "
                          "number") +
                  kHelpHint);
  ExpectError({"hi.txt", "--count"}, 1,
              std::string("flag --count needs a value") + kHelpHint);
  ExpectError({"--format=xml", "hi.txt"}, 1,
              std::string("bad value 'xml' for --format: Form of the output: "
                          "table (for people) or json (for programs)") +
                  kHelpHint);
  ExpectError({}, 1, "no argument given; usage: example [flags] FILE");
  ExpectError({"a", "b"}, 1, "too many arguments; usage: example [flags] FILE");
}

TEST_F(MainTest, MissingFileIsTheUsersFault) {
  ExpectError(
      {"none.txt"}, 1,
      "cannot read '" + folder_ + "/none.txt': No such file or directory");
}

TEST_F(MainTest, FailedCheckIsTwoAndSilent) {
  const RunResult result = Run({"--end=check", "hi.txt"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "hi");
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(MainTest, RidgesOwnFaultsAreThree) {
  ExpectError({"--end=internal", "hi.txt"}, 3, "internal error: lost count");
  ExpectError({"--end=throw", "hi.txt"}, 3, "internal error: two lines");
  ExpectError({"--end=terminate", "hi.txt"}, 3, "internal error: on a thread");
}

TEST_F(MainTest, OutOfMemoryIsTheMachinesFault) {
  ExpectError({"--end=memory", "hi.txt"}, 1, "out of memory");
}

TEST_F(MainTest, FirstInterruptIsAFlagTheSecondEnds) {
  const RunResult once = Run({"--end=interrupt", "hi.txt"});
  EXPECT_EQ(once.exit_code, 0);
  EXPECT_EQ(once.out, "hi, stopped in good order");
  EXPECT_EQ(Run({"--end=interrupt_twice", "hi.txt"}).exit_code, 128 + SIGINT);
}

TEST_F(MainTest, OutputGoesWhereTheUserSaid) {
  EXPECT_EQ(Run({"--output=out.txt", "--format=json", "hi.txt"}).exit_code, 0);
  EXPECT_THAT(ReadFile(folder_ + "/out.txt"),
              IsOkAndHolds(std::string(R"({"count":1,"text":"hi"})")));
  ExpectError({"--output=/dev/full", "hi.txt"}, 1,
              "cannot write '/dev/full': No space left on device");
}

TEST_F(MainTest, OutputThatIsLostIsAnError) {
  const RunResult result =
      RunBinary("/bin/sh", {"-c", "tools/common/example_tool \"$0\" >/dev/full",
                            folder_ + "/hi.txt"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err,
            "example: cannot write the output: No space left on device\n");
}

TEST(ExitCodeTest, FollowsFromTheStatus) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("")), 1);
  EXPECT_EQ(ExitCodeOf(absl::NotFoundError("")), 1);
  EXPECT_EQ(ExitCodeOf(absl::FailedPreconditionError("")), 1);
  EXPECT_EQ(ExitCodeOf(absl::PermissionDeniedError("")), 1);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("")), 1);
  EXPECT_EQ(ExitCodeOf(absl::UnimplementedError("")), 1);
  EXPECT_EQ(ExitCodeOf(absl::OutOfRangeError("")), 1);
  EXPECT_EQ(ExitCodeOf(absl::ResourceExhaustedError("")), 1);
  EXPECT_EQ(ExitCodeOf(absl::AlreadyExistsError("")), 1);
  EXPECT_EQ(ExitCodeOf(absl::CancelledError("")), 1);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::UnknownError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::DataLossError("")), 3);
}

}  // namespace
}  // namespace ridge
