#include "hlo/text/parser.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/ir/small_float.h"
#include "hlo/text/parser_test_util.h"

namespace ridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(ParserTest, ModuleWithHeaderComputationsAndEntry) {
  auto module = Parse(R"(HloModule jit_f, is_scheduled=true

    %sum (a: f32[], b: f32[]) -> f32[] {
      %a = f32[] parameter(0)
      %b = f32[] parameter(1)
      ROOT %add.1 = f32[] add(f32[] %a, f32[] %b)
    }
    ENTRY %main (x: f32[2,3]) -> f32[2] {
      %x = f32[2,3]{1,0} parameter(0)
      %zero = f32[] constant(0)
      ROOT %r = f32[2]{0} reduce(%x, %zero), dimensions={1}, to_apply=%sum
    })");
  EXPECT_EQ(module->name(), "jit_f");
  EXPECT_TRUE(module->is_scheduled());
  EXPECT_THAT(module->computations(), SizeIs(2));
  EXPECT_EQ(module->entry()->name(), "main");
  const Instruction* r = Root(module);
  EXPECT_EQ(r->opcode(), Opcode::kReduce);
  EXPECT_EQ(r->to_apply()->name(), "sum");
  EXPECT_THAT(r->dimensions(), ElementsAre(1));
  EXPECT_EQ(r->operand(0)->name(), "x");
  EXPECT_EQ(r->location().line, 11);
  EXPECT_EQ(r->location().column, 12);
}

TEST(ParserTest, WithoutEntryTheLastComputationIsTheEntry) {
  auto module =
      Parse("a { x = f32[] parameter(0) }\nb { y = s32[] parameter(0) }");
  EXPECT_EQ(module->entry()->name(), "b");
  EXPECT_EQ(module->name(), "module_b");
}

TEST(ParserTest, WithoutRootTheLastInstructionIsTheRoot) {
  auto module = Parse("e { x = f32[] parameter(0)\n y = negate(x) }");
  EXPECT_EQ(Root(module)->name(), "y");
}

TEST(ParserTest, LoneInstructionMakesItsOperandsParameters) {
  auto module =
      Parse("%m = f32[2,4]{1,0} multiply(f32[2,4]{1,0} %a, f32[2,4]{1,0} %b)");
  EXPECT_EQ(Root(module)->opcode(), Opcode::kMultiply);
  EXPECT_THAT(module->entry()->parameters(), SizeIs(2));
  EXPECT_EQ(module->entry()->parameter(1)->name(), "b");
}

TEST(ParserTest, LoneInstructionWithoutNames) {
  auto module = Parse("f32[2] multiply(f32[2], f32[2])");
  ASSERT_THAT(module->entry()->parameters(), SizeIs(2));
  // As XLA calls them.
  EXPECT_EQ(module->entry()->parameter(0)->name(), "_0");
  EXPECT_EQ(module->entry()->parameter(1)->name(), "_1");
  EXPECT_EQ(Root(module)->name(), "_");
}

// XLA, too, passes over places without an operand.
TEST(ParserTest, EmptyOperandsAreNone) {
  auto module = Parse(Around("tuple(,x,, x,)"));
  EXPECT_EQ(Root(module)->operand_count(), 2);
}

TEST(ParserTest, OmittedShapesAreInferred) {
  auto module = Parse(Around("transpose(x), dimensions={1,0}"));
  EXPECT_EQ(Root(module)->shape().ToString(), "f32[3,2]");
}

TEST(ParserTest, NestedOperandsBecomeInstructions) {
  auto module = Parse(Around("add(negate(x), f32[2,3] exponential(x))"));
  EXPECT_EQ(Root(module)->operand(0)->opcode(), Opcode::kNegate);
  EXPECT_EQ(Root(module)->operand(1)->opcode(), Opcode::kExp);
  EXPECT_EQ(module->entry()->instruction_count(), 4);
}

TEST(ParserTest, NestedComputationsComeBeforeTheirCallers) {
  auto module = Parse(R"(
    ENTRY e {
      x = f32[4] parameter(0)
      ROOT c = f32[4] call(x), to_apply={
        p = f32[4] parameter(0)
        ROOT f = f32[4] fusion(p), kind=kLoop, calls={
          q = f32[4] parameter(0)
          ROOT n = f32[4] negate(q)
        }
      }
    })");
  ASSERT_THAT(module->computations(), SizeIs(3));
  EXPECT_EQ(module->computations()[0]->root()->opcode(), Opcode::kNegate);
  EXPECT_EQ(module->computations()[1]->root()->opcode(), Opcode::kFusion);
  EXPECT_EQ(module->computations()[2], module->entry());
  // Numbered as they close, as in XLA.
  EXPECT_EQ(module->computations()[0]->name(), "_");
  EXPECT_EQ(module->computations()[1]->name(), "_.1");
}

