#include "backends/cpu/toolchain.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/base/file.h"
#include "hlo/base/fingerprint.h"
#include "hlo/base/status_macros.h"

extern char** environ;

namespace ridge {
namespace {

constexpr int64_t kCacheBytes = int64_t{512} << 20;
constexpr int kChecksumBytes = 32;  // hexadecimal, behind the library itself

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A folder that goes away with the object, and its files with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string base = Environment("TMPDIR");
    if (base.empty()) base = "/tmp";
    std::string pattern = absl::StrCat(base, "/ridge-XXXXXX");
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    if (path_.empty()) return;
    for (const char* name : {"kernels.cc", "kernels.so", "out", "err"}) {
      unlink(absl::StrCat(path_, "/", name).c_str());
    }
    rmdir(path_.c_str());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  bool ok() const { return !path_.empty(); }
  std::string File(absl::string_view name) const {
    return absl::StrCat(path_, "/", name);
  }

 private:
  std::string path_;
};

// Runs a program, found on PATH, and waits. Standard output and error go to
// files. The exit code, or -1 if it could not be started.
int RunProgram(const std::vector<std::string>& arguments,
               const std::string& out, const std::string& err) {
  std::vector<char*> argv;
  for (const std::string& a : arguments) {
    argv.push_back(const_cast<char*>(a.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t pid = 0;
  int failed =
      posix_spawnp(&pid, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return -1;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return 128 + WTERMSIG(status);
}

std::string FirstLines(const std::string& path, size_t count) {
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return "";
  std::vector<std::string> lines = absl::StrSplit(*text, '\n');
  if (lines.size() > count) lines.resize(count);
  return absl::StrJoin(lines, "\n");
}

std::string CacheFolder() {
  std::string folder = Environment("RIDGE_CACHE_DIR");
  if (folder.empty()) {
    std::string base = Environment("XDG_CACHE_HOME");
    if (base.empty() && !Environment("HOME").empty()) {
      base = absl::StrCat(Environment("HOME"), "/.cache");
    }
    if (base.empty()) return "";
    folder = absl::StrCat(base, "/ridge");
  }
  folder = absl::StrCat(ResolveUserPath(folder), "/cpu");
  return MakeDirs(folder).ok() ? folder : "";
}

// Removes the files longest unused until the folder is within its bound.
void TrimCache(const std::string& folder) {
  struct Entry {
    std::string path;
    int64_t used;
    int64_t bytes;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return;
  while (const dirent* item = readdir(dir)) {
    if (!absl::EndsWith(item->d_name, ".so")) continue;
    std::string path = absl::StrCat(folder, "/", item->d_name);
    struct stat info;
    if (stat(path.c_str(), &info) != 0) continue;
    entries.push_back({path, info.st_mtime, info.st_size});
    total += info.st_size;
  }
  closedir(dir);
  if (total <= kCacheBytes) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.used != b.used ? a.used < b.used : a.path < b.path;
  });
  for (const Entry& e : entries) {
    if (total <= kCacheBytes / 2) break;
    if (unlink(e.path.c_str()) == 0) total -= e.bytes;
  }
}

// Loads a cached library if it is whole. A library that was cut short could
// bring the process down once mapped, so the checksum is looked at first.
std::unique_ptr<LoadedLibrary> LoadCached(const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok() || bytes->size() <= kChecksumBytes) return nullptr;
  absl::string_view all(*bytes);
  absl::string_view library = all.substr(0, all.size() - kChecksumBytes);
  if (Fingerprint128Of(library).ToHex() != all.substr(library.size())) {
    unlink(path.c_str());
    return nullptr;
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    unlink(path.c_str());
    return nullptr;
  }
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now
  return std::make_unique<LoadedLibrary>(handle);
}

std::vector<std::string> Flags(const ToolchainOptions& options) {
  std::vector<std::string> flags = {
      "-std=c++17",
      "-O3",
      "-march=native",
      "-fPIC",
      "-shared",
      "-w",
      "-fno-math-errno",
      "-fno-trapping-math",
      options.fma_contraction ? "-ffp-contract=fast" : "-ffp-contract=off",
      // Kernels throw nothing and start nothing.
      "-fno-exceptions",
      "-fno-rtti",
  };
  if (options.fast_math) {
    flags.push_back("-fno-signed-zeros");
    flags.push_back("-freciprocal-math");
  }
  return flags;
}

absl::StatusOr<Toolchain> TryCompiler(const std::string& name) {
  TemporaryFolder folder;
  if (!folder.ok()) {
    return absl::UnavailableError("no temporary folder can be made");
  }
  int code =
      RunProgram({name, "--version"}, folder.File("out"), folder.File("err"));
  if (code != 0) return absl::NotFoundError(name);
  return Toolchain{name, FirstLines(folder.File("out"), 1)};
}

}  // namespace

LoadedLibrary::~LoadedLibrary() { dlclose(handle_); }

absl::StatusOr<void*> LoadedLibrary::Symbol(const std::string& name) const {
  void* symbol = dlsym(handle_, name.c_str());
  if (symbol == nullptr) {
    return absl::InternalError(
        absl::StrCat("compiled library has no symbol ", name));
  }
  return symbol;
}

absl::StatusOr<Toolchain> FindToolchain() {
  std::vector<std::string> names;
  std::string asked = Environment("RIDGE_CXX");
  if (!asked.empty()) {
    names = {asked};
  } else {
    names = {Environment("CXX"), "c++", "g++", "clang++"};
  }
  std::vector<std::string> tried;
  for (const std::string& name : names) {
    if (name.empty()) continue;
    absl::StatusOr<Toolchain> found = TryCompiler(name);
    if (found.ok()) return found;
    if (!absl::IsNotFound(found.status())) return found.status();
    tried.push_back(name);
  }
  return absl::UnavailableError(absl::StrCat(
      "the cpu back end needs a C++ compiler and none of these runs: ",
      absl::StrJoin(tried, ", "), "; name one in RIDGE_CXX"));
}

absl::StatusOr<std::unique_ptr<LoadedLibrary>> CompileAndLoad(
    const Toolchain& toolchain, absl::string_view source,
    const ToolchainOptions& options, bool* from_cache) {
  std::vector<std::string> flags = Flags(options);
  std::string key = Fingerprinter()
                        .Add(source)
                        .Add(absl::StrJoin(flags, " "))
                        .Add(toolchain.compiler)
                        .Add(toolchain.version)
                        .Add(ProcessorName())
                        .Get128()
                        .ToHex();
  std::string cache = options.use_cache ? CacheFolder() : "";
  std::string cached =
      cache.empty() ? "" : absl::StrCat(cache, "/", key, ".so");
  if (from_cache != nullptr) *from_cache = false;
  if (!cached.empty()) {
    if (std::unique_ptr<LoadedLibrary> library = LoadCached(cached)) {
      if (from_cache != nullptr) *from_cache = true;
      return library;
    }
  }
  TemporaryFolder folder;
  if (!folder.ok()) {
    return absl::UnavailableError(
        "no temporary folder can be made for the compiler");
  }
  RIDGE_RETURN_IF_ERROR(WriteFileAtomic(folder.File("kernels.cc"), source));
  std::vector<std::string> command = {toolchain.compiler};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {folder.File("kernels.cc"), "-o",
                                 folder.File("kernels.so"), "-lm"});
  int code = RunProgram(command, folder.File("out"), folder.File("err"));
  if (code != 0) {
    return absl::InternalError(absl::StrCat(
        toolchain.compiler, " failed with code ", code, " on generated code:\n",
        FirstLines(folder.File("err"), 12)));
  }
  if (!cached.empty()) {
    absl::StatusOr<std::string> bytes = ReadFile(folder.File("kernels.so"));
    if (bytes.ok()) {
      std::string whole =
          absl::StrCat(*bytes, Fingerprint128Of(*bytes).ToHex());
      if (WriteFileAtomic(cached, whole).ok()) TrimCache(cache);
    }
  }
  void* handle =
      dlopen(folder.File("kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::InternalError(
        absl::StrCat("compiled library does not load: ", dlerror()));
  }
  return std::make_unique<LoadedLibrary>(handle);
}

std::string ProcessorName() {
  static const std::string& name = *new std::string([] {
    absl::StatusOr<std::string> text = ReadFile("/proc/cpuinfo");
    if (text.ok()) {
      for (absl::string_view line : absl::StrSplit(*text, '\n')) {
        if (!absl::StartsWith(line, "model name")) continue;
        size_t colon = line.find(':');
        if (colon == absl::string_view::npos) continue;
        return std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
      }
    }
    return std::string("unknown processor");
  }());
  return name;
}

}  // namespace ridge
