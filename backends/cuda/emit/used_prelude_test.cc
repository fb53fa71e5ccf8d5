// What stays of the prelude: all that a file needs, and little else.
#include "backends/cuda/emit/used_prelude.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/cuda/driver/nvrtc.h"
#include "backends/cuda/emit/common.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ridge::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPrelude[] = R"(
// ---- A prelude ----
#pragma something
typedef int int32_t;
#define RDG_FN static __device__
// Doubles.
RDG_FN int rdg_twice(int x) {
  return x + x;
}
template <typename T>
RDG_FN T rdg_same(T x) { return x; }
RDG_FN int rdg_four(int x) { return rdg_twice(rdg_twice(x)); }
struct rdg_pair {
  int a, b;
};
RDG_FN int rdg_first(const rdg_pair& p) { return p.a; }
#define RDG_MAKE(NAME, TO)                    \
  RDG_FN int rdg_load_##NAME(int x) {         \
    return TO(x);                             \
  }                                           \
  RDG_FN int rdg_store_##NAME(int x) { return x; }
RDG_MAKE(small, rdg_twice)
RDG_MAKE(large, rdg_same)
)";

TEST(SplitTest, EachDeclarationIsAPart) {
  std::vector<std::string> names;
  std::string whole;
  for (const PreludePart& p : SplitPrelude(kPrelude)) {
    names.push_back(p.names.empty() ? "-" : p.names[0]);
    whole += p.text;
  }
  EXPECT_THAT(names,
              ElementsAre("-", "-", "RDG_FN", "rdg_twice", "rdg_same",
                          "rdg_four", "rdg_pair", "rdg_first", "RDG_MAKE",
                          "rdg_load_small", "rdg_load_large"));
  EXPECT_EQ("\n" + whole, kPrelude);
}

TEST(UsedTest, KeepsWhatIsUsedThroughOthers) {
  const std::vector<PreludePart> parts = SplitPrelude(kPrelude);
  const std::string four =
      UsedParts(parts, "int f(int x){return rdg_four(x);}");
  EXPECT_THAT(four, HasSubstr("int rdg_twice("));
  EXPECT_THAT(four, HasSubstr("// Doubles.\n"));
  EXPECT_THAT(four, HasSubstr("#define RDG_FN"));
  EXPECT_THAT(four, HasSubstr("#pragma something"));
  EXPECT_THAT(four, Not(HasSubstr("rdg_same")));
  EXPECT_THAT(four, Not(HasSubstr("rdg_pair")));

  const std::string small = UsedParts(parts, "rdg_store_small(1)");
  EXPECT_THAT(small, HasSubstr("RDG_MAKE(small, rdg_twice)"));
  EXPECT_THAT(small, HasSubstr("#define RDG_MAKE"));
  EXPECT_THAT(small, HasSubstr("int rdg_twice("));
  EXPECT_THAT(small, Not(HasSubstr("RDG_MAKE(large")));

  EXPECT_THAT(UsedParts(parts, "rdg_first(p)"), HasSubstr("struct rdg_pair"));
}

// The true prelude: every part is found by its name, and compiles with no more
// than what it uses.
TEST(UsedTest, EveryHelperCompilesWithWhatItUses) {
  const std::vector<PreludePart> parts = SplitPrelude(FilePrelude());
  ASSERT_GT(parts.size(), 100u);
  absl::flat_hash_set<std::string> defined;
  for (const PreludePart& p : parts) {
    defined.insert(p.names.begin(), p.names.end());
  }
  std::vector<std::string> missing;
  for (const PreludePart& p : parts) {
    for (const std::string& name : p.uses) {
      if (absl::StartsWith(name, "rdg_") && !defined.contains(name)) {
        missing.push_back(name);
      }
    }
  }
  // Halves of names that a macro pastes together.
  EXPECT_THAT(missing, ElementsAre("rdg_load_", "rdg_store_", "rdg_round_"));

  if (!NvrtcVersion().ok()) GTEST_SKIP() << "no NVRTC on this machine";
  std::vector<CompileRequest> requests;
  for (const PreludePart& p : parts) {
    if (p.names.empty() || !absl::StartsWith(p.names[0], "rdg_")) continue;
    CompileRequest r;
    r.name = p.names[0];
    r.source = UsedParts(parts, p.names[0]);
    r.arch = "sm_90a";
    r.options = {"-default-device"};
    requests.push_back(r);
  }
  const auto results = CompileAll(requests);
  for (size_t k = 0; k < results.size(); ++k) {
    EXPECT_TRUE(results[k].ok()) << results[k].status() << "\n"
                                 << requests[k].source;
  }
}

TEST(UsedTest, AFileWithoutThePreludeStaysAsItIs) {
  EXPECT_EQ(WithUsedPrelude("int x;\n"), "int x;\n");
  const std::string file =
      absl::StrCat(FilePrelude(), "float f(float x) { return rdg_exp(x); }\n");
  const std::string used = WithUsedPrelude(file);
  EXPECT_THAT(used, HasSubstr("RDG_MATH1(rdg_exp, expf, exp)"));
  EXPECT_THAT(used, HasSubstr("{ return rdg_exp(x); }"));
  EXPECT_THAT(used, Not(HasSubstr("rdg_ipow")));
  EXPECT_LT(used.size(), 1500u);
}

}  // namespace
}  // namespace ridge::cuda
