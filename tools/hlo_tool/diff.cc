#include "tools/hlo_tool/diff.h"

#include <nlohmann/json.hpp>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "hlo/ir/equal.h"
#include "hlo/text/literal_printer.h"
#include "hlo/text/printer.h"

namespace ridge {
namespace {

using Hash = uint64_t;

// A value for each instruction that is the same for instructions that compute
// the same.
class Hasher {
 public:
  explicit Hasher(const Module& module) : values_(module.id_bound()) {
    // Callees come before their callers.
    for (const Computation* c : module.computations()) {
      for (const Instruction* i : c->instructions()) {
        values_[i->id()] = Compute(*i);
      }
      computations_[c] = c->root() == nullptr ? 0 : values_[c->root()->id()];
    }
  }

  Hash of(const Instruction* i) const { return values_[i->id()]; }
  Hash of(const Computation* c) const {
    auto it = computations_.find(c);
    return it == computations_.end() ? 0 : it->second;
  }

 private:
  Hash Compute(const Instruction& i) {
    Hash h = absl::HashOf(i.opcode(), i.shape().ToString(true),
                          i.parameter_number(), i.operand_count());
    for (const Instruction* o : i.operands()) h = absl::HashOf(h, of(o));
    for (const Instruction* p : i.control_predecessors()) {
      h = absl::HashOf(h, 1, of(p));
    }
    if (i.opcode() == Opcode::kConstant && i.shared_literal() != nullptr) {
      std::string literal;
      AppendLiteral(i.literal(), &literal);
      h = absl::HashOf(h, literal);
    }
    for (const Computation* c : i.called_computations()) {
      h = absl::HashOf(h, of(c));
    }
    // Attributes are in no order: a sum does not mind.
    Hash attributes = 0;
    for (const Attribute& a : i.attributes()) {
      AttrKind kind = Info(a.id).kind;
      if (a.id == AttrId::kMetadata || a.id == AttrId::kOrigin ||
          kind == AttrKind::kComputation ||
          kind == AttrKind::kComputationList) {
        continue;
      }
      attributes += absl::HashOf(a.id, PrintAttrValue(i, a.id));
    }
    return absl::HashOf(h, attributes);
  }

  std::vector<Hash> values_;
  absl::flat_hash_map<const Computation*, Hash> computations_;
};

absl::flat_hash_map<Hash, int64_t> Multiset(const Module& module,
                                            const Hasher& hasher) {
  absl::flat_hash_map<Hash, int64_t> counts;
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) ++counts[hasher.of(i)];
  }
  return counts;
}

// Instructions of `module` beyond those in `other`; the first of them in each
// chain go into *frontier.
int64_t Unmatched(const Module& module, const Hasher& hasher,
                  absl::flat_hash_map<Hash, int64_t> other,
                  std::vector<const Instruction*>* frontier) {
  int64_t affected = 0;
  std::vector<bool> unmatched(module.id_bound());
  absl::flat_hash_map<const Computation*, bool> changed;
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      int64_t& left = other[hasher.of(i)];
      if (left > 0) {
        --left;
        continue;
      }
      ++affected;
      unmatched[i->id()] = true;
      changed[c] = true;
      bool follows = false;
      for (const Instruction* o : i->operands()) {
        follows = follows || unmatched[o->id()];
      }
      for (const Computation* called : i->called_computations()) {
        follows = follows || changed[called];
      }
      if (!follows) frontier->push_back(i);
    }
  }
  return affected;
}

std::string Line(const Instruction& i) {
  PrintOptions options;
  options.metadata = false;
  std::string line = Print(i, options);
  if (i.location().line > 0) {
    absl::StrAppend(&line, "  // line ", i.location().line);
  }
  return line;
}

}  // namespace

ModuleDiff DiffModules(const Module& first, const Module& second) {
  ModuleDiff diff;
  EqualOptions options;
  options.metadata = false;
  diff.equal =
      StructurallyEqual(first, second, &diff.first_difference, options);
  if (diff.equal) return diff;
  Hasher a(first), b(second);
  diff.affected_first =
      Unmatched(first, a, Multiset(second, b), &diff.only_first);
  diff.affected_second =
      Unmatched(second, b, Multiset(first, a), &diff.only_second);
  return diff;
}

nlohmann::json DiffJson(const ModuleDiff& diff) {
  auto list = [](const std::vector<const Instruction*>& instructions) {
    nlohmann::json json = nlohmann::json::array();
    for (const Instruction* i : instructions) {
      json.push_back({{"name", std::string(i->name())},
                      {"computation", std::string(i->parent()->name())},
                      {"line", i->location().line},
                      {"text", Print(*i)}});
    }
    return json;
  };
  return {{"equal", diff.equal},
          {"first_difference", diff.first_difference},
          {"only_first", list(diff.only_first)},
          {"only_second", list(diff.only_second)},
          {"affected_first", diff.affected_first},
          {"affected_second", diff.affected_second}};
}

std::string DiffText(const ModuleDiff& diff) {
  if (diff.equal) return "equal\n";
  std::string out = absl::StrCat("different: ", diff.first_difference, "\n");
  for (const Instruction* i : diff.only_first) {
    absl::StrAppend(&out, "- ", Line(*i), "\n");
  }
  for (const Instruction* i : diff.only_second) {
    absl::StrAppend(&out, "+ ", Line(*i), "\n");
  }
  if (diff.affected_first + diff.affected_second == 0) {
    out += "the instructions are the same, in another order\n";
  } else {
    absl::StrAppend(&out, "with what follows from these: ", diff.affected_first,
                    " instructions of the first, ", diff.affected_second,
                    " of the second\n");
  }
  return out;
}

}  // namespace ridge
