// The tuning database: what was measured, kept in SQLite, so that a sweep can
// be interrupted and resumed and processes can share results.
#ifndef RIDGE_AUTOTUNE_DATABASE_H_
#define RIDGE_AUTOTUNE_DATABASE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/runtime/measurement.pb.h"

struct sqlite3;

namespace ridge {

// What a result holds for: equal keys measured the same thing.
struct TuningKey {
  std::string module_fingerprint;
  std::string plan_fingerprint;
  std::string environment;  // see EnvironmentOf
};

// Device, back end and versions; a result of another driver does not count.
std::string EnvironmentOf(const DeviceState& state);

struct TuningResult {
  double median_us = 0;
  double spread = 0;
  std::string failure;  // "wrong result: ...", "did not compile: ..."; else ""
};

class TuningDatabase {
 public:
  // Creates the file where there is none; "" keeps everything in memory.
  // InvalidArgument where the file is something else.
  static absl::StatusOr<std::unique_ptr<TuningDatabase>> Open(
      const std::string& path);
  ~TuningDatabase();
  TuningDatabase(const TuningDatabase&) = delete;
  TuningDatabase& operator=(const TuningDatabase&) = delete;

  absl::StatusOr<std::optional<TuningResult>> Find(const TuningKey& key);
  // Replaces what is there. Safe beside other processes.
  absl::Status Store(const TuningKey& key, const TuningResult& result);

 private:
  TuningDatabase(sqlite3* db, std::string path)
      : db_(db), path_(std::move(path)) {}
  absl::Status Error(const char* what) const;

  sqlite3* db_;
  std::string path_;
};

}  // namespace ridge

#endif  // RIDGE_AUTOTUNE_DATABASE_H_
