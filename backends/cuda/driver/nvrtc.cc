#include "backends/cuda/driver/nvrtc.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "backends/cuda/driver/library.h"
#include "hlo/base/status_macros.h"
#include "hlo/base/thread_pool.h"

namespace ridge::cuda {
namespace {

// Raised when the layout of a cached value changes.
constexpr absl::string_view kCacheFormat = "cubin-2";

std::vector<std::string> OptionsOf(const NvrtcApi& api,
                                   const CompileRequest& request) {
  std::vector<std::string> options = {
      absl::StrCat("--gpu-architecture=", request.arch), "--std=c++17",
      "--ptxas-options=-v"};
  // No textures and no device runtime: less for the front end to declare. The
  // code is the same. Older compilers do not know the option.
  if (api.major >= 13) options.push_back("--minimal");
  options.insert(options.end(), request.options.begin(), request.options.end());
  return options;
}

// Everything that the result depends on. Parts are preceded by their sizes, so
// that no two requests share a key.
std::string CacheKey(const NvrtcApi& api, const CompileRequest& request) {
  std::string key;
  auto add = [&](absl::string_view part) {
    absl::StrAppend(&key, part.size(), ":", part, "\n");
  };
  add(kCacheFormat);
  add(absl::StrCat("NVRTC ", api.major, ".", api.minor));
  for (const std::string& option : OptionsOf(api, request)) add(option);
  add(request.want_ptx ? "ptx" : "");
  if (request.content.empty()) {
    add("source");
    add(request.name);  // it is in the log
    add(request.source);
  } else {
    add("content");
    add(request.content);
  }
  return key;
}

// ---- The cached value: sizes, then name, cubin, PTX and log ----------------

std::string Serialize(const CompiledKernel& kernel) {
  return absl::StrCat(kernel.name.size(), " ", kernel.cubin.size(), " ",
                      kernel.ptx.size(), " ", kernel.log.size(), " ",
                      kernel.compile_ms, "\n", kernel.name, kernel.cubin,
                      kernel.ptx, kernel.log);
}

// Takes the text up to `end` off the front, and `end` itself.
absl::string_view TakeUntil(absl::string_view* text, char end) {
  const size_t at = text->find(end);
  if (at == absl::string_view::npos) return "";
  const absl::string_view field = text->substr(0, at);
  text->remove_prefix(at + 1);
  return field;
}

absl::optional<CompiledKernel> Deserialize(absl::string_view text) {
  size_t sizes[4];
  for (size_t& size : sizes) {
    uint64_t value = 0;
    if (!absl::SimpleAtoi(TakeUntil(&text, ' '), &value)) return absl::nullopt;
    size = value;
  }
  CompiledKernel kernel;
  if (!absl::SimpleAtod(TakeUntil(&text, '\n'), &kernel.compile_ms) ||
      sizes[0] + sizes[1] + sizes[2] + sizes[3] != text.size()) {
    return absl::nullopt;
  }
  std::string* const fields[4] = {&kernel.name, &kernel.cubin, &kernel.ptx,
                                  &kernel.log};
  for (int k = 0; k < 4; ++k) {
    *fields[k] = std::string(text.substr(0, sizes[k]));
    text.remove_prefix(sizes[k]);
  }
  kernel.kernels = ParsePtxasLog(kernel.log);
  kernel.from_cache = true;
  return kernel;
}

// ---- The compiler ----------------------------------------------------------

absl::Status NvrtcStatus(const NvrtcApi& api, NvrtcResult result,
                         absl::string_view what) {
  if (result == kNvrtcSuccess) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(what, ": ", api.GetErrorString(result)));
}

// Reads one of the program's texts, zeros and all.
absl::StatusOr<std::string> ReadText(const NvrtcApi& api, ProgramHandle program,
                                     const char* what,
                                     NvrtcResult (*get_size)(ProgramHandle,
                                                             size_t*),
                                     NvrtcResult (*get)(ProgramHandle, char*)) {
  size_t size = 0;
  RIDGE_RETURN_IF_ERROR(NvrtcStatus(api, get_size(program, &size), what));
  std::string text(size, '\0');
  if (size > 0) {
    RIDGE_RETURN_IF_ERROR(NvrtcStatus(api, get(program, text.data()), what));
  }
  return text;
}

// NVRTC ends logs and PTX with a zero, and puts another before what ptxas says
// of an error.
std::string WithoutZeros(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '\0'), text.end());
  return text;
}

absl::Status CompileError(const NvrtcApi& api, NvrtcResult result,
                          const CompileRequest& request,
                          absl::string_view log) {
  std::string error = FirstError(log);
  if (error.empty()) error = std::string(absl::StripAsciiWhitespace(log));
  const std::string message =
      absl::StrCat("kernel '", request.name, "' for ", request.arch, ": ",
                   error.empty() ? api.GetErrorString(result) : error);
  const bool callers_fault =
      result == kNvrtcCompilationError || result == kNvrtcInvalidOption;
  return callers_fault ? absl::InvalidArgumentError(message)
                       : absl::InternalError(message);
}

