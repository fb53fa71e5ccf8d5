#include "hlo/ir/equal.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace ridge {
namespace {

std::string Place(const Instruction& i) {
  std::string place = absl::StrCat("`", i.name(), "`");
  if (i.location().line > 0) {
    absl::StrAppend(&place, " (line ", i.location().line, ")");
  }
  return place;
}

class Comparer {
 public:
  Comparer(const EqualOptions& options, std::string* difference)
      : options_(options), difference_(difference) {}

  bool Modules(const Module& a, const Module& b) {
    if (options_.header && !Headers(a, b)) return false;
    if (a.computations().size() != b.computations().size()) {
      return Differ(absl::StrCat("the modules have ", a.computations().size(),
                                 " and ", b.computations().size(),
                                 " computations"));
    }
    if ((a.entry() == nullptr) != (b.entry() == nullptr)) {
      return Differ("only one module has an entry");
    }
    if (a.entry() != nullptr) Pair(a.entry(), b.entry());
    if (!CompareOpen()) return false;
    // What is not called is paired in order.
    std::vector<const Computation*> rest_a, rest_b;
    for (const Computation* c : a.computations()) {
      if (!pairs_.contains(c)) rest_a.push_back(c);
    }
    for (const Computation* c : b.computations()) {
      if (!paired_.contains(c)) rest_b.push_back(c);
    }
    if (rest_a.size() != rest_b.size()) {
      return Differ(absl::StrCat(rest_a.size(), " and ", rest_b.size(),
                                 " computations are not called"));
    }
    for (size_t i = 0; i < rest_a.size(); ++i) {
      // Those called by an earlier one of the rest have partners by now.
      if (!Pair(rest_a[i], rest_b[i])) {
        return Differ(absl::StrCat("computations `", rest_a[i]->name(),
                                   "` and `", rest_b[i]->name(),
                                   "` are called from different places"));
      }
      if (!CompareOpen()) return false;
    }
    return true;
  }

 private:
  // Makes the two partners; false if one has another partner already.
  bool Pair(const Computation* a, const Computation* b) {
    auto [it, is_new] = pairs_.try_emplace(a, b);
    if (!is_new) return it->second == b;
    if (!paired_.insert(b).second) return false;
    open_.emplace_back(a, b);
    return true;
  }

  // Compares the pairs that are not compared yet, and those they call.
  bool CompareOpen() {
    while (!open_.empty()) {
      auto [a, b] = open_.back();
      open_.pop_back();
      if (!Computations(*a, *b)) return false;
    }
    return true;
  }

  bool Differ(std::string what) {
    if (difference_ != nullptr) *difference_ = std::move(what);
    return false;
  }

  bool Ignored(const Module::HeaderAttribute& h) const {
    return !options_.metadata && h.name == "origin_recovery_table";
  }

  bool Headers(const Module& a, const Module& b) {
    for (const Module::HeaderAttribute& h : b.header()) {
      if (Ignored(h) || !a.header_text(h.name).empty()) continue;
      return Differ(absl::StrCat("only the second header has ", h.name));
    }
    for (const Module::HeaderAttribute& h : a.header()) {
      if (Ignored(h)) continue;
      if (b.header_text(h.name) == h.text) continue;
      return Differ(absl::StrCat("header attribute ", h.name, " is ", h.text,
                                 " and ", b.header_text(h.name)));
    }
    return true;
  }

  bool Computations(const Computation& a, const Computation& b) {
    if (a.instruction_count() != b.instruction_count()) {
      return Differ(absl::StrCat("computations `", a.name(), "` and `",
                                 b.name(), "` have ", a.instruction_count(),
                                 " and ", b.instruction_count(),
                                 " instructions"));
    }
    if (a.execution_thread() != b.execution_thread()) {
      return Differ(absl::StrCat(
          "computations `", a.name(), "` and `", b.name(), "` run on threads `",
          a.execution_thread(), "` and `", b.execution_thread(), "`"));
    }
    positions_a_.resize(a.module()->id_bound());
    positions_b_.resize(b.module()->id_bound());
    int64_t n = 0;
    for (const Instruction* i : a.instructions()) positions_a_[i->id()] = n++;
    n = 0;
    for (const Instruction* i : b.instructions()) positions_b_[i->id()] = n++;
    const Instruction* y = b.first();
    for (const Instruction* x : a.instructions()) {
      if (!Instructions(*x, *y)) return false;
      if (x->IsRoot() != y->IsRoot()) {
        return DifferAt(*x, *y, "one is the root, the other is not");
      }
      y = y->next();
    }
    return true;
  }

