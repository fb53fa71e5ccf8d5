// For tests of kernels: HLO text to a group, and a kernel's answer against the
// evaluator's.
#ifndef RIDGE_BACKENDS_KERNEL_TESTING_H_
#define RIDGE_BACKENDS_KERNEL_TESTING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/kernel/kernel.h"
#include "fusion/plan.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace ridge {

// The entry computation as one group: everything but parameters and a tuple
// root (whose elements then are the roots). Hero: the reduction with the
// largest operand, else the last member. `pattern` as given.
Group WholeEntry(const Module& module, GroupPattern pattern);

// One seeded literal an entry parameter: floats in [-2, 2] with a few zeros,
// integers in [-3, 12] (unsigned: [0, 12]), pred even odds.
std::vector<Literal> TestInputs(const Module& module, uint64_t seed);

// Inputs of the kernel's buffers among the entry's arguments and constants.
absl::StatusOr<std::vector<Literal>> KernelInputs(
    const Kernel& kernel, const std::vector<Literal>& arguments);

// Builds the kernel of WholeEntry, interprets it and compares with the
// evaluator. The kernel is left in *kernel where that is not null.
absl::Status CheckKernel(absl::string_view hlo, GroupPattern pattern,
                         Kernel* kernel = nullptr);

// Parses, and keeps the module alive for the life of the process.
absl::StatusOr<const Module*> KeepModule(absl::string_view hlo);

// The kernel of WholeEntry, of a kept module whose entry has these lines; they
// may reduce by `add` and `max` of f32.
absl::StatusOr<Kernel> BuildEntry(absl::string_view lines,
                                  GroupPattern pattern);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_TESTING_H_
