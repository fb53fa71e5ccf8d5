// Whole files: read, write atomically, make folders, and resolve the paths
// that a user types.

#ifndef RIDGE_HLO_BASE_FILE_H_
#define RIDGE_HLO_BASE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ridge {

// The contents of the file. Errors name the path: kNotFound (no such file),
// kInvalidArgument (a folder), kPermissionDenied, kUnavailable (the rest).
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Replaces the file as a whole or not at all: readers, and a run after a
// crash, see the old contents or the new, never a part. An existing file's
// mode is kept, a symbolic link is followed, and a device or a pipe (such as
// /dev/stdout) is written to as it is. The folder must exist (kNotFound).
// Errors as for ReadFile; a full disk is kResourceExhausted.
absl::Status WriteFileAtomic(const std::string& path,
                             absl::string_view contents);

// Makes the folder and those above it. OK if it is already there;
// kFailedPrecondition if a file is in the way.
absl::Status MakeDirs(const std::string& path);

// The path that a user of a tool meant. `bazel run` starts a tool in a folder
// of its own and puts the user's into BUILD_WORKING_DIRECTORY: a relative path
// is taken from there when that is set. An empty path stays empty.
std::string ResolveUserPath(absl::string_view path);

}  // namespace ridge

#endif  // RIDGE_HLO_BASE_FILE_H_