absl::StatusOr<CompiledKernel> CompileWith(const NvrtcApi& api,
                                           const CompileRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  ProgramHandle program = nullptr;
  RIDGE_RETURN_IF_ERROR(
      NvrtcStatus(api,
                  api.CreateProgram(&program, request.source.c_str(),
                                    request.name.c_str(), 0, nullptr, nullptr),
                  "nvrtcCreateProgram"));
  absl::Cleanup destroy = [&] { api.DestroyProgram(&program); };

  const std::vector<std::string> options = OptionsOf(api, request);
  std::vector<const char*> option_pointers;
  for (const std::string& option : options) {
    option_pointers.push_back(option.c_str());
  }
  const NvrtcResult result =
      api.CompileProgram(program, static_cast<int>(option_pointers.size()),
                         option_pointers.data());

  CompiledKernel kernel;
  kernel.name = request.name;
  RIDGE_ASSIGN_OR_RETURN(
      kernel.log,
      ReadText(api, program, "nvrtcGetProgramLog", api.GetLogSize, api.GetLog));
  kernel.log = WithoutZeros(std::move(kernel.log));
  if (result != kNvrtcSuccess) {
    return CompileError(api, result, request, kernel.log);
  }
  RIDGE_ASSIGN_OR_RETURN(
      kernel.cubin,
      ReadText(api, program, "nvrtcGetCUBIN", api.GetCubinSize, api.GetCubin));
  if (kernel.cubin.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "kernel '", request.name, "': no machine code for ", request.arch,
        "; name a real architecture (sm_...), not a virtual one"));
  }
  if (request.want_ptx) {
    RIDGE_ASSIGN_OR_RETURN(kernel.ptx, ReadText(api, program, "nvrtcGetPTX",
                                                api.GetPtxSize, api.GetPtx));
    kernel.ptx = WithoutZeros(std::move(kernel.ptx));
  }
  kernel.kernels = ParsePtxasLog(kernel.log);
  kernel.compile_ms = std::chrono::duration<double, std::milli>(
                          std::chrono::steady_clock::now() - start)
                          .count();
  return kernel;
}

}  // namespace

const KernelResources* CompiledKernel::Find(absl::string_view name) const {
  for (const KernelResources& kernel : kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

absl::StatusOr<CompiledKernel> Compile(const CompileRequest& request,
                                       DiskCache* cache) {
  RIDGE_ASSIGN_OR_RETURN(const NvrtcApi* api, Nvrtc());
  if (cache == nullptr) return CompileWith(*api, request);
  const std::string key = CacheKey(*api, request);
  if (const absl::optional<std::string> hit = cache->Get(key)) {
    absl::optional<CompiledKernel> kernel = Deserialize(*hit);
    if (kernel.has_value()) return *std::move(kernel);
  }
  RIDGE_ASSIGN_OR_RETURN(CompiledKernel kernel, CompileWith(*api, request));
  cache->Put(key, Serialize(kernel));
  return kernel;
}

std::vector<absl::StatusOr<CompiledKernel>> CompileAll(
    absl::Span<const CompileRequest> requests, DiskCache* cache) {
  std::vector<absl::StatusOr<CompiledKernel>> results(requests.size());
  ParallelFor(0, static_cast<int64_t>(requests.size()), /*grain=*/1,
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  results[i] = Compile(requests[i], cache);
                }
              });
  return results;
}

DiskCache& KernelCache() {
  static DiskCache& cache = *[] {
    const std::string folder = DefaultCacheFolder();
    return new DiskCache(folder.empty() ? "" : folder + "/cubin");
  }();
  return cache;
}

absl::StatusOr<std::string> NvrtcVersion() {
  RIDGE_ASSIGN_OR_RETURN(const NvrtcApi* api, Nvrtc());
  return absl::StrCat(api->major, ".", api->minor);
}

absl::StatusOr<bool> NvrtcSupports(absl::string_view arch) {
  RIDGE_ASSIGN_OR_RETURN(const NvrtcApi* api, Nvrtc());
  // "90" in "sm_90a": the list has no suffixes.
  absl::string_view digits = arch;
  int number = 0;
  if (!absl::ConsumePrefix(&digits, "sm_")) return false;
  if (!absl::ConsumeSuffix(&digits, "a")) absl::ConsumeSuffix(&digits, "f");
  if (!absl::SimpleAtoi(digits, &number)) return false;
  int count = 0;
  RIDGE_RETURN_IF_ERROR(NvrtcStatus(*api, api->GetNumSupportedArchs(&count),
                                    "nvrtcGetNumSupportedArchs"));
  std::vector<int> archs(count);
  RIDGE_RETURN_IF_ERROR(NvrtcStatus(*api, api->GetSupportedArchs(archs.data()),
                                    "nvrtcGetSupportedArchs"));
  for (const int supported : archs) {
    if (supported == number) return true;
  }
  return false;
}

absl::StatusOr<std::string> CudaIncludeFolder() {
  std::vector<std::string> folders;
  const char* home = std::getenv("CUDA_HOME");
  if (home != nullptr && home[0] != '\0') {
    folders.push_back(absl::StrCat(home, "/include"));
  }
  const absl::StatusOr<const NvrtcApi*> api = Nvrtc();
  if (api.ok()) {
    const std::string& path = (*api)->path;
    const size_t slash = path.rfind('/');
    if (slash != std::string::npos) {
      folders.push_back(path.substr(0, slash) + "/../include");
    }
  }
  folders.push_back("/usr/local/cuda/include");
  for (const std::string& folder : folders) {
    if (access((folder + "/cuda_fp16.h").c_str(), R_OK) == 0 &&
        access((folder + "/cuda_bf16.h").c_str(), R_OK) == 0) {
      return folder;
    }
  }
  return absl::NotFoundError(absl::StrCat("no cuda_fp16.h and cuda_bf16.h in ",
                                          absl::StrJoin(folders, ", ")));
}

}  // namespace ridge::cuda
