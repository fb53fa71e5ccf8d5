// A folder of byte strings, each under a key, that many processes share.
//
// An entry is a file named after the key's fingerprint. It holds the whole key
// beside the value, so that two keys with one fingerprint cannot be confused,
// and a checksum, so that a damaged file is a miss and is removed. Files
// appear by rename and are whole from the start. When the folder outgrows its
// limit, the entries not used for longest go.
//
// A cache never fails: what cannot be read is a miss, what cannot be written
// is forgotten, and Stats tells.

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_DISK_CACHE_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_DISK_CACHE_H_

#include <cstdint>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace ridge::cuda {

// The user's cache folder for Ridge: RIDGE_CACHE_DIR, else
// $XDG_CACHE_HOME/ridge, else ~/.cache/ridge; "" if none of them is set.
std::string DefaultCacheFolder();

class DiskCache {
 public:
  struct Stats {
    int64_t hits = 0;
    int64_t misses = 0;
    int64_t corrupt = 0;  // among the misses
    int64_t stored = 0;
    int64_t store_errors = 0;
    int64_t evicted = 0;
  };

  // 512 MiB: some 10,000 cubins of 50 KB.
  static constexpr int64_t kDefaultMaxBytes = int64_t{512} << 20;

  // The folder is made at the first Put. An empty name is a cache that keeps
  // nothing.
  explicit DiskCache(std::string folder, int64_t max_bytes = kDefaultMaxBytes);

  // Safe from any thread.
  absl::optional<std::string> Get(absl::string_view key);
  void Put(absl::string_view key, absl::string_view value);

  // Where the key's entry lies, whether or not it is there.
  std::string PathOf(absl::string_view key) const;
  Stats stats() const;
  const std::string& folder() const { return folder_; }

 private:
  // Removes the oldest files until the folder is down to nine tenths of its
  // limit, if it is over it.
  void EvictIfFull(int64_t added_bytes);

  const std::string folder_;
  const int64_t max_bytes_;
  // The standard library's: ThreadSanitizer sees through it, as it does not
  // through a system library's that is built without it.
  mutable std::mutex mutex_;  // guards what follows
  Stats stats_;
  // Bytes in the folder as last counted, plus what this object added since;
  // -1: not counted yet. Other processes add too, hence recounted when full.
  int64_t folder_bytes_ = -1;
};

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_DISK_CACHE_H_
