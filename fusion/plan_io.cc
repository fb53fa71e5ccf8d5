#include "fusion/plan_io.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "fusion/built_io.h"
#include "fusion/validate.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "hlo/base/file.h"
#include "hlo/base/fingerprint.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

constexpr GroupPattern kPatterns[] = {
    GroupPattern::kLoop,         GroupPattern::kRowReduce,
    GroupPattern::kColumnReduce, GroupPattern::kRowColumn,
    GroupPattern::kTranspose,    GroupPattern::kScatter,
    GroupPattern::kGemm,         GroupPattern::kOpaque};

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (!message_.empty()) return;
    message_ = absl::StrCat(line + 1, ":", column + 1, ": ", message);
  }
  const std::string& message() const { return message_; }

 private:
  std::string message_;
};

template <typename T>
bool ParseText(absl::string_view text, T* proto, std::string* error) {
  google::protobuf::TextFormat::Parser parser;
  FirstError first;
  parser.RecordErrorsTo(&first);
  bool ok = parser.ParseFromString(std::string(text), proto);
  *error = first.message();
  return ok;
}

std::string Print(const google::protobuf::Message& proto) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(proto, &text);
  return text;
}

absl::StatusOr<GroupPattern> PatternFromName(const std::string& name) {
  for (GroupPattern p : kPatterns) {
    if (name == PatternName(p)) return p;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown pattern '", name, "'"));
}

using Names = absl::flat_hash_map<absl::string_view, const Instruction*>;

absl::StatusOr<const Instruction*> Lookup(const Names& names,
                                          const std::string& name,
                                          const std::string& group) {
  auto it = names.find(name);
  if (it == names.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "group ", group, ": the module has no instruction %", name));
  }
  return it->second;
}

absl::StatusOr<Group> GroupFromProto(const GroupProto& proto,
                                     const Names& names) {
  Group g;
  g.name = proto.name();
  RIDGE_ASSIGN_OR_RETURN(g.pattern, PatternFromName(proto.pattern()));
  RIDGE_ASSIGN_OR_RETURN(g.hero, Lookup(names, proto.hero(), g.name));
  for (const std::string& m : proto.members()) {
    RIDGE_ASSIGN_OR_RETURN(const Instruction* i, Lookup(names, m, g.name));
    g.members.push_back(i);
  }
  for (const std::string& r : proto.roots()) {
    RIDGE_ASSIGN_OR_RETURN(const Instruction* i, Lookup(names, r, g.name));
    g.roots.push_back(i);
  }
  g.schedule.name = proto.schedule().name();
  for (const auto& [name, value] : proto.schedule().parameters()) {
    g.schedule.parameters[name] = value;
  }
  return g;
}

}  // namespace

PlanProto PlanToProto(const Module& module, const Plan& plan) {
  PlanProto proto;
  proto.set_strategy(plan.strategy);
  proto.set_module(std::string(module.name()));
  proto.set_module_fingerprint(plan.module_fingerprint);
  proto.set_note(plan.note);
  for (const ComputationPlan& c : plan.computations) {
    ComputationPlanProto* cp = proto.add_computations();
    cp->set_computation(std::string(c.computation->name()));
    for (const Group& g : c.groups) {
      GroupProto* gp = cp->add_groups();
      gp->set_name(g.name);
      gp->set_pattern(PatternName(g.pattern));
      gp->set_hero(std::string(g.hero->name()));
      for (const Instruction* i : g.members) {
        gp->add_members(std::string(i->name()));
      }
      for (const Instruction* i : g.roots) {
        gp->add_roots(std::string(i->name()));
      }
      if (g.schedule.name.empty()) continue;
      gp->mutable_schedule()->set_name(g.schedule.name);
      for (const auto& [name, value] : g.schedule.parameters) {
        (*gp->mutable_schedule()->mutable_parameters())[name] = value;
      }
    }
  }
  for (const BuiltKernel& b : plan.built) *proto.add_built() = BuiltToProto(b);
  return proto;
}

