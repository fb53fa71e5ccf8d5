#include "tools/hlo_tool/dot_graph.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ridge {
namespace {

// Fill colours by class of opcode.
absl::string_view Colour(const Instruction& i) {
  if (i.opcode() == Opcode::kParameter) return "#ffe0b2";
  if (i.opcode() == Opcode::kConstant) return "#eeeeee";
  switch (Info(i.opcode()).op_class) {
    case OpClass::kElementwise:
      return "#fff9c4";
    case OpClass::kShape:
      return "#dcedc8";
    case OpClass::kReduce:
    case OpClass::kNorm:
      return "#e1bee7";
    case OpClass::kContraction:
    case OpClass::kLinalg:
      return "#bbdefb";
    case OpClass::kIndexed:
      return "#b2dfdb";
    case OpClass::kControl:
      return "#cfd8dc";
    case OpClass::kCollective:
    case OpClass::kAsync:
    case OpClass::kHost:
      return "#ffcdd2";
    default:
      return "#ffffff";
  }
}

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::CEscape(text), "\"");
}

}  // namespace

std::string DotGraph(const Module& module) {
  std::string out = absl::StrCat(
      "digraph ", Quoted(module.name()),
      " {\n  node [shape=box, style=filled, fontname=Helvetica];\n");
  absl::flat_hash_map<const Computation*, int64_t> numbers;
  for (const Computation* c : module.computations()) {
    int64_t number = static_cast<int64_t>(numbers.size());
    numbers[c] = number;
    absl::StrAppend(&out, "  subgraph cluster_", number,
                    " {\n    label=", Quoted(c->name()),
                    c->IsEntry() ? "; penwidth=2" : "", ";\n");
    for (const Instruction* i : c->instructions()) {
      // Line breaks of labels are the letters \n in the file.
      absl::StrAppend(&out, "    n", i->id(), " [label=\"",
                      absl::CEscape(i->name()), "\\n", Name(i->opcode()), "\\n",
                      i->shape().ToString(), "\", fillcolor=\"", Colour(*i),
                      "\"", i->IsRoot() ? ", penwidth=2" : "", "];\n");
    }
    out += "  }\n";
  }
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      for (int64_t k = 0; k < i->operand_count(); ++k) {
        absl::StrAppend(&out, "  n", i->operand(k)->id(), " -> n", i->id());
        if (i->operand_count() > 1) absl::StrAppend(&out, " [label=", k, "]");
        out += ";\n";
      }
      for (const Instruction* p : i->control_predecessors()) {
        absl::StrAppend(&out, "  n", p->id(), " -> n", i->id(),
                        " [style=dotted];\n");
      }
      for (const Computation* called : i->called_computations()) {
        if (called == nullptr || called->root() == nullptr) continue;
        absl::StrAppend(&out, "  n", called->root()->id(), " -> n", i->id(),
                        " [style=dashed, ltail=cluster_", numbers[called],
                        "];\n");
      }
    }
  }
  out += "}\n";
  return out;
}

}  // namespace ridge
