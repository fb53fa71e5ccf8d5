// Random programs and the corpus through every pass; a slice that fits CI.
// The whole is //hlo/testing:differential.
#include "hlo/testing/differential.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "hlo/passes/registry.h"
#include "hlo/testing/corpus.h"
#include "hlo/testing/random_program.h"
#include "hlo/testing/reducer.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"

namespace ridge {
namespace {

TEST(RandomProgramTest, SameSeedSameProgram) {
  for (uint64_t seed : {1, 2, 3}) {
    auto a = RandomProgram(seed, VariedOptions(seed));
    auto b = RandomProgram(seed, VariedOptions(seed));
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(Print(**a), Print(**b));
  }
  EXPECT_NE(Print(**RandomProgram(1)), Print(**RandomProgram(2)));
}

TEST(RandomProgramTest, EveryProgramIsValidAndCanBeEvaluated) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    auto m = RandomProgram(seed, VariedOptions(seed));
    ASSERT_TRUE(m.ok()) << m.status();
    auto c = DifferentialCase::Make(**m, {/*input_seed=*/seed});
    EXPECT_TRUE(c.ok()) << "seed " << seed << ": " << c.status();
  }
}

TEST(RandomProgramTest, SubsetHoldsOnlyFusibleOpcodes) {
  RandomProgramOptions options;
  options.subset = RandomProgramOptions::Subset::kFusible;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    auto m = RandomProgram(seed, options);
    ASSERT_TRUE(m.ok()) << m.status();
    for (const Instruction* i : (*m)->entry()->instructions()) {
      OpClass c = Info(i->opcode()).op_class;
      EXPECT_TRUE(c != OpClass::kControl && c != OpClass::kContraction &&
                  c != OpClass::kIndexed && c != OpClass::kRandom)
          << Name(i->opcode());
    }
  }
}

TEST(RandomProgramTest, CoversTheOpcodesOfOneDevice) {
  std::vector<Opcode> missing;
  const std::vector<Opcode> made = RandomProgramOpcodes();
  for (int k = 0; k < kOpcodeCount; ++k) {
    const Opcode opcode = static_cast<Opcode>(k);
    if (std::find(made.begin(), made.end(), opcode) == made.end()) {
      missing.push_back(opcode);
    }
  }
  EXPECT_THAT(
      missing,
      ::testing::UnorderedElementsAre(
          // Exchange data with a host program or with other devices.
          Opcode::kInfeed, Opcode::kOutfeed, Opcode::kSend, Opcode::kSendDone,
          Opcode::kRecv, Opcode::kRecvDone, Opcode::kRaggedAllToAll,
          // Their values hang on what ran before, which passes may change.
          Opcode::kRng, Opcode::kRngGetAndUpdateState));
}

// A pass that is wrong on purpose: every subtraction becomes an addition.
absl::StatusOr<bool> Break(Module* module, const PassOptions&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->instructions()) {
      if (i->opcode() != Opcode::kSubtract) continue;
      Instruction* sum =
          c->Add(Opcode::kAdd, i->shape(), i->operands(), "wrong", i);
      i->ReplaceAllUsesWith(sum);
      c->Remove(i);
      changed = true;
    }
  }
  return changed;
}

TEST(DifferentialTest, FindsAndReducesAWrongPass) {
  const Pass wrong("wrong", "for the test", Break);
  int found = 0;
  for (uint64_t seed = 0; seed < 60 && found < 3; ++seed) {
    auto m = RandomProgram(seed, VariedOptions(seed));
    ASSERT_TRUE(m.ok());
    auto fails = [&](const Module& candidate) {
      return CheckPass(candidate, wrong).code() == absl::StatusCode::kDataLoss;
    };
    if (!fails(**m)) continue;
    ++found;
    std::unique_ptr<Module> small = ReduceModule(**m, fails);
    EXPECT_TRUE(fails(*small));
    // Two operands and the subtraction, and what a splat takes.
    EXPECT_LE(small->instruction_count(), 6) << Print(*small);
  }
  EXPECT_EQ(found, 3);
}

TEST(DifferentialTest, RandomProgramsThroughEveryPass) {
  for (uint64_t seed = 1000; seed < 1250; ++seed) {
    auto m = RandomProgram(seed, VariedOptions(seed));
    ASSERT_TRUE(m.ok()) << m.status();
    auto c = DifferentialCase::Make(**m);
    ASSERT_TRUE(c.ok()) << c.status();
    for (const Pass& pass : AllPasses()) {
      absl::Status status = c->Check(pass);
      EXPECT_TRUE(status.ok()) << "seed " << seed << ": " << status << "\n"
                               << Print(**m);
    }
  }
}

// Bytes of every value of a module together; loops count once.
int64_t ValueBytes(const Module& module) {
  int64_t bytes = 0;
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      int64_t more = i->shape().ByteSize();
      if (__builtin_add_overflow(bytes, more, &bytes)) return INT64_MAX;
    }
  }
  return bytes;
}

TEST(DifferentialTest, CorpusThroughEveryPass) {
  const char* shared = std::getenv("RIDGE_SHARED");
  if (shared == nullptr || *shared == '\0') {
    GTEST_SKIP() << "RIDGE_SHARED does not name the folder of shared data";
  }
  auto corpus = RunnableCorpus(shared);
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  // Every 23rd module that is small: the differential tool takes them all.
  constexpr int64_t kSmall = int64_t{256} << 10;
  int64_t checked = 0;
  for (size_t k = 0; k < corpus->size() && checked < 40; k += 23) {
    const CorpusEntry& entry = (*corpus)[k];
    if (entry.instructions > 60) continue;
    auto m = ReadModule(entry.path);
    if (!m.ok()) continue;  // hlo/text's own tests hold it to account
    if (ValueBytes(**m) > kSmall) continue;
    auto c = DifferentialCase::Make(**m);
    if (!c.ok()) continue;  // as hlo/evaluator's do
    for (const Pass& pass : AllPasses()) {
      absl::Status status = c->Check(pass);
      EXPECT_TRUE(status.ok()) << entry.file << ": " << status;
    }
    ++checked;
  }
  EXPECT_GE(checked, 20);
}

}  // namespace
}  // namespace ridge
