// hlo: reads, checks, converts, cuts and compares modules.
#include <gflags/gflags.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status_macros.h"
#include "hlo/passes/registry.h"
#include "hlo/proto/module_proto.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tools/common/main.h"
#include "tools/common/output.h"
#include "tools/hlo_tool/check.h"
#include "tools/hlo_tool/diff.h"
#include "tools/hlo_tool/dot_graph.h"
#include "tools/hlo_tool/extract.h"
#include "tools/hlo_tool/json_module.h"
#include "tools/hlo_tool/load.h"
#include "tools/hlo_tool/stats.h"

DEFINE_bool(check, false,
            "Parse and verify each file; exit code 2 if any fails, 1 if any "
            "cannot be opened. With --format=json one line a file.");
DEFINE_string(to, "",
              "Convert: text, short, canonical, proto (by the ending of "
              "--output text or binary), json or dot. Text is what is "
              "printed when nothing else is asked for.");
DEFINE_bool(stats, false, "Print what the module is made of.");
DEFINE_string(extract, "",
              "Cut out an instruction with all it needs, a fusion, or a "
              "computation, as a module of its own. COMPUTATION/NAME chooses "
              "among instructions of one name.");
DEFINE_bool(alone, false,
            "With --extract: the instruction by itself, its operands as "
            "parameters (fusions are always cut out so).");
DEFINE_string(diff, "",
              "Compare with this file, names and metadata ignored; exit code "
              "2 if they differ.");
DEFINE_string(passes, "", "Run passes first, such as cse,dce or canonicalize.");
DEFINE_string(output, "", "Write to this file instead of stdout.");

namespace ridge {
namespace {

using Modules = std::vector<std::unique_ptr<Module>>;

absl::StatusOr<ToolOutcome> Check(const std::vector<std::string>& files) {
  bool json = OutputFormatFromFlag() == OutputFormat::kJson;
  std::string out;
  bool all_ok = true;
  std::string not_found;
  for (const std::string& file : files) {
    CheckReport report = CheckFile(file);
    all_ok = all_ok && report.ok();
    if (!report.found && not_found.empty()) {
      not_found = report.errors[0].message;
    }
    // Names and messages may quote bytes that are no UTF-8.
    out += json
               ? CheckJson(report).dump(
                     -1, ' ', false, nlohmann::json::error_handler_t::replace) +
                     "\n"
               : CheckText(report);
  }
  RIDGE_RETURN_IF_ERROR(WriteOutput(FLAGS_output, out));
  if (!not_found.empty()) return absl::NotFoundError(not_found);
  return all_ok ? ToolOutcome::kDone : ToolOutcome::kCheckFailed;
}

absl::StatusOr<Modules> Load(const std::string& file) {
  RIDGE_ASSIGN_OR_RETURN(Modules modules, LoadModules(file));
  if (!FLAGS_passes.empty()) {
    RIDGE_ASSIGN_OR_RETURN(std::vector<const Pass*> passes,
                           ParsePassList(FLAGS_passes));
    for (std::unique_ptr<Module>& module : modules) {
      for (const Pass* pass : passes) {
        RIDGE_RETURN_IF_ERROR(pass->Run(module.get()).status());
      }
    }
  }
  if (FLAGS_extract.empty()) return modules;
  // The first module that has the name.
  absl::Status failure;
  for (const std::unique_ptr<Module>& module : modules) {
    absl::StatusOr<std::unique_ptr<Module>> part =
        Extract(*module, FLAGS_extract, FLAGS_alone);
    if (!part.ok()) {
      failure = part.status();
      continue;
    }
    Modules result;
    result.push_back(*std::move(part));
    return result;
  }
  return failure;
}

absl::StatusOr<ToolOutcome> Diff(const std::string& file) {
  RIDGE_ASSIGN_OR_RETURN(Modules first, Load(file));
  RIDGE_ASSIGN_OR_RETURN(Modules second, LoadModules(FLAGS_diff));
  if (first.size() != second.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, " holds ", first.size(), " modules, ", FLAGS_diff,
                     " ", second.size()));
  }
  std::string out;
  bool equal = true;
  for (size_t i = 0; i < first.size(); ++i) {
    ModuleDiff diff = DiffModules(*first[i], *second[i]);
    equal = equal && diff.equal;
    out += OutputFormatFromFlag() == OutputFormat::kJson
               ? DiffJson(diff).dump(2) + "\n"
               : DiffText(diff);
  }
  RIDGE_RETURN_IF_ERROR(WriteOutput(FLAGS_output, out));
  return equal ? ToolOutcome::kDone : ToolOutcome::kCheckFailed;
}

absl::StatusOr<std::string> TextForm(const Module& module,
                                     PrintOptions::Form form) {
  PrintOptions options;
  options.form = form;
  return Print(module, options);
}

