// Verdicts and round trips on the shared corpus of XLA's own test modules, and
// on the suites. Needs RIDGE_SHARED, the folder that holds hlo/.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "hlo/text/fuzz_check.h"
#include "hlo/text/parser.h"
#include "nlohmann/json.hpp"

namespace ridge {
namespace {

namespace fs = std::filesystem;

std::string SharedFolder() {
  const char* shared = std::getenv("RIDGE_SHARED");
  return shared == nullptr ? "" : absl::StrCat(shared, "/hlo");
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

std::string CorpusText(const nlohmann::json& row) {
  return ReadAll(absl::StrCat(SharedFolder(), "/corpus/modules/",
                              row["file"].get<std::string>()));
}

std::vector<fs::path> HloFiles(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::directory_iterator(absl::StrCat(SharedFolder(), "/", folder))) {
    if (entry.path().extension() == ".hlo") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The line in "was parsing L:C"; 0 where XLA's message has none.
int XlaLine(const std::string& error) {
  constexpr absl::string_view kMark = "was parsing ";
  size_t at = error.find(std::string(kMark));
  if (at == std::string::npos) return 0;
  return std::atoi(error.c_str() + at + kMark.size());
}

class CorpusTest : public testing::Test {
 protected:
  void SetUp() override {
    if (SharedFolder().empty()) {
      GTEST_SKIP() << "RIDGE_SHARED is not set: no shared corpus to read";
    }
  }
};

TEST_F(CorpusTest, VerdictsAgreeWithXla) {
  std::vector<nlohmann::json> rows = CorpusIndex();
  ASSERT_FALSE(rows.empty());
  std::vector<std::string> disagreements;
  for (const nlohmann::json& row : rows) {
    std::string name = row["file"];
    bool accept = row["expect"] == "accept";
    std::vector<Diagnostic> errors;
    ParseOptions options;
    options.diagnostics = &errors;
    absl::StatusOr<std::unique_ptr<Module>> module =
        ParseModule(CorpusText(row), options);
    if (module.ok() != accept) {
      disagreements.push_back(absl::StrCat(
          name, accept ? ": XLA accepts it: " : ": XLA rejects it: ",
          accept ? std::string(module.status().message())
                 : row["xla_error"].get<std::string>()));
      continue;
    }
    if (accept) continue;
    int line = XlaLine(row["xla_error"]);
    if (line != 0 && errors[0].line != line) {
      disagreements.push_back(absl::StrCat(
          name, ": error at line ", errors[0].line, ", XLA's at line ", line));
    }
  }
  EXPECT_TRUE(disagreements.empty()) << absl::StrJoin(disagreements, "\n");
}

TEST_F(CorpusTest, CorpusRoundTrips) {
  std::vector<std::string> problems;
  int64_t modules = 0;
  for (const nlohmann::json& row : CorpusIndex()) {
    std::string text = CorpusText(row);
    if (!ParseModule(text).ok()) continue;
    ++modules;
    std::string problem = TextProblem(text);
    if (!problem.empty()) {
      problems.push_back(
          absl::StrCat(row["file"].get<std::string>(), ": ", problem));
    }
  }
  EXPECT_GT(modules, 4900);
  EXPECT_TRUE(problems.empty()) << absl::StrJoin(problems, "\n");
}

TEST_F(CorpusTest, SuitesAreReadAndRoundTrip) {
  for (const char* folder : {"suite", "suite_xla", "zoo", "small"}) {
    std::vector<fs::path> files = HloFiles(folder);
    EXPECT_GE(files.size(), 20u) << folder;
    for (const fs::path& path : files) {
      std::string text = ReadAll(path);
      absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
      ASSERT_TRUE(module.ok()) << path << ": " << module.status();
      EXPECT_EQ(TextProblem(text), "") << path;
    }
  }
}

}  // namespace
}  // namespace ridge
