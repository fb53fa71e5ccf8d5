// The fuse tool from outside: what it prints, writes and returns.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/text/parser.h"
#include "hlo/verify/verify.h"
#include "tools/common/tool_fixture.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr char kModule[] = R"(HloModule softmax
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[33,127] parameter(0)
  low = f32[] constant(-inf)
  top = f32[33] reduce(x, low), dimensions={1}, to_apply=max
  tops = f32[33,127] broadcast(top), dimensions={0}
  shifted = f32[33,127] subtract(x, tops)
  e = f32[33,127] exponential(shifted)
  zero = f32[] constant(0)
  total = f32[33] reduce(e, zero), dimensions={1}, to_apply=sum
  totals = f32[33,127] broadcast(total), dimensions={0}
  ROOT y = f32[33,127] divide(e, totals)
}
)";

class FuseTest : public ToolTest {
 protected:
  FuseTest() : ToolTest("tools/fuse") {}
  void SetUp() override {
    ToolTest::SetUp();
    module_ = File("softmax.hlo", kModule);
  }

  nlohmann::json Json(std::vector<std::string> arguments) {
    arguments.push_back("--format=json");
    RunResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out, nullptr, false);
  }

  std::string module_;
};

TEST_F(FuseTest, TheChainOfTheReadmeMakesThreeTripsInsteadOfSeven) {
  nlohmann::json json = Json({"tests/hlo/gelu_scale_residual.hlo"});
  EXPECT_EQ(json["tensor_trips_before"], 7);
  EXPECT_EQ(json["tensor_trips_after"], 3);
  EXPECT_EQ(json["kernels_before"], 3);
  EXPECT_EQ(json["kernels_after"], 1);
  const int64_t tensor = int64_t{8192} * 4096 * 4;
  EXPECT_EQ(json["bytes_after"], 3 * tensor + 4);
}

