#include "fusion/export.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

class Exporter {
 public:
  Exporter(const Module& from, const Plan& plan)
      : from_(from), plan_(plan), to_(std::make_unique<Module>(from.name())) {}

  absl::StatusOr<std::unique_ptr<Module>> Run() {
    to_->set_source_file(from_.source_file());
    for (const Module::HeaderAttribute& a : from_.header()) {
      // The order of instructions is no longer the schedule.
      if (a.name == "is_scheduled") continue;
      to_->mutable_header()->push_back(
          {to_->CopyText(a.name), to_->CopyText(a.text)});
    }
    to_->set_sections(from_.sections());
    for (const ComputationPlan& c : plan_.computations) {
      RIDGE_RETURN_IF_ERROR(ExportComputation(c));
    }
    to_->set_entry(computations_[from_.entry()]);
    return std::move(to_);
  }

 private:
  using Map = absl::flat_hash_map<const Instruction*, Instruction*>;

  // A copy of `i` in `where` with mapped operands.
  Instruction* Copy(const Instruction& i, Computation* where, const Map& map) {
    std::vector<Instruction*> operands;
    for (const Instruction* o : i.operands()) operands.push_back(map.at(o));
    Instruction* copy = where->AddRaw(i.opcode(), to_->Intern(i.shape()),
                                      to_->CopyText(i.name()));
    for (Instruction* o : operands) copy->AddOperand(o);
    for (const Attribute& a : i.attributes()) copy->SetAttr(a.id, a.value);
    copy->RehomeAttributes();
    copy->set_location(i.location());
    if (i.opcode() == Opcode::kConstant) copy->set_literal(i.shared_literal());
    copy->MapComputations([&](Computation* called) -> Computation* {
      if (called == nullptr) return nullptr;
      auto it = computations_.find(called);
      if (it != computations_.end()) return it->second;
      // A reducer, comparator or the like.
      return to_->CloneComputation(*called, &helpers_);
    });
    return copy;
  }

  absl::Status ExportComputation(const ComputationPlan& plan) {
    // Fused computations come before the one that calls them, so everything
    // outside is made last.
    std::vector<Instruction*> parameters;
    Map map;
    absl::flat_hash_map<const Group*, Computation*> bodies;
    for (const Group& g : plan.groups) {
      if (g.members.size() > 1) bodies[&g] = FusedBody(g);
    }
    // Callees of what stays outside, for the same reason.
    for (const Instruction* i : plan.computation->instructions()) {
      for (Computation* called : i->called_computations()) {
        if (called != nullptr && !computations_.contains(called)) {
          to_->CloneComputation(*called, &helpers_);
        }
      }
    }
    Computation* where =
        to_->AddComputationRaw(to_->CopyText(plan.computation->name()));
    where->set_location(plan.computation->location());
    computations_[plan.computation] = where;
    for (const Instruction* p : plan.computation->parameters()) {
      Instruction* copy = Copy(*p, where, map);
      copy->set_parameter_number(p->parameter_number());
      where->RegisterParameter(copy);
      map[p] = copy;
    }
    absl::flat_hash_set<const Instruction*> owned;
    for (const Group& g : plan.groups) {
      owned.insert(g.roots.begin(), g.roots.end());
    }
    // Groups and what lies between them, each once its operands are there.
    std::vector<const Instruction*> free;
    for (const Instruction* i : plan.computation->instructions()) {
      if (i->opcode() != Opcode::kParameter && IsFree(*i) &&
          !owned.contains(i)) {
        free.push_back(i);
      }
    }
    std::vector<const Group*> groups;
    for (const Group& g : plan.groups) groups.push_back(&g);
    bool progress = true;
    while (progress) {
      progress = false;
      std::vector<const Instruction*> waiting;
      for (const Instruction* i : free) {
        bool ready =
            std::all_of(i->operands().begin(), i->operands().end(),
                        [&](const Instruction* o) { return map.contains(o); });
        if (!ready) {
          waiting.push_back(i);
          continue;
        }
        map[i] = Copy(*i, where, map);
        progress = true;
      }
      free = std::move(waiting);
      std::vector<const Group*> later;
      for (const Group* g : groups) {
        std::vector<const Instruction*> inputs = GroupInputs(*g);
        bool ready =
            std::all_of(inputs.begin(), inputs.end(),
                        [&](const Instruction* o) { return map.contains(o); });
        if (!ready) {
          later.push_back(g);
          continue;
        }
        AddGroup(*g, bodies, where, &map);
        progress = true;
      }
      groups = std::move(later);
    }
    RIDGE_RET_CHECK(groups.empty()) << groups[0]->name << " has no operands";
    auto root = map.find(plan.computation->root());
    RIDGE_RET_CHECK(root != map.end()) << "the root is stored by no group";
    where->set_root(root->second);
    RemoveUnused(where);
    return absl::OkStatus();
  }

