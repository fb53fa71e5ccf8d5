#include "hlo/text/printer.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/ir/equal.h"
#include "hlo/text/fuzz_check.h"
#include "hlo/text/generate.h"
#include "hlo/text/parser.h"

namespace ridge {
namespace {

using testing::HasSubstr;
using testing::Not;

std::unique_ptr<Module> Parse(absl::string_view text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? *std::move(module) : nullptr;
}

PrintOptions InForm(PrintOptions::Form form) {
  PrintOptions options;
  options.form = form;
  return options;
}

constexpr absl::string_view kModule = R"(HloModule m, is_scheduled=true

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add = f32[] add(f32[] %a, f32[] %b)
}

ENTRY %main (x: f32[2,3]) -> f32[2] {
  %x = f32[2,3]{1,0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %r = f32[2]{0} reduce(f32[2,3]{1,0} %x, f32[] %zero), dimensions={1}, to_apply=%sum, metadata={op_name="r"}
}
)";

TEST(PrinterTest, LongFormIsWhatXlaPrints) {
  EXPECT_EQ(Print(*Parse(kModule)), kModule);
}

TEST(PrinterTest, ShortFormHasNamesAlone) {
  EXPECT_EQ(Print(*Parse(kModule), InForm(PrintOptions::Form::kShort)),
            R"(HloModule m, is_scheduled=true

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT add = f32[] add(a, b)
}

ENTRY main {
  x = f32[2,3]{1,0} parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[2]{0} reduce(x, zero), dimensions={1}, to_apply=sum, metadata={op_name="r"}
}
)");
}

TEST(PrinterTest, CanonicalFormForgetsNamesAndMetadata) {
  EXPECT_EQ(Print(*Parse(kModule), InForm(PrintOptions::Form::kCanonical)),
            R"(HloModule module, is_scheduled=true

comp_0 {
  tmp_0 = f32[] parameter(0)
  tmp_1 = f32[] parameter(1)
  ROOT tmp_2 = f32[] add(f32[] tmp_0, f32[] tmp_1)
}

ENTRY comp_1 {
  tmp_0 = f32[2,3]{1,0} parameter(0)
  tmp_1 = f32[] constant(0)
  ROOT tmp_2 = f32[2]{0} reduce(f32[2,3]{1,0} tmp_0, f32[] tmp_1), dimensions={1}, to_apply=comp_0
}
)");
}

TEST(PrinterTest, CanonicalFormKeepsOrigins) {
  auto module = Parse("e { x = f32[4] parameter(0), origin={{\"v\"}} }");
  EXPECT_THAT(Print(*module, InForm(PrintOptions::Form::kCanonical)),
              HasSubstr("tmp_0 = f32[4] parameter(0), origin={{\"v\"}}"));
}

// What XLA reads otherwise than it looks: -0 is an integer, and small types
// round wrongly below the normal range of f32.
TEST(PrinterTest, NumbersAreThoseThatXlaReads) {
  auto module = Parse(
      "e { x = f32[3] constant({-0, -0.0, -0e0})\n"
      "y = f8e8m0fnu[] constant(6e-39) ROOT t = tuple(x, y) }");
  const std::string text = Print(*module, InForm(PrintOptions::Form::kShort));
  EXPECT_THAT(text, HasSubstr("constant({0, -0.0, -0.0})"));
  EXPECT_THAT(text, HasSubstr("constant(5.877471754111438e-39)"));
}

TEST(PrinterTest, AttributesComeInOneOrder) {
  auto a = Parse(
      "e { x = f32[4] parameter(0)\n"
      "y = compare(x, x), type=FLOAT, direction=LT }");
  auto b = Parse(
      "e { x = f32[4] parameter(0)\n"
      "y = compare(x, x), direction=LT, type=FLOAT }");
  EXPECT_EQ(Print(*a), Print(*b));
}

TEST(PrinterTest, ReservedNamesKeepTheirPercent) {
  auto module = Parse(
      "e { %inf = f32[4] parameter(0)\n"
      "%true = negate(%inf)\nROOT y = negate(%true) }");
  std::string text = Print(*module, InForm(PrintOptions::Form::kShort));
  EXPECT_THAT(text, HasSubstr("negate(%inf)"));
  EXPECT_THAT(text, HasSubstr("negate(%true)"));
}

TEST(PrinterTest, InstructionAlone) {
  auto module = Parse(kModule);
  const Instruction& r = *module->entry()->root();
  EXPECT_EQ(Print(r, InForm(PrintOptions::Form::kShort)),
            "r = f32[2]{0} reduce(x, zero), dimensions={1}, to_apply=sum, "
            "metadata={op_name=\"r\"}");
  EXPECT_EQ(Print(r, InForm(PrintOptions::Form::kCanonical)),
            "f32[2]{0} reduce(f32[2,3]{1,0}, f32[]), dimensions={1}, "
            "to_apply=sum");
  EXPECT_EQ(PrintAttrValue(r, AttrId::kDimensions), "{1}");
}

TEST(PrinterTest, OptionsLeaveThingsOut) {
  PrintOptions options;
  options.metadata = false;
  EXPECT_THAT(Print(*Parse(kModule), options), Not(HasSubstr("metadata")));
}

