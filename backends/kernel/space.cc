#include "backends/kernel/space.h"

#include <algorithm>
#include <deque>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

const Shape& ArrayShape(const Instruction& i) {
  return i.shape().IsTuple() && !i.shape().tuple_shapes().empty()
             ? i.shape().tuple_shape(0)
             : i.shape();
}

class HomeSpreader {
 public:
  HomeSpreader(KernelBuilder* b, HomeMap* homes) : b_(*b), homes_(*homes) {
    // Not Instruction::users(): a value may have thousands outside the group.
    for (const Instruction* m : b_.group().members) {
      for (const Instruction* o : m->operands()) {
        auto& users = users_[o];
        if (users.empty() || users.back() != m) users.push_back(m);
      }
    }
  }

  void Run(const Instruction* origin, const IndexTuple& index) {
    Set(origin, index);
    Drain();
    // Broadcasts of a value with a home into the rest of the space, where no
    // other value told the rest: dimensions in the order of the origin's.
    for (const Instruction* m : b_.group().members) {
      if (m->opcode() != Opcode::kBroadcast || homes_.contains(m)) continue;
      WidenBroadcast(*m, *origin, index);
      Drain();
    }
  }

 private:
  // The first home stays: a second one would be another access of the same
  // value, which is found by demand.
  void Set(const Instruction* i, IndexTuple index) {
    if (ArrayShape(*i).rank() != static_cast<int64_t>(index.size())) return;
    if (homes_.try_emplace(i, std::move(index)).second) queue_.push_back(i);
  }

  void Drain() {
    while (!queue_.empty()) {
      const Instruction* i = queue_.front();
      queue_.pop_front();
      if (b_.IsMember(i)) Down(*i);
      auto users = users_.find(i);
      if (users == users_.end()) continue;
      for (const Instruction* user : users->second) Up(*user, *i);
    }
  }

  // From an instruction to its operands.
  void Down(const Instruction& i) {
    const IndexTuple home = homes_.at(&i);
    const Shape& to = ArrayShape(i);
    switch (i.opcode()) {
      case Opcode::kBroadcast: {
        IndexTuple index;
        for (int64_t d : i.dimensions()) index.push_back(home[d]);
        Set(i.operand(0), std::move(index));
        return;
      }
      case Opcode::kTranspose: {
        IndexTuple index(home.size());
        for (size_t d = 0; d < home.size(); ++d) {
          index[i.dimensions()[d]] = home[d];
        }
        Set(i.operand(0), std::move(index));
        return;
      }
      case Opcode::kReshape:
      case Opcode::kBitcast: {
        const Shape& from = i.operand(0)->shape();
        if (from.ElementCount() != to.ElementCount()) return;
        const bool rows = i.opcode() == Opcode::kReshape;
        IndexId linear =
            b_.Linear(home, to.dims(),
                      rows ? RowMajorOrder(to.rank()) : PhysicalOrder(to));
        Set(i.operand(0), b_.Delinear(linear, from.dims(),
                                      rows ? RowMajorOrder(from.rank())
                                           : PhysicalOrder(from)));
        return;
      }
      case Opcode::kGetTupleElement:
        Set(i.operand(0), home);
        return;
      default:
        if (!IsElementwise(i.opcode())) return;
        for (const Instruction* o : i.operands()) {
          if (o->shape().SameDims(i.shape())) Set(o, home);
        }
    }
  }

  // From an operand to its user.
  void Up(const Instruction& user, const Instruction& operand) {
    const IndexTuple home = homes_.at(&operand);
    switch (user.opcode()) {
      case Opcode::kReduce: {
        const int64_t n = user.operand_count() / 2;
        bool is_value = false;
        for (int64_t k = 0; k < n; ++k) {
          is_value |= user.operand(k) == &operand;
        }
        if (!is_value) return;
        for (int64_t k = 0; k < n; ++k) Set(user.operand(k), home);
        IndexTuple kept;
        Ints folded = user.dimensions();
        for (size_t d = 0; d < home.size(); ++d) {
          if (std::find(folded.begin(), folded.end(),
                        static_cast<int64_t>(d)) == folded.end()) {
            kept.push_back(home[d]);
          }
        }
        Set(&user, std::move(kept));
        return;
      }
      case Opcode::kTranspose: {
        IndexTuple index;
        for (int64_t d : user.dimensions()) index.push_back(home[d]);
        Set(&user, std::move(index));
        return;
      }
      case Opcode::kReshape:
      case Opcode::kBitcast: {
        const Shape &from = operand.shape(), &to = user.shape();
        if (from.ElementCount() != to.ElementCount()) return;
        const bool rows = user.opcode() == Opcode::kReshape;
        IndexId linear =
            b_.Linear(home, from.dims(),
                      rows ? RowMajorOrder(from.rank()) : PhysicalOrder(from));
        Set(&user,
            b_.Delinear(linear, to.dims(),
                        rows ? RowMajorOrder(to.rank()) : PhysicalOrder(to)));
        return;
      }
      case Opcode::kGetTupleElement:
        Set(&user, home);
        return;
      default:
        if (IsElementwise(user.opcode()) &&
            operand.shape().SameDims(user.shape())) {
          Set(&user, home);
        }
    }
  }