  Computation* FusedBody(const Group& g) {
    // Reducers first: callees precede callers.
    for (const Instruction* m : g.members) {
      for (Computation* called : m->called_computations()) {
        if (called != nullptr && !computations_.contains(called)) {
          to_->CloneComputation(*called, &helpers_);
        }
      }
    }
    Computation* body =
        to_->AddComputation(absl::StrCat(g.name, "_computation"));
    Map map;
    int64_t number = 0;
    for (const Instruction* input : GroupInputs(g)) {
      Instruction* p = body->AddParameter(number, input->shape(),
                                          absl::StrCat(g.name, "_p", number));
      ++number;
      map[input] = p;
    }
    for (const Instruction* m : g.members) map[m] = Copy(*m, body, map);
    if (g.roots.size() == 1) {
      body->set_root(map[g.roots[0]]);
      return body;
    }
    std::vector<Instruction*> parts;
    std::vector<Shape> shapes;
    for (const Instruction* r : g.roots) {
      parts.push_back(map[r]);
      shapes.push_back(r->shape());
    }
    body->set_root(body->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)),
                             parts, absl::StrCat(g.name, "_roots")));
    return body;
  }

  void AddGroup(const Group& g,
                const absl::flat_hash_map<const Group*, Computation*>& bodies,
                Computation* where, Map* map) {
    auto it = bodies.find(&g);
    if (it == bodies.end()) {
      (*map)[g.members[0]] = Copy(*g.members[0], where, *map);
      return;
    }
    std::vector<Instruction*> operands;
    for (const Instruction* input : GroupInputs(g)) {
      operands.push_back(map->at(input));
    }
    Instruction* fusion = where->Add(
        Opcode::kFusion, it->second->root()->shape(), operands, g.name);
    fusion->SetAttr(AttrId::kKind,
                    EnumValue{static_cast<int32_t>(KindOf(g.pattern))});
    fusion->SetAttr(AttrId::kCalls, it->second);
    if (g.roots.size() == 1) {
      (*map)[g.roots[0]] = fusion;
      return;
    }
    for (size_t r = 0; r < g.roots.size(); ++r) {
      Instruction* part =
          where->Add(Opcode::kGetTupleElement, g.roots[r]->shape(), {fusion},
                     absl::StrCat(g.name, "_r", r));
      part->SetAttr(AttrId::kIndex, static_cast<int64_t>(r));
      (*map)[g.roots[r]] = part;
    }
  }

  static void RemoveUnused(Computation* where) {
    for (Instruction* i = where->last(); i != nullptr;) {
      Instruction* before = i->previous();
      if (i->IsDead()) where->Remove(i);
      i = before;
    }
  }

  const Module& from_;
  const Plan& plan_;
  std::unique_ptr<Module> to_;
  absl::flat_hash_map<const Computation*, Computation*> computations_;
  absl::flat_hash_map<const Computation*, Computation*> helpers_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> ExportFused(const Module& module,
                                                    const Plan& plan) {
  return Exporter(module, plan).Run();
}

}  // namespace ridge