// XLA computes the shapes of transfers; the text need not tell the truth.
TEST(ParserTest, ShapesOfTransfersAreInferred) {
  auto module = Parse(R"(ENTRY e {
    t = token[] after-all()
    r = (f32[2], u32[], token[]) recv(t), channel_id=1
    d = (f32[7], token[]) recv-done(r), channel_id=1
    x = f32[2] get-tuple-element(d), index=0
    s = (f32[9]{0}, token[]) send(x, t), channel_id=2
    ROOT e = (f32[2], token[]) send-done(s), channel_id=2
  })");
  const Instruction* done = Root(module);
  EXPECT_EQ(done->shape().ToString(), "token[]");
  const Instruction* send = done->operand(0);
  EXPECT_EQ(send->shape().ToString(), "(f32[2], u32[], token[])");
  EXPECT_EQ(send->operand(0)->operand(0)->shape().ToString(),
            "(f32[2], token[])");
}

// A transpose without a shape leaves the buffer as it lies.
TEST(ParserTest, InferredTransposesHaveTheOperandsBuffer) {
  auto module = Parse(Around("transpose(x), dimensions={1,0}"));
  EXPECT_EQ(Root(module)->shape().ToString(/*with_layout=*/true),
            "f32[3,2]{0,1}");
  auto with_layout = Parse(
      "e { x = f32[2,3,4]{0,2,1} parameter(0)\n"
      "ROOT t = transpose(x), dimensions={2,0,1} }");
  EXPECT_EQ(Root(with_layout)->shape().ToString(/*with_layout=*/true),
            "f32[4,2,3]{1,0,2}");
}

TEST(ParserTest, AsyncSugarWrapsTheOperation) {
  auto module = Parse(R"(
    ENTRY e {
      p = f32[10] parameter(0)
      s = ((f32[10]), f32[20], s32[]) custom-call-start(p),
        custom_call_target="foo", async_execution_thread="side"
      u = ((f32[10]), f32[20], s32[]) custom-call-update(s)
      ROOT d = f32[20] custom-call-done(u)
    })");
  const Instruction* start = module->entry()->first()->next();
  EXPECT_EQ(start->opcode(), Opcode::kAsyncStart);
  const Computation* body = start->calls();
  ASSERT_NE(body, nullptr);
  EXPECT_EQ(body->root()->opcode(), Opcode::kCustomCall);
  EXPECT_EQ(body->root()->text(AttrId::kCustomCallTarget), "foo");
  EXPECT_EQ(body->execution_thread(), "side");
  EXPECT_EQ(start->text(AttrId::kAsyncExecutionThread), "side");
  EXPECT_EQ(Root(module)->opcode(), Opcode::kAsyncDone);
}

// ---- Shapes ----

TEST(ParserTest, EveryElementType) {
  for (absl::string_view type : {
#define V(e, text, ...) absl::string_view(text),
           RIDGE_ELEMENT_TYPES(V)
#undef V
       }) {
    if (type == "tuple" || type == "b") continue;
    std::string shape = absl::StrCat(type, "[]");
    auto module = Parse(absl::StrCat("e { x = ", shape, " parameter(0) }"));
    EXPECT_EQ(Root(module)->shape().ToString(), shape);
  }
}

struct ShapeCase {
  const char* text;
  const char* printed;  // with layout; null: the same
};

class ShapeTest : public testing::TestWithParam<ShapeCase> {};

TEST_P(ShapeTest, IsKept) {
  const ShapeCase& c = GetParam();
  auto module = Parse(absl::StrCat("e { x = ", c.text, " parameter(0) }"));
  EXPECT_EQ(Root(module)->shape().ToString(/*with_layout=*/true),
            c.printed == nullptr ? c.text : c.printed);
}

