#include "backends/cuda/driver/library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "backends/cuda/driver/status.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

enum Need { kRequired, kOptional };

struct Symbol {
  Need need;
  const char* name;
  void** slot;
};

struct LibraryKind {
  const char* title;  // as messages call it
  const char* hint;   // what to do when it cannot be opened
};

constexpr LibraryKind kDriverKind = {
    "the CUDA driver", "an NVIDIA driver (12.0 or newer) installs it"};
constexpr LibraryKind kNvrtcKind = {
    "NVRTC", "it comes with the CUDA toolkit; CUDA_HOME says where that lies"};
constexpr LibraryKind kCublasLtKind = {
    "cuBLASLt",
    "it comes with the CUDA toolkit; CUDA_HOME says where that lies"};

std::string DlError() {
  const char* error = dlerror();
  return error == nullptr ? "unknown error" : error;
}

// The file that `handle` was loaded from.
std::string PathOf(void* handle, const std::string& asked) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr ||
      map->l_name == nullptr || map->l_name[0] == '\0') {
    return asked;
  }
  return map->l_name;
}

// Fills the slots; returns the required names that are missing.
std::vector<std::string> Resolve(void* handle,
                                 const std::vector<Symbol>& symbols) {
  std::vector<std::string> missing;
  for (const Symbol& symbol : symbols) {
    *symbol.slot = dlsym(handle, symbol.name);
    if (*symbol.slot == nullptr && symbol.need == kRequired) {
      missing.push_back(symbol.name);
    }
  }
  return missing;
}

std::string DescribeMissing(std::vector<std::string> missing) {
  constexpr size_t kShown = 3;
  const size_t count = missing.size();
  if (count > kShown) missing.resize(kShown);
  std::string text = absl::StrCat("lacks ", absl::StrJoin(missing, ", "));
  if (count > kShown) absl::StrAppend(&text, " and ", count - kShown, " more");
  return text;
}

// Opens the first candidate that has every required symbol; returns its path.
// Libraries are never closed: their functions are handed out for good.
absl::StatusOr<std::string> OpenFirst(const LibraryKind& kind,
                                      const std::vector<std::string>& paths,
                                      const std::vector<Symbol>& symbols) {
  std::vector<std::string> reasons;
  for (const std::string& path : paths) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const std::string error = DlError();
      reasons.push_back(absl::StrContains(error, path)
                            ? error
                            : absl::StrCat(path, ": ", error));
      continue;
    }
    std::vector<std::string> missing = Resolve(handle, symbols);
    if (missing.empty()) return PathOf(handle, path);
    reasons.push_back(
        absl::StrCat(path, ": ", DescribeMissing(std::move(missing))));
  }
  return absl::UnavailableError(
      absl::StrCat("cannot open ", kind.title, " (", kind.hint, "). Tried ",
                   paths.size(), paths.size() == 1 ? " name: " : " names: ",
                   absl::StrJoin(reasons, "; ")));
}