TEST_F(FuseTest, DropoutBiasNormMakesTwoTripsAndNamesTheRest) {
  nlohmann::json json = Json({"tests/hlo/dropout_bias_norm.hlo"});
  EXPECT_EQ(json["tensor_trips_before"], 6);
  EXPECT_EQ(json["tensor_trips_after"], 2);
  RunResult table = Run({"tests/hlo/dropout_bias_norm.hlo"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  for (const char* name : {"bias", "mask", "gamma", "offset"}) {
    EXPECT_THAT(table.out, HasSubstr(name));
  }
}

TEST_F(FuseTest, JsonHasEveryFieldOfTheContract) {
  nlohmann::json json = Json({module_, "--device=a100"});
  for (const char* field :
       {"kernels_before", "kernels_after", "bytes_before", "bytes_after",
        "predicted_us_before", "predicted_us_after", "peak_bytes_before",
        "peak_bytes_after"}) {
    EXPECT_TRUE(json[field].is_number()) << field;
  }
  EXPECT_EQ(json["module"], "softmax");
  EXPECT_EQ(json["strategy"], "greedy");
  EXPECT_TRUE(json["device"].is_string());
  ASSERT_EQ(json["groups"].size(), 1u);
  const nlohmann::json& group = json["groups"][0];
  EXPECT_EQ(group["kind"], "kInput");
  EXPECT_THAT(group["members"].get<std::vector<std::string>>(),
              ::testing::IsSupersetOf({"top", "shifted", "e", "total", "y"}));
  EXPECT_EQ(group["bytes_read"], 33 * 127 * 4);
  EXPECT_EQ(group["bytes_written"], 33 * 127 * 4);
  for (const char* field : {"name", "hero", "bound"}) {
    EXPECT_TRUE(group[field].is_string()) << field;
  }
  for (const char* field : {"flops", "predicted_us"}) {
    EXPECT_GT(group[field].get<double>(), 0) << field;
  }
}

TEST_F(FuseTest, WithoutAStrategyEveryInstructionRunsAlone) {
  nlohmann::json json = Json({module_, "--strategy=none"});
  EXPECT_EQ(json["kernels_after"], json["kernels_before"]);
  EXPECT_EQ(json["kernels_after"], 5);
}

TEST_F(FuseTest, SaysWhichLoopsAreOneKernel) {
  const std::string module = File("loop.hlo", R"(HloModule loop
body { s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64] get-tuple-element(s), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  y = f32[64] cosine(x)
  ROOT o = (s32[], f32[64]) tuple(n, y) }
condition { s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  limit = s32[] constant(9)
  ROOT c = pred[] compare(i, limit), direction=LT }
ENTRY e { zero = s32[] constant(0)
  x = f32[64] parameter(0)
  t = (s32[], f32[64]) tuple(zero, x)
  ROOT w = (s32[], f32[64]) while(t), condition=condition, body=body }
)");
  const nlohmann::json gpu = Json({module, "--out", Path("loop")})["loops"];
  ASSERT_EQ(gpu.size(), 1u);
  EXPECT_EQ(gpu[0]["rounds"], 9);
  EXPECT_EQ(gpu[0]["one_kernel"], true);
  EXPECT_TRUE(Exists(Path("loop/loop_w.cu")));
  const nlohmann::json cpu = Json({module, "--device=cpu"})["loops"];
  EXPECT_EQ(cpu[0]["one_kernel"], false);
  EXPECT_THAT(Run({module, "--device=cpu"}).out,
              ::testing::HasSubstr("step by step"));
}

TEST_F(FuseTest, EveryDeviceHasADescription) {
  for (const char* device : {"h200", "h100", "a100", "rtx4070", "cpu"}) {
    EXPECT_GT(
        Json({module_, absl::StrCat("--device=", device)})["predicted_us_after"]
            .get<double>(),
        0)
        << device;
  }
}

TEST_F(FuseTest, RunChecksAgainstTheEvaluator) {
  nlohmann::json json = Json({module_, "--run"});
  ASSERT_EQ(json["run"]["outputs"].size(), 1u);
  EXPECT_EQ(json["run"]["outputs"][0]["ok"], true);
}

TEST_F(FuseTest, OutHoldsModulePlanReportAndKernels) {
  const std::string out = Path("out");
  ASSERT_EQ(Run({module_, "--out", out}).exit_code, 0);
  RIDGE_ASSERT_OK_AND_ASSIGN(std::string text, ReadFile(out + "/fused.hlo"));
  RIDGE_ASSERT_OK_AND_ASSIGN(auto fused, ParseModule(text));
  RIDGE_EXPECT_OK(VerifyStatus(*fused));
  EXPECT_THAT(text, HasSubstr("kind=kInput"));
  EXPECT_THAT(text, HasSubstr("calls=%fusion_0"));
  RIDGE_ASSERT_OK_AND_ASSIGN(std::string report,
                             ReadFile(out + "/report.json"));
  EXPECT_EQ(nlohmann::json::parse(report)["kernels_after"], 1);
  RIDGE_ASSERT_OK_AND_ASSIGN(
      std::string kernel,
      ReadFile(absl::StrCat(
          out, "/",
          std::string(nlohmann::json::parse(report)["groups"][0]["name"]),
          ".cu")));
  EXPECT_THAT(kernel, HasSubstr("__global__"));
  EXPECT_FALSE(Exists(out + "/kernels.cc"));
}

TEST_F(FuseTest, CompiledKernelsAreShownAndStored) {
  const std::string plain = Path("plain");
  ASSERT_EQ(Run({module_, "--out", plain}).exit_code, 0);
  const std::string out = Path("out");
  RunResult result = Run({module_, "--compile", "--out", out});
  if (absl::StrContains(result.err, "libnvrtc")) {
    GTEST_SKIP() << "no NVRTC on this machine";
  }
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("registers"));
  EXPECT_THAT(result.out, HasSubstr("for sm_90a, by NVRTC"));

  // The plan is the other's, and what the compiler said.
  RIDGE_ASSERT_OK_AND_ASSIGN(std::string with,
                             ReadFile(out + "/plan.textproto"));
  RIDGE_ASSERT_OK_AND_ASSIGN(std::string without,
                             ReadFile(plain + "/plan.textproto"));
  const size_t at = with.find("built {");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(with.substr(0, at), without);

  // Read again, it is kept and shown without a compiler.
  nlohmann::json json = Json(
      {module_, "--plan", out + "/plan.textproto", "--out", Path("again")});
  RIDGE_ASSERT_OK_AND_ASSIGN(std::string again,
                             ReadFile(Path("again/plan.textproto")));
  EXPECT_EQ(again, with);
  ASSERT_EQ(json["compiled"].size(), 1u);
  const nlohmann::json& kernel = json["compiled"][0];
  EXPECT_EQ(kernel["kernel"], json["groups"][0]["name"]);
  EXPECT_EQ(kernel["target"], "sm_90a");
  EXPECT_FALSE(kernel.contains("compile_s"));
  ASSERT_EQ(kernel["functions"].size(), 1u);
  EXPECT_GT(kernel["functions"][0]["registers"], 8);
  EXPECT_GE(kernel["functions"][0]["threads"], 32);
  EXPECT_EQ(kernel["functions"][0]["spill_store_bytes"], 0);
}

