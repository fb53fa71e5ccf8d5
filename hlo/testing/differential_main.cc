// Random programs, or the runnable modules of the corpus, through passes:
// evaluator(before) against evaluator(after each).
//
//   differential --seeds=0:100000 --passes=canonicalize
//   differential --corpus=$RIDGE_SHARED --passes=all
//   differential --module=failing.hlo --passes=cse
//
// Prints a reduced module for each failure and a summary; exits with 2 if
// anything differed.
#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "hlo/analysis/cost_counts.h"
#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"
#include "hlo/passes/registry.h"
#include "hlo/testing/corpus.h"
#include "hlo/testing/differential.h"
#include "hlo/testing/random_program.h"
#include "hlo/testing/reducer.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"

DEFINE_string(seeds, "0:1000", "Random programs FROM:TO, TO excluded.");
DEFINE_string(corpus, "", "Folder of shared data; its corpus, not seeds.");
DEFINE_string(module, "", "One module, not seeds.");
DEFINE_string(passes, "all", "Passes by name; each is run alone.");
DEFINE_int32(max_failures, 5, "Failures to reduce and print before stopping.");
DEFINE_int64(max_instructions, 40000, "Larger modules of the corpus are left.");
DEFINE_double(max_cost, 1e13,
              "Modules of the corpus with more operations and bytes are left.");
DEFINE_double(min_cost, 0, "And those with less.");
DEFINE_string(after, "", "And those up to this file, to go on where it was.");
DEFINE_double(max_gib, 4, "Memory for the values of one evaluation, GiB.");
DEFINE_int32(threads, 1, "Threads of one evaluation; 0: all.");
DEFINE_int64(max_steps, 100000, "Iterations of while loops.");
DEFINE_bool(reduce, true, "Reduces what fails.");
DEFINE_double(seconds, 0, "Stops after this time; 0: no limit.");
DEFINE_string(write, "",
              "Writes the random programs to this folder as seed_N.hlo, and "
              "runs nothing: for other tools.");
DEFINE_bool(print, false, "Prints every module before it is run.");

namespace ridge {
namespace {

// Operations and bytes of one run, loops counted once.
double Cost(const Module& module) {
  double cost = 0;
  for (const Instruction* i : module.entry()->instructions()) {
    const CostCounts counts = CountCosts(*i);
    cost += static_cast<double>(counts.flops);
    cost += static_cast<double>(counts.bytes);
  }
  return cost;
}

// Operations that loops of a module may take altogether.
constexpr double kLoopBudget = 3e10;

// For a module of that cost.
DifferentialOptions Options(double cost) {
  DifferentialOptions options;
  options.max_bytes = static_cast<int64_t>(FLAGS_max_gib * 1073741824.0);
  options.max_threads = FLAGS_threads;
  options.max_steps = static_cast<int64_t>(std::min<double>(
      FLAGS_max_steps, std::max(1.0, kLoopBudget / std::max(1.0, cost))));
  return options;
}

// Modules that take longer are named.
constexpr double kSlow = 30;  // seconds

struct Tally {
  int64_t cases = 0;
  int64_t not_evaluated = 0;  // refused before any pass
  int64_t checks = 0;
  int64_t changed = 0;
  int64_t exact = 0;  // of the changed
  int64_t failures = 0;
};

class Runner {
 public:
  explicit Runner(std::vector<const Pass*> passes)
      : passes_(std::move(passes)) {}

  void Run(const Module& module, const std::string& name) {
    ++tally_.cases;
    if (FLAGS_print) {
      std::printf("// %s\n%s\n", name.c_str(), Print(module).c_str());
      std::fflush(stdout);
    }
    const absl::Time start = absl::Now();
    const DifferentialOptions options = Options(Cost(module));
    absl::StatusOr<DifferentialCase> c =
        DifferentialCase::Make(module, options);
    if (!c.ok()) {
      ++tally_.not_evaluated;
      std::printf("not evaluated: %s: %s\n", name.c_str(),
                  std::string(c.status().message()).c_str());
      return;
    }
    for (const Pass* pass : passes_) {
      bool changed = false;
      bool exact = true;
      absl::Status status = c->Check(*pass, &changed, &exact);
      ++tally_.checks;
      tally_.changed += changed;
      tally_.exact += changed && exact;
      if (!status.ok()) Report(module, name, *pass, options, status);
    }
    const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
    if (seconds > kSlow) {
      std::printf("slow: %s: %.0f s\n", name.c_str(), seconds);
    }
  }

  bool ShouldStop() const {
    return tally_.failures >= FLAGS_max_failures ||
           (FLAGS_seconds > 0 &&
            absl::ToDoubleSeconds(absl::Now() - start_) > FLAGS_seconds);
  }

