#include "fusion/traffic.h"

#include <algorithm>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "fusion/instruction_traits.h"
#include "hlo/analysis/cost_counts.h"

namespace ridge {
namespace {

// A value that a kernel reads or writes.
struct Trip {
  const Instruction* value;
  int64_t bytes;
};

void Summarise(const std::vector<Trip>& trips, Traffic* traffic) {
  int64_t largest = 0;
  for (const Trip& t : trips) largest = std::max(largest, t.bytes);
  std::set<std::string> small;
  for (const Trip& t : trips) {
    traffic->bytes += t.bytes;
    if (t.bytes * 2 > largest) {
      ++traffic->tensor_trips;
    } else if (t.bytes > 0) {
      small.insert(std::string(t.value->name()));
    }
  }
  traffic->small_values.assign(small.begin(), small.end());
}

// What `i` reads, seen through what rides along and what needs no kernel.
void ReadValues(const Instruction& i,
                absl::flat_hash_set<const Instruction*>* seen,
                std::vector<const Instruction*>* values) {
  std::vector<const Instruction*> stack(i.operands().begin(),
                                        i.operands().end());
  while (!stack.empty()) {
    const Instruction* o = stack.back();
    stack.pop_back();
    bool through = AliasesOperand(*o) || o->opcode() == Opcode::kBroadcast ||
                   (RidesAlong(*o) && o->opcode() != Opcode::kConvert);
    if (through) {
      stack.insert(stack.end(), o->operands().begin(), o->operands().end());
    } else if (seen->insert(o).second) {
      values->push_back(o);
    }
  }
}

bool IsComposite(const Instruction& i) {
  return i.opcode() == Opcode::kCall && i.bool_attr(AttrId::kIsComposite);
}

// Whether an instruction of a written module is a kernel of its own.
bool IsKernel(const Instruction& i) {
  if (IsComposite(i)) return true;
  if (IsFree(i) || i.opcode() == Opcode::kBroadcast ||
      i.opcode() == Opcode::kIota) {
    return false;
  }
  return true;
}

void CountUnfused(const Computation& computation, Traffic* traffic,
                  std::vector<Trip>* trips) {
  for (const Instruction* i : computation.instructions()) {
    if (!IsKernel(*i)) {
      if (i->opcode() == Opcode::kCall || i->opcode() == Opcode::kWhile ||
          i->opcode() == Opcode::kConditional) {
        for (const Computation* c : i->called_computations()) {
          if (c != nullptr) CountUnfused(*c, traffic, trips);
        }
      }
      continue;
    }
    KernelTraffic k;
    k.name = std::string(i->name());
    absl::flat_hash_set<const Instruction*> seen;
    std::vector<const Instruction*> reads;
    ReadValues(*i, &seen, &reads);
    for (const Instruction* v : reads) {
      int64_t bytes =
          v->opcode() == Opcode::kConstant && v->shape().ElementCount() == 1
              ? 0
              : v->shape().ByteSize();
      k.bytes_read += bytes;
      trips->push_back({v, bytes});
    }
    k.bytes_written = i->shape().ByteSize();
    trips->push_back({i, k.bytes_written});
    k.flops = Flops(*i);
    traffic->kernels.push_back(std::move(k));
  }
}

// The stored value behind an alias.
const Instruction* Behind(const Instruction* i) {
  while (AliasesOperand(*i)) i = i->operand(0);
  return i;
}

}  // namespace

Traffic UnfusedTraffic(const Module& written) {
  Traffic traffic;
  std::vector<Trip> trips;
  CountUnfused(*written.entry(), &traffic, &trips);
  Summarise(trips, &traffic);
  return traffic;
}

Traffic PlanTraffic(const Plan& plan) {
  Traffic traffic;
  std::vector<Trip> trips;
  for (const ComputationPlan& c : plan.computations) {
    for (const Group& g : c.groups) {
      KernelTraffic k;
      k.name = g.name;
      absl::flat_hash_set<const Instruction*> seen;
      for (const Instruction* i : GroupInputs(g)) {
        const Instruction* v = Behind(i);
        if (!seen.insert(v).second) continue;
        k.bytes_read += v->shape().ByteSize();
        trips.push_back({v, v->shape().ByteSize()});
      }
      for (const Instruction* r : g.roots) {
        k.bytes_written += r->shape().ByteSize();
        trips.push_back({r, r->shape().ByteSize()});
      }
      for (const Instruction* m : g.members) k.flops += Flops(*m);
      traffic.kernels.push_back(std::move(k));
    }
  }
  Summarise(trips, &traffic);
  return traffic;
}

namespace {

// Peak over a sequence of steps, each reading and defining values.
struct LiveStep {
  std::vector<const Instruction*> reads;
  std::vector<const Instruction*> writes;
};

int64_t Peak(const Computation& computation,
             const std::vector<LiveStep>& steps) {
  int64_t always = 0;
  for (const Instruction* p : computation.parameters()) {
    always += p->shape().ByteSize();
  }
  absl::flat_hash_map<const Instruction*, size_t> last;
  for (size_t s = 0; s < steps.size(); ++s) {
    for (const Instruction* w : steps[s].writes) last[w] = s;
    for (const Instruction* r : steps[s].reads) last[r] = s;
  }
  // What leaves the computation lives to the end.
  std::vector<const Instruction*> stack = {computation.root()};
  absl::flat_hash_set<const Instruction*> seen;
  while (!stack.empty()) {
    const Instruction* i = Behind(stack.back());
    stack.pop_back();
    if (!seen.insert(i).second) continue;
    last[i] = steps.size();
    if (IsFree(*i)) {
      stack.insert(stack.end(), i->operands().begin(), i->operands().end());
    }
  }
  std::vector<std::vector<const Instruction*>> ends(steps.size() + 1);
  for (const auto& [value, step] : last) ends[step].push_back(value);
  int64_t live = always;
  int64_t peak = always;
  absl::flat_hash_set<const Instruction*> defined;
  for (size_t s = 0; s < steps.size(); ++s) {
    for (const Instruction* w : steps[s].writes) {
      if (defined.insert(w).second) live += w->shape().ByteSize();
    }
    peak = std::max(peak, live);
    for (const Instruction* v : ends[s]) {
      if (defined.contains(v)) live -= v->shape().ByteSize();
    }
  }
  return peak;
}

}  // namespace

int64_t UnfusedPeakBytes(const Module& written) {
  std::vector<LiveStep> steps;
  for (const Instruction* i : written.entry()->instructions()) {
    bool control = i->opcode() == Opcode::kWhile ||
                   i->opcode() == Opcode::kCall ||
                   i->opcode() == Opcode::kConditional;
    if (!IsKernel(*i) && !control) continue;
    LiveStep step;
    absl::flat_hash_set<const Instruction*> seen;
    ReadValues(*i, &seen, &step.reads);
    step.writes = {i};
    steps.push_back(std::move(step));
  }
  return Peak(*written.entry(), steps);
}

int64_t PlanPeakBytes(const Module& module, const Plan& plan) {
  for (const ComputationPlan& c : plan.computations) {
    if (c.computation != module.entry()) continue;
    std::vector<LiveStep> steps;
    for (const Group& g : c.groups) {
      LiveStep step;
      for (const Instruction* i : GroupInputs(g)) {
        step.reads.push_back(Behind(i));
      }
      step.writes = g.roots;
      steps.push_back(std::move(step));
    }
    return Peak(*c.computation, steps);
  }
  return 0;
}

}  // namespace ridge
