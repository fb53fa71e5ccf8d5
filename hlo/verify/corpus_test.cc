// Verdicts on the shared corpus: what XLA's own tests say of their modules,
// and what ran in XLA. Needs RIDGE_SHARED, the folder that holds hlo/.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "hlo/text/parser.h"
#include "hlo/verify/verify.h"
#include "nlohmann/json.hpp"

namespace ridge {
namespace {

namespace fs = std::filesystem;

std::string SharedFolder() {
  const char* shared = std::getenv("RIDGE_SHARED");
  return shared == nullptr ? "" : absl::StrCat(shared, "/hlo");
}

#define SKIP_WITHOUT_SHARED()                                        \
  if (SharedFolder().empty()) {                                      \
    GTEST_SKIP() << "RIDGE_SHARED is not set: no corpus to look at"; \
  }

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<nlohmann::json> CorpusIndex() {
  std::vector<nlohmann::json> rows;
  std::ifstream in(absl::StrCat(SharedFolder(), "/corpus/index.jsonl"));
  for (std::string line; std::getline(in, line);) {
    rows.push_back(nlohmann::json::parse(line));
  }
  return rows;
}

// XLA switches some rules by test fixture, which the file's name holds; one
// test compiles for three replicas.
VerifyOptions FixtureOptions(absl::string_view file) {
  VerifyOptions options;
  options.layout_sensitive = absl::StrContains(file, "LayoutSensitive");
  options.allow_mixed_precision =
      absl::StrContains(file, "AllowMixedPrecision");
  if (absl::StrContains(file, "CollectivePermuteCrossReplicaTargetOOR")) {
    options.replica_count = 3;
  }
  return options;
}

// "" for a valid module, else the first error; "(not read)" where there is no
// module.
std::string Verdict(const std::string& path, const VerifyOptions& options) {
  const absl::StatusOr<std::unique_ptr<Module>> module =
      ParseModule(ReadAll(path));
  if (!module.ok()) return "(not read)";
  const std::vector<VerifyError> errors = Verify(**module, options);
  return errors.empty() ? "" : ToString(errors[0]);
}

std::string CorpusPath(const nlohmann::json& row) {
  return absl::StrCat(SharedFolder(), "/corpus/modules/",
                      row["file"].get<std::string>());
}

// Files that the default options judge otherwise than XLA's test did under
// options of its own, and why.
struct Exception {
  absl::string_view test;
  absl::string_view reason;
};
constexpr Exception kDefaultDisagreements[] = {
    {"HloVerifierTestAllowMixedPrecision.SelectMixedPrecisionAllowed",
     "same module as HloVerifierTest.SelectMixedPrecisionNotAllowed, which "
     "must "
     "fail"},
    {"HloVerifierTest.CollectivePermuteCrossReplicaTargetOOR",
     "wrong for the three replicas of the test, which text does not tell"},
    {"HloVerifierTestLayoutSensitive.SliceWithLayoutChangeNotAllowed",
     "valid before layouts are assigned, which text does not tell"},
    {"HloVerifierTestLayoutSensitive.ConcatWithLayoutChangeNotAllowed",
     "valid before layouts are assigned, which text does not tell"},
};

// Modules that count as runnable by their form, but that XLA:CPU refuses to
// compile (its message in short).
constexpr absl::string_view kRefusedByXla[] = {
    "ScaledDotOperandTypes",   // scales in the older operand order
    "FftTest.FFT",             // FFT of reals
    "L1236__TupleScatter",     // several float precisions
    "DebugInfoIsAttached",     // add of f64 gives f32
    "WrongRandomType",         // stochastic-convert
    "WrongRandomBitWidth",     // stochastic-convert
    "MinimumWithInfinityLhs",  // several float precisions
    "MaximumWithNegativeInfinityLhsAndRhsF16Type",
    "FoldConvertedPadIntoReduceWindow",  // reducer of another type
    "FoldingConvertedPadIntoReduceWindowEnableRewriter",
    "ResolveIfUnsupportedBF16CalledComputation",
    "OperationsInNestedTuplesConverted",
    "rewrite_bf16_conv_to_onednn.2",  // sizes of a convolution
    "GatherIsBroadcastBatchDim",      // a dimension in two roles
    "IsPhysicallyTransposing_CopyProducer",
    "CopyFusionWithDynamicUpdateSliceNotInplace",
    "ScatterMultiOutput",  // several float precisions
    "kReduceOperandComputationMismatchHlo",
    "BroadcastsAreAlwaysDuplicableIntoConsumers",
    "LayoutNormalizationTest.PhysicalTranspose",
    "IsSimplifiedScatterReturnsFalseForUnsortedWindowDims",
    "VariadicScatterIntoScalar",    // several float precisions
    "SelectMixedPrecisionAllowed",  // several float precisions
};

template <typename Names>
bool IsIn(absl::string_view file, const Names& names) {
  return std::any_of(std::begin(names), std::end(names), [&](const auto& name) {
    return absl::StrContains(file, name);
  });
}

TEST(VerifyCorpusTest, EveryVerdictIsAgreedWith) {
  SKIP_WITHOUT_SHARED();
  int verdicts = 0;
  std::vector<std::string> disagreements;
  for (const nlohmann::json& row : CorpusIndex()) {
    const std::string verdict = row.value("verifier", "");
    if (verdict != "ok" && verdict != "fail") continue;  // "depends"
    ++verdicts;
    const std::string file = row["file"];
    const std::string found = Verdict(CorpusPath(row), FixtureOptions(file));
    if (found.empty() != (verdict == "ok")) {
      disagreements.push_back(
          absl::StrCat(file, ": XLA says ", verdict, ", Ridge ", found));
    }
  }
  EXPECT_EQ(verdicts, 102);
  EXPECT_TRUE(disagreements.empty()) << absl::StrJoin(disagreements, "\n");
}

TEST(VerifyCorpusTest, DefaultOptionsDisagreeOnlyWhereTheyMust) {
  SKIP_WITHOUT_SHARED();
  std::vector<std::string> disagreements;
  for (const nlohmann::json& row : CorpusIndex()) {
    const std::string verdict = row.value("verifier", "");
    if (verdict != "ok" && verdict != "fail") continue;
    const std::string file = row["file"];
    const bool known = std::any_of(
        std::begin(kDefaultDisagreements), std::end(kDefaultDisagreements),
        [&](const Exception& e) { return absl::StrContains(file, e.test); });
    const bool agrees =
        Verdict(CorpusPath(row), VerifyOptions()).empty() == (verdict == "ok");
    // An exception that no longer is one should leave the list.
    if (agrees == known) disagreements.push_back(file);
  }
  EXPECT_TRUE(disagreements.empty()) << absl::StrJoin(disagreements, "\n");
}

TEST(VerifyCorpusTest, WhatRunsInXlaIsValid) {
  SKIP_WITHOUT_SHARED();
  int valid = 0;
  std::vector<std::string> rejected;
  for (const nlohmann::json& row : CorpusIndex()) {
    const std::string file = row["file"];
    if (!row.value("runnable", false) || IsIn(file, kRefusedByXla)) continue;
    const std::string found = Verdict(CorpusPath(row), VerifyOptions());
    if (found.empty()) {
      ++valid;
    } else {
      rejected.push_back(absl::StrCat(file, ": ", found));
    }
  }
  EXPECT_GT(valid, 2800);
  EXPECT_TRUE(rejected.empty()) << absl::StrJoin(rejected, "\n");
}

TEST(VerifyCorpusTest, SuitesAreValid) {
  SKIP_WITHOUT_SHARED();
  int modules = 0;
  for (const char* folder : {"suite", "suite_xla", "small", "zoo"}) {
    for (const auto& entry :
         fs::directory_iterator(absl::StrCat(SharedFolder(), "/", folder))) {
      if (entry.path().extension() != ".hlo") continue;
      ++modules;
      EXPECT_EQ(Verdict(entry.path().string(), VerifyOptions()), "")
          << entry.path();
    }
  }
  EXPECT_GE(modules, 40 + 40 + 40 + 24);
}

// Modules that XLA optimised have their layouts assigned.
TEST(VerifyCorpusTest, OptimisedSuiteIsValidWithLayouts) {
  SKIP_WITHOUT_SHARED();
  VerifyOptions options;
  options.layout_sensitive = true;
  for (const auto& entry :
       fs::directory_iterator(absl::StrCat(SharedFolder(), "/suite_xla"))) {
    if (entry.path().extension() != ".hlo") continue;
    EXPECT_EQ(Verdict(entry.path().string(), options), "") << entry.path();
  }
}

}  // namespace
}  // namespace ridge
