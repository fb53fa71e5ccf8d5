#include "tools/hlo_tool/json_module.h"

#include <nlohmann/json.hpp>
#include <string>

#include "hlo/text/literal_printer.h"
#include "hlo/text/printer.h"

namespace ridge {
namespace {

using Json = nlohmann::json;

Json InstructionJson(const Instruction& i) {
  Json operands = Json::array();
  for (const Instruction* o : i.operands()) {
    operands.push_back(std::string(o->name()));
  }
  PrintOptions short_form;
  short_form.form = PrintOptions::Form::kShort;
  Json attributes = Json::object();
  for (const Attribute& a : i.attributes()) {
    attributes[std::string(Name(a.id))] = PrintAttrValue(i, a.id, short_form);
  }
  Json json = {{"name", std::string(i.name())},
               {"opcode", std::string(Name(i.opcode()))},
               {"shape", i.shape().ToString(/*with_layout=*/true)},
               {"operands", operands},
               {"attributes", attributes},
               {"line", i.location().line}};
  if (i.opcode() == Opcode::kParameter) {
    json["parameter_number"] = i.parameter_number();
  }
  if (i.opcode() == Opcode::kConstant && i.shared_literal() != nullptr) {
    std::string literal;
    AppendLiteral(i.literal(), &literal);
    json["literal"] = literal;
  }
  for (const Instruction* p : i.control_predecessors()) {
    json["control_predecessors"].push_back(std::string(p->name()));
  }
  return json;
}

}  // namespace

Json ModuleJson(const Module& module) {
  Json header = Json::object();
  for (const Module::HeaderAttribute& a : module.header()) {
    header[std::string(a.name)] = std::string(a.text);
  }
  Json computations = Json::array();
  for (const Computation* c : module.computations()) {
    Json instructions = Json::array();
    for (const Instruction* i : c->instructions()) {
      instructions.push_back(InstructionJson(*i));
    }
    Json computation = {{"name", std::string(c->name())},
                        {"instructions", instructions}};
    if (c->root() != nullptr) {
      computation["root"] = std::string(c->root()->name());
    }
    if (!c->execution_thread().empty()) {
      computation["execution_thread"] = std::string(c->execution_thread());
    }
    computations.push_back(computation);
  }
  Json json = {{"name", std::string(module.name())},
               {"header", header},
               {"computations", computations}};
  if (module.entry() != nullptr) {
    json["entry"] = std::string(module.entry()->name());
  }
  return json;
}

}  // namespace ridge
