#include "fusion/axes.h"

#include <deque>
#include <utility>

#include "absl/container/inlined_vector.h"

namespace ridge {

AxisMask GroupAxes::MaskOf(const Instruction* i) const {
  auto it = values.find(i);
  return it == values.end() ? 0 : table.Mask(it->second);
}

namespace {

class Spreader {
 public:
  explicit Spreader(absl::Span<const Instruction* const> members)
      : members_(members), inside_(members.begin(), members.end()) {
    // Not Instruction::uses(): a value may have thousands of other readers.
    for (const Instruction* m : members_) {
      for (int64_t k = 0; k < m->operand_count(); ++k) {
        users_[m->operand(k)].push_back({m, k});
      }
    }
  }

  GroupAxes Run(const Instruction* seed) {
    Seed(seed, true);
    for (const Instruction* m : members_) {
      if (!found_.values.contains(m)) Seed(m, false);
    }
    Settle();
    found_.overflow = found_.overflow || found_.table.full();
    return std::move(found_);
  }

 private:
  void Seed(const Instruction* i, bool home) {
    const Shape& shape = ArrayShapeOf(*i);
    if (!shape.IsArray()) return;
    ValueAxes axes(shape.rank());
    for (int64_t d = 0; d < shape.rank(); ++d) Fresh(shape.dim(d), &axes[d]);
    Set(i, std::move(axes), home);
    Drain();
  }

  void Fresh(int64_t extent, DimAxes* axes) {
    if (extent == 1) return;
    AxisId a = found_.table.New(extent);
    if (a < 0) {
      found_.overflow = true;
      return;
    }
    axes->push_back(a);
  }

  void Set(const Instruction* i, ValueAxes axes, bool home) {
    auto [it, made] = found_.values.try_emplace(i, std::move(axes));
    if (!made) return;
    found_.table.MarkTogether(it->second);
    if (home) found_.homed.insert(i);
    queue_.push_back(i);
  }

  void Drain() {
    while (!queue_.empty() && !found_.overflow) {
      const Instruction* i = queue_.front();
      queue_.pop_front();
      const bool home = found_.homed.contains(i);
      if (inside_.contains(i)) {
        for (int64_t k = 0; k < i->operand_count(); ++k) Down(*i, k, home);
      }
      auto it = users_.find(i);
      if (it == users_.end()) continue;
      for (const auto& [user, k] : it->second) Up(*user, k, home);
    }
  }

  // Axes of the dimensions on one side of an edge from those on the other.
  // Where a link joins several dimensions to several others, the axes are cut
  // at the dimension boundaries.
  bool Transfer(const ValueAxes& from, const Shape& to_shape,
                absl::Span<const int64_t> from_dims,
                absl::Span<const int64_t> to_dims, ValueAxes* to) {
    DimAxes all;
    for (int64_t d : from_dims) {
      all.insert(all.end(), from[d].begin(), from[d].end());
    }
    if (to_dims.size() == 1) {
      (*to)[to_dims[0]] = std::move(all);
      return true;
    }
    // Fresh axes of the right extents, made one with the old.
    DimAxes fresh;
    for (int64_t d : to_dims) {
      AxisId a = found_.table.New(to_shape.dim(d));
      if (a < 0) return false;
      (*to)[d] = {a};
      fresh.push_back(a);
    }
    return found_.table.Unify(all, fresh);
  }

  void Down(const Instruction& i, int64_t k, bool home) {
    const Instruction* operand = i.operand(k);
    if (found_.values.contains(operand)) return;
    const Shape& shape = ArrayShapeOf(*operand);
    if (!shape.IsArray()) return;
    EdgeLinks e = LinksOf(i, k);
    ValueAxes axes(shape.rank());
    const ValueAxes user = found_.values[&i];
    for (const DimLink& link : e.links) {
      if (!Transfer(user, shape, link.user, link.operand, &axes)) {
        for (int64_t d : link.operand) axes[d].clear();
      }
    }
    bool all = true;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (axes[d].empty() && shape.dim(d) != 1) {
        Fresh(shape.dim(d), &axes[d]);
        all = false;
      }
    }
    Set(operand, std::move(axes), home && e.carries && all);
  }

