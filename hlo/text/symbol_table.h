// Instruction names of one computation while it is read.
#ifndef RIDGE_HLO_TEXT_SYMBOL_TABLE_H_
#define RIDGE_HLO_TEXT_SYMBOL_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"
#include "hlo/text/hash.h"

namespace ridge {

// Open addressing with linear probing. Clear() is free: slots of an earlier
// generation count as empty, so one table serves many small computations.
class SymbolTable {
 public:
  SymbolTable() : slots_(kFirstSize) {}

  void Clear() {
    ++generation_;
    used_ = 0;
  }

  Instruction* Find(absl::string_view name) const {
    uint32_t hash = static_cast<uint32_t>(HashText(name));
    size_t mask = slots_.size() - 1;
    for (size_t i = hash & mask; slots_[i].generation == generation_;
         i = (i + 1) & mask) {
      if (slots_[i].hash == hash && slots_[i].instruction->name() == name) {
        return slots_[i].instruction;
      }
    }
    return nullptr;
  }

  // False if the name is taken.
  bool Insert(Instruction* instruction) {
    absl::string_view name = instruction->name();
    uint32_t hash = static_cast<uint32_t>(HashText(name));
    size_t mask = slots_.size() - 1;
    size_t i = hash & mask;
    for (; slots_[i].generation == generation_; i = (i + 1) & mask) {
      if (slots_[i].hash == hash && slots_[i].instruction->name() == name) {
        return false;
      }
    }
    slots_[i] = Slot{generation_, hash, instruction};
    if (++used_ * 2 > slots_.size()) Grow();
    return true;
  }

  // Every name in the table, for suggestions; in no particular order.
  std::vector<absl::string_view> Names() const {
    std::vector<absl::string_view> names;
    for (const Slot& s : slots_) {
      if (s.generation == generation_) names.push_back(s.instruction->name());
    }
    return names;
  }

 private:
  static constexpr size_t kFirstSize = 64;  // a power of two
  struct Slot {
    uint32_t generation = 0;
    uint32_t hash = 0;
    Instruction* instruction = nullptr;
  };

  void Grow() {
    std::vector<Slot> bigger(slots_.size() * 2);
    size_t mask = bigger.size() - 1;
    for (const Slot& s : slots_) {
      if (s.generation != generation_) continue;
      size_t i = s.hash & mask;
      while (bigger[i].generation == generation_) i = (i + 1) & mask;
      bigger[i] = s;
    }
    slots_ = std::move(bigger);
  }

  std::vector<Slot> slots_;
  uint32_t generation_ = 1;
  size_t used_ = 0;
};

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_SYMBOL_TABLE_H_