INSTANTIATE_TEST_SUITE_P(
    All, ShapeTest,
    testing::Values(ShapeCase{"f32[2,3]{0,1}", nullptr},
                    ShapeCase{"f32[0,3]", nullptr},
                    ShapeCase{"s32[<=4,?]{1,0}", nullptr},
                    ShapeCase{"f32[4, 16]", "f32[4,16]"},
                    ShapeCase{"f32 [4]", "f32[4]"},
                    ShapeCase{"bf16[2,8]{1,0:T(8,128)(2,1)}", nullptr},
                    ShapeCase{"f32[8,9]{1,0:T(*,128)}", nullptr},
                    ShapeCase{"s4[6]{0:E(4)S(1)}", nullptr},
                    ShapeCase{"f32[6]{0:L(128)}", nullptr},
                    ShapeCase{"f32[6,6]{1,0:D(D,C)#(u32)*(u64)}", nullptr},
                    ShapeCase{"f32[]{:T(256)}", nullptr},
                    ShapeCase{"f32[4,8]{1,0:S(5)SC(1:4)M(32)}", nullptr},
                    ShapeCase{"f32[4]{0:P(f32[8]{0})}", nullptr},
                    ShapeCase{"(f32[2], /*index=1*/s32[], (pred[]))",
                              "(f32[2], s32[], (pred[]))"},
                    ShapeCase{"()", nullptr}, ShapeCase{"token[]", nullptr},
                    ShapeCase{"opaque[]", nullptr},
                    ShapeCase{"b(f32[4,16]{1,0})", nullptr}));

TEST(ParserTest, BodyAfterSignatureIsNoLayout) {
  Parse("%e (x: f32[]) -> f32[] {\n  ROOT x = f32[] parameter(0)\n}");
}

// ---- Literals ----

template <typename T>
std::vector<T> Values(absl::string_view shape, absl::string_view literal) {
  auto module =
      Parse(absl::StrCat("e { c = ", shape, " constant(", literal, ") }"));
  absl::Span<const T> data = Root(module)->literal().data<T>();
  return std::vector<T>(data.begin(), data.end());
}

TEST(ParserTest, LiteralsAreRowMajorWhateverTheLayout) {
  EXPECT_THAT(Values<float>("f32[2,2]{0,1}", "{{1, 2}, {3, 4}}"),
              ElementsAre(1, 2, 3, 4));
}

TEST(ParserTest, LiteralsOfSeveralForms) {
  EXPECT_THAT(Values<uint8_t>("pred[3]", "{true, 0, 1}"), ElementsAre(1, 0, 1));
  EXPECT_THAT(Values<float>("f32[3]", "{-1.5e2 2 /*two*/ .5}"),
              ElementsAre(-150, 2, 0.5));
  EXPECT_THAT(Values<int64_t>("s64[2]", "{-9223372036854775808, 7}"),
              ElementsAre(INT64_MIN, 7));
  EXPECT_THAT(Values<uint64_t>("u64[]", "18446744073709551615"),
              ElementsAre(UINT64_MAX));
  EXPECT_THAT(Values<float>("c64[1]", "{(1, -2)}"), ElementsAre(1, -2));
  EXPECT_THAT(Values<int8_t>("s4[2]", "{-8, 7}"), ElementsAre(-8, 7));
  EXPECT_THAT(Values<float>("f32[2,0]", "{{}, {}}"), SizeIs(0));
}

TEST(ParserTest, NanPayloadsAndSigns) {
  EXPECT_THAT(Values<uint32_t>("f32[3]", "{nan, -nan, nan(0x7)}"),
              ElementsAre(0x7fc00000u, 0xffc00000u, 0x7f800007u));
  EXPECT_THAT(Values<uint16_t>("bf16[2]", "{inf, nan(0x1)}"),
              ElementsAre(0x7f80, 0x7f81));
  EXPECT_THAT(Values<uint8_t>("f8e4m3fn[2]", "{nan, -nan}"),
              ElementsAre(0x7f, 0xff));
}

TEST(ParserTest, TupleLiterals) {
  auto module = Parse("e { c = (f32[], (s32[2])) constant((1, ({2, 3}))) }");
  const Literal& literal = Root(module)->literal();
  EXPECT_EQ(GetDouble(literal.elements()[0], 0), 1);
  EXPECT_EQ(GetInt(literal.elements()[1].elements()[0], 1), 3);
}

TEST(ParserTest, ElidedLiteralsAreMarked) {
  auto module = Parse("e { c = f32[2,3] constant({...}) }");
  EXPECT_TRUE(Root(module)->literal().elided());
  EXPECT_EQ(Root(module)->literal().byte_size(), 24u);
}

TEST(ParserTest, EnormousElidedLiteralsTakeNoMemory) {
  auto module = Parse("e { c = f32[1000000,1000000,1000000] constant({...}) }");
  EXPECT_TRUE(Root(module)->literal().elided());
  EXPECT_EQ(Root(module)->literal().byte_size(), 0u);
}

TEST(ParserTest, OneElementForAnArrayIsThatAndZeros) {
  EXPECT_THAT(Values<float>("f32[3]", "2"), ElementsAre(2, 0, 0));
  EXPECT_EQ(Error("e { c = f32[1000000,1000000] constant(2) }").rule,
            "literal");
}

