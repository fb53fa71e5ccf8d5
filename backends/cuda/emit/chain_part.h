// A link of a chain as text: its kernels' functions, for a block among others.
#ifndef RIDGE_BACKENDS_CUDA_EMIT_CHAIN_PART_H_
#define RIDGE_BACKENDS_CUDA_EMIT_CHAIN_PART_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/cuda/emit/emit.h"

namespace ridge::cuda {

// What every kernel's text starts with.
inline constexpr absl::string_view kKernelHead = "extern \"C\" __global__ void";

// A launch's function, its parameters in the order in which its text uses
// them and under names of their own.
struct PartFunction {
  std::string name;
  std::string types;       // of the parameters, in the new order
  std::string body;        // from the end of the parameters on
  std::vector<int> order;  // parameter k was number order[k]
};

// A kernel's text as functions of a block. Kernels whose texts differ in names
// alone share them: code that runs once comes from memory, at a wait for each
// 128 bytes.
struct Part {
  std::string space;                    // the namespace that they are in
  std::vector<PartFunction> functions;  // in the order of the text
  bool has_shared = false;
  int uses = 0;

  const PartFunction& Find(absl::string_view name) const {
    for (const PartFunction& f : functions) {
      if (f.name == name) return f;
    }
    return functions[0];
  }
};

// A kernel's functions; and their text, which is the same for kernels that can
// share it: functions f1, f2, ... behind the macro RDG_PART, which the chain
// defines. They take their place in their grid as their first parameters.
struct PartText {
  Part part;
  std::string key;
};
absl::StatusOr<PartText> PartTextOf(const EmittedKernel& kernel);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_EMIT_CHAIN_PART_H_
