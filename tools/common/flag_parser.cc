#include "tools/common/flag_parser.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace ridge {
namespace {

using Flag = gflags::CommandLineFlagInfo;
using FlagMap = std::map<std::string, Flag>;

// How many characters must be added, dropped or changed to get from a to b.
int EditDistance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

absl::Status UnknownFlag(const std::string& name, const FlagMap& flags) {
  // Two slips at most: anything further is another word.
  int best_distance = 3;
  std::string best;
  for (const auto& [known, flag] : flags) {
    const int distance = EditDistance(name, known);
    if (distance < best_distance) {
      best_distance = distance;
      best = known;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown flag --", name,
      best.empty() ? "" : absl::StrCat("; did you mean --", best, "?")));
}

// The kind of value that a type takes, for a message.
std::string KindOf(const std::string& type) {
  if (type == "bool") return "true or false";
  if (type == "double") return "a number";
  if (type == "string") return "a text";
  return absl::StartsWith(type, "u") ? "a whole number from 0"
                                     : "a whole number";
}

absl::Status SetFlag(const Flag& flag, const std::string& value) {
  if (!gflags::SetCommandLineOption(flag.name.c_str(), value.c_str()).empty()) {
    return absl::OkStatus();
  }
  // A text is refused by a validator alone: then what the flag is for tells
  // more than its type.
  const std::string wanted =
      flag.type == "string" || flag.has_validator_fn
          ? std::string(absl::StripSuffix(flag.description, "."))
          : absl::StrCat("needs ", KindOf(flag.type));
  return absl::InvalidArgumentError(
      absl::StrCat("bad value '", value, "' for --", flag.name, ": ", wanted));
}

}  // namespace

std::vector<Flag> RidgeFlags() {
  std::vector<Flag> all;
  gflags::GetAllFlags(&all);
  std::vector<Flag> result;
  for (Flag& flag : all) {
    if (!absl::StrContains(flag.filename, "src/gflags")) {
      result.push_back(std::move(flag));
    }
  }
  std::sort(result.begin(), result.end(),
            [](const Flag& a, const Flag& b) { return a.name < b.name; });
  return result;
}

absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<std::string>& arguments) {
  FlagMap flags;
  for (Flag& flag : RidgeFlags()) {
    flags.emplace(flag.name, std::move(flag));
  }

  CommandLine result;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      result.args.insert(result.args.end(), arguments.begin() + i + 1,
                         arguments.end());
      break;
    }
    if (argument.empty() || argument[0] != '-' || argument == "-") {
      result.args.push_back(argument);
      continue;
    }
    const std::string text = argument.substr(argument[1] == '-' ? 2 : 1);
    const size_t equals = text.find('=');
    const bool has_value = equals != std::string::npos;
    const std::string name =
        absl::StrReplaceAll(text.substr(0, equals), {{"-", "_"}});
    std::string value = has_value ? text.substr(equals + 1) : "";

    if (!has_value && (name == "help" || name == "h")) {
      result.help = true;
      continue;
    }
    auto flag = flags.find(name);
    if (flag == flags.end() && !has_value && absl::StartsWith(name, "no")) {
      flag = flags.find(name.substr(2));
      if (flag == flags.end() || flag->second.type != "bool") {
        return UnknownFlag(name, flags);
      }
      gflags::SetCommandLineOption(flag->first.c_str(), "false");
      continue;
    }
    if (flag == flags.end()) return UnknownFlag(name, flags);
    if (!has_value) {
      if (flag->second.type == "bool") {
        value = "true";
      } else if (i + 1 < arguments.size()) {
        value = arguments[++i];
      } else {
        return absl::InvalidArgumentError(
            absl::StrCat("flag --", name, " needs a value"));
      }
    }
    absl::Status status = SetFlag(flag->second, value);
    if (!status.ok()) return status;
  }
  return result;
}

}  // namespace ridge
