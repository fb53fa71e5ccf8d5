// The hlo tool's parts, on modules small enough to be read here.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/file.h"
#include "hlo/ir/equal.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "hlo/verify/verify.h"
#include "tools/hlo_tool/check.h"
#include "tools/hlo_tool/diff.h"
#include "tools/hlo_tool/dot_graph.h"
#include "tools/hlo_tool/extract.h"
#include "tools/hlo_tool/json_module.h"
#include "tools/hlo_tool/stats.h"

namespace ridge {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr absl::string_view kModule = R"(HloModule m, is_scheduled=true

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT add = f32[] add(a, b)
}

fused {
  p = f32[4,8] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[4] reduce(p, q), dimensions={1}, to_apply=sum
}

ENTRY main {
  x = f32[4,8] parameter(0)
  unused = f32[16] parameter(1)
  y = f32[4,8] parameter(2)
  zero = f32[] constant(0)
  mul = f32[4,8] multiply(x, y)
  neg = f32[4,8] negate(x)
  fusion.1 = f32[4] fusion(mul, zero), kind=kInput, calls=fused
  ROOT t = (f32[4], f32[4,8]) tuple(fusion.1, neg)
}
)";

std::unique_ptr<Module> Parse(absl::string_view text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

// The part, after it is clear that it parses and verifies by itself.
std::unique_ptr<Module> ExtractValid(absl::string_view name, bool alone) {
  auto whole = Parse(kModule);
  absl::StatusOr<std::unique_ptr<Module>> part = Extract(*whole, name, alone);
  EXPECT_TRUE(part.ok()) << part.status();
  if (!part.ok()) return nullptr;
  auto again = Parse(Print(**part));
  EXPECT_THAT(Verify(*again), IsEmpty()) << Print(*again);
  return again;
}

std::string Write(const std::string& name, absl::string_view text) {
  std::string path = testing::TempDir() + "/" + name;
  EXPECT_TRUE(WriteFileAtomic(path, text).ok());
  return path;
}

TEST(ExtractTest, InstructionComesWithItsCone) {
  auto part = ExtractValid("mul", /*alone=*/false);
  EXPECT_EQ(part->entry()->instruction_count(), 3);
  EXPECT_EQ(part->entry()->root()->name(), "mul");
  // Parameters that are not read are gone, the others renumbered.
  ASSERT_THAT(part->entry()->parameters(), SizeIs(2));
  EXPECT_EQ(part->entry()->parameter(1)->name(), "y");
  EXPECT_THAT(part->computations(), SizeIs(1));
  EXPECT_TRUE(part->is_scheduled());
}

TEST(ExtractTest, FusionStandsAlone) {
  auto part = ExtractValid("%fusion.1", /*alone=*/false);
  const Instruction* root = part->entry()->root();
  EXPECT_EQ(root->opcode(), Opcode::kFusion);
  EXPECT_EQ(root->operand(0)->opcode(), Opcode::kParameter);
  EXPECT_EQ(root->operand(1)->opcode(), Opcode::kConstant);
  EXPECT_THAT(part->computations(), SizeIs(3));
}

TEST(ExtractTest, ComputationBecomesTheEntry) {
  auto part = ExtractValid("fused", /*alone=*/false);
  EXPECT_EQ(part->entry()->name(), "fused");
  EXPECT_THAT(part->computations(), SizeIs(2));
}

TEST(ExtractTest, ComputationSlashInstruction) {
  auto part = ExtractValid("fused/r", /*alone=*/true);
  EXPECT_EQ(part->entry()->root()->opcode(), Opcode::kReduce);
}

TEST(ExtractTest, UnknownNameSuggestsANearOne) {
  auto whole = Parse(kModule);
  EXPECT_THAT(
      std::string(Extract(*whole, "fusion.2", false).status().message()),
      HasSubstr("did you mean `fusion.1`?"));
}

TEST(DiffTest, NamesAndMetadataDoNotCount) {
  auto a = Parse(
      "e { x = f32[2] parameter(0)\n y = f32[2] negate(x), "
      "metadata={op_name=\"a\"} }");
  auto b = Parse("f { p = f32[2] parameter(0)\n q = f32[2] negate(p) }");
  EXPECT_TRUE(DiffModules(*a, *b).equal);
}

TEST(DiffTest, SaysWhereTheDifferenceBegins) {
  auto a = Parse(
      "e { x = f32[2] parameter(0)\n y = f32[2] negate(x)\n"
      "z = f32[2] sine(y) }");
  auto b = Parse(
      "e { x = f32[2] parameter(0)\n y = f32[2] abs(x)\n"
      "z = f32[2] sine(y) }");
  ModuleDiff diff = DiffModules(*a, *b);
  EXPECT_FALSE(diff.equal);
  ASSERT_THAT(diff.only_first, SizeIs(1));
  EXPECT_EQ(diff.only_first[0]->opcode(), Opcode::kNegate);
  EXPECT_EQ(diff.affected_first, 2);
  EXPECT_THAT(DiffText(diff), HasSubstr("+ %y = f32[2] abs(f32[2] %x)"));
}

TEST(StatsTest, CountsOpcodesTypesBytesAndOperations) {
  ModuleStats stats = ComputeStats(*Parse(kModule));
  EXPECT_EQ(stats.computations, 3);
  EXPECT_EQ(stats.instructions, 14);
  EXPECT_EQ(stats.opcodes["parameter"].count, 7);
  EXPECT_EQ(stats.parameter_bytes, 2 * 4 * 8 * 4 + 16 * 4);
  EXPECT_EQ(stats.result_bytes, 4 * 4 + 4 * 8 * 4);
  // 32 products, 32 negations, 32 additions of the reduction.
  EXPECT_EQ(stats.flops, 96);
  EXPECT_THAT(StatsText(stats), HasSubstr("multiply"));
  nlohmann::json opcodes = StatsJson(stats)["opcodes"];
  EXPECT_EQ(opcodes["multiply"]["flops"], 32);
  EXPECT_EQ(opcodes["negate"]["flops"], 32);
  EXPECT_EQ(opcodes["reduce"]["flops"], 32);
  EXPECT_EQ(opcodes["add"]["flops"], 0);  // counted with the reduce
  EXPECT_EQ(opcodes["fusion"]["flops"], 0);
}

TEST(ConvertTest, JsonHoldsTextOfEveryPart) {
  nlohmann::json json = ModuleJson(*Parse(kModule));
  EXPECT_EQ(json["name"], "m");
  EXPECT_EQ(json["entry"], "main");
  const nlohmann::json& r = json["computations"][1]["instructions"][2];
  EXPECT_EQ(r["opcode"], "reduce");
  EXPECT_EQ(r["attributes"]["dimensions"], "{1}");
  EXPECT_EQ(r["operands"], nlohmann::json({"p", "q"}));
}

TEST(ConvertTest, DotHasANodeForEachInstruction) {
  std::string dot = DotGraph(*Parse(kModule));
  EXPECT_THAT(dot, HasSubstr("digraph \"m\""));
  EXPECT_THAT(dot, HasSubstr("fusion.1\\nfusion\\nf32[4]"));
}

TEST(CheckTest, ValidFile) {
  CheckReport report = CheckFile(Write("valid.hlo", kModule));
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.instructions, 14);
  nlohmann::json json = CheckJson(report);
  EXPECT_EQ(json["parse"], "accept");
  EXPECT_EQ(json["verify"], "ok");
  EXPECT_TRUE(json["errors"].empty());
}

