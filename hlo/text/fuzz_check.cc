#include "hlo/text/fuzz_check.h"

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/ir/equal.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "hlo/verify/verify.h"

namespace ridge {

std::string TextProblem(absl::string_view text) {
  using Form = PrintOptions::Form;
  std::vector<Diagnostic> errors;
  ParseOptions options;
  options.diagnostics = &errors;
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text, options);
  if (!module.ok()) {
    if (errors.empty()) return "rejected without a message";
    for (const Diagnostic& d : errors) {
      if (d.message.empty() || d.rule.empty()) return "a message is empty";
    }
    return "";
  }
  // Whatever it says; it must say it.
  Verify(**module);
  for (Form form : {Form::kLong, Form::kShort, Form::kCanonical}) {
    PrintOptions print;
    print.form = form;
    std::string printed = Print(**module, print);
    absl::StatusOr<std::unique_ptr<Module>> again = ParseModule(printed);
    if (!again.ok()) {
      return absl::StrCat("what was printed is rejected: ",
                          again.status().message(), "\n", printed);
    }
    EqualOptions equal;
    equal.metadata = form != Form::kCanonical;
    std::string difference;
    if (!StructurallyEqual(**module, **again, &difference, equal)) {
      return absl::StrCat("not equal after printing: ", difference, "\n",
                          printed);
    }
    if (Print(**again, print) != printed) {
      return absl::StrCat("prints differently the second time:\n", printed);
    }
  }
  return "";
}

}  // namespace ridge
