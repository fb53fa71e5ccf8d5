// The verifier: HLO in, the rules it breaks out.
#include "hlo/verify/verify.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/text/parser.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Module> Parse(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

// "line: message [rule]" of the first error; "" for a valid module.
std::string FirstError(const std::string& text,
                       const VerifyOptions& options = {}) {
  const std::unique_ptr<Module> module = Parse(text);
  if (module == nullptr) return "does not parse";
  const std::vector<VerifyError> errors = Verify(*module, options);
  if (errors.empty()) return "";
  return absl::StrCat(errors[0].where.line, ": ", errors[0].message, " [",
                      errors[0].rule, "]");
}

TEST(VerifyTest, AValidModuleHasNoErrors) {
  EXPECT_EQ(FirstError(R"(HloModule m
ENTRY e {
  x = f32[2,3] parameter(0)
  ROOT y = f32[2,3] add(x, x)
})"),
            "");
}

TEST(VerifyTest, ErrorsNameLineFoundAndAllowed) {
  EXPECT_EQ(FirstError(R"(HloModule m
ENTRY e {
  x = f32[2,3] parameter(0)
  ROOT y = f32[3,2] transpose(x), dimensions={0,1}
})"),
            "4: expected instruction to have shape equal to f32[2,3], actual "
            "shape is f32[3,2] [shape]");
}

TEST(VerifyTest, SeveralErrorsAreFoundInOneRun) {
  const std::unique_ptr<Module> module = Parse(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[3] negate(x)
  z = s32[2] exponential(x)
  ROOT t = (f32[3], s32[2]) tuple(y, z)
})");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Verify(*module).size(), 2);
}

TEST(VerifyTest, FusionAndItsComputationAgree) {
  const auto text = [](const char* shape) {
    return absl::StrCat(R"(HloModule m
f {
  p = )",
                        shape, R"( parameter(0)
  ROOT n = f32[4] negate(p)
}
ENTRY e {
  x = f32[4] parameter(0)
  ROOT y = f32[4] fusion(x), kind=kLoop, calls=f
})");
  };
  EXPECT_EQ(FirstError(text("f32[4]")), "");
  EXPECT_THAT(FirstError(text("f32[5]")), HasSubstr("[shape]"));
}

TEST(VerifyTest, AComputationBelongsToOneFusion) {
  EXPECT_THAT(FirstError(R"(HloModule m
f {
  p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p)
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] fusion(x), kind=kLoop, calls=f
  ROOT z = f32[4] fusion(y), kind=kLoop, calls=f
})"),
              HasSubstr("is already that of y [fusion-caller]"));
}

TEST(VerifyTest, WhileConditionGivesAPredicate) {
  EXPECT_THAT(FirstError(R"(HloModule m
body {
  ROOT p = s32[] parameter(0)
}
cond {
  ROOT p = s32[] parameter(0)
}
ENTRY e {
  x = s32[] parameter(0)
  ROOT w = s32[] while(x), condition=cond, body=body
})"),
              HasSubstr("the condition must give pred[], found s32[]"));
}

TEST(VerifyTest, MixedPrecisionIsAnOption) {
  const std::string text = R"(HloModule m
ENTRY e {
  p = pred[8] parameter(0)
  x = f32[8] parameter(1)
  y = bf16[8] parameter(2)
  ROOT s = f32[8] select(p, x, y)
})";
  EXPECT_THAT(FirstError(text), HasSubstr("[mixed-precision]"));
  VerifyOptions options;
  options.allow_mixed_precision = true;
  EXPECT_EQ(FirstError(text, options), "");
}

TEST(VerifyTest, LayoutsMatterOnceAssigned) {
  const std::string text = R"(HloModule m
ENTRY e {
  x = f32[4,5]{0,1} parameter(0)
  ROOT y = f32[4,5]{1,0} negate(x)
})";
  EXPECT_EQ(FirstError(text), "");
  VerifyOptions options;
  options.layout_sensitive = true;
  EXPECT_THAT(FirstError(text, options), HasSubstr("shouldn't change layouts"));
}

TEST(VerifyTest, BitcastKeepsTheSize) {
  EXPECT_THAT(FirstError(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[3] bitcast(x)
})"),
              HasSubstr("output (12) and operand (8)"));
}

TEST(VerifyTest, AsynchronousPairsMatch) {
  EXPECT_THAT(FirstError(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT s = (f32[2], f32[2], u32[]) copy-start(x)
})"),
              HasSubstr("requires one consumer, found 0 [async-pair]"));
}

TEST(VerifyTest, ReplicaGroupsNameEachReplicaOnce) {
  EXPECT_THAT(FirstError(R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[2] parameter(0)
  ROOT r = f32[2] all-reduce(x), replica_groups={{0,1},{1,2}}, to_apply=add
})"),
              HasSubstr("replica 1 is repeated"));
}

TEST(VerifyTest, AliasesNameBuffersThatExist) {
  EXPECT_THAT(FirstError(R"(HloModule m, input_output_alias={ {}: (3, {}) }
ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[2] negate(x)
})"),
              HasSubstr("names parameter 3, but there are 1"));
}

TEST(VerifyTest, EntryLayoutFitsTheEntry) {
  EXPECT_THAT(
      FirstError(R"(HloModule m, entry_computation_layout={(f32[3])->f32[2]}
ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[2] negate(x)
})"),
      HasSubstr("[entry-layout]"));
}

TEST(VerifyTest, ControlEdgesFormNoCycle) {
  const std::unique_ptr<Module> module = Parse(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  a = f32[2] negate(x)
  b = f32[2] abs(a)
  ROOT t = (f32[2], f32[2]) tuple(a, b)
})");
  ASSERT_NE(module, nullptr);
  Instruction* a = module->entry()->first()->next();
  a->AddControlPredecessor(a->next());
  const std::vector<VerifyError> errors = Verify(*module);
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0].rule, "control-cycle");
}

TEST(VerifyTest, RequiredAttributesAreThere) {
  // Text cannot leave them out, a pass can.
  const std::unique_ptr<Module> module = Parse(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[2] reverse(x), dimensions={0}
})");
  ASSERT_NE(module, nullptr);
  module->entry()->root()->RemoveAttr(AttrId::kDimensions);
  const std::vector<VerifyError> errors = Verify(*module);
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0].message, "reverse needs dimensions");
}

TEST(VerifyTest, StatusCarriesTheFirstError) {
  const std::unique_ptr<Module> module = Parse(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[3] negate(x)
})");
  ASSERT_NE(module, nullptr);
  const absl::Status status = VerifyStatus(*module);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("4:"));
}

}  // namespace
}  // namespace ridge