  void WidenBroadcast(const Instruction& m, const Instruction& origin,
                      const IndexTuple& space) {
    auto it = homes_.find(m.operand(0));
    if (it == homes_.end()) return;
    const IndexTuple operand_home = it->second;
    uint64_t used = b_.VarsOf(operand_home, kAlways);
    // Dimensions of the origin whose variables the operand does not use.
    std::vector<int64_t> free;
    for (int64_t d = 0; d < ArrayShape(origin).rank(); ++d) {
      uint64_t mask = b_.pool().VarMask(space[d]);
      if (mask != 0 && (mask & used) == 0) free.push_back(d);
    }
    IndexTuple home(m.shape().rank(), -1);
    Ints dims = m.dimensions();
    for (size_t k = 0; k < dims.size(); ++k) home[dims[k]] = operand_home[k];
    size_t next = 0;
    for (int64_t d = 0; d < m.shape().rank(); ++d) {
      if (home[d] >= 0) continue;
      if (m.shape().dim(d) == 1) {
        home[d] = b_.pool().Const(0);
        continue;
      }
      if (next == free.size() ||
          ArrayShape(origin).dim(free[next]) != m.shape().dim(d)) {
        return;
      }
      home[d] = space[free[next++]];
    }
    if (next == free.size()) Set(&m, std::move(home));
  }

  KernelBuilder& b_;
  HomeMap& homes_;
  absl::flat_hash_map<const Instruction*,
                      absl::InlinedVector<const Instruction*, 2>>
      users_;
  std::deque<const Instruction*> queue_;
};

// The reduction whose operand spans the space: the hero, or the members' first
// with the largest operand.
const Instruction* FindReduce(const Group& group) {
  if (group.hero != nullptr && group.hero->opcode() == Opcode::kReduce) {
    return group.hero;
  }
  const Instruction* best = nullptr;
  for (const Instruction* m : group.members) {
    if (m->opcode() != Opcode::kReduce) continue;
    if (best == nullptr || m->operand(0)->shape().ElementCount() >
                               best->operand(0)->shape().ElementCount()) {
      best = m;
    }
  }
  return best;
}

// Splits the physically ordered dimensions of `shape` into runs: neighbours
// with the same signature. Dimensions of size one belong to no run.
std::vector<std::vector<int64_t>> Runs(
    const Shape& shape, const std::vector<std::vector<bool>>& signature) {
  std::vector<std::vector<int64_t>> runs;
  for (int64_t d : PhysicalOrder(shape)) {
    if (shape.dim(d) == 1) continue;
    if (!runs.empty() && signature[runs.back().back()] == signature[d]) {
      runs.back().push_back(d);
    } else {
      runs.push_back({d});
    }
  }
  return runs;
}

// Brings the runs of a row reduction whose rows lie in pieces into this order:
// what is kept, then all that is reduced as one. *piece becomes the elements of
// a piece. Leaves the runs alone where a row is one run already, where the
// minor dimension is kept, or where reductions fold over different dimensions.
void GatherRows(const Shape& shape,
                const std::vector<std::vector<bool>>& signature,
                std::vector<std::vector<int64_t>>* runs, int64_t* piece) {
  if (runs->empty()) return;
  auto of = [&](const std::vector<int64_t>& run) { return signature[run[0]]; };
  const std::vector<bool> folded = of(runs->back());
  auto is_kept = [](const std::vector<bool>& s) {
    return std::find(s.begin(), s.end(), true) == s.end();
  };
  if (is_kept(folded)) return;
  std::vector<std::vector<int64_t>> ordered;
  std::vector<int64_t> row;
  for (const std::vector<int64_t>& run : *runs) {
    if (is_kept(of(run))) {
      ordered.push_back(run);
    } else if (of(run) == folded) {
      row.insert(row.end(), run.begin(), run.end());
    } else {
      return;
    }
  }
  if (row.size() == runs->back().size()) return;
  *piece = 1;
  for (int64_t d : runs->back()) *piece *= shape.dim(d);
  ordered.push_back(std::move(row));
  *runs = std::move(ordered);
}

