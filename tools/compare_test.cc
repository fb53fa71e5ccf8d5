// The compare tool from outside: predictions against measurements.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tools/common/tool_fixture.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kModule[] = R"(HloModule two
ENTRY main {
  x = f32[127,33] parameter(0)
  e = f32[127,33] exponential(x)
  n = f32[33,127] transpose(e), dimensions={1,0}
  s = f32[33,33] dot(n, e), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[33,33] tanh(s)
}
)";

class CompareTest : public ToolTest {
 protected:
  CompareTest() : ToolTest("tools/compare") {}
  void SetUp() override {
    ToolTest::SetUp();
    module_ = File("two.hlo", kModule);
  }
  std::string module_;
};

TEST_F(CompareTest, EveryGroupHasItsPredictionAndMeasurement) {
  RunResult result =
      Run({module_, module_, "--out", Path("compare.csv"), "--format=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  nlohmann::json json = nlohmann::json::parse(result.out);
  ASSERT_GE(json["groups"].size(), 4u);  // two modules, each with a dot
  for (const nlohmann::json& g : json["groups"]) {
    EXPECT_GT(g["predicted_us"].get<double>(), 0) << g;
    EXPECT_GT(g["roofline_us"].get<double>(), 0) << g;
    EXPECT_GT(g["measured_us"].get<double>(), 0) << g;
  }
  for (const char* field :
       {"mape", "kendall_tau", "roofline_mape", "roofline_kendall_tau"}) {
    EXPECT_TRUE(json[field].is_number()) << field;
  }
  RIDGE_ASSERT_OK_AND_ASSIGN(std::string csv, ReadFile(Path("compare.csv")));
  EXPECT_THAT(csv, StartsWith("module,group,"));
  std::vector<std::string> lines = absl::StrSplit(csv, '\n', absl::SkipEmpty());
  EXPECT_EQ(lines.size(), json["groups"].size() + 1);
}

TEST_F(CompareTest, TheTableEndsWithErrorAndTau) {
  RunResult result = Run({module_});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("tau"));
  EXPECT_THAT(result.out, HasSubstr("raw roofline"));
}

TEST_F(CompareTest, BadInputIsRefused) {
  ExpectBadModulesAreRefused({});
  ExpectUserError(Run({module_, "--backend=abacus"}), "abacus");
  ExpectUserError(Run({module_, "--device=abacus"}), "abacus");
  ExpectUserError(Run({module_, "--out", Path("no/such/c.csv")}), "no/such");
  ExpectUserError(Run({module_, module_, "--plan=x"}), "--plan");
  ExpectUserError(Run({}), "MODULE.hlo");
}

}  // namespace
}  // namespace ridge
