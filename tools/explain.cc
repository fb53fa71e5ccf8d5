// explain: why two instructions share a kernel, or not.
#include "fusion/explain.h"

#include <gflags/gflags.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cost_model/device.h"
#include "cost_model/group_pricer.h"
#include "hlo/base/status_macros.h"
#include "tools/common/load.h"
#include "tools/common/main.h"
#include "tools/common/numerics_flag.h"
#include "tools/common/output.h"

DEFINE_string(device, "h200",
              "What to price for: h200, h100, a100, rtx4070, cpu, or the file "
              "of a device description.");
DEFINE_string(strategy, "greedy", "How to plan: none or greedy.");
DEFINE_string(plan, "", "A plan file instead of the strategy's.");

namespace ridge {
namespace {

nlohmann::ordered_json ToJson(const GroupPrice& price) {
  nlohmann::ordered_json json;
  json["us"] = price.us;
  json["bound"] = price.bound;
  for (const auto& [name, us] : price.terms_us) json["terms_us"][name] = us;
  return json;
}

nlohmann::ordered_json ToJson(const DecisionRecord& r) {
  nlohmann::ordered_json json;
  json["step"] = PlanningStepName(r.step);
  json["producer"] = std::string(r.producer->name());
  json["consumer"] = std::string(r.consumer->name());
  json["rule"] = std::string(RuleId(r.decision.rule));
  json["value"] = r.decision.value;
  json["limit"] = r.decision.limit;
  if (r.at != nullptr) json["at"] = std::string(r.at->name());
  if (r.us_apart > 0) {
    json["us_apart"] = r.us_apart;
    json["us_fused"] = r.us_fused;
  }
  return json;
}

nlohmann::ordered_json ToJson(const Explanation& e) {
  nlohmann::ordered_json json;
  json["a"] = std::string(e.a->name());
  json["b"] = std::string(e.b->name());
  json["shared"] = e.shared == nullptr ? "" : e.shared->name;
  json["rule"] = std::string(RuleId(e.decision.rule));
  json["value"] = e.decision.value;
  json["limit"] = e.decision.limit;
  if (e.at != nullptr) json["at"] = std::string(e.at->name());
  if (e.price_a.has_value()) json["first"] = ToJson(*e.price_a);
  if (e.price_b.has_value()) json["second"] = ToJson(*e.price_b);
  if (e.price_fused.has_value()) json["fused"] = ToJson(*e.price_fused);
  json["flip"] = e.flip;
  json["history"] = nlohmann::ordered_json::array();
  for (const DecisionRecord& r : e.history)
    json["history"].push_back(ToJson(r));
  return json;
}

absl::StatusOr<ToolOutcome> Run(const std::vector<std::string>& args) {
  if (args.size() == 2) {
    return absl::InvalidArgumentError(
        "one instruction given: two are compared, none lists all decisions");
  }
  const bool as_json = OutputFormatFromFlag() == OutputFormat::kJson;
  RIDGE_ASSIGN_OR_RETURN(DeviceDescription device, LoadDevice(FLAGS_device));
  RIDGE_ASSIGN_OR_RETURN(LoadedModule module, LoadModule(args[0]));
  DecisionLog log;
  PlanRequest planning;
  planning.strategy = FLAGS_strategy;
  planning.file = FLAGS_plan;
  planning.device = &device;
  planning.numerics = NumericsFromFlag();
  planning.log = &log;
  RIDGE_ASSIGN_OR_RETURN(Plan plan, LoadPlan(*module.canonical, planning));
  std::string text;
  if (args.size() == 1) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const DecisionRecord& r : log) {
      if (as_json) {
        json.push_back(ToJson(r));
      } else {
        absl::StrAppend(&text, ToString(r), "\n");
      }
    }
    if (as_json) text = JsonText(json);
  } else {
    CostModelPricer pricer(device);
    FusionLimits limits;
    limits.numerics = planning.numerics;
    RIDGE_ASSIGN_OR_RETURN(Explanation e,
                           Explain(*module.canonical, plan, args[1], args[2],
                                   &pricer, limits, &log));
    text = as_json ? JsonText(ToJson(e)) : e.ToString();
  }
  RIDGE_RETURN_IF_ERROR(WriteOutput("", text));
  return ToolOutcome::kDone;
}

}  // namespace
}  // namespace ridge

int main(int argc, char** argv) {
  ridge::ToolInfo info;
  info.name = "explain";
  info.summary =
      "Says why two instructions share a kernel or not: the rule with its "
      "value and limit, the prices term by term, and what would flip the "
      "decision. With no instructions, lists every decision of the planner.";
  info.arguments = "MODULE.hlo [A B]";
  info.examples = {
      "explain tests/hlo/gelu_block.hlo product out",
      "explain model.hlo --device=a100 --format=json",
  };
  info.source_file = __FILE__;
  info.min_args = 1;
  info.max_args = 3;
  return ridge::RunTool(argc, argv, info, ridge::Run);
}
