// What tests of the parser share.
#ifndef RIDGE_HLO_TEXT_PARSER_TEST_UTIL_H_
#define RIDGE_HLO_TEXT_PARSER_TEST_UTIL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/text/parser.h"

namespace ridge {

inline std::unique_ptr<Module> Parse(absl::string_view text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? *std::move(module) : nullptr;
}

inline std::vector<Diagnostic> Errors(absl::string_view text) {
  std::vector<Diagnostic> errors;
  ParseOptions options;
  options.diagnostics = &errors;
  EXPECT_FALSE(ParseModule(text, options).ok()) << text;
  return errors;
}

// The first error of a text that must not parse.
inline Diagnostic Error(absl::string_view text) {
  std::vector<Diagnostic> errors = Errors(text);
  return errors.empty() ? Diagnostic() : errors[0];
}

// A module around one instruction, whose operand is x.
inline std::string Around(absl::string_view instruction,
                          absl::string_view x = "f32[2,3]") {
  return absl::StrCat("ENTRY e {\n  x = ", x,
                      " parameter(0)\n  ROOT r = ", instruction, "\n}\n");
}

inline Instruction* Root(const std::unique_ptr<Module>& module) {
  return module->entry()->root();
}

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_PARSER_TEST_UTIL_H_
