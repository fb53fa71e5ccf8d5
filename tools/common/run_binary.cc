#include "tools/common/run_binary.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/base/file.h"

extern char** environ;

namespace ridge {
namespace {

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string TakeFile(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path);
  unlink(path.c_str());
  return text.ok() ? *text : std::string(text.status().message());
}

}  // namespace

RunResult RunBinary(const std::string& path,
                    const std::vector<std::string>& arguments,
                    const std::map<std::string, std::string>& environment) {
  std::vector<std::string> argv_texts = {path};
  argv_texts.insert(argv_texts.end(), arguments.begin(), arguments.end());
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string::npos) continue;
    variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : environment) variables[name] = value;
  std::vector<std::string> environment_texts;
  for (const auto& [name, value] : variables) {
    environment_texts.push_back(absl::StrCat(name, "=", value));
  }

  // Files rather than pipes: a pipe that fills up would stop the program.
  static int counter = 0;
  const std::string stem = absl::StrCat(::testing::TempDir(), "/run_binary.",
                                        getpid(), ".", counter++);
  const std::string out = stem + ".out";
  const std::string err = stem + ".err";
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, path.c_str(), &files, nullptr,
                                Pointers(&argv_texts).data(),
                                Pointers(&environment_texts).data());
  posix_spawn_file_actions_destroy(&files);
  RunResult result;
  if (error != 0) {
    result.err =
        absl::StrCat("cannot start ", path, ": ", std::strerror(error));
    return result;
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = TakeFile(out);
  result.err = TakeFile(err);
  return result;
}

}  // namespace ridge