struct LiteralError {
  const char* shape;
  const char* literal;
  const char* message;
};

class LiteralErrorTest : public testing::TestWithParam<LiteralError> {};

TEST_P(LiteralErrorTest, IsReported) {
  const LiteralError& c = GetParam();
  Diagnostic error = Error(
      absl::StrCat("e {\n  c = ", c.shape, " constant(", c.literal, ")\n}"));
  EXPECT_EQ(error.line, 2);
  EXPECT_THAT(error.message, HasSubstr(c.message));
}

INSTANTIATE_TEST_SUITE_P(
    All, LiteralErrorTest,
    testing::Values(
        LiteralError{"f32[2]", "{1}", "has 2 elements, the literal gives 1"},
        LiteralError{"f32[2]", "{1,2,3}", "gives more"},
        LiteralError{"f32[2]", "{{1},{2}}", "nests deeper"},
        LiteralError{"f32[2,2]", "{1,2}", "expected 2 nested braces"},
        LiteralError{"u32[]", "-1", "out of range"},
        LiteralError{"s4[]", "8", "out of range"},
        LiteralError{"bf16[]", "1e39", "out of range"},
        LiteralError{"f64[]", "1e400", "exceeds the range"},
        LiteralError{"s32[]", "1.5", "must be an integer"},
        LiteralError{"f32[]", "true", "values of pred"},
        LiteralError{"bf16[]", "nan(0x3ff)", "payload"},
        LiteralError{"f32[2]", "{1, ...}", "stand alone"},
        LiteralError{"token[]", "1", "no literals of type"}));

// ---- Attributes ----

TEST(ParserTest, WindowAndConvolutionLabels) {
  auto module = Parse(R"(e {
    x = f32[1,5,6,3] parameter(0)
    k = f32[3,3,3,8] parameter(1)
    ROOT c = f32[1,5,6,8] convolution(x, k),
      window={size=3x3 pad=1_1x0_2 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f
  })");
  const Window& window = *Root(module)->window();
  ASSERT_THAT(window, SizeIs(2));
  EXPECT_EQ(window[1].padding_high, 2);
  EXPECT_TRUE(window[0].window_reversal);
  const auto* labels = Root(module)->boxed<ConvDimLabels>(AttrId::kDimLabels);
  EXPECT_EQ(labels->input_feature, 3);
  EXPECT_EQ(labels->kernel_output_feature, 3);
  EXPECT_THAT(labels->output_spatial, ElementsAre(1, 2));
}

TEST(ParserTest, SlicesAndPaddings) {
  auto module = Parse(Around("f32[1,2] slice(x), slice={[0:1], [0:3:2]}"));
  const auto& ranges = *Root(module)->boxed<SliceRanges>(AttrId::kSlice);
  EXPECT_EQ(ranges[1].stride, 2);
  module = Parse(R"(e {
    x = f32[2,3] parameter(0)
    z = f32[] constant(0)
    ROOT p = f32[1,8] pad(x, z), padding=0_-1x1_0_2
  })");
  const auto& padding = *Root(module)->boxed<PaddingConfig>(AttrId::kPadding);
  EXPECT_EQ(padding[0].high, -1);
  EXPECT_EQ(padding[1].interior, 2);
}

TEST(ParserTest, IotaReplicaGroupsAreExpanded) {
  auto module = Parse(
      Around("f32[2,3] all-to-all(x), replica_groups=[2,4]<=[4,2]T(1,0)"));
  const auto& groups =
      *Root(module)->boxed<ReplicaGroups>(AttrId::kReplicaGroups);
  EXPECT_THAT(groups.groups,
              ElementsAre(ElementsAre(0, 2, 4, 6), ElementsAre(1, 3, 5, 7)));
  EXPECT_EQ(groups.text, "[2,4]<=[4,2]T(1,0)");
}

TEST(ParserTest, AlgorithmMeansWhatTheOpcodeTakes) {
  auto module = Parse(R"(e {
    s = u64[2] parameter(0)
    ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_three_fry
  })");
  EXPECT_EQ(
      Root(module)->enum_attr(AttrId::kRngAlgorithm, RandomAlgorithm::kDefault),
      RandomAlgorithm::kThreeFry);
}

TEST(ParserTest, OrderTotalIsTypeTotalOrder) {
  auto module = Parse(Around("compare(x, x), direction=LT, order=TOTAL"));
  EXPECT_EQ(
      Root(module)->enum_attr(AttrId::kComparisonType, ComparisonOrder::kFloat),
      ComparisonOrder::kTotalOrder);
}

