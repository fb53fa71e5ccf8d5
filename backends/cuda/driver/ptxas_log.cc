#include "backends/cuda/driver/ptxas_log.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace ridge::cuda {
namespace {

// The number right before `unit`: 12 in "Used 12 registers, used" for
// " registers". -1 if there is none.
double NumberBefore(absl::string_view line, absl::string_view unit) {
  const size_t end = line.find(unit);
  if (end == absl::string_view::npos) return -1;
  size_t begin = end;
  while (begin > 0 &&
         (absl::ascii_isdigit(line[begin - 1]) || line[begin - 1] == '.')) {
    --begin;
  }
  double value = -1;
  if (!absl::SimpleAtod(line.substr(begin, end - begin), &value)) return -1;
  return value;
}

template <typename T>
void SetIfThere(absl::string_view line, absl::string_view unit, T* value) {
  const double number = NumberBefore(line, unit);
  if (number >= 0) *value = static_cast<T>(number);
}

// "name" from "Compiling entry function 'name' for 'sm_90a'".
absl::string_view Quoted(absl::string_view line) {
  const size_t begin = line.find('\'');
  if (begin == absl::string_view::npos) return "";
  const size_t end = line.find('\'', begin + 1);
  if (end == absl::string_view::npos) return "";
  return line.substr(begin + 1, end - begin - 1);
}

}  // namespace

// NVRTC 13.0 writes, for each kernel:
//
//   ptxas info    : Compiling entry function 'k' for 'sm_90a'
//   ptxas info    : Function properties for k
//   ptxas         .     24 bytes stack frame, 16 bytes spill stores, 8 bytes
//       spill loads                                        (all on one line)
//   ptxas info    : Used 32 registers, used 1 barriers, 24 bytes cumulative
//       stack size, 308 bytes smem                         (all on one line)
//   ptxas info    : Compile time = 8.117 ms
//
// nvcc and older NVRTC start the third line with blanks, leave out what is
// zero, and add "360 bytes cmem[0]". A device function that was kept as a call
// has only the second and third line, after those of a kernel that calls it.
std::vector<KernelResources> ParsePtxasLog(absl::string_view log) {
  std::vector<KernelResources> kernels;
  bool of_kernel = false;  // whether properties belong to kernels.back()
  for (absl::string_view line : absl::StrSplit(log, '\n')) {
    if (absl::StrContains(line, "Compiling entry function")) {
      kernels.emplace_back();
      kernels.back().name = std::string(Quoted(line));
      of_kernel = true;
      continue;
    }
    if (kernels.empty()) continue;
    KernelResources& kernel = kernels.back();
    constexpr absl::string_view kProperties = "Function properties for ";
    const size_t properties = line.find(kProperties);
    if (properties != absl::string_view::npos) {
      of_kernel = absl::StripAsciiWhitespace(line.substr(
                      properties + kProperties.size())) == kernel.name;
    } else if (absl::StrContains(line, "bytes stack frame")) {
      if (!of_kernel) continue;
      SetIfThere(line, " bytes stack frame", &kernel.stack_bytes);
      SetIfThere(line, " bytes spill stores", &kernel.spill_store_bytes);
      SetIfThere(line, " bytes spill loads", &kernel.spill_load_bytes);
    } else if (absl::StrContains(line, " registers")) {
      SetIfThere(line, " registers", &kernel.registers);
      SetIfThere(line, " barriers", &kernel.barriers);
      SetIfThere(line, " bytes smem", &kernel.static_shared_bytes);
      SetIfThere(line, " bytes cumulative stack size",
                 &kernel.cumulative_stack_bytes);
    } else if (absl::StrContains(line, "Compile time = ")) {
      SetIfThere(line, " ms", &kernel.ptxas_ms);
    }
  }
  return kernels;
}

namespace {

// Whether the line reports an error:
//   the front end   "k(3): error: ...", "k(1): catastrophic error: ..."
//   ptxas           "ptxas ..., line 23; error   : ...", "ptxas fatal   : ..."
//   options         "nvrtc: error: ..."
// "error" within a warning's text, a name or the closing count is no error.
bool IsError(absl::string_view line) {
  for (const absl::string_view word : {"error", "fatal"}) {
    for (size_t at = line.find(word); at != absl::string_view::npos;
         at = line.find(word, at + 1)) {
      const absl::string_view rest =
          absl::StripLeadingAsciiWhitespace(line.substr(at + word.size()));
      if (!absl::StartsWith(rest, ":") && !absl::StartsWith(rest, "#")) {
        continue;
      }
      return !absl::StrContains(line.substr(0, at), "warning");
    }
  }
  return false;
}

}  // namespace

std::string FirstError(absl::string_view log) {
  const std::vector<absl::string_view> lines = absl::StrSplit(log, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!IsError(lines[i])) continue;
    std::string message(absl::StripAsciiWhitespace(lines[i]));
    // The front end shows the source line, indented.
    if (i + 1 < lines.size() && absl::StartsWith(lines[i + 1], " ")) {
      absl::StrAppend(&message, ": ", absl::StripAsciiWhitespace(lines[i + 1]));
    }
    return message;
  }
  return "";
}

}  // namespace ridge::cuda
