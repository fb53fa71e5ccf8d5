#include "hlo/evaluator/inputs.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/thread_pool.h"

namespace ridge {
namespace {

// SplitMix64: the i-th value of a stream without the ones before it.
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// In (0, 1).
double Unit(uint64_t bits) {
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
}

double Normal(uint64_t stream, uint64_t i) {
  double u = Unit(Mix(stream + 2 * i));
  double v = Unit(Mix(stream + 2 * i + 1));
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
}

// Each value by itself, on all threads.
template <typename Fill>
void ForEach(int64_t n, Fill fill) {
  constexpr int64_t kGrain = 1 << 13;
  ParallelFor(0, n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fill(i);
  });
}

// ---- Which parameters are indices, and how large they may be ----

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

// Opcodes whose result holds only elements of operand 0 (or of all operands).
bool MovesElements(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kOptimizationBarrier:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return true;
    default:
      return false;
  }
}

// A value that a parameter leaf flows into: an instruction and, where that is
// a tuple, a path.
struct Place {
  const Instruction* instruction;
  ShapeIndex path;
  bool operator==(const Place& o) const {
    return instruction == o.instruction && path == o.path;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Place& p) {
    return H::combine(std::move(h), p.instruction, p.path);
  }
};

class IndexFlow {
 public:
  // The largest index that is in range wherever the leaf is used as one;
  // kUnlimited if it is not.
  int64_t Limit(const Instruction* parameter, const ShapeIndex& path) {
    Push({parameter, path});
    while (!work_.empty()) {
      Place p = work_.back();
      work_.pop_back();
      for (const Use& use : p.instruction->uses()) Follow(p, use);
      if (p.instruction->IsRoot()) FollowRoot(p);
    }
    return limit_;
  }

 private:
  void Push(Place place) {
    if (place.instruction == nullptr || !seen_.insert(place).second) return;
    work_.push_back(std::move(place));
  }

  void AtMost(int64_t limit) { limit_ = std::min(limit_, limit); }

  void Enter(const Computation* callee, int64_t parameter, const Place& p) {
    if (callee == nullptr ||
        parameter >= static_cast<int64_t>(callee->parameters().size())) {
      return;
    }
    Push({callee->parameter(parameter), p.path});
  }

  void FollowRoot(const Place& p) {
    auto it = returns_.find(p.instruction->parent());
    if (it == returns_.end()) return;
    for (const Instruction* caller : it->second) Push({caller, p.path});
  }

  void Call(const Computation* callee, const Instruction* caller,
            int64_t parameter, const Place& p) {
    if (callee == nullptr) return;
    returns_[callee].push_back(caller);
    Enter(callee, parameter, p);
  }

  void Follow(const Place& p, const Use& use) {
    const Instruction* user = use.user;
    const int64_t k = use.operand_index;
    switch (user->opcode()) {
      case Opcode::kTuple: {
        ShapeIndex path = p.path;
        path.insert(path.begin(), k);
        Push({user, path});
        return;
      }
      case Opcode::kGetTupleElement:
        if (!p.path.empty() && p.path[0] == user->tuple_index()) {
          Push({user, ShapeIndex(p.path.begin() + 1, p.path.end())});
        }
        return;
      case Opcode::kCall:
        Call(user->to_apply(), user, k, p);
        return;
      case Opcode::kFusion:
        Call(user->calls(), user, k, p);
        return;
      case Opcode::kWhile:
        Call(user->computation(AttrId::kBody), user, 0, p);
        Push({user, p.path});
        return;
      case Opcode::kConditional: {
        std::vector<Computation*> branches = user->branches();
        if (k > 0 && k <= static_cast<int64_t>(branches.size())) {
          Call(branches[k - 1], user, 0, p);
        }
        return;
      }
      case Opcode::kClamp:
        if (k == 1) Push({user, p.path});
        return;
      case Opcode::kSelect:
        if (k > 0) Push({user, p.path});
        return;
      case Opcode::kDynamicSlice:
        if (k >= 1)
          LimitStart(user, k - 1, user->operand(k)->shape(),
                     user->operand(0)->shape(), user->shape());
        return;
      case Opcode::kDynamicUpdateSlice:
        if (k >= 2)
          LimitStart(user, k - 2, user->operand(k)->shape(),
                     user->operand(0)->shape(), user->operand(1)->shape());
        return;
      case Opcode::kGather:
        if (k == 1) LimitGather(user);
        return;
      case Opcode::kScatter:
        if (k == user->operand_count() / 2) LimitScatter(user);
        return;
      default:
        if (MovesElements(user->opcode())) Push({user, p.path});
        return;
    }
  }

