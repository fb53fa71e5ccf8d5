#include "hlo/base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::StatusCode::kNotFound;
    case EISDIR:
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return absl::StatusCode::kInvalidArgument;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return absl::StatusCode::kResourceExhausted;
    case EEXIST:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

// "cannot read 'x.hlo': No such file or directory".
absl::Status FileError(absl::string_view action, absl::string_view path,
                       int error) {
  return absl::Status(CodeOf(error),
                      absl::StrCat("cannot ", action, " '", path, "': ",
                                   std::generic_category().message(error)));
}

absl::Status WriteAll(int fd, const std::string& path,
                      absl::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = write(fd, contents.data(), contents.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return FileError("write", path, errno);
    }
    contents.remove_prefix(written);
  }
  return absl::OkStatus();
}

// Closes `fd`; some file systems only report a failed write here.
absl::Status Close(int fd, const std::string& path) {
  if (close(fd) != 0 && errno != EINTR) return FileError("write", path, errno);
  return absl::OkStatus();
}

absl::Status WriteInPlace(const std::string& path, absl::string_view contents) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return FileError("write", path, errno);
  absl::Status status = WriteAll(fd, path, contents);
  status.Update(Close(fd, path));
  return status;
}

absl::Status WriteAndSync(int fd, const std::string& path,
                          absl::string_view contents, mode_t* mode) {
  RIDGE_RETURN_IF_ERROR(WriteAll(fd, path, contents));
  if (mode != nullptr && fchmod(fd, *mode) != 0) {
    return FileError("write", path, errno);
  }
  // Before the rename, or a crash could leave the new name on an empty file.
  if (fsync(fd) != 0) return FileError("write", path, errno);
  return absl::OkStatus();
}

// Makes a rename in `folder` last. Best effort: not every file system can.
void SyncFolder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// The file that `path` leads to, so that a link is followed, not replaced.
std::string FollowLinks(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string result = resolved;
  free(resolved);
  return result;
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError("read", path, errno);
  absl::Cleanup closer = [fd] { close(fd); };
  struct stat info;
  if (fstat(fd, &info) != 0) return FileError("read", path, errno);
  if (S_ISDIR(info.st_mode)) return FileError("read", path, EISDIR);

  // The size is a hint: pipes have none, and a file can grow meanwhile. One
  // byte more than the size lets the first read see the end of the file.
  std::string contents;
  size_t size = 0;
  size_t room = S_ISREG(info.st_mode) ? info.st_size + 1 : 0;
  if (room < 4096) room = 4096;
  while (true) {
    if (size == contents.size()) {
      contents.resize(size == 0 ? room : size + size / 2);
    }
    const ssize_t n = read(fd, &contents[size], contents.size() - size);
    if (n < 0) {
      if (errno == EINTR) continue;
      return FileError("read", path, errno);
    }
    if (n == 0) break;
    size += n;
  }
  contents.resize(size);
  return contents;
}

absl::Status WriteFileAtomic(const std::string& path,
                             absl::string_view contents) {
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return FileError("write", path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) return WriteInPlace(path, contents);
  // rename() would replace a file that its owner has made read-only.
  if (exists && access(path.c_str(), W_OK) != 0) {
    return FileError("write", path, errno);
  }

  const std::string target = exists ? FollowLinks(path) : path;
  const std::string folder = FolderOf(target);
  if (stat(folder.c_str(), &info) != 0) {
    return Annotate(FileError("use folder", folder, errno),
                    absl::StrCat("cannot write '", path, "'"));
  }

  // Process and counter make the name unique, O_EXCL makes sure.
  static std::atomic<int> counter{0};
  const std::string temporary =
      absl::StrCat(target, ".", getpid(), ".", counter.fetch_add(1), ".tmp");
  const int fd =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return FileError("write", path, errno);
  absl::Cleanup remover = [&temporary] { unlink(temporary.c_str()); };

  struct stat old;
  mode_t mode = 0;
  const bool keep_mode = exists && stat(target.c_str(), &old) == 0;
  if (keep_mode) mode = old.st_mode & 07777;
  absl::Status status =
      WriteAndSync(fd, path, contents, keep_mode ? &mode : nullptr);
  status.Update(Close(fd, path));
  RIDGE_RETURN_IF_ERROR(status);
  if (rename(temporary.c_str(), target.c_str()) != 0) {
    return FileError("write", path, errno);
  }
  std::move(remover).Cancel();
  SyncFolder(folder);
  return absl::OkStatus();
}

absl::Status MakeDirs(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  // Asked anew, since create_directories reports a trailing slash or a folder
  // that another process has just made in its own ways.
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return absl::OkStatus();
  const int code = error ? error.value() : EEXIST;
  if (code == ENOTDIR || code == EEXIST) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot make folder '", path, "': a file of that name is in the way"));
  }
  return FileError("make folder", path, code);
}

std::string ResolveUserPath(absl::string_view path) {
  if (path.empty() || path.front() == '/') return std::string(path);
  const char* working_directory = std::getenv("BUILD_WORKING_DIRECTORY");
  if (working_directory == nullptr || *working_directory == '\0') {
    return std::string(path);
  }
  return (std::filesystem::path(working_directory) / std::string(path))
      .string();
}

}  // namespace ridge
