// hlo --check: does a file parse, does it verify?
#ifndef RIDGE_TOOLS_HLO_TOOL_CHECK_H_
#define RIDGE_TOOLS_HLO_TOOL_CHECK_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "hlo/text/diagnostic.h"

namespace ridge {

struct CheckReport {
  std::string file;
  bool found = true;  // false where it cannot be opened
  bool parses = false;
  bool verifies = false;  // false where it does not parse
  std::vector<Diagnostic> errors;
  int64_t instructions = 0;
  double parse_us = 0;

  bool ok() const { return parses && verifies; }
};

// Reads the file (text, several modules in one text, or protobuf) and checks
// it. A file that cannot be opened is a report with an error, too.
CheckReport CheckFile(const std::string& path);

// {"file", "parse": "accept" | "reject", "verify": "ok" | "fail",
//  "errors": [{"line", "column", "rule", "message"}], "instructions",
//  "parse_us"}. "verify" is "fail" where "parse" is "reject".
nlohmann::json CheckJson(const CheckReport& report);
// One line, then the errors with their source lines.
std::string CheckText(const CheckReport& report);

}  // namespace ridge

#endif  // RIDGE_TOOLS_HLO_TOOL_CHECK_H_