// For each dimension of the space, which reductions fold over it. Variable d
// of `homes` is dimension d.
std::vector<std::vector<bool>> Signatures(KernelBuilder* b,
                                          const HomeMap& homes, int64_t rank) {
  std::vector<std::vector<bool>> signature(rank);
  for (const Instruction* m : b->group().members) {
    if (m->opcode() != Opcode::kReduce) continue;
    auto it = homes.find(m->operand(0));
    if (it == homes.end()) continue;
    uint64_t folded = 0;
    for (int64_t d : m->dimensions()) {
      folded |= b->pool().VarMask(it->second[d]);
    }
    for (int64_t d = 0; d < rank; ++d) {
      signature[d].push_back((folded >> d) & 1);
    }
  }
  return signature;
}

// Every group needs a variable.
void EnsureSpace(KernelBuilder* b) {
  if (b->kernel()->vars.empty()) b->AddSpaceVar(1);
}

int64_t PartCount(const Instruction& root) {
  return root.shape().IsTuple() ? root.shape().tuple_shapes().size() : 1;
}

int32_t FirstOutput(const Kernel& kernel) {
  int32_t b = 0;
  while (!kernel.buffers[b].is_output) ++b;
  return b;
}

// A place over the space for a root that nothing ties to it: any that gives
// each of its elements one point will do. First choice is that of a value with
// the same dimensions, then that of the reduction's result or operand where
// they have as many elements.
absl::StatusOr<IndexTuple> FitToSpace(KernelBuilder* b, const HomeMap& homes,
                                      const Instruction& root, const Shape& out,
                                      const Instruction* reduce) {
  auto fits = [&](const Instruction* value) {
    auto it = homes.find(value);
    return it != homes.end() &&
           PointCount(*b->kernel(), b->VarsOf(it->second, kAlways)) ==
               out.ElementCount();
  };
  for (const Instruction* m : b->group().members) {
    if (ArrayShape(*m).SameDims(out) && fits(m)) return homes.at(m);
  }
  for (const Instruction* value :
       {reduce, static_cast<const Instruction*>(reduce->operand(0))}) {
    const Shape& shape = ArrayShape(*value);
    if (shape.ElementCount() != out.ElementCount() || !fits(value)) continue;
    IndexId linear =
        b->Linear(homes.at(value), shape.dims(), PhysicalOrder(shape));
    return b->Delinear(linear, out.dims(), PhysicalOrder(out));
  }
  return Refuse(root, absl::StrCat("root of ", out.ElementCount(),
                                   " elements is not over the space of ",
                                   reduce->name()));
}

}  // namespace

HomeMap SpreadHomes(KernelBuilder* b, const Instruction* origin,
                    const IndexTuple& index) {
  HomeMap homes;
  HomeSpreader(b, &homes).Run(origin, index);
  return homes;
}

absl::Status StoreRoot(KernelBuilder* b, const Instruction* root, int32_t part,
                       int32_t buffer, const IndexTuple& index) {
  const Shape& shape = b->kernel()->buffers[buffer].shape;
  if (shape.ElementCount() == 0) return absl::OkStatus();
  Store store;
  RIDGE_ASSIGN_OR_RETURN(store.value, b->Value({root, part, index, kAlways}));
  store.buffer = buffer;
  store.offset = b->Offset(shape, index);
  b->kernel()->stores.push_back(store);
  return absl::OkStatus();
}