absl::StatusOr<Plan> PlanFromProto(const PlanProto& proto,
                                   const Module& module) {
  Plan plan;
  plan.strategy = proto.strategy();
  plan.note = proto.note();
  // Both stand in tables that people read.
  for (const std::string* text : {&plan.strategy, &plan.note}) {
    if (std::any_of(text->begin(), text->end(),
                    [](char c) { return absl::ascii_iscntrl(c); })) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the plan's ", text == &plan.note ? "note" : "strategy", " \"",
          absl::CHexEscape(*text), "\" has control characters"));
    }
  }
  plan.module_fingerprint = FingerprintModule(module);
  if (proto.module_fingerprint() != plan.module_fingerprint) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the plan is for module ", proto.module(), " (",
        proto.module_fingerprint(), "), not for ", std::string(module.name()),
        " (", plan.module_fingerprint, ")"));
  }
  for (const ComputationPlanProto& cp : proto.computations()) {
    ComputationPlan c;
    c.computation = module.FindComputation(cp.computation());
    if (c.computation == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("the module has no computation ", cp.computation()));
    }
    Names names;
    for (const Instruction* i : c.computation->instructions()) {
      names[i->name()] = i;
    }
    for (const GroupProto& gp : cp.groups()) {
      RIDGE_ASSIGN_OR_RETURN(Group g, GroupFromProto(gp, names));
      c.groups.push_back(std::move(g));
    }
    plan.computations.push_back(std::move(c));
  }
  RIDGE_RETURN_IF_ERROR(ValidatePlan(module, plan));
  RIDGE_ASSIGN_OR_RETURN(plan.built,
                         BuiltFromProto(proto.built(), module, plan));
  return plan;
}

std::string PlanToText(const Module& module, const Plan& plan) {
  return absl::StrCat("# proto-message: ridge.PlanProto\n",
                      Print(PlanToProto(module, plan)));
}

std::string PlanListToText(const PlanListProto& list) {
  return absl::StrCat("# proto-message: ridge.PlanListProto\n", Print(list));
}

absl::StatusOr<Plan> PlanFromText(absl::string_view text, const Module& module,
                                  absl::string_view file, int index) {
  PlanProto one;
  PlanListProto list;
  std::string list_error;
  std::string one_error;
  const bool is_list = ParseText(text, &list, &list_error);
  if (!is_list && absl::StrContains(text.substr(0, text.find('\n')),
                                    "ridge.PlanListProto")) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":", list_error, " (expected a list of plans)"));
  }
  if (is_list && list.plans_size() > 0) {
    if (index < 0 || index >= list.plans_size()) {
      return absl::InvalidArgumentError(absl::StrCat(file, ": no plan number ",
                                                     index + 1, "; there are ",
                                                     list.plans_size()));
    }
    one = list.plans(index).plan();
  } else if (!ParseText(text, &one, &one_error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":", one_error, " (expected a plan)"));
  } else if (index != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        file, ": no plan number ", index + 1, "; it holds one plan"));
  }
  if (one.computations_size() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": holds no plan (no computations)"));
  }
  absl::StatusOr<Plan> plan = PlanFromProto(one, module);
  if (!plan.ok()) return Annotate(plan.status(), file);
  return plan;
}

absl::StatusOr<Plan> ReadPlan(absl::string_view path, const Module& module,
                              int index) {
  RIDGE_ASSIGN_OR_RETURN(std::string text, ReadFile(ResolveUserPath(path)));
  return PlanFromText(text, module, path, index);
}

std::string FingerprintPlan(const Module& module, const Plan& plan) {
  PlanProto proto = PlanToProto(module, plan);
  proto.clear_strategy();
  proto.clear_note();
  proto.clear_built();
  return Fingerprinter().Add(Print(proto)).Get128().ToHex();
}

}  // namespace ridge
