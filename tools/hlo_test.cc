// The hlo tool from outside: what it prints, writes and returns.
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "hlo/base/file.h"
#include "hlo/base/status_matchers.h"
#include "tools/common/tool_fixture.h"

namespace ridge {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// As the tool prints it.
constexpr char kModule[] =
    R"(HloModule m, entry_computation_layout={(f32[4,8]{1,0}, f32[4,8]{1,0})->f32[4]{0}}

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add = f32[] add(f32[] %a, f32[] %b)
}

ENTRY %main (x: f32[4,8], y: f32[4,8]) -> f32[4] {
  %x = f32[4,8]{1,0} parameter(0)
  %y = f32[4,8]{1,0} parameter(1)
  %zero = f32[] constant(0)
  %mul = f32[4,8]{1,0} multiply(f32[4,8]{1,0} %x, f32[4,8]{1,0} %y)
  ROOT %r = f32[4]{0} reduce(f32[4,8]{1,0} %mul, f32[] %zero), dimensions={1}, to_apply=%sum
}
)";

class HloTest : public ToolTest {
 protected:
  HloTest() : ToolTest("tools/hlo") {}
  void SetUp() override {
    ToolTest::SetUp();
    File("m.hlo", kModule);
  }

  // With relative paths taken from the test's folder.
  RunResult Run(const std::vector<std::string>& arguments) {
    return ToolTest::Run(arguments, {{"BUILD_WORKING_DIRECTORY", folder_}});
  }

  // Runs and expects exit code 0 and a silent stderr.
  std::string Output(const std::vector<std::string>& arguments) {
    const RunResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }

  // Exit code 1 and the message, alone on one line, nothing on stdout.
  void ExpectUserError(const std::vector<std::string>& arguments,
                       const std::string& message) {
    const RunResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, absl::StrCat("hlo: ", message, "\n"));
  }

  // Exit code 1 and an error in a text: first its place and what is wrong,
  // then the line and the caret.
  void ExpectTextError(const std::string& text, const std::string& message,
                       const std::string& line, const std::string& caret) {
    File("bad.hlo", text);
    const RunResult result = Run({"bad.hlo"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, absl::StrCat("hlo: bad.hlo:", message, "\n  ", line,
                                       "\n  ", caret, "\n"));
  }
};

TEST_F(HloTest, HelpListsEveryFlagAndExamplesThatParse) {
  const std::string help = Output({"--help"});
  for (const char* flag :
       {"--check", "--to=", "--stats", "--extract=", "--alone",
        "--diff=", "--passes=", "--output=", "--format=table"}) {
    EXPECT_THAT(help, HasSubstr(absl::StrCat("\n  ", flag)));
  }
  EXPECT_THAT(help, HasSubstr("\nExamples:\n  hlo --check dump.hlo\n"));
}

TEST_F(HloTest, CheckSaysOkInOneLine) {
  EXPECT_THAT(Output({"--check", "m.hlo"}),
              StartsWith("m.hlo: ok, 8 instructions, read in "));
}

