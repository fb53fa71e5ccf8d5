// Compiles generated C++ with the system's compiler and loads it.
//
// Compiled libraries are kept in $RIDGE_CACHE_DIR, else $XDG_CACHE_HOME/ridge,
// else ~/.cache/ridge, under a name that follows from text, options, compiler
// and processor. A file there counts only if its own checksum fits, so that
// one cut short is compiled again; the oldest go when the folder grows past
// its bound. Without a folder that can be written, nothing is kept.
#ifndef RIDGE_BACKENDS_CPU_TOOLCHAIN_H_
#define RIDGE_BACKENDS_CPU_TOOLCHAIN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ridge {

// A loaded library; unloaded with the object.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(void* handle) : handle_(handle) {}
  ~LoadedLibrary();
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;

  // Internal where there is none of that name.
  absl::StatusOr<void*> Symbol(const std::string& name) const;

 private:
  void* handle_;
};

struct Toolchain {
  std::string compiler;  // path
  std::string version;   // first line of --version
};

struct ToolchainOptions {
  bool fma_contraction = true;
  bool fast_math = false;
  bool use_cache = true;
};

// The compiler: $RIDGE_CXX if set, else the first of $CXX, c++, g++ and
// clang++ that runs. Unavailable names what was tried.
absl::StatusOr<Toolchain> FindToolchain();

// Compiles one translation unit into a library and loads it. `from_cache`,
// unless null, says whether it was there already.
absl::StatusOr<std::unique_ptr<LoadedLibrary>> CompileAndLoad(
    const Toolchain& toolchain, absl::string_view source,
    const ToolchainOptions& options, bool* from_cache = nullptr);

// The processor's name as the system gives it.
std::string ProcessorName();

}  // namespace ridge

#endif  // RIDGE_BACKENDS_CPU_TOOLCHAIN_H_
