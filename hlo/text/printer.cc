#include "hlo/text/printer.h"

#include <charconv>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "hlo/ir/opcode_rules.h"
#include "hlo/text/attribute_printer.h"
#include "hlo/text/literal_printer.h"
#include "hlo/text/names.h"

namespace ridge {
namespace {

using Form = PrintOptions::Form;

bool PrintsAsSugar(const Computation* body) {
  return body != nullptr && body->is_async_sugar() && body->IsSingleOperation();
}

// The computation that an async-* instruction stands for, if it is printed as
// sugar.
const Computation* SugarBody(const Instruction& instruction) {
  const Instruction* i = &instruction;
  while ((i->opcode() == Opcode::kAsyncUpdate ||
          i->opcode() == Opcode::kAsyncDone) &&
         i->operand_count() == 1) {
    if (i->has(AttrId::kCalls)) return nullptr;
    i = i->operand(0);
  }
  if (i->opcode() != Opcode::kAsyncStart) return nullptr;
  const Computation* body = i->calls();
  return PrintsAsSugar(body) ? body : nullptr;
}

absl::string_view AsyncSuffix(Opcode opcode) {
  return opcode == Opcode::kAsyncStart    ? "-start"
         : opcode == Opcode::kAsyncUpdate ? "-update"
                                          : "-done";
}

bool IsAsync(Opcode opcode) {
  return opcode == Opcode::kAsyncStart || opcode == Opcode::kAsyncUpdate ||
         opcode == Opcode::kAsyncDone;
}

bool IsDropped(AttrId id, const PrintOptions& options) {
  if (id == AttrId::kBackendConfig) return !options.backend_config;
  return id == AttrId::kMetadata &&
         (!options.metadata || options.form == Form::kCanonical);
}

class Printer {
 public:
  Printer(const Module* module, const PrintOptions& options)
      : options_(options), attributes_(options.form, &out_) {
    if (options.form != Form::kCanonical || module == nullptr) return;
    int64_t n = 0;
    for (const Computation* c : module->computations()) {
      if (!PrintsAsSugar(c)) attributes_.SetNumber(c, n++);
    }
  }

  void PrintModule(const Module& module) {
    bool canonical = options_.form == Form::kCanonical;
    // A guess that saves most regrowth.
    out_.reserve(module.instruction_count() * 96);
    absl::StrAppend(
        &out_, "HloModule ",
        canonical || module.name().empty() ? "module" : module.name());
    for (const Module::HeaderAttribute& a : module.header()) {
      absl::StrAppend(&out_, ", ", a.name, "=", a.text);
    }
    out_.append("\n\n");
    if (!module.sections().empty() && options_.metadata && !canonical) {
      absl::StrAppend(&out_, module.sections(), "\n\n");
    }
    bool first = true;
    for (const Computation* c : module.computations()) {
      if (PrintsAsSugar(c)) continue;
      if (!first) out_.push_back('\n');
      first = false;
      PrintComputation(*c);
    }
  }

  void PrintComputation(const Computation& computation) {
    Number(computation);
    if (computation.IsEntry()) out_.append("ENTRY ");
    attributes_.AppendName(computation);
    if (options_.form == Form::kLong) AppendSignature(computation);
    out_.append(" {\n");
    for (const Instruction* i : computation.instructions()) {
      out_.append(i == computation.root() ? "  ROOT " : "  ");
      AppendName(*i);
      out_.append(" = ");
      AppendRightHandSide(*i, /*operand_names=*/true);
      out_.push_back('\n');
    }
    out_.push_back('}');
    if (!computation.execution_thread().empty()) {
      absl::StrAppend(&out_, ", execution_thread=\"",
                      computation.execution_thread(), "\"");
    }
    out_.push_back('\n');
  }

  void PrintInstruction(const Instruction& instruction) {
    bool canonical = options_.form == Form::kCanonical;
    if (!canonical) {
      AppendName(instruction);
      out_.append(" = ");
    }
    AppendRightHandSide(instruction, /*operand_names=*/!canonical);
  }

  void PrintValue(const Instruction& instruction, AttrId id) {
    const AttrValue* value = instruction.FindAttr(id);
    if (value != nullptr) attributes_.Append(Attribute{id, *value});
  }

  std::string Take() { return std::move(out_); }

 private:
  void Number(const Computation& computation) {
    if (options_.form != Form::kCanonical) return;
    numbers_.resize(computation.module()->id_bound());
    int64_t n = 0;
    for (const Instruction* i : computation.instructions()) {
      numbers_[i->id()] = n++;
    }
  }

  void AppendName(const Instruction& i) {
    if (options_.form == Form::kCanonical) {
      absl::StrAppend(&out_, "tmp_", numbers_[i.id()]);
    } else {
      attributes_.AppendName(i.name());
    }
  }

