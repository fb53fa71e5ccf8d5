// For tests of the evaluator: run a module given as text.
#ifndef RIDGE_HLO_EVALUATOR_TESTING_H_
#define RIDGE_HLO_EVALUATOR_TESTING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/text/parser.h"

namespace ridge {

// The result of the text's entry computation, which takes no parameters
// unless `arguments` are given. Every leaf's elements as doubles.
inline absl::StatusOr<Literal> RunText(absl::string_view text,
                                       std::vector<Literal> arguments = {},
                                       const EvalOptions& options = {}) {
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ParseModule(text));
  return Evaluate(*module, arguments, options);
}

inline absl::StatusOr<std::vector<double>> Values(
    absl::string_view text, std::vector<Literal> arguments = {},
    const EvalOptions& options = {}) {
  RIDGE_ASSIGN_OR_RETURN(Literal result,
                         RunText(text, std::move(arguments), options));
  std::vector<double> values;
  std::vector<const Literal*> stack = {&result};
  while (!stack.empty()) {
    const Literal* l = stack.back();
    stack.pop_back();
    if (l->shape().IsTuple()) {
      for (size_t k = l->elements().size(); k > 0; --k) {
        stack.push_back(&l->elements()[k - 1]);
      }
      continue;
    }
    const bool complex = IsComplex(l->shape().type());
    for (int64_t i = 0; i < l->shape().ElementCount(); ++i) {
      values.push_back(GetDouble(*l, i));
      if (!complex) continue;
      values.push_back(l->shape().type() == ElementType::kC64
                           ? l->data<float>()[2 * i + 1]
                           : l->data<double>()[2 * i + 1]);
    }
  }
  return values;
}

}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_TESTING_H_