TEST(PrinterTest, AsyncSugarIsPrintedAsSugar) {
  auto module = Parse(R"(e {
    p = f32[10] parameter(0)
    s = ((f32[10]), f32[10], s32[]) negate-start(p), async_execution_thread="t"
    ROOT d = f32[10] negate-done(s)
  })");
  std::string text = Print(*module, InForm(PrintOptions::Form::kShort));
  EXPECT_THAT(text, HasSubstr("s = ((f32[10]), f32[10], s32[]) "
                              "negate-start(p), async_execution_thread=\"t\""));
  EXPECT_THAT(text, HasSubstr("d = f32[10] negate-done(s)"));
  EXPECT_THAT(text, Not(HasSubstr("async_wrapped")));
}

TEST(PrinterTest, WrittenOutAsyncComputationsKeepTheirNames) {
  auto module = Parse(R"(my_wrapped {
    q = f32[10] parameter(0)
    ROOT n = f32[10] negate(q)
  }
  ENTRY e {
    p = f32[10] parameter(0)
    s = ((f32[10]), f32[10], s32[]) async-start(p), calls=my_wrapped
    ROOT d = f32[10] async-done(s), calls=my_wrapped
  })");
  std::string text = Print(*module, InForm(PrintOptions::Form::kShort));
  EXPECT_THAT(text, HasSubstr("async-start(p), calls=my_wrapped"));
}

// Printing and parsing again changes nothing, in any form.
class RoundTripTest : public testing::TestWithParam<const char*> {};

TEST_P(RoundTripTest, ChangesNothing) {
  ASSERT_TRUE(ParseModule(GetParam()).ok()) << ParseModule(GetParam()).status();
  EXPECT_EQ(TextProblem(GetParam()), "");
}

INSTANTIATE_TEST_SUITE_P(
    All, RoundTripTest,
    testing::Values(
        // Literals of every kind.
        "e { c = f32[7] constant({1, -0.0, 0.1, 1e-45, 3.4028235e38, inf, "
        "-nan(0x1)}) }",
        "e { c = f64[3] constant({1e308, 5e-324, 0.1}) }",
        "e { c = bf16[4] constant({0.1, 1e-40, 3.38e38, nan}) }",
        "e { c = f16[3] constant({65504, 6e-08, -inf}) }",
        "e { c = f8e4m3fn[3] constant({448, 0.001953125, -nan}) }",
        "e { c = f8e5m2fnuz[2] constant({0.1, nan}) }",
        "e { c = f8e8m0fnu[3] constant({1, 5.877471754111438e-39, nan}) }",
        "e { c = f4e2m1fn[3] constant({0.5, 6, -3}) }",
        "e { c = c64[2] constant({(1, -2), (inf, nan)}) }",
        "e { c = u64[1] constant({18446744073709551615}) }",
        "e { c = s4[2,1] constant({{-8}, {7}}) }",
        "e { c = pred[] constant(true) }",
        "e { c = f32[2,0,3] constant({{}, {}}) }",
        "e { c = f32[4,4] constant({...}) }", "e { c = f32[4,4] constant(3) }",
        "e { c = (f32[2], (s32[], ())) constant(({1, 2}, (3, ()))) }",
        // Attributes.
        "e { x = f32[2] parameter(0)\n c = f32[2] custom-call(x), "
        "custom_call_target=\"a\\\"b\\n\", literal=s32[2]{0} {1, 2}, "
        "api_version=API_VERSION_TYPED_FFI, schedule=SCHEDULE_LATEST, "
        "operand_layout_constraints={f32[2]{0}}, "
        "output_to_operand_aliasing={{}: (0, {})}, "
        "custom_call_has_side_effect=true }",
        "e { x = f32[2] parameter(0)\n c = f32[2] custom-call(x), "
        "custom_call_target=\"a\", literal=(f32[] 1, pred[2]{0} {1, 0}) }",
        "e { x = f32[2,2] parameter(0)\n d = dot(x, x), "
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
        "operand_precision={highest,default}, algorithm=dot_tf32_tf32_f32 }",
        "e { x = f32[1,2,8] parameter(0)\n k = f32[1,8,3] parameter(1)\n"
        "c = f32[1,2,3] convolution(x, k), window={size=1 stride=1 "
        "pad=-1_1 lhs_dilate=2 rhs_dilate=3}, dim_labels=b0f_0io->b0f, "
        "feature_group_count=1 }",
        "e { x = f32[2] parameter(0)\n y = f32[2] parameter(1), "
        "control-predecessors={x}, backend_config={\"a\": [1, {}]}\n"
        "z = f32[2] add(x, y), sharding={replicated} }",
        "e { x = f32[] parameter(0)\n t = token[] after-all()\n"
        "ROOT r = ((), token[]) tuple((()) tuple(() tuple()), t) }"));

TEST(PrinterTest, GeneratedModulesRoundTrip) {
  std::string text = GenerateModuleText(3000);
  EXPECT_EQ(TextProblem(text), "");
  EXPECT_GT(Parse(text)->instruction_count(), 2700);
}

}  // namespace
}  // namespace ridge
