#include "backends/cuda/driver/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/file.h"
#include "hlo/base/status_matchers.h"

namespace ridge::cuda {
namespace {

using ::testing::Optional;

std::string FreshFolder() {
  std::string folder = ::testing::TempDir() + "/cache.XXXXXX";
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  return folder + "/sub";  // made by the cache
}

std::string ValueOf(int i) {
  return absl::StrCat(i, ":", std::string(1000 + i, static_cast<char>(i)));
}

// Sets the file's time of use to `seconds` after 1970.
void SetUsed(const std::string& path, int seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

int CountFiles(const std::string& folder) {
  int count = 0;
  DIR* dir = opendir(folder.c_str());
  while (const dirent* item = readdir(dir)) count += item->d_name[0] != '.';
  closedir(dir);
  return count;
}

TEST(DiskCacheTest, ReturnsWhatWasPutAlsoInANewProcess) {
  const std::string folder = FreshFolder();
  {
    DiskCache cache(folder);
    EXPECT_EQ(cache.Get("key"), absl::nullopt);
    cache.Put("key", std::string("a\0b", 3));
    EXPECT_THAT(cache.Get("key"), Optional(std::string("a\0b", 3)));
    EXPECT_EQ(cache.stats().hits, 1);
    EXPECT_EQ(cache.stats().misses, 1);
    EXPECT_EQ(cache.stats().stored, 1);
  }
  DiskCache again(folder);
  EXPECT_THAT(again.Get("key"), Optional(std::string("a\0b", 3)));
}

TEST(DiskCacheTest, PutReplaces) {
  DiskCache cache(FreshFolder());
  cache.Put("key", "old");
  cache.Put("key", "new");
  EXPECT_THAT(cache.Get("key"), Optional(std::string("new")));
}

TEST(DiskCacheTest, AnyDamagedByteIsAMissAndTheFileGoes) {
  const std::string folder = FreshFolder();
  DiskCache cache(folder);
  cache.Put("key", "value");
  const std::string path = cache.PathOf("key");
  RIDGE_ASSERT_OK_AND_ASSIGN(const std::string whole, ReadFile(path));
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] ^= 0x10;
    RIDGE_ASSERT_OK(WriteFileAtomic(path, damaged));
    EXPECT_EQ(cache.Get("key"), absl::nullopt) << "byte " << i;
    EXPECT_NE(access(path.c_str(), F_OK), 0) << "byte " << i;
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    RIDGE_ASSERT_OK(WriteFileAtomic(path, whole.substr(0, size)));
    EXPECT_EQ(cache.Get("key"), absl::nullopt) << size << " bytes";
  }
  EXPECT_EQ(cache.stats().corrupt, 2 * static_cast<int64_t>(whole.size()));
  cache.Put("key", "value");
  EXPECT_THAT(cache.Get("key"), Optional(std::string("value")));
}

TEST(DiskCacheTest, ASharedFingerprintIsNotASharedValue) {
  DiskCache cache(FreshFolder());
  cache.Put("key", "value");
  // What a collision would look like: another key's file under this name.
  RIDGE_ASSERT_OK_AND_ASSIGN(const std::string file,
                             ReadFile(cache.PathOf("key")));
  RIDGE_ASSERT_OK(WriteFileAtomic(cache.PathOf("other"), file));
  EXPECT_EQ(cache.Get("other"), absl::nullopt);
  EXPECT_EQ(cache.stats().corrupt, 0);
}

TEST(DiskCacheTest, EvictsWhatWasNotUsedForLongest) {
  // Room for four entries of about 1,040 bytes.
  DiskCache cache(FreshFolder(), /*max_bytes=*/4500);
  for (int i = 0; i < 4; ++i) {
    cache.Put(absl::StrCat("key", i), std::string(1000, 'x'));
    SetUsed(cache.PathOf(absl::StrCat("key", i)), 1000 + i);
  }
  EXPECT_EQ(cache.stats().evicted, 0);
  // Using the oldest makes it the newest.
  EXPECT_NE(cache.Get("key0"), absl::nullopt);
  cache.Put("key4", std::string(1000, 'x'));
  EXPECT_EQ(cache.stats().evicted, 2);  // down to nine tenths
  EXPECT_NE(cache.Get("key0"), absl::nullopt);
  EXPECT_EQ(cache.Get("key1"), absl::nullopt);
  EXPECT_EQ(cache.Get("key2"), absl::nullopt);
  EXPECT_NE(cache.Get("key3"), absl::nullopt);
  EXPECT_NE(cache.Get("key4"), absl::nullopt);
}

TEST(DiskCacheTest, CountsWhatOtherProcessesStored) {
  const std::string folder = FreshFolder();
  DiskCache first(folder, /*max_bytes=*/10'000);
  DiskCache second(folder, /*max_bytes=*/10'000);
  for (int i = 0; i < 50; ++i) {
    first.Put(absl::StrCat("a", i), std::string(1000, 'x'));
    second.Put(absl::StrCat("b", i), std::string(1000, 'x'));
  }
  // Each alone sees half; together they may pass the limit by one recount.
  EXPECT_LE(CountFiles(folder), 18);
}

TEST(DiskCacheTest, ProcessesAndThreadsAtOnceSeeWholeValuesOnly) {
  const std::string folder = FreshFolder();
  // Ten keys, a limit that forces eviction all the time, four processes.
  auto hammer = [&folder] {
    DiskCache cache(folder, /*max_bytes=*/6000);
    for (int round = 0; round < 60; ++round) {
      const int i = round % 10;
      cache.Put(absl::StrCat("key", i), ValueOf(i));
      const int j = (round * 7) % 10;
      const absl::optional<std::string> value =
          cache.Get(absl::StrCat("key", j));
      if (value.has_value() && *value != ValueOf(j)) return false;
    }
    return cache.stats().corrupt == 0 && cache.stats().store_errors == 0;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(hammer() ? 0 : 1);
    children.push_back(child);
  }
  std::vector<int> ok(2, 0);
  std::vector<std::thread> threads;
  for (int& result : ok) {
    threads.emplace_back([&result, &hammer] { result = hammer(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(ok, ::testing::Each(1));
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  DiskCache cache(folder);
  for (int i = 0; i < 10; ++i) {
    cache.Put(absl::StrCat("key", i), ValueOf(i));
  }
  EXPECT_EQ(CountFiles(folder), 10);  // no temporary file is left
}

TEST(DiskCacheTest, AFolderThatCannotBeMadeIsACacheThatForgets) {
  const std::string folder = FreshFolder();
  RIDGE_ASSERT_OK(WriteFileAtomic(folder, "a file in the way"));
  DiskCache cache(folder);
  cache.Put("key", "value");
  EXPECT_EQ(cache.Get("key"), absl::nullopt);
  EXPECT_EQ(cache.stats().store_errors, 1);
  DiskCache none("");
  none.Put("key", "value");
  EXPECT_EQ(none.Get("key"), absl::nullopt);
}

TEST(DiskCacheTest, FolderComesFromTheEnvironment) {
  setenv("HOME", "/home/u", 1);
  unsetenv("XDG_CACHE_HOME");
  unsetenv("RIDGE_CACHE_DIR");
  EXPECT_EQ(DefaultCacheFolder(), "/home/u/.cache/ridge");
  setenv("XDG_CACHE_HOME", "/var/xdg", 1);
  EXPECT_EQ(DefaultCacheFolder(), "/var/xdg/ridge");
  setenv("RIDGE_CACHE_DIR", "/fast/disk", 1);
  EXPECT_EQ(DefaultCacheFolder(), "/fast/disk");
  for (const char* name : {"HOME", "XDG_CACHE_HOME", "RIDGE_CACHE_DIR"}) {
    unsetenv(name);
  }
  EXPECT_EQ(DefaultCacheFolder(), "");
}

}  // namespace
}  // namespace ridge::cuda