  bool DifferAt(const Instruction& a, const Instruction& b,
                absl::string_view what) {
    return Differ(absl::StrCat(Place(a), " of `", a.parent()->name(), "` and ",
                               Place(b), " of `", b.parent()->name(),
                               "`: ", what));
  }

  bool SameShape(const Shape& a, const Shape& b) const {
    return options_.layouts ? a == b : a.Compatible(b);
  }

  bool Instructions(const Instruction& a, const Instruction& b) {
    if (a.opcode() != b.opcode()) {
      return DifferAt(a, b,
                      absl::StrCat("opcodes ", Name(a.opcode()), " and ",
                                   Name(b.opcode())));
    }
    if (!SameShape(a.shape(), b.shape())) {
      return DifferAt(a, b,
                      absl::StrCat("shapes ", a.shape().ToString(true), " and ",
                                   b.shape().ToString(true)));
    }
    if (a.operand_count() != b.operand_count()) {
      return DifferAt(a, b,
                      absl::StrCat(a.operand_count(), " and ",
                                   b.operand_count(), " operands"));
    }
    for (int64_t i = 0; i < a.operand_count(); ++i) {
      if (positions_a_[a.operand(i)->id()] ==
          positions_b_[b.operand(i)->id()]) {
        continue;
      }
      return DifferAt(a, b,
                      absl::StrCat("operand ", i, " is `", a.operand(i)->name(),
                                   "` and `", b.operand(i)->name(), "`"));
    }
    if (a.opcode() == Opcode::kParameter &&
        a.parameter_number() != b.parameter_number()) {
      return DifferAt(a, b,
                      absl::StrCat("parameter numbers ", a.parameter_number(),
                                   " and ", b.parameter_number()));
    }
    if (!Literals(a, b)) return DifferAt(a, b, "the literals differ");
    if (!ControlPredecessors(a, b)) {
      return DifferAt(a, b, "the control predecessors differ");
    }
    return Attributes(a, b);
  }

  static bool Literals(const Instruction& a, const Instruction& b) {
    const auto& x = a.shared_literal();
    const auto& y = b.shared_literal();
    if (x == nullptr || y == nullptr) return x == y;
    return x->elided() == y->elided() && *x == *y;
  }

  bool ControlPredecessors(const Instruction& a, const Instruction& b) {
    auto positions = [](const Instruction& i, const std::vector<int64_t>& at) {
      std::vector<int64_t> result;
      for (const Instruction* p : i.control_predecessors()) {
        result.push_back(at[p->id()]);
      }
      std::sort(result.begin(), result.end());
      return result;
    };
    return positions(a, positions_a_) == positions(b, positions_b_);
  }

  bool Ignored(AttrId id) const {
    if (id == AttrId::kMetadata || id == AttrId::kOrigin) {
      return !options_.metadata;
    }
    return id == AttrId::kBackendConfig && !options_.backend_config;
  }

  bool Attributes(const Instruction& a, const Instruction& b) {
    for (const Attribute& y : b.attributes()) {
      if (Ignored(y.id) || a.has(y.id)) continue;
      return DifferAt(a, b, absl::StrCat("only the second has ", Name(y.id)));
    }
    for (const Attribute& x : a.attributes()) {
      if (Ignored(x.id)) continue;
      const AttrValue* y = b.FindAttr(x.id);
      if (y == nullptr) {
        return DifferAt(a, b, absl::StrCat("only the first has ", Name(x.id)));
      }
      bool equal = AttrValuesEqual(
          x.value, *y, [&](const Computation* c, const Computation* d) {
            if (c == nullptr || d == nullptr) return c == d;
            return Pair(c, d);
          });
      // NaN equals itself here.
      if (!equal && x.value.index() == y->index() &&
          std::holds_alternative<double>(x.value)) {
        double u = std::get<double>(x.value), v = std::get<double>(*y);
        equal = std::memcmp(&u, &v, sizeof(u)) == 0;
      }
      if (!equal) {
        return DifferAt(a, b,
                        absl::StrCat("attribute ", Name(x.id), " differs"));
      }
    }
    return true;
  }

  EqualOptions options_;
  std::string* difference_;
  absl::flat_hash_map<const Computation*, const Computation*> pairs_;
  absl::flat_hash_set<const Computation*> paired_;
  std::vector<std::pair<const Computation*, const Computation*>> open_;
  std::vector<int64_t> positions_a_, positions_b_;
};

}  // namespace

bool StructurallyEqual(const Module& a, const Module& b,
                       std::string* difference, const EqualOptions& options) {
  return Comparer(options, difference).Modules(a, b);
}

}  // namespace ridge
