// Values of buffer type (`b(f32[32])`): memory that instructions write in
// place. Each has one writer, and what takes a buffer hands it on.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "hlo/verify/infer.h"
#include "hlo/verify/rules.h"

namespace ridge::verify {
namespace {

// A buffer as made: by which instruction, at which index of its result.
struct Origin {
  const Instruction* maker;
  ShapeIndex index;
  bool operator==(const Origin& o) const {
    return maker == o.maker && index == o.index;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Origin& o) {
    return H::combine(std::move(h), o.maker, o.index);
  }
};

// The buffer leaves of a result and where each was made.
using Leaves = std::vector<std::pair<ShapeIndex, Origin>>;

bool StartsWith(const ShapeIndex& index, int64_t first) {
  return !index.empty() && index[0] == first;
}

class BufferCheck {
 public:
  explicit BufferCheck(Context* context) : context_(context) {}

  void Run(const Computation& c) {
    for (const Instruction* i : c.instructions()) Visit(*i);
    // What the computation returns is used by whoever called it.
    Use(*c.root(), *c.root());
  }

 private:
  void Visit(const Instruction& i) {
    Leaves leaves = LeavesOf(i);
    leaves_[&i] = std::move(leaves);
  }

  // What `i` makes or hands on; counts what it uses.
  Leaves LeavesOf(const Instruction& i) {
    Leaves leaves;
    switch (i.opcode()) {
      case Opcode::kTuple:
        for (int64_t k = 0; k < i.operand_count(); ++k) {
          for (const auto& [index, origin] : leaves_[i.operand(k)]) {
            ShapeIndex at = {k};
            at.insert(at.end(), index.begin(), index.end());
            leaves.emplace_back(std::move(at), origin);
          }
        }
        return leaves;
      case Opcode::kGetTupleElement:
        for (const auto& [index, origin] : leaves_[i.operand(0)]) {
          if (!StartsWith(index, i.tuple_index())) continue;
          leaves.emplace_back(ShapeIndex(index.begin() + 1, index.end()),
                              origin);
        }
        return leaves;
      case Opcode::kOptimizationBarrier:
        return leaves_[i.operand(0)];
      default:
        break;
    }
    for (const Instruction* operand : i.operands()) Use(*operand, i);
    if (i.opcode() == Opcode::kCustomCall) CheckCustomCall(i);
    ForEachLeaf(i.shape(), [&](const Shape& leaf, const ShapeIndex& index) {
      if (leaf.IsBuffer()) leaves.emplace_back(index, Origin{&i, index});
    });
    return leaves;
  }

  void Use(const Instruction& operand, const Instruction& user) {
    for (const auto& [index, origin] : leaves_[&operand]) {
      const Instruction*& writer = writers_[origin];
      if (writer != nullptr) {
        context_->Fail(user, "buffer",
                       "an HLO buffer value has more than one "
                       "writers: that of ",
                       origin.maker->name(), " goes to ", writer->name(),
                       " and to ", user.name());
      }
      writer = &user;
    }
  }

  void CheckCustomCall(const Instruction& i) {
    const absl::string_view target = i.text(AttrId::kCustomCallTarget);
    const auto* aliases =
        i.boxed<OperandAliases>(AttrId::kOutputToOperandAliasing);
    const size_t count = aliases == nullptr ? 0 : aliases->size();
    if (target == "Pin" || target == "Unpin") {
      CheckPin(i, target == "Pin", count);
      return;
    }
    for (int64_t k = 0; k < i.operand_count(); ++k) {
      for (const auto& [index, origin] : leaves_[i.operand(k)]) {
        int64_t results = 0;
        for (size_t a = 0; a < count; ++a) {
          results += (*aliases)[a].operand == k &&
                     (*aliases)[a].operand_index == index;
        }
        if (results == 1) continue;
        context_->Fail(i, "buffer", "buffer is used in ",
                       results == 0 ? "operands but not in results: operand "
                                    : "results multiple times: operand ",
                       k,
                       " must be aliased with one result by "
                       "output_to_operand_aliasing, found ",
                       results);
      }
    }
  }

  void CheckPin(const Instruction& i, bool pin, size_t aliases) {
    const absl::string_view name = pin ? "Pin" : "Unpin";
    if (i.operand_count() != 1) {
      context_->Fail(i, "buffer", "custom-call to ", name,
                     " must have one operand, found ", i.operand_count());
      return;
    }
    const Shape& array = pin ? i.operand(0)->shape() : i.shape();
    const Shape& buffer = pin ? i.shape() : i.operand(0)->shape();
    if (!array.IsArray() || !buffer.IsBuffer() ||
        !infer::Compatible(array, buffer.tuple_shape(0))) {
      context_->Fail(i, "buffer", "custom-call to ", name, " takes ",
                     pin ? "an array and makes a buffer of it"
                         : "a buffer and gives its array",
                     ", found ", i.operand(0)->shape().ToString(), " to ",
                     i.shape().ToString());
    }
    if (aliases != 1) {
      context_->Fail(i, "buffer", "custom-call to ", name,
                     " must have one output-to-operand aliasing, found ",
                     aliases);
    }
  }

  Context* context_;
  absl::flat_hash_map<const Instruction*, Leaves> leaves_;
  absl::flat_hash_map<Origin, const Instruction*> writers_;
};

}  // namespace

bool HoldsBuffer(const Shape& shape) {
  if (shape.IsBuffer()) return true;
  for (const Shape& t : shape.tuple_shapes()) {
    if (HoldsBuffer(t)) return true;
  }
  return false;
}

void CheckBuffers(const Computation& c, Context* context) {
  for (const Instruction* i : c.instructions()) {
    // Buffers begin as parameters or are made by custom calls and the like.
    if (i->opcode() == Opcode::kTuple ||
        i->opcode() == Opcode::kGetTupleElement || !HoldsBuffer(i->shape())) {
      continue;
    }
    BufferCheck(context).Run(c);
    return;
  }
}

}  // namespace ridge::verify
