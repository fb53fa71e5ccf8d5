// Replays inputs that were, or might have been, trouble: what the fuzz target
// found and what its author was afraid of.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hlo/text/fuzz_check.h"

namespace ridge {
namespace {

TEST(FuzzRegressionTest, EveryInputIsHandled) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator("hlo/text/testdata/fuzz")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  ASSERT_GE(files.size(), 20u);
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    EXPECT_EQ(TextProblem(text.str()), "") << file;
  }
}

// Cuts of a module at every byte, and with every byte replaced, are handled.
TEST(FuzzRegressionTest, DamagedModulesAreHandled) {
  const std::string text = R"(HloModule m, buffer_donor={ (0, {}) }
%f (a: f32[]) -> f32[] { ROOT %a = f32[] parameter(0) }
ENTRY %e (x: f32[2,3]) -> f32[3,2] {
  %x = f32[2,3]{1,0:T(8,128)} parameter(0), sharding={devices=[2,1]0,1}
  c = c64[2] constant({(1, -nan), (inf, 2e3)}) // comment
  s = ((f32[2,3]), f32[3,2], s32[]) transpose-start(%x), dimensions={1,0}
  ROOT d = f32[3,2] transpose-done(s), metadata={op_name="n" source_line=1}
}
)";
  ASSERT_EQ(TextProblem(text), "");
  for (size_t i = 0; i < text.size(); ++i) {
    ASSERT_EQ(TextProblem(text.substr(0, i)), "") << "cut at " << i;
    for (char c : {'{', ')', '"', '%', ',', '9', '\n', '\x80'}) {
      std::string damaged = text;
      damaged[i] = c;
      ASSERT_EQ(TextProblem(damaged), "") << damaged;
    }
  }
}

}  // namespace
}  // namespace ridge