TEST_F(FuseTest, CompileNeedsAGpuToCompileFor) {
  ExpectUserError(Run({module_, "--device=cpu", "--compile"}), "--compile");
}

TEST_F(FuseTest, KernelsOfAnEarlierPlanGo) {
  const std::string out = Path("out");
  ASSERT_EQ(Run({module_, "--strategy=none", "--out", out}).exit_code, 0);
  ASSERT_EQ(Run({module_, "--out", out}).exit_code, 0);
  int kernels = 0;
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    kernels += entry.path().extension() == ".cu";
  }
  EXPECT_EQ(kernels, 1);
}

TEST_F(FuseTest, APlanNumberThatTheFileDoesNotHaveIsRefused) {
  const std::string list =
      File("list.textproto", "plans { rank: 1 plan { strategy: \"greedy\" } }");
  ExpectUserError(Run({module_, "--plan", list, "--plan_number=2"}),
                  "no plan number 2; there are 1");
}

TEST_F(FuseTest, APlanNumberNeedsAFile) {
  ExpectUserError(Run({module_, "--plan_number=2"}),
                  "--plan_number=2 needs the file that --plan names");
}

TEST_F(FuseTest, OutHoldsTheKernelsOfADescribedCpu) {
  ASSERT_EQ(Run({module_, "--device=cpu", "--out", Path("out")}).exit_code, 0);
  EXPECT_TRUE(Exists(Path("out/kernels.cc")));
}

TEST_F(FuseTest, AStoredPlanReplays) {
  ASSERT_EQ(Run({module_, "--strategy=none", "--out", Path("a")}).exit_code, 0);
  nlohmann::json json =
      Json({module_, "--plan", Path("a/plan.textproto"), "--run"});
  EXPECT_EQ(json["kernels_after"], 5);
  EXPECT_EQ(json["run"]["outputs"][0]["ok"], true);
}

TEST_F(FuseTest, APlanOfAnotherModuleIsRefused) {
  ASSERT_EQ(Run({module_, "--out", Path("a")}).exit_code, 0);
  ExpectUserError(
      Run({"tests/hlo/gelu_block.hlo", "--plan", Path("a/plan.textproto")}),
      "plan.textproto");
}

TEST_F(FuseTest, BadModulesAreRefused) { ExpectBadModulesAreRefused({}); }

TEST_F(FuseTest, BadFlagsAreRefused) {
  ExpectUserError(Run({module_, "--device=abacus"}), "abacus");
  ExpectUserError(Run({module_, "--strategy=wishful"}), "wishful");
  ExpectUserError(Run({module_, "--format=xml"}), "xml");
  ExpectUserError(Run({module_, "--run", "--backend=slate"}), "slate");
  ExpectUserError(Run({module_, "--plan", Path("none")}), "none");
  ExpectUserError(Run({module_, "--device", File("d.textproto", "name: 3")}),
                  "d.textproto");
  ExpectUserError(Run({}), "MODULE.hlo");
}

TEST_F(FuseTest, AnOutputThatCannotBeWrittenIsSaid) {
  const std::string file = File("plain", "a file, not a folder");
  ExpectUserError(Run({module_, "--out", file + "/x"}), "plain");
}

}  // namespace
}  // namespace ridge
