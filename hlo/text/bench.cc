// How fast modules are read and printed, and how much memory they take.
//
//   bazel run //hlo/text:bench [-- FILE.hlo ...]
//
// --once measures the files given and nothing else, three times each.
// For each file, and for generated modules of 1k to 1M instructions: the best
// wall time of several runs of parser, verifier and printer, in parentheses the
// least processor time, which other load on the machine disturbs less, and that
// by instruction. Without files, the largest module of the shared corpus
// (RIDGE_SHARED) is taken where there is one. tests/bench/xla_text.py measures
// XLA on the same files.
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/file.h"
#include "hlo/text/generate.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "hlo/verify/verify.h"

namespace ridge {
namespace {

constexpr absl::string_view kLargest =
    "/hlo/corpus/modules/xla__tools__benchmarks__hlo__hlo_llama31_8b_bf16_1x8"
    ".hlo";

struct Timing {
  double best_ms = 0;
  double cpu_ms = 0;
};

double CpuMs() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 +
         static_cast<double>(t.tv_nsec) / 1e6;
}

// Runs `fn` for about a second, at least three times, or just these; `prepare`
// before each is not measured.
Timing Measure(bool once, const std::function<void()>& prepare,
               const std::function<void()>& fn) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> samples;
  std::vector<double> cpu;
  Clock::time_point begin = Clock::now();
  while (
      samples.size() < 3 ||
      (Clock::now() - begin < std::chrono::seconds(1) && samples.size() < 50)) {
    prepare();
    Clock::time_point start = Clock::now();
    double cpu_start = CpuMs();
    fn();
    cpu.push_back(CpuMs() - cpu_start);
    samples.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - start)
            .count());
  }
  return {*std::min_element(samples.begin(), samples.end()),
          *std::min_element(cpu.begin(), cpu.end())};
}

std::string CpuName() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (absl::StartsWith(line, "model name")) {
      return line.substr(line.find(':') + 2);
    }
  }
  return "unknown CPU";
}

size_t HeapBytes() {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void Report(const std::string& label, const std::string& text,
            bool once = false) {
  size_t heap = HeapBytes();
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  if (!module.ok()) {
    std::printf("%s\n", std::string(module.status().message()).c_str());
    return;
  }
  double memory = static_cast<double>(HeapBytes() - heap) / text.size();
  int64_t count = (*module)->instruction_count();
  const auto nothing = [] {};
  std::unique_ptr<Module> parsed;
  std::string printed;
  const std::pair<const char*, Timing> steps[] = {
      {"parse", Measure(
                    once, [&] { parsed.reset(); },
                    [&] { parsed = *ParseModule(text); })},
      {"verify", Measure(once, nothing, [&] { Verify(**module); })},
      {"print", Measure(
                    once,
                    [&] {
                      printed.clear();
                      printed.shrink_to_fit();
                    },
                    [&] { printed = Print(**module); })}};
  std::printf("%-36.36s %8lld instr %7.2f MB", label.c_str(),
              static_cast<long long>(count), text.size() / 1e6);
  for (const auto& [name, timing] : steps) {
    std::printf(" | %s %8.2f ms (%8.2f) %5.0f ns/instr", name, timing.best_ms,
                timing.cpu_ms, timing.cpu_ms * 1e6 / count);
  }
  std::printf(" | memory %4.1f x text\n", memory);
}

int Main(int argc, char** argv) {
  std::printf("%s\n", CpuName().c_str());
  std::vector<std::string> files(argv + 1, argv + argc);
  bool once = !files.empty() && files[0] == "--once";
  if (once) files.erase(files.begin());
  const char* shared = std::getenv("RIDGE_SHARED");
  if (files.empty() && shared != nullptr) {
    files.push_back(absl::StrCat(shared, kLargest));
  }
  for (const std::string& file : files) {
    absl::StatusOr<std::string> text = ReadFile(file);
    if (!text.ok()) {
      std::printf("%s\n", text.status().ToString().c_str());
      return 1;
    }
    Report(file.substr(file.rfind('/') + 1), *text, once);
  }
  if (once) return 0;
  for (int64_t n : {1000, 10000, 100000, 1000000}) {
    Report(absl::StrCat("generated ", n), GenerateModuleText(n));
  }
  Report("generated 1000000 in one computation",
         GenerateModuleText(1000000, 1000000));
  return 0;
}

}  // namespace
}  // namespace ridge

int main(int argc, char** argv) { return ridge::Main(argc, argv); }
