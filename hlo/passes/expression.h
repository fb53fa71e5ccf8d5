// A module's result as one expression, for tests: parameters as p0, p1,
// scalar constants as their values, everything else as
// `shape opcode{dimensions}(operands)`.
#ifndef RIDGE_HLO_PASSES_EXPRESSION_H_
#define RIDGE_HLO_PASSES_EXPRESSION_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/ir/module.h"

namespace ridge {

inline std::string Expression(const Instruction* i) {
  if (i->opcode() == Opcode::kParameter) {
    return absl::StrCat("p", i->parameter_number());
  }
  if (i->opcode() == Opcode::kConstant && i->shape().IsScalar()) {
    return absl::StrCat(GetDouble(i->literal(), 0));
  }
  std::string text =
      absl::StrCat(i->shape().IsArray() ? i->shape().ToString() + " " : "",
                   Name(i->opcode()));
  if (!i->dimensions().empty()) {
    absl::StrAppend(&text, "{", absl::StrJoin(i->dimensions(), ","), "}");
  }
  if (i->opcode() == Opcode::kConstant) return text;
  return absl::StrCat(text, "(",
                      absl::StrJoin(i->operands(), ", ",
                                    [](std::string* out, const Instruction* o) {
                                      absl::StrAppend(out, Expression(o));
                                    }),
                      ")");
}

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_EXPRESSION_H_
