// From roots to groups: members, pattern, hero, name.

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "fusion/space.h"
#include "fusion/strategies.h"

namespace ridge {
namespace {

// A full reduction, or one to a handful of rows, is spread over the device
// like a column reduction: one block a row would leave it idle.
constexpr int64_t kFewRows = 64;
constexpr int64_t kLongRow = 32768;

std::string Identifier(absl::string_view name) {
  std::string id;
  for (char c : name) id.push_back(absl::ascii_isalnum(c) ? c : '_');
  return id.substr(0, 40);
}

bool MovesMinor(const Instruction& i) {
  return i.opcode() == Opcode::kTranspose && !AliasesOperand(i) &&
         i.shape().rank() > 0;
}

struct Found {
  GroupPattern pattern = GroupPattern::kLoop;
  const Instruction* hero = nullptr;
};

Found Classify(const std::vector<const Instruction*>& members,
               const std::vector<const Instruction*>& roots) {
  Found found;
  found.hero = roots.back();
  const Instruction* row = nullptr;
  const Instruction* column = nullptr;
  Space row_space;
  int chained = 0;
  absl::flat_hash_set<const Instruction*> after_fold;
  for (const Instruction* i : members) {
    if (i->opcode() == Opcode::kDot && members.size() == 1) {
      return {GroupPattern::kGemm, i};
    }
    if (IsWall(*i)) {
      bool in_place = i->opcode() == Opcode::kDynamicUpdateSlice ||
                      i->opcode() == Opcode::kScatter;
      if (in_place && i->shape().IsArray()) return {GroupPattern::kScatter, i};
      return {GroupPattern::kOpaque, i};
    }
    bool after = false;
    for (const Instruction* o : i->operands()) {
      after = after || after_fold.contains(o);
    }
    Space s = SpaceOf(*i);
    if (s.kind == SpaceKind::kRow) {
      if (after) ++chained;
      row = i;
      row_space = s;
      after = true;
    } else if (s.kind == SpaceKind::kColumn) {
      column = i;
      after = true;
    }
    if (after) after_fold.insert(i);
    if (MovesMinor(*i) && row == nullptr && column == nullptr) {
      found.pattern = GroupPattern::kTranspose;
      found.hero = i;
    }
  }
  if (row != nullptr && column != nullptr) {
    return {GroupPattern::kRowColumn, row};
  }
  if (column != nullptr) return {GroupPattern::kColumnReduce, column};
  if (row != nullptr) {
    bool full_output = false;
    for (const Instruction* r : roots) {
      full_output = full_output ||
                    (r->shape().IsArray() && r->opcode() != Opcode::kReduce &&
                     r->shape().ElementCount() == row_space.points);
    }
    bool spread = row_space.rows <= kFewRows && row_space.columns >= kLongRow &&
                  chained == 0 && !full_output;
    return {spread ? GroupPattern::kColumnReduce : GroupPattern::kRowReduce,
            row};
  }
  return found;
}

}  // namespace

Group MakeGroup(const std::vector<const Instruction*>& roots,
                const std::vector<const Instruction*>& allowed,
                int64_t number) {
  absl::flat_hash_set<const Instruction*> may(allowed.begin(), allowed.end());
  absl::flat_hash_set<const Instruction*> members;
  std::vector<const Instruction*> stack;
  for (const Instruction* r : roots) {
    if (members.insert(r).second) stack.push_back(r);
  }
  while (!stack.empty()) {
    const Instruction* i = stack.back();
    stack.pop_back();
    bool wall = IsWall(*i);
    for (const Instruction* o : i->operands()) {
      // A wall reads whole buffers: nothing rides along with it.
      if (wall && o->opcode() != Opcode::kConstant) continue;
      if (wall && i->opcode() != Opcode::kDynamicUpdateSlice &&
          i->opcode() != Opcode::kScatter) {
        continue;
      }
      if (wall && !RidesAlong(*o)) continue;
      if ((may.contains(o) || RidesAlong(*o)) && members.insert(o).second) {
        stack.push_back(o);
      }
    }
  }
  Group group;
  group.members.assign(members.begin(), members.end());
  // Ids follow list order only within what a pass made at once; the list
  // itself decides.
  std::sort(group.members.begin(), group.members.end(),
            [](const Instruction* a, const Instruction* b) {
              return a->id() < b->id();
            });
  group.roots = roots;
  Found found = Classify(group.members, group.roots);
  group.pattern = found.pattern;
  group.hero = found.hero;
  group.name =
      absl::StrCat("fusion_", number, "_", Identifier(group.hero->name()));
  return group;
}

}  // namespace ridge
