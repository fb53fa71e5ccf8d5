// Modules through protobuf: HLO text in, the same text out; malformed
// messages are errors that say what is wrong.
#include "hlo/proto/module_proto.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"

namespace ridge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<Module> Parse(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

// Text that went through a binary message.
std::string Through(const std::string& text) {
  const std::unique_ptr<Module> module = Parse(text);
  if (module == nullptr) return "does not parse";
  const absl::StatusOr<std::unique_ptr<Module>> again =
      ModuleFromProto(ModuleToProto(*module));
  return again.ok() ? Print(**again) : std::string(again.status().message());
}

proto::HloModuleProto Message(const std::string& text) {
  proto::HloModuleProto message;
  const std::unique_ptr<Module> module = Parse(text);
  if (module != nullptr) message.ParseFromString(ModuleToProto(*module));
  return message;
}

std::string ErrorOf(const proto::HloModuleProto& message) {
  return std::string(
      ModuleFromProto(message.SerializeAsString()).status().message());
}

constexpr char kSmall[] = R"(HloModule m

ENTRY e {
  x = f32[2,3] parameter(0)
  ROOT y = f32[2,3] add(x, x)
})";

// Each comes back byte for byte.
class RoundTripTest : public ::testing::TestWithParam<const char*> {};

TEST_P(RoundTripTest, TextIsKept) {
  const std::unique_ptr<Module> module = Parse(GetParam());
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Through(GetParam()), Print(*module));
}

INSTANTIATE_TEST_SUITE_P(
    Modules, RoundTripTest,
    ::testing::Values(
        kSmall,
        // Header attributes that XLA's message has no field for.
        R"(HloModule m, is_scheduled=true, replica_count=4, num_partitions=2, input_output_alias={ {}: (0, {}, must-alias) }, entry_computation_layout={(f32[2]{0})->f32[2]{0}}, allow_spmd_sharding_propagation_to_output={true}

ENTRY e {
  x = f32[2]{0} parameter(0)
  ROOT y = f32[2]{0} negate(x)
})",
        // Texts whose spelling is not XLA's.
        R"(HloModule m

ENTRY e {
  x = f32[2] parameter(0), sharding={devices=[2]0,1}, metadata={op_name="a", source_line=3}
  y = f32[2] negate(x), frontend_attributes={b="1",a={"k":2}}, backend_config="raw \"text\""
  ROOT z = f32[2] abs(y), backend_config={"json":{"a":[1,2]}}
})",
        // Attributes at their defaults, and in another order.
        R"(HloModule m

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT, type=FLOAT
}

ENTRY e {
  x = f32[4] parameter(0)
  ROOT y = f32[4] sort(x), dimensions={0}, is_stable=false, to_apply=less
})",
        // Layouts, tiles and memory spaces; types below a byte.
        R"(HloModule m

ENTRY e {
  x = bf16[8,128]{1,0:T(8,128)(2,1)S(1)} parameter(0)
  c = s4[3]{0:E(4)} constant({1, -2, 7})
  u = u2[2] constant({3, 0})
  ROOT t = (bf16[8,128]{1,0:T(8,128)(2,1)S(1)}, s4[3]{0:E(4)}, u2[2]) tuple(x, c, u)
})",
        // Literals in another order than their layout's.
        R"(HloModule m

ENTRY e {
  ROOT c = s32[2,3]{0,1} constant({ { 1, 2, 3 }, { 4, 5, 6 } })
})",
        // Elided, special and complex values.
        R"(HloModule m

ENTRY e {
  a = f32[100] constant({...})
  b = f32[3] constant({nan, inf, -0})
  c = c64[1] constant({(1, -2)})
  ROOT t = (f32[100], f32[3], c64[1]) tuple(a, b, c)
})",
        // Bounded and unbounded dimensions, tokens, buffers.
        R"(HloModule m

ENTRY e {
  x = f32[<=8,?] parameter(0)
  t = token[] after-all()
  b = b(f32[4]) custom-call(), custom_call_target="CreateBuffer"
  ROOT r = (f32[<=8,?], token[], b(f32[4])) tuple(x, t, b)
})",
        // Calls of all kinds keep which computation is which.
        R"(HloModule m