#define RIDGE_CUDA_SYMBOL(need, field, symbol, result, params) \
  {need, #symbol, reinterpret_cast<void**>(&api.field)},

// `library` is "libnvrtc.so"; versions are newest first, "" for the plain
// name, which only a development package has.
std::vector<std::string> ToolkitCandidates(absl::string_view library) {
  constexpr const char* kVersions[] = {".13", ".12", ""};
  std::vector<std::string> candidates;
  auto add_folder = [&](absl::string_view folder) {
    for (const char* version : kVersions) {
      candidates.push_back(absl::StrCat(folder, "/", library, version));
    }
  };
  const char* home = std::getenv("CUDA_HOME");
  if (home != nullptr && home[0] != '\0') {
    add_folder(absl::StrCat(home, "/lib64"));
    add_folder(absl::StrCat(home, "/lib"));
  }
  for (const char* version : kVersions) {
    candidates.push_back(absl::StrCat(library, version));
  }
  add_folder("/usr/local/cuda/lib64");
  return candidates;
}

// NVRTC opens its builtins by bare name and carries no run path, so that
// "libnvrtc-builtins.so.13.0" in a folder outside the system's search is not
// found at the first compile. Loading it from NVRTC's own folder first makes
// the bare name resolve, since the loader knows libraries by soname.
void PreloadBuiltins(const NvrtcApi& api) {
  const size_t slash = api.path.rfind('/');
  if (slash == std::string::npos) return;
  const std::string path =
      absl::StrCat(api.path.substr(0, slash), "/libnvrtc-builtins.so.",
                   api.major, ".", api.minor);
  // If it is not there, NVRTC's own search decides, and its log complains.
  dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

template <typename Api>
absl::StatusOr<const Api*> Shared(const absl::StatusOr<Api>& loaded) {
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

}  // namespace

absl::StatusOr<DriverApi> LoadDriver(const std::vector<std::string>& paths) {
  DriverApi api;
  RIDGE_ASSIGN_OR_RETURN(
      api.path, OpenFirst(kDriverKind, paths,
                          {RIDGE_CUDA_DRIVER_SYMBOLS(RIDGE_CUDA_SYMBOL)}));
  return api;
}

absl::StatusOr<NvrtcApi> LoadNvrtc(const std::vector<std::string>& paths) {
  NvrtcApi api;
  RIDGE_ASSIGN_OR_RETURN(
      api.path, OpenFirst(kNvrtcKind, paths,
                          {RIDGE_CUDA_NVRTC_SYMBOLS(RIDGE_CUDA_SYMBOL)}));
  const NvrtcResult result = api.Version(&api.major, &api.minor);
  if (result != kNvrtcSuccess) {
    return absl::UnavailableError(
        absl::StrCat(api.path, ": nvrtcVersion: ", api.GetErrorString(result)));
  }
  PreloadBuiltins(api);
  return api;
}

absl::StatusOr<CublasLtApi> LoadCublasLt(
    const std::vector<std::string>& paths) {
  CublasLtApi api;
  RIDGE_ASSIGN_OR_RETURN(
      api.path, OpenFirst(kCublasLtKind, paths,
                          {RIDGE_CUDA_CUBLASLT_SYMBOLS(RIDGE_CUDA_SYMBOL)}));
  api.version = api.GetVersion();
  return api;
}

#undef RIDGE_CUDA_SYMBOL

// libcuda.so without a version is left out: it is either the same file or the
// toolkit's stub for linking, which answers every call with an error.
std::vector<std::string> DriverCandidates() { return {"libcuda.so.1"}; }

std::vector<std::string> NvrtcCandidates() {
  return ToolkitCandidates("libnvrtc.so");
}

std::vector<std::string> CublasLtCandidates() {
  return ToolkitCandidates("libcublasLt.so");
}

absl::StatusOr<const DriverApi*> Driver() {
  static const auto& loaded =
      *new absl::StatusOr<DriverApi>([]() -> absl::StatusOr<DriverApi> {
        RIDGE_ASSIGN_OR_RETURN(DriverApi api, LoadDriver(DriverCandidates()));
        RIDGE_RETURN_IF_ERROR(
            DriverStatus(api, api.Init(0), absl::StrCat(api.path, ": cuInit")));
        return api;
      }());
  return Shared(loaded);
}

absl::StatusOr<const NvrtcApi*> Nvrtc() {
  static const auto& loaded =
      *new absl::StatusOr<NvrtcApi>(LoadNvrtc(NvrtcCandidates()));
  return Shared(loaded);
}

absl::StatusOr<const CublasLtApi*> CublasLt() {
  static const auto& loaded =
      *new absl::StatusOr<CublasLtApi>(LoadCublasLt(CublasLtCandidates()));
  return Shared(loaded);
}

}  // namespace ridge::cuda
