// The autotune tool from outside: ranked plans, the database, replay.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/common/tool_fixture.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;

// Two chains and a row reduction: there is something to merge and to split.
constexpr char kModule[] = R"(HloModule chains
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[257,129] parameter(0)
  e = f32[257,129] exponential(x)
  t = f32[257,129] tanh(e)
  zero = f32[] constant(0)
  total = f32[257] reduce(t, zero), dimensions={1}, to_apply=sum
  totals = f32[257,129] broadcast(total), dimensions={0}
  y = f32[257,129] divide(t, totals)
  z = f32[129,257] transpose(e), dimensions={1,0}
  w = f32[129,257] negate(z)
  ROOT r = (f32[257,129], f32[129,257]) tuple(y, w)
}
)";

class AutotuneTest : public ToolTest {
 protected:
  AutotuneTest() : ToolTest("tools/autotune") {}
  void SetUp() override {
    ToolTest::SetUp();
    module_ = File("chains.hlo", kModule);
  }
  std::string module_;
};

TEST_F(AutotuneTest, RanksPlansAndReplaysThem) {
  const std::string plans = Path("plans.textproto");
  const std::string db = Path("tuning.db");
  const std::vector<std::string> line = {
      module_, "--budget=20s", "--out", plans, "--db", db, "--format=json"};
  RunResult first = Run(line);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  nlohmann::json json = nlohmann::json::parse(first.out);
  ASSERT_GE(json["plans"].size(), 3u) << first.out;
  int measured = 0;
  int last_rank = 0;
  bool none = false;
  bool greedy = false;
  for (const nlohmann::json& p : json["plans"]) {
    EXPECT_GE(p["rank"].get<int>(), last_rank);
    last_rank = p["rank"];
    EXPECT_GT(p["predicted_us"].get<double>(), 0) << p;
    if (p["measured_us"].get<double>() > 0) ++measured;
    none |= p["note"] == "no fusion";
    greedy |= p["note"] == "greedy";
  }
  EXPECT_GE(measured, 2) << first.out;
  EXPECT_TRUE(none);
  EXPECT_TRUE(greedy);
  EXPECT_THAT(first.err, HasSubstr("predicted"));  // progress

  // Every plan of the list runs, and gives the right answer.
  tool_ = "tools/fuse";
  RunResult replay = Run({module_, "--plan", plans, "--run"});
  EXPECT_EQ(replay.exit_code, 0) << replay.err;

  // A second search knows what the first one measured.
  tool_ = "tools/autotune";
  RunResult second = Run(line);
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("(known)"));
}

TEST_F(AutotuneTest, ABudgetThatIsSpentKeepsWhatWasFound) {
  RunResult result = Run(
      {module_, "--budget=1ms", "--out", Path("p.textproto"), "--format=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  nlohmann::json json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["finished"], false);
  EXPECT_TRUE(Exists(Path("p.textproto")));
}

TEST_F(AutotuneTest, BadInputIsRefused) {
  const std::string out = absl::StrCat("--out=", Path("p.textproto"));
  ExpectBadModulesAreRefused({out});
  ExpectUserError(Run({module_, out, "--budget=soon"}), "soon");
  ExpectUserError(Run({module_, out, "--budget=-1s"}), "-1s");
  ExpectUserError(Run({module_, out, "--backend=abacus"}), "abacus");
  ExpectUserError(Run({module_, out, "--device=abacus"}), "abacus");
  ExpectUserError(Run({module_, out, "--db",
                       File("not.db",
                            "This is no database at all, "
                            "although it is long enough "
                            "to be the header of one.")}),
                  "not.db");
  EXPECT_FALSE(Exists(Path("p.textproto")));
}

TEST_F(AutotuneTest, AnUnwritableListIsSaidBeforeTheSearch) {
  RunResult result =
      Run({module_, "--budget=1h", "--out", Path("no/such/p.textproto")});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("no/such"));
}

}  // namespace
}  // namespace ridge
