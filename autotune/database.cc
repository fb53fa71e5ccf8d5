#include "autotune/database.h"

#include <sqlite3.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

constexpr int kBusyMilliseconds = 10000;
// "RDGT": tells our files from other SQLite databases.
constexpr int kApplicationId = 0x52444754;

constexpr char kSchema[] =
    "CREATE TABLE IF NOT EXISTS results("
    "module TEXT NOT NULL, plan TEXT NOT NULL, environment TEXT NOT NULL,"
    "median_us REAL NOT NULL, spread REAL NOT NULL, failure TEXT NOT NULL,"
    "PRIMARY KEY(module, plan, environment)) WITHOUT ROWID;";

// A prepared statement, finalised at the end.
class Statement {
 public:
  Statement(sqlite3* db, const char* sql) {
    sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  bool ok() const { return statement_ != nullptr; }
  sqlite3_stmt* get() const { return statement_; }
  void Bind(int index, const std::string& text) {
    sqlite3_bind_text(statement_, index, text.data(),
                      static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

std::string Text(sqlite3_stmt* s, int column) {
  const unsigned char* text = sqlite3_column_text(s, column);
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

}  // namespace

std::string EnvironmentOf(const DeviceState& s) {
  return absl::StrJoin({s.device(), s.backend(), s.driver_version(),
                        s.compiler_version(), s.library_version()},
                       "|");
}

absl::Status TuningDatabase::Error(const char* what) const {
  int code = sqlite3_extended_errcode(db_) & 0xff;
  std::string message = absl::StrCat("tuning database ", path_, ": ", what,
                                     ": ", sqlite3_errmsg(db_));
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT) {
    return absl::InvalidArgumentError(message);
  }
  if (code == SQLITE_FULL) return absl::ResourceExhaustedError(message);
  return absl::UnavailableError(message);
}

absl::StatusOr<std::unique_ptr<TuningDatabase>> TuningDatabase::Open(
    const std::string& path) {
  sqlite3* db = nullptr;
  int code = sqlite3_open_v2(
      path.empty() ? ":memory:" : path.c_str(), &db,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
      nullptr);
  std::unique_ptr<TuningDatabase> database(new TuningDatabase(db, path));
  if (code != SQLITE_OK) return database->Error("cannot be opened");
  sqlite3_busy_timeout(db, kBusyMilliseconds);
  // The first access reads the header: this is where another file shows.
  int application = 0;
  int tables = 0;
  {
    Statement id(db, "PRAGMA application_id;");
    if (!id.ok() || sqlite3_step(id.get()) != SQLITE_ROW) {
      return database->Error("is not one");
    }
    application = sqlite3_column_int(id.get(), 0);
    Statement count(db, "SELECT COUNT(*) FROM sqlite_master;");
    if (!count.ok() || sqlite3_step(count.get()) != SQLITE_ROW) {
      return database->Error("is not one");
    }
    tables = sqlite3_column_int(count.get(), 0);
  }
  if (tables > 0 && application != kApplicationId) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " is a database, but no tuning database of Ridge's"));
  }
  std::string setup = absl::StrCat(
      "PRAGMA journal_mode=WAL; PRAGMA application_id=", kApplicationId, ";",
      kSchema);
  if (sqlite3_exec(db, setup.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return database->Error("cannot be set up");
  }
  return database;
}

TuningDatabase::~TuningDatabase() { sqlite3_close(db_); }

absl::StatusOr<std::optional<TuningResult>> TuningDatabase::Find(
    const TuningKey& key) {
  Statement s(db_,
              "SELECT median_us, spread, failure FROM results WHERE "
              "module=?1 AND plan=?2 AND environment=?3;");
  if (!s.ok()) return Error("cannot be read");
  s.Bind(1, key.module_fingerprint);
  s.Bind(2, key.plan_fingerprint);
  s.Bind(3, key.environment);
  int code = sqlite3_step(s.get());
  if (code == SQLITE_DONE) return std::optional<TuningResult>();
  if (code != SQLITE_ROW) return Error("cannot be read");
  TuningResult r;
  r.median_us = sqlite3_column_double(s.get(), 0);
  r.spread = sqlite3_column_double(s.get(), 1);
  r.failure = Text(s.get(), 2);
  return std::optional<TuningResult>(std::move(r));
}

absl::Status TuningDatabase::Store(const TuningKey& key,
                                   const TuningResult& result) {
  Statement s(db_, "INSERT OR REPLACE INTO results VALUES(?1,?2,?3,?4,?5,?6);");
  if (!s.ok()) return Error("cannot be written");
  s.Bind(1, key.module_fingerprint);
  s.Bind(2, key.plan_fingerprint);
  s.Bind(3, key.environment);
  sqlite3_bind_double(s.get(), 4, result.median_us);
  sqlite3_bind_double(s.get(), 5, result.spread);
  s.Bind(6, result.failure);
  if (sqlite3_step(s.get()) != SQLITE_DONE) return Error("cannot be written");
  return absl::OkStatus();
}

}  // namespace ridge