  void LimitStart(const Instruction* user, int64_t d, const Shape& index,
                  const Shape& from, const Shape& size) {
    if (from.rank() != size.rank()) return;
    for (int64_t i = 0; i < from.rank(); ++i) {
      if (index.rank() == 1 || i == d) AtMost(from.dim(i) - size.dim(i));
    }
  }
  void LimitGather(const Instruction* user) {
    const Shape& from = user->operand(0)->shape();
    Ints sizes = user->ints(AttrId::kSliceSizes);
    for (int64_t d : user->ints(AttrId::kStartIndexMap)) {
      if (d >= 0 && d < from.rank() && d < static_cast<int64_t>(sizes.size())) {
        AtMost(from.dim(d) - sizes[d]);
      }
    }
  }
  void LimitScatter(const Instruction* user) {
    const Shape& to = user->operand(0)->shape();
    const Shape& updates =
        user->operand(user->operand_count() / 2 + 1)->shape();
    Ints window = user->ints(AttrId::kUpdateWindowDims);
    Ints inserted = user->ints(AttrId::kInsertedWindowDims);
    Ints batching = user->ints(AttrId::kInputBatchingDims);
    std::map<int64_t, int64_t> extent;
    size_t k = 0;
    for (int64_t d = 0; d < to.rank(); ++d) {
      extent[d] = 1;
      if (std::find(inserted.begin(), inserted.end(), d) != inserted.end() ||
          std::find(batching.begin(), batching.end(), d) != batching.end()) {
        continue;
      }
      if (k < window.size() && window[k] < updates.rank()) {
        extent[d] = updates.dim(window[k]);
      }
      ++k;
    }
    for (int64_t d : user->ints(AttrId::kScatterDimsToOperandDims)) {
      if (d >= 0 && d < to.rank()) AtMost(to.dim(d) - extent[d]);
    }
  }

  int64_t limit_ = kUnlimited;
  std::vector<Place> work_;
  absl::flat_hash_set<Place> seen_;
  absl::flat_hash_map<const Computation*, std::vector<const Instruction*>>
      returns_;
};

Literal RandomTree(const Instruction* parameter, const Shape& shape,
                   uint64_t seed, ShapeIndex* path) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (size_t k = 0; k < shape.tuple_shapes().size(); ++k) {
      path->push_back(static_cast<int64_t>(k));
      elements.push_back(
          RandomTree(parameter, shape.tuple_shape(k), Mix(seed + k + 1), path));
      path->pop_back();
    }
    Literal out = Literal::Tuple(std::move(elements));
    *out.mutable_shape() = shape;
    return out;
  }
  int64_t bound = 10;
  if (IsInteger(shape.type())) {
    int64_t limit = IndexFlow().Limit(parameter, *path);
    if (limit != kUnlimited) bound = std::max<int64_t>(limit, 0) + 1;
  }
  return RandomLiteral(shape, seed, bound);
}

}  // namespace

Literal RandomLiteral(const Shape& shape, uint64_t seed, int64_t bound) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (size_t k = 0; k < shape.tuple_shapes().size(); ++k) {
      elements.push_back(
          RandomLiteral(shape.tuple_shape(k), Mix(seed + k + 1), bound));
    }
    Literal out = Literal::Tuple(std::move(elements));
    *out.mutable_shape() = shape;
    return out;
  }
  Literal out = Literal::Zeros(shape);
  if (!shape.IsArray()) return out;
  const uint64_t stream = Mix(seed) << 1;
  const int64_t n = shape.ElementCount();
  const ElementType type = shape.type();
  if (type == ElementType::kF32 || type == ElementType::kC64) {
    absl::Span<float> data = out.mutable_data<float>();
    ForEach(IsComplex(type) ? 2 * n : n, [&](int64_t i) {
      data[i] = static_cast<float>(Normal(stream, i));
    });
  } else if (type == ElementType::kC128) {
    absl::Span<double> data = out.mutable_data<double>();
    ForEach(2 * n, [&](int64_t i) { data[i] = Normal(stream, i); });
  } else if (IsFloat(type)) {
    ForEach(n, [&](int64_t i) { SetDouble(&out, i, Normal(stream, i)); });
  } else if (IsPred(type)) {
    absl::Span<uint8_t> data = out.mutable_data<uint8_t>();
    ForEach(n, [&](int64_t i) { data[i] = Mix(stream + i) >> 63; });
  } else {
    const double top = static_cast<double>(std::max<int64_t>(bound, 1));
    ForEach(n, [&](int64_t i) {
      SetDouble(&out, i, std::floor(Unit(Mix(stream + i)) * top));
    });
  }
  return out;
}

absl::StatusOr<std::vector<Literal>> MakeInputs(const Module& module,
                                                const InputOptions& options) {
  const Computation* entry = module.entry();
  if (entry == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("module ", module.name(), " has no entry computation"));
  }
  int64_t left = options.max_bytes;
  std::vector<Literal> inputs;
  for (size_t k = 0; k < entry->parameters().size(); ++k) {
    const Instruction* p = entry->parameter(k);
    if (p == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("the entry has no parameter ", k));
    }
    const Shape& shape = p->shape();
    bool made = shape.IsStatic();
    ForEachLeaf(shape, [&](const Shape& leaf, const ShapeIndex&) {
      made = made && (leaf.IsArray() || leaf.IsToken());
      if (!leaf.IsArray()) return;
      left -= std::min(
          left, SaturatingMul(leaf.ElementCount(), StorageBytes(leaf.type())));
    });
    if (!made) {
      return absl::UnimplementedError(absl::StrCat("no values for parameter ",
                                                   p->name(), " of shape ",
                                                   shape.ToString()));
    }
    if (left <= 0) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the parameters take more than ", options.max_bytes, " bytes"));
    }
    ShapeIndex path;
    inputs.push_back(
        RandomTree(p, shape, Mix(options.seed * 0x10001 + k), &path));
  }
  return inputs;
}

}  // namespace ridge
