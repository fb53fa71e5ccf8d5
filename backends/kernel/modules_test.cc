// Every group that the planner forms from real modules: its kernel answers as
// the evaluator does.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "backends/kernel/interpreter.h"
#include "backends/kernel/kernel.h"
#include "backends/kernel/testing.h"
#include "fusion/strategies.h"
#include "gtest/gtest.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/compare.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/evaluator/inputs.h"
#include "hlo/passes/pipeline.h"
#include "hlo/text/parser.h"

namespace ridge {
namespace {

// Interpreting one element of one node takes about 0.1 us.
constexpr int64_t kMostWork = 30'000'000;

// Rounds of a module's loops; some never end.
constexpr int64_t kMostSteps = 10'000;

// Says that its indices are unique; those of random arguments are not.
constexpr char kFalseClaim[] = "AutoShardingTest.ScatterTest2D";

// What went on in one module.
struct Tally {
  int checked = 0;
  int too_large = 0;
  int other = 0;  // dots and opaque groups
  std::vector<std::string> refused;
  std::vector<std::string> wrong;
  std::vector<std::string> unplanned;
};

int64_t Work(const Kernel& kernel) {
  int64_t work = 0;
  for (const Node& n : kernel.nodes) {
    work += PointCount(kernel, n.vars | n.reduced);
  }
  return work;
}

// The group as an entry computation of `module` (a clone of the planned one).
absl::Status SetEntryToGroup(const Group& group, Module* module) {
  absl::flat_hash_map<std::string, const Instruction*> by_name;
  for (const Computation* c : module->computations()) {
    if (c->name() != group.members[0]->parent()->name()) continue;
    for (const Instruction* i : c->instructions()) {
      by_name[std::string(i->name())] = i;
    }
  }
  Computation* entry = module->AddComputation("group");
  absl::flat_hash_map<const Instruction*, Instruction*> copies;
  int64_t number = 0;
  for (const Instruction* input : GroupInputs(group)) {
    copies[input] = entry->AddParameter(number++, input->shape());
  }
  for (const Instruction* member : group.members) {
    std::vector<Instruction*> operands;
    for (const Instruction* o : member->operands()) {
      operands.push_back(copies.at(o));
    }
    const Instruction* like = by_name.at(std::string(member->name()));
    copies[member] = entry->AddLike(*like, operands);
  }
  std::vector<Instruction*> roots;
  std::vector<Shape> shapes;
  for (const Instruction* root : group.roots) {
    roots.push_back(copies.at(root));
    shapes.push_back(root->shape());
  }
  entry->set_root(roots.size() == 1 ? roots[0]
                                    : entry->Add(Opcode::kTuple,
                                                 Shape::Tuple(shapes), roots));
  module->set_entry(entry);
  return absl::OkStatus();
}

using Values = absl::flat_hash_map<const Instruction*, Literal>;

// The value of `i`: as computed where it is known, else at random.
Literal ValueOf(const Instruction& i, const Values& values) {
  auto it = values.find(&i);
  if (it != values.end()) return it->second;
  if (i.opcode() == Opcode::kConstant) return i.literal();
  return RandomLiteral(i.shape(), i.id());
}

absl::Status CheckGroup(const Module& module, const Group& group,
                        const Values& values, Tally* tally) {
  if (group.pattern == GroupPattern::kGemm ||
      group.pattern == GroupPattern::kOpaque) {
    ++tally->other;
    return absl::OkStatus();
  }
  absl::StatusOr<Kernel> kernel = BuildKernel(group);
  if (!kernel.ok()) {
    tally->refused.push_back(absl::StrCat(group.name, " (",
                                          PatternName(group.pattern),
                                          "): ", kernel.status().ToString()));
    return absl::OkStatus();
  }
  if (Work(*kernel) > kMostWork) {
    ++tally->too_large;
    return absl::OkStatus();
  }
  std::vector<Literal> arguments;
  for (const Instruction* input : GroupInputs(group)) {
    arguments.push_back(ValueOf(*input, values));
  }
  std::vector<Literal> leaves;
  for (const Literal& a : arguments) {
    if (a.shape().IsTuple()) {
      for (const Literal& e : a.elements()) leaves.push_back(e);
    } else {
      leaves.push_back(a);
    }
  }
  absl::StatusOr<std::vector<Literal>> outputs =
      InterpretKernel(*kernel, leaves);
  RIDGE_RETURN_IF_ERROR(Annotate(outputs.status(), ToString(*kernel)));
  std::vector<Literal> roots;
  size_t next = 0;
  for (const Instruction* root : group.roots) {
    if (!root->shape().IsTuple()) {
      roots.push_back((*outputs)[next++]);
      continue;
    }
    std::vector<Literal> parts;
    for (size_t p = 0; p < root->shape().tuple_shapes().size(); ++p) {
      parts.push_back((*outputs)[next++]);
    }
    roots.push_back(Literal::Tuple(parts));
  }
  std::unique_ptr<Module> alone = module.Clone();
  RIDGE_RETURN_IF_ERROR(SetEntryToGroup(group, alone.get()));
  Literal got = roots.size() == 1 ? roots[0] : Literal::Tuple(roots);
  RIDGE_ASSIGN_OR_RETURN(Comparison comparison,
                         CompareWithEvaluator(*alone, arguments, got));
  ++tally->checked;
  if (!comparison.ok) {
    tally->wrong.push_back(
        absl::StrCat(comparison.ToString(), "\n", ToString(*kernel)));
  }
  return absl::OkStatus();
}

// Values of the entry's instructions on random arguments.
absl::StatusOr<Values> EntryValues(const Module& module) {
  RIDGE_ASSIGN_OR_RETURN(std::vector<Literal> arguments, MakeInputs(module));
  Values values;
  for (const Instruction* i : module.entry()->instructions()) {
    if (i->opcode() == Opcode::kParameter) {
      values[i] = arguments[i->parameter_number()];
      continue;
    }
    std::vector<Literal> operands;
    for (const Instruction* o : i->operands()) operands.push_back(values[o]);
    EvalOptions options;
    options.max_steps = kMostSteps;
    RIDGE_ASSIGN_OR_RETURN(values[i],
                           EvaluateInstruction(*i, operands, options));
  }
  return values;
}

absl::StatusOr<Tally> CheckModule(const std::string& path,
                                  absl::string_view strategy) {
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ReadModule(path));
  RIDGE_RETURN_IF_ERROR(Canonicalize(module.get()));
  Tally tally;
  absl::StatusOr<Plan> planned = MakePlan(*module, strategy);
  if (!planned.ok()) {
    // No groups to check; whether there should be is for the planner's tests.
    tally.unplanned.push_back(planned.status().ToString());
    return tally;
  }
  const Plan plan = *std::move(planned);
  absl::StatusOr<Values> entry = EntryValues(*module);
  if (absl::IsResourceExhausted(entry.status())) {
    tally.unplanned.push_back(entry.status().ToString());
    return tally;
  }
  RIDGE_RETURN_IF_ERROR(entry.status());
  const Values& values = *entry;
  for (const ComputationPlan& c : plan.computations) {
    for (const Group& group : c.groups) {
      RIDGE_RETURN_IF_ERROR(
          Annotate(CheckGroup(*module, group, values, &tally), group.name));
    }
  }
  return tally;
}

// The modules of a folder; of "golden" those that its values belong to.
std::vector<std::string> ModulesIn(const std::string& shared,
                                   const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(shared) / "hlo";
  std::vector<std::string> paths;
  for (const auto& file : fs::directory_iterator(root / folder)) {
    const fs::path& path = file.path();
    if (path.extension() == ".hlo") paths.push_back(path);
    if (folder != "golden" || path.extension() != ".safetensors") continue;
    paths.push_back(root / "corpus" / "modules" /
                    absl::StrCat(path.stem().string(), ".hlo"));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// A folder of the shared modules, and a strategy.
using Param = std::tuple<const char*, const char*>;
class ModulesTest : public ::testing::TestWithParam<Param> {};

TEST_P(ModulesTest, EveryGroupAnswersAsTheEvaluator) {
  const char* shared = std::getenv("RIDGE_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "RIDGE_SHARED is not set";
  const auto [folder_name, strategy] = GetParam();
  const std::vector<std::string> paths = ModulesIn(shared, folder_name);
  const char* only = std::getenv("RIDGE_MODULE");
  Tally all;
  size_t refused = 0;
  for (const std::string& path : paths) {
    if (only != nullptr && path.find(only) == std::string::npos) continue;
    if (path.find(kFalseClaim) != std::string::npos) continue;
    absl::StatusOr<Tally> tally = CheckModule(path, strategy);
    if (!tally.ok()) {
      ADD_FAILURE() << path << ": " << tally.status();
      continue;
    }
    for (const std::string& w : tally->wrong)
      ADD_FAILURE() << path << "\n" << w;
    // Of the many modules of XLA's tests a few have groups that the evaluator
    // runs.
    refused += tally->refused.size();
    for (const std::string& r : tally->refused) {
      std::cout << path << ": no kernel: " << r << "\n";
    }
    for (const std::string& u : tally->unplanned) {
      std::cout << path << ": no plan: " << u << "\n";
    }
    all.checked += tally->checked;
    all.too_large += tally->too_large;
    all.other += tally->other;
  }
  std::cout << folder_name << ", " << strategy << ": " << all.checked
            << " kernels checked, " << all.too_large
            << " too large to interpret, " << all.other
            << " groups of other patterns\n";
  EXPECT_GT(all.checked, 0);
  EXPECT_LE(refused, folder_name == std::string("golden") ? 2 : 0);
}

INSTANTIATE_TEST_SUITE_P(
    Folders, ModulesTest,
    ::testing::Values(Param("small", "greedy"), Param("small", "none"),
                      Param("zoo", "greedy"), Param("zoo", "none"),
                      Param("golden", "greedy")),
    [](const auto& i) {
      return absl::StrCat(std::get<0>(i.param), "_", std::get<1>(i.param));
    });

}  // namespace
}  // namespace ridge
