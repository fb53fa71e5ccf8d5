// The explain tool from outside: what it says and returns.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/common/tool_fixture.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;

constexpr char kModule[] = R"(HloModule centred
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[4096,256] parameter(0)
  zero = f32[] constant(0)
  total = f32[256] reduce(x, zero), dimensions={0}, to_apply=sum
  totals = f32[4096,256] broadcast(total), dimensions={1}
  shifted = f32[4096,256] subtract(x, totals)
  ROOT y = f32[4096,256] exponential(shifted)
}
)";

class ExplainTest : public ToolTest {
 protected:
  ExplainTest() : ToolTest("tools/explain") {}
  void SetUp() override {
    ToolTest::SetUp();
    module_ = File("centred.hlo", kModule);
  }
  std::string module_;
};

TEST_F(ExplainTest, NamesTheRuleThatKeepsTwoApart) {
  RunResult result = Run({module_, "total", "y"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("share no kernel"));
  EXPECT_THAT(result.out, HasSubstr("after-columns"));
  EXPECT_THAT(result.out, HasSubstr("would flip:"));
}

TEST_F(ExplainTest, NamesTheKernelThatTwoShare) {
  RunResult result = Run({module_, "shifted", "y", "--format=json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  nlohmann::json json = nlohmann::json::parse(result.out, nullptr, false);
  EXPECT_THAT(json["shared"], HasSubstr("_y"));
  EXPECT_EQ(json["rule"], "allowed");
}

TEST_F(ExplainTest, ListsEveryDecision) {
  RunResult result = Run({module_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("merge %shifted -> %y: allowed"));
  EXPECT_THAT(result.out, HasSubstr("merge %total -> %shifted: after-columns"));
}

TEST_F(ExplainTest, RefusesWhatIsNotThere) {
  ExpectUserError(Run({module_, "total", "nobody"}), "%nobody");
  ExpectUserError(Run({module_, "total"}), "one instruction given");
  ExpectBadModulesAreRefused({"a", "b"});
}

}  // namespace
}  // namespace ridge