body {
  ROOT p = s32[] parameter(0)
}

cond {
  p = s32[] parameter(0)
  c = s32[] constant(3)
  ROOT l = pred[] compare(p, c), direction=LT
}

left {
  ROOT p = s32[] parameter(0)
}

right {
  ROOT p = s32[] parameter(0)
}

ENTRY e {
  x = s32[] parameter(0)
  w = s32[] while(x), condition=cond, body=body
  q = pred[] parameter(1)
  c = s32[] conditional(q, w, w), true_computation=left, false_computation=right
  ROOT d = s32[] conditional(x, c, c), branch_computations={right, left}
})",
        // Collectives: both ways to write groups, a channel without number.
        R"(HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[8] parameter(0)
  r = f32[8] all-reduce(x), channel_id=0, replica_groups={{0,1},{2,3}}, to_apply=add
  ROOT g = f32[16] all-gather(r), channel_id=1, replica_groups=[4,2]<=[2,4]T(1,0), dimensions={0}, use_global_device_ids=true
})",
        // Names that two computations share, control edges, threads.
        R"(HloModule m

f {
  x = f32[2] parameter(0)
  ROOT y = f32[2] negate(x)
}, execution_thread="other"

ENTRY e {
  x = f32[2] parameter(0)
  a = f32[2] abs(x)
  ROOT y = f32[2] negate(x), control-predecessors={a}
})"));

TEST(ModuleProtoTest, BothMessagesAreRead) {
  const std::unique_ptr<Module> module = Parse(kSmall);
  ASSERT_NE(module, nullptr);
  for (bool wrap : {false, true}) {
    ProtoOptions options;
    options.wrap = wrap;
    const auto binary = ModuleFromProto(ModuleToProto(*module, options));
    ASSERT_TRUE(binary.ok()) << binary.status();
    EXPECT_EQ(Print(**binary), Print(*module));
    const auto text = ModuleFromProtoText(ModuleToProtoText(*module, options));
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(Print(**text), Print(*module));
  }
}

TEST(ModuleProtoTest, WithoutRidgesFieldsTheMeaningStays) {
  const std::unique_ptr<Module> module = Parse(kSmall);
  ASSERT_NE(module, nullptr);
  ProtoOptions options;
  options.exact = false;
  const std::string text = ModuleToProtoText(*module, options);
  EXPECT_EQ(text.find("ridge"), std::string::npos);
  const auto again = ModuleFromProtoText(text);
  ASSERT_TRUE(again.ok()) << again.status();
  // XLA's fields say the layouts that the text leaves to be understood.
  EXPECT_EQ(Print(*(*again)->entry()),
            "ENTRY %e (x: f32[2,3]) -> f32[2,3] {\n"
            "  %x = f32[2,3]{1,0} parameter(0)\n"
            "  ROOT %y = f32[2,3]{1,0} add(f32[2,3]{1,0} %x, "
            "f32[2,3]{1,0} %x)\n}\n");
}

// XLA refuses a literal without a layout.
TEST(ModuleProtoTest, EveryArrayHasALayout) {
  const proto::HloModuleProto message = Message(
      "HloModule m\n\nENTRY e {\n"
      "  ROOT c = (s32[2,1]) constant(({{1},{2}}))\n}");
  const proto::HloInstructionProto& c = message.computations(0).instructions(0);
  EXPECT_THAT(c.shape().tuple_shapes(0).layout().minor_to_major(),
              ElementsAre(1, 0));
  EXPECT_THAT(c.literal().shape().tuple_shapes(0).layout().minor_to_major(),
              ElementsAre(1, 0));
  EXPECT_THAT(message.host_program_shape()
                  .result()
                  .tuple_shapes(0)
                  .layout()
                  .minor_to_major(),
              ElementsAre(1, 0));
}

