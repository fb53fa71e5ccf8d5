#include "autotune/database.h"

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/file.h"
#include "hlo/base/status_matchers.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;

std::string TempFile(const std::string& name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/" + name;
}

TEST(DatabaseTest, WhatIsStoredIsFoundAgainByAnotherConnection) {
  const std::string path = TempFile("tuning.db");
  TuningKey key{"m", "p", "H200|cuda|13.0"};
  {
    RIDGE_ASSERT_OK_AND_ASSIGN(auto db, TuningDatabase::Open(path));
    RIDGE_ASSERT_OK(db->Store(key, {12.5, 0.1, ""}));
  }
  RIDGE_ASSERT_OK_AND_ASSIGN(auto db, TuningDatabase::Open(path));
  RIDGE_ASSERT_OK_AND_ASSIGN(auto found, db->Find(key));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->median_us, 12.5);
  key.environment = "H200|cuda|13.1";
  RIDGE_ASSERT_OK_AND_ASSIGN(found, db->Find(key));
  EXPECT_FALSE(found.has_value()) << "another driver's result does not count";
}

TEST(DatabaseTest, AFileThatIsNoDatabaseIsNamed) {
  const std::string path = TempFile("text.db");
  RIDGE_ASSERT_OK(WriteFileAtomic(path, std::string(5000, 'x')));
  absl::Status status = TuningDatabase::Open(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("text.db"));
}

}  // namespace
}  // namespace ridge
