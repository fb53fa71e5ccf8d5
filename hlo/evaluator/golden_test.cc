// The evaluator against XLA's stored outputs, module by module, within the
// derived error bounds. Data: $RIDGE_SHARED/hlo/{small,zoo,golden}.
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/file.h"
#include "hlo/base/safetensors.h"
#include "hlo/base/status_matchers.h"
#include "hlo/evaluator/compare.h"
#include "hlo/evaluator/golden_exceptions.h"
#include "hlo/evaluator/io.h"
#include "hlo/text/parser.h"
#include "nlohmann/json.hpp"

namespace ridge {
namespace {

struct Case {
  std::string name;
  std::string hlo;
  std::string tensors;
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

std::string Shared() {
  const char* folder = std::getenv("RIDGE_SHARED");
  return folder == nullptr ? "" : folder;
}

// Modules with values of several GB: golden_large_test runs these, golden_test
// all others.
constexpr absl::string_view kLarge[] = {
    "xla__hlo__transforms__simplifiers__hlo_constant_folding_test.cc__L331__"
    "HloConstantFoldingTest.DoesNotFoldSlicesWithLargeOperand",
    "xla__hlo__transforms__simplifiers__hlo_constant_folding_test.cc__L570__"
    "HloConstantFoldingTest.TimingConsumingTest",
};

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  const std::string hlo = absl::StrCat(Shared(), "/hlo/");
  for (const char* set : {"small", "zoo"}) {
    std::ifstream file(absl::StrCat(hlo, set, "/index.json"));
    nlohmann::json index = nlohmann::json::parse(file, nullptr, false);
    if (!index.is_object()) continue;
    for (const auto& [name, row] : index.items()) {
      const std::string stem = absl::StrCat(hlo, set, "/", name);
      cases.push_back(
          {absl::StrCat(set, "/", name), stem + ".hlo", stem + ".safetensors"});
    }
  }
  std::ifstream file(hlo + "golden/index.jsonl");
  for (std::string line; std::getline(file, line);) {
    nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
    if (!row.is_object()) continue;
    const std::string name = row["file"];
    const std::string stem = name.substr(0, name.size() - 4);
    cases.push_back({stem, absl::StrCat(hlo, "corpus/modules/", name),
                     absl::StrCat(hlo, "golden/", stem, ".safetensors")});
  }
  return cases;
}

std::vector<Case> Cases() {
  const bool large = std::getenv("RIDGE_GOLDEN_LARGE") != nullptr;
  std::vector<Case> cases;
  for (Case& c : AllCases()) {
    if (absl::c_linear_search(kLarge, c.name) == large) {
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

class GoldenTest : public testing::TestWithParam<Case> {};

TEST_P(GoldenTest, AgreesWithXla) {
  const Case& c = GetParam();
  RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, ReadModule(c.hlo));
  RIDGE_ASSERT_OK_AND_ASSIGN(SafeTensors tensors, ReadSafeTensors(c.tensors));
  RIDGE_ASSERT_OK_AND_ASSIGN(std::vector<Literal> arguments,
                             ReadArguments(*module, tensors));
  RIDGE_ASSERT_OK_AND_ASSIGN(Literal expected, ReadResult(*module, tensors));

  BoundOptions options;
  options.evaluation.max_steps = 2'000'000;
  if (const GoldenException* exception = FindGoldenException(c.name)) {
    RIDGE_EXPECT_OK(
        CheckGoldenException(*exception, *module, arguments, expected));
    // And it is one: without the table this row would fail.
    options.evaluation.max_steps = 1000;
    absl::StatusOr<Comparison> plain =
        CompareWithEvaluator(*module, arguments, expected, options);
    EXPECT_FALSE(plain.ok() && plain->ok) << "needs no exception";
    return;
  }
  RIDGE_ASSERT_OK_AND_ASSIGN(Literal plain,
                             Evaluate(*module, arguments, options.evaluation));
  RIDGE_ASSERT_OK_AND_ASSIGN(BoundedValue bounded,
                             EvaluateWithBounds(*module, arguments, options));
  EXPECT_TRUE(plain == bounded.value)
      << "the bounded evaluation gives other values";
  RIDGE_ASSERT_OK_AND_ASSIGN(
      Comparison comparison,
      CompareWith(TolerancesOf(bounded), expected, bounded.value));
  EXPECT_TRUE(comparison.ok) << comparison.ToString();
}

std::string Name(const testing::TestParamInfo<Case>& info) {
  std::string name;
  for (char c : info.param.name) name += std::isalnum(c) != 0 ? c : '_';
  return absl::StrCat(name, "_", info.index);
}

INSTANTIATE_TEST_SUITE_P(Stored, GoldenTest, testing::ValuesIn(Cases()), Name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenTest);

TEST(GoldenData, IsThere) {
  if (Shared().empty()) {
    GTEST_SKIP() << "RIDGE_SHARED is not set: nothing is compared";
  }
  EXPECT_EQ(AllCases().size(), 40 + 24 + 1539);
}

// Every row of the table names a module that is there.
TEST(GoldenData, ExceptionsNameModules) {
  if (Shared().empty()) GTEST_SKIP() << "RIDGE_SHARED is not set";
  std::set<std::string> names;
  for (const Case& c : AllCases()) names.insert(c.name);
  for (absl::string_view large : kLarge) {
    EXPECT_TRUE(names.count(std::string(large)) == 1) << large;
  }
  for (const GoldenException& e : GoldenExceptions()) {
    EXPECT_TRUE(names.count(std::string(e.module)) == 1) << e.module;
  }
}

}  // namespace
}  // namespace ridge