  int Finish() const {
    std::printf(
        "%lld modules (%lld not evaluated), %lld checks, %lld with changes, "
        "%lld of those equal in every bit, %lld failures, %.1f s\n",
        static_cast<long long>(tally_.cases),
        static_cast<long long>(tally_.not_evaluated),
        static_cast<long long>(tally_.checks),
        static_cast<long long>(tally_.changed),
        static_cast<long long>(tally_.exact),
        static_cast<long long>(tally_.failures),
        absl::ToDoubleSeconds(absl::Now() - start_));
    return tally_.failures > 0 ? 2 : 0;
  }

 private:
  void Report(const Module& module, const std::string& name, const Pass& pass,
              const DifferentialOptions& options, const absl::Status& status) {
    ++tally_.failures;
    std::printf("FAILED %s: %s\n", name.c_str(), status.ToString().c_str());
    std::fflush(stdout);
    if (!FLAGS_reduce) return;
    std::unique_ptr<Module> reduced =
        ReduceModule(module, [&](const Module& m) {
          return CheckPass(m, pass, options).code() == status.code();
        });
    std::printf("reduced to:\n%s\n", Print(*reduced).c_str());
    std::unique_ptr<Module> after = reduced->Clone();
    if (pass.Run(after.get()).ok()) {
      std::printf("which %s makes:\n%s\n", std::string(pass.name()).c_str(),
                  Print(*after).c_str());
    }
    std::printf("with: %s\n",
                CheckPass(*reduced, pass, options).ToString().c_str());
    std::fflush(stdout);
  }

  std::vector<const Pass*> passes_;
  Tally tally_;
  absl::Time start_ = absl::Now();
};

absl::StatusOr<int> Main() {
  RIDGE_ASSIGN_OR_RETURN(std::vector<const Pass*> passes,
                         ParsePassList(FLAGS_passes));
  Runner runner(std::move(passes));
  if (!FLAGS_module.empty()) {
    RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Module> module,
                           ReadModule(FLAGS_module));
    runner.Run(*module, FLAGS_module);
    return runner.Finish();
  }
  if (!FLAGS_corpus.empty()) {
    RIDGE_ASSIGN_OR_RETURN(std::vector<CorpusEntry> corpus,
                           RunnableCorpus(FLAGS_corpus));
    bool started = FLAGS_after.empty();
    int64_t left_out = 0;
    int64_t not_read = 0;
    for (const CorpusEntry& entry : corpus) {
      if (runner.ShouldStop()) break;
      if (!started) {
        started = entry.file == FLAGS_after;
        continue;
      }
      if (entry.instructions > FLAGS_max_instructions) {
        ++left_out;
        std::printf("left out: %s: %lld instructions\n", entry.file.c_str(),
                    static_cast<long long>(entry.instructions));
        continue;
      }
      absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(entry.path);
      if (!module.ok()) {
        ++not_read;
        std::printf("not read: %s: %s\n", entry.file.c_str(),
                    std::string(module.status().message()).c_str());
        continue;
      }
      const double cost = Cost(**module);
      if (cost > FLAGS_max_cost || cost < FLAGS_min_cost) {
        ++left_out;
        std::printf("left out: %s: cost %.3g\n", entry.file.c_str(), cost);
        continue;
      }
      runner.Run(**module, entry.file);
    }
    std::printf("%zu runnable modules, %lld left out, %lld not read\n",
                corpus.size(), static_cast<long long>(left_out),
                static_cast<long long>(not_read));
    return runner.Finish();
  }
  std::pair<absl::string_view, absl::string_view> range =
      absl::StrSplit(FLAGS_seeds, absl::MaxSplits(':', 1));
  uint64_t from;
  uint64_t to;
  if (!absl::SimpleAtoi(range.first, &from) ||
      !absl::SimpleAtoi(range.second, &to)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--seeds=", FLAGS_seeds, ": want FROM:TO"));
  }
  for (uint64_t seed = from; seed < to && !runner.ShouldStop(); ++seed) {
    absl::StatusOr<std::unique_ptr<Module>> module =
        RandomProgram(seed, VariedOptions(seed));
    if (module.ok() && !FLAGS_write.empty()) {
      RIDGE_RETURN_IF_ERROR(MakeDirs(FLAGS_write));
      RIDGE_RETURN_IF_ERROR(WriteFileAtomic(
          absl::StrCat(FLAGS_write, "/seed_", seed, ".hlo"), Print(**module)));
      continue;
    }
    if (!module.ok()) return module.status();
    runner.Run(**module, absl::StrCat("seed ", seed));
  }
  return runner.Finish();
}

}  // namespace
}  // namespace ridge

int main(int argc, char** argv) {
  gflags::SetUsageMessage("Differential test of passes.");
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  absl::StatusOr<int> code = ridge::Main();
  if (code.ok()) return *code;
  std::fprintf(stderr, "differential: %s\n", code.status().ToString().c_str());
  return 1;
}
