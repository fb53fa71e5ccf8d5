#include "tools/hlo_tool/check.h"

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/base/file.h"
#include "hlo/proto/module_proto.h"
#include "hlo/verify/verify.h"
#include "tools/hlo_tool/load.h"

namespace ridge {
namespace {

Diagnostic ToDiagnostic(const VerifyError& error) {
  Diagnostic d;
  d.line = error.where.line;
  d.column = error.where.column;
  d.rule = error.rule;
  d.message = error.instruction.empty()
                  ? error.message
                  : absl::StrCat("`", error.instruction, "`: ", error.message);
  return d;
}

// Errors of the verifier know their line; the text of it is in the file. A
// protobuf has no lines, and standard input is gone.
void ShowSourceLines(const std::string& path, std::vector<Diagnostic>* errors) {
  if (errors->empty() || path == "-" || IsProtoFile(path)) return;
  const absl::StatusOr<std::string> text = ReadFile(ResolveUserPath(path));
  if (!text.ok()) return;
  const std::vector<absl::string_view> lines = absl::StrSplit(*text, '\n');
  for (Diagnostic& d : *errors) {
    if (d.line < 1 || d.line > static_cast<int64_t>(lines.size())) continue;
    ShowSourceLine(absl::StripSuffix(lines[d.line - 1], "\r"), &d);
  }
}

}  // namespace

CheckReport CheckFile(const std::string& path) {
  using Clock = std::chrono::steady_clock;
  CheckReport report;
  report.file = path;
  ParseOptions options;
  options.diagnostics = &report.errors;
  Clock::time_point start = Clock::now();
  absl::StatusOr<std::vector<std::unique_ptr<Module>>> modules =
      LoadModules(path, options);
  report.parse_us =
      std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  if (!modules.ok()) {
    if (report.errors.empty()) {
      Diagnostic d;
      d.rule = "file";
      d.message = std::string(modules.status().message());
      absl::string_view message = d.message;
      // The report names the file already.
      if (absl::ConsumePrefix(&message,
                              absl::StrCat(ResolveUserPath(path), ": "))) {
        d.message = std::string(message);
      }
      report.found = !absl::IsNotFound(modules.status()) &&
                     !absl::IsPermissionDenied(modules.status());
      report.errors.push_back(d);
    }
    return report;
  }
  report.parses = true;
  for (const std::unique_ptr<Module>& module : *modules) {
    report.instructions += module->instruction_count();
    for (const VerifyError& error : Verify(*module)) {
      report.errors.push_back(ToDiagnostic(error));
    }
  }
  report.verifies = report.errors.empty();
  ShowSourceLines(path, &report.errors);
  return report;
}

nlohmann::json CheckJson(const CheckReport& report) {
  nlohmann::json errors = nlohmann::json::array();
  for (const Diagnostic& d : report.errors) {
    errors.push_back({{"line", d.line},
                      {"column", d.column},
                      {"rule", d.rule},
                      {"message", d.message}});
  }
  return {{"file", report.file},
          {"parse", report.parses ? "accept" : "reject"},
          {"verify", report.verifies ? "ok" : "fail"},
          {"errors", errors},
          {"instructions", report.instructions},
          {"parse_us", report.parse_us}};
}

std::string CheckText(const CheckReport& report) {
  std::string out;
  if (report.ok()) {
    return absl::StrCat(report.file, ": ok, ", report.instructions,
                        " instructions, read in ",
                        absl::SixDigits(report.parse_us / 1e3), " ms\n");
  }
  absl::StrAppend(
      &out, ToString(report.errors, report.file), "\n", report.file, ": ",
      report.parses ? "parses, but does not verify: " : "does not parse: ",
      report.errors.size(),
      report.errors.size() == 1 ? " error\n" : " errors\n");
  return out;
}

}  // namespace ridge
