#include "hlo/evaluator/golden_exceptions.h"

#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

const std::vector<GoldenException>& Table() {
  static const auto& kTable = *new std::vector<GoldenException>{};
  return kTable;
}

}  // namespace

absl::Span<const GoldenException> GoldenExceptions() { return Table(); }

const GoldenException* FindGoldenException(absl::string_view module) {
  for (const GoldenException& e : Table()) {
    if (e.module == module) return &e;
  }
  return nullptr;
}

absl::Status CheckGoldenException(const GoldenException& exception,
                                  const Module& module,
                                  absl::Span<const Literal> arguments,
                                  const Literal& stored,
                                  const Comparison& comparison) {
  if (comparison.ok) {
    return absl::FailedPreconditionError(
        "is within the bound: it needs no exception");
  }
  switch (exception.reason) {
    case GoldenReason::kNarrowSums: {
      BoundOptions options;
      options.narrow_sums_in_f32 = false;
      RIDGE_ASSIGN_OR_RETURN(
          Comparison again,
          CompareWithEvaluator(module, arguments, stored, options));
      if (again.ok) return absl::OkStatus();
      return absl::InternalError(again.ToString());
    }
  }
  return absl::InternalError("no such reason");
}

}  // namespace ridge
