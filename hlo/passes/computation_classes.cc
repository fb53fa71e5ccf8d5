#include "hlo/passes/computation_classes.h"

#include <functional>
#include <string>
#include <utility>
#include <variant>

#include "absl/hash/hash.h"

namespace ridge {

bool IsProvenance(AttrId id) {
  return id == AttrId::kMetadata || id == AttrId::kOrigin;
}

namespace {

// Cheap and coarse: attributes that are arrays, numbers or enumerations.
uint64_t HashAttribute(const Attribute& a) {
  uint64_t h = absl::HashOf(static_cast<int>(a.id));
  if (const auto* v = std::get_if<Ints>(&a.value)) {
    return absl::HashOf(h, *v);
  }
  if (const auto* v = std::get_if<int64_t>(&a.value)) {
    return absl::HashOf(h, *v);
  }
  if (const auto* v = std::get_if<EnumValue>(&a.value)) {
    return absl::HashOf(h, v->value);
  }
  if (const auto* v = std::get_if<absl::string_view>(&a.value)) {
    return absl::HashOf(h, *v);
  }
  if (const auto* v =
          std::get_if<std::shared_ptr<const SliceRanges>>(&a.value)) {
    for (const SliceRange& r : **v) {
      h = absl::HashOf(h, r.start, r.limit, r.stride);
    }
  }
  return h;
}

}  // namespace

uint64_t HashWithoutOperands(const Instruction& i) {
  uint64_t h = absl::HashOf(static_cast<int>(i.opcode()), &i.shape(),
                            i.parameter_number(), i.operand_count());
  uint64_t attributes = 0;  // a sum: their order does not matter
  for (const Attribute& a : i.attributes()) {
    if (!IsProvenance(a.id)) attributes += HashAttribute(a);
  }
  h = absl::HashOf(h, attributes);
  if (i.opcode() == Opcode::kConstant && i.literal().bytes() != nullptr) {
    // The head is enough to tell most constants apart.
    size_t n = std::min<size_t>(i.literal().byte_size(), 256);
    h = absl::HashOf(
        h, absl::string_view(reinterpret_cast<const char*>(i.literal().bytes()),
                             n));
  }
  return h;
}

bool AttributesEqual(
    const Instruction& a, const Instruction& b,
    const std::function<bool(const Computation*, const Computation*)>& same) {
  int64_t compared_a = 0;
  int64_t compared_b = 0;
  for (const Attribute& x : a.attributes()) {
    if (IsProvenance(x.id)) continue;
    ++compared_a;
    const AttrValue* y = b.FindAttr(x.id);
    if (y == nullptr || !AttrValuesEqual(x.value, *y, same)) return false;
  }
  for (const Attribute& y : b.attributes()) {
    if (!IsProvenance(y.id)) ++compared_b;
  }
  return compared_a == compared_b;
}

Computation* ComputationClasses::representative(Computation* c) const {
  auto it = class_of_.find(c);
  return it == class_of_.end() ? c : it->second;
}

const Computation* ComputationClasses::Class(const Computation* c) const {
  auto it = class_of_.find(c);
  return it == class_of_.end() ? c : it->second;
}

ComputationClasses::ComputationClasses(const Module& module) {
  // Position of each instruction in its computation, by id.
  std::vector<int32_t> position(module.id_bound(), -1);
  absl::flat_hash_map<uint64_t, std::vector<Computation*>> by_hash;
  auto same_class = [&](const Computation* a, const Computation* b) {
    return Same(a, b);
  };
  // Callees precede callers, so their classes are known.
  for (Computation* c : module.computations()) {
    int32_t next = 0;
    uint64_t hash = absl::HashOf(c->instruction_count());
    for (const Instruction* i : c->instructions()) {
      position[i->id()] = next++;
      hash = absl::HashOf(hash, HashWithoutOperands(*i));
      for (const Instruction* o : i->operands()) {
        hash = absl::HashOf(hash, position[o->id()]);
      }
    }
    auto same_position = [&](const Instruction* a, const Instruction* b) {
      return position[a->id()] == position[b->id()];
    };
    std::vector<Computation*>& candidates = by_hash[hash];
    Computation* found = nullptr;
    for (Computation* other : candidates) {
      if (other->instruction_count() != c->instruction_count() ||
          (other->root() == nullptr) != (c->root() == nullptr) ||
          (c->root() != nullptr && !same_position(other->root(), c->root())) ||
          other->execution_thread() != c->execution_thread()) {
        continue;
      }
      const Instruction* a = other->first();
      const Instruction* b = c->first();
      while (a != nullptr &&
             InstructionsEqual(*a, *b, same_position, same_class)) {
        a = a->next();
        b = b->next();
      }
      if (a == nullptr) {
        found = other;
        break;
      }
    }
    if (found == nullptr) {
      found = c;
      candidates.push_back(c);
    }
    class_of_[c] = found;
  }
}

}  // namespace ridge