// By the ending of --output, text or binary.
absl::StatusOr<std::string> ProtoForm(const Module& module) {
  const bool text = absl::EndsWith(FLAGS_output, "txt") ||
                    absl::EndsWith(FLAGS_output, "txtpb");
  return text ? ModuleToProtoText(module) : ModuleToProto(module);
}

// What --to may say.
struct ConversionForm {
  absl::string_view name;
  // Whether modules of one file may follow each other.
  bool is_list;
  absl::StatusOr<std::string> (*convert)(const Module& module);
};
constexpr ConversionForm kForms[] = {
    {"text", true,
     [](const Module& m) { return TextForm(m, PrintOptions::Form::kLong); }},
    {"short", true,
     [](const Module& m) { return TextForm(m, PrintOptions::Form::kShort); }},
    {"canonical", true,
     [](const Module& m) {
       return TextForm(m, PrintOptions::Form::kCanonical);
     }},
    {"proto", false, ProtoForm},
    {"json", false,
     [](const Module& m) -> absl::StatusOr<std::string> {
       // Names may hold bytes that are no UTF-8.
       return ModuleJson(m).dump(2, ' ', false,
                                 nlohmann::json::error_handler_t::replace) +
              "\n";
     }},
    {"dot", false,
     [](const Module& m) -> absl::StatusOr<std::string> {
       return DotGraph(m);
     }},
};

absl::StatusOr<const ConversionForm*> FindForm(absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const ConversionForm& form : kForms) {
    if (form.name == name) return &form;
    names.push_back(form.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "bad value '", name, "' for --to: ", absl::StrJoin(names, ", "),
      " are possible"));
}

absl::StatusOr<ToolOutcome> Show(const std::vector<std::string>& files) {
  RIDGE_ASSIGN_OR_RETURN(const ConversionForm* form,
                         FindForm(FLAGS_to.empty() ? "text" : FLAGS_to));
  std::string out;
  int64_t shown = 0;
  for (const std::string& file : files) {
    RIDGE_ASSIGN_OR_RETURN(Modules modules, Load(file));
    for (const std::unique_ptr<Module>& module : modules) {
      if (FLAGS_stats) {
        ModuleStats stats = ComputeStats(*module);
        out += OutputFormatFromFlag() == OutputFormat::kJson
                   ? StatsJson(stats).dump() + "\n"
                   : StatsText(stats);
        continue;
      }
      RIDGE_ASSIGN_OR_RETURN(std::string text, form->convert(*module));
      if (shown++ > 0) {
        if (!form->is_list) {
          return absl::InvalidArgumentError(absl::StrCat(
              "--to=", FLAGS_to, " writes one module; the input has more"));
        }
        absl::StrAppend(&out, kModuleSeparator, "\n");
      }
      out += text;
    }
  }
  RIDGE_RETURN_IF_ERROR(WriteOutput(FLAGS_output, out));
  return ToolOutcome::kDone;
}

absl::StatusOr<ToolOutcome> Run(const std::vector<std::string>& files) {
  int modes = (FLAGS_check ? 1 : 0) + (FLAGS_stats ? 1 : 0) +
              (FLAGS_diff.empty() ? 0 : 1) + (FLAGS_to.empty() ? 0 : 1);
  if (modes > 1) {
    return absl::InvalidArgumentError(
        "--check, --to, --stats and --diff exclude each other");
  }
  if (FLAGS_check && (!FLAGS_extract.empty() || !FLAGS_passes.empty())) {
    return absl::InvalidArgumentError(
        "--check judges files as they are; --extract and --passes do not go "
        "with it");
  }
  if (FLAGS_check) return Check(files);
  if (FLAGS_diff.empty()) return Show(files);
  if (files.size() != 1) {
    return absl::InvalidArgumentError("--diff compares one file with another");
  }
  return Diff(files[0]);
}

}  // namespace
}  // namespace ridge

int main(int argc, char** argv) {
  ridge::ToolInfo info;
  info.name = "hlo";
  info.summary =
      "Reads HLO modules (text, .pb, .pbtxt; - for standard input), checks "
      "them, converts them, cuts parts out and compares them.";
  info.arguments = "FILE...";
  info.examples = {
      "hlo --check dump.hlo",
      "hlo --check --format=json *.hlo",
      "hlo --to=short dump.hlo",
      "hlo --to=proto --output=dump.hlo.pb dump.hlo",
      "hlo --stats dump.hlo",
      "hlo --extract=fusion.7 --output=fusion.7.hlo dump.hlo",
      "hlo --diff=after.hlo before.hlo",
      "hlo --passes=canonicalize dump.hlo",
  };
  info.source_file = __FILE__;
  info.min_args = 1;
  return ridge::RunTool(argc, argv, info, ridge::Run);
}
