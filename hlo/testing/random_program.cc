#include "hlo/testing/random_program.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"
#include "hlo/testing/random_builder.h"
#include "hlo/verify/verify.h"

namespace ridge {
namespace testing {

using Subset = RandomProgramOptions::Subset;

void DrawOperations(RandomBuilder& b, int count) {
  const absl::Span<const RandomOperation> tables[] = {
      ElementwiseOperations(), ShapeOperations(),       ReduceOperations(),
      IndexedOperations(),     ContractionOperations(), LinalgOperations(),
      ControlOperations(),     DeviceOperations()};
  bool fusible_only = b.options().subset == Subset::kFusible;
  std::vector<const RandomOperation*> operations;
  int total = 0;
  for (absl::Span<const RandomOperation> table : tables) {
    for (const RandomOperation& op : table) {
      if (fusible_only && !op.fusible) continue;
      operations.push_back(&op);
      total += op.weight;
    }
  }
  // Draws that find no operands do not count, up to a point.
  int attempts = 8 * count;
  while (count > 0 && attempts-- > 0) {
    int64_t draw = b.random().Below(total);
    for (const RandomOperation* op : operations) {
      draw -= op->weight;
      if (draw >= 0) continue;
      if (op->make(b)) --count;
      break;
    }
  }
}

}  // namespace testing

absl::StatusOr<std::unique_ptr<Module>> RandomProgram(
    uint64_t seed, const RandomProgramOptions& options) {
  auto module = std::make_unique<Module>(absl::StrCat("random_", seed));
  Computation* entry = module->AddComputation("main");
  module->set_entry(entry);
  testing::Random random(seed);
  testing::RandomBuilder b(entry, &random, options, /*depth=*/0);
  int64_t parameters = random.Between(1, options.max_parameters);
  for (int64_t k = 0; k < parameters; ++k) {
    Shape shape = b.RandomShape(b.RandomType());
    // Inputs are standard normal, or integers from 0 to 9.
    Instruction* p = entry->AddParameter(k, shape);
    testing::Value v{p, -6, 6};
    if (IsFloat(shape.type()) && Info(shape.type()).bits <= 8) {
      v = b.Clamped(v, -4, 4);
    }
    b.Push(v.i, v);
    if (v.i != p) continue;
    // Another parameter of the same shape, often.
    if (k + 1 < parameters && random.Chance(0.4)) {
      b.Push(entry->AddParameter(++k, shape), -6, 6);
    }
  }
  testing::DrawOperations(b, options.operations);
  // Outputs: everything that nothing else uses, so that all of the program
  // counts.
  std::vector<Instruction*> outputs;
  std::vector<Shape> shapes;
  for (const testing::Value& v : b.pool()) {
    if (v.i->use_count() > 0 && !random.Chance(0.03)) continue;
    outputs.push_back(v.i);
    shapes.push_back(v.shape());
  }
  if (outputs.size() == 1 && random.Chance(0.5)) {
    entry->set_root(outputs[0]);
  } else {
    entry->set_root(entry->Add(Opcode::kTuple, Shape::Tuple(shapes), outputs));
  }
  RIDGE_RETURN_IF_ERROR(
      Annotate(VerifyStatus(*module), absl::StrCat("random program ", seed)));
  return module;
}

RandomProgramOptions VariedOptions(uint64_t seed) {
  testing::Random random(seed ^ 0x5DEECE66Du);
  RandomProgramOptions options;
  switch (random.Below(6)) {
    case 0:  // short: what goes wrong is easy to see
      options.operations = 4;
      options.max_parameters = 2;
      break;
    case 1:  // deep
      options.operations = 40;
      options.max_parameters = 2;
      options.max_elements = 64;
      break;
    case 2:  // wide
      options.operations = 24;
      options.max_parameters = 8;
      break;
    case 3:
      options.types = {ElementType::kF32, ElementType::kPred,
                       ElementType::kS32};
      break;
    case 4:
      options.subset = RandomProgramOptions::Subset::kFusible;
      options.operations = 20;
      break;
    default:
      break;
  }
  return options;
}

std::vector<Opcode> RandomProgramOpcodes(RandomProgramOptions::Subset subset) {
  // By observation: what the first programs hold.
  std::vector<bool> seen(kOpcodeCount, false);
  RandomProgramOptions options;
  options.subset = subset;
  options.operations = 40;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    absl::StatusOr<std::unique_ptr<Module>> m = RandomProgram(seed, options);
    if (!m.ok()) continue;
    for (const Computation* c : (*m)->computations()) {
      for (const Instruction* i : c->instructions()) {
        seen[static_cast<int>(i->opcode())] = true;
      }
    }
  }
  std::vector<Opcode> result;
  for (int k = 0; k < kOpcodeCount; ++k) {
    if (seen[k]) result.push_back(static_cast<Opcode>(k));
  }
  return result;
}

}  // namespace ridge
