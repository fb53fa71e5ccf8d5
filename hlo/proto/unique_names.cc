#include "hlo/proto/unique_names.h"

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ridge::proto_internal {
namespace {

// The numbers that follow one stem.
class Numbers {
 public:
  // `wanted` if it is free, else the smallest free number.
  int64_t Take(int64_t wanted) {
    if (used_.insert(wanted).second) return wanted;
    while (!used_.insert(next_).second) ++next_;
    return next_++;
  }

 private:
  absl::flat_hash_set<int64_t> used_;
  int64_t next_ = 0;
};

// x.12 into x and 12. False where the name does not end in a number.
bool SplitNumber(absl::string_view name, absl::string_view* stem,
                 int64_t* number) {
  const size_t dot = name.rfind('.');
  if (dot == absl::string_view::npos || dot == 0 || dot + 1 == name.size() ||
      !absl::SimpleAtoi(name.substr(dot + 1), number)) {
    *stem = name;
    *number = 0;
    return false;
  }
  *stem = name.substr(0, dot);
  return true;
}

}  // namespace

std::vector<std::string> UniqueNames(const Module& module) {
  std::vector<std::string> names(static_cast<size_t>(module.id_bound()));
  absl::flat_hash_map<absl::string_view, Numbers> stems;
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      absl::string_view stem;
      int64_t number;
      const bool has_number = SplitNumber(i->name(), &stem, &number);
      number = stems[stem].Take(number);
      names[i->id()] = number == 0 && !has_number
                           ? std::string(stem)
                           : absl::StrCat(stem, ".", number);
    }
  }
  return names;
}

}  // namespace ridge::proto_internal