// XLA refuses a message in which two computations share an instruction's name;
// its own parser renames as here.
TEST(ModuleProtoTest, NamesAreUniqueInTheWholeMessage) {
  const std::string text = R"(HloModule m

f {
  a = f32[] parameter(0)
  a.1 = f32[] negate(a)
  x.05 = f32[] negate(a.1)
  ROOT b = f32[] add(a, x.05)
}

ENTRY e {
  a.1 = f32[] parameter(0)
  a = f32[] negate(a.1)
  x.5 = f32[] negate(a)
  ROOT y = f32[] call(x.5), to_apply=f
})";
  std::vector<std::string> names;
  const proto::HloModuleProto message = Message(text);
  for (const auto& computation : message.computations()) {
    for (const auto& i : computation.instructions()) names.push_back(i.name());
  }
  EXPECT_THAT(names,
              ElementsAre("a", "a.1", "x.5", "b", "a.2", "a.3", "x.0", "y"));
  EXPECT_EQ(Through(text), Print(*Parse(text)));
}

// As in XLA's messages, whose entry is the operand's side.
TEST(ModuleProtoTest, DomainSidesSwapNames) {
  const proto::HloModuleProto message = Message(
      "HloModule m\n\nENTRY e {\n  x = f32[2] parameter(0)\n"
      "  ROOT d = f32[2] domain(x), domain={kind=\"sharding\", "
      "entry={maximal device=3}, exit={replicated}}\n}");
  const proto::HloInstructionProto& d = message.computations(0).instructions(1);
  EXPECT_EQ(d.domain_entry_sharding().type(), proto::OpSharding::REPLICATED);
  EXPECT_EQ(d.domain_exit_sharding().type(), proto::OpSharding::MAXIMAL);
}

constexpr char kRecoverable[] = R"(HloModule m, origin_recovery_table={
  {"gone" {1}} : {"kept"},
  "ENTRY again {
     p = s32[2]{0} parameter(0)
     ROOT n = s32[2]{0} custom-call(p), custom_call_target=\"f\"
   }"
  {"lost"} : {""}
}

ENTRY e {
  ROOT x = s32[2]{0} parameter(0), origin={{"kept"}}
})";

TEST(ModuleProtoTest, RecoveryTablesAreFields) {
  const auto table = Message(kRecoverable).original_value_recovery_table();
  ASSERT_EQ(table.entries_size(), 2);
  const auto& first = table.entries(0);
  EXPECT_EQ(first.old_original_array().instruction_name(), "gone");
  EXPECT_EQ(first.old_original_array().shape_index(0), 1);
  EXPECT_EQ(first.new_original_array().instruction_name(), "kept");
  EXPECT_EQ(first.recovery_module().entry_computation_name(), "again");
  EXPECT_EQ(first.recovery_module()
                .computations(0)
                .instructions(1)
                .custom_call_target(),
            "f");
  EXPECT_FALSE(table.entries(1).has_recovery_module());
}

TEST(ModuleProtoTest, RecoveryTablesAreReadFromFields) {
  proto::HloModuleProto message = Message(kRecoverable);
  const proto::HloModuleProto before = message;
  message.clear_ridge();  // only fields of XLA's are left
  const auto module = ModuleFromProto(message.SerializeAsString());
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Message(Print(**module))
                .original_value_recovery_table()
                .SerializeAsString(),
            before.original_value_recovery_table().SerializeAsString());
}

TEST(ModuleProtoTest, RecoveryTablesDoNotNest) {
  proto::HloModuleProto message = Message(kRecoverable);
  proto::HloModuleProto* inner =
      message.mutable_original_value_recovery_table()
          ->mutable_entries(0)
          ->mutable_recovery_module();
  *inner->mutable_original_value_recovery_table() =
      Message(kRecoverable).original_value_recovery_table();
  EXPECT_THAT(ErrorOf(message), HasSubstr("a recovery table of its own"));
}

// Printers number the elements of long lists in comments.
TEST(ModuleProtoTest, CommentsInAttributesAreNoContents) {
  const proto::HloModuleProto message = Message(
      "HloModule m\n\nENTRY e {\n  ROOT x = (f32[2], f32[2]) parameter(0), "
      "sharding={{replicated}, /*index=1*/{maximal device=3}}\n}");
  EXPECT_EQ(
      message.computations(0).instructions(0).sharding().tuple_shardings_size(),
      2);
}

