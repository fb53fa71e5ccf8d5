// Every accepted module of the shared corpus and the suites through protobuf
// and back, text for text. Needs RIDGE_SHARED, the folder that holds hlo/.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "hlo/proto/module_proto.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
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

// The first lines that differ.
std::string Difference(const std::string& a, const std::string& b) {
  const std::vector<absl::string_view> x = absl::StrSplit(a, '\n');
  const std::vector<absl::string_view> y = absl::StrSplit(b, '\n');
  for (size_t k = 0; k < x.size() && k < y.size(); ++k) {
    if (x[k] == y[k]) continue;
    return absl::StrCat("\n  < ", x[k].substr(0, 300), "\n  > ",
                        y[k].substr(0, 300));
  }
  return " in length";
}

// Modules that a message cannot hold as they are, and why.
struct Exception {
  absl::string_view test;
  absl::string_view reason;
};
constexpr Exception kExceptions[] = {
    {"CudnnPadForConvolutionsTest.PadInt8x4To32",
     "dim_labels=b01f?: a message has no place for dimensions without a role; "
     "XLA, too, prints b01f for what it has read"},
};

bool IsException(absl::string_view file) {
  return std::any_of(
      std::begin(kExceptions), std::end(kExceptions),
      [&](const Exception& e) { return absl::StrContains(file, e.test); });
}

// What goes wrong with a module on its way through a message; "" if nothing.
std::string Problem(const std::string& path) {
  const auto module = ParseModule(ReadAll(path));
  if (!module.ok()) return absl::StrCat(path, ": not read");
  const std::string bytes = ModuleToProto(**module);
  const auto again = ModuleFromProto(bytes);
  if (!again.ok()) {
    return absl::StrCat(path, ": ", again.status().message());
  }
  const std::string before = Print(**module);
  const std::string after = Print(**again);
  if (before != after) {
    return absl::StrCat(path, ": the text differs", Difference(before, after));
  }
  if (ModuleToProto(**again) != bytes) {
    return absl::StrCat(path, ": the bytes differ");
  }
  return "";
}

TEST(ProtoCorpusTest, TextProtoTextIsTheIdentity) {
  SKIP_WITHOUT_SHARED();
  int modules = 0;
  std::vector<std::string> problems;
  std::ifstream in(absl::StrCat(SharedFolder(), "/corpus/index.jsonl"));
  for (std::string line; std::getline(in, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    if (row["expect"] != "accept") continue;
    ++modules;
    const std::string file = row["file"];
    const std::string problem =
        Problem(absl::StrCat(SharedFolder(), "/corpus/modules/", file));
    // An exception that no longer is one should leave the list.
    if (problem.empty() == IsException(file)) {
      problems.push_back(absl::StrCat(file, ": ", problem));
    }
  }
  EXPECT_GT(modules, 4900);
  EXPECT_TRUE(problems.empty()) << problems.size() << ":\n"
                                << absl::StrJoin(problems, "\n");
}

TEST(ProtoCorpusTest, SuitesTravelToo) {
  SKIP_WITHOUT_SHARED();
  for (const char* folder : {"suite", "suite_xla", "small", "zoo"}) {
    for (const auto& entry :
         fs::directory_iterator(absl::StrCat(SharedFolder(), "/", folder))) {
      if (entry.path().extension() != ".hlo") continue;
      EXPECT_EQ(Problem(entry.path().string()), "");
    }
  }
}

}  // namespace
}  // namespace ridge
