#include "hlo/ir/module.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ridge {
namespace {

using ::testing::ElementsAre;

struct Built {
  std::unique_ptr<Module> module = std::make_unique<Module>("m");
  Computation* entry;
  Instruction* x;
  Instruction* sum;
  Instruction* root;
};

// root = negate(x + x)
Built Build() {
  Built b;
  b.entry = b.module->AddComputation("main");
  b.module->set_entry(b.entry);
  Shape s = Shape::Array(ElementType::kF32, {2, 3});
  b.x = b.entry->AddParameter(0, s, "x");
  b.sum = b.entry->Add(Opcode::kAdd, s, {b.x, b.x}, "sum");
  b.root = b.entry->Add(Opcode::kNegate, s, {b.sum}, "neg");
  b.entry->set_root(b.root);
  return b;
}

TEST(ModuleTest, UsesCountEveryOperandAndUsersEachOnce) {
  Built b = Build();
  EXPECT_EQ(b.x->use_count(), 2);
  EXPECT_THAT(b.x->users(), ElementsAre(b.sum));
}

TEST(ModuleTest, ReplaceAllUsesMovesUsesAndRoot) {
  Built b = Build();
  Instruction* y = b.entry->Add(Opcode::kAbs, b.x->shape(), {b.x}, "y", b.sum);
  b.sum->ReplaceAllUsesWith(y);
  EXPECT_EQ(b.root->operand(0), y);
  b.root->ReplaceAllUsesWith(y);
  EXPECT_EQ(b.entry->root(), y);
  EXPECT_TRUE(b.sum->IsDead());
  b.entry->Remove(b.root);
  b.entry->Remove(b.sum);
  EXPECT_EQ(b.x->use_count(), 1);
  EXPECT_THAT(b.entry->InstructionVector(), ElementsAre(b.x, y));
}

TEST(ModuleTest, NamesAreMadeUniqueBySuffix) {
  Built b = Build();
  EXPECT_EQ(b.entry->Add(Opcode::kAbs, b.x->shape(), {b.x}, "x")->name(),
            "x.1");
  EXPECT_EQ(b.entry->Add(Opcode::kAbs, b.x->shape(), {b.x}, "x.1")->name(),
            "x.2");
}

// Computations may share names: taking one away does not free the other's.
TEST(ModuleTest, ANameOfTwoComputationsStaysTakenWhenOneGoes) {
  Built b = Build();
  Computation* other = b.module->AddComputation("other");
  Instruction* x =
      other->AddRaw(Opcode::kAbs, b.module->Intern(b.x->shape()), "x");
  b.entry->Add(Opcode::kAbs, b.x->shape(), {b.x}, "indexed");
  other->Remove(x);
  EXPECT_EQ(b.entry->Add(Opcode::kAbs, b.x->shape(), {b.x}, "x")->name(),
            "x.1");
}

TEST(ModuleTest, CloneIsEqualAndApart) {
  Built b = Build();
  b.sum->set_ints(AttrId::kDimensions, {1, 2});
  std::unique_ptr<Module> copy = b.module->Clone();
  b.module.reset();
  ASSERT_EQ(copy->entry()->instruction_count(), 3);
  const Instruction* sum = copy->entry()->root()->operand(0);
  EXPECT_EQ(sum->name(), "sum");
  EXPECT_THAT(sum->dimensions(), ElementsAre(1, 2));
}

TEST(ModuleTest, SortRestoresOperandsFirst) {
  Built b = Build();
  b.entry->MoveBefore(b.root, b.x);
  ASSERT_TRUE(b.entry->SortTopologically());
  EXPECT_THAT(b.entry->InstructionVector(), ElementsAre(b.x, b.sum, b.root));
}

TEST(ShapeTest, TextAndSizes) {
  Shape s = Shape::Array(ElementType::kBF16, {4, 5});
  s.set_dynamic_dim(0, true);
  s.set_layout(Layout{{0, 1}, nullptr});
  EXPECT_EQ(s.ToString(true), "bf16[<=4,5]{0,1}");
  EXPECT_EQ(s.ByteSize(), 40);
  EXPECT_THAT(ElementStrides(s), ElementsAre(1, 4));
  EXPECT_EQ(Shape::Array(ElementType::kS4, {5}).ByteSize(), 3);
  EXPECT_EQ(
      Shape::Array(ElementType::kF32, {0, int64_t{1} << 62, 9}).ElementCount(),
      0);
}

TEST(LiteralTest, CopiesShareUntilWritten) {
  Literal a = FullLiteral(Shape::Array(ElementType::kF32, {3}), 2);
  Literal b = a;
  EXPECT_EQ(a.bytes(), b.bytes());
  b.mutable_data<float>()[1] = 7;
  EXPECT_EQ(a.data<float>()[1], 2);
  EXPECT_TRUE(IsSplat(a));
  EXPECT_FALSE(IsSplat(b));
}

TEST(LiteralTest, IntegersSaturate) {
  Literal a = Literal::Zeros(Shape::Array(ElementType::kS8, {2}));
  SetDouble(&a, 0, 1000);
  SetDouble(&a, 1, -1000);
  EXPECT_EQ(GetInt(a, 0), 127);
  EXPECT_EQ(GetInt(a, 1), -128);
}

}  // namespace
}  // namespace ridge