// Slices of two buffers, of different ranks, in one flat field.
TEST(ModuleProtoTest, SliceSizesAreSplitByTheStarts) {
  const std::string text = R"(HloModule m

ENTRY e {
  in = (f32[4,4], f32[8]) parameter(0)
  out = (f32[4,4], f32[8]) parameter(1)
  at = ((s32[], s32[]), (s32[])) parameter(2)
  ROOT y = (f32[4,4], f32[8]) collective-permute(in, out, at, at), source_target_pairs={{0,1}}, slice_sizes={{2,3},{5}}
})";
  EXPECT_EQ(Through(text), Print(*Parse(text)));
}

TEST(ModuleProtoTest, FieldNumbersAreXlas) {
  // A parameter of f32[2], as XLA writes it: fields 1, 2, 3 {2, 3} and 35.
  const std::string instruction =
      std::string("\x0a\x01x\x12\x09parameter", 14) +
      std::string("\x1a\x05\x10\x0b\x1a\x01\x02", 7) +
      std::string("\x98\x02\x07", 3);
  proto::HloInstructionProto message;
  ASSERT_TRUE(message.ParseFromString(instruction));
  EXPECT_EQ(message.name(), "x");
  EXPECT_EQ(message.opcode(), "parameter");
  EXPECT_EQ(message.shape().element_type(), proto::F32);
  EXPECT_EQ(message.shape().dimensions(0), 2);
  EXPECT_EQ(message.id(), 7);
}

TEST(ModuleProtoTest, ShardingsAndMetadataAreStructured) {
  const proto::HloModuleProto message = Message(R"(HloModule m
ENTRY e {
  ROOT x = f32[4,4] parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate metadata={op_name="s"}}, metadata={op_type="T" op_name="n" source_file="f.py" source_line=12}
})");
  const auto& x = message.computations(0).instructions(0);
  EXPECT_EQ(x.sharding().type(), proto::OpSharding::OTHER);
  EXPECT_TRUE(x.sharding().replicate_on_last_tile_dim());
  EXPECT_EQ(x.sharding().iota_reshape_dims(0), 8);
  EXPECT_EQ(x.sharding().metadata(0).op_name(), "s");
  EXPECT_EQ(x.metadata().source_line(), 12);
  // XLA's spelling needs no copy of the text.
  EXPECT_EQ(x.ridge().spellings_size(), 0);
}

TEST(ModuleProtoTest, AChangedFieldWinsOverTheSpelling) {
  proto::HloModuleProto message = Message(R"(HloModule m
ENTRY e {
  ROOT x = f32[4] parameter(0), metadata={op_name="old", source_line=1}
})");
  auto* x = message.mutable_computations(0)->mutable_instructions(0);
  ASSERT_EQ(x->ridge().spellings_size(), 1);
  x->mutable_metadata()->set_op_name("new");
  const auto module = ModuleFromProto(message.SerializeAsString());
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->entry()->root()->text(AttrId::kMetadata),
            "{op_name=\"new\" source_line=1}");
}

TEST(ModuleProtoTest, OperandsMayComeLater) {
  proto::HloModuleProto message = Message(kSmall);
  auto* instructions = message.mutable_computations(0)->mutable_instructions();
  instructions->SwapElements(0, 1);
  const auto module = ModuleFromProto(message.SerializeAsString());
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->entry()->first()->opcode(), Opcode::kParameter);
}

// ---- Malformed messages ----

TEST(MalformedProtoTest, Bytes) {
  EXPECT_THAT(std::string(ModuleFromProto("\xff\xff").status().message()),
              HasSubstr("neither an HloProto nor an HloModuleProto"));
  EXPECT_THAT(std::string(ModuleFromProto("").status().message()),
              HasSubstr("no computations"));
}

TEST(MalformedProtoTest, MissingOperand) {
  proto::HloModuleProto m = Message(kSmall);
  m.mutable_computations(0)->mutable_instructions(1)->set_operand_ids(1, 99);
  EXPECT_THAT(ErrorOf(m), HasSubstr("instruction y: the operand 99 does not "
                                    "exist"));
}