  void AppendShape(const Shape& shape) { attributes_.AppendShape(&shape); }

  // As XLA writes them: without layouts.
  void AppendSignature(const Computation& computation) {
    out_.append(" (");
    bool first = true;
    for (const Instruction* p : computation.parameters()) {
      if (p == nullptr) continue;
      if (!first) out_.append(", ");
      first = false;
      absl::StrAppend(&out_, p->name(), ": ", p->shape().ToString());
    }
    out_.append(") -> ");
    if (computation.root() != nullptr) {
      out_.append(computation.root()->shape().ToString());
    }
  }

  void AppendRightHandSide(const Instruction& i, bool operand_names) {
    AppendShape(i.shape());
    out_.push_back(' ');
    const Computation* sugar = IsAsync(i.opcode()) ? SugarBody(i) : nullptr;
    if (sugar != nullptr) {
      absl::StrAppend(&out_, Name(sugar->root()->opcode()),
                      AsyncSuffix(i.opcode()));
    } else {
      out_.append(Name(i.opcode()).data(), Name(i.opcode()).size());
    }
    out_.push_back('(');
    AppendOperands(i, operand_names);
    out_.push_back(')');
    AppendAttributes(i, sugar);
  }

  void AppendOperands(const Instruction& i, bool names) {
    if (i.opcode() == Opcode::kParameter) {
      attributes_.AppendInt(i.parameter_number());
      return;
    }
    if (i.opcode() == Opcode::kConstant) {
      if (i.shared_literal() != nullptr) AppendLiteral(i.literal(), &out_);
      return;
    }
    bool first = true;
    for (const Instruction* operand : i.operands()) {
      if (!first) out_.append(", ");
      first = false;
      if (options_.form != Form::kShort) {
        AppendShape(operand->shape());
        if (names) out_.push_back(' ');
      }
      if (names) AppendName(*operand);
    }
  }

  void AppendAttributes(const Instruction& i, const Computation* sugar) {
    absl::InlinedVector<const Attribute*, 16> sorted;
    auto add = [&](const Attribute& a) {
      if (IsDropped(a.id, options_)) return;
      size_t at = sorted.size();
      sorted.push_back(&a);
      for (; at > 0 && sorted[at - 1]->id > a.id; --at) {
        sorted[at] = sorted[at - 1];
      }
      sorted[at] = &a;
    };
    for (const Attribute& a : i.attributes()) {
      if (sugar != nullptr && a.id == AttrId::kCalls) continue;
      add(a);
    }
    if (sugar != nullptr && i.opcode() == Opcode::kAsyncStart) {
      const Instruction& root = *sugar->root();
      size_t own = AttrRules(root.opcode()).size() - CommonAttrRules().size();
      for (const AttrRule& rule : AttrRules(root.opcode()).subspan(0, own)) {
        for (const Attribute& a : root.attributes()) {
          if (a.id == rule.id) add(a);
        }
      }
    }
    bool control_done = i.control_predecessors().empty();
    for (const Attribute* a : sorted) {
      // Control predecessors come before the metadata, as in XLA.
      if (!control_done && a->id >= AttrId::kMetadata) {
        AppendControlPredecessors(i);
        control_done = true;
      }
      absl::string_view name = Name(a->id);
      out_.append(", ");
      out_.append(name.data(), name.size());
      out_.push_back('=');
      attributes_.Append(*a);
    }
    if (!control_done) AppendControlPredecessors(i);
  }

  void AppendControlPredecessors(const Instruction& i) {
    out_.append(", control-predecessors={");
    bool first = true;
    for (const Instruction* p : i.control_predecessors()) {
      if (!first) out_.append(", ");
      first = false;
      AppendName(*p);
    }
    out_.push_back('}');
  }

  PrintOptions options_;
  std::string out_;
  AttributePrinter attributes_;
  std::vector<int64_t> numbers_;  // canonical, by instruction id
};

}  // namespace

std::string Print(const Module& module, const PrintOptions& options) {
  Printer printer(&module, options);
  printer.PrintModule(module);
  return printer.Take();
}

std::string Print(const Computation& computation, const PrintOptions& options) {
  Printer printer(computation.module(), options);
  printer.PrintComputation(computation);
  return printer.Take();
}

std::string Print(const Instruction& instruction, const PrintOptions& options) {
  Printer printer(nullptr, options);
  printer.PrintInstruction(instruction);
  return printer.Take();
}

std::string PrintAttrValue(const Instruction& instruction, AttrId id,
                           const PrintOptions& options) {
  Printer printer(nullptr, options);
  printer.PrintValue(instruction, id);
  return printer.Take();
}

}  // namespace ridge
