#include "backends/cuda/driver/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "hlo/base/file.h"
#include "hlo/base/fingerprint.h"

namespace ridge::cuda {
namespace {

constexpr absl::string_view kMagic = "RIDGEC01";
constexpr absl::string_view kSuffix = ".entry";
// A temporary file of a process that died is litter after this long.
constexpr int64_t kStaleSeconds = 3600;

void AppendU64(uint64_t value, std::string* out) {
  for (int i = 0; i < 8; ++i) {
    out->push_back(static_cast<char>(value >> (8 * i)));
  }
}

// Takes eight bytes off the front; there must be as many.
uint64_t TakeU64(absl::string_view* in) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) {
    value |= static_cast<uint64_t>(static_cast<uint8_t>((*in)[i])) << (8 * i);
  }
  in->remove_prefix(8);
  return value;
}

// File: magic, checksum of the rest, key size, value size, key, value. Sizes
// and checksum are 8 bytes, lowest first.
std::string Encode(absl::string_view key, absl::string_view value) {
  std::string body;
  body.reserve(16 + key.size() + value.size());
  AppendU64(key.size(), &body);
  AppendU64(value.size(), &body);
  absl::StrAppend(&body, key, value);
  std::string file(kMagic);
  AppendU64(Fingerprint64Of(body), &file);
  return file + body;
}

enum class Decoded { kValue, kOtherKey, kCorrupt };

Decoded Decode(absl::string_view file, absl::string_view key,
               std::string* value) {
  if (file.size() < kMagic.size() + 24 || !absl::StartsWith(file, kMagic)) {
    return Decoded::kCorrupt;
  }
  file.remove_prefix(kMagic.size());
  const uint64_t checksum = TakeU64(&file);
  if (Fingerprint64Of(file) != checksum) return Decoded::kCorrupt;
  const uint64_t key_size = TakeU64(&file);
  const uint64_t value_size = TakeU64(&file);
  if (key_size > file.size() || value_size != file.size() - key_size) {
    return Decoded::kCorrupt;
  }
  if (file.substr(0, key_size) != key) return Decoded::kOtherKey;
  *value = std::string(file.substr(key_size));
  return Decoded::kValue;
}

// Writes a temporary file beside `path` and renames it. Without the fsync of
// WriteFileAtomic, which costs milliseconds an entry: after a crash of the
// machine the checksum tells what was lost.
bool WriteByRename(const std::string& path, absl::string_view contents) {
  std::string temporary = path + ".XXXXXX";
  const int fd = mkstemp(temporary.data());
  if (fd < 0) return false;
  bool ok = true;
  while (ok && !contents.empty()) {
    const ssize_t written = write(fd, contents.data(), contents.size());
    if (written >= 0) {
      contents.remove_prefix(written);
    } else if (errno != EINTR) {
      ok = false;
    }
  }
  if (close(fd) != 0) ok = false;
  ok = ok && rename(temporary.c_str(), path.c_str()) == 0;
  if (!ok) unlink(temporary.c_str());
  return ok;
}

struct Entry {
  std::string path;
  int64_t bytes = 0;
  timespec used = {};
};

bool OlderThan(const Entry& a, const Entry& b) {
  if (a.used.tv_sec != b.used.tv_sec) return a.used.tv_sec < b.used.tv_sec;
  if (a.used.tv_nsec != b.used.tv_nsec) return a.used.tv_nsec < b.used.tv_nsec;
  return a.path < b.path;
}

// The cache's files. Removes temporary files that nobody will rename any more.
std::vector<Entry> ListEntries(const std::string& folder) {
  std::vector<Entry> entries;
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return entries;
  const time_t now = time(nullptr);
  while (const dirent* item = readdir(dir)) {
    const absl::string_view name = item->d_name;
    if (name == "." || name == "..") continue;
    std::string path = absl::StrCat(folder, "/", name);
    struct stat info = {};
    // Gone meanwhile: another process evicted it.
    if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (absl::EndsWith(name, kSuffix)) {
      entries.push_back({std::move(path), info.st_size, info.st_mtim});
    } else if (now - info.st_mtim.tv_sec > kStaleSeconds) {
      unlink(path.c_str());
    }
  }
  closedir(dir);
  return entries;
}

}  // namespace

std::string DefaultCacheFolder() {
  auto environment = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (std::string dir = environment("RIDGE_CACHE_DIR"); !dir.empty()) {
    return dir;
  }
  if (std::string dir = environment("XDG_CACHE_HOME"); !dir.empty()) {
    return dir + "/ridge";
  }
  if (std::string dir = environment("HOME"); !dir.empty()) {
    return dir + "/.cache/ridge";
  }
  return "";
}

DiskCache::DiskCache(std::string folder, int64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {}

std::string DiskCache::PathOf(absl::string_view key) const {
  return absl::StrCat(folder_, "/", Fingerprint128Of(key).ToHex(), kSuffix);
}

absl::optional<std::string> DiskCache::Get(absl::string_view key) {
  if (folder_.empty()) return absl::nullopt;
  const std::string path = PathOf(key);
  const absl::StatusOr<std::string> file = ReadFile(path);
  std::string value;
  const Decoded decoded =
      file.ok() ? Decode(*file, key, &value) : Decoded::kOtherKey;
  // If another process has just replaced it with a whole one, that is lost;
  // it only has to be made again.
  if (decoded == Decoded::kCorrupt) unlink(path.c_str());
  // The time of use, for eviction. May fail in a folder that is read-only.
  if (decoded == Decoded::kValue) {
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (decoded == Decoded::kValue) {
    ++stats_.hits;
    return value;
  }
  ++stats_.misses;
  if (decoded == Decoded::kCorrupt) ++stats_.corrupt;
  return absl::nullopt;
}

void DiskCache::Put(absl::string_view key, absl::string_view value) {
  if (folder_.empty()) return;
  const std::string file = Encode(key, value);
  const bool ok = MakeDirs(folder_).ok() && WriteByRename(PathOf(key), file);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!ok) {
      ++stats_.store_errors;
      return;
    }
    ++stats_.stored;
  }
  EvictIfFull(static_cast<int64_t>(file.size()));
}

void DiskCache::EvictIfFull(int64_t added_bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (folder_bytes_ >= 0) {
    folder_bytes_ += added_bytes;
    if (folder_bytes_ <= max_bytes_) return;
  }
  std::vector<Entry> entries = ListEntries(folder_);
  folder_bytes_ = 0;
  for (const Entry& entry : entries) folder_bytes_ += entry.bytes;
  if (folder_bytes_ <= max_bytes_) return;
  std::sort(entries.begin(), entries.end(), OlderThan);
  const int64_t target = max_bytes_ / 10 * 9;
  for (const Entry& entry : entries) {
    if (folder_bytes_ <= target) break;
    if (unlink(entry.path.c_str()) == 0) ++stats_.evicted;
    folder_bytes_ -= entry.bytes;
  }
}

DiskCache::Stats DiskCache::stats() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

}  // namespace ridge::cuda
