// What the parser says of texts that are no HLO.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/text/parser.h"
#include "hlo/text/parser_test_util.h"

namespace ridge {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

struct AttributeError {
  const char* instruction;
  const char* rule;
  const char* message;
};

class AttributeErrorTest : public testing::TestWithParam<AttributeError> {};

TEST_P(AttributeErrorTest, IsReportedAtItsLine) {
  Diagnostic error = Error(Around(GetParam().instruction));
  EXPECT_EQ(error.line, 3) << error.message;
  EXPECT_EQ(error.rule, GetParam().rule) << error.message;
  EXPECT_THAT(error.message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, AttributeErrorTest,
    testing::Values(
        AttributeError{"transpose(x), dimension={1,0}", "attribute-name",
                       "did you mean `dimensions`?"},
        AttributeError{"transpose(x)", "attribute-missing", "`dimensions`"},
        AttributeError{"transpose(x), dimensions={1,0}, dimensions={0,1}",
                       "attribute-twice", "given twice"},
        AttributeError{"broadcast(x)", "attribute-missing", "`dimensions`"},
        AttributeError{"trnspose(x), dimensions={1,0}", "opcode",
                       "did you mean `transpose`?"},
        AttributeError{"add(x)", "operand-count", "takes 2 operands, found 1"},
        AttributeError{"add(x, y)", "operand-name", "no instruction `y`"},
        AttributeError{"reshape(x)", "shape", "needs its shape written"},
        AttributeError{"compare(x, x), direction=LTE", "direction",
                       "did you mean `LE`?"},
        AttributeError{"f32[2,3] copy(x), metadata={op_nme=\"a\"}", "metadata",
                       "did you mean `op_name`?"},
        AttributeError{"f32[2,3] copy(x), sharding={maximal}", "sharding",
                       "needs device="},
        AttributeError{"f32[2,3] copy(x), backend_config={{", "backend_config",
                       "never closed"},
        AttributeError{"f32[2,3]{1,1} copy(x)", "layout", "appears twice"},
        AttributeError{"f32[2,3]{0} copy(x)", "layout", "orders 1 dimensions"},
        AttributeError{"f33[2,3] copy(x)", "element-type",
                       "did you mean `f32`?"},
        AttributeError{"f32[2,3] copy(f32[3,2] x)", "operand-shape",
                       "is written as f32[3,2] but is f32[2,3]"},
        AttributeError{"f32[2,3] copy(x), control-predecessors={z}",
                       "operand-name", "no instruction `z`"},
        AttributeError{"f32[2,3] call(x), to_apply=f", "computation-name",
                       "no computation `f`"},
        AttributeError{"f32[2,3] copy(x) sharding={replicated}", "attribute",
                       "expected `,` before the attribute `sharding`"},
        AttributeError{"F32[2,3] copy(x)", "element-type",
                       "did you mean `f32`?"},
        AttributeError{"f32[2,3] copy(%9)", "operands",
                       "expected an operand's name, found `%9`"}));

TEST(ParserErrorTest, MessageHasFileLineColumnAndCaret) {
  ParseOptions options;
  options.file = "a.hlo";
  absl::Status status =
      ParseModule("ENTRY e {\n  x = f32[] prameter(0)\n}", options).status();
  EXPECT_EQ(status.message(),
            "a.hlo:2:13: error: unknown opcode `prameter`; did you mean "
            "`parameter`? [opcode]\n"
            "    x = f32[] prameter(0)\n"
            "              ^");
}

TEST(ParserErrorTest, IndependentErrorsAreAllReported) {
  std::vector<Diagnostic> errors = Errors(R"(ENTRY e {
    x = f32[2] parameter(0)
    a = f32[2] negat(x)
    b = f32[2] add(a, x), colour={1}
    c = f32[2] add(a, b)
    d = f32[2] add(a, nothing)
    ROOT t = (f32[2]) tuple(d)
  })");
  ASSERT_THAT(errors, SizeIs(3));
  EXPECT_EQ(errors[0].line, 3);
  EXPECT_EQ(errors[1].line, 4);
  EXPECT_EQ(errors[2].line, 6);
}

TEST(ParserErrorTest, ErrorsInOneComputationDoNotHideTheNext) {
  std::vector<Diagnostic> errors = Errors(R"(
%f (a: g32[]) -> f32[] {
  ROOT %a = f32[] parameter(0)
}
ENTRY %e {
  %x = f32[] parameter(0)
  ROOT %y = f32[] call(%x), to_apply=%f, to_aply=%f
}
)");
  ASSERT_THAT(errors, SizeIs(2));
  EXPECT_EQ(errors[0].line, 2);
  EXPECT_EQ(errors[1].line, 7);
}

// What follows a forgotten `}` is not taken for the rest of the computation.
TEST(ParserErrorTest, AnUnclosedComputationIsOneError) {
  std::vector<Diagnostic> errors = Errors(R"(HloModule m
f {
  a = f32[] parameter(0)

ENTRY e {
  x = f32[] parameter(0)
  ROOT y = f32[] call(x), to_apply=f
})");
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_EQ(errors[0].line, 5);
  EXPECT_THAT(errors[0].message, HasSubstr("`f` of line 2 is still open"));
}

TEST(ParserErrorTest, WhatAMessageQuotesIsCutShort) {
  Diagnostic error = Error(
      absl::StrCat("e {\n  x = f32[] parameter(0)\n  y = ", "f32[] negate(",
                   std::string(100000, 'z'), ")\n}"));
  EXPECT_EQ(error.rule, "operand-name");
  EXPECT_LT(error.message.size(), 300u);
  EXPECT_LE(error.source_line.size(), 100u);
}

TEST(ParserErrorTest, NoMoreErrorsThanAskedFor) {
  std::string text = "ENTRY e {\n";
  for (int i = 0; i < 50; ++i)
    absl::StrAppend(&text, " x", i, " = f32[] y()\n");
  text += "}\n";
  ParseOptions options;
  std::vector<Diagnostic> errors;
  options.diagnostics = &errors;
  options.max_errors = 5;
  EXPECT_FALSE(ParseModule(text, options).ok());
  EXPECT_THAT(errors, SizeIs(5));
}

struct TextError {
  const char* what;
  std::string text;
  const char* message;
};

class TextErrorTest : public testing::TestWithParam<TextError> {};

TEST_P(TextErrorTest, IsOneClearMessage) {
  std::vector<Diagnostic> errors = Errors(GetParam().text);
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors[0].message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, TextErrorTest,
    testing::Values(
        TextError{"empty", "", "holds no module"},
        TextError{"blank", " \n\t // nothing\n", "holds no module"},
        TextError{"binary", std::string("\x0a\x00\x01", 3), "zero byte"},
        TextError{"not UTF-8", "HloModule a\xff", "not part of valid UTF-8"},
        TextError{"truncated", "ENTRY e {\n  x = f32[] parameter(0)\n",
                  "`}` is missing"},
        TextError{"open comment", "ENTRY e { /* x\n", "has no end"},
        TextError{"no computations", "HloModule m", "no computations"},
        TextError{"empty computation", "ENTRY e { }", "at least one"},
        TextError{"two roots",
                  "e {\n ROOT a = f32[] parameter(0)\n"
                  " ROOT b = f32[] negate(a)\n}",
                  "one ROOT"},
        TextError{"two entries",
                  "ENTRY a { x = f32[] parameter(0) }\n"
                  "ENTRY b { x = f32[] parameter(0) }",
                  "one ENTRY"},
        TextError{"same name",
                  "e { x = f32[] parameter(0)\n x = f32[] negate(x) }",
                  "is taken"},
        TextError{"gap", "e { x = f32[] parameter(7) }", "without gaps"},
        TextError{"negative", "e { x = f32[] parameter(-1) }", "negative"},
        TextError{"signature",
                  "%e (x: f32[]) -> f32[2] { ROOT x = f32[] parameter(0) }",
                  "says f32[2]"},
        TextError{"operand below",
                  "e {\n a = f32[] negate(b)\n b = f32[] parameter(0)\n}",
                  "line 3 defines it, and operands come before their users"},
        TextError{"callee below",
                  "e {\n a = f32[] parameter(0)\n b = f32[] call(a), "
                  "to_apply=f\n}\nf (p: f32[]) -> f32[] {\n"
                  " p = f32[] parameter(0)\n}",
                  "line 5 defines it, and callees come before their callers"},
        TextError{"recursion",
                  "e {\n a = f32[] parameter(0)\n b = f32[] call(a), "
                  "to_apply=e\n}",
                  "`e` calls itself"},
        TextError{"after lone", "f32[] negate(f32[] x) y", "end of the text"},
        TextError{"second module",
                  "HloModule a\ne { x = f32[] parameter(0) }\nHloModule b\n",
                  "separated by lines"}));

TEST(ParserErrorTest, DeepNestingIsAnErrorNotACrash) {
  std::string deep(100000, '(');
  EXPECT_EQ(Error(absl::StrCat("e { x = ", deep, " }")).rule, "nesting");
  std::string calls = "e { x = f32[] parameter(0)\n y = f32[] ";
  for (int i = 0; i < 100000; ++i) calls += "negate(";
  EXPECT_EQ(Error(calls).rule, "nesting");
  std::string literal =
      absl::StrCat("e { x = f32[] constant(", std::string(100000, '{'));
  EXPECT_EQ(Error(literal).rule, "literal");
}

TEST(ParserErrorTest, RecoveryTablesAreRead) {
  const auto table = [](absl::string_view rows) {
    return absl::StrCat("HloModule m, origin_recovery_table={", rows,
                        "}\ne { x = f32[] parameter(0) }");
  };
  constexpr char kInner[] = "\"e { x = f32[] parameter(0) }\"";
  EXPECT_TRUE(ParseModule(table(absl::StrCat("{\"a\" {1}}:{\"b\"},", kInner,
                                             "{\"c\"}:{}")))
                  .ok());
  EXPECT_THAT(Error(table("{\"a\"}, {\"b\"}")).message,
              HasSubstr("expected `:` after the old array"));
  EXPECT_THAT(Error(table("{\"a\"}:{\"b\"}, \"e { x = \"")).message,
              HasSubstr("the recovery module does not parse: "));
}

TEST(ParserErrorTest, WordsOfTheLanguageAreNoNames) {
  const auto named = [](absl::string_view name) {
    return absl::StrCat("e { ", name, " = f32[] parameter(0) }");
  };
  EXPECT_THAT(Error(named("replicated")).message,
              HasSubstr("did you mean `%replicated`?"));
  EXPECT_TRUE(ParseModule(named("%replicated")).ok());
  EXPECT_THAT(Error(named("f32")).message, HasSubstr("did you mean `f32_`?"));
  EXPECT_THAT(Error(named("%f32")).message, HasSubstr("did you mean `f32_`?"));
  EXPECT_TRUE(ParseModule(named("tuple")).ok());
}

// One error for one mistake, where it is.
TEST(ParserErrorTest, WhatFollowsFromAnErrorIsNone) {
  EXPECT_THAT(Errors("e {\n  x f32[] parameter(0)\n}"), SizeIs(1));
  const std::vector<Diagnostic> errors =
      Errors("e {\n  x = f32[] parameter(0)\n  y = negate(x\n  z = abs(y)\n}");
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_EQ(errors[0].line, 3);
  EXPECT_THAT(errors[0].message, HasSubstr("found the end of the line"));
}

TEST(ParserErrorTest, AHeaderNeedsAName) {
  EXPECT_THAT(Error("HloModule\nENTRY e { x = f32[] parameter(0) }").message,
              HasSubstr("expected the module's name, found `ENTRY`"));
}

// Its -done would be another opcode.
TEST(ParserErrorTest, TransfersHaveNoAsyncSugar) {
  EXPECT_THAT(Error("e { t = token[] after-all()\n"
                    "s = ((token[]), (f32[], u32[], token[]), s32[]) "
                    "recv-start(t), channel_id=1 }")
                  .message,
              HasSubstr("unknown opcode `recv-start`"));
}

TEST(ParserErrorTest, RankBeyondTheLimitIsAnError) {
  std::string dims = "1";
  for (int i = 0; i < 64; ++i) dims += ",1";
  EXPECT_EQ(Error(absl::StrCat("e { x = f32[", dims, "] parameter(0) }")).rule,
            "rank");
}

TEST(ParserErrorTest, HugeReplicaGroupsAreAnError) {
  EXPECT_EQ(Error(Around("f32[2,3] all-to-all(x), "
                         "replica_groups=[1,1000000000]<=[1000000000]"))
                .rule,
            "replica_groups");
}

}  // namespace
}  // namespace ridge