TEST(MalformedProtoTest, Cycle) {
  proto::HloModuleProto m = Message(kSmall);
  auto* y = m.mutable_computations(0)->mutable_instructions(1);
  y->set_operand_ids(1, y->id());
  EXPECT_THAT(ErrorOf(m), HasSubstr("form a cycle"));
}

TEST(MalformedProtoTest, RecursiveCall) {
  proto::HloModuleProto m = Message(R"(HloModule m
f {
  ROOT p = f32[] parameter(0)
}
ENTRY e {
  x = f32[] parameter(0)
  ROOT y = f32[] call(x), to_apply=f
})");
  auto* call = m.mutable_computations(1)->mutable_instructions(1);
  call->set_called_computation_ids(0, m.computations(1).id());
  EXPECT_THAT(ErrorOf(m), HasSubstr("call each other in a cycle"));
}

TEST(MalformedProtoTest, TwiceTheSameId) {
  proto::HloModuleProto m = Message(kSmall);
  m.mutable_computations(0)->mutable_instructions(1)->set_id(
      m.computations(0).instructions(0).id());
  EXPECT_THAT(ErrorOf(m), HasSubstr("two instructions have id"));
}

TEST(MalformedProtoTest, UnknownOpcodeTypeAndEnumerator) {
  proto::HloModuleProto m = Message(kSmall);
  m.mutable_computations(0)->mutable_instructions(1)->set_opcode("sum");
  EXPECT_THAT(ErrorOf(m), HasSubstr("unknown opcode \"sum\""));

  m = Message(kSmall);
  m.mutable_computations(0)
      ->mutable_instructions(1)
      ->mutable_shape()
      ->set_element_type(static_cast<proto::PrimitiveType>(77));
  EXPECT_THAT(ErrorOf(m), HasSubstr("unknown element type number 77"));

  m = Message(R"(HloModule m
ENTRY e {
  x = c64[8] parameter(0)
  ROOT y = c64[8] fft(x), fft_type=FFT, fft_length={8}
})");
  m.mutable_computations(0)->mutable_instructions(1)->set_fft_type(
      static_cast<proto::FftType>(9));
  EXPECT_THAT(ErrorOf(m), HasSubstr("enumerator 9 is outside [0, 4)"));
}

TEST(MalformedProtoTest, AbsurdSizes) {
  proto::HloModuleProto m = Message(kSmall);
  auto* x = m.mutable_computations(0)->mutable_instructions(0);
  x->set_parameter_number(int64_t{1} << 60);
  EXPECT_THAT(ErrorOf(m), HasSubstr("is outside [0, 2)"));
  x->set_parameter_number(0);
  x->mutable_shape()->set_dimensions(0, -5);
  EXPECT_THAT(ErrorOf(m), HasSubstr("must not be negative, found -5"));

  m = Message("HloModule m\nENTRY e {\n  ROOT c = f32[2] constant({1, 2})\n}");
  m.mutable_computations(0)
      ->mutable_instructions(0)
      ->mutable_literal()
      ->mutable_shape()
      ->set_dimensions(0, int64_t{1} << 60);
  EXPECT_THAT(ErrorOf(m), HasSubstr("needs 1152921504606846976 elements, "
                                    "found 2"));
}

TEST(MalformedProtoTest, MissingCalleeAndRoot) {
  proto::HloModuleProto m = Message(R"(HloModule m
f {
  ROOT p = f32[] parameter(0)
}
ENTRY e {
  x = f32[] parameter(0)
  ROOT y = f32[] call(x), to_apply=f
})");
  proto::HloModuleProto without = m;
  without.mutable_computations(1)
      ->mutable_instructions(1)
      ->clear_called_computation_ids();
  EXPECT_THAT(ErrorOf(without), HasSubstr("needs 1 called_computation_ids"));
  m.mutable_computations(1)->set_root_id(1234);
  EXPECT_THAT(ErrorOf(m), HasSubstr("root_id 1234 does not exist"));
}

}  // namespace
}  // namespace ridge