  void Up(const Instruction& user, int64_t k, bool home) {
    if (found_.values.contains(&user)) return;
    const Shape& shape = ArrayShapeOf(user);
    if (!shape.IsArray()) return;
    EdgeLinks e = LinksOf(user, k);
    // Inits, indices and the like say nothing about where their user lies.
    if (e.links.empty()) return;
    ValueAxes axes(shape.rank());
    const ValueAxes operand = found_.values[user.operand(k)];
    for (const DimLink& link : e.links) {
      if (!Transfer(operand, shape, link.operand, link.user, &axes)) {
        for (int64_t d : link.user) axes[d].clear();
      }
    }
    bool all = true;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (axes[d].empty() && shape.dim(d) != 1) {
        Fresh(shape.dim(d), &axes[d]);
        all = false;
      }
    }
    Set(&user, std::move(axes), home && e.carries && all);
  }

  static DimAxes Concat(const ValueAxes& value,
                        absl::Span<const int64_t> dims) {
    DimAxes all;
    for (int64_t d : dims) {
      all.insert(all.end(), value[d].begin(), value[d].end());
    }
    return all;
  }

  // Joins what met from two sides, then notes the edges that stay apart.
  void Settle() {
    for (const Instruction* m : members_) {
      for (int64_t k = 0; k < m->operand_count(); ++k) {
        auto from = found_.values.find(m->operand(k));
        auto to = found_.values.find(m);
        if (from == found_.values.end() || to == found_.values.end()) continue;
        EdgeLinks e = LinksOf(*m, k);
        for (const DimLink& link : e.links) {
          DimAxes a = Concat(from->second, link.operand);
          DimAxes b = Concat(to->second, link.user);
          if (!found_.table.Same(a, b) && found_.table.Unify(a, b)) {
            found_.table.MarkTogether(from->second);
            found_.table.MarkTogether(to->second);
          }
        }
      }
    }
    SpreadHomes();
    for (const Instruction* m : members_) {
      for (int64_t k = 0; k < m->operand_count(); ++k) Note(*m, k);
    }
  }

  // Values whose axes lie in the seed's space although no single edge said so
  // (a broadcast whose other dimensions a neighbour told).
  void SpreadHomes() {
    AxisMask space = 0;
    for (const Instruction* i : found_.homed) space |= found_.MaskOf(i);
    for (const Instruction* m : members_) {
      if (found_.homed.contains(m)) continue;
      bool touches = false;
      bool carried = true;
      for (int64_t k = 0; k < m->operand_count(); ++k) {
        EdgeLinks e = LinksOf(*m, k);
        carried = carried && e.carries;
        touches = touches ||
                  (!e.links.empty() && found_.homed.contains(m->operand(k)));
      }
      const AxisMask mask = found_.MaskOf(m);
      if (touches && carried && (mask & ~space) == 0) found_.homed.insert(m);
    }
  }

  void Note(const Instruction& m, int64_t k) {
    const Instruction* operand = m.operand(k);
    if (!inside_.contains(operand)) return;
    auto from = found_.values.find(operand);
    auto to = found_.values.find(&m);
    if (from == found_.values.end() || to == found_.values.end()) return;
    EdgeLinks e = LinksOf(m, k);
    AxisMask disturbed = 0;
    std::vector<bool> linked(from->second.size(), false);
    for (const DimLink& link : e.links) {
      DimAxes a = Concat(from->second, link.operand);
      DimAxes b = Concat(to->second, link.user);
      for (int64_t d : link.operand) linked[d] = true;
      if (!found_.table.Same(a, b)) disturbed |= found_.table.Mask(a);
    }
    if (e.disturbs) {
      for (size_t d = 0; d < linked.size(); ++d) {
        if (!linked[d]) disturbed |= found_.table.Mask(from->second[d]);
      }
    }
    if (disturbed != 0) {
      found_.disturbances.push_back({&m, operand, disturbed});
    }
  }

  absl::Span<const Instruction* const> members_;
  absl::flat_hash_set<const Instruction*> inside_;
  absl::flat_hash_map<
      const Instruction*,
      absl::InlinedVector<std::pair<const Instruction*, int64_t>, 2>>
      users_;
  std::deque<const Instruction*> queue_;
  GroupAxes found_;
};

}  // namespace

GroupAxes FindAxes(absl::Span<const Instruction* const> members,
                   const Instruction* seed) {
  return Spreader(members).Run(seed);
}

}  // namespace ridge