TEST_F(HloTest, CheckAsJsonIsOneLineForEachFile) {
  File("text.hlo", "ENTRY e {\n  x = f32[2] parameter(0)\n  y = abs(z)\n}\n");
  File("shape.hlo",
       "ENTRY e {\n  x = f32[2] parameter(0)\n"
       "  ROOT y = f32[3] negate(x)\n}\n");
  const RunResult result =
      Run({"--check", "--format=json", "m.hlo", "text.hlo", "shape.hlo"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "");
  const std::vector<std::string> lines =
      absl::StrSplit(result.out, '\n', absl::SkipEmpty());
  ASSERT_THAT(lines, SizeIs(3));

  nlohmann::json json = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(json["file"], "m.hlo");
  EXPECT_EQ(json["parse"], "accept");
  EXPECT_EQ(json["verify"], "ok");
  EXPECT_EQ(json["errors"], nlohmann::json::array());
  EXPECT_EQ(json["instructions"], 8);
  EXPECT_GT(json["parse_us"].get<double>(), 0);

  json = nlohmann::json::parse(lines[1]);
  EXPECT_EQ(json["parse"], "reject");
  EXPECT_EQ(json["verify"], "fail");
  ASSERT_EQ(json["errors"].size(), 1u);
  EXPECT_EQ(json["errors"][0]["line"], 3);
  EXPECT_EQ(json["errors"][0]["column"], 11);
  EXPECT_EQ(json["errors"][0]["rule"], "operand-name");
  EXPECT_THAT(json["errors"][0]["message"].get<std::string>(),
              HasSubstr("`z`"));

  json = nlohmann::json::parse(lines[2]);
  EXPECT_EQ(json["parse"], "accept");
  EXPECT_EQ(json["verify"], "fail");
  ASSERT_EQ(json["errors"].size(), 1u);
  EXPECT_EQ(json["errors"][0]["line"], 3);
}

// A file that is not there is the user's error, though the others are checked.
TEST_F(HloTest, CheckOfAMissingFileGoesOnWithTheOthers) {
  const RunResult result =
      Run({"--check", "--format=json", "missing.hlo", "m.hlo"});
  EXPECT_EQ(result.exit_code, 1);
  const std::vector<std::string> lines =
      absl::StrSplit(result.out, '\n', absl::SkipEmpty());
  ASSERT_THAT(lines, SizeIs(2));
  const nlohmann::json json = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(json["parse"], "reject");
  EXPECT_EQ(json["errors"][0]["rule"], "file");
  EXPECT_EQ(nlohmann::json::parse(lines[1])["verify"], "ok");
}

TEST_F(HloTest, CheckShowsTheLineWithACaret) {
  File("bad.hlo", "ENTRY e {\n  x = f32[2] parametre(0)\n}\n");
  const RunResult result = Run({"--check", "bad.hlo"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out,
            "bad.hlo:2:14: error: unknown opcode `parametre`; did you mean "
            "`parameter`? [opcode]\n"
            "    x = f32[2] parametre(0)\n"
            "               ^\n"
            "bad.hlo: does not parse: 1 error\n");
}

TEST_F(HloTest, TextOfAModuleAsPrintedIsItself) {
  EXPECT_EQ(Output({"m.hlo"}), kModule);
  EXPECT_EQ(Output({"--to=text", "m.hlo"}), kModule);
}

TEST_F(HloTest, ShortFormHasNamesAlone) {
  const std::string text = Output({"--to=short", "m.hlo"});
  EXPECT_THAT(text, HasSubstr("\n  mul = f32[4,8]{1,0} multiply(x, y)\n"));
  File("short.hlo", text);
  EXPECT_EQ(Output({"short.hlo"}), kModule);
}

TEST_F(HloTest, CanonicalFormIgnoresNames) {
  File("renamed.hlo",
       absl::StrReplaceAll(kModule, {{"%mul", "%product"}, {"%sum", "%plus"}}));
  EXPECT_EQ(Output({"--to=canonical", "m.hlo"}),
            Output({"--to=canonical", "renamed.hlo"}));
}

TEST_F(HloTest, ProtobufBinaryAndTextComeBackAsTheyWere) {
  for (const char* name : {"m.hlo.pb", "m.pbtxt"}) {
    EXPECT_EQ(Output({"--to=proto", absl::StrCat("--output=", name), "m.hlo"}),
              "");
    EXPECT_EQ(Output({name}), kModule) << name;
    EXPECT_THAT(Output({"--check", name}), HasSubstr(": ok, 8 instructions"));
  }
  RIDGE_ASSERT_OK_AND_ASSIGN(std::string text, ReadFile(Path("m.pbtxt")));
  EXPECT_THAT(text, HasSubstr("opcode: \"multiply\""));
}

TEST_F(HloTest, JsonHoldsTheComputations) {
  const nlohmann::json json =
      nlohmann::json::parse(Output({"--to=json", "m.hlo"}));
  EXPECT_EQ(json["entry"], "main");
  EXPECT_EQ(json["computations"].size(), 2u);
  EXPECT_EQ(json["computations"][1]["instructions"][3]["opcode"], "multiply");
}

TEST_F(HloTest, DotIsAGraph) {
  EXPECT_THAT(Output({"--to=dot", "m.hlo"}),
              AllOf(StartsWith("digraph \"m\" {"), HasSubstr("multiply")));
}

TEST_F(HloTest, StatsCountInstructionsBytesAndOperations) {
  EXPECT_THAT(Output({"--stats", "m.hlo"}),
              AllOf(HasSubstr("instructions  8 (5 in the entry)"),
                    HasSubstr("parameters    256 B"), HasSubstr("multiply")));
  const nlohmann::json json =
      nlohmann::json::parse(Output({"--stats", "--format=json", "m.hlo"}));
  EXPECT_EQ(json["instructions"], 8);
  EXPECT_EQ(json["parameter_bytes"], 2 * 4 * 8 * 4);
  // 32 products and 32 additions.
  EXPECT_EQ(json["flops"], 64);
}

TEST_F(HloTest, ExtractGivesAModuleThatVerifies) {
  EXPECT_EQ(Output({"--extract=mul", "--output=mul.hlo", "m.hlo"}), "");
  EXPECT_THAT(Output({"--check", "mul.hlo"}), HasSubstr(": ok, 3 instr"));
  EXPECT_THAT(Output({"mul.hlo"}),
              AllOf(HasSubstr("ROOT %mul = f32[4,8]{1,0} multiply("),
                    Not(HasSubstr("reduce"))));
}

TEST_F(HloTest, DiffIgnoresNames) {
  File("renamed.hlo", absl::StrReplaceAll(kModule, {{"%mul", "%product"}}));
  EXPECT_EQ(Output({"--diff=renamed.hlo", "m.hlo"}), "equal\n");
}

TEST_F(HloTest, DiffShowsWhatChangedAndReturns2) {
  File("other.hlo", absl::StrReplaceAll(kModule, {{"multiply(", "divide("}}));
  RunResult result = Run({"--diff", "other.hlo", "m.hlo"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, AllOf(HasSubstr("\n- %mul = f32[4,8]{1,0} multiply("),
                                HasSubstr("\n+ %mul = f32[4,8]{1,0} divide(")));
  result = Run({"--diff", "other.hlo", "--format=json", "m.hlo"});
  EXPECT_EQ(nlohmann::json::parse(result.out)["equal"], false);
}

TEST_F(HloTest, PassesRunBeforePrinting) {
  File("twice.hlo",
       "ENTRY e {\n  x = f32[2] parameter(0)\n  a = f32[2] negate(x)\n"
       "  b = f32[2] negate(x)\n  ROOT c = f32[2] add(a, b)\n}\n");
  EXPECT_THAT(Output({"--passes=cse,dce", "--to=short", "twice.hlo"}),
              HasSubstr("add(a, a)"));
}

TEST_F(HloTest, SeveralModulesOfOneFileStaySeparate) {
  File("two.hlo", absl::StrCat(kModule, "// -----\n", kModule));
  EXPECT_EQ(Output({"two.hlo"}), absl::StrCat(kModule, "// -----\n", kModule));
}

TEST_F(HloTest, FilesThatAreNoModules) {
  ExpectUserError({"missing.hlo"},
                  absl::StrCat("cannot read '", Path("missing.hlo"),
                               "': No such file or directory"));
  ExpectUserError(
      {"."}, absl::StrCat("cannot read '", Path("."), "': Is a directory"));
  File("empty.hlo", "");
  ExpectUserError({"empty.hlo"},
                  "empty.hlo:1:1: error: the text holds no module [text]");
  File("binary.hlo", std::string("\x7f\x45LF\0\1\2", 7));
  ExpectUserError({"binary.hlo"},
                  "binary.hlo:1:5: error: a zero byte: this is a binary file, "
                  "not HLO text (a serialized module would be an .hlo.pb) "
                  "[text]");
  File("broken.hlo.pb", "\x0a\xff\xff");
  ExpectUserError({"broken.hlo.pb"},
                  absl::StrCat(Path("broken.hlo.pb"),
                               ": the bytes are neither an HloProto nor an "
                               "HloModuleProto"));
  File("broken.pbtxt", "name: \"m\"\ncomputations {");
  ExpectUserError({"broken.pbtxt"},
                  absl::StrCat(Path("broken.pbtxt"),
                               ": not the text of an HloProto or "
                               "HloModuleProto: the text ends too early"));
}

TEST_F(HloTest, TextsThatDoNotParse) {
  ExpectTextError(std::string(kModule).substr(0, 400),
                  "13:33: error: there is no instruction `f3` before this one "
                  "in its computation; the text ends here, is it cut off? "
                  "[operand-name]",
                  "  %mul = f32[4,8]{1,0} multiply(f3",
                  "                                ^");
  ExpectTextError(
      "ENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[2] negte(x)\n}",
      "3:14: error: unknown opcode `negte`; did you mean `negate`? "
      "[opcode]",
      "  y = f32[2] negte(x)", "             ^");
}

// Converting shows a module that does not verify: --check is what judges.
TEST_F(HloTest, AModuleThatDoesNotVerifyIsStillShown) {
  File("bad.hlo",
       "ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[3] abs(x)\n}\n");
  EXPECT_THAT(Output({"--to=short", "bad.hlo"}),
              HasSubstr("ROOT y = f32[3] abs(x)"));
  const RunResult result = Run({"--check", "bad.hlo"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, AllOf(HasSubstr("bad.hlo:3:8: error: `y`: "),
                                HasSubstr("\n    ROOT y = f32[3] abs(x)\n"
                                          "         ^\n")));
}

TEST_F(HloTest, FlagsThatMakeNoSense) {
  ExpectUserError({}, "no argument given; usage: hlo [flags] FILE...");
  ExpectUserError({"--to=xml", "missing.hlo"},
                  "bad value 'xml' for --to: text, short, canonical, proto, "
                  "json, dot are possible");
  ExpectUserError({"--format=xml", "m.hlo"},
                  "bad value 'xml' for --format: Form of the output: table "
                  "(for people) or json (for programs) (hlo --help lists the "
                  "flags)");
  ExpectUserError({"--chekc", "m.hlo"},
                  "unknown flag --chekc; did you mean --check? (hlo --help "
                  "lists the flags)");
  ExpectUserError({"--check", "--stats", "m.hlo"},
                  "--check, --to, --stats and --diff exclude each other");
  ExpectUserError({"--check", "--extract=mul", "m.hlo"},
                  "--check judges files as they are; --extract and --passes "
                  "do not go with it");
  ExpectUserError({"--diff=m.hlo", "m.hlo", "m.hlo"},
                  "--diff compares one file with another");
  ExpectUserError({"--diff=missing.hlo", "m.hlo"},
                  absl::StrCat("cannot read '", Path("missing.hlo"),
                               "': No such file or directory"));
  ExpectUserError({"--extract=mull", "m.hlo"},
                  "no instruction or computation `mull` in module `m`; did "
                  "you mean `mul`?");
  const RunResult passes = Run({"--passes=dcee", "m.hlo"});
  EXPECT_EQ(passes.exit_code, 1);
  EXPECT_THAT(passes.err, StartsWith("hlo: no pass is named \"dcee\"; "));
  const RunResult output = Run({"--output=no/such/x.hlo", "m.hlo"});
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(output.err, HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace ridge
