// Time of the canonicaliser, pass by pass.
//
//   canonicalize_bench --module=FILE --repeats=5
//
// Prints the machine, the best and median time of the whole, and the best of
// each pass. The module is cloned for each repeat, outside the clock.
#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "hlo/passes/pipeline.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"

DEFINE_string(module, "", "The module, as HLO text.");
DEFINE_int32(repeats, 5, "Times the module is canonicalised.");
DEFINE_bool(print, false, "Prints the canonical module.");
DEFINE_bool(rules, false, "Prints how often each rule applied.");

namespace ridge {
namespace {

std::string Processor() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    if (absl::StartsWith(line, "model name")) {
      return line.substr(line.find(':') + 2);
    }
  }
  return "unknown processor";
}

double Milliseconds(absl::Duration d) { return absl::ToDoubleMilliseconds(d); }

int Main() {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(FLAGS_module);
  if (!module.ok()) {
    std::fprintf(stderr, "canonicalize_bench: %s\n",
                 module.status().ToString().c_str());
    return 1;
  }
  std::vector<absl::Duration> times;
  std::map<std::string, absl::Duration> best_of;
  std::vector<std::string> order;
  CanonicalizeStats stats;
  int64_t after = 0;
  for (int k = 0; k < FLAGS_repeats; ++k) {
    std::unique_ptr<Module> copy = (*module)->Clone();
    CanonicalizeOptions options;
    options.verify_between_passes = false;
    options.stats = &stats;
    absl::Time start = absl::Now();
    absl::Status status = Canonicalize(copy.get(), options);
    times.push_back(absl::Now() - start);
    if (!status.ok()) {
      std::fprintf(stderr, "canonicalize_bench: %s\n",
                   status.ToString().c_str());
      return 1;
    }
    after = copy->instruction_count();
    if (FLAGS_print && k == 0) {
      PrintOptions print;
      print.form = PrintOptions::Form::kShort;
      print.metadata = false;
      std::printf("%s\n", Print(*copy, print).c_str());
    }
    for (const PassTiming& t : stats.passes) {
      auto [it, added] = best_of.emplace(t.pass, t.time);
      if (added) order.push_back(t.pass);
      it->second = std::min(it->second, t.time);
    }
  }
  std::sort(times.begin(), times.end());
  std::printf("machine: %s, %u threads\n", Processor().c_str(),
              std::thread::hardware_concurrency());
  std::printf("instructions: %lld before, %lld after; rounds %lld%s\n",
              static_cast<long long>((*module)->instruction_count()),
              static_cast<long long>(after),
              static_cast<long long>(stats.rounds),
              stats.converged ? "" : " (no fixpoint)");
  std::printf("whole: best %.1f ms, median %.1f ms of %d\n",
              Milliseconds(times.front()),
              Milliseconds(times[times.size() / 2]), FLAGS_repeats);
  for (const std::string& name : order) {
    std::printf("  %-26s %9.2f ms\n", name.c_str(),
                Milliseconds(best_of[name]));
  }
  if (FLAGS_rules) {
    for (const auto& [rule, count] : stats.rewrites.rule_counts) {
      std::printf("  %-34s %lld\n", rule.c_str(),
                  static_cast<long long>(count));
    }
  }
  return 0;
}

}  // namespace
}  // namespace ridge

int main(int argc, char** argv) {
  gflags::SetUsageMessage("Times the canonicaliser.");
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  return ridge::Main();
}