TEST(CheckTest, FileThatDoesNotParse) {
  CheckReport report =
      CheckFile(Write("bad.hlo", "ENTRY e {\n  x = f32[] nothing()\n}\n"));
  nlohmann::json json = CheckJson(report);
  EXPECT_EQ(json["parse"], "reject");
  EXPECT_EQ(json["verify"], "fail");
  ASSERT_THAT(json["errors"], SizeIs(1));
  EXPECT_EQ(json["errors"][0]["line"], 2);
  EXPECT_EQ(json["errors"][0]["column"], 13);
  EXPECT_EQ(json["errors"][0]["rule"], "opcode");
  EXPECT_THAT(CheckText(report), HasSubstr("^"));
}

TEST(CheckTest, FileThatDoesNotVerify) {
  CheckReport report = CheckFile(Write(
      "invalid.hlo",
      "ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[3] negate(x)\n}"));
  EXPECT_TRUE(report.parses);
  EXPECT_FALSE(report.verifies);
  ASSERT_THAT(report.errors, SizeIs(1));
  EXPECT_EQ(report.errors[0].line, 3);
}

TEST(CheckTest, FileThatIsNotThere) {
  CheckReport report = CheckFile("/no/such/file.hlo");
  EXPECT_FALSE(report.parses);
  EXPECT_EQ(report.errors[0].rule, "file");
}

}  // namespace
}  // namespace ridge
