// Properties of plans over real modules: every strategy's plan is valid, its
// groups are legal, and the fused module verifies and computes, bit for bit,
// what the canonical module computes (casts stay, every instruction rounds).
//
// The bundled modules always; those of $RIDGE_SHARED where that is set.
#include <dirent.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "fusion/export.h"
#include "fusion/proposals.h"
#include "fusion/testing.h"
#include "fusion/traffic.h"
#include "fusion/validate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/evaluator/inputs.h"
#include "hlo/text/printer.h"
#include "hlo/verify/verify.h"

namespace ridge {
namespace {

constexpr int64_t kMostElements = 1 << 22;  // evaluated in well under a second

std::vector<std::string> HloFiles(const std::string& folder) {
  std::vector<std::string> files;
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return files;
  while (const dirent* entry = readdir(dir)) {
    std::string name = entry->d_name;
    if (absl::EndsWith(name, ".hlo")) {
      files.push_back(absl::StrCat(folder, "/", name));
    }
  }
  closedir(dir);
  std::sort(files.begin(), files.end());
  return files;
}

std::string Shared(absl::string_view sub) {
  const char* shared = std::getenv("RIDGE_SHARED");
  return shared == nullptr || *shared == 0 ? ""
                                           : absl::StrCat(shared, "/", sub);
}

bool Large(const Module& module) {
  int64_t elements = 0;
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      if (i->shape().IsArray()) elements += i->shape().ElementCount();
      if (elements > kMostElements) return true;
    }
  }
  return false;
}

bool Same(const Literal& a, const Literal& b) {
  if (a.shape().IsTuple()) {
    for (size_t k = 0; k < a.elements().size(); ++k) {
      if (!Same(a.elements()[k], b.elements()[k])) return false;
    }
    return true;
  }
  return a == b;
}

// What a plan of `module` must satisfy.
absl::Status CheckPlan(const Module& module, const Plan& plan, bool evaluate) {
  RIDGE_RETURN_IF_ERROR(ValidatePlan(module, plan));
  for (const ComputationPlan& c : plan.computations) {
    for (const Group& g : c.groups) {
      GroupAnalysis a = AnalyzeGroup(g.members, g.roots);
      if (!a.decision.allowed()) {
        return absl::InternalError(
            absl::StrCat(g.name, ": ", a.decision.ToString()));
      }
    }
  }
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Module> fused,
                         ExportFused(module, plan));
  RIDGE_RETURN_IF_ERROR(Annotate(VerifyStatus(*fused), "fused"));
  absl::StatusOr<std::unique_ptr<Module>> read = ParseModule(Print(*fused));
  RIDGE_RETURN_IF_ERROR(Annotate(read.status(), "fused, printed"));
  if (!evaluate) return absl::OkStatus();
  absl::StatusOr<std::vector<Literal>> inputs = MakeInputs(module);
  // Nor can a parameter of dynamic size be given values.
  if (absl::IsUnimplemented(inputs.status())) return absl::OkStatus();
  RIDGE_RETURN_IF_ERROR(inputs.status());
  const std::vector<Literal>& arguments = *inputs;
  EvalOptions options;
  options.max_steps = 10000;
  absl::StatusOr<Literal> expected = Evaluate(module, arguments, options);
  // What cannot be evaluated unfused has nothing to compare with.
  if (!expected.ok()) return absl::OkStatus();
  absl::StatusOr<Literal> got = Evaluate(**read, arguments, options);
  RIDGE_RETURN_IF_ERROR(Annotate(got.status(), "fused, evaluated"));
  return Same(*expected, *got)
             ? absl::OkStatus()
             : absl::InternalError("the fused module computes another value");
}

