// Every system library is included, linked and called once.

#include <gflags/gflags.h>
#include <sqlite3.h>
#include <xxhash.h>
#include <zlib.h>

#include <Eigen/Dense>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/bazel/selftest/greet.h"

#ifdef RIDGE_HAVE_CUDA_HEADERS
#include <cublasLt.h>
#include <cuda.h>
#include <nvrtc.h>
#endif

DEFINE_int32(selftest_flag, 7, "A flag.");

namespace ridge::selftest {
namespace {

using ::testing::ElementsAre;

TEST(SelftestTest, Abseil) {
  absl::flat_hash_map<std::string, int> map = {{"a", 1}};
  absl::StatusOr<int> value = map["a"];
  absl::Mutex mutex;
  absl::MutexLock lock(&mutex);
  EXPECT_GT(absl::Now(), absl::UnixEpoch());
  EXPECT_EQ(absl::StrFormat("%d", *value), "1");
}

TEST(SelftestTest, Protobuf) {
  Greeting parsed;
  ASSERT_TRUE(parsed.ParseFromString(MakeGreeting("x").SerializeAsString()));
  EXPECT_EQ(GreetingText(parsed), "Hello, x");
}

TEST(SelftestTest, Gflags) { EXPECT_EQ(FLAGS_selftest_flag, 7); }

TEST(SelftestTest, Gmock) {
  EXPECT_THAT((std::vector<int>{1, 2}), ElementsAre(1, 2));
}

TEST(SelftestTest, Eigen) {
  Eigen::Matrix2d m;
  m << 1, 2, 3, 4;
  EXPECT_DOUBLE_EQ(m.determinant(), -2.0);
}

TEST(SelftestTest, Sqlite) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(":memory:", &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, "create table t(a)", nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_EQ(sqlite3_close(db), SQLITE_OK);
}

TEST(SelftestTest, Json) {
  EXPECT_EQ(nlohmann::json::parse(R"({"a":[1,2]})")["a"][1], 2);
}

TEST(SelftestTest, XxhashAndZlib) {
  EXPECT_EQ(XXH3_64bits("", 0), 0x2d06800538d394c2ULL);
  EXPECT_EQ(crc32(0, nullptr, 0), 0u);
}

TEST(SelftestTest, CudaHeaders) {
#ifdef RIDGE_HAVE_CUDA_HEADERS
  EXPECT_GE(CUDA_VERSION, 11000);
  EXPECT_EQ(NVRTC_SUCCESS, 0);
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, 0);
#else
  GTEST_SKIP() << "No CUDA headers when this was configured.";
#endif
}

}  // namespace
}  // namespace ridge::selftest
