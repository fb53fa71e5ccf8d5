// Computations of scalars (reducers, comparators, map bodies) compiled to a
// list of block kernels over registers, run on many independent elements at a
// time with no allocation.
#ifndef RIDGE_HLO_EVALUATOR_SCALAR_PROGRAM_H_
#define RIDGE_HLO_EVALUATOR_SCALAR_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "hlo/evaluator/block.h"
#include "hlo/ir/module.h"

namespace ridge {

class ScalarProgram {
 public:
  // Null when the computation is not made of elementwise instructions on
  // scalars (calls, fusions and tuples of them included): then it has to be
  // interpreted. `f64`: float types are computed in double.
  static std::unique_ptr<ScalarProgram> Compile(const Computation& computation,
                                                bool f64);

  // Element types of the parameters and of the results (a tuple root gives
  // several), in the types evaluated in.
  absl::Span<const ElementType> parameters() const { return parameters_; }
  absl::Span<const ElementType> results() const { return results_; }

  // Registers of one thread.
  class Workspace {
   public:
    explicit Workspace(const ScalarProgram& program,
                       int64_t capacity = kBlockElements);

   private:
    friend class ScalarProgram;
    std::vector<uint8_t> storage_;
    std::vector<uint8_t*> registers_;
    std::vector<const void*> values_;
  };

  // in[k]: `n` lanes of parameter k. Afterwards out[k] points at the `n` lanes
  // of result k: valid until the next Run on this workspace, or the memory
  // in[] pointed to. n <= the workspace's capacity.
  void Run(Workspace* workspace, absl::Span<const void* const> in, int64_t n,
           absl::Span<const void*> out) const;

  // The reducer is `result[k] = op(parameter[k], parameter[k + half])`, each
  // result on its own, with an op of add, multiply, maximum, minimum, and, or,
  // xor (perhaps computed in a wider type): opcode of each result, else empty.
  absl::Span<const Opcode> simple_reducers() const { return simple_; }

  // The comparator is parameter[2k] < parameter[2k+1] (or >) for one k and
  // nothing else.
  struct SimpleCompare {
    int64_t operand = 0;
    ComparisonDirection direction = ComparisonDirection::kLt;
    bool total_order = false;
  };
  const std::optional<SimpleCompare>& simple_compare() const {
    return simple_compare_;
  }
  // Floating-point instructions, for error bounds.
  int64_t float_steps() const { return float_steps_; }

 private:
  friend class ScalarCompiler;
  struct Step {
    BlockFn fn;  // null: fill from `constant`
    RoundFn round;
    BlockParams params;
    int32_t in[3];
    int32_t out;
  };
  struct Register {
    Lane lane;
    int32_t parameter = -1;  // >= 0: the caller's memory
    bool is_constant = false;
    uint8_t constant[16];
  };
  std::vector<ElementType> parameters_;
  std::vector<ElementType> results_;
  std::vector<Register> registers_;
  std::vector<Step> steps_;
  std::vector<int32_t> outputs_;
  std::vector<Opcode> simple_;
  std::optional<SimpleCompare> simple_compare_;
  int64_t float_steps_ = 0;
};

}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_SCALAR_PROGRAM_H_