absl::Status CheckModule(const std::string& file, int changes) {
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ReadModule(file));
  RIDGE_RETURN_IF_ERROR(Canonicalize(module.get()));
  const bool evaluate = !Large(*module);
  for (absl::string_view strategy : StrategyNames()) {
    absl::StatusOr<Plan> plan = MakePlan(*module, strategy);
    RIDGE_RETURN_IF_ERROR(Annotate(plan.status(), strategy));
    RIDGE_RETURN_IF_ERROR(
        Annotate(CheckPlan(*module, *plan, evaluate), strategy));
    if (strategy != "greedy") continue;
    for (const Change& change : EnumerateChanges(*plan, changes, 1)) {
      absl::StatusOr<Plan> changed = ApplyChange(*module, *plan, change);
      if (absl::IsInvalidArgument(changed.status())) continue;  // a reason
      RIDGE_RETURN_IF_ERROR(changed.status());
      RIDGE_RETURN_IF_ERROR(
          Annotate(CheckPlan(*module, *changed, evaluate), changed->note));
    }
  }
  return absl::OkStatus();
}

TEST(ModulesTest, Bundled) {
  std::vector<std::string> files = HloFiles("tests/hlo");
  ASSERT_FALSE(files.empty());
  for (const std::string& file : files) {
    RIDGE_EXPECT_OK(CheckModule(file, 4)) << file;
  }
}

// The textbook's figures: what a chain of separate operations moves, and what
// one kernel does.
struct Textbook {
  const char* file;
  int64_t before;
  int64_t after;
  std::vector<std::string> besides;  // vectors and masks, by name
};

TEST(ModulesTest, TensorTripsAreTheTextbooks) {
  for (const Textbook& t : std::vector<Textbook>{
           {"tests/hlo/gelu_scale_residual.hlo", 7, 3, {"scale"}},
           {"tests/hlo/dropout_bias_norm.hlo",
            6,
            2,
            {"bias", "gamma", "mask", "offset"}}}) {
    SCOPED_TRACE(t.file);
    RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module,
                               ReadModule(t.file));
    EXPECT_EQ(UnfusedTraffic(*module).tensor_trips, t.before);
    RIDGE_ASSERT_OK(Canonicalize(module.get()));
    RIDGE_ASSERT_OK_AND_ASSIGN(Plan plan, MakePlan(*module, "greedy"));
    Traffic after = PlanTraffic(plan);
    EXPECT_EQ(after.tensor_trips, t.after);
    EXPECT_THAT(after.small_values,
                ::testing::UnorderedElementsAreArray(t.besides));
  }
}

TEST(ModulesTest, Small) {
  const std::string folder = Shared("hlo/small");
  if (folder.empty()) GTEST_SKIP() << "RIDGE_SHARED is not set";
  for (const std::string& file : HloFiles(folder)) {
    RIDGE_EXPECT_OK(CheckModule(file, 2)) << file;
  }
}

TEST(ModulesTest, Suite) {
  const std::string folder = Shared("hlo/suite");
  if (folder.empty()) GTEST_SKIP() << "RIDGE_SHARED is not set";
  for (const std::string& file : HloFiles(folder)) {
    RIDGE_EXPECT_OK(CheckModule(file, 0)) << file;
  }
}

TEST(ModulesTest, Corpus) {
  const std::string folder = Shared("hlo/golden");
  if (folder.empty()) GTEST_SKIP() << "RIDGE_SHARED is not set";
  // A stride that changes with nothing: some hundreds of modules, one in so
  // many, as far as the time goes.
  std::vector<std::string> files = HloFiles(Shared("hlo/corpus/modules"));
  const absl::Time end = absl::Now() + absl::Seconds(20);
  int checked = 0;
  for (size_t k = 0; k < files.size() && absl::Now() < end; k += 7) {
    absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(files[k]);
    if (!module.ok() || (*module)->entry() == nullptr ||
        !VerifyStatus(**module).ok() || !Canonicalize(module->get()).ok() ||
        !VerifyStatus(**module).ok()) {
      continue;  // not this test's concern
    }
    RIDGE_EXPECT_OK(CheckModule(files[k], 1)) << files[k];
    ++checked;
  }
  EXPECT_GT(checked, 50);
}

}  // namespace
}  // namespace ridge
