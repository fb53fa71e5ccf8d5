// The run tool from outside: what it prints, writes and returns.
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/file.h"
#include "hlo/base/safetensors.h"
#include "hlo/base/status_matchers.h"
#include "tools/common/tool_fixture.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;

constexpr char kModule[] = R"(HloModule scale
ENTRY main {
  x = f32[3,5] parameter(0)
  y = f32[5] parameter(1)
  b = f32[3,5] broadcast(y), dimensions={1}
  m = f32[3,5] multiply(x, b)
  ROOT t = (f32[3,5], f32[5]) tuple(m, y)
}
)";

class RunTest : public ToolTest {
 protected:
  RunTest() : ToolTest("tools/run") {}
  void SetUp() override {
    ToolTest::SetUp();
    module_ = File("scale.hlo", kModule);
  }

  std::string module_;
};

TEST_F(RunTest, PrintsJsonWithEveryFieldOfTheContract) {
  RunResult result = Run({module_, "--check", "--format=json", "--repeat=2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  nlohmann::json json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["backend"], "cpu");
  EXPECT_GT(json["total_us"].get<double>(), 0);
  ASSERT_EQ(json["kernels"].size(), 1u);
  EXPECT_TRUE(json["kernels"][0]["name"].is_string());
  EXPECT_GT(json["kernels"][0]["us"].get<double>(), 0);
  const nlohmann::json& first = json["first_result"];
  double sum = 0;
  for (const char* part : {"parse_s", "plan_s", "compile_s", "first_run_s"}) {
    EXPECT_GT(first[part].get<double>(), 0) << part;
    sum += first[part].get<double>();
  }
  EXPECT_NEAR(first["total_s"].get<double>(), sum, 1e-9);
  EXPECT_GE(first["open_s"].get<double>(), 0);
  ASSERT_EQ(json["outputs"].size(), 2u);
  for (const nlohmann::json& output : json["outputs"]) {
    EXPECT_TRUE(output["max_abs"].is_number());
    EXPECT_TRUE(output["max_rel"].is_number());
    EXPECT_TRUE(output["max_ulp"].is_number());
    EXPECT_TRUE(output["tolerance"].is_number());
    EXPECT_EQ(output["ok"], true);
  }
}

TEST_F(RunTest, ReferenceAndCpuWriteTheSameResults) {
  std::string stored[2];
  int k = 0;
  for (const char* backend : {"reference", "cpu"}) {
    std::string path = absl::StrCat(folder_, "/", backend, ".safetensors");
    RunResult result = Run({module_, absl::StrCat("--backend=", backend),
                            "--seed=7", "--repeat=1", "--outputs", path});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    RIDGE_ASSERT_OK_AND_ASSIGN(stored[k++], ReadFile(path));
  }
  EXPECT_EQ(stored[0], stored[1]);
}

TEST_F(RunTest, InputsAndExpectationMayShareAFile) {
  SafeTensors tensors;
  auto floats = [](std::vector<int64_t> shape, std::vector<float> values) {
    return SafeTensor{"F32", shape,
                      std::string(reinterpret_cast<char*>(values.data()),
                                  values.size() * sizeof(float))};
  };
  std::vector<float> x(15, 2.0f);
  std::vector<float> product;
  for (int i = 0; i < 15; ++i) product.push_back(2.0f * (i % 5));
  tensors.tensors["in.0"] = floats({3, 5}, x);
  tensors.tensors["in.1"] = floats({5}, {0, 1, 2, 3, 4});
  tensors.tensors["out.0"] = floats({3, 5}, product);
  tensors.tensors["out.1"] = floats({5}, {0, 1, 2, 3, 4});
  const std::string path = absl::StrCat(folder_, "/io.safetensors");
  RIDGE_ASSERT_OK(WriteSafeTensors(path, tensors));
  std::vector<std::string> arguments = {module_,    "--inputs", path,
                                        "--expect", path,       "--repeat=1"};
  EXPECT_EQ(Run(arguments).exit_code, 0);

  product[7] += 1;
  tensors.tensors["out.0"] = floats({3, 5}, product);
  RIDGE_ASSERT_OK(WriteSafeTensors(path, tensors));
  RunResult wrong = Run(arguments);
  EXPECT_EQ(wrong.exit_code, 2) << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("WRONG"));
}

TEST_F(RunTest, F64EvaluatesWithoutRoundingAndSaysHowFarTypesAreFromIt) {
  const std::string module = File("sum.hlo", R"(HloModule sum
ENTRY main {
  x = f32[] parameter(0)
  c = f32[] constant(16777216)
  a = f32[] multiply(x, c)
  ROOT s = f32[] add(a, x)
}
)");
  const std::string path = folder_ + "/wide.safetensors";
  RunResult result = Run({module, "--backend=reference", "--precision=f64",
                          "--check", "--format=json", "--outputs", path});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  nlohmann::json output = nlohmann::json::parse(result.out)["outputs"][0];
  EXPECT_GT(output["max_abs"].get<double>(), 0);
  RIDGE_ASSERT_OK_AND_ASSIGN(SafeTensors tensors, ReadSafeTensors(path));
  EXPECT_EQ(tensors.tensors["out.0"].dtype, "F64");
}

TEST_F(RunTest, TheReferenceStopsWhereItIsTold) {
  const std::string module = File("loop.hlo", R"(HloModule loop
more { s = s32[] parameter(0) ROOT p = pred[] constant(true) }
step { s = s32[] parameter(0) ROOT t = s32[] add(s, s) }
ENTRY main {
  x = s32[] parameter(0)
  ROOT forever = s32[] while(x), condition=more, body=step
}
)");
  RunResult steps = Run({module, "--backend=reference", "--max_steps=100"});
  EXPECT_EQ(steps.exit_code, 1);
  EXPECT_THAT(steps.err, HasSubstr("forever (while, line 6)"));
  EXPECT_THAT(steps.err, HasSubstr("more than max_steps = 100"));
  RunResult bytes = Run({module_, "--backend=reference", "--max_bytes=10"});
  EXPECT_EQ(bytes.exit_code, 1);
  EXPECT_THAT(bytes.err, HasSubstr("of max_bytes = 10"));
  EXPECT_EQ(Run({module_, "--max_steps=5"}).exit_code, 1);
}

TEST_F(RunTest, RelativePathsStartWhereTheUserStands) {
  RunResult result = Run({"scale.hlo", "--repeat=1", "--outputs=y.safetensors"},
                         {{"BUILD_WORKING_DIRECTORY", folder_}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Exists(folder_ + "/y.safetensors"));
}

TEST_F(RunTest, GeneratedSourcesCanBeRead) {
  const std::string kernels = folder_ + "/kernels";
  RunResult result = Run({module_, "--repeat=1", "--dump_kernels", kernels});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  RIDGE_ASSERT_OK_AND_ASSIGN(std::string text,
                             ReadFile(kernels + "/kernels.cc"));
  EXPECT_THAT(text, HasSubstr("// m\n"));
}

TEST_F(RunTest, AModuleThatCannotBeReadIsTheUsersError) {
  ExpectBadModulesAreRefused({});
}

TEST_F(RunTest, AFlagThatMakesNoSenseIsTheUsersError) {
  ExpectUserError(Run({module_, "--backend=abacus"}), "abacus");
  ExpectUserError(Run({module_, "--strategy=wishful"}), "wishful");
  ExpectUserError(Run({module_, "--format=xml"}), "xml");
  ExpectUserError(Run({module_, "--no_such_flag=1"}), "no_such_flag");
  ExpectUserError(Run({module_, "--repeat=-1"}), "-1");
  ExpectUserError(Run({}), "MODULE.hlo");
}

TEST_F(RunTest, DataThatDoesNotFitIsTheUsersError) {
  const std::string path = folder_ + "/in.safetensors";
  ExpectUserError(Run({module_, "--inputs", path}), "in.safetensors");
  RIDGE_ASSERT_OK(WriteFileAtomic(path, "not tensors"));
  ExpectUserError(Run({module_, "--inputs", path}), "in.safetensors");
  SafeTensors tensors;
  tensors.tensors["in.0"] = {"F32", {2}, std::string(8, '\0')};
  RIDGE_ASSERT_OK(WriteSafeTensors(path, tensors));
  ExpectUserError(Run({module_, "--inputs", path}), "in.0");
  ExpectUserError(Run({module_, "--expect", path}), "out.0");
}

TEST_F(RunTest, APlanOfAnotherModuleIsRefused) {
  const std::string plan = File("other.textproto", "certainly not a plan");
  ExpectUserError(Run({module_, "--plan", plan}), "other.textproto");
  ExpectUserError(Run({module_, "--plan", folder_ + "/none.textproto"}),
                  "none.textproto");
}

TEST_F(RunTest, AnOutputThatCannotBeWrittenLeavesNothingBehind) {
  const std::string path = folder_ + "/missing/y.safetensors";
  ExpectUserError(Run({module_, "--repeat=1", "--outputs", path}), "missing");
  EXPECT_FALSE(Exists(path));
}

TEST_F(RunTest, WithoutACompilerTheCpuSaysWhatItLookedFor) {
  ExpectUserError(Run({module_}, {{"RIDGE_CXX", "/nowhere/cc"}}),
                  "/nowhere/cc");
}

TEST_F(RunTest, WithoutAGpuCudaSaysSo) {
  if (access("/dev/nvidia0", F_OK) == 0) GTEST_SKIP() << "there is a GPU here";
  RunResult result = Run({module_, "--backend=cuda"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("run: "));
  EXPECT_EQ(result.out, "");
}

TEST_F(RunTest, WhatNeedsSeveralDevicesIsRefusedBeforeAnyWork) {
  const std::string module = File("collective.hlo", R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[8] parameter(0)
  ROOT sum = f32[8] all-reduce(x), replica_groups={{0,1}}, to_apply=add
}
)");
  RunResult result = Run({module});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("sum"));
}

}  // namespace
}  // namespace ridge