struct RawCase {
  const char* name;
  const char* value;
};

class RawTest : public testing::TestWithParam<RawCase> {};

TEST_P(RawTest, IsKeptAsWritten) {
  auto module = Parse(Around(absl::StrCat("f32[2,3] copy(x), ", GetParam().name,
                                          "=", GetParam().value)));
  ASSERT_THAT(Root(module)->attributes(), SizeIs(1));
  EXPECT_EQ(std::get<absl::string_view>(Root(module)->attributes()[0].value),
            GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(
    All, RawTest,
    testing::Values(
        RawCase{"sharding", "{replicated}"},
        RawCase{"sharding", "{maximal device=3}"},
        RawCase{"sharding", "{manual}"}, RawCase{"sharding", "{unreduced}"},
        RawCase{"sharding", "{devices=[2,1]0,1}"},
        RawCase{"sharding",
                "{devices=[2,4]<=[4,2]T(1,0) last_tile_dim_replicate "
                "metadata={op_name=\"a\"}}"},
        RawCase{"sharding",
                "{devices=[2,2]<=[4] last_tile_dims={manual, replicated}}"},
        RawCase{"sharding", "{{replicated}, {maximal device=0}}"},
        RawCase{"sharding", "{replicated shard_as 2}"},
        RawCase{"sharding", "{mesh['a'=2,'b'=4], [{'a'}, {?}]}"},
        RawCase{"metadata", "{op_type=\"t\" op_name=\"n\", source_line=3}"},
        RawCase{"metadata", "{op_name=\"a\\\"}b\" stack_frame_id=4}"},
        RawCase{"backend_config", "\"a \\\"quoted\\\" text\""},
        RawCase{"backend_config", "{\"a\": {\"b\": \"}\"}, \"c\": []}"},
        RawCase{"frontend_attributes", "{a=\"1\", b.c={\"d\": 2}}"},
        RawCase{"statistics", "{visualizing_index=1,stat-1=33,stat-2=4.5}"},
        RawCase{"parameter_replication", "{true}"},
        RawCase{"origin", "{({\"a\"}, {\"b\" {0}})}"}));

// ---- Several modules ----

TEST(ParserTest, ModulesAreSplitAtSeparators) {
  auto modules = ParseModules(
      "// a file\n// -----\nHloModule a\ne { x = f32[] parameter(0) }\n"
      "// -----\nHloModule b\ne { x = f32[] parameter(0) }\n");
  ASSERT_TRUE(modules.ok()) << modules.status();
  ASSERT_THAT(*modules, SizeIs(2));
  EXPECT_EQ((*modules)[1]->name(), "b");
  EXPECT_EQ((*modules)[1]->entry()->location().line, 7);
}

TEST(ParserTest, LongerRulersAreComments) {
  auto modules = ParseModules(
      "HloModule a\n// ----------\ne { x = f32[] parameter(0) }\n");
  ASSERT_TRUE(modules.ok()) << modules.status();
  EXPECT_THAT(*modules, SizeIs(1));
}

TEST(ParserTest, ErrorsOfLaterModulesHaveLinesOfTheFile) {
  std::vector<Diagnostic> errors;
  ParseOptions options;
  options.diagnostics = &errors;
  EXPECT_FALSE(ParseModules("e { x = f32[] parameter(0) }\n// -----\n"
                            "e {\n x = f32[] bad(0) }\n",
                            options)
                   .ok());
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_EQ(errors[0].line, 4);
}

TEST(ParserTest, SectionsAreKept) {
  auto module = Parse(R"(HloModule m

FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}


ENTRY e { x = f32[] parameter(0), metadata={op_name="x" stack_frame_id=1} }
)");
  EXPECT_TRUE(absl::StartsWith(module->sections(), "FileNames\n1 \"a.py\""));
  EXPECT_TRUE(absl::EndsWith(module->sections(), "parent_frame_id=1}"));
}

TEST(ParserTest, HeaderAttributesAreKeptAndChecked) {
  auto module = Parse(
      "HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }, "
      "buffer_donor={ (0, {1}) }, num_partitions=2, "
      "entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n"
      "e { x = f32[2] parameter(0) }");
  EXPECT_EQ(module->header_text("num_partitions"), "2");
  EXPECT_EQ(module->header_text("input_output_alias"),
            "{ {0}: (0, {}, may-alias) }");
  EXPECT_THAT(Error("HloModule m, num_partition=2\ne { x = f32[] "
                    "parameter(0) }")
                  .message,
              HasSubstr("did you mean `num_partitions`?"));
}

}  // namespace
}  // namespace ridge