absl::Status BuildLoopStores(KernelBuilder* b) {
  const Group& group = b->group();
  // The space is the root with the most dimensions: the others' indices then
  // are sums, where the other way round they would be divisions.
  const Shape* space = nullptr;
  auto wide_dims = [](const Shape& s) {
    return std::count_if(s.dims().begin(), s.dims().end(),
                         [](int64_t d) { return d != 1; });
  };
  for (const Instruction* root : group.roots) {
    for (int64_t p = 0; p < PartCount(*root); ++p) {
      const Shape& shape = PartShape(*root, p);
      if (space != nullptr && shape.ElementCount() != space->ElementCount()) {
        return Refuse(*root, absl::StrCat("roots of different sizes: ",
                                          shape.ElementCount(), " and ",
                                          space->ElementCount(), " elements"));
      }
      if (space == nullptr || wide_dims(shape) > wide_dims(*space)) {
        space = &shape;
      }
    }
  }
  IndexTuple home(space->rank(), b->pool().Const(0));
  const DimVector order = PhysicalOrder(*space);
  for (int64_t d : order) {
    if (space->dim(d) != 1) home[d] = b->AddSpaceVar(space->dim(d));
    if (b->kernel()->vars.size() >= 64) {
      return Refuse(*group.roots[0], "dimensions: more than 64");
    }
  }
  EnsureSpace(b);
  const IndexId linear = b->Linear(home, space->dims(), order);
  int32_t buffer = FirstOutput(*b->kernel());
  for (const Instruction* root : group.roots) {
    for (int64_t p = 0; p < PartCount(*root); ++p) {
      const Shape& shape = PartShape(*root, p);
      // Consecutive points write consecutive elements of every root.
      IndexTuple index =
          b->Delinear(linear, shape.dims(), PhysicalOrder(shape));
      RIDGE_RETURN_IF_ERROR(StoreRoot(b, root, p, buffer++, index));
    }
  }
  return absl::OkStatus();
}

absl::Status BuildReduceStores(KernelBuilder* b) {
  const Group& group = b->group();
  const Instruction* reduce = FindReduce(group);
  if (reduce == nullptr) {
    return Refuse(*group.roots[0],
                  absl::StrCat("pattern ", PatternName(group.pattern),
                               " without a reduction"));
  }
  const Instruction* origin = reduce->operand(0);
  const Shape& shape = origin->shape();
  if (shape.rank() > 60) {
    return Refuse(*reduce, absl::StrCat("rank: ", shape.rank(), " > 60"));
  }
  // Once with a variable a dimension, to see which reductions fold over which.
  std::vector<std::vector<bool>> signature;
  {
    Kernel scratch;
    scratch.index = std::make_shared<IndexPool>();
    KernelBuilder probe(group, &scratch);
    IndexTuple index;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      index.push_back(probe.AddSpaceVar(shape.dim(d)));
    }
    signature =
        Signatures(&probe, SpreadHomes(&probe, origin, index), shape.rank());
  }
  // An empty dimension has no variable to tell by: each stands alone.
  if (shape.ElementCount() == 0) {
    for (int64_t d = 0; d < shape.rank(); ++d) {
      signature[d].assign(shape.rank(), false);
      signature[d][d] = true;
    }
  }
  std::vector<std::vector<int64_t>> runs = Runs(shape, signature);
  if (group.pattern == GroupPattern::kRowReduce) {
    GatherRows(shape, signature, &runs, &b->kernel()->row_piece);
  }
  IndexTuple index(shape.rank(), b->pool().Const(0));
  for (const std::vector<int64_t>& run : runs) {
    int64_t extent = 1;
    for (int64_t d : run) extent = SaturatingMul(extent, shape.dim(d));
    IndexId var = b->AddSpaceVar(extent);
    IndexTuple parts = b->Delinear(var, shape.dims(), run);
    for (int64_t d : run) index[d] = parts[d];
  }
  EnsureSpace(b);
  HomeMap homes = SpreadHomes(b, origin, index);
  b->SetHomes(homes);
  int32_t buffer = FirstOutput(*b->kernel());
  for (const Instruction* root : group.roots) {
    auto it = homes.find(root);
    for (int64_t p = 0; p < PartCount(*root); ++p, ++buffer) {
      const Shape& out = PartShape(*root, p);
      IndexTuple at(out.rank(), b->pool().Const(0));
      if (it != homes.end()) {
        at = it->second;
      } else if (out.ElementCount() > 1) {
        RIDGE_ASSIGN_OR_RETURN(at, FitToSpace(b, homes, *root, out, reduce));
      }
      // Each element must be stored once.
      if (out.ElementCount() != 0 &&
          PointCount(*b->kernel(), b->VarsOf(at, kAlways)) !=
              out.ElementCount()) {
        return Refuse(*root, "root covers its space more than once");
      }
      RIDGE_RETURN_IF_ERROR(StoreRoot(b, root, p, buffer, at));
    }
  }
  return absl::OkStatus();
}

}  // namespace ridge
